//! How much scrutiny the paths deserve. No reviewer is asked here.

use crate::common::{Repo, Sandbox};

/// Stages the files and returns the line of `review-gate tier`.
fn tier(files: &[(&str, usize)], variable: Option<&str>) -> String {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    for (path, lines) in files {
        repo.write(path, "let x = 1;\n".repeat(*lines));
    }
    repo.add();
    tier_of(&repo, variable)
}

fn tier_of(repo: &Repo<'_>, variable: Option<&str>) -> String {
    let gate = repo.gate(&["tier", "--staged"]);
    let gate = variable.map(|value| gate.env("REVIEW_TIER", value)).unwrap_or_else(|| repo.gate(&["tier", "--staged"]));
    let out = gate.run().expect(0).stdout;
    assert_eq!(out.lines().count(), 1, "one line: {out:?}");
    out
}

#[test]
fn paths_and_sizes_decide_the_tier() {
    let rows: &[(&[(&str, usize)], &str)] = &[
        (&[("notes.txt", 3)], "light"),
        (&[("src/lexer/token.rs", 3)], "light"),
        (&[("src/a.rs", 199)], "light"),
        (&[("src/a.rs", 200)], "standard"),
        (&[("a.rs", 1), ("b.rs", 1), ("c.rs", 1), ("d.rs", 1)], "light"),
        (&[("a.rs", 1), ("b.rs", 1), ("c.rs", 1), ("d.rs", 1), ("e.rs", 1)], "standard"),
        (&[("src/auth.rs", 1)], "full"),
        (&[("src/userAuth/mod.rs", 1)], "full"),
        (&[("src/author.rs", 1)], "light"),
        (&[("src/payments.rs", 1)], "full"),
        (&[("db/migrations/0001_init.sql", 1)], "full"),
        (&[("infra/main.tf", 1)], "full"),
        (&[(".github/workflows/ci.yml", 1)], "standard"),
        (&[("CLAUDE.md", 1)], "standard"),
        (&[(".review-gate.yaml", 0)], "standard"),
    ];
    let wrong: Vec<String> = rows
        .iter()
        .map(|(files, want)| (files, want, tier(files, None)))
        .filter(|(_, want, line)| line.split_whitespace().next() != Some(want))
        .map(|(files, want, line)| format!("{files:?}: {want} expected, got {line}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn more_than_twenty_files_are_full() {
    let names: Vec<String> = (0..21).map(|n| format!("src/f{n}.rs")).collect();
    let files: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    assert!(tier(&files, None).starts_with("full "));
    assert!(tier(&files[..20], None).starts_with("standard "));
}

#[test]
fn the_environment_only_raises() {
    assert!(tier(&[("notes.txt", 1)], Some("full")).starts_with("full "));
    assert!(tier(&[("src/auth.rs", 1)], Some("light")).starts_with("full "));
    assert!(tier(&[("src/auth.rs", 1)], Some("nonsense")).starts_with("full "));
}

#[test]
fn the_line_says_why() {
    let line = tier(&[("src/auth.rs", 1)], None);
    assert!(line.contains("security"), "{line}");
}

#[test]
fn a_policy_adds_paths_that_are_full() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    repo.write(".review-gate.yaml", "full: [\"core/**\"]\n").commit("policy");
    repo.write("core/a.rs", "let x = 1;\n").add();
    assert!(tier_of(&repo, None).starts_with("full "));
}
