//! Through the pre-commit framework, the real tool. It hides standard input, shows one ref only, and sets variables instead.

use crate::common::{Behaviour, EVIL, GATE, GOOD, Peer, Repo, Reviewer, Run, Sandbox, child};
use std::path::{Path, PathBuf};

/// Finds the tool: `target/tools/pre-commit` first, then `PATH`. A missing tool fails the test: a story that is not told proves nothing.
fn tool() -> PathBuf {
    let pinned = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/pre-commit/bin/pre-commit");
    let on_path =
        std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>()).map(|dir| dir.join("pre-commit"));
    std::iter::once(pinned)
        .chain(on_path)
        .find(|file| file.is_file())
        .expect("the pre-commit framework is needed: python3 -m venv target/tools/pre-commit && target/tools/pre-commit/bin/pip install pre-commit")
}

fn pre_commit(repo: &Repo<'_>, args: &[&str]) -> Run {
    let mut command = repo.sandbox().command(tool());
    command.args(args).current_dir(repo.path());
    child::run(command, b"").never_says("panicked at")
}

/// A published repository that uses the gate through the framework, in both stages.
fn framed<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    let repo = sandbox.published();
    let hook = |id: &str, stage: &str| {
        format!(
            "      - id: {id}\n        name: {id}\n        entry: {GATE} hook {stage}\n        language: system\n        pass_filenames: false\n        always_run: true\n        verbose: true\n        stages: [{stage}]\n"
        )
    };
    let hooks = hook("review-gate", "pre-commit") + &hook("review-gate-push", "pre-push");
    repo.write(".pre-commit-config.yaml", format!("repos:\n  - repo: local\n    hooks:\n{hooks}")).commit("framework");
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

#[test]
fn the_manifest_is_valid_and_offers_both_stages() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml");
    pre_commit(&repo, &["validate-manifest", &manifest.to_string_lossy()]).expect(0);
    let text = std::fs::read_to_string(manifest).unwrap();
    for line in [
        "id: review-gate",
        "id: review-gate-push",
        "entry: review-gate hook pre-commit",
        "entry: review-gate hook pre-push",
        "pass_filenames: false",
        "always_run: true",
    ] {
        assert!(text.contains(line), "the manifest has no {line:?}");
    }
}
