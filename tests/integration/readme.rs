//! What the README says can be typed or written down, can be: its commands run, its verbs exist, its configurations are accepted.

use crate::common::{Behaviour, GATE, GOOD, Peer, Repo, Reviewer, Run, Sandbox, child};
use std::collections::BTreeSet;
use std::path::Path;

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("there is a README.md")
}

/// Returns the fenced blocks of a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).map(|rest| rest.split("\n```").next().unwrap_or(rest)).collect()
}

/// A repository with a change to push and one that is staged, and a reviewer that finds nothing.
fn in_a_repository(act: impl Fn(&Repo<'_>) -> Run) -> Run {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.published();
    repo.write("run.rs", GOOD).commit("run");
    repo.write("staged.rs", GOOD).add();
    act(&repo)
}

#[test]
fn every_shell_block_of_gate_commands_runs() {
    let text = readme();
    let of_the_gate = |block: &&str| block.lines().all(|line| line.starts_with("review-gate ") || line.starts_with('#'));
    let runnable: Vec<&str> = blocks(&text, "sh").into_iter().filter(of_the_gate).collect();
    assert!(!runnable.is_empty(), "the README shows no command of the gate");
    for block in runnable {
        let run = in_a_repository(|repo| {
            let mut shell = repo.sandbox().command("sh");
            let path = format!("{}:{}", Path::new(GATE).parent().unwrap().display(), std::env::var("PATH").unwrap());
            shell.args(["-eu", "-c", block]).env("PATH", path).current_dir(repo.path());
            child::run(shell, b"")
        });
        assert_eq!(run.status, 0, "this block fails:\n{block}\n{run}");
    }
}

#[test]
fn every_verb_of_the_readme_is_known() {
    let text = readme();
    let verbs: BTreeSet<&str> = text
        .split("`review-gate ")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).next())
        .filter(|verb| !verb.is_empty())
        .collect();
    assert!(verbs.contains("run") && verbs.contains("install"), "{verbs:?}");
    for verb in verbs {
        in_a_repository(|repo| repo.gate(&[verb, "--help"]).run()).expect(0);
    }
}

#[test]
fn every_configuration_of_the_readme_is_accepted() {
    let text = readme();
    let (users, others): (Vec<&str>, Vec<&str>) = blocks(&text, "yaml").into_iter().partition(|block| block.contains("reviewers:"));
    let policies: Vec<&str> = others.into_iter().filter(|block| !block.contains("repos:") && !block.contains("use_stdin:")).collect();
    assert!(!users.is_empty() && !policies.is_empty());
    for user in users {
        in_a_repository(|repo| {
            repo.sandbox().configure_raw(user);
            repo.gate(&["config", "check"]).run()
        })
        .expect(0);
    }
    for policy in policies {
        in_a_repository(|repo| {
            repo.write(".review-gate.yaml", policy).commit("policy");
            repo.gate(&["config", "check"]).run()
        })
        .expect(0);
    }
}

#[test]
fn blocks_are_found_by_their_language() {
    let text = "x\n```\nno\n```\n```sh\none\ntwo\n```\nrest\n```yaml\na: 1\n```\n";
    assert_eq!((blocks(text, "sh"), blocks(text, "yaml")), (vec!["one\ntwo"], vec!["a: 1"]));
}
