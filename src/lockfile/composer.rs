//! `composer.lock`.

use super::json;
use super::package::{Keys, Lock, Package, Source};
use super::value::{Map, Odd};
use std::collections::BTreeMap;

const KEYS: Keys = Keys {
    told: &["bin", "abandoned", "autoload", "include-path", "target-dir", "installation-source", "transport-options", "default-branch", "extra"],
    quiet: &[
        "require",
        "require-dev",
        "conflict",
        "replace",
        "provide",
        "suggest",
        "autoload-dev",
        "notification-url",
        "license",
        "homepage",
        "time",
        "funding",
        "support",
        "archive",
        "php-ext",
    ],
    prose: &["description", "authors", "keywords"],
};
const FILE: [&str; 10] = [
    "content-hash",
    "aliases",
    "minimum-stability",
    "stability-flags",
    "prefer-stable",
    "prefer-lowest",
    "platform",
    "platform-dev",
    "platform-overrides",
    "plugin-api-version",
];

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Lock, Odd> {
    let mut root = json::read(text)?;
    let mut lock = Lock::default();
    lock.take(&mut root, &["_readme"]);
    lock.take(&mut root, &FILE);
    for (section, place) in [("packages", ""), ("packages-dev", "packages-dev")] {
        for entry in root.list(section)? {
            let package = package(entry.map(section)?)?;
            lock.packages.push(Package { place: place.to_owned(), ..package });
        }
    }
    root.done("the file")?;
    Ok(lock)
}

fn package(mut entry: Map) -> Result<Package, Odd> {
    let (name, version) = (entry.needed("name")?, entry.needed("version")?);
    let (mut dist, mut git) = (entry.map("dist")?, entry.map("source")?);
    let (archive, repository) = (dist.text("url")?, git.text("url")?);
    let [dist_at, git_at] = [dist.text("reference")?, git.text("reference")?].map(Option::unwrap_or_default);
    // The usual archive is the one that GitHub makes of the named commit; it is as good as its repository and revision.
    let own = repository.as_deref().and_then(|url| url.strip_prefix("https://github.com/")).and_then(|path| path.strip_suffix(".git"));
    let own = own.map(|path| format!("https://api.github.com/repos/{path}/zipball/{dist_at}"));
    let mut further = BTreeMap::new();
    let source = match (archive, repository) {
        (Some(archive), Some(repository)) if Some(&archive) == own.as_ref() && dist_at == git_at => Source::Git(format!("{repository}#{git_at}")),
        (Some(archive), Some(repository)) => {
            further.extend([("source.url".to_owned(), repository), ("source.reference".to_owned(), git_at.clone())]);
            Source::Archive(archive)
        }
        (Some(archive), _) => Source::Archive(archive),
        (None, Some(repository)) => Source::Git(format!("{repository}#{git_at}")),
        (None, None) => Source::Unstated,
    };
    let mut package = Package::new(&name, &version, source)?;
    // Composer can be told to take either.
    if let Some(repository) = further.get("source.url").map(|url| Source::Git(url.clone())) {
        repository.certain()?;
        package.hosts.extend(repository.host());
    }
    package.told.extend(further);
    if dist_at != git_at && !dist_at.is_empty() {
        package.told.insert("dist.reference".to_owned(), dist_at);
    }
    package.moves = version.starts_with("dev-") || version.ends_with("-dev");
    if let Some(kind) = entry.text("type")? {
        // Others are installed elsewhere, or run: plugins.
        let into = if kind == "library" { &mut package.quiet } else { &mut package.told };
        into.insert("type".to_owned(), kind);
    }
    if let Some(sum) = dist.text("shasum")?.filter(|sum| !sum.is_empty()) {
        package.hash("sha1", &sum)?;
    }
    for (of, map) in [("dist", dist), ("source", git)] {
        for (key, value) in map.into_entries() {
            let usual = key == "type" && value.is_tame();
            value.flatten(&format!("{of}.{key}"), if usual { &mut package.quiet } else { &mut package.told });
        }
    }
    package.facts(entry, &KEYS)?;
    Ok(package)
}
