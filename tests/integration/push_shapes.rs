//! The shapes of a push (threat T5): whatever `git push` is told to send, an evil commit in any one ref is seen and nothing arrives. Each shape goes through
//! the real hook; then the very lines that git wrote are judged once more, for what the report says of the bases.

use crate::common::{Behaviour, EVIL, GOOD, Gate, Peer, Repo, Reviewer, Sandbox, child};
use serde_json::Value;

/// A world with a gated repository; the evil line is in `evil.rs`.
fn gated<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.gated(&[Reviewer::qwen(peer)], "")
}

fn world() -> (Sandbox, Peer) {
    (Sandbox::new(), Peer::new(Behaviour::Honest))
}

fn evil(repo: &Repo<'_>) -> String {
    repo.write("evil.rs", EVIL).commit("evil")
}

/// Returns what git writes to a pre-push hook for these arguments, and pushes nothing.
fn lines(repo: &Repo<'_>, args: &[&str]) -> String {
    let dir = repo.sandbox().path().join("recorder");
    let record = dir.join("lines");
    std::fs::create_dir_all(&dir).unwrap();
    // A child writes the script: a file that this process had open for writing may still be open in a child of another test, and could not be run.
    let mut script = repo.sandbox().command("sh");
    script.arg("-c").arg(format!("printf '#!/bin/sh\\ncat >\"%s\"\\nexit 1\\n' '{0}/lines' >'{0}/pre-push'; chmod +x '{0}/pre-push'", dir.display()));
    child::run(script, b"").expect(0);
    let hooks = format!("core.hooksPath={}", dir.display());
    repo.try_git(&[&["-c", &hooks, "push"], args].concat()).expect(1);
    std::fs::read_to_string(record).unwrap()
}

/// Asserts that the push is refused because of `evil.rs`, that nothing arrives, and where each of the bases came from.
#[track_caller]
fn refused(repo: &Repo<'_>, args: &[&str], sources: &[(&str, &str)]) {
    let before = repo.remote_refs("origin");
    repo.push(args).expect_refused().says("HIGH").says("evil.rs:1");
    assert_eq!(repo.remote_refs("origin"), before, "something arrived");
    let (run, report) = Gate::pre_push(repo, &lines(repo, args)).report();
    run.expect(1);
    assert_sources(&report, sources);
}

#[track_caller]
fn assert_sources(report: &Value, sources: &[(&str, &str)]) {
    let refs: Vec<&Value> = report["subjects"].as_array().unwrap().iter().flat_map(|subject| subject["refs"].as_array().unwrap()).collect();
    for (name, source) in sources {
        let update = refs.iter().find(|update| update["remote_ref"] == *name).unwrap_or_else(|| panic!("{name} is not in the report: {report}"));
        assert_eq!(update["base_source"], *source, "{name}");
        if *source == "server" {
            assert!(update["base"].is_string(), "{update}");
        }
    }
}

#[test]
fn t05_01_one_ref() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    let old = repo.oid("main");
    evil(&repo);
    repo.write("more.rs", GOOD).commit("more");
    refused(&repo, &["origin", "main"], &[("refs/heads/main", "server")]);
    let (_, report) = Gate::pre_push(&repo, &repo.push_line("main")).report();
    assert_eq!(report["subjects"][0]["refs"][0]["base"], old.as_str(), "the server's own old id");
}

#[test]
fn t05_02_two_refs() {
    for last in [false, true] {
        let (sandbox, peer) = world();
        let repo = gated(&sandbox, &peer);
        for (name, is_evil) in [("a", !last), ("b", last)] {
            repo.branch(name, "main").write(&format!("{name}.rs"), GOOD).commit(name);
            if is_evil {
                evil(&repo);
            }
        }
        refused(&repo, &["origin", "a", "b"], &[("refs/heads/a", "tracking"), ("refs/heads/b", "tracking")]);
    }
}

#[test]
fn t05_03_fifty_refs() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    let names: Vec<String> = (0..50).map(|n| format!("b{n}")).collect();
    for (at, name) in names.iter().enumerate() {
        repo.branch(name, "main").write("f.rs", format!("let n = {at};\n"));
        if at == 31 {
            repo.write("evil.rs", EVIL);
        }
        repo.commit(name);
    }
    let args: Vec<&str> = std::iter::once("origin").chain(names.iter().map(String::as_str)).collect();
    refused(&repo, &args, &[("refs/heads/b0", "tracking"), ("refs/heads/b31", "tracking"), ("refs/heads/b49", "tracking")]);
}

#[test]
fn t05_04_three_thousand_refs() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.branch("bad", "main");
    let bad = evil(&repo);
    repo.git(&["switch", "-q", "main"]);
    let good = repo.write("good.rs", GOOD).commit("good");
    let commands: String = (0..3000).map(|n| format!("create refs/many/{n:04} {}\n", if n == 1717 { &bad } else { &good })).collect();
    child::run(repo.git_command(&["update-ref", "--stdin"]), commands.as_bytes()).expect(0);
    refused(&repo, &["origin", "refs/many/*:refs/many/*"], &[("refs/many/0000", "tracking"), ("refs/many/1717", "tracking")]);
}

#[test]
fn t05_05_head() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    evil(&repo);
    refused(&repo, &["origin", "HEAD"], &[("refs/heads/main", "server")]);
}

#[test]
fn t05_06_another_name_at_the_remote() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.branch("a", "main");
    evil(&repo);
    refused(&repo, &["origin", "a:b"], &[("refs/heads/b", "tracking")]);
    refused(&repo, &["origin", "a:main"], &[("refs/heads/main", "server")]);
    refused(&repo, &["origin", "a:refs/for/main"], &[("refs/for/main", "tracking")]);
}

#[test]
fn t05_07_all_branches() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.branch("a", "main");
    evil(&repo);
    repo.branch("b", "main").write("b.rs", GOOD).commit("b");
    refused(&repo, &["--all", "origin"], &[("refs/heads/a", "tracking"), ("refs/heads/b", "tracking")]);
}

#[test]
fn t05_08_a_mirror() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.write("evil.rs", EVIL).add().git(&["stash", "-q"]);
    repo.git(&["update-ref", "refs/archive/stash", "stash"]);
    refused(&repo, &["--mirror", "origin"], &[("refs/archive/stash", "tracking"), ("refs/remotes/origin/main", "tracking")]);
    refused(&repo, &["origin", "refs/stash:refs/heads/x"], &[("refs/heads/x", "tracking")]);
}

#[test]
fn t05_09_a_light_tag() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    evil(&repo);
    repo.git(&["tag", "v1"]);
    refused(&repo, &["origin", "v1"], &[("refs/tags/v1", "tracking")]);
}

#[test]
fn t05_10_an_annotated_tag() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    let tip = evil(&repo);
    repo.git(&["tag", "-a", "-m", "t", "v1"]);
    repo.git(&["tag", "-a", "-m", "a tag of a tag", "v2", "v1"]);
    refused(&repo, &["--tags", "origin"], &[("refs/tags/v1", "tracking"), ("refs/tags/v2", "tracking")]);
    let (_, report) = Gate::pre_push(&repo, &lines(&repo, &["origin", "v2"])).report();
    assert_eq!(report["subjects"][0]["refs"][0]["tip"], tip.as_str(), "peeled to the commit");
}

#[test]
fn t05_11_notes() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.git(&["notes", "add", "-m", EVIL.trim()]);
    let before = repo.remote_refs("origin");
    repo.push(&["origin", "refs/notes/*"]).expect_refused().says("HIGH").says(&repo.oid("HEAD"));
    assert_eq!(repo.remote_refs("origin"), before);
    let (run, report) = Gate::pre_push(&repo, &lines(&repo, &["origin", "refs/notes/*"])).report();
    run.expect(1);
    assert_sources(&report, &[("refs/notes/commits", "empty")]);
}

#[test]
fn t05_13_a_deletion_beside_a_push() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.publish("main:gone");
    evil(&repo);
    refused(&repo, &["origin", ":gone", "main"], &[("refs/heads/main", "server")]);
    assert!(repo.remote_oid("origin", "refs/heads/gone").is_some());
}

#[test]
fn t05_14_a_forced_push() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.write("old.rs", GOOD).commit("old");
    repo.publish("main");
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    evil(&repo);
    for args in [["--force", "origin", "main"], ["--force-with-lease", "origin", "main"], ["-q", "origin", "+main"]] {
        refused(&repo, &args, &[("refs/heads/main", "merge-base")]);
    }
    let (_, report) = Gate::pre_push(&repo, &lines(&repo, &["--force", "origin", "main"])).report();
    assert_eq!(report["subjects"][0]["coverage"]["reviewed"], serde_json::json!(["evil.rs"]), "the old work is not shown in reverse");
}

#[test]
fn t05_15_an_unrelated_history() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.git(&["checkout", "-q", "--orphan", "new"]);
    evil(&repo);
    refused(&repo, &["--force", "origin", "new:main"], &[("refs/heads/main", "empty")]);
    refused(&repo, &["origin", "new"], &[("refs/heads/new", "empty")]);
    repo.git(&["merge", "-q", "--no-verify", "--allow-unrelated-histories", "-m", "join", "origin/main"]);
    refused(&repo, &["origin", "new:main"], &[("refs/heads/main", "server")]);
}

#[test]
fn t05_16_a_shallow_clone() {
    let (sandbox, peer) = world();
    gated(&sandbox, &peer).write("more.rs", GOOD).commit("more");
    Repo::at(&sandbox, sandbox.path().join("work")).publish("main");
    let url = format!("file://{}", sandbox.path().join("origin.git").display());
    let clone = Repo::at(&sandbox, sandbox.path().join("work"));
    clone.git(&["clone", "-q", "--depth=1", &url, "../shallow"]);
    let repo = Repo::at(&sandbox, sandbox.path().join("shallow"));
    assert_eq!(repo.git(&["rev-parse", "--is-shallow-repository"]), "true");
    repo.gate(&["install"]).run().expect(0);
    evil(&repo);
    refused(&repo, &["origin", "main"], &[("refs/heads/main", "server")]);
    refused(&repo, &["origin", "main:new"], &[("refs/heads/new", "tracking")]);
}

#[test]
fn t05_17_a_new_branch() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.branch("new", "main");
    evil(&repo);
    repo.write("evil.rs", format!("// first\n{EVIL}")).commit("moved down");
    repo.write("evil.rs", EVIL).commit("and up");
    refused(&repo, &["-u", "origin", "new"], &[("refs/heads/new", "tracking")]);
}

#[test]
fn t05_18_a_new_branch_with_a_forged_tracking_ref() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.branch("new", "main");
    let tip = evil(&repo);
    // Whoever can write refs can say what the remote has: only the server can tell that it has not. The report names whose word was taken.
    repo.git(&["update-ref", "refs/remotes/origin/new", &tip]);
    let (run, report) = Gate::pre_push(&repo, &lines(&repo, &["origin", "new"])).report();
    run.expect(0);
    assert_sources(&report, &[("refs/heads/new", "tracking")]);
    assert_eq!(report["subjects"][0]["refs"][0]["base"], tip.as_str());
    // Of a ref that the remote has, the server's word counts, and what is taken for published is listed.
    repo.git(&["switch", "-q", "main"]);
    repo.write("also.rs", EVIL).commit("not hidden");
    let before = repo.remote_refs("origin");
    repo.push(&["origin", "main"]).expect_refused().says("also.rs:1");
    assert_eq!(repo.remote_refs("origin"), before);
}

#[test]
fn t05_19_a_detached_head() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.git(&["checkout", "-q", "--detach"]);
    let tip = evil(&repo);
    refused(&repo, &["origin", "HEAD:main"], &[("refs/heads/main", "server")]);
    refused(&repo, &["origin", &format!("{tip}:refs/heads/new")], &[("refs/heads/new", "tracking")]);
}

#[test]
fn t05_20_a_linked_worktree() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    let path = sandbox.path().join("linked");
    repo.git(&["worktree", "add", "-q", "-b", "side", &path.to_string_lossy()]);
    let linked = Repo::at(&sandbox, path);
    evil(&linked);
    refused(&linked, &["origin", "side"], &[("refs/heads/side", "tracking")]);
    refused(&linked, &["origin", "HEAD:main"], &[("refs/heads/main", "server")]);
}

#[test]
fn t05_21_a_submodule() {
    let (sandbox, peer) = world();
    sandbox.git_config("[protocol \"file\"]\n\tallow = always\n");
    let library = sandbox.repo("library");
    library.git(&["clone", "-q", "--bare", ".", "../library.git"]);
    let repo = gated(&sandbox, &peer);
    repo.git(&["submodule", "--quiet", "add", "../library.git", "lib"]);
    repo.commit("library");
    repo.publish("main");
    let inside = Repo::at(&sandbox, repo.path().join("lib"));
    inside.gate(&["install"]).run().expect(0);
    evil(&inside);
    refused(&inside, &["origin", "main"], &[("refs/heads/main", "server")]);
    repo.commit("bump");
    let (before, before_inside) = (repo.remote_refs("origin"), inside.remote_refs("origin"));
    repo.push(&["--recurse-submodules=on-demand", "origin", "main"]).expect_refused().says("evil.rs:1");
    assert_eq!((repo.remote_refs("origin"), inside.remote_refs("origin")), (before, before_inside));
}

#[test]
fn t05_22_sha_256() {
    let (sandbox, peer) = world();
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let first = sandbox.repo("any");
    for args in
        [&["init", "-q", "-b", "main", "--object-format=sha256", "../work"][..], &["init", "-q", "--bare", "--object-format=sha256", "../origin.git"]]
    {
        first.git(args);
    }
    let repo = Repo::at(&sandbox, sandbox.path().join("work"));
    repo.write("README", "base\n").commit("base");
    repo.remote("origin", &sandbox.path().join("origin.git")).publish("main");
    repo.gate(&["install"]).run().expect(0);
    assert_eq!(evil(&repo).len(), 64);
    refused(&repo, &["origin", "main"], &[("refs/heads/main", "server")]);
    refused(&repo, &["origin", "main:new"], &[("refs/heads/new", "tracking")]);
    repo.push(&["origin", "--delete", "main"]).never_says("not 40 or 64");
}

#[test]
fn t05_23_an_atomic_push() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    repo.branch("a", "main").write("a.rs", GOOD).commit("a");
    repo.branch("b", "main");
    evil(&repo);
    refused(&repo, &["--atomic", "origin", "a", "b"], &[("refs/heads/a", "tracking"), ("refs/heads/b", "tracking")]);
}

#[test]
fn t05_24_a_branch_with_the_tags_on_it() {
    let (sandbox, peer) = world();
    let repo = gated(&sandbox, &peer);
    evil(&repo);
    repo.git(&["tag", "-a", "-m", "t", "v1"]);
    repo.git(&["rm", "-q", "evil.rs"]);
    repo.commit("gone again");
    // The branch alone would be clean: the evil line is at the tag, which goes with it.
    refused(&repo, &["--follow-tags", "origin", "main"], &[("refs/heads/main", "server"), ("refs/tags/v1", "tracking")]);
    repo.push(&["origin", "main"]).expect(0);
}
