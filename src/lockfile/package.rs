//! What every format is read into: packages with their version, where they come from and by which hashes they are held, and what else the file says.

use super::value::{Map, Odd, brief};
use std::collections::{BTreeMap, BTreeSet};

/// Where a package comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The file does not say: from where the tool is configured to fetch.
    Unstated,
    /// From a registry, under the address that is the package's own there; holds the registry's name, which is a host where it is not a usual one.
    Registry(String),
    /// From a registry or index at this address.
    Index(String),
    /// An archive at an address that is not the package's own at a registry.
    Archive(String),
    /// A git repository, with the revision.
    Git(String),
    /// A folder or archive beside the file, or the project itself.
    Local(String),
}

impl Source {
    /// Returns the host that content comes from, in lower case, without user and port.
    pub(super) fn host(&self) -> Option<String> {
        match self {
            Source::Unstated | Source::Local(_) => None,
            Source::Registry(address) | Source::Index(address) | Source::Archive(address) | Source::Git(address) => Some(host(address)),
        }
    }

    /// Tells whether the way there can be read and changed by others.
    pub(super) fn is_insecure(&self) -> bool {
        let address = match self {
            Source::Unstated | Source::Local(_) | Source::Registry(_) => return false,
            Source::Index(address) | Source::Archive(address) | Source::Git(address) => address,
        };
        let scheme = address.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        matches!(scheme.rsplit('+').next(), Some("http" | "git" | "ftp" | "svn"))
    }

    /// Refuses an address that tools read in different ways, so that no host could be told from it: a scheme without `//`, a host left out.
    pub(super) fn certain(&self) -> Result<(), Odd> {
        let (address, local) = match self {
            Source::Unstated | Source::Registry(_) => return Ok(()),
            Source::Index(address) | Source::Archive(address) | Source::Git(address) => (address.as_str(), false),
            Source::Local(address) => (address.as_str(), true),
        };
        let odd = || Err(Odd::new(format!("{:?} is an address that is read in different ways", brief(address))));
        if address.trim() != address
            || address.chars().any(char::is_control)
            || address.starts_with(['/', '\\']) && address[1..].starts_with(['/', '\\'])
        {
            return odd();
        }
        let Some((scheme, rest)) = scheme(address) else { return Ok(()) };
        let path = ["file", "link", "workspace", "portal", "patch"].contains(&scheme.as_str());
        match rest.strip_prefix("//") {
            _ if scheme.ends_with("+file") || path && local => Ok(()),
            Some(rest) if !local && !rest.starts_with(['/', '\\']) || path => Ok(()),
            Some(_) | None => odd(),
        }
    }

    /// Returns the words of the summary.
    pub(super) fn shown(&self) -> String {
        match self {
            Source::Unstated => "no stated source".to_owned(),
            Source::Registry(address) | Source::Index(address) => address.clone(),
            Source::Archive(address) => format!("archive {address}"),
            Source::Git(address) => format!("git {address}"),
            Source::Local(place) => format!("local {place}"),
        }
    }
}

/// Finds the host of an address: what stands behind `://` and any user, before port and path; `user@host:path` as ssh has it; else all before the first slash.
fn host(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.split(':').next().unwrap_or_default().to_ascii_lowercase()
}

/// Splits the scheme, in lower case, from an address.
fn scheme(address: &str) -> Option<(String, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let is_one = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b));
    is_one.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// One entry of a lock file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    /// Its name at its source.
    pub(super) name: String,
    /// Its version; empty where the file has none.
    pub(super) version: String,
    /// What tells apart two entries of one name and version; empty where it is the usual one.
    pub(super) place: String,
    pub(super) source: Source,
    /// Hosts of further files of it.
    pub(super) hosts: BTreeSet<String>,
    /// Hashes, each under its algorithm or the name of its file.
    pub(super) hashes: BTreeMap<String, String>,
    /// What is told of it wherever it comes or changes.
    pub(super) told: BTreeMap<String, String>,
    /// What is told only where it changes: all of it plain.
    pub(super) quiet: BTreeMap<String, String>,
    /// Whether the version is none (a branch, a channel), so that its content changes by rights.
    pub(super) moves: bool,
}

impl Package {
    /// Makes an entry. Name and version must be plain: they begin the lines of the summary.
    pub(super) fn new(name: &str, version: &str, source: Source) -> Result<Package, Odd> {
        let plain = |text: &str| text.len() <= 300 && text.bytes().all(|byte| byte.is_ascii_graphic());
        if name.is_empty() || !plain(name) || !plain(version) {
            return Err(Odd::new(format!("{:?} {:?} is an odd name or version", brief(name), brief(version))));
        }
        source.certain()?;
        Ok(Package {
            name: name.to_owned(),
            version: version.to_owned(),
            place: String::new(),
            source,
            hosts: BTreeSet::new(),
            hashes: BTreeMap::new(),
            told: BTreeMap::new(),
            quiet: BTreeMap::new(),
            moves: false,
        })
    }

    /// Adds the hashes of a text as npm writes them: `sha512-… sha1-…`. What npm's tools do not know as a hash holds nothing.
    pub(super) fn integrity(&mut self, text: &str) -> Result<(), Odd> {
        for hash in text.split(' ') {
            let parts = hash.split_once('-').filter(|(algorithm, _)| ["sha1", "sha256", "sha384", "sha512"].contains(algorithm));
            let (algorithm, value) = parts.ok_or_else(|| Odd::new(format!("{:?} is no hash", brief(hash))))?;
            self.hash(algorithm, value)?;
        }
        Ok(())
    }

    /// Adds a hash under its algorithm or file.
    pub(super) fn hash(&mut self, label: &str, value: &str) -> Result<(), Odd> {
        let good = |text: &str| !text.is_empty() && text.len() <= 300 && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !good(label) || !good(value) {
            return Err(Odd::new(format!("{:?} is no hash", brief(value))));
        }
        match self.hashes.insert(label.to_owned(), value.to_owned()) {
            None => Ok(()),
            Some(known) if known == value => Ok(()),
            Some(_) => Err(Odd::new(format!("{} has two hashes {label}", self.name))),
        }
    }

    /// Puts the rest of an entry where the keys say. A key that no list names is odd.
    pub(super) fn facts(&mut self, rest: Map, keys: &Keys) -> Result<(), Odd> {
        for (key, value) in rest.into_entries() {
            let into = match key.as_str() {
                key if keys.told.contains(&key) => &mut self.told,
                name if keys.quiet.contains(&name) && value.is_tame() => &mut self.quiet,
                name if keys.prose.contains(&name) && value.is_prose() => &mut self.quiet,
                name if keys.quiet.contains(&name) || keys.prose.contains(&name) => {
                    return Err(Odd::new(format!("`{name}` of {} holds what no tool would write there", self.name)));
                }
                key => return Err(Odd::new(format!("{} has the key {:?}, which is not known", self.name, brief(key)))),
            };
            value.flatten(&key, into);
        }
        Ok(())
    }
}

/// The keys that a format's entries may have besides name, version, source and hashes.
pub(super) struct Keys {
    /// Told wherever the entry comes or changes: what makes a package run or be taken for another.
    pub(super) told: &'static [&'static str],
    /// Told where it changes.
    pub(super) quiet: &'static [&'static str],
    /// Free text that tools copy from the package; told where it changes.
    pub(super) prose: &'static [&'static str],
}

/// A lock file, read to the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lock {
    pub(super) packages: Vec<Package>,
    /// What it says beside the packages.
    pub(super) facts: BTreeMap<String, String>,
    /// Hosts that it names beside the packages.
    pub(super) hosts: BTreeSet<String>,
    /// Ways to them that others can change.
    pub(super) insecure: BTreeSet<String>,
}

impl Lock {
    /// Takes the named keys of the file as facts about it. They are told where they change, so that they may hold anything.
    pub(super) fn take(&mut self, root: &mut Map, keys: &[&str]) {
        for key in keys {
            if let Some(value) = root.take(key) {
                value.flatten(key, &mut self.facts);
            }
        }
    }

    /// Takes a place that packages come from, named beside them.
    pub(super) fn place(&mut self, source: &Source) -> Result<(), Odd> {
        source.certain()?;
        self.hosts.extend(source.host());
        if source.is_insecure() {
            self.insecure.insert(source.shown());
        }
        Ok(())
    }

    /// Sorts the packages; two entries that nothing tells apart are odd.
    pub(super) fn sorted(mut self) -> Result<Lock, Odd> {
        self.packages.sort();
        let same = |a: &Package, b: &Package| (&a.name, &a.version, &a.place, &a.source) == (&b.name, &b.version, &b.place, &b.source);
        match self.packages.windows(2).find(|pair| same(&pair[0], &pair[1])) {
            None => Ok(self),
            Some(pair) => Err(Odd::new(format!("{} {} stands twice", pair[0].name, pair[0].version))),
        }
    }

    /// Returns all hosts that content comes from.
    pub(super) fn all_hosts(&self) -> BTreeSet<String> {
        let own = self.packages.iter().flat_map(|package| package.source.host().into_iter().chain(package.hosts.iter().cloned()));
        own.chain(self.hosts.iter().cloned()).collect()
    }
}

/// Reads an address of an archive at a registry of npm's kind: `https://HOST/NAME/-/BASE-VERSION.tgz` is the package's own.
pub(super) fn npm_archive(address: &str, name: &str, version: &str) -> Source {
    let base = name.rsplit('/').next().unwrap_or(name);
    let own = format!("/{name}/-/{base}-{version}.tgz");
    // With anything else in them they could be a way to another package.
    let plain = |text: &str, more: &[u8]| !text.starts_with('.') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte));
    let is_plain = plain(version, b".+-") && name.strip_prefix('@').unwrap_or(name).splitn(2, '/').all(|part| plain(part, b"._~-"));
    match address.strip_prefix("https://").and_then(|rest| rest.strip_suffix(&own)) {
        Some(registry) if is_plain && !registry.is_empty() && !registry.contains(['@', '?', '#', '\\']) => Source::Registry(registry.to_owned()),
        Some(_) | None => archive(address),
    }
}

/// Tells git from archives and local places.
pub(super) fn archive(address: &str) -> Source {
    let lower = address.to_ascii_lowercase();
    let is_repository = lower.split(['?', '#']).next().is_some_and(|path| path.ends_with(".git"));
    // `user@host:path`, as ssh has it.
    let is_ssh = lower.split_once(':').is_some_and(|(user, _)| user.contains('@') && !user.contains('/'));
    if ["git+", "git:", "github:", "gitlab:", "bitbucket:", "ssh:"].iter().any(|start| lower.starts_with(start)) || is_repository || is_ssh {
        let long = ["github", "gitlab", "bitbucket"].into_iter().find_map(|host| Some((host, address.strip_prefix(host)?.strip_prefix(':')?)));
        return Source::Git(match long {
            Some(("bitbucket", path)) => format!("https://bitbucket.org/{path}"),
            Some((host, path)) => format!("https://{host}.com/{path}"),
            None => address.to_owned(),
        });
    }
    // What has a scheme and no `//` is refused as the source of any package, but for paths.
    if address.contains("://") { Source::Archive(address.to_owned()) } else { Source::Local(address.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_the_one_that_is_asked() {
        for (address, expected) in [
            ("https://registry.npmjs.org/a", "registry.npmjs.org"),
            ("https://registry.npmjs.org@evil.example/a", "evil.example"),
            ("https://user:pw@Evil.Example:8443/a@b", "evil.example"),
            ("https://evil.example\\@registry.npmjs.org/", "evil.example"),
            ("https://evil.example?@registry.npmjs.org/", "evil.example"),
            ("git+ssh://git@github.com/a/b.git#1", "github.com"),
            ("git@github.com:a/b.git", "github.com"),
            ("evil.example/mod", "evil.example"),
        ] {
            assert_eq!(Source::Archive(address.to_owned()).host().as_deref(), Some(expected), "{address}");
        }
    }

    #[test]
    fn only_the_own_address_at_a_registry_is_one() {
        let at = |address: &str| npm_archive(address, "@s/a", "1.0.0");
        assert_eq!(at("https://registry.npmjs.org/@s/a/-/a-1.0.0.tgz"), Source::Registry("registry.npmjs.org".to_owned()));
        assert_eq!(at("https://h.example/npm/@s/a/-/a-1.0.0.tgz"), Source::Registry("h.example/npm".to_owned()));
        for other in [
            "https://registry.npmjs.org/@s/b/-/b-1.0.0.tgz",
            "https://registry.npmjs.org/@s/a/-/a-1.0.1.tgz",
            "http://registry.npmjs.org/@s/a/-/a-1.0.0.tgz",
            "https://registry.npmjs.org@evil.example/@s/a/-/a-1.0.0.tgz",
        ] {
            assert_eq!(at(other), Source::Archive(other.to_owned()));
        }
        assert!(at("http://x.example/@s/a/-/a-1.0.0.tgz").is_insecure() && at("git://x.example/a").is_insecure());
        assert!(!at("git+ssh://git@x.example/a").is_insecure() && !at("git+https://x.example/a").is_insecure());
        assert_eq!(at("github:a/b#1"), Source::Git("https://github.com/a/b#1".to_owned()));
        assert_eq!(at("packages/a"), Source::Local("packages/a".to_owned()));
    }
}
