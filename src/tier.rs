//! How much scrutiny the paths deserve, with the rule that decided, and which floors hold. Pure: paths and sizes in, tier out.
//!
//! Leaves to others: what a path is (`paths`), and which passes a tier means (`plan`). Nothing here lowers a tier.

use crate::change::{BytePath, Change, FileChange};
use crate::paths::{Kind, PathRules};
use std::fmt;

/// More changed files than this make the tier full (requirement T03).
pub const LARGE_FILES: usize = 20;
/// Under this many changed files a change may be light (requirement T04).
pub const SMALL_FILES: usize = 5;
/// Under this many changed lines a change may be light (requirement T04).
pub const SMALL_LINES: usize = 200;

/// How much scrutiny a change gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// One general pass.
    Light,
    /// General, adversarial and tests.
    Standard,
    /// All of them, and a second adversarial pass by a second other family.
    Full,
}

impl Tier {
    /// Returns the word of configuration and report.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Light => "light",
            Tier::Standard => "standard",
            Tier::Full => "full",
        }
    }

    /// Reads a tier; `trivial` and `critical` are accepted for light and full (requirement T13).
    pub fn parse(word: &str) -> Option<Tier> {
        match word.trim().to_ascii_lowercase().as_str() {
            "light" | "trivial" => Some(Tier::Light),
            "standard" => Some(Tier::Standard),
            "full" | "critical" => Some(Tier::Full),
            _ => None,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Scrutiny that no setting may remove (requirement T15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Floor {
    /// The security rubric, at every tier.
    Security,
}

impl Floor {
    /// Returns the word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Floor::Security => "security",
        }
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The size of a change: its tier, the one rule that decided it, and the floors that hold at any tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizing {
    /// The tier.
    pub name: Tier,
    /// The rule that decided, as `review-gate tier` prints it.
    pub reason: String,
    /// The floors; empty where none applies.
    pub floors: Vec<Floor>,
}

impl Sizing {
    /// Returns what holds where git's metadata could not be read: never light, and with every floor (requirement T09).
    pub fn fail_safe() -> Sizing {
        Sizing { name: Tier::Standard, reason: "fail-safe".to_owned(), floors: vec![Floor::Security] }
    }

    /// Raises the tier to at least `to`; `why` becomes the reason only where it did raise. Never lowers (ruling on T02).
    pub fn raised(self, to: Tier, why: &str) -> Sizing {
        if to > self.name { Sizing { name: to, reason: why.to_owned(), ..self } } else { self }
    }
}

/// `<tier> <reason>`, the line of `review-gate tier`.
impl fmt::Display for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.reason)
    }
}

/// Sizes a change. `raise` is what the user asks for and why (`REVIEW_TIER`, `policy`, `--tier`); it can only raise.
pub fn tier(change: &Change, rules: &PathRules, raise: Option<(Tier, &str)>) -> Sizing {
    let (name, reason) = by_rule(change, rules);
    let sized = Sizing { name, reason: reason.to_owned(), floors: floors(change) };
    match raise {
        Some((to, why)) => sized.raised(to, why),
        None => sized,
    }
}

/// The first rule that applies, in the order of requirement T08.
fn by_rule(change: &Change, rules: &PathRules) -> (Tier, &'static str) {
    let any = |kind: Kind| names(change).any(|path| kind.is(path));
    let (added, deleted) = change.counts();
    if any(Kind::SecuritySurface) {
        (Tier::Full, "security-surface path")
    } else if any(Kind::Migration) {
        (Tier::Full, "migration path")
    } else if any(Kind::Infrastructure) {
        (Tier::Full, "infrastructure path")
    } else if names(change).any(|path| rules.is_full(path)) {
        (Tier::Full, "policy")
    } else if change.files.len() > LARGE_FILES {
        (Tier::Full, "large diff (>20 files)")
    } else if change.files.len() >= SMALL_FILES || added + deleted >= SMALL_LINES {
        (Tier::Standard, "moderate diff")
    } else if names(change).any(Kind::is_governance) {
        (Tier::Standard, "governance path")
    } else if change.files.iter().any(|file| rules.treatment(file).is_by_policy()) {
        (Tier::Standard, "unreviewed path")
    } else {
        (Tier::Light, "small diff")
    }
}

fn floors(change: &Change) -> Vec<Floor> {
    let sensitive = |path: &BytePath| [Kind::SecuritySurface, Kind::Sensitive, Kind::Migration].iter().any(|kind| kind.is(path));
    if names(change).any(sensitive) { vec![Floor::Security] } else { Vec::new() }
}

/// Both names of every changed file: a rename away from a sensitive path is as sensitive as one towards it (requirement T07).
fn names(change: &Change) -> impl Iterator<Item = &BytePath> {
    change.files.iter().flat_map(|file: &FileChange| [&file.new, &file.old].into_iter().flatten().map(|side| &side.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Body, Hunk, Mode, Oid, Side, Status};
    use crate::paths::PolicyGlobs;

    fn side(path: &str) -> Option<Side> {
        Some(Side { path: path.into(), mode: Mode::Regular, oid: Oid::from_bytes(&[1; 20]).expect("an id"), size: 1 })
    }

    fn file(path: &str, added: u32) -> FileChange {
        let hunk = Hunk { old_start: 0, old_lines: 0, new_start: 1, new_lines: added, section: Vec::new(), text: b"+x\n".repeat(added as usize) };
        FileChange { status: Status::Added, old: None, new: side(path), body: Body::Text(vec![hunk]) }
    }

    fn change(paths: &[&str]) -> Change {
        Change { files: paths.iter().map(|path| file(path, 1)).collect(), already_published: Vec::new() }
    }

    fn plain(files: usize, lines: u32) -> Change {
        Change { files: (0..files).map(|i| file(&format!("src/part{i}/x.rs"), lines)).collect(), already_published: Vec::new() }
    }

    fn sized(change: &Change) -> String {
        tier(change, &PathRules::default(), None).to_string()
    }

    /// The rows of the ancestor's script (background 1.2), and the run-checked holes of requirement T06.
    #[test]
    fn paths_and_sizes_give_the_tier() {
        let binary = Change { files: vec![FileChange { body: Body::Binary, ..file("img/a.png", 0) }], already_published: Vec::new() };
        for (change, expected) in [
            (change(&["lib/auth/session.py", "README.md"]), "full security-surface path"),
            (change(&["docs/authoring.md", "README.md"]), "light small diff"),
            (plain(3, 50), "light small diff"),
            (change(&["db/migrations/0001_x.py"]), "full migration path"),
            (change(&["db/schema.SQL"]), "full migration path"),
            (plain(25, 1), "full large diff (>20 files)"),
            (plain(21, 1), "full large diff (>20 files)"),
            (plain(20, 1), "standard moderate diff"),
            (plain(8, 1), "standard moderate diff"),
            (plain(4, 1), "light small diff"),
            (plain(5, 1), "standard moderate diff"),
            (plain(1, 199), "light small diff"),
            (plain(1, 200), "standard moderate diff"),
            (binary, "light small diff"),
            (Change::default(), "light small diff"),
            (change(&["deploy/terraform/main.tf"]), "full infrastructure path"),
            (change(&["src/tenant_scope.rs"]), "full infrastructure path"),
            (change(&["jobs/cron/nightly.py"]), "full infrastructure path"),
            (change(&["auth/migrations/1.sql"]), "full security-surface path"),
            (change(&["crates/api/src/auth_handler.rs"]), "full security-surface path"),
            (change(&["src/AuthProvider.tsx"]), "full security-surface path"),
            (change(&["src/PaymentForm.tsx"]), "full security-surface path"),
            (change(&["src/JWTToken.ts"]), "full security-surface path"),
            (change(&["src/oauth2/mod.rs"]), "full security-surface path"),
            (change(&["src/rowlevel.rs"]), "full security-surface path"),
            (change(&["src/token.rs", "src/oracle.rs", "src/author.rs"]), "light small diff"),
            (change(&[".github/workflows/ci.yml"]), "standard governance path"),
            (change(&["AGENTS.md"]), "standard governance path"),
            (change(&[".review-gate.yaml"]), "standard governance path"),
        ] {
            assert_eq!(sized(&change), expected, "{:?}", change.files.first().map(|file| file.path().to_string()));
        }
    }

    #[test]
    fn wider_words_set_the_floor_and_not_the_tier() {
        for path in [
            "src/session_store.py",
            "src/useSession.ts",
            "src/tokens.ts",
            "src/authentication.ts",
            "src/authorization/mod.ts",
            "billing/a.rs",
            "Login.tsx",
        ] {
            let sized = tier(&change(&[path]), &PathRules::default(), None);
            assert_eq!((sized.name, sized.floors.as_slice()), (Tier::Light, &[Floor::Security][..]), "{path}");
        }
        for path in ["Button.tsx", "src/author.rs", "docs/authoring.md", "src/oracle.rs"] {
            assert_eq!(tier(&change(&[path]), &PathRules::default(), None).floors, [], "{path}");
        }
        assert_eq!(tier(&change(&["src/auth.rs"]), &PathRules::default(), None).floors, [Floor::Security]);
    }

    #[test]
    fn both_names_of_a_rename_count_and_published_paths_do_not() {
        let renamed = FileChange { status: Status::Renamed { similarity: 100 }, old: side("src/auth/x.rs"), ..file("src/x.rs", 0) };
        assert_eq!(sized(&Change { files: vec![renamed], already_published: Vec::new() }), "full security-surface path");
        assert_eq!(sized(&Change { already_published: vec!["src/auth/x.rs".into()], ..plain(1, 1) }), "light small diff");
    }

    #[test]
    fn a_wish_only_raises() {
        for (wish, expected) in
            [(Tier::Light, "standard moderate diff"), (Tier::Standard, "standard moderate diff"), (Tier::Full, "full REVIEW_TIER")]
        {
            assert_eq!(tier(&plain(8, 1), &PathRules::default(), Some((wish, "REVIEW_TIER"))).to_string(), expected);
        }
        let floor = tier(&change(&["src/session.rs"]), &PathRules::default(), Some((Tier::Standard, "policy")));
        assert_eq!((floor.name, floor.floors), (Tier::Standard, vec![Floor::Security]));
    }

    #[test]
    fn the_policy_makes_full_and_unreviewed_is_at_least_standard() {
        let full = ["lib/core/**".to_owned()];
        let exclude = ["notes/**".to_owned()];
        let rules = PathRules::new(PolicyGlobs { full: &full, exclude: &exclude, ..PolicyGlobs::default() }).expect("good globs");
        for (path, expected) in [
            ("lib/core/a.rs", "full policy"),
            ("notes/a.txt", "standard unreviewed path"),
            ("notes/a.rs", "light small diff"),
            ("Cargo.lock", "light small diff"),
        ] {
            assert_eq!(tier(&change(&[path]), &rules, None).to_string(), expected, "{path}");
        }
    }

    #[test]
    fn fail_safe_is_never_light() {
        assert_eq!(Sizing::fail_safe().to_string(), "standard fail-safe");
        assert_eq!(Sizing::fail_safe().floors, [Floor::Security]);
    }

    #[test]
    fn words_of_other_tools_are_understood() {
        for (word, tier) in
            [("trivial", Some(Tier::Light)), (" Critical ", Some(Tier::Full)), ("standard", Some(Tier::Standard)), ("none", None), ("", None)]
        {
            assert_eq!(Tier::parse(word), tier, "{word}");
        }
    }
}
