//! The command line as people see it, held in `fixtures/help.txt`: a flag that comes, goes or is worded anew shows in review. To take over a wanted change,
//! copy what the failing test prints.

use crate::common::Sandbox;
use std::path::Path;

const VERBS: [&str; 19] = [
    "",
    "run",
    "hook",
    "hook pre-push",
    "hook pre-commit",
    "diff",
    "prompt",
    "tier",
    "init",
    "install",
    "uninstall",
    "doctor",
    "config",
    "config show",
    "override",
    "log",
    "log show",
    "log verify",
    "demo",
];

#[test]
fn the_help_is_what_was_agreed() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    let mut all = String::new();
    for verb in VERBS {
        let words: Vec<&str> = ["help"].into_iter().chain(verb.split_whitespace()).collect();
        let run = repo.gate(&words).env("COLUMNS", "100").run().expect(0);
        all += &format!("$ review-gate {}\n{}\n", words.join(" "), run.stdout);
    }
    let held = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/help.txt")).unwrap_or_default();
    assert!(all == held, "fixtures/help.txt should be:\n{all}");
}
