//! What differs between two lock files: one line for each package that came, went or changed, and what among it is worth an alarm.

use super::package::{Lock, Package, Source};
use crate::change::slice::visible;
use std::collections::{BTreeMap, BTreeSet};

/// What is alarming about a package, or about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The same version of a package has another hash.
    Integrity,
    /// Content comes from a host that did not occur before.
    Host,
    /// Content comes over a connection that others can change.
    Insecure,
    /// The archive's address is not the package's own at a registry.
    Address,
}

/// One alarm: what, and about which package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alarm {
    /// What kind.
    pub kind: Kind,
    /// The host, package or address, for a message.
    pub what: String,
}

/// The difference in words.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) lines: Vec<String>,
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) changed: usize,
    pub(super) alarms: BTreeSet<Alarm>,
}

/// Compares two files. `usual` are hosts that everybody of the format fetches from.
pub(super) fn between(old: &Lock, new: &Lock, usual: &[&str]) -> Difference {
    let mut difference = Difference::default();
    facts("~ file: ", &old.facts, &new.facts).iter().for_each(|fact| difference.line(fact));
    let mut by_name: BTreeMap<&str, [Vec<&Package>; 2]> = BTreeMap::new();
    for (side, lock) in [old, new].into_iter().enumerate() {
        lock.packages.iter().for_each(|package| by_name.entry(&package.name).or_default()[side].push(package));
    }
    for [old, new] in by_name.into_values() {
        let (mut old, mut new) = without_equal(old, new);
        // The same version first: what changed about it is what matters.
        for (before, after) in pairs(&mut old, &mut new, |a, b| (&a.version, &a.place) == (&b.version, &b.place)) {
            difference.change(before, after);
        }
        for (before, after) in pairs(&mut old, &mut new, |a, b| a.place == b.place) {
            difference.change(before, after);
        }
        old.into_iter().for_each(|package| difference.remove(package));
        new.into_iter().for_each(|package| difference.add(package));
    }
    difference.alarms.extend(exchanged(old, new, usual));
    let insecure = new.insecure.difference(&old.insecure).map(|what| Alarm { kind: Kind::Insecure, what: what.clone() });
    difference.alarms.extend(insecure);
    let known = old.all_hosts();
    let is_new = |host: &String| !known.contains(host) && !usual.contains(&host.as_str());
    difference.alarms.extend(new.all_hosts().into_iter().filter(is_new).map(|what| Alarm { kind: Kind::Host, what }));
    difference
}

/// Finds packages whose hash is another than what any entry of the same name, version and source has, at whatever place: a second copy may be the exchanged one.
/// The usual registries hold the same packages, so that they are one source.
fn exchanged(old: &Lock, new: &Lock, usual: &[&str]) -> Vec<Alarm> {
    type Known<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;
    let is_usual = |source: &Source| matches!(source, Source::Registry(host) if usual.contains(&host.as_str()));
    let source = |package: &Package| if is_usual(&package.source) { Source::Unstated } else { package.source.clone() };
    let mut known: BTreeMap<(&str, &str, Source), Known<'_>> = BTreeMap::new();
    let mut alarms = Vec::new();
    for package in &old.packages {
        let known = known.entry((&package.name, &package.version, source(package))).or_default();
        for (label, hash) in &package.hashes {
            known.entry(label).or_default().insert(hash);
        }
    }
    for package in new.packages.iter().filter(|package| !labels_are_hashes(package) && !is_free(package)) {
        let known = known.entry((&package.name, &package.version, source(package))).or_default();
        let is_other = |(label, hash): (&String, &String)| known.get(label.as_str()).is_some_and(|known| !known.contains(hash.as_str()));
        if package.hashes.iter().any(is_other) || is_weaker(known.keys().copied(), package.hashes.keys().map(String::as_str)) {
            alarms.push(Alarm { kind: Kind::Integrity, what: titled(package) });
        }
        for (label, hash) in &package.hashes {
            known.entry(label).or_default().insert(hash);
        }
    }
    alarms
}

/// Tells whether other content under the same version is no news: a branch or channel, or what lies beside the file.
fn is_free(package: &Package) -> bool {
    package.moves || matches!(package.source, Source::Local(_))
}

/// Tells whether no hash is left to compare by, and those that came instead are no better: an exchanged archive with a hash of its own looks like that.
fn is_weaker<'a>(old: impl Iterator<Item = &'a str> + Clone, new: impl Iterator<Item = &'a str> + Clone) -> bool {
    let strength = |label: &str| ["md5", "sha1-in-address", "sha1", "sha256", "sha384", "sha512"].iter().position(|known| *known == label);
    let best = [old.clone().filter_map(strength).max(), new.clone().filter_map(strength).max()];
    let common = new.clone().any(|label| old.clone().any(|old| old == label));
    !common && matches!(best, [Some(old), Some(new)] if new <= old)
}

/// Leaves what has no equal on the other side. Both sides are sorted.
fn without_equal<'a>(old: Vec<&'a Package>, new: Vec<&'a Package>) -> (Vec<&'a Package>, Vec<&'a Package>) {
    let sets = [&old, &new].map(|side| side.iter().copied().collect::<BTreeSet<_>>());
    let rest = |side: Vec<&'a Package>, other: &BTreeSet<&Package>| side.into_iter().filter(|package| !other.contains(package)).collect();
    (rest(old, &sets[1]), rest(new, &sets[0]))
}

/// Takes out pairs that belong together: where exactly one of each side does.
fn pairs<'a>(
    old: &mut Vec<&'a Package>,
    new: &mut Vec<&'a Package>,
    together: impl Fn(&Package, &Package) -> bool,
) -> Vec<(&'a Package, &'a Package)> {
    // Only a hostile file has very many entries of one name; then they are told one by one.
    const MOST: usize = 200;
    if old.len().max(new.len()) > MOST {
        return Vec::new();
    }
    let only = |side: &[&'a Package], with: &dyn Fn(&Package) -> bool| {
        let mut found = side.iter().filter(|package| with(package));
        found.next().copied().filter(|_| found.next().is_none())
    };
    let mut pairs = Vec::new();
    for before in old.clone() {
        let after = only(new, &|package| together(before, package));
        if let Some(after) = after.filter(|after| only(old, &|package| together(package, after)).is_some()) {
            pairs.push((before, after));
        }
    }
    old.retain(|package| !pairs.iter().any(|(before, _)| before == package));
    new.retain(|package| !pairs.iter().any(|(_, after)| after == package));
    pairs
}

impl Difference {
    fn add(&mut self, package: &Package) {
        self.added += 1;
        let hosts = if package.hosts.is_empty() { String::new() } else { format!(", files from {}", list(package.hosts.iter())) };
        let told: String = package.told.iter().map(|(key, value)| format!("; {key}: {value}")).collect();
        self.line(&format!("+ {}: {}{hosts}, {}{told}", titled(package), package.source.shown(), hashes(package)));
        self.source(package);
    }

    fn remove(&mut self, package: &Package) {
        self.removed += 1;
        self.line(&format!("- {}", titled(package)));
    }

    fn change(&mut self, old: &Package, new: &Package) {
        self.changed += 1;
        let same_version = old.version == new.version;
        let title = if same_version { titled(new) } else { format!("{} {} → {}{}", new.name, old.version, new.version, placed(new)) };
        let mut said: Vec<String> = Vec::new();
        if old.source != new.source {
            said.push(format!("{} → {}", old.source.shown(), new.source.shown()));
            self.source(new);
        } else if !same_version {
            said.push(new.source.shown());
        }
        if old.hosts != new.hosts {
            said.push(format!("files from {} → {}", list(old.hosts.iter()), list(new.hosts.iter())));
        }
        said.push(self.hashes_of(old, new, same_version));
        said.extend(facts("", &old.told, &new.told));
        said.extend(facts("", &old.quiet, &new.quiet));
        said.retain(|part| !part.is_empty());
        self.line(&format!("~ {title}: {}", said.join("; ")));
    }

    /// Says what became of the hashes. Another one for the same version is what an exchanged archive looks like.
    fn hashes_of(&mut self, old: &Package, new: &Package, same_version: bool) -> String {
        if !same_version {
            return hashes(new);
        }
        let other: Vec<&String> =
            new.hashes.iter().filter(|(label, hash)| old.hashes.get(*label).is_some_and(|old| old != *hash)).map(|(label, _)| label).collect();
        let kept = new.hashes.iter().any(|(label, hash)| old.hashes.get(label) == Some(hash));
        let all_other = !kept && !old.hashes.is_empty() && !new.hashes.is_empty() && labels_are_hashes(new);
        let weaker = is_weaker(old.hashes.keys().map(String::as_str), new.hashes.keys().map(String::as_str));
        // Another revision of a repository is other content by rights, and is told as the source that it is.
        let moved = matches!((&old.source, &new.source), (Source::Git(before), Source::Git(after)) if before != after);
        if (!other.is_empty() || all_other || weaker) && (is_free(old) && is_free(new) || moved) {
            return "another hash".to_owned();
        }
        if weaker {
            self.alarms.insert(Alarm { kind: Kind::Integrity, what: titled(new) });
            return format!("ANOTHER HASH FOR THE SAME VERSION ({} → {})", list(old.hashes.keys()), list(new.hashes.keys()));
        }
        if !other.is_empty() || all_other {
            self.alarms.insert(Alarm { kind: Kind::Integrity, what: titled(new) });
            return format!("ANOTHER HASH FOR THE SAME VERSION ({})", list(other.into_iter()));
        }
        if old.hashes == new.hashes {
            return String::new();
        }
        let [gone, come] =
            [(old, new), (new, old)].map(|(of, other)| of.hashes.keys().filter(|label| !other.hashes.contains_key(*label)).collect::<Vec<_>>());
        let part = |mark: &str, labels: Vec<&String>| if labels.is_empty() { String::new() } else { format!(" {mark} {}", list(labels.into_iter())) };
        format!("hashes{}{}", part("without", gone), part("now also", come))
    }

    fn source(&mut self, package: &Package) {
        if package.source.is_insecure() {
            self.alarms.insert(Alarm { kind: Kind::Insecure, what: format!("{} from {}", titled(package), package.source.shown()) });
        }
        if let Source::Archive(address) = &package.source {
            self.alarms.insert(Alarm { kind: Kind::Address, what: format!("{} from {address}", titled(package)) });
        }
    }

    /// Adds a line; whatever is in it, it stays one.
    fn line(&mut self, text: &str) {
        self.lines.push(one_line(text));
    }
}

/// Shows a text on one line, with nothing hidden in it.
pub(super) fn one_line(text: &str) -> String {
    visible(text.as_bytes()).replace('\n', "⟨U+000A⟩").replace('\r', "⟨U+000D⟩")
}

/// Where a format gives no names to hashes, each stands under itself, and another one is told by none being left.
fn labels_are_hashes(package: &Package) -> bool {
    package.hashes.iter().all(|(label, hash)| label == hash)
}

fn titled(package: &Package) -> String {
    let gap = if package.version.is_empty() { "" } else { " " };
    format!("{}{gap}{}{}", package.name, package.version, placed(package))
}

fn placed(package: &Package) -> String {
    if package.place.is_empty() { String::new() } else { format!(" (at {})", package.place) }
}

fn hashes(package: &Package) -> String {
    match package.hashes.len() {
        0 => "no hash".to_owned(),
        _ if labels_are_hashes(package) || package.hashes.len() > 3 => format!("{} hashes", package.hashes.len()),
        _ => list(package.hashes.keys()),
    }
}

/// Lists some texts, and says how many more there are.
fn list<'a>(texts: impl Iterator<Item = &'a String>) -> String {
    const SHOWN: usize = 6;
    let texts: Vec<&str> = texts.map(String::as_str).collect();
    let more = if texts.len() > SHOWN { format!(" and {} more", texts.len() - SHOWN) } else { String::new() };
    if texts.is_empty() { "none".to_owned() } else { texts[..texts.len().min(SHOWN)].join(", ") + &more }
}

/// Tells every key whose value differs.
fn facts(lead: &str, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<String> {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let side = |facts: &BTreeMap<String, String>, key| facts.get(key).map_or("(none)".to_owned(), String::clone);
    let changed = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    changed.map(|key| format!("{lead}{key}: {} → {}", side(old, key), side(new, key))).collect()
}
