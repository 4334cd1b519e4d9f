//! Keys that this version reads and does nothing with yet. Setting one must not look like protection, so `config show`, `config check` and the report say so.

use super::effective::{Policy, Row};
use super::show::user_settings;
use super::user::User;
use super::values::Verify;

/// Each such key of either file, and what does not happen.
const IDLE: [(&str, &str); 7] = [
    ("budget", "nothing is counted against it"),
    ("lenses", "no lens is run"),
    ("verify", "no verifier is asked"),
    ("spec", "no spec is read"),
    ("rounds", "rounds are not counted"),
    ("default_domain", "domains have no say"),
    ("context", "no file is shown beside the change"),
];

/// Returns a sentence for each key that a layer sets and that has no effect in this version; none for a key that only the defaults set.
pub fn not_in_force(user: &User, policy: &Policy) -> Vec<String> {
    let rows = user_settings(user).into_iter().chain(policy.rows().iter().cloned());
    let keys = rows.filter(|row| row.is_set).filter_map(|row| sentence(&row, policy.verify));
    let pinned = user.reviewers.iter().filter(|entry| entry.pin_sha256.is_some());
    keys.chain(pinned.map(|entry| {
        format!(
            "`pin_sha256` of {} is set and not in force yet: command-line reviewers are not asked, so no program is compared with it",
            entry.spec.name
        )
    }))
    .collect()
}

/// Marks the row of a key that has no effect, whichever layer its value came from.
pub(super) fn marked(mut row: Row) -> Row {
    if IDLE.iter().any(|(key, _)| *key == row.key) {
        row.layer += "; not in force yet";
    }
    row
}

fn sentence(row: &Row, verify: Verify) -> Option<String> {
    let (key, what) = IDLE.iter().find(|(key, _)| *key == row.key)?;
    Some(match (*key, verify) {
        ("verify", Verify::Enforce) => "`verify: enforce` cannot be kept yet: there is no verifier, so every change is refused".to_owned(),
        _ => format!("`{key}` is set and not in force yet: {what}"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::defaults::default_user;
    use super::super::{effective, policy_layer, user, user_rows};
    use super::*;
    use crate::config::{PolicyLayer, policy_rows};
    use crate::env::Env;

    fn user(text: &str) -> User {
        user::read(text.as_bytes(), None, &Env::default(), default_user()).unwrap()
    }

    fn layer(text: &str, origin: &str) -> PolicyLayer {
        policy_layer(text.as_bytes(), origin).unwrap()
    }

    fn policy(base: &[PolicyLayer], tip: Option<&PolicyLayer>) -> Policy {
        effective(base, tip, "2026-12-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn what_a_layer_sets_in_vain_is_said_and_nothing_else() {
        let pinned = "deadline: 9\nreviewers: [{name: codex, provider: cli, command: /bin/codex, model: gpt-5, pin_sha256: PIN}]\n"
            .replace("PIN", &"a".repeat(64));
        let table: [(&str, &str, &[&str]); 7] = [
            ("deadline: 9\n", "block: MEDIUM\nrequire_author: full\ncheckpoint: {full: human}\nbase: trunk\n", &[]),
            ("budget: {per_run_usd: 2.0}\n", "{}\n", &["`budget` is set"]),
            ("lenses: [{name: a, command: [b]}]\n", "{}\n", &["`lenses` is set"]),
            (&pinned, "{}\n", &["`pin_sha256` of codex is set"]),
            ("deadline: 9\n", "verify: advisory\n", &["`verify` is set and not in force yet: no verifier is asked"]),
            ("deadline: 9\n", "verify: enforce\n", &["`verify: enforce` cannot be kept yet"]),
            (
                "deadline: 9\n",
                "spec: s.md\nrounds: 3\ndefault_domain: docs\ncontext: [A.md]\n",
                &["`spec` is set", "`rounds` is set", "`default_domain` is set", "`context` is set"],
            ),
        ];
        for (of_user, of_policy, expected) in table {
            let said = not_in_force(&user(of_user), &policy(&[layer(of_policy, "base")], None));
            assert_eq!(said.len(), expected.len(), "{said:?}");
            assert!(said.iter().zip(expected).all(|(said, start)| said.starts_with(start)), "{said:?}");
        }
    }

    #[test]
    fn a_tip_sets_a_key_only_where_it_changes_what_holds() {
        let (user, tip) = (user("deadline: 9\n"), layer("verify: enforce\ncontext: [A.md]\nrounds: 20\n", "tip"));
        assert_eq!(not_in_force(&user, &policy(&[], Some(&tip))).len(), 1);
    }

    #[test]
    fn show_marks_the_keys_whatever_their_layer() {
        let rows = [user_rows(&user("budget: {per_run_usd: 2.0}\n")), policy_rows(&policy(&[layer("rounds: 2\n", "base 1a2b")], None))].concat();
        let layer = |key: &str| rows.iter().find(|row| row.key == key).map(|row| row.layer.as_str());
        assert_eq!(layer("budget"), Some("user; not in force yet"));
        assert_eq!(layer("rounds"), Some("base 1a2b; not in force yet"));
        assert_eq!(layer("verify"), Some("default; not in force yet"));
        assert_eq!((layer("deadline"), layer("checkpoint")), (Some("default"), Some("default")));
        let known: Vec<&str> = rows.iter().map(|row| row.key).collect();
        assert!(IDLE.iter().all(|(key, _)| known.contains(key)), "a key that is no key: {known:?}");
    }
}
