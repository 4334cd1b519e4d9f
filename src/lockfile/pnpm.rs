//! `pnpm-lock.yaml`, versions 5 to 9.

use super::block;
use super::package::{Keys, Lock, Package, Source, archive, npm_archive};
use super::value::{Map, Odd, brief, put, tame};
use std::collections::BTreeMap;

const KEYS: Keys = Keys {
    told: &["requiresBuild", "prepare", "deprecated", "hasBin", "bundledDependencies", "patched", "id"],
    quiet: &[
        "dev",
        "optional",
        "engines",
        "os",
        "cpu",
        "libc",
        "dependencies",
        "optionalDependencies",
        "peerDependencies",
        "peerDependenciesMeta",
        "transitivePeerDependencies",
    ],
    prose: &[],
};
/// What stands beside the packages; told where it changes.
const FILE: [&str; 14] = [
    "lockfileVersion",
    "settings",
    "overrides",
    "packageExtensionsChecksum",
    "pnpmfileChecksum",
    "ignoredOptionalDependencies",
    "patchedDependencies",
    "catalogs",
    "importers",
    "specifiers",
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "time",
];

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Lock, Odd> {
    let mut root = block::read(text, |_| false)?;
    let mut lock = Lock::default();
    lock.take(&mut root, &FILE);
    let mut edges: BTreeMap<String, Vec<(String, Map)>> = BTreeMap::new();
    for (key, value) in root.map("snapshots")?.into_entries() {
        let plain = key.split('(').next().unwrap_or_default().to_owned();
        edges.entry(plain).or_default().push((key, value.map("snapshots")?));
    }
    for (key, entry) in root.map("packages")?.into_entries() {
        let mut package = package(&key, entry.map("packages")?)?;
        // What each instance of the package depends on.
        for (instance, mut map) in edges.remove(&key).unwrap_or_default() {
            for (kind, value) in ["dependencies", "optionalDependencies", "transitivePeerDependencies", "optional"]
                .iter()
                .filter_map(|kind| Some((kind, map.take(kind)?)))
            {
                tame(&instance, &value)?;
                value.flatten(&format!("{instance} {kind}"), &mut package.quiet);
            }
            map.done(&instance)?;
        }
        tell_edges(&mut package);
        lock.packages.push(package);
    }
    if let Some(name) = edges.into_keys().next() {
        return Err(Odd::new(format!("{:?} is a snapshot of no package", brief(&name))));
    }
    root.done("the file")?;
    Ok(lock)
}

/// Moves to what is told each edge that leads elsewhere than to a version of the package that it names: they are no ranges, they say what is installed.
fn tell_edges(package: &mut Package) {
    let is_edge =
        |key: &str| ["dependencies.", "optionalDependencies."].iter().any(|kind| key.starts_with(kind) || key.contains(&format!(" {kind}")));
    let is_version = |value: &str| {
        let version = value.split('(').next().unwrap_or_default();
        version.starts_with(|c: char| c.is_ascii_digit()) && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte))
    };
    let (quiet, told): (BTreeMap<_, _>, BTreeMap<_, _>) =
        std::mem::take(&mut package.quiet).into_iter().partition(|(key, value)| !is_edge(key) || is_version(value));
    package.quiet = quiet;
    told.into_iter().for_each(|(key, value)| put(&mut package.told, &key, value));
}

/// One entry. Its key is `/name/1.0`, `/name@1.0(peers)` or `name@1.0`, or an address.
fn package(key: &str, mut entry: Map) -> Result<Package, Odd> {
    let plain = key.strip_prefix('/').unwrap_or(key);
    let plain = plain.split('(').next().unwrap_or_default();
    let split = plain.get(1..).and_then(|rest| rest.find('@').or_else(|| rest.rfind('/'))).map(|at| at + 1);
    let (name, version) = split.map_or((plain, ""), |at| (&plain[..at], &plain[at + 1..]));
    let (name, version) = (entry.text("name")?.unwrap_or_else(|| name.to_owned()), entry.text("version")?.unwrap_or_else(|| version.to_owned()));
    let mut from = entry.map("resolution")?;
    let (repo, commit) = (from.text("repo")?, from.text("commit")?);
    let source = match (from.text("tarball")?, repo, from.text("directory")?) {
        (Some(address), None, None) => npm_archive(&address, &name, &version),
        (None, Some(repo), None) => Source::Git(format!("{repo}#{}", commit.clone().unwrap_or_default())),
        (None, None, Some(folder)) => Source::Local(folder),
        (None, None, None) if version.contains([':', '/']) => archive(&version),
        (None, None, None) => Source::Unstated,
        (Some(_), _, _) | (None, Some(_), Some(_)) => return Err(Odd::new(format!("{name} has two sources"))),
    };
    let mut package = Package::new(&name, &version, source)?;
    if let Some(commit) = commit {
        package.told.insert("resolution.commit".to_owned(), commit);
    }
    if let Some(hashes) = from.text("integrity")? {
        package.integrity(&hashes)?;
    }
    for told in ["type", "path", "gitHosted"] {
        if let Some(value) = from.text(told)? {
            package.told.insert(format!("resolution.{told}"), value);
        }
    }
    from.done(&name)?;
    if plain != format!("{name}@{version}") || key.contains('(') {
        package.place = key.to_owned();
    }
    package.facts(entry, &KEYS)?;
    Ok(package)
}
