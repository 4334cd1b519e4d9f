//! The pre-commit hook: what a commit is about to hold, in every way git makes one.

use crate::common::{Behaviour, EVIL, GOOD, Peer, Repo, Reviewer, Sandbox};

fn gated<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    let repo = sandbox.repo("work");
    repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    repo
}

#[test]
fn a_bad_commit_is_refused_and_a_clean_one_is_made() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    repo.write("run.rs", EVIL).add();
    repo.try_git(&["commit", "-m", "evil"]).expect_refused().says("run.rs:1");
    repo.write("run.rs", GOOD).add();
    repo.try_git(&["commit", "-m", "good"]).expect(0);
    assert_eq!(repo.git(&["log", "--format=%s"]), "good\nbase");
}

#[test]
fn p01_commit_of_a_path_reviews_that_path_alone() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    repo.write("a.rs", "one\n").write("b.rs", "two\n").commit("both");
    repo.write("b.rs", EVIL).add();
    repo.write("a.rs", GOOD);
    repo.try_git(&["commit", "-m", "a alone", "--", "a.rs"]).expect(0);
    assert_eq!(peer.questions()[0].files(), ["a.rs"], "the index of this commit is a temporary one");
    repo.write("a.rs", EVIL);
    repo.try_git(&["commit", "-m", "a alone", "--", "a.rs"]).expect_refused().says("a.rs:1").never_says("b.rs:1");
}

#[test]
fn p20_the_first_commit_is_reviewed_whole() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.unborn("new");
    repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    repo.write("run.rs", EVIL).add();
    repo.try_git(&["commit", "-m", "first"]).expect_refused().says("run.rs:1");
}

#[test]
fn p14_unmerged_paths_need_a_human() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    repo.branch("other", "main").write("README", "other\n").commit("other");
    repo.git(&["switch", "-q", "main"]);
    repo.write("README", "main\n").commit("main");
    repo.try_git(&["merge", "--no-edit", "other"]).expect(1);
    let before = repo.snapshot();
    repo.gate(&["hook", "pre-commit"]).run().expect(3).says("README");
    assert_eq!(repo.snapshot(), before);
    assert!(peer.questions().is_empty());
}

#[test]
fn p20_an_empty_change_costs_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    repo.try_git(&["commit", "--allow-empty", "-m", "empty"]).expect(0);
    repo.gate(&["run", "--staged"]).run().expect(0);
    assert!(peer.requests().is_empty());
}

#[test]
fn p19_an_amend_without_a_new_change_costs_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    repo.try_git(&["commit", "--amend", "-m", "reworded"]).expect(0);
    assert!(peer.requests().is_empty());
}

#[test]
fn p18_a_file_that_is_only_intended_is_not_in_the_change() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    repo.write("later.rs", EVIL).git(&["add", "-N", "later.rs"]);
    repo.gate(&["hook", "pre-commit"]).run().expect(0);
    assert!(peer.requests().is_empty());
}

#[test]
fn the_staged_content_counts_and_not_the_worktree() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    repo.write("run.rs", EVIL).add();
    repo.write("run.rs", GOOD);
    repo.gate(&["run", "--staged"]).run().expect(1);
    repo.write("half.rs", EVIL);
    repo.git(&["add", "run.rs"]);
    repo.gate(&["run", "--staged"]).run().expect(0);
}

#[test]
fn p24_a_linked_worktree_has_its_own_index() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    let path = sandbox.path().join("linked");
    repo.git(&["worktree", "add", "-q", "-b", "side", &path.to_string_lossy()]);
    let linked = Repo::at(&sandbox, path);
    linked.write("run.rs", EVIL).add();
    linked.try_git(&["commit", "-m", "evil"]).expect_refused().says("run.rs:1");
    assert_eq!(linked.state(), repo.state(), "the worktrees share one ledger");
    assert_eq!(linked.records().len(), 1);
}
