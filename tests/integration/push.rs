//! What a push is made of: refs, bases, what is sent and what is not. Real `git push`, real hook.

use crate::common::{Behaviour, EVIL, GOOD, Gate, Peer, Repo, Reviewer, Sandbox, ZERO};

#[test]
fn a_bad_change_is_refused_with_its_finding_and_nothing_arrives() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let before = repo.remote_refs("origin");
    repo.write("src/run.rs", EVIL).commit("run");
    repo.push(&["origin", "main"])
        .expect_refused()
        .says("HIGH")
        .says("src/run.rs:1")
        .says("untrusted input is run")
        .says("GATE:")
        .says("openai/qwen3-coder");
    assert_eq!(repo.remote_refs("origin"), before);
}

#[test]
fn a_clean_change_arrives() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("src/run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect(0).says("GATE:");
    assert_eq!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
    assert_eq!(peer.reviews().len(), 1, "light: one general pass");
}

#[test]
fn p03_of_two_branches_the_bad_second_one_keeps_both_back() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.branch("one", "main").write("one.rs", GOOD).commit("one");
    repo.branch("two", "main").write("two.rs", EVIL).commit("two");
    let lines = repo.push_line("one") + &repo.push_line("two");

    let (run, report) = Gate::pre_push(&repo, &lines).report();
    run.expect(1);
    let verdicts: Vec<(&str, &str)> = subjects(&report).iter().map(|s| (remote_ref(s), s["verdict"].as_str().unwrap())).collect();
    assert_eq!(verdicts, [("refs/heads/one", "pass"), ("refs/heads/two", "fail")]);
    assert_eq!(report["findings"][0]["file"], "two.rs");
    assert_eq!(report["findings"][0]["status"], "blocking");

    repo.push(&["origin", "one", "two"]).expect_refused();
    assert_eq!(repo.remote_oid("origin", "refs/heads/one"), None);
    assert_eq!(repo.remote_oid("origin", "refs/heads/two"), None);
}

#[test]
fn p06_a_new_branch_is_reviewed_from_where_it_left_the_published_work() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.branch("topic", "main").write("topic.rs", GOOD).commit("topic");
    repo.push(&["origin", "topic"]).expect(0);
    assert_eq!(sent_files(&peer), ["topic.rs"]);
}

#[test]
fn p06_a_first_push_to_an_empty_remote_is_the_whole_tree() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.repo("work");
    repo.write("first.rs", GOOD).commit("first");
    repo.remote("origin", &sandbox.bare("origin.git")).gate(&["install"]).run().expect(0);
    repo.push(&["origin", "main"]).expect(0);
    assert_eq!(sent_files(&peer), ["README", "first.rs"]);
}

#[test]
fn a_rewritten_branch_is_reviewed_again_and_not_the_reverse_of_others_work() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.branch("topic", "main").write("topic.rs", GOOD).commit("topic");
    repo.publish("topic");
    repo.write("topic.rs", EVIL).add().git(&["commit", "-q", "--no-verify", "--amend", "-m", "again"]);
    repo.push(&["--force", "origin", "topic"]).expect_refused().says("topic.rs");
    assert_eq!(sent_files(&peer), ["topic.rs"]);
}

#[test]
fn t05_12_a_deleted_branch_costs_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.publish("main:gone");
    repo.push(&["origin", "--delete", "gone"]).expect(0);
    assert_eq!(repo.remote_oid("origin", "refs/heads/gone"), None);
    assert!(peer.questions().is_empty());
}

#[test]
fn p10_tags_are_peeled_and_what_they_publish_is_reviewed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.git(&["tag", "-a", "-m", "published work", "v1"]);
    repo.push(&["origin", "v1"]).expect(0);
    assert!(peer.questions().is_empty(), "its commit is on the remote already");
    repo.write("late.rs", EVIL).commit("late");
    repo.git(&["tag", "-a", "-m", "unpublished work", "v2"]);
    repo.push(&["origin", "v2"]).expect_refused().says("late.rs");
    assert_eq!(repo.remote_oid("origin", "refs/tags/v2"), None);
}

#[test]
fn p07_a_remote_id_that_is_not_here_is_no_reason_to_pass() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("new.rs", EVIL).commit("new");
    let line = format!("refs/heads/main {} refs/heads/main {}\n", repo.oid("HEAD"), "1".repeat(40));
    Gate::pre_push(&repo, &line).run().expect(1).says("new.rs");
}

#[test]
fn p09_a_local_ref_with_spaces_is_split_from_the_right() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("fix.rs", EVIL).commit("fix bug");
    let line = format!(":/fix bug {} refs/heads/x {ZERO}\n", repo.oid("HEAD"));
    Gate::pre_push(&repo, &line).run().expect(1).says("fix.rs");
}

#[test]
fn merging_others_published_work_sends_only_ones_own() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    with_others_work(&sandbox, &repo);
    repo.git(&["merge", "-q", "--no-edit", "--no-verify", "origin/main"]);
    repo.push(&["origin", "topic"]).expect(0);
    assert_eq!(sent_files(&peer), ["mine.rs"]);
    assert!(!peer.received("THEIRS"));
}

#[test]
fn rebasing_onto_others_published_work_sends_only_ones_own() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    with_others_work(&sandbox, &repo);
    repo.git(&["rebase", "-q", "origin/main"]);
    repo.push(&["--force", "origin", "topic"]).expect(0);
    assert_eq!(sent_files(&peer), ["mine.rs"]);
    assert!(!peer.received("THEIRS"));
}

#[test]
fn a_fix_that_a_merge_loses_is_shown_beside_a_cosmetic_edit() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let file = |first: &str, last: &str| format!("{first}\n{}{last}\n", "let same = 1;\n".repeat(20));
    repo.write("f.rs", file("let limit = 0;", "// a")).commit("start");
    repo.publish("main");
    repo.branch("feat", "main").write("mine.rs", GOOD).commit("mine");
    repo.publish("feat");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("f.rs", file("let limit = FIXED;", "// a")).commit("fix");
    repo.publish("main");
    repo.git(&["checkout", "-q", "feat"]);
    repo.git(&["merge", "-q", "--no-verify", "-s", "ours", "main"]);
    repo.write("f.rs", file("let limit = 0;", "// b")).add().git(&["commit", "-q", "--no-verify", "--amend", "--no-edit"]);
    repo.push(&["origin", "feat"]).expect(0);
    assert_eq!(sent_files(&peer), ["f.rs"]);
    assert!(peer.received("-let limit = FIXED;"));
    // Onto `main` itself it is seen once more, though `feat` is published by now.
    let line = format!("refs/heads/feat {} refs/heads/main {}\n", repo.oid("feat"), repo.oid("main"));
    let (run, report) = Gate::pre_push(&repo, &line).report();
    run.expect(0);
    let coverage = &report["subjects"][0]["coverage"];
    assert_eq!(
        (&coverage["reviewed"], &coverage["not_reviewed"][0]["path"]),
        (&serde_json::json!(["f.rs"]), &serde_json::json!("mine.rs")),
        "{report}"
    );
}

#[test]
fn the_same_content_goes_to_a_second_remote_without_a_call() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.remote("second", &sandbox.bare("second.git"));
    repo.git(&["push", "-q", "--no-verify", "second", "main"]);
    repo.write("src/run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect(0);
    let calls = peer.questions().len();
    repo.push(&["second", "main"]).expect(0);
    assert_eq!(peer.questions().len(), calls, "a receipt answers");
    assert_eq!(repo.remote_oid("second", "refs/heads/main"), Some(repo.oid("HEAD")));
}

#[test]
fn a_push_with_nothing_new_is_let_through() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.push(&["origin", "main"]).expect(0);
    Gate::pre_push(&repo, "").run().expect(0);
    assert!(peer.questions().is_empty());
}

#[test]
fn lines_that_cannot_be_read_stop_the_push() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let oid = repo.oid("HEAD");
    let broken = [
        "refs/heads/main\n".to_owned(),
        format!("refs/heads/main {oid} refs/heads/main\n"),
        format!("refs/heads/main {} refs/heads/main {ZERO}\n", &oid[1..]),
        format!("refs/heads/main {oid} refs/heads/main not-an-object-id\n"),
        format!("\n{}", repo.push_line("main")),
        format!("{}refs/heads/two {oid}\n", repo.push_line("main")),
        format!("refs/heads/main {} refs/heads/main {ZERO}\n", "g".repeat(40)),
    ];
    for lines in broken {
        let run = Gate::pre_push(&repo, &lines).run();
        assert_eq!(run.status, 2, "{lines:?}; {run}");
    }
    assert!(peer.questions().is_empty());
}

#[test]
fn p04_no_lines_from_a_hook_manager_is_an_error_with_its_remedy() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.gate(&["hook", "pre-push", "origin", "url"]).run().expect(2).says("stdin");
}

#[test]
fn p48_pre_push_leaves_stdout_to_git() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    for content in [GOOD, EVIL] {
        repo.write("src/run.rs", content).commit("run");
        let run = Gate::pre_push(&repo, &repo.push_line("main")).run();
        assert_eq!(run.stdout, "", "{run}");
    }
}

#[test]
fn p52_a_review_writes_to_neither_index_nor_worktree_nor_refs() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("src/run.rs", EVIL).commit("run");
    repo.write("half-done.rs", GOOD).write("README", "edited\n");
    let before = repo.snapshot();
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1);
    repo.gate(&["run", "--worktree"]).run();
    assert_eq!(repo.snapshot(), before);
}

#[test]
fn what_run_push_reviews_is_what_the_push_would_send() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("src/run.rs", EVIL).commit("run");
    let (run, report) = repo.gate(&["run", "--push"]).report();
    run.expect(1);
    let refs = &report["subjects"][0]["refs"][0];
    assert_eq!((refs["remote_ref"].as_str(), refs["tip"].as_str()), (Some("refs/heads/main"), Some(repo.oid("HEAD").as_str())));
}

#[test]
fn p02_attributes_and_diff_settings_do_not_hide_what_is_pushed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    sandbox.git_config("[diff]\n\texternal = true\n\tnoprefix = true\n\tcontext = 0\n[color]\n\tui = always\n");
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".gitattributes", "*.rs -diff binary linguist-generated export-ignore\n").write("src/run.rs", EVIL).commit("hidden");
    repo.push(&["origin", "main"]).expect_refused().says("src/run.rs:1");
}

/// On `topic`, one's own published work; on `origin/main`, a colleague's.
fn with_others_work(sandbox: &Sandbox, repo: &Repo<'_>) {
    let colleague = sandbox.clone(&sandbox.path().join("origin.git"), "colleague");
    colleague.write("theirs.rs", "let theirs = THEIRS; // EVIL\n").commit("theirs");
    colleague.publish("main");
    repo.branch("topic", "main").write("start.rs", GOOD).commit("start");
    repo.publish("topic");
    repo.git(&["fetch", "-q", "origin"]);
    repo.write("mine.rs", "let mine = 1;\n").commit("mine");
}

fn sent_files(peer: &Peer) -> Vec<String> {
    let mut files: Vec<String> = peer.questions().iter().flat_map(|r| r.files()).collect();
    files.sort();
    files.dedup();
    files
}

fn subjects(report: &serde_json::Value) -> &Vec<serde_json::Value> {
    report["subjects"].as_array().expect("a report has subjects")
}

fn remote_ref(subject: &serde_json::Value) -> &str {
    subject["refs"][0]["remote_ref"].as_str().expect("a subject has a remote ref")
}

#[test]
fn what_one_remote_got_unseen_is_reviewed_before_another_gets_it() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.remote("backup", &sandbox.bare("backup.git"));
    repo.write("run.rs", EVIL).commit("run");
    repo.git(&["push", "-q", "--no-verify", "backup", "main"]);
    repo.push(&["origin", "main"]).expect_refused().says("run.rs:1");
}

#[test]
fn a_remote_that_is_not_there_is_an_error_and_no_empty_push() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    repo.gate(&["run", "--push", "orign"]).run().expect(2).says("no remote orign").says("(origin)");
    assert!(peer.questions().is_empty());
}
