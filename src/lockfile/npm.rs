//! `package-lock.json` and `npm-shrinkwrap.json`, versions 1 to 3.

use super::json;
use super::package::{Keys, Lock, Package, Source, archive, npm_archive};
use super::value::{Map, Odd};
use crate::digest::Digest;
use std::collections::BTreeSet;

const KEYS: Keys = Keys {
    told: &["hasInstallScript", "hasShrinkwrap", "deprecated", "bin", "inBundle", "bundled", "extraneous", "from", "workspaces"],
    quiet: &[
        "dev",
        "optional",
        "devOptional",
        "peer",
        "license",
        "licenses",
        "engines",
        "requires",
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "peerDependencies",
        "peerDependenciesMeta",
        "bundleDependencies",
        "bundledDependencies",
        "acceptDependencies",
        "ideallyInert",
        "funding",
        "os",
        "cpu",
        "libc",
    ],
    prose: &[],
};
/// The deepest nesting of packages in packages.
const MAX_DEPTH: usize = 40;

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Lock, Odd> {
    let mut root = json::read(text)?;
    let mut lock = Lock::default();
    lock.take(&mut root, &["name", "version", "lockfileVersion", "requires", "packageIntegrity", "preserveSymlinks", "overrides"]);
    for (place, entry) in root.map("packages")?.into_entries() {
        lock.packages.push(package(&place, entry.map("packages")?)?);
    }
    let known: BTreeSet<Essence> = lock.packages.iter().map(essence).collect();
    let mut older = Vec::new();
    nested(root.map("dependencies")?, "", 0, &mut older)?;
    if known.is_empty() {
        lock.packages = older;
    } else if !older.is_empty() {
        // Version 2 says everything twice, for older tools. What it says otherwise the second time is told; what else it says there is told to differ.
        let (same, other): (Vec<Package>, Vec<Package>) = older.into_iter().partition(|package| known.contains(&essence(package)));
        let rest: Vec<_> = same.iter().map(|package| (&package.name, &package.place, &package.told, &package.quiet)).collect();
        lock.facts.insert("digest of what `dependencies` says besides".to_owned(), Digest::of(format!("{rest:?}")).short(12));
        lock.packages.extend(other.into_iter().map(|package| Package { place: format!("dependencies, {}", package.place), ..package }));
    }
    root.done("the file")?;
    Ok(lock)
}

type Essence = (String, String, String, Option<String>);

/// What both halves of a version 2 must agree about.
fn essence(package: &Package) -> Essence {
    let hashes: Vec<String> = package.hashes.iter().map(|(label, hash)| format!("{label}-{hash}")).collect();
    (package.name.clone(), package.version.clone(), package.source.shown(), (!hashes.is_empty()).then(|| hashes.join(" ")))
}

/// One entry of `packages`. Its key is where it is installed.
fn package(place: &str, mut entry: Map) -> Result<Package, Odd> {
    let installed = place.rsplit_once("node_modules/").map(|(_, name)| name);
    let name = entry.text("name")?;
    let name = name.as_deref().or(installed).unwrap_or(if place.is_empty() { "(the project)" } else { place });
    let version = entry.text("version")?.unwrap_or_default();
    let link = entry.text("link")?;
    let linked = link.as_deref() == Some("true");
    let source = match entry.text("resolved")? {
        Some(folder) if linked => Source::Local(folder),
        Some(address) => npm_archive(&address, name, &version),
        None if installed.is_none() => Source::Local("in the project".to_owned()),
        None => Source::Unstated,
    };
    // The project's own name may hold what a registry would not take.
    let mut package = Package::new(if place.is_empty() { "(the_project)" } else { name }, &version, source)?;
    if place.is_empty() {
        package.told.insert("name".to_owned(), name.to_owned());
    } else if place != format!("node_modules/{name}") {
        package.place = place.to_owned();
    }
    if let Some(hashes) = entry.text("integrity")? {
        package.integrity(&hashes)?;
    }
    package.told.extend(link.map(|link| ("link".to_owned(), link)));
    package.facts(entry, &KEYS)?;
    Ok(package)
}

/// The tree of version 1: packages inside packages.
fn nested(entries: Map, above: &str, depth: usize, into: &mut Vec<Package>) -> Result<(), Odd> {
    if depth > MAX_DEPTH {
        return Err(Odd::new("packages are nested too deep"));
    }
    for (name, entry) in entries.into_entries() {
        let mut entry = entry.map("dependencies")?;
        let stated = entry.needed("version")?;
        // A version that is an address or another package's says where it comes from.
        let (real, version, stated_source) = match stated.strip_prefix("npm:").and_then(|alias| alias.rsplit_once('@')) {
            Some((real, version)) => (real.to_owned(), version.to_owned(), None),
            None if stated.contains([':', '/']) => (name.clone(), String::new(), Some(archive(&stated))),
            None => (name.clone(), stated.clone(), None),
        };
        let resolved = entry.text("resolved")?.map(|address| npm_archive(&address, &real, &version));
        let mut package = Package::new(&real, &version, resolved.or(stated_source).unwrap_or(Source::Unstated))?;
        if version != stated {
            package.told.insert("version".to_owned(), stated);
        }
        let place = format!("{above}node_modules/{name}");
        if let Some(hashes) = entry.text("integrity")? {
            package.integrity(&hashes)?;
        }
        if let Some(inner) = entry.take("dependencies") {
            nested(inner.map("dependencies")?, &format!("{place}/"), depth + 1, into)?;
        }
        package.facts(entry, &KEYS)?;
        if place != format!("node_modules/{real}") {
            package.place = place;
        }
        into.push(package);
    }
    Ok(())
}
