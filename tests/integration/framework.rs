//! Through the pre-commit framework, the real tool. It hides standard input, shows one ref only, and sets variables instead.

use crate::common::{Behaviour, EVIL, GATE, GOOD, Peer, Repo, Reviewer, Run, Sandbox, child, tools};
use std::path::{Path, PathBuf};

fn pre_commit(repo: &Repo<'_>, args: &[&str]) -> Run {
    let mut command = repo.sandbox().command(tools::find("pre-commit"));
    command.args(args).current_dir(repo.path());
    child::run(command, b"").never_says("panicked at")
}

/// Returns the shipped manifest's path.
fn manifest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml")
}

/// Returns the hooks as they are shipped, but for the two things that would have the framework build the program: the language and where the program is.
fn shipped_hooks() -> String {
    let text = std::fs::read_to_string(manifest()).unwrap();
    let count = |part: &str| text.matches(part).count();
    assert_eq!(
        (count("- id: "), count("\n  language: rust\n"), count("\n  entry: review-gate ")),
        (2, 2, 2),
        "the manifest has another form:\n{text}"
    );
    let here = text.replace("\n  language: rust\n", "\n  language: system\n").replace("\n  entry: review-gate ", &format!("\n  entry: {GATE} "));
    here.lines().map(|line| format!("      {line}\n")).collect()
}

/// A published repository that uses the gate through the framework, in both stages.
fn framed<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    let repo = sandbox.published();
    repo.write(".pre-commit-config.yaml", format!("repos:\n  - repo: local\n    hooks:\n{}", shipped_hooks())).commit("framework");
    repo.publish("main");
    pre_commit(&repo, &["install", "--hook-type", "pre-commit", "--hook-type", "pre-push"]).expect(0);
    repo
}

#[test]
fn pre_commit_run_blocks_and_passes() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = framed(&sandbox, &peer);
    repo.write("run.rs", EVIL).add();
    pre_commit(&repo, &["run", "review-gate"]).expect(1).says("run.rs:1");
    repo.write("run.rs", GOOD).add();
    pre_commit(&repo, &["run", "review-gate"]).expect(0).says("Passed");
}

#[test]
fn commits_through_the_framework_are_gated() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = framed(&sandbox, &peer);
    repo.write("run.rs", EVIL).add();
    repo.try_git(&["commit", "-m", "evil"]).expect_refused().says("run.rs:1");
    repo.git(&["reset", "-q"]);
    std::fs::remove_file(repo.path().join("run.rs")).unwrap();
    repo.write("README", EVIL);
    repo.try_git(&["commit", "-a", "-m", "evil"]).expect_refused().says("README:1");
}

#[test]
fn pushes_through_the_framework_are_gated() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = framed(&sandbox, &peer);
    repo.write("run.rs", EVIL).commit("evil");
    repo.push(&["origin", "main"]).expect_refused().says("run.rs:1");
    assert_ne!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
    repo.write("run.rs", GOOD).commit("good");
    repo.push(&["origin", "main"]).expect(0);
    assert_eq!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
}

/// The framework names neither end of the range here: the whole tree is meant, not the empty index.
#[test]
fn a_first_push_through_the_framework_is_the_whole_tree() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = framed(&sandbox, &peer);
    repo.write("run.rs", EVIL).commit("evil");
    repo.remote("fresh", &sandbox.bare("fresh.git"));
    repo.push(&["fresh", "main"]).expect_refused().says("run.rs:1");
    assert_eq!(repo.remote_refs("fresh"), "");
}

#[test]
fn a_dead_reviewer_refuses_through_the_framework() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = framed(&sandbox, &peer);
    sandbox.configure(&[Reviewer::qwen(&peer).host(&format!("{}/v1", Peer::dead()))], "push_deadline: 5\n");
    repo.write("run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect_refused();
}

/// A commit that only deletes gives the framework no file name; the hook must run all the same.
#[test]
fn a_commit_that_only_deletes_is_gated_through_the_framework() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = framed(&sandbox, &peer);
    repo.git(&["rm", "-q", "README"]);
    pre_commit(&repo, &["run", "review-gate"]).expect(0).says("Passed");
    assert!(!peer.questions().is_empty(), "the deletion was reviewed");
}

#[test]
fn the_manifest_is_valid() {
    let sandbox = Sandbox::new();
    pre_commit(&sandbox.repo("work"), &["validate-manifest", &manifest().to_string_lossy()]).expect(0);
}
