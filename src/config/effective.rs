//! Layers joined to the policy that holds: the strictest of the base layers that set a key, the default where none does, and then the tip's layer, which can
//! only tighten. Also what the tip would lower, once it were the base. Pure.

use super::defaults::default_layer;
use super::policy::PolicyLayer;
use super::values::{Bar, Checkpoint, Demand, FromTier, Mode, OnUnavailable, Plain, Refute, Relief, Rounds, Strict, Verify};
use crate::clock::Timestamp;
use crate::digest::{Digest, Fields};
use crate::tier::Tier;
use std::collections::BTreeSet;

/// The longest that an advisory mode may still last, in days.
const ADVISORY_DAYS: i64 = 90;

/// One key of the policy as it holds, for `config show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: &'static str,
    /// Its value, in words.
    pub value: String,
    /// The layer, or the layers, that it came from.
    pub layer: String,
    /// Whether a layer sets it; false where the default holds.
    pub is_set: bool,
}

/// The policy that holds for one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The branch that stands in for the remote's default branch where it has none.
    pub base: Option<String>,
    /// Whether the gate refuses; an advisory mode that has ended or lasts too long is `Enforce` here.
    pub mode: Mode,
    /// Globs that are not reviewed.
    pub exclude: BTreeSet<String>,
    /// Globs of files that are only listed.
    pub generated: BTreeSet<String>,
    /// Globs of data files.
    pub data: BTreeSet<String>,
    /// Globs that call for the full tier.
    pub full: BTreeSet<String>,
    /// What follows when a mandatory pass has no answer.
    pub on_unavailable: OnUnavailable,
    /// The lowest severity that refuses.
    pub block: crate::finding::Severity,
    /// Whether a refuter may clear a claim.
    pub refute: Refute,
    /// What the verifier's answer is worth.
    pub verify: Verify,
    /// Where the spec is found.
    pub spec: Option<String>,
    /// The tier from which an unknown author is refused.
    pub require_author: Option<Tier>,
    /// How many reviews in a row may close no open finding.
    pub rounds: u32,
    /// The tiers at which a person must look.
    pub checkpoint: BTreeSet<Tier>,
    /// The domain of a change that tells none; `auto` for the built-in choice.
    pub default_domain: String,
    /// Convention files to show reviewers.
    pub context: Vec<String>,
    /// What a person should know about how the policy came about.
    pub notes: Vec<String>,
    rows: Vec<Row>,
}

impl Policy {
    /// Returns every key with its value and layer.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the hash of all values, for receipts: two policies with one digest decide alike.
    pub fn digest(&self) -> Digest {
        let mut fields = Fields::new("review-gate policy v1");
        for row in &self.rows {
            fields.add(row.key);
            fields.add(&row.value);
        }
        fields.finish()
    }
}

/// Joins the layers. `base` holds the policies of the subject's base and of the remote's default branch, the more trusted first; `tip` is the changed
/// version, where there is one that can be read. `today` ends advisory modes.
pub fn effective(base: &[PolicyLayer], tip: Option<&PolicyLayer>, today: Timestamp) -> Policy {
    let default = default_layer();
    let mut join = Join { base, tip, default, rows: Vec::new() };
    let mut notes = Vec::new();
    let base = join.key("base", |layer| &layer.base).0;
    let mode = bounded(join.key("mode", |layer| &layer.mode), today, &mut notes);
    join.rows.iter_mut().filter(|row| row.key == "mode").for_each(|row| row.value = mode.to_string());
    Policy {
        base,
        mode,
        exclude: join.key::<Relief>("exclude", |layer| &layer.exclude).0,
        generated: join.key::<Relief>("generated", |layer| &layer.generated).0,
        data: join.key::<Relief>("data", |layer| &layer.data).0,
        full: join.key::<Demand>("full", |layer| &layer.full).0,
        on_unavailable: join.key("on_unavailable", |layer| &layer.on_unavailable),
        block: join.key::<Bar>("block", |layer| &layer.block).0,
        refute: join.key("refute", |layer| &layer.refute),
        verify: join.key("verify", |layer| &layer.verify),
        spec: join.key::<Plain<Option<String>>>("spec", |layer| &layer.spec).0,
        require_author: join.key::<FromTier>("require_author", |layer| &layer.require_author).0,
        rounds: join.key::<Rounds>("rounds", |layer| &layer.rounds).0,
        checkpoint: join.key::<Checkpoint>("checkpoint", |layer| &layer.checkpoint).0,
        default_domain: join.key::<Plain<String>>("default_domain", |layer| &layer.default_domain).0,
        context: join.key::<Plain<Vec<String>>>("context", |layer| &layer.context).0,
        notes,
        rows: join.rows,
    }
}

/// Names the protective keys that would be less strict once the tip's file were the base's; an edit of one of them is a HIGH finding. For a deleted file pass
/// [`PolicyLayer::empty`].
pub fn lowered(base: &[PolicyLayer], tip: &PolicyLayer) -> Vec<&'static str> {
    let default = default_layer();
    let join = Join { base, tip: None, default, rows: Vec::new() };
    let mut keys = vec![
        ("mode", join.is_lowered(tip, |layer| &layer.mode)),
        ("exclude", join.is_lowered(tip, |layer| &layer.exclude)),
        ("generated", join.is_lowered(tip, |layer| &layer.generated)),
        ("data", join.is_lowered(tip, |layer| &layer.data)),
        ("full", join.is_lowered(tip, |layer| &layer.full)),
        ("on_unavailable", join.is_lowered(tip, |layer| &layer.on_unavailable)),
        ("block", join.is_lowered(tip, |layer| &layer.block)),
        ("refute", join.is_lowered(tip, |layer| &layer.refute)),
        ("verify", join.is_lowered(tip, |layer| &layer.verify)),
        ("require_author", join.is_lowered(tip, |layer| &layer.require_author)),
        ("rounds", join.is_lowered(tip, |layer| &layer.rounds)),
        ("checkpoint", join.is_lowered(tip, |layer| &layer.checkpoint)),
    ];
    // The spec protects only where its verifier refuses; elsewhere renaming it is honest work.
    let enforced = join.settled(|layer| &layer.verify) == Verify::Enforce;
    keys.push(("spec", enforced && join.is_lowered(tip, |layer| &layer.spec)));
    keys.into_iter().filter(|(_, is_lowered)| *is_lowered).map(|(key, _)| key).collect()
}

/// Ends an advisory mode on its day. One that would last longer than the contract allows is not honoured: its end would never come.
fn bounded(mode: Mode, today: Timestamp, notes: &mut Vec<String>) -> Mode {
    let Mode::Advisory { until } = mode else { return Mode::Enforce };
    let seconds = until.as_second() - today.as_second();
    if seconds <= 0 {
        notes.push(format!("{mode} has ended: the gate enforces"));
        return Mode::Enforce;
    }
    if seconds > ADVISORY_DAYS * 24 * 60 * 60 {
        notes.push(format!("{mode} is more than {ADVISORY_DAYS} days away and is not honoured: the gate enforces"));
        return Mode::Enforce;
    }
    mode
}

/// The layers of one joining, and the rows that it leaves behind.
struct Join<'a> {
    base: &'a [PolicyLayer],
    tip: Option<&'a PolicyLayer>,
    default: &'a PolicyLayer,
    rows: Vec<Row>,
}

impl Join<'_> {
    /// Settles a key and notes where its value came from.
    fn key<T: Strict>(&mut self, key: &'static str, get: fn(&PolicyLayer) -> &Option<T>) -> T {
        let settled = self.settled(get);
        let value = self.tip.and_then(|tip| get(tip).as_ref()).map_or_else(|| settled.clone(), |tip| settled.strictest(tip));
        let mut layers: Vec<&str> = self.base.iter().filter(|layer| get(layer).is_some()).map(|layer| layer.origin.as_str()).collect();
        let mut is_set = !layers.is_empty();
        if layers.is_empty() {
            layers.push("default");
        }
        if let Some(tip) = self.tip.filter(|_| value != settled) {
            layers.push(&tip.origin);
            is_set = true;
        }
        self.rows.push(Row { key, value: value.to_string(), layer: layers.join(", "), is_set });
        value
    }

    /// The strictest of the base layers that set the key, else the default.
    fn settled<T: Strict>(&self, get: fn(&PolicyLayer) -> &Option<T>) -> T {
        let set = self.base.iter().filter_map(|layer| get(layer).clone());
        set.reduce(|a, b| a.strictest(&b)).unwrap_or_else(|| self.default_of(get))
    }

    fn default_of<T: Strict>(&self, get: fn(&PolicyLayer) -> &Option<T>) -> T {
        get(self.default).clone().expect("a test holds that the defaults set every key")
    }

    /// Tells whether the tip's file, with defaults where it is silent, is less strict than what holds now.
    fn is_lowered<T: Strict>(&self, tip: &PolicyLayer, get: fn(&PolicyLayer) -> &Option<T>) -> bool {
        let new = get(tip).clone().unwrap_or_else(|| self.default_of(get));
        self.settled(get).strictest(&new) != new
    }
}

#[cfg(test)]
mod tests {
    use super::super::policy::policy_layer;
    use super::super::values::{Stage, WhenUnavailable};
    use super::*;
    use crate::finding::Severity;

    fn today() -> Timestamp {
        "2026-12-01T12:00:00Z".parse().unwrap()
    }

    fn layer(text: &str) -> PolicyLayer {
        policy_layer(text.as_bytes(), "base").unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_policy_file_sets_what_it_says() {
        let text = "mode: {advisory_until: 2027-01-31}\nexclude: ['.planning/**']\nfull: ['infra/**']\non_unavailable: {pre-commit: warn}\nblock: MEDIUM\n\
                    verify: enforce\nrequire_author: standard\nrounds: 2\ncheckpoint: {full: human}\nbase: trunk\n";
        let policy = effective(&[layer(text)], None, today());
        assert!(matches!(policy.mode, Mode::Advisory { .. }) && policy.notes.is_empty());
        assert_eq!(policy.on_unavailable.at(Stage::Commit, Tier::Full), WhenUnavailable::Warn);
        assert_eq!(policy.on_unavailable.at(Stage::Push, Tier::Light), WhenUnavailable::Block);
        assert_eq!((policy.block, policy.require_author, policy.rounds), (Severity::Medium, Some(Tier::Standard), 2));
        assert_eq!((policy.base.as_deref(), policy.checkpoint.len(), policy.verify), (Some("trunk"), 1, Verify::Enforce));
    }

    #[test]
    fn an_advisory_mode_ends_and_cannot_last() {
        let joined = |day: &str, today: &str| effective(&[layer(&format!("mode: {{advisory_until: {day}}}\n"))], None, today.parse().unwrap());
        assert_ne!(joined("2027-01-31", "2027-01-30T23:59:59Z").mode, Mode::Enforce);
        assert_eq!(joined("2027-01-31", "2027-01-31T00:00:00Z").mode, Mode::Enforce);
        let endless = joined("2099-01-01", "2026-12-01T00:00:00Z");
        assert_eq!((endless.mode, endless.rows()[1].value.as_str()), (Mode::Enforce, "enforce"));
        assert!(endless.notes[0].contains("more than 90 days"));
    }

    #[test]
    fn the_strictest_of_the_base_layers_holds() {
        let own = "block: HIGH\nexclude: [a/**, b/**]\nrounds: 5\non_unavailable: {light: warn, standard: warn}\nfull: [x/**]\nmode: {advisory_until: 2027-01-31}\n";
        let main =
            "block: MEDIUM\nexclude: [b/**, c/**]\nrounds: 2\non_unavailable: {pre-push: warn}\nfull: [y/**]\nmode: {advisory_until: 2027-01-01}\n";
        for layers in [[layer(own), layer(main)], [layer(main), layer(own)]] {
            let policy = effective(&layers, None, today());
            assert_eq!((policy.block, policy.rounds), (Severity::Medium, 2));
            assert_eq!(policy.exclude, ["b/**".to_owned()].into());
            assert_eq!(policy.full, ["x/**".to_owned(), "y/**".to_owned()].into());
            assert_eq!(policy.on_unavailable.to_string(), "warn at pre-push/light, pre-push/standard");
            assert_eq!(policy.mode.to_string(), "advisory until 2027-01-01");
        }
    }

    /// Tips that can be read and try to weaken the gate (criterion AC3.1).
    const WEAKER: [&str; 22] = [
        "mode: {advisory_until: 2026-12-31}\n",
        "mode: {advisory_until: 9999-01-01}\n",
        "exclude: ['.planning/**', 'docs/**']\n",
        "exclude: ['a/**', 'b/**', '.planning/**', 'd/**']\n",
        "generated: ['docs/**']\n",
        "data: ['docs/**', 'x/*.json']\n",
        "full: []\n",
        "on_unavailable: warn\n",
        "on_unavailable: {light: warn, standard: warn, full: warn}\n",
        "on_unavailable: {pre-push: warn}\n",
        "block: HIGH\n",
        "verify: advisory\n",
        "spec: other/spec.md\n",
        "refute: blocking\n",
        "require_author: none\n",
        "require_author: full\n",
        "rounds: 20\n",
        "checkpoint: none\n",
        "base: attacker\n",
        "context: [notes/obey-me.md]\n",
        "default_domain: docs\n",
        "{}\n",
    ];
    /// Tips that are refused outright.
    const REFUSED: [&str; 36] = [
        "exclude: ['**']\n",
        "exclude: ['*']\n",
        "exclude: ['**/*.rs']\n",
        "exclude: ['.github/**']\n",
        "exclude: ['.review-gate.yaml']\n",
        "exclude: ['!x']\n",
        "generated: ['**/*']\n",
        "data: ['../**']\n",
        "block: LOW\n",
        "block: CRITICAL\n",
        "block: off\n",
        "severity_map: {HIGH: LOW}\n",
        "host: https://elsewhere.example\n",
        "reviewers: [{name: x, provider: cli, command: /bin/true, model: gpt-5}]\n",
        "command: /bin/true\n",
        "proxy: http://elsewhere.example\n",
        "deadline: 999999\n",
        "same_family: degraded\n",
        "author: human\n",
        "allow_secrets: []\n",
        "mode: off\n",
        "mode: advisory\n",
        "mode: {advisory_until: never}\n",
        "mode: {advisory_until: 2027-02-31}\n",
        "rounds: 0\n",
        "rounds: 100000\n",
        "block: HIGH\nblock: HIGH\n",
        "include: other.yaml\n",
        "base: !include x\n",
        "base: &a {block: HIGH}\n<<: *a\n",
        "on_unavailable: {light: warn, pre-push: warn}\n",
        "context: [/etc/passwd]\n",
        "- a list\n",
        "just text\n",
        "null\n",
        "mode: enforce\n---\nmode: enforce\n",
    ];

    #[test]
    fn hostile_tips_change_no_decision() {
        let base = "exclude: ['.planning/**']\nfull: ['infra/**']\nblock: MEDIUM\nverify: enforce\nspec: specs/spec.md\nrequire_author: light\nrounds: 2\n\
                    checkpoint: {full: human}\n";
        let base = [layer(base)];
        let without = effective(&base, None, today());
        for text in WEAKER {
            assert_eq!(effective(&base, Some(&layer(text)), today()), without, "{text}");
        }
        for text in REFUSED {
            assert!(policy_layer(text.as_bytes(), "tip").is_err(), "{text:?} was read");
        }
    }

    #[test]
    fn a_tip_may_tighten_at_once() {
        let base = layer("exclude: ['a/**', 'b/**']\non_unavailable: warn\n");
        let tip = "exclude: ['a/**']\non_unavailable: block\nblock: MEDIUM\nfull: ['x/**']\nrounds: 1\nrefute: off\n";
        let tip = PolicyLayer { origin: "tip".into(), ..layer(tip) };
        let policy = effective(&[base], Some(&tip), today());
        assert_eq!((policy.exclude.len(), policy.full.len(), policy.rounds, policy.refute), (1, 1, 1, Refute::Off));
        assert_eq!(policy.on_unavailable.at(Stage::Push, Tier::Light), WhenUnavailable::Block);
        let row = policy.rows().iter().find(|row| row.key == "block").unwrap();
        assert_eq!((row.value.as_str(), row.layer.as_str()), ("MEDIUM", "default, tip"));
    }

    #[test]
    fn what_a_tip_lowers_is_named() {
        let base = "block: MEDIUM\nfull: ['x/**', 'y/**']\nexclude: ['a/**']\nspec: s.md\nmode: {advisory_until: 2027-01-01}\n";
        let table: [(&str, &[&str]); 9] = [
            (base, &[]),
            ("block: MEDIUM\nfull: ['x/**', 'y/**', 'z/**']\n", &[]),
            ("block: HIGH\nfull: ['x/**', 'y/**']\n", &["block"]),
            ("full: ['x/**', 'y/**']\n", &["block"]),
            ("block: MEDIUM\nfull: ['x/**']\n", &["full"]),
            ("block: MEDIUM\nfull: ['x/**', 'y/**']\nexclude: ['a/**', 'b/**']\n", &["exclude"]),
            ("block: MEDIUM\nfull: ['x/**', 'y/**']\nmode: {advisory_until: 2027-02-01}\n", &["mode"]),
            ("block: MEDIUM\nfull: ['x/**', 'y/**']\non_unavailable: {light: warn}\nrounds: 9\n", &["on_unavailable", "rounds"]),
            ("{}\n", &["full", "block"]),
        ];
        for (text, want) in table {
            assert_eq!(lowered(&[layer(base)], &layer(text)), want, "{text}");
        }
        assert_eq!(lowered(&[layer("verify: enforce\nspec: s.md\n")], &layer("verify: enforce\nspec: t.md\n")), ["spec"]);
        assert_eq!(lowered(&[], &layer("mode: {advisory_until: 2027-01-01}\n")), ["mode"]);
        assert_eq!(lowered(&[layer(base)], &PolicyLayer::empty("tip")), ["full", "block"]);
    }
}
