//! Which change of a commit is reviewed: public bug reports of this family of tools (cases P1 to P24), each as a class. The number is the case's.
//!
//! Mostly through `diff --stage pre-commit`, which prints what a reviewer would get; where git itself has to call the hook, through `git commit`.

use crate::common::{Behaviour, EVIL, GOOD, Peer, Repo, Reviewer, Run, Sandbox, child};
use std::os::unix::fs::{PermissionsExt, symlink};

/// What a pre-commit hook would have reviewed.
fn staged(repo: &Repo<'_>) -> Run {
    repo.gate(&["diff", "--stage", "pre-commit"]).run()
}

fn world() -> (Sandbox, Peer) {
    (Sandbox::new(), Peer::new(Behaviour::Honest))
}

/// A repository whose commits are gated, with the files `a.rs` and `b.rs`: the first is evil on disk, the second is staged.
fn half_staged<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    let repo = sandbox.repo("work");
    repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    repo.write("a.rs", "one\n").write("b.rs", "two\n").commit("both");
    make_half_staged(&repo);
    repo
}

fn make_half_staged(repo: &Repo<'_>) {
    repo.write("b.rs", GOOD).add();
    repo.write("a.rs", EVIL);
}

/// Runs a commit that must be refused, and returns the files that the reviewer was shown.
#[track_caller]
fn refused(repo: &Repo<'_>, peer: &Peer, args: &[&str], stdin: &str, index: Option<&str>) -> Vec<String> {
    let (before, asked) = (repo.oid("HEAD"), peer.questions().len());
    let mut command = repo.git_command(&[&["commit", "-m", "y"], args].concat());
    command.envs(index.map(|index| ("GIT_INDEX_FILE", index)));
    child::run(command, stdin.as_bytes()).expect_refused().says("a.rs:1");
    assert_eq!(repo.oid("HEAD"), before, "a commit was made");
    peer.questions()[asked].files()
}

#[test]
fn p01_the_index_that_git_uses_for_this_commit_is_the_one_that_is_read() {
    let (sandbox, peer) = world();
    let repo = half_staged(&sandbox, &peer);
    for (args, stdin, files) in [
        (&["--", "a.rs"][..], "", &["a.rs"][..]),
        (&["-o", "a.rs"], "", &["a.rs"]),
        (&["-a"], "", &["a.rs", "b.rs"]),
        (&["-i", "a.rs"], "", &["a.rs", "b.rs"]),
        (&["-p"], "y\n", &["a.rs", "b.rs"]),
        (&["--interactive"], "u\n1\n\nq\n", &["a.rs", "b.rs"]),
    ] {
        assert_eq!(refused(&repo, &peer, args, stdin, None), files, "{args:?}");
    }
}

#[test]
fn p01_an_index_by_a_relative_name_and_from_a_folder_below() {
    let (sandbox, peer) = world();
    let repo = half_staged(&sandbox, &peer);
    std::fs::copy(repo.path().join(".git/index"), repo.path().join(".git/other")).unwrap();
    let mut add = repo.git_command(&["add", "a.rs"]);
    add.env("GIT_INDEX_FILE", ".git/other");
    child::run(add, b"").expect(0);
    assert_eq!(refused(&repo, &peer, &[], "", Some(".git/other")), ["a.rs", "b.rs"]);
    repo.gate(&["diff", "--stage", "pre-commit"]).env("GIT_INDEX_FILE", ".git/other").run().expect(0).says(EVIL.trim());
    staged(&repo).expect(0).says("b/b.rs").never_says("a.rs");
    // Git calls hooks at the top, wherever it was called itself.
    std::fs::create_dir(repo.path().join("sub")).unwrap();
    let below = Repo::at(&sandbox, repo.path().join("sub"));
    assert_eq!(refused(&below, &peer, &["-a"], "", None), ["a.rs", "b.rs"]);
    assert_eq!(refused(&below, &peer, &["--", "../a.rs"], "", None), ["a.rs"]);
}

#[test]
fn p01_in_a_linked_worktree_its_own_temporary_index_is_read() {
    let (sandbox, peer) = world();
    let repo = half_staged(&sandbox, &peer);
    let path = sandbox.path().join("linked");
    repo.git(&["worktree", "add", "-q", "-b", "side", &path.to_string_lossy()]);
    let linked = Repo::at(&sandbox, path);
    make_half_staged(&linked);
    assert_eq!(refused(&linked, &peer, &["--", "a.rs"], "", None), ["a.rs"]);
    assert_eq!(refused(&linked, &peer, &["-a"], "", None), ["a.rs", "b.rs"]);
}

#[test]
fn p02_no_attribute_takes_a_file_out_of_the_review() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    std::fs::create_dir_all(repo.path().join(".git/info")).unwrap();
    let everywhere = repo.path().join("everywhere");
    repo.git(&["config", "core.attributesFile", &everywhere.to_string_lossy()]);
    repo.git(&["config", "diff.foo.textconv", "true"]);
    repo.git(&["config", "diff.foo.command", "true"]);
    repo.git(&["config", "filter.gone.clean", "true"]);
    let places = [".gitattributes", ".git/info/attributes", "everywhere"].map(|place| repo.path().join(place));
    repo.write("e.js", "eval(input)\n").git(&["add", "e.js"]);
    for attribute in [
        "-diff",
        "binary",
        "-text",
        "diff=foo",
        "linguist-generated",
        "linguist-vendored",
        "export-ignore",
        "filter=gone",
        "eol=crlf",
        "merge=binary",
    ] {
        for place in &places {
            std::fs::write(place, format!("*.js {attribute}\n")).unwrap();
            staged(&repo).expect(0).says("+eval(input)").never_says("Binary files");
            if place.ends_with(".gitattributes") {
                repo.git(&["add", ".gitattributes"]);
                staged(&repo).expect(0).says("+eval(input)");
                repo.git(&["rm", "-q", "--cached", ".gitattributes"]);
            }
            std::fs::remove_file(place).unwrap();
        }
    }
    // Its content alone makes a file binary.
    repo.write("bin.js", b"eval(input)\n\0").git(&["add", "bin.js"]);
    staged(&repo).expect(0).says("Binary files");
}

/// A repository with a published branch `theirs` of three files, of which `f.rs` conflicts with `main`'s.
fn with_theirs<'s>(sandbox: &'s Sandbox, peer: &Peer, publish: bool) -> Repo<'s> {
    let repo = sandbox.gated(&[Reviewer::qwen(peer)], "");
    repo.gate(&["install", "--hook", "pre-commit", "--hook", "pre-merge-commit"]).run().expect(0);
    repo.branch("theirs", "main").write("f.rs", "theirs\n").write("g.rs", EVIL).write("h.rs", EVIL).commit("theirs");
    if publish {
        repo.publish("theirs");
    }
    repo.git(&["switch", "-q", "main"]);
    repo.write("f.rs", "mine\n").commit("mine");
    repo
}

#[test]
fn p13_what_a_published_side_of_a_merge_brings_is_not_reviewed_again() {
    let (sandbox, peer) = world();
    let repo = with_theirs(&sandbox, &peer, true);
    repo.try_git(&["merge", "theirs"]).expect(1).says("CONFLICT");
    repo.write("f.rs", "both\n").add();
    staged(&repo).expect(0).says("b/f.rs").never_says("g.rs").never_says("h.rs");
    // What is neither side's is seen, also in a file that one side brings.
    repo.write("g.rs", format!("{EVIL}let more = EVIL;\n")).add();
    staged(&repo).expect(0).says("b/g.rs").never_says("h.rs");
    repo.try_git(&["commit", "--no-edit"]).expect_refused().says("g.rs:");
    repo.git(&["checkout", "-q", "theirs", "--", "g.rs"]);
    repo.try_git(&["commit", "--no-edit"]).expect(0);
    assert_eq!(peer.questions().last().unwrap().files(), ["f.rs"]);
}

#[test]
fn p13_what_an_unpublished_side_brings_is_reviewed_and_said() {
    let (sandbox, peer) = world();
    let repo = with_theirs(&sandbox, &peer, false);
    repo.try_git(&["merge", "theirs"]).expect(1).says("CONFLICT");
    repo.write("f.rs", "both\n").add();
    staged(&repo).expect(0).says("b/f.rs").says("b/g.rs").says("b/h.rs").says("no remote has it");
    repo.try_git(&["commit", "--no-edit"]).expect_refused().says("g.rs:1");
}

#[test]
fn p13_a_merge_that_git_commits_by_itself_is_seen_as_one() {
    for publish in [true, false] {
        let (sandbox, peer) = world();
        let repo = with_theirs(&sandbox, &peer, publish);
        repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
        repo.write("mine.rs", GOOD).commit("mine");
        let merge = repo.try_git(&["merge", "--no-edit", "theirs"]);
        match publish {
            true => {
                merge.expect(0);
                assert!(peer.questions().is_empty(), "both sides have all of it: {:?}", peer.questions()[0].files());
            }
            false => _ = merge.expect_refused().says("g.rs:1"),
        }
    }
}

#[test]
fn p13_an_octopus_is_measured_from_all_its_sides() {
    let (sandbox, peer) = world();
    let repo = with_theirs(&sandbox, &peer, true);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.branch("others", "main").write("o.rs", EVIL).commit("others");
    repo.publish("others");
    repo.branch("unseen", "main").write("u.rs", EVIL).commit("unseen");
    repo.git(&["switch", "-q", "main"]);
    repo.write("mine.rs", GOOD).commit("mine");
    repo.git(&["merge", "-q", "--no-commit", "theirs", "others"]);
    repo.write("o.rs", format!("{EVIL}more\n")).add();
    staged(&repo).expect(0).says("b/o.rs").never_says("g.rs").never_says("f.rs");
    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["merge", "-q", "--no-commit", "theirs", "unseen"]);
    staged(&repo).expect(0).says("b/u.rs").says("no remote has it").never_says("g.rs");
    repo.git(&["reset", "-q", "--hard"]);
    repo.try_git(&["merge", "--no-edit", "theirs", "unseen"]).expect_refused().says("u.rs:1").never_says("g.rs:1");
    repo.git(&["reset", "-q", "--hard"]);
    let asked = peer.questions().len();
    repo.try_git(&["merge", "--no-edit", "theirs", "others"]).expect(0);
    assert_eq!((peer.questions().len(), repo.git(&["rev-list", "--parents", "-1", "HEAD"]).split(' ').count()), (asked, 4));
}

#[test]
fn p13_what_is_no_merge_is_the_committers_own() {
    for how in [&["cherry-pick", "-n", "theirs"][..], &["merge", "--squash", "theirs"], &["revert", "-n", "HEAD"]] {
        let (sandbox, peer) = world();
        let repo = with_theirs(&sandbox, &peer, true);
        repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
        if how[0] == "revert" {
            // Undoing a removal brings the content back.
            repo.git(&["merge", "-q", "--no-verify", "theirs"]);
            repo.git(&["rm", "-q", "g.rs"]);
            repo.commit("removed");
        }
        repo.git(how);
        staged(&repo).expect(0).says("b/g.rs").says(EVIL.trim());
        repo.try_git(&["commit", "-m", "x"]).expect_refused().says("g.rs:1");
    }
}

#[test]
fn p14_every_kind_of_conflict_is_named_and_none_is_an_empty_change() {
    for (mine, theirs) in [(Some("1\n"), Some("2\n")), (Some("1\n"), None), (None, Some("2\n"))] {
        let sandbox = Sandbox::new();
        let repo = sandbox.repo("work");
        let side = |branch: &str, content: Option<&str>| {
            repo.branch(branch, "main");
            match content {
                Some(content) => _ = repo.write("README", content).write("new.rs", content),
                None => std::fs::remove_file(repo.path().join("README")).unwrap(),
            }
            repo.commit(branch);
        };
        side("mine", mine);
        side("theirs", theirs);
        repo.try_git(&["merge", "mine"]).expect(1);
        let run = staged(&repo).expect(3).says("README").says("merged");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn p16_what_has_no_hunk_is_in_the_change_all_the_same() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.repo("work");
    repo.write("n.txt", "import os\n").commit("n");
    repo.git(&["mv", "n.txt", "n.py"]);
    std::fs::set_permissions(repo.path().join("README"), std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.write("empty", "").add();
    staged(&repo).expect(0).says("rename from n.txt\nrename to n.py").says("old mode 100644\nnew mode 100755").says("b/empty\nnew file mode 100644");
    repo.gate(&["hook", "pre-commit"]).run().expect(0);
    let prompt = peer.questions()[0].prompt();
    assert!(prompt.contains("import os"), "text that becomes a program is shown: {prompt}");
}

#[test]
fn p17_a_commit_that_only_deletes_is_reviewed() {
    let (sandbox, peer) = world();
    let repo = half_staged(&sandbox, &peer);
    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["rm", "-q", "a.rs"]);
    staged(&repo).expect(0).says("deleted file mode 100644").says("-one");
    repo.try_git(&["commit", "-m", "gone"]).expect(0);
    assert_eq!(peer.questions()[0].files(), ["a.rs"]);
    // Frameworks leave a hook out where no file is left that it could be given, unless it says otherwise.
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.pre-commit-hooks.yaml")).unwrap();
    assert_eq!(manifest.matches("- id: ").count(), manifest.matches("always_run: true").count());
}

#[test]
fn p18_an_intended_file_is_no_empty_file_either() {
    let (sandbox, peer) = world();
    let repo = half_staged(&sandbox, &peer);
    repo.write("later.rs", EVIL).write("sub/later.rs", EVIL).git(&["add", "-N", "later.rs", "sub/later.rs"]);
    staged(&repo).expect(0).says("b/b.rs").never_says("later.rs");
    // All of it is committed, and so reviewed, by `-a`.
    assert_eq!(refused(&repo, &peer, &["-a"], "", None), ["a.rs", "b.rs", "later.rs", "sub/later.rs"]);
}

#[test]
fn p19_what_an_amend_keeps_is_reviewed_at_the_push() {
    let (sandbox, peer) = world();
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    repo.write("evil.rs", EVIL).commit("evil");
    repo.try_git(&["commit", "--amend", "-m", "reworded"]).expect(0);
    assert!(peer.questions().is_empty());
    repo.push(&["origin", "main"]).expect_refused().says("evil.rs:1");
    // With a new change, that change.
    repo.write("more.rs", EVIL).add();
    repo.try_git(&["commit", "--amend", "--no-edit"]).expect_refused().says("more.rs:1").never_says("evil.rs");
}

#[test]
fn p20_without_a_commit_all_is_new_and_without_a_change_nothing_is_asked() {
    let (sandbox, peer) = world();
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.unborn("new");
    repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    assert_eq!(staged(&repo).expect(0).stdout, "");
    repo.try_git(&["commit", "-m", "nothing"]).expect(1);
    repo.try_git(&["commit", "--allow-empty", "-m", "empty"]).expect(0);
    repo.try_git(&["commit", "-m", "nothing"]).expect(1);
    assert!(peer.requests().is_empty());
    repo.git(&["checkout", "-q", "--orphan", "fresh"]);
    repo.write("run.rs", EVIL).add();
    staged(&repo).expect(0).says("new file mode 100644").says(EVIL.trim());
    repo.try_git(&["commit", "-m", "first"]).expect_refused().says("run.rs:1");
}

#[test]
fn p22_a_change_of_type_is_shown_and_a_link_never_followed() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    std::fs::write(sandbox.path().join("private"), "not in the repository\n").unwrap();
    let link = |name: &str, target: &str| {
        let _ = std::fs::remove_file(repo.path().join(name));
        symlink(target, repo.path().join(name)).unwrap();
    };
    repo.write("file", "text\n");
    link("link", "README");
    repo.commit("both");
    link("file", "../private");
    std::fs::remove_file(repo.path().join("link")).unwrap();
    repo.write("link", "text\n");
    link("dangling", "nowhere/at/all");
    link("up", "/");
    repo.add();
    let run = staged(&repo).expect(0).never_says("not in the repository");
    let git = repo.git(&["diff", "--cached", "--full-index", "--src-prefix=a/", "--dst-prefix=b/"]);
    assert_eq!(run.stdout.trim_end_matches('\n'), git);
    for part in ["deleted file mode 100644", "new file mode 120000", "deleted file mode 120000", "+../private", "+nowhere/at/all"] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
}

#[test]
fn p22_a_submodule_that_is_dirty_broken_or_gone_is_no_trouble() {
    let sandbox = Sandbox::new();
    sandbox.git_config("[protocol \"file\"]\n\tallow = always\n");
    let library = sandbox.repo("library");
    let repo = sandbox.repo("work");
    repo.git(&["submodule", "--quiet", "add", &library.path().to_string_lossy(), "lib"]);
    repo.commit("library");
    repo.write("a.rs", GOOD).git(&["add", "a.rs"]);
    let alone = staged(&repo).expect(0).stdout;
    repo.write("lib/README", "dirty\n").write("lib/new", "untracked\n");
    assert_eq!(staged(&repo).expect(0).stdout, alone);
    repo.write("lib/.git", "gitdir: nowhere\n");
    assert_eq!(staged(&repo).expect(0).stdout, alone);
    std::fs::remove_dir_all(repo.path().join("lib")).unwrap();
    assert_eq!(staged(&repo).expect(0).stdout, alone);
    symlink("/", repo.path().join("lib")).unwrap();
    assert_eq!(staged(&repo).expect(0).stdout, alone);
}

#[test]
fn p23_a_submodule_bump_is_one_line_whatever_is_set() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    let set = |digit: &str| repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},sm", digit.repeat(40))]);
    let says = |text: &str| {
        for (key, value) in [("diff.ignoreSubmodules", "all"), ("diff.submodule", "log"), ("submodule.sm.ignore", "all"), ("core.bare", "false")] {
            let gate = repo.gate(&["diff", "--stage", "pre-commit"]).env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", key);
            gate.env("GIT_CONFIG_VALUE_0", value).run().expect(0).says(text);
        }
    };
    set("1");
    says(&format!("+Subproject commit {}", "1".repeat(40)));
    repo.git(&["commit", "-q", "-m", "sm"]);
    repo.write(".gitmodules", "[submodule \"sm\"]\n\tpath = sm\n\turl = ./sm\n\tignore = all\n").git(&["add", ".gitmodules"]);
    set("2");
    says(&format!("-Subproject commit {}\n+Subproject commit {}", "1".repeat(40), "2".repeat(40)));
}

#[test]
fn p23_a_hook_inside_a_submodule_reviews_the_submodule() {
    let (sandbox, peer) = world();
    sandbox.git_config("[protocol \"file\"]\n\tallow = always\n");
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let library = sandbox.repo("library");
    let repo = sandbox.repo("work");
    repo.git(&["submodule", "--quiet", "add", &library.path().to_string_lossy(), "lib"]);
    repo.commit("library");
    repo.write("outside.rs", EVIL).add();
    let inside = Repo::at(&sandbox, repo.path().join("lib"));
    inside.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    inside.write("a.rs", EVIL).add();
    assert_eq!(refused(&inside, &peer, &[], "", None), ["a.rs"]);
    assert_eq!(refused(&inside, &peer, &["-a"], "", None), ["a.rs"]);
    assert!(inside.state().ends_with(".git/modules/lib/review-gate"), "{:?}", inside.state());
}

#[test]
fn p24_a_linked_worktree_has_its_own_head_and_shares_the_ledger() {
    let (sandbox, peer) = world();
    let repo = half_staged(&sandbox, &peer);
    let index = std::fs::read(repo.path().join(".git/index")).unwrap();
    let path = sandbox.path().join("linked");
    repo.git(&["worktree", "add", "-q", "--detach", &path.to_string_lossy(), "HEAD~1"]);
    let linked = Repo::at(&sandbox, path);
    assert!(linked.path().join(".git").is_file());
    assert_eq!(staged(&linked).expect(0).stdout, "", "its HEAD is another commit, its index another file");
    linked.write("a.rs", EVIL).add();
    assert_eq!(refused(&linked, &peer, &[], "", None), ["a.rs"]);
    assert_eq!((linked.state(), linked.records().len()), (repo.state(), 1));
    assert_eq!(std::fs::read(repo.path().join(".git/index")).unwrap(), index, "the other worktree's index is as it was");
}
