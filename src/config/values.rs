//! The values of the policy's keys, and for each of them what "stricter" means. Pure.
//!
//! [`Strict::strictest`] is the one operation that layers are joined with. It is commutative where both sides protect, and for keys that only inform it keeps
//! the left side, which is the more trusted one. A value lowers another where joining the two changes it.

use crate::clock::Timestamp;
use crate::finding::Severity;
use crate::tier::Tier;
use std::collections::BTreeSet;
use std::fmt;

/// Joins two layers' values.
pub(super) trait Strict: Clone + PartialEq + fmt::Display {
    /// Returns the stricter of the two, or what is strict in both.
    fn strictest(&self, other: &Self) -> Self;
}

/// Whether the gate refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It does.
    Enforce,
    /// It shows and records, and refuses nothing, until this day begins (UTC).
    Advisory {
        /// The first moment at which it refuses again.
        until: Timestamp,
    },
}

/// Where a run takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The pre-commit and pre-merge-commit hooks.
    Commit,
    /// The pre-push hook.
    Push,
    /// `run`, by hand or in CI.
    Run,
}

/// What follows when a mandatory pass has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenUnavailable {
    /// Refuse.
    Block,
    /// Let through with a SKIPPED header and a record; it counts as unreviewed.
    Warn,
}

/// Where a mandatory pass without an answer is let through with a warning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnUnavailable {
    warn: BTreeSet<(Stage, Tier)>,
}

/// Whether a refuter may clear a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refute {
    /// No: every anchored claim stands, every unanchored one is for a person.
    Off,
    /// Claims that would block are put to a refuter.
    Blocking,
}

/// What the verifier's answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// It is shown.
    Advisory,
    /// FAIL and ABSTAIN refuse.
    Enforce,
}

/// The lowest severity that refuses: HIGH, or MEDIUM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar(pub Severity);

/// The tier from which an unknown author is refused; `None`: never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromTier(pub Option<Tier>);

/// The tiers at which a human must look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint(pub BTreeSet<Tier>);

/// How many reviews in a row may close no open finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds(pub u32);

/// Globs that take scrutiny away: strict is what all layers agree on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Relief(pub BTreeSet<String>);

/// Globs that add scrutiny: strict is what any layer asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Demand(pub BTreeSet<String>);

/// A value that informs and does not protect: the more trusted layer's stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plain<T>(pub T);

impl Stage {
    /// All stages.
    pub const ALL: [Stage; 3] = [Stage::Commit, Stage::Push, Stage::Run];

    /// Returns the word of the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Commit => "pre-commit",
            Stage::Push => "pre-push",
            Stage::Run => "run",
        }
    }
}

/// All tiers, for tables.
pub(super) const TIERS: [Tier; 3] = [Tier::Light, Tier::Standard, Tier::Full];

impl OnUnavailable {
    /// Returns the value that warns at the given stages and tiers and blocks elsewhere.
    pub(super) fn warn_at(stages: &[Stage], tiers: &[Tier]) -> OnUnavailable {
        OnUnavailable { warn: stages.iter().flat_map(|stage| tiers.iter().map(|tier| (*stage, *tier))).collect() }
    }

    /// Returns what follows at one stage and tier.
    pub fn at(&self, stage: Stage, tier: Tier) -> WhenUnavailable {
        if self.warn.contains(&(stage, tier)) { WhenUnavailable::Warn } else { WhenUnavailable::Block }
    }
}

impl Strict for Mode {
    fn strictest(&self, other: &Mode) -> Mode {
        match (*self, *other) {
            (Mode::Enforce, _) | (_, Mode::Enforce) => Mode::Enforce,
            (Mode::Advisory { until: a }, Mode::Advisory { until: b }) => Mode::Advisory { until: a.min(b) },
        }
    }
}

impl Strict for OnUnavailable {
    fn strictest(&self, other: &OnUnavailable) -> OnUnavailable {
        OnUnavailable { warn: self.warn.intersection(&other.warn).copied().collect() }
    }
}

impl Strict for Refute {
    fn strictest(&self, other: &Refute) -> Refute {
        match (self, other) {
            (Refute::Off, _) | (_, Refute::Off) => Refute::Off,
            (Refute::Blocking, Refute::Blocking) => Refute::Blocking,
        }
    }
}

impl Strict for Verify {
    fn strictest(&self, other: &Verify) -> Verify {
        match (self, other) {
            (Verify::Enforce, _) | (_, Verify::Enforce) => Verify::Enforce,
            (Verify::Advisory, Verify::Advisory) => Verify::Advisory,
        }
    }
}

impl Strict for Bar {
    fn strictest(&self, other: &Bar) -> Bar {
        Bar(self.0.min(other.0))
    }
}

impl Strict for FromTier {
    fn strictest(&self, other: &FromTier) -> FromTier {
        FromTier([self.0, other.0].into_iter().flatten().min())
    }
}

impl Strict for Checkpoint {
    fn strictest(&self, other: &Checkpoint) -> Checkpoint {
        Checkpoint(self.0.union(&other.0).copied().collect())
    }
}

impl Strict for Rounds {
    fn strictest(&self, other: &Rounds) -> Rounds {
        Rounds(self.0.min(other.0))
    }
}

impl Strict for Relief {
    fn strictest(&self, other: &Relief) -> Relief {
        Relief(self.0.intersection(&other.0).cloned().collect())
    }
}

impl Strict for Demand {
    fn strictest(&self, other: &Demand) -> Demand {
        Demand(self.0.union(&other.0).cloned().collect())
    }
}

impl<T: Clone + PartialEq> Strict for Plain<T>
where
    Plain<T>: fmt::Display,
{
    fn strictest(&self, _: &Plain<T>) -> Plain<T> {
        self.clone()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Enforce => f.write_str("enforce"),
            Mode::Advisory { until } => write!(f, "advisory until {}", until.to_string().split('T').next().unwrap_or_default()),
        }
    }
}

impl fmt::Display for OnUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.warn.len() {
            0 => return f.write_str("block"),
            all if all == Stage::ALL.len() * TIERS.len() => return f.write_str("warn"),
            _ => {}
        }
        let cells: Vec<String> = self.warn.iter().map(|(stage, tier)| format!("{}/{tier}", stage.as_str())).collect();
        write!(f, "warn at {}", cells.join(", "))
    }
}

impl fmt::Display for Refute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refute::Off => "off",
            Refute::Blocking => "blocking",
        })
    }
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verify::Advisory => "advisory",
            Verify::Enforce => "enforce",
        })
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for FromTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.map_or("none", Tier::as_str))
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tiers: Vec<String> = self.0.iter().map(|tier| format!("{tier}: human")).collect();
        f.write_str(if tiers.is_empty() { "none".to_owned() } else { tiers.join(", ") }.as_str())
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Relief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.0.iter())
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.0.iter())
    }
}

impl fmt::Display for Plain<Vec<String>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.0.iter())
    }
}

impl fmt::Display for Plain<Option<String>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("none"))
    }
}

impl fmt::Display for Plain<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn write_list<'a>(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = &'a String>) -> fmt::Result {
    let quoted: Vec<String> = items.map(|item| format!("{item:?}")).collect();
    write!(f, "[{}]", quoted.join(", "))
}
