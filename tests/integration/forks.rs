//! Others' published work in a fork and a mirror: it is not sent again, what a merge makes of it is, and what somebody sent elsewhere unseen is.

use crate::common::{Behaviour, EVIL, GOOD, Peer, Repo, Reviewer, Run, Sandbox};

fn world() -> (Sandbox, Peer) {
    (Sandbox::new(), Peer::new(Behaviour::Honest))
}

/// A gated fork `origin` of `upstream`, where others have published a file with the evil line since; it is fetched.
fn fork<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    let repo = sandbox.gated(&[Reviewer::qwen(peer)], "");
    repo.git(&["clone", "-q", "--bare", "../origin.git", "../upstream.git"]);
    repo.git(&["remote", "add", "upstream", "../upstream.git"]);
    others(sandbox, "upstream.git", "theirs.rs");
    repo.git(&["fetch", "-q", "upstream"]);
    repo.write("mine.rs", GOOD).commit("mine");
    repo
}

fn others(sandbox: &Sandbox, remote: &str, file: &str) {
    let there = sandbox.clone(&sandbox.path().join(remote), &format!("others-{file}"));
    there.write(file, EVIL).commit("theirs");
    there.publish("main");
}

/// Pushes to `origin`, whatever comes of it, and returns what was sent with the run.
fn sent(repo: &Repo<'_>, peer: &Peer, args: &[&str]) -> (Vec<String>, Run) {
    let asked = peer.questions().len();
    let run = repo.push(args);
    let mut files: Vec<String> = peer.questions()[asked..].iter().flat_map(|question| question.files()).collect();
    files.sort();
    files.dedup();
    (files, run)
}

#[test]
fn a_fork_that_is_brought_up_to_date_sends_only_ones_own() {
    for how in [&["merge", "-q", "--no-verify", "--no-edit", "upstream/main"][..], &["rebase", "-q", "upstream/main"]] {
        let (sandbox, peer) = world();
        let repo = fork(&sandbox, &peer);
        repo.git(how);
        let (files, run) = sent(&repo, &peer, &["origin", "main"]);
        run.expect(0).says("upstream/main counts as published").says("theirs.rs (already-published)");
        assert_eq!(files, ["mine.rs"], "{how:?}");
        assert_eq!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
    }
}

#[test]
fn an_evil_merge_of_the_upstream_is_seen() {
    let (sandbox, peer) = world();
    let repo = fork(&sandbox, &peer);
    repo.git(&["merge", "-q", "--no-commit", "upstream/main"]);
    repo.write("theirs.rs", format!("{EVIL}let also = EVIL;\n")).commit("merge");
    let (files, run) = sent(&repo, &peer, &["origin", "main"]);
    run.expect_refused().says("theirs.rs:2");
    assert_eq!(files, ["mine.rs", "theirs.rs"]);
}

#[test]
fn an_evil_octopus_is_seen_and_an_honest_one_costs_nothing() {
    let (sandbox, peer) = world();
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    for name in ["one", "two", "three"] {
        repo.branch(name, "main").write(&format!("{name}.rs"), EVIL).commit(name);
        repo.publish(name);
    }
    repo.git(&["switch", "-q", "main"]);
    repo.git(&["merge", "-q", "--no-verify", "--no-edit", "one", "two", "three"]);
    let honest = repo.oid("HEAD");
    repo.write("two.rs", format!("{EVIL}let more = EVIL;\n")).write("four.rs", EVIL).add();
    repo.git(&["commit", "-q", "--no-verify", "--amend", "--no-edit"]);
    let (files, run) = sent(&repo, &peer, &["origin", "main"]);
    run.expect_refused().says("two.rs:2").says("four.rs:1");
    assert_eq!(files, ["four.rs", "two.rs"]);
    let (files, run) = sent(&repo, &peer, &["origin", &format!("{honest}:refs/heads/main")]);
    run.expect(0);
    assert_eq!(files, Vec::<String>::new());
}

#[test]
fn what_the_upstream_got_unseen_is_reviewed_before_the_fork_gets_it() {
    let (sandbox, peer) = world();
    let repo = fork(&sandbox, &peer);
    repo.git(&["rebase", "-q", "upstream/main"]);
    repo.write("evil.rs", EVIL).commit("evil");
    repo.git(&["push", "-q", "--no-verify", "upstream", "main"]);
    repo.git(&["fetch", "-q", "upstream"]);
    let (files, run) = sent(&repo, &peer, &["origin", "main"]);
    run.expect_refused().says("evil.rs:1");
    assert_eq!(files, ["evil.rs", "mine.rs"], "others' part was fetched before");
}

#[test]
fn a_contributors_fork_is_no_upstream() {
    let (sandbox, peer) = world();
    let repo = fork(&sandbox, &peer);
    repo.git(&["remote", "rename", "upstream", "alice"]);
    repo.git(&["merge", "-q", "--no-verify", "--no-edit", "alice/main"]);
    sent(&repo, &peer, &["origin", "main"]).1.expect_refused().says("theirs.rs:1");
}

#[test]
fn a_first_push_to_a_mirror_is_not_the_whole_history_and_says_why() {
    let (sandbox, peer) = world();
    let repo = fork(&sandbox, &peer);
    repo.publish("main");
    repo.remote("mirror", &sandbox.bare("mirror.git"));
    let (files, run) = sent(&repo, &peer, &["--mirror", "mirror"]);
    run.expect(0).says("no tracking ref says what this remote has");
    assert_eq!(files, Vec::<String>::new());
    // From then on what it has is known. Others' work that `origin` has since is news to it: `origin` may have got it unseen.
    others(&sandbox, "origin.git", "later.rs");
    repo.git(&["pull", "-q", "origin", "main"]);
    let (files, run) = sent(&repo, &peer, &["mirror", "main"]);
    run.expect_refused().says("later.rs:1");
    assert_eq!(files, ["later.rs"]);
}

#[test]
fn a_declared_mirror_gets_what_others_published_without_a_review_and_ones_own_with_one() {
    let (sandbox, peer) = world();
    let repo = fork(&sandbox, &peer);
    sandbox.bare("mirror.git");
    repo.publish("main").git(&["remote", "add", "--mirror=push", "mirror", "../mirror.git"]);
    sent(&repo, &peer, &["mirror"]).1.expect(0);
    others(&sandbox, "origin.git", "later.rs");
    repo.git(&["pull", "-q", "origin", "main"]);
    let (files, run) = sent(&repo, &peer, &["mirror"]);
    run.expect(0).says("no tracking ref says what this remote has");
    assert_eq!(files, Vec::<String>::new());
    assert_eq!(repo.remote_oid("mirror", "refs/heads/main"), Some(repo.oid("main")));
    repo.write("evil.rs", EVIL).commit("evil");
    let (files, run) = sent(&repo, &peer, &["mirror"]);
    run.expect_refused().says("evil.rs:1");
    assert_eq!(files, ["evil.rs"]);
}

#[test]
fn a_picked_commit_is_ones_own_until_its_branch_is_merged() {
    let (sandbox, peer) = world();
    let repo = fork(&sandbox, &peer);
    repo.git(&["cherry-pick", "upstream/main"]);
    let (files, run) = sent(&repo, &peer, &["origin", "main"]);
    run.expect_refused().says("theirs.rs:1");
    assert_eq!(files, ["mine.rs", "theirs.rs"], "under another history the same lines may mean another thing");
    repo.git(&["merge", "-q", "--no-verify", "--no-edit", "upstream/main"]);
    assert_eq!(sent(&repo, &peer, &["origin", "main"]).0, ["mine.rs"]);
}

#[test]
fn the_head_of_a_pull_request_is_nobodys_branch() {
    let (sandbox, peer) = world();
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let there = sandbox.clone(&sandbox.path().join("origin.git"), "contributor");
    there.write("theirs.rs", EVIL).commit("theirs");
    there.publish("HEAD:refs/pull/1/head");
    repo.git(&["config", "--add", "remote.origin.fetch", "+refs/pull/*/head:refs/remotes/origin/pr/*"]);
    repo.git(&["fetch", "-q", "origin"]);
    repo.git(&["merge", "-q", "--no-verify", "--no-ff", "--no-edit", "origin/pr/1"]);
    let (files, run) = sent(&repo, &peer, &["origin", "main"]);
    run.expect_refused().says("theirs.rs:1");
    assert_eq!(files, ["theirs.rs"]);
}

#[test]
fn a_contributors_fork_says_nothing_of_a_place_that_nobody_fetched() {
    for (target, is_empty) in [("other", false), ("other", true), ("../other.git", false), ("../other.git", true)] {
        let (sandbox, peer) = world();
        let repo = fork(&sandbox, &peer);
        repo.git(&["remote", "rename", "upstream", "alice"]);
        repo.git(&["merge", "-q", "--no-verify", "--no-edit", "alice/main"]);
        repo.git(&["branch", "-q", "-u", "alice/main"]);
        if is_empty {
            sandbox.bare("other.git");
        } else {
            repo.git(&["clone", "-q", "--bare", "../origin.git", "../other.git"]);
        }
        if target == "other" {
            repo.git(&["remote", "add", "other", "../other.git"]);
        }
        let (files, run) = sent(&repo, &peer, &[target, "main"]);
        let run = run.expect_refused().says("theirs.rs:1").never_says("what other remotes have");
        if is_empty {
            run.says("no tracking ref says what this remote has: what origin has counts as published");
        }
        assert_eq!(files, ["mine.rs", "theirs.rs"], "{target} {is_empty}");
    }
}

#[test]
fn what_only_the_fetch_url_has_is_news_to_another_push_url() {
    let (sandbox, peer) = world();
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.git(&["clone", "-q", "--bare", "../origin.git", "../place.git"]);
    others(&sandbox, "origin.git", "theirs.rs");
    repo.write("mine.rs", GOOD).commit("mine");
    repo.git(&["pull", "-q", "--no-rebase", "--no-verify", "--no-edit", "origin", "main"]);
    repo.git(&["config", "remote.origin.pushurl", "../place.git"]);
    let (files, run) = sent(&repo, &peer, &["origin", "main"]);
    run.expect_refused().says("theirs.rs:1").says("origin is fetched from another place than this");
    assert_eq!(files, ["mine.rs", "theirs.rs"]);
    let absolute = format!("file://{}", sandbox.path().join("origin.git").display());
    repo.git(&["config", "remote.origin.pushurl", &absolute]);
    let (files, run) = sent(&repo, &peer, &["origin", "main"]);
    run.expect(0).never_says("another place");
    assert_eq!(files, ["mine.rs"], "the same place by another URL");
}
