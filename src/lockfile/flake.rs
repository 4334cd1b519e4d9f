//! `flake.lock`.

use super::json;
use super::package::{Keys, Lock, Package, Source};
use super::value::{Map, Odd};

const KEYS: Keys = Keys { told: &["original", "flake", "parent"], quiet: &["inputs"], prose: &[] };

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Lock, Odd> {
    let mut root = json::read(text)?;
    let mut lock = Lock::default();
    lock.take(&mut root, &["version", "root"]);
    for (name, node) in root.map("nodes")?.into_entries() {
        let mut node = node.map("nodes")?;
        let mut package = locked(&name, node.map("locked")?)?;
        package.facts(node, &KEYS)?;
        lock.packages.push(package);
    }
    root.done("the file")?;
    Ok(lock)
}

/// Where a node comes from, and by what it is held.
fn locked(name: &str, mut from: Map) -> Result<Package, Odd> {
    let kind = from.text("type")?;
    let (rev, hash) = (from.text("rev")?.unwrap_or_default(), from.text("narHash")?);
    let (owner, repo) = (from.text("owner")?.unwrap_or_default(), from.text("repo")?.unwrap_or_default());
    let stated = from.text("host")?;
    // What does not belong to the kind is not used, and would say something else than what is.
    let named = (!owner.is_empty(), !repo.is_empty());
    let is_hosted = matches!(kind.as_deref(), Some("github" | "gitlab"));
    if named != (is_hosted, is_hosted) || stated.is_some() && !is_hosted || kind.is_none() && (hash.is_some() || !rev.is_empty()) {
        return Err(Odd::new(format!("{name} has keys that do not belong to its kind of source")));
    }
    let source = match (kind.as_deref(), from.text("url")?, from.text("path")?) {
        (None, None, None) => Source::Local("the root".to_owned()),
        (Some("path"), None, Some(path)) => Source::Local(path),
        (Some(host @ ("github" | "gitlab")), None, None) => {
            Source::Git(format!("https://{}/{owner}/{repo}", stated.unwrap_or_else(|| format!("{host}.com"))))
        }
        (Some("git"), Some(url), None) => Source::Git(url),
        (Some("tarball" | "file"), Some(url), None) => Source::Archive(url),
        (_, _, _) => return Err(Odd::new(format!("{name} has a source of an unknown kind"))),
    };
    let mut package = Package::new(name, &rev, source)?;
    package.moves = rev.is_empty();
    if let Some(hash) = hash {
        package.hash("narHash", &hash)?;
    }
    for (key, value) in from.into_entries() {
        if !["lastModified", "ref", "revCount", "dir", "submodules"].contains(&key.as_str()) {
            return Err(Odd::new(format!("{name} has the key {key:?}, which is not known")));
        }
        value.flatten(&key, &mut package.told);
    }
    Ok(package)
}
