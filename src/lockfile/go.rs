//! `go.sum` and `go.work.sum`: one line a hash. The host is the first part of a module's name.

use super::package::{Lock, Package, Source};
use super::value::{Odd, brief};

/// Hosts of most modules.
pub(super) const USUAL: &[&str] = &["github.com", "golang.org", "google.golang.org", "gopkg.in", "k8s.io"];

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Lock, Odd> {
    let mut lock = Lock::default();
    for (number, line) in text.lines().enumerate() {
        let odd = || Odd::line(number + 1, &format!("is no sum of a module: {}", brief(line)));
        let parts: Vec<&str> = line.split(' ').collect();
        let [name, version, hash] = parts[..] else { return Err(odd()) };
        let (algorithm, value) = hash.split_once(':').ok_or_else(odd)?;
        let (version, place) = version.strip_suffix("/go.mod").map_or((version, ""), |version| (version, "go.mod"));
        if !version.starts_with('v') || algorithm != "h1" || value.len() != 44 {
            return Err(odd());
        }
        let mut package = Package { place: place.to_owned(), ..Package::new(name, version, Source::Index(name.to_owned()))? };
        package.hash(if place.is_empty() { algorithm } else { "h1/go.mod" }, value)?;
        lock.packages.push(package);
    }
    Ok(lock)
}
