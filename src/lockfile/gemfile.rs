//! `Gemfile.lock` and `gems.locked`: sections of indented lines.

use super::package::{Lock, Package, Source};
use super::value::{Odd, Value, brief, put};
use std::collections::BTreeMap;

const SECTIONS: [&str; 9] = ["GEM", "GIT", "PATH", "PLUGIN SOURCE", "PLATFORMS", "DEPENDENCIES", "CHECKSUMS", "RUBY VERSION", "BUNDLED WITH"];

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Lock, Odd> {
    let mut lock = Lock::default();
    let mut sums: BTreeMap<String, String> = BTreeMap::new();
    let mut section = Section::default();
    for (number, line) in text.lines().enumerate() {
        let odd = |why: &str| Odd::line(number + 1, &format!("{why}: {}", brief(line)));
        let text = line.trim_start_matches(' ');
        if !Value::Text(line.to_owned()).is_prose() {
            return Err(odd("holds what no tool would write there"));
        }
        match (line.len() - text.len(), section.name.as_str()) {
            (0, _) if line.is_empty() => {}
            (0, _) if SECTIONS.contains(&line) => {
                std::mem::replace(&mut section, Section { name: line.to_owned(), ..Section::default() }).end(&mut lock)?;
            }
            (2, "GEM" | "GIT" | "PATH" | "PLUGIN SOURCE") => match text.split_once(": ") {
                Some(_) if section.has_specs => return Err(odd("stands behind the gems")),
                Some((key @ ("remote" | "revision" | "branch" | "tag" | "ref" | "submodules" | "glob" | "type"), value)) => {
                    section.keys.push((key.to_owned(), value.to_owned()));
                }
                Some(_) => return Err(odd("has a key that is not known")),
                None if text == "specs:" && !section.has_specs => section.has_specs = true,
                None => return Err(odd("is no key with a value")),
            },
            (4, "GEM" | "GIT" | "PATH" | "PLUGIN SOURCE") if section.has_specs => {
                let (name, version) = spec(text).ok_or_else(|| odd("names no gem"))?;
                lock.packages.push(section.package(name, version)?);
            }
            (6, "GEM" | "GIT" | "PATH" | "PLUGIN SOURCE") if Value::Text(text.to_owned()).is_tame() => {
                let package = lock.packages.last_mut().ok_or_else(|| odd("belongs to no gem"))?;
                put(&mut package.quiet, &format!("needs {}", text.split(' ').next().unwrap_or_default()), text.to_owned());
            }
            (2, "CHECKSUMS") => {
                let (gem, sum) = text.split_once(") ").map_or((text, ""), |(gem, sum)| (gem, sum));
                if sums.insert(gem.trim_end_matches(')').to_owned(), sum.to_owned()).is_some() {
                    return Err(odd("stands twice"));
                }
            }
            (2, "PLATFORMS" | "DEPENDENCIES") => {
                put(&mut lock.facts, &format!("{} {}", section.name, text.split(' ').next().unwrap_or_default()), text.to_owned());
            }
            (2 | 3, "RUBY VERSION" | "BUNDLED WITH") => put(&mut lock.facts, &section.name, text.to_owned()),
            (_, _) => return Err(odd("is in no known section, or indented in an odd way")),
        }
    }
    section.end(&mut lock)?;
    for package in &mut lock.packages {
        if let Some(sum) = sums.remove(&format!("{} ({}", package.name, package.version)).filter(|sum| !sum.is_empty()) {
            let (algorithm, value) = sum.split_once('=').ok_or_else(|| Odd::new(format!("{} has an odd sum", package.name)))?;
            package.hash(algorithm, value)?;
        }
    }
    match sums.into_keys().next() {
        None => Ok(lock),
        Some(gem) => Err(Odd::new(format!("{:?} has a sum and is not listed", brief(&gem)))),
    }
}

/// The section that is being read, with the keys that its gems share.
#[derive(Default)]
struct Section {
    name: String,
    keys: Vec<(String, String)>,
    has_specs: bool,
}

impl Section {
    /// Says of the file what the section says, whether there are gems in it or not.
    fn end(self, lock: &mut Lock) -> Result<(), Odd> {
        let remotes: Vec<&str> = self.keys.iter().filter(|(key, _)| key == "remote").map(|(_, value)| value.as_str()).collect();
        for remote in &remotes {
            lock.place(&match self.name.as_str() {
                "PATH" => Source::Local((*remote).to_owned()),
                "GIT" => Source::Git((*remote).to_owned()),
                _ => Source::Index((*remote).to_owned()),
            })?;
        }
        let first = remotes.first().copied().unwrap_or_default().to_owned();
        for (key, value) in self.keys {
            let lead = if key == "remote" { self.name.clone() } else { format!("{} {first}", self.name) };
            put(&mut lock.facts, &format!("{lead} {key}"), value);
        }
        Ok(())
    }

    fn package(&self, name: &str, version: &str) -> Result<Package, Odd> {
        let value = |wanted: &str| self.keys.iter().filter(|(key, _)| key == wanted).map(|(_, value)| value.clone()).collect::<Vec<_>>();
        let remotes = value("remote");
        let source = match (self.name.as_str(), remotes.first()) {
            (_, None) => Source::Unstated,
            ("PATH", Some(remote)) => Source::Local(remote.clone()),
            ("GIT", Some(remote)) => Source::Git(format!("{remote}#{}", value("revision").join(" "))),
            ("GEM", Some(remote)) if remotes.len() == 1 && remote == "https://rubygems.org/" => Source::Registry("rubygems.org".to_owned()),
            // With several remotes any of them may give the gem.
            (_, Some(_)) => Source::Index(remotes.join(" ")),
        };
        let mut package = Package::new(name, version, source)?;
        package.hosts.extend(remotes.iter().skip(1).filter_map(|remote| Source::Index(remote.clone()).host()));
        let others = self.keys.iter().filter(|(key, _)| key != "remote" && key != "revision");
        others.for_each(|(key, value)| put(&mut package.told, key, value.clone()));
        Ok(package)
    }
}

/// Reads `name (1.0)`.
fn spec(text: &str) -> Option<(&str, &str)> {
    let (name, version) = text.split_once(" (")?;
    Some((name, version.strip_suffix(')')?))
}
