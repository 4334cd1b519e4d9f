//! Which change of a push is reviewed: public bug reports of this family of tools (cases P3 to P59), each as a class. The number is the case's.
//!
//! Mostly through `diff --stage pre-push`, which prints what a reviewer would get; where git itself has to call the hook, through `git push`.

use crate::common::{Behaviour, EVIL, GOOD, Gate, Peer, Repo, Reviewer, Run, Sandbox, ZERO, child};

/// What a pre-push hook would have reviewed, given these lines.
fn shown(repo: &Repo<'_>, lines: &str) -> Run {
    repo.gate(&["diff", "--stage", "pre-push", "origin", "url"]).stdin(lines).run()
}

fn gated<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.gated(&[Reviewer::qwen(peer)], "")
}

fn world() -> (Sandbox, Peer) {
    (Sandbox::new(), Peer::new(Behaviour::Honest))
}

fn new_ref(local: &str, oid: &str, remote: &str) -> String {
    format!("{local} {oid} {remote} {ZERO}\n")
}

/// The variables of the framework for a push of `main`, and those of its ends that it knows.
fn framework(repo: &Repo<'_>, verb: &[&str], ends: &[(&str, &str)]) -> Gate {
    let known = [("PRE_COMMIT", "1"), ("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/main"), ("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/main")];
    known.iter().chain(ends).fold(repo.gate(verb), |gate, (name, value)| gate.env(name, value))
}

#[test]
fn p03_every_line_is_shown_whatever_their_order() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    repo.branch("a", "main").write("a.rs", GOOD).commit("a");
    repo.branch("b", "main").write("b.rs", EVIL).commit("b");
    let line = |name: &str| new_ref(&format!("refs/heads/{name}"), &repo.oid(name), &format!("refs/heads/{name}"));
    for lines in [line("a") + &line("b"), line("b") + &line("a"), line("a") + &line("main") + &line("b") + &line("a")] {
        shown(&repo, &lines).expect(0).says("+++ b/a.rs").says("+++ b/b.rs").says(EVIL.trim());
    }
}

#[test]
fn p03_a_framework_that_shows_one_ref_is_said_to() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    repo.write("a.rs", GOOD).commit("a");
    let ends = [("PRE_COMMIT_FROM_REF", "HEAD~1"), ("PRE_COMMIT_TO_REF", "HEAD")];
    framework(&repo, &["diff", "--stage", "pre-push"], &ends).run().expect(0).says("reviewed refs/heads/main only");
}

#[test]
fn p04_no_lines_under_a_framework_are_its_variables() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.write("a.rs", EVIL).commit("a");
    for to in ["HEAD", &repo.oid("HEAD"), "main"] {
        let ends = [("PRE_COMMIT_FROM_REF", "HEAD~1"), ("PRE_COMMIT_TO_REF", to), ("PRE_COMMIT_REMOTE_NAME", "origin")];
        framework(&repo, &["diff", "--stage", "pre-push"], &ends).run().expect(0).says(EVIL.trim()).never_says("README");
        framework(&repo, &["hook", "pre-push"], &ends).run().expect(1).says("a.rs:1");
    }
    let ends = [("PRE_COMMIT_FROM_REF", "nowhere"), ("PRE_COMMIT_TO_REF", "HEAD")];
    framework(&repo, &["hook", "pre-push"], &ends).run().expect(2).says("nowhere");
}

#[test]
fn p05_a_first_push_under_a_framework_is_the_whole_branch() {
    let (sandbox, peer) = world();
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.repo("work");
    repo.write("a.rs", EVIL).commit("a");
    repo.write("staged.rs", GOOD).add();
    let ends = [("PRE_COMMIT_REMOTE_NAME", "o"), ("PRE_COMMIT_REMOTE_URL", "u")];
    framework(&repo, &["diff", "--stage", "pre-push"], &ends).run().expect(0).says(EVIL.trim()).says("b/README").never_says("staged.rs");
    framework(&repo, &["hook", "pre-push"], &ends).run().expect(1).says("a.rs:1");
}

#[test]
fn p06_a_new_branch_is_its_own_commits_however_old_the_rest() {
    let sandbox = Sandbox::new();
    let repo = sandbox.published();
    repo.branch("f", "main").write("n.rs", GOOD).commit("n");
    let line = |name: &str| new_ref(&format!("refs/heads/{name}"), &repo.oid(name), &format!("refs/heads/{name}"));
    shown(&repo, &line("f")).expect(0).says("b/n.rs").never_says("README");
    // `main` moves on, and is fetched.
    let colleague = sandbox.clone(&sandbox.path().join("origin.git"), "colleague");
    colleague.write("theirs.rs", GOOD).commit("theirs");
    colleague.publish("main");
    repo.git(&["fetch", "-q", "origin"]);
    shown(&repo, &line("f")).expect(0).says("b/n.rs").never_says("README").never_says("theirs.rs");
    // Stacked on a branch that is published: only what is on top.
    repo.publish("f");
    repo.branch("g", "f").write("top.rs", GOOD).commit("top");
    shown(&repo, &line("g")).expect(0).says("b/top.rs").never_says("n.rs");
    // The lower branch is rewritten and published, the upper one put on top of it.
    repo.git(&["switch", "-q", "f"]);
    repo.write("n.rs", "let good = 2;\n").add().git(&["commit", "-q", "--no-verify", "--amend", "-m", "n"]);
    repo.git(&["push", "-q", "--no-verify", "--force", "origin", "f"]);
    repo.git(&["rebase", "-q", "--onto", "f", "g~1", "g"]);
    shown(&repo, &line("g")).expect(0).says("b/top.rs").never_says("n.rs");
    // The worktree has no say.
    repo.write("README", "edited\n");
    shown(&repo, &line("g")).expect(0).never_says("README");
}

#[test]
fn p07_a_remote_id_that_is_not_here_is_measured_from_what_is_known_and_said() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    repo.write("n.rs", GOOD).commit("n");
    let line = format!("refs/heads/main {} refs/heads/main {}\n", repo.oid("HEAD"), "1".repeat(40));
    shown(&repo, &line).expect(0).says("b/README").says("b/n.rs").says("base unknown (not fetched)");
    repo.remote("origin", &sandbox.bare("origin.git")).publish("main~1:refs/heads/main");
    shown(&repo, &line).expect(0).never_says("b/README").says("b/n.rs").says("base unknown (not fetched)");
    // An id that is here and is no commit is as good as none.
    let blob = format!("refs/heads/main {} refs/heads/main {}\n", repo.oid("HEAD"), repo.oid("HEAD:README"));
    shown(&repo, &blob).expect(0).says("b/n.rs");
}

#[test]
fn p07_a_forced_push_over_work_that_was_never_fetched_is_reviewed() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    let colleague = sandbox.clone(&sandbox.path().join("origin.git"), "colleague");
    colleague.write("theirs.rs", GOOD).commit("theirs");
    colleague.publish("main");
    repo.write("evil.rs", EVIL).commit("evil");
    repo.push(&["--force", "origin", "main"]).expect_refused().says("evil.rs:1");
    assert_eq!(repo.remote_oid("origin", "refs/heads/main"), Some(colleague.oid("HEAD")));
}

#[test]
fn p09_the_local_side_may_be_anything_that_git_takes() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.write("fix.rs", EVIL).commit("fix bug");
    let tip = repo.oid("HEAD");
    for local in [":/fix bug", "HEAD^{/fix bug}", "main@{5 seconds ago}", "HEAD", "@", &tip, "refs/heads/fe\"a$t;é", "  "] {
        shown(&repo, &new_ref(local, &tip, "refs/heads/x")).expect(0).says("b/fix.rs");
    }
    for local in [":/fix bug", "HEAD^{/fix bug}", "@", &tip] {
        repo.push(&["origin", &format!("{local}:refs/heads/x")]).expect_refused().says("fix.rs:1");
    }
    assert_eq!(repo.remote_oid("origin", "refs/heads/x"), None);
}

#[test]
fn p09_a_deletion_is_no_change_and_a_broken_line_is_an_error() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    let tip = repo.oid("HEAD");
    let run = shown(&repo, &format!("(delete) {ZERO} refs/heads/x {tip}\n")).expect(0);
    assert_eq!(run.stdout, "");
    for line in [format!("(delete) {tip} refs/heads/x {ZERO}\n"), format!("refs/heads/x {tip}\n"), format!("refs/heads/x {tip} refs/heads/x {ZERO}")]
    {
        shown(&repo, &(new_ref("refs/heads/main", &tip, "refs/heads/main") + &line)).expect(2).says("line 2 of the ref list");
    }
}

#[test]
fn p10_tags_blobs_and_trees_are_what_they_stand_for() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.git(&["tag", "-a", "-m", "on published work", "old"]);
    assert_eq!(shown(&repo, &new_ref("refs/tags/old", &repo.oid("old"), "refs/tags/old")).expect(0).stdout, "");
    repo.write("evil.rs", EVIL).commit("evil");
    repo.git(&["tag", "-a", "-m", "new", "new"]);
    repo.git(&["tag", "-a", "-m", "a file", "file", "HEAD:evil.rs"]);
    repo.git(&["tag", "-a", "-m", "a folder", "folder", "HEAD^{tree}"]);
    for what in ["new", "file", "folder", "HEAD:evil.rs", "HEAD^{tree}"] {
        shown(&repo, &new_ref(what, &repo.oid(what), "refs/x/y")).expect(0).says(EVIL.trim());
        let before = repo.remote_refs("origin");
        repo.push(&["origin", &format!("{}:refs/x/y", repo.oid(what))]).expect_refused().says("HIGH");
        assert_eq!(repo.remote_refs("origin"), before, "{what}");
    }
}

/// A token in a forge's form, put together here so that no file of the repository holds one.
fn token() -> String {
    ["ghp", "_", "R7kQ2mZ9xT4vW8nB3cL6", "pS1dF5gH0jYaUeIo"].concat()
}

/// Commits a file with a token, then removes it again.
fn come_and_go(repo: &Repo<'_>, path: &str, content: impl AsRef<[u8]>) {
    repo.write(path, content).commit("add");
    repo.git(&["rm", "-q", path]);
    repo.commit("remove");
}

#[test]
fn p11_what_came_and_went_within_a_push_is_searched_whatever_its_shape() {
    let line = format!("TOKEN={}\n", token());
    for shape in ["history", "renamed", "binary", "merge", "side", "second ref", "root", "tagged blob", "tag on the way", "mode", "link", "type"] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        let mut args = vec!["origin", "main"];
        match shape {
            "history" => come_and_go(&repo, "k", &line),
            "renamed" => {
                repo.write("k", format!("{line}{}", "same\n".repeat(20))).commit("add");
                repo.git(&["mv", "k", "moved"]);
                repo.write("moved", "same\n".repeat(20)).commit("moved, without it");
            }
            "binary" => come_and_go(&repo, "k.bin", [b"\0\x01\n", line.as_bytes()].concat()),
            "merge" => {
                // In the merge commit alone; neither parent has it, nor has the tip.
                repo.branch("side", "main").write("s", "s\n").commit("side");
                repo.git(&["switch", "-q", "main"]);
                repo.write("m", "m\n").commit("main");
                repo.git(&["merge", "-q", "--no-commit", "side"]);
                come_and_go(&repo, "k", &line);
            }
            "side" => {
                repo.branch("side", "main");
                come_and_go(&repo, "k", &line);
                repo.write("s", "s\n").commit("side");
                repo.git(&["switch", "-q", "main"]);
                repo.git(&["merge", "-q", "--no-ff", "--no-edit", "--no-verify", "side"]);
            }
            "second ref" => {
                repo.write("good.rs", GOOD).commit("good");
                repo.branch("side", "main");
                come_and_go(&repo, "k", &line);
                repo.write("s", "s\n").commit("side");
                args.push("side");
            }
            "root" => {
                repo.git(&["checkout", "-q", "--orphan", "new"]);
                come_and_go(&repo, "k", &line);
                args = vec!["origin", "new"];
            }
            "tagged blob" => {
                repo.write("k", &line).add();
                repo.git(&["tag", "-a", "-m", "t", "t", &repo.oid(":k")]);
                repo.git(&["rm", "-q", "--cached", "k"]);
                args = vec!["origin", "t"];
            }
            "tag on the way" => {
                come_and_go(&repo, "k", &line);
                repo.git(&["tag", "-a", "-m", "t", "t", "main~1"]);
                args = vec!["origin", "t"];
            }
            "mode" => {
                repo.write("k", &line).add().git(&["update-index", "--chmod=+x", "k"]);
                come_and_go(&repo, "other", "x\n");
                repo.git(&["rm", "-q", "-f", "k"]);
                repo.commit("gone");
            }
            "link" => {
                std::os::unix::fs::symlink(token(), repo.path().join("k")).unwrap();
                repo.commit("link");
                repo.git(&["rm", "-q", "k"]);
                repo.commit("gone");
            }
            _ => {
                std::os::unix::fs::symlink("README", repo.path().join("k")).unwrap();
                repo.commit("link");
                std::fs::remove_file(repo.path().join("k")).unwrap();
                come_and_go(&repo, "k", &line);
            }
        }
        let before = repo.remote_refs("origin");
        repo.push(&args).expect_refused().says("exit 16").never_says(&token());
        assert_eq!(repo.remote_refs("origin"), before, "{shape}");
        // The first of two refs is clean, and may be reviewed.
        assert!(peer.requests().is_empty() || shape == "second ref" && !peer.received(&token()), "{shape}: something was sent");
    }
}

#[test]
fn p11_a_token_in_one_of_a_thousand_commits_is_found() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let mut stream = String::new();
    for n in 0..1000 {
        let content = if n == 613 { format!("TOKEN={}\n", token()) } else { format!("{n}\n") };
        let from = if n == 0 { format!("from {}\n", repo.oid("main")) } else { String::new() };
        stream += &format!("commit refs/heads/long\ncommitter n <n@example.com> {} +0000\ndata 2\nx\n{from}", 1_800_000_000 + n);
        stream += &format!("M 100644 inline f\ndata {}\n{content}\n", content.len());
    }
    child::run(repo.git_command(&["fast-import", "--quiet"]), stream.as_bytes()).expect(0);
    assert_eq!(repo.git(&["rev-list", "--count", "main..long"]), "1000");
    repo.push(&["origin", "long"]).expect_refused().says("exit 16").says("f:1").never_says(&token());
    assert!(peer.requests().is_empty());
}

#[test]
fn p15_nothing_that_replaces_objects_changes_what_is_reviewed() {
    for trick in ["blob", "commit", "tree", "tag", "graft", "base"] {
        let (sandbox, peer) = world();
        let repo = gated(&sandbox, &peer);
        repo.write("f.rs", GOOD).commit("good");
        repo.git(&["tag", "-a", "-m", "good", "good"]);
        repo.publish("main");
        repo.write("f.rs", EVIL).commit("evil");
        repo.git(&["tag", "-a", "-m", "evil", "evil"]);
        let [good, evil] = ["HEAD~1", "HEAD"].map(|commit| repo.oid(commit));
        let mut push = vec!["push", "origin", "main", "evil"];
        match trick {
            "blob" => _ = repo.git(&["replace", &format!("{evil}:f.rs"), &format!("{good}:f.rs")]),
            "commit" => _ = repo.git(&["replace", &evil, &good]),
            "tree" => _ = repo.git(&["replace", &format!("{evil}^{{tree}}"), &format!("{good}^{{tree}}")]),
            "tag" => _ = repo.git(&["replace", &repo.oid("evil"), &repo.oid("good")]),
            "graft" => {
                std::fs::create_dir_all(repo.path().join(".git/info")).unwrap();
                std::fs::write(repo.path().join(".git/info/grafts"), format!("{evil}\n{good} {evil}\n")).unwrap();
            }
            _ => {
                repo.git(&["update-ref", &format!("refs/hidden/{}", repo.oid(&format!("{evil}:f.rs"))), &repo.oid(&format!("{good}:f.rs"))]);
                push = vec!["-c", "core.useReplaceRefs=true", "push", "origin", "main", "evil"];
            }
        }
        let mut command = repo.git_command(&push);
        if trick == "base" {
            command.env("GIT_REPLACE_REF_BASE", "refs/hidden/");
        }
        let before = repo.remote_refs("origin");
        child::run(command, b"").expect_refused().says("f.rs:1");
        assert_eq!(repo.remote_refs("origin"), before, "{trick}");
        let lines = format!("refs/heads/main {evil} refs/heads/main {good}\n");
        shown(&repo, &lines).expect(0).says(&format!("+{}", EVIL.trim())).says(&format!("-{}", GOOD.trim()));
    }
}

#[test]
fn p21_what_never_saw_the_commit_hook_is_reviewed_at_the_push() {
    for how in ["cherry-pick", "revert", "rebase", "am", "commit-tree"] {
        let (sandbox, peer) = world();
        let repo = gated(&sandbox, &peer);
        repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
        repo.branch("unseen", "main").write("evil.rs", EVIL).commit("evil");
        repo.git(&["switch", "-q", "main"]);
        match how {
            "cherry-pick" => _ = repo.git(&["cherry-pick", "unseen"]),
            "revert" => {
                // What is published is free of it; to undo its removal brings it back.
                repo.git(&["merge", "-q", "--no-verify", "unseen"]);
                repo.git(&["rm", "-q", "evil.rs"]);
                repo.commit("removed");
                repo.publish("main");
                repo.git(&["revert", "--no-edit", "HEAD"]);
            }
            "rebase" => {
                repo.write("base.rs", GOOD).commit("base");
                repo.publish("main");
                repo.git(&["rebase", "-q", "main", "unseen"]);
                repo.git(&["branch", "-q", "-M", "unseen", "main"]);
            }
            "am" => {
                let patch = repo.git(&["format-patch", "-1", "--stdout", "unseen"]) + "\n";
                child::run(repo.git_command(&["am", "-q"]), patch.as_bytes()).expect(0);
            }
            _ => {
                let commit = repo.git(&["commit-tree", "-p", "main", "-m", "plumbing", "unseen^{tree}"]);
                repo.git(&["update-ref", "refs/heads/main", &commit]);
            }
        }
        assert!(peer.questions().is_empty(), "{how}: no hook was called");
        repo.push(&["origin", "main"]).expect_refused().says("evil.rs:1");
    }
}

#[test]
fn p26_a_push_from_anywhere_by_git_dir_is_reviewed() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.write("evil.rs", EVIL).commit("evil");
    let git_dir = format!("--git-dir={}", repo.path().join(".git").display());
    let work_tree = format!("--work-tree={}", repo.path().display());
    // Another repository around the caller must not be taken for the one that is pushed, nor its policy.
    let other = sandbox.repo("other");
    other.write(".review-gate.yaml", "mode: nonsense\n").commit("policy");
    for dir in ["/", &other.path().to_string_lossy()] {
        for args in [&[git_dir.as_str(), "push", "origin", "main"][..], &[&git_dir, &work_tree, "push", "origin", "main"]] {
            let mut command = repo.git_command(args);
            command.current_dir(dir);
            child::run(command, b"").expect_refused().says("evil.rs:1").never_says("nonsense");
        }
    }
}

#[test]
fn p26_a_push_from_a_bare_repository_is_reviewed_by_the_policy_of_the_base() {
    let (sandbox, peer) = world();
    let work = gated(&sandbox, &peer);
    work.write(".review-gate.yaml", "require_author: light\n").commit("policy");
    work.publish("main");
    work.git(&["clone", "-q", "--bare", "../origin.git", "../bare.git"]);
    let bare = Repo::at(&sandbox, sandbox.path().join("bare.git"));
    bare.gate(&["install"]).run().expect(0);
    work.write("evil.rs", EVIL).commit("evil");
    work.git(&["push", "-q", "--no-verify", "../bare.git", "main"]);
    bare.push(&["origin", "main"]).expect_refused().says("author is unknown");
    sandbox.configure(&[Reviewer::qwen(&peer)], "author: anthropic\n");
    bare.push(&["origin", "main"]).expect_refused().says("evil.rs:1");
    assert_ne!(bare.remote_oid("origin", "refs/heads/main"), Some(bare.oid("main")));
    let lines = format!("refs/heads/main {} refs/heads/main {}\n", bare.oid("main"), bare.oid("main~1"));
    bare.gate(&["diff", "--stage", "pre-push", "origin", "u"]).env("GIT_DIR", ".").stdin(&lines).run().expect(0).says(EVIL.trim());
}

#[test]
fn p56_a_detached_head_is_named_by_the_remote_ref() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.write("evil.rs", EVIL).commit("evil");
    let line = new_ref("HEAD", &repo.oid("HEAD"), "refs/heads/release");
    let (run, report) = Gate::pre_push(&repo, &line).report();
    run.expect(1);
    let update = &report["subjects"][0]["refs"][0];
    assert_eq!((&update["local_ref"], &update["remote_ref"]), (&"HEAD".into(), &"refs/heads/release".into()), "{report}");
}

#[test]
fn p57_a_new_branch_at_a_published_commit_costs_nothing() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.branch("again", "main");
    repo.push(&["origin", "again", "again:refs/heads/and-again"]).expect(0);
    assert!(peer.questions().is_empty());
    assert_eq!(repo.remote_oid("origin", "refs/heads/and-again"), Some(repo.oid("main")));
}

#[test]
fn p59_a_mirror_sends_every_kind_of_ref_and_each_is_reviewed() {
    for place in ["refs/notes/commits", "refs/remotes/other/x", "refs/bisect/bad", "refs/archive/old"] {
        let (sandbox, peer) = world();
        let repo = gated(&sandbox, &peer);
        // Deletions by a mirror are not shown to a hook, and send nothing.
        repo.publish("main:refs/for/gone");
        repo.branch("side", "main").write("evil.rs", EVIL).commit("evil");
        repo.git(&["update-ref", place, "side"]);
        repo.git(&["switch", "-q", "main"]);
        repo.git(&["branch", "-q", "-D", "side"]);
        let before = repo.remote_refs("origin");
        // What another remote's tracking ref names is no word of this remote's.
        repo.push(&["--mirror", "origin"]).expect_refused().says("evil.rs:1").says(place);
        assert_eq!(repo.remote_refs("origin"), before, "{place}");
    }
}
