//! One policy file of the repository: raw `.review-gate.yaml` → [`PolicyLayer`], which holds what the file sets and nothing else.
//!
//! The bytes come from a commit, never from the worktree; a repository may name no host, command, key or limit of time (threat T3). Leaves to others:
//! joining layers (`effective.rs`), and matching globs against paths (`paths.rs`, which also holds that no glob ever covers protected paths).

use super::glob;
use super::problem::{ConfigError, Problems};
use super::section::{Section, clip};
use super::values::{Bar, Checkpoint, Demand, FromTier, Mode, OnUnavailable, Plain, Refute, Relief, Rounds, Stage, TIERS, Verify};
use crate::clock::Timestamp;
use crate::finding::Severity;
use crate::tier::Tier;
use crate::yaml::{self, Node, Value};
use std::collections::BTreeSet;

/// The name of the policy file, at the root of the repository.
pub const POLICY_FILE: &str = ".review-gate.yaml";

/// The keys of the file, in the order of the documentation.
pub(super) const KEYS: [&str; 16] = [
    "base",
    "mode",
    "exclude",
    "generated",
    "data",
    "full",
    "on_unavailable",
    "block",
    "refute",
    "verify",
    "spec",
    "require_author",
    "rounds",
    "checkpoint",
    "default_domain",
    "context",
];

/// What one policy file sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyLayer {
    /// Where the file was read, for messages: `base 1a2b3c…`, `HEAD 1a2b3c…`, `tip`.
    pub origin: String,
    pub(super) base: Option<Plain<Option<String>>>,
    pub(super) mode: Option<Mode>,
    pub(super) exclude: Option<Relief>,
    pub(super) generated: Option<Relief>,
    pub(super) data: Option<Relief>,
    pub(super) full: Option<Demand>,
    pub(super) on_unavailable: Option<OnUnavailable>,
    pub(super) block: Option<Bar>,
    pub(super) refute: Option<Refute>,
    pub(super) verify: Option<Verify>,
    pub(super) spec: Option<Plain<Option<String>>>,
    pub(super) require_author: Option<FromTier>,
    pub(super) rounds: Option<Rounds>,
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) default_domain: Option<Plain<String>>,
    pub(super) context: Option<Plain<Vec<String>>>,
}

impl PolicyLayer {
    /// Returns the layer of a commit that has no policy file.
    pub fn empty(origin: &str) -> PolicyLayer {
        PolicyLayer { origin: origin.to_owned(), ..PolicyLayer::default() }
    }
}

/// Reads a policy file.
///
/// # Errors
/// Every problem of the file at once.
pub fn policy_layer(bytes: &[u8], origin: &str) -> Result<PolicyLayer, ConfigError> {
    let mut problems = Problems::of(&format!("{POLICY_FILE} at {origin}"));
    let node = match yaml::tree(bytes) {
        Ok(node) => node,
        Err(error) => return Err(problems.unreadable(error)),
    };
    let layer = from_node(&node, origin, &mut problems);
    problems.finish(layer)
}

pub(super) fn from_node(node: &Node, origin: &str, problems: &mut Problems) -> PolicyLayer {
    let Some(section) = Section::open("", node, &KEYS, problems) else { return PolicyLayer::empty(origin) };
    let p = problems;
    PolicyLayer {
        origin: origin.to_owned(),
        base: section.text("base", p).map(|name| Plain(Some(name))),
        mode: mode(&section, p),
        exclude: globs(&section, "exclude", glob::Use::Exclude, p).map(Relief),
        generated: globs(&section, "generated", glob::Use::Reduce, p).map(Relief),
        data: globs(&section, "data", glob::Use::Exclude, p).map(Relief),
        full: globs(&section, "full", glob::Use::Raise, p).map(Demand),
        on_unavailable: on_unavailable(&section, p),
        block: section.word("block", &[("HIGH", Bar(Severity::High)), ("MEDIUM", Bar(Severity::Medium))], p),
        refute: section.word("refute", &[("off", Refute::Off), ("blocking", Refute::Blocking)], p),
        verify: section.word("verify", &[("advisory", Verify::Advisory), ("enforce", Verify::Enforce)], p),
        spec: repository_path(&section, "spec", p).map(|path| Plain(Some(path))),
        require_author: require_author(&section, p),
        rounds: section.number("rounds", 1..=20, p).and_then(|rounds| u32::try_from(rounds).ok()).map(Rounds),
        checkpoint: checkpoint(&section, p),
        default_domain: section.text("default_domain", p).map(Plain),
        context: context(&section, p).map(Plain),
    }
}

fn mode(section: &Section<'_>, problems: &mut Problems) -> Option<Mode> {
    let node = section.get("mode")?;
    if !matches!(node.value, Value::Map(_)) {
        return section.word("mode", &[("enforce", Mode::Enforce)], problems);
    }
    let inner = Section::open("mode", node, &["advisory_until"], problems)?;
    if inner.get("advisory_until").is_none() {
        problems.add(node, "`mode` is `enforce` or `{advisory_until: DAY}`", "for example `{advisory_until: 2027-01-31}`");
    }
    let day = inner.text("advisory_until", problems)?;
    let until = midnight(&day);
    if until.is_none() {
        problems.add(
            inner.get("advisory_until")?,
            format!("`advisory_until` must be a day, not `{}`", clip(&day)),
            "year-month-day, as in 2027-01-31",
        );
    }
    until.map(|until| Mode::Advisory { until })
}

/// Returns the moment at which a day begins, in UTC.
fn midnight(day: &str) -> Option<Timestamp> {
    let is_plain = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_plain.then(|| format!("{day}T00:00:00Z").parse().ok())?
}

fn globs(section: &Section<'_>, key: &str, purpose: glob::Use, problems: &mut Problems) -> Option<BTreeSet<String>> {
    let mut globs = BTreeSet::new();
    for (node, text) in section.texts(key, problems)? {
        match glob::check(text, purpose) {
            Ok(()) => drop(globs.insert(text.to_owned())),
            Err(why) => problems.add(node, format!("`{key}`: `{}` {why}", clip(text)), "name a folder or a narrower pattern"),
        }
    }
    Some(globs)
}

fn on_unavailable(section: &Section<'_>, problems: &mut Problems) -> Option<OnUnavailable> {
    let node = section.get("on_unavailable")?;
    let words = [("block", false), ("warn", true)];
    if !matches!(node.value, Value::Map(_)) {
        let warn = section.word("on_unavailable", &words, problems)?;
        return Some(if warn { OnUnavailable::warn_at(&Stage::ALL, &TIERS) } else { OnUnavailable::default() });
    }
    let stages = Stage::ALL.map(Stage::as_str);
    let tiers = TIERS.map(Tier::as_str);
    let known: Vec<&str> = tiers.iter().chain(&stages).copied().collect();
    let inner = Section::open("on_unavailable", node, &known, problems)?;
    let warned: Vec<&str> = known.iter().copied().filter(|key| inner.word(key, &words, problems) == Some(true)).collect();
    let keys = inner.keys();
    if tiers.iter().any(|tier| keys.contains(*tier)) && stages.iter().any(|stage| keys.contains(*stage)) {
        problems.add(node, "`on_unavailable` names tiers and stages", "name tiers or stages, not both");
    }
    let warn_stages: Vec<Stage> = Stage::ALL.into_iter().filter(|stage| warned.contains(&stage.as_str())).collect();
    let warn_tiers: Vec<Tier> = TIERS.into_iter().filter(|tier| warned.contains(&tier.as_str())).collect();
    Some(if warn_stages.is_empty() { OnUnavailable::warn_at(&Stage::ALL, &warn_tiers) } else { OnUnavailable::warn_at(&warn_stages, &TIERS) })
}

fn require_author(section: &Section<'_>, problems: &mut Problems) -> Option<FromTier> {
    let words = [("none", None), ("light", Some(Tier::Light)), ("standard", Some(Tier::Standard)), ("full", Some(Tier::Full))];
    section.word("require_author", &words, problems).map(FromTier)
}

fn checkpoint(section: &Section<'_>, problems: &mut Problems) -> Option<Checkpoint> {
    let node = section.get("checkpoint")?;
    if !matches!(node.value, Value::Map(_)) {
        return section.word("checkpoint", &[("none", ())], problems).map(|()| Checkpoint::default());
    }
    let inner = Section::open("checkpoint", node, &TIERS.map(Tier::as_str), problems)?;
    let asks = |tier: &Tier| inner.word(tier.as_str(), &[("human", true), ("none", false)], problems) == Some(true);
    Some(Checkpoint(TIERS.into_iter().filter(asks).collect()))
}

/// Reads a path or pattern inside the repository.
fn repository_path(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<String> {
    let path = section.text(key, problems)?;
    if !glob::stays_inside(&path) {
        problems.add(section.get(key)?, format!("`{key}` must be a path inside the repository, not `{}`", clip(&path)), "");
        return None;
    }
    Some(path)
}

fn context(section: &Section<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let mut paths = Vec::new();
    for (node, text) in section.texts("context", problems)? {
        if glob::stays_inside(text) {
            paths.push(text.to_owned());
        } else {
            problems.add(node, format!("`context` must hold paths inside the repository, not `{}`", clip(text)), "");
        }
    }
    Some(paths)
}
