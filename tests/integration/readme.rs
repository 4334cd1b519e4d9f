//! What the README says can be typed, can be typed. A block after the line `<!-- tested -->` is run as it stands, in a repository whose reviewer is scripted.

use crate::common::{Behaviour, GATE, GOOD, Peer, Reviewer, Sandbox, child};
use std::collections::BTreeSet;
use std::path::Path;

const MARK: &str = "<!-- tested -->";

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("there is a README.md")
}

/// Returns the shell blocks that follow the mark.
fn tested_blocks(text: &str) -> Vec<String> {
    let block = |rest: &str| Some(rest.trim_start().strip_prefix("```sh\n")?.split("\n```").next()?.to_owned());
    text.split(MARK).skip(1).map(|rest| block(rest).unwrap_or_else(|| panic!("no shell block follows {MARK}: {:.80}", rest.trim_start()))).collect()
}

#[test]
fn every_tested_block_runs() {
    let text = readme();
    let blocks = tested_blocks(&text);
    assert!(!blocks.is_empty(), "the README has no block after {MARK}");
    for block in blocks {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        sandbox.configure(&[Reviewer::qwen(&peer)], "");
        let repo = sandbox.published();
        repo.write("run.rs", GOOD).commit("run");
        repo.write("staged.rs", GOOD).add();
        let bin = Path::new(GATE).parent().unwrap();
        let mut shell = sandbox.command("sh");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        shell.args(["-eu", "-c", &block]).env("PATH", path).current_dir(repo.path());
        let run = child::run(shell, b"");
        assert_eq!(run.status, 0, "this block fails:\n{block}\n{run}");
    }
}

/// Every `review-gate VERB` in a code block is a verb that the program knows.
#[test]
fn every_verb_of_the_readme_is_known() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    let text = readme();
    let lines = text.lines().filter_map(|line| line.trim_start().trim_start_matches("$ ").strip_prefix("review-gate "));
    let verbs: BTreeSet<&str> =
        lines.filter_map(|rest| rest.split_whitespace().next()).filter(|word| word.bytes().all(|b| b.is_ascii_lowercase())).collect();
    assert!(verbs.contains("run") && verbs.contains("install"), "{verbs:?}");
    for verb in verbs {
        repo.gate(&[verb, "--help"]).run().expect(0);
    }
}

#[test]
fn blocks_are_found_by_their_mark() {
    let text = format!("x\n```sh\nno\n```\n{MARK}\n```sh\none\ntwo\n```\nrest\n");
    assert_eq!(tested_blocks(&text), ["one\ntwo"]);
}
