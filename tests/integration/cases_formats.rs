//! Repositories as git makes them, in every format it knows: each is read as it is, or refused by name. The number is the case in the project's list.

use crate::common::{Behaviour, EVIL, GATE, GOOD, Gate, Peer, Repo, Reviewer, Run, Sandbox, ZERO, child};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

const SHA256: &[&str] = &["--object-format=sha256"];
const REFTABLE: &[&str] = &["--ref-format=reftable"];

fn git_in(sandbox: &Sandbox, dir: &Path, args: &[&str]) -> Run {
    let mut command = sandbox.command("git");
    command.args(args).current_dir(dir);
    child::run(command, b"")
}

/// A published repository of a format, its commits and pushes gated.
fn gated_as<'s>(sandbox: &'s Sandbox, peer: &Peer, format: &[&str]) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    for name in [&["--bare", "origin.git"][..], &["work"]] {
        git_in(sandbox, sandbox.path(), &[&["init", "-q", "-b", "main"], format, name].concat()).expect(0);
    }
    let repo = Repo::at(sandbox, sandbox.path().join("work"));
    repo.write("README", "base\n").commit("base");
    repo.remote("origin", &sandbox.path().join("origin.git"));
    repo.git(&["push", "-q", "--no-verify", "-u", "origin", "main"]);
    repo.gate(&["install"]).run().expect(0);
    repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    repo
}

/// A push of one commit that the remote holds back, then of its correction, by every kind of ref.
fn refs_come_and_go(format: &[&str]) {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated_as(&sandbox, &peer, format);
    repo.write("run.rs", EVIL).add();
    repo.try_git(&["commit", "-m", "evil"]).expect_refused().says("run.rs:1");
    repo.write("run.rs", GOOD).add();
    repo.try_git(&["commit", "-q", "-m", "good"]).expect(0);
    repo.push(&["origin", "main"]).expect(0);
    assert_eq!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));

    repo.branch("topic", "main").write("evil.rs", EVIL).commit("evil");
    repo.git(&["tag", "-a", "-m", "tag", "v1"]);
    for name in ["topic", "v1", "HEAD:refs/heads/other"] {
        repo.push(&["origin", name]).expect_refused().says("evil.rs:1");
    }
    repo.gate(&["run", "--push"]).run().expect(1).says("evil.rs:1");
    repo.gate(&["run", "--range", "main..topic"]).run().expect(1).says("evil.rs:1");
    let asked = peer.questions().len();
    repo.push(&["origin", "main:refs/heads/copy"]).expect(0);
    repo.push(&["origin", ":refs/heads/copy"]).expect(0);
    repo.push(&["origin", "main"]).expect(0);
    assert_eq!(peer.questions().len(), asked, "nothing of it is new");
    assert_eq!(repo.remote_oid("origin", "refs/heads/copy"), None);
    repo.git(&["worktree", "add", "-q", "../linked", "main"]);
    let linked = Repo::at(&sandbox, sandbox.path().join("linked"));
    linked.write("linked.rs", EVIL).add();
    linked.try_git(&["commit", "-m", "evil"]).expect_refused().says("linked.rs:1");
    repo.gate(&["log", "verify"]).run().expect(0);
}

#[test]
fn p41_a_sha256_repository_is_gated_like_any_other() {
    refs_come_and_go(SHA256);
}

#[test]
fn p41_a_reftable_repository_is_gated_like_any_other() {
    refs_come_and_go(REFTABLE);
}

#[test]
fn p41_both_formats_at_once_are_gated_like_any_other() {
    refs_come_and_go(&[SHA256, REFTABLE].concat());
}

#[test]
fn p41_the_lines_of_a_sha256_push_have_longer_ids() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated_as(&sandbox, &peer, SHA256);
    repo.write("run.rs", EVIL).commit("evil");
    let (tip, none) = (repo.oid("HEAD"), "0".repeat(64));
    Gate::pre_push(&repo, &format!("refs/heads/main {tip} refs/heads/new {none}\n")).run().expect(1).says("run.rs:1");
    Gate::pre_push(&repo, &format!("(delete) {none} refs/heads/main {tip}\n")).run().expect(0);
    // A zero of the other length beside it is no line that git writes.
    Gate::pre_push(&repo, &format!("refs/heads/main {tip} refs/heads/new {ZERO}\n")).run().expect(2);
}

#[test]
fn p41_a_format_that_nobody_knows_is_refused_by_its_name() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated_as(&sandbox, &peer, &[]);
    repo.write("a.rs", GOOD).add();
    let config = repo.path().join(".git/config");
    let text = fs::read_to_string(&config).unwrap().replace("repositoryformatversion = 0", "repositoryformatversion = 1");
    for (lines, name) in [("compactMap = true", "compactmap = true"), ("refStorage = cloud", "refstorage = cloud")] {
        fs::write(&config, format!("{text}[extensions]\n\t{lines}\n")).unwrap();
        repo.gate(&["hook", "pre-commit"]).run().expect(2).says(name);
    }
    assert!(peer.requests().is_empty());
}

#[test]
fn p41_without_git_a_reftable_is_refused_and_never_empty() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated_as(&sandbox, &peer, REFTABLE);
    repo.write("a.rs", GOOD).add();
    repo.gate(&["hook", "pre-commit"]).env("PATH", "/nonexistent").run().expect(2).says("there is none on the PATH");
    // A damaged table makes git fail: its word is passed on.
    for file in fs::read_dir(repo.path().join(".git/reftable")).unwrap() {
        fs::write(file.unwrap().path(), "garbage\n").unwrap();
    }
    repo.gate(&["hook", "pre-commit"]).run().expect_refused().says("with git");
    assert!(peer.requests().is_empty());
}

/// Four folders, of which two are checked out; the others are folded in the index.
fn sparse<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    let repo = gated_as(sandbox, peer, &[]);
    for dir in ["a", "b/deep", "c", "d"] {
        repo.write(&format!("{dir}/f"), "one\n");
    }
    repo.commit("folders");
    repo.publish("main");
    repo.git(&["sparse-checkout", "set", "--sparse-index", "a", "c"]);
    assert!(!repo.path().join("b").exists());
    repo
}

fn sent(peer: &Peer) -> Vec<String> {
    let mut files: Vec<String> = peer.reviews().iter().flat_map(|request| request.added()).map(|added| added.file).collect();
    files.dedup();
    files
}

#[test]
fn p37_a_sparse_index_is_reviewed_by_what_is_staged() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sparse(&sandbox, &peer);
    repo.write("a/f", "two\n");
    repo.git(&["add", "a/f"]);
    repo.try_git(&["commit", "-q", "-m", "two"]).expect(0);
    assert_eq!(sent(&peer), ["a/f"], "the folded folders are no part of it");
    repo.write("c/f", EVIL);
    repo.try_git(&["commit", "-a", "-m", "evil"]).expect_refused().says("c/f:1");
    repo.gate(&["run", "--worktree"]).run().expect(1).says("c/f:1").never_says("b/deep");
    repo.push(&["origin", "main"]).expect(0);
}

#[test]
fn p37_changing_the_cone_changes_nothing_that_is_reviewed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sparse(&sandbox, &peer);
    for cone in [&["b"][..], &["a", "b/deep"], &["d"]] {
        repo.git(&[&["sparse-checkout", "set", "--sparse-index"], cone].concat());
        repo.gate(&["run", "--staged"]).run().expect(0);
        repo.gate(&["run", "--worktree"]).run().expect(0);
    }
    assert!(peer.requests().is_empty(), "nothing is changed by what is checked out");
    // Outside of the cone, where the index has the folder folded.
    repo.write("b/deep/f", EVIL);
    repo.git(&["add", "--sparse", "b/deep/f"]);
    repo.try_git(&["commit", "-m", "evil"]).expect_refused().says("b/deep/f:1");
    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["rm", "-q", "--sparse", "-r", "b"]);
    let (run, report) = repo.gate(&["run", "--staged"]).report();
    run.expect(0);
    assert_eq!(report["subjects"][0]["change"]["deleted"], 1, "{report}");
}

/// A remote that hands out partial clones. `a.rs` has three states on `main`, and `old` is where it had the first.
fn promisor(sandbox: &Sandbox) -> Repo<'_> {
    let repo = sandbox.published();
    for key in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
        git_in(sandbox, &sandbox.path().join("origin.git"), &["config", key, "true"]).expect(0);
    }
    repo.write("a.rs", "let first = 1;\n").write("dir/gone.rs", "let gone = 1;\n").commit("first");
    repo.publish("HEAD:refs/heads/old");
    repo.write("a.rs", "let second = 2;\n");
    repo.git(&["rm", "-q", "dir/gone.rs"]);
    repo.commit("second");
    repo.publish("main");
    repo
}

/// A gated partial clone.
fn partial<'s>(sandbox: &'s Sandbox, peer: &Peer, filter: &str) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    let url = format!("file://{}", sandbox.path().join("origin.git").display());
    git_in(sandbox, sandbox.path(), &["clone", "-q", filter, &url, "partial"]).expect(0);
    let repo = Repo::at(sandbox, sandbox.path().join("partial"));
    repo.gate(&["install"]).run().expect(0);
    repo
}

/// Commits on top of `old`, whose `a.rs` was never fetched: nothing of it was checked out.
fn grow(repo: &Repo<'_>, content: &str) {
    repo.git(&["update-ref", "refs/heads/grown", "origin/old"]);
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/grown"]);
    repo.git(&["read-tree", "HEAD"]);
    repo.write("a.rs", content).write("new.rs", GOOD);
    repo.git(&["add", "a.rs", "new.rs"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "grown"]);
}

fn is_here(repo: &Repo<'_>, object: &str) -> bool {
    let mut command = repo.git_command(&["cat-file", "-e", object]);
    command.env("GIT_NO_LAZY_FETCH", "1");
    child::run(command, b"").status == 0
}

#[test]
fn p39_old_content_that_stayed_at_the_remote_is_told_and_the_new_is_reviewed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let old = promisor(&sandbox).oid("HEAD~1:a.rs");
    let repo = partial(&sandbox, &peer, "--filter=blob:none");
    grow(&repo, GOOD);
    assert!(!is_here(&repo, &old));
    let (run, report) = Gate::pre_push(&repo, &repo.push_line("grown")).report();
    run.expect(0).says("left the old content of these files at the remote").says("a.rs; `git fetch --refetch --no-filter`").never_says("new.rs;");
    let notes = report["notes"].to_string();
    assert!(notes.contains("a.rs") && !notes.contains("new.rs"), "{notes}");
    assert!(peer.received(GOOD.trim()) && !peer.received("let first"));
    assert!(!is_here(&repo, &old), "nothing was fetched");
    grow(&repo, EVIL);
    Gate::pre_push(&repo, &repo.push_line("grown")).run().expect(1).says("a.rs:1");
    assert!(!is_here(&repo, &old));
    // Once it is here, there is nothing to tell.
    repo.git(&["fetch", "-q", "--refetch", "--no-filter"]);
    Gate::pre_push(&repo, &repo.push_line("grown")).run().expect(1).never_says("partial clone");
}

#[test]
fn p39_new_content_that_stayed_at_the_remote_is_refused_with_a_remedy_that_works() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let source = promisor(&sandbox);
    let repo = partial(&sandbox, &peer, "--filter=blob:none");
    source.branch("topic", "main").write("evil.rs", EVIL).commit("evil");
    source.publish("topic");
    repo.git(&["fetch", "-q"]);
    let blob = source.oid("HEAD:evil.rs");
    for run in [&["run", "--range", "origin/main..origin/topic"][..], &["diff", "--range", "origin/main..origin/topic"]] {
        repo.gate(run).run().expect_refused().says(&blob).says("partial clone").says("git fetch --refetch --no-filter");
    }
    // To a remote that has nothing of it, all of it is new.
    repo.remote("fresh", &sandbox.bare("fresh.git"));
    let line = format!("x {} refs/heads/x {ZERO}\n", repo.oid("origin/topic"));
    repo.git(&["update-ref", "-d", "refs/remotes/origin/topic"]);
    repo.gate(&["hook", "pre-push", "--from-git", "fresh", "url"]).stdin(&line).run().expect(15).says("partial clone");
    assert!(peer.requests().is_empty() && !is_here(&repo, &blob), "nothing was asked and nothing was fetched");
    repo.git(&["fetch", "-q", "--refetch", "--no-filter"]);
    repo.gate(&["run", "--range", "origin/main..origin/topic"]).run().expect(1).says("evil.rs:1");
}

#[test]
fn p39_a_treeless_clone_is_refused_by_name_where_folders_are_missing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    promisor(&sandbox);
    let repo = partial(&sandbox, &peer, "--filter=tree:0");
    // What is checked out is here, and enough for a commit on top of it.
    repo.write("new.rs", EVIL).commit("evil");
    repo.push(&["origin", "main"]).expect_refused().says("new.rs:1");
    repo.write("new.rs", GOOD).commit("good");
    let line = format!("refs/heads/main {} refs/heads/old {}\n", repo.oid("HEAD"), repo.oid("origin/old"));
    let refused = Gate::pre_push(&repo, &line).run().expect_refused();
    refused.says("partial clone").says("git fetch --refetch --no-filter");
    repo.git(&["fetch", "-q", "--refetch", "--no-filter"]);
    Gate::pre_push(&repo, &line).run().expect(0);
}

#[test]
fn p39_a_secret_is_found_beside_old_content_that_is_not_here() {
    let secret = ["ghp", "_", "R7kQ2mZ9xT4vW8nB3cL6pS1dF5gH0jYaUeIo"].concat();
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    promisor(&sandbox);
    let repo = partial(&sandbox, &peer, "--filter=blob:none");
    grow(&repo, &format!("let token = {secret:?};\n"));
    Gate::pre_push(&repo, &repo.push_line("grown")).run().expect(16).says("a.rs").never_says(&secret);
    assert!(!is_here(&repo, "HEAD~1:a.rs") && peer.requests().is_empty());
}

#[test]
fn p39_outside_a_partial_clone_missing_old_content_is_damage() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("README", "other\n").commit("other");
    let old = repo.oid("HEAD~1:README");
    fs::remove_file(repo.path().join(".git/objects").join(&old[..2]).join(&old[2..])).unwrap();
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(15).says(&old).says("git fsck");
    assert!(peer.requests().is_empty());
}

#[test]
fn p42_a_repository_of_someone_else_is_refused_as_git_refuses_it() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).add();
    // Only root may give files away; for everybody else this is `p42_safe_directory…` without the first half.
    if [".git", "."].iter().any(|path| chown(repo.path().join(path), Some(65534), None).is_err()) {
        return;
    }
    repo.try_git(&["status"]).expect_refused().says("dubious ownership");
    for args in [&["run"][..], &["hook", "pre-commit"], &["diff"], &["install"]] {
        repo.gate(args).run().expect(2).says("safe.directory");
    }
    assert!(peer.requests().is_empty());
    for allowed in ["*".to_owned(), repo.path().display().to_string()] {
        sandbox.git_config(&format!("[safe]\n\tdirectory = {allowed}\n"));
        repo.gate(&["run"]).run().expect(1).says("run.rs:1");
    }
    // What the repository itself says of its safety does not count.
    sandbox.git_config("");
    fs::write(repo.path().join(".git/config"), "[core]\n\trepositoryformatversion = 0\n[safe]\n\tdirectory = *\n").unwrap();
    repo.gate(&["run"]).run().expect(2).says("safe.directory");
}

#[test]
fn p43_a_real_pre_receive_is_refused_by_name() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.published();
    let hook = sandbox.path().join("origin.git/hooks/pre-receive");
    let script = format!(
        "#!/bin/sh\nwhile read -r old new ref; do printf '%s %s %s %s\\n' \"$ref\" \"$new\" \"$ref\" \"$old\"; done | {GATE} hook pre-push --from-git origin url\n"
    );
    fs::write(&hook, script).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    repo.write("run.rs", GOOD).commit("run");
    let before = repo.remote_refs("origin");
    repo.push(&["--no-verify", "origin", "main"]).expect_refused().says("GIT_QUARANTINE_PATH").says("client-side");
    assert_eq!(repo.remote_refs("origin"), before);
    assert!(peer.requests().is_empty());
}

#[test]
fn p43_objects_that_another_repository_keeps_are_read() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let source = sandbox.published();
    let origin = sandbox.path().join("origin.git").display().to_string();
    let url = format!("file://{origin}");
    for (name, how) in [("shared", ["--shared", &origin, "shared"].as_slice()), ("reference", &["--reference", "work", &url, "reference"])] {
        git_in(&sandbox, sandbox.path(), &[&["clone", "-q"], how].concat()).expect(0);
        let alternates = sandbox.path().join(name).join(".git/objects/info/alternates");
        let absolute = fs::read_to_string(&alternates).unwrap();
        let of = Path::new(absolute.trim_end()).strip_prefix(sandbox.path()).unwrap().display().to_string();
        // Relative to the object directory that names it.
        for text in [absolute.clone(), format!("# a comment\n../../../{of}\n")] {
            fs::write(&alternates, text).unwrap();
            let repo = Repo::at(&sandbox, sandbox.path().join(name));
            repo.write("run.rs", EVIL).write("README", EVIL).add();
            let base = repo.oid("HEAD:README");
            assert!(!repo.path().join(".git/objects").join(&base[..2]).join(&base[2..]).exists(), "{name} has a copy");
            repo.gate(&["run"]).run().expect(1).says("run.rs:1").says("README:1");
            repo.git(&["reset", "-q", "--hard"]);
        }
    }
    assert!(source.path().exists());
}

/// The variable can name objects that no file names. Where it does not name them all, what is left is missing, and never nothing.
#[test]
fn p43_objects_that_only_a_variable_names_are_read() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    let line = repo.push_line("main");
    let (objects, elsewhere, absent) = (repo.path().join(".git/objects"), sandbox.path().join("elsewhere"), sandbox.path().join("absent"));
    fs::rename(&objects, &elsewhere).unwrap();
    fs::create_dir(&objects).unwrap();
    let push = |value: String| {
        let gate = repo.gate(&["hook", "pre-push", "--from-git", "origin", "url"]).stdin(&line);
        gate.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", value).run()
    };
    for value in [String::new(), absent.display().to_string(), format!("\"{}\"", elsewhere.display())] {
        push(value).expect_refused().never_says("run.rs:1");
    }
    assert!(peer.requests().is_empty());
    for value in [elsewhere.display().to_string(), format!(":{}::{}", absent.display(), elsewhere.display()), "../elsewhere".to_owned()] {
        push(value).expect(1).says("run.rs:1");
    }
    assert_eq!(fs::read_dir(&objects).unwrap().count(), 0);
    // Beside the variable the repository's own list holds, relative paths and all.
    fs::create_dir_all(objects.join("info")).unwrap();
    fs::write(objects.join("info/alternates"), "../../../elsewhere\n").unwrap();
    fs::create_dir(&absent).unwrap();
    push(absent.display().to_string()).expect(1).says("run.rs:1");
    assert_eq!(fs::read_dir(sandbox.path().join("tmp")).unwrap().count(), 0, "the list is gone with the run");
}

/// `git -c name=value push` reaches the hook in a variable that the gate does not read. What is pushed, and whereto, git says in its arguments and lines.
#[test]
fn settings_of_one_git_command_make_no_push_pass() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let [fresh, backup] = ["fresh.git", "backup.git"].map(|name| sandbox.bare(name));
    let (to, origin) = (fresh.display().to_string(), sandbox.path().join("origin.git").display().to_string());
    repo.remote("backup", &backup);
    repo.write("run.rs", EVIL).commit("evil");
    let settings = [
        format!("remote.origin.pushurl={to}"),
        format!("remote.origin.url={to}"),
        format!("url.{to}.insteadOf={origin}"),
        format!("url.{to}.pushInsteadOf={origin}"),
        "user.name=Claude".to_owned(),
        "core.worktree=/".to_owned(),
        "core.bare=true".to_owned(),
        "core.useReplaceRefs=true".to_owned(),
        "extensions.refStorage=reftable".to_owned(),
        "gitoxide.core.indexFile=none".to_owned(),
        "safe.directory=*".to_owned(),
    ];
    let push = |setting: &str| repo.try_git(&["-c", setting, "push", "origin", "main"]);
    for setting in &settings {
        push(setting).expect_refused().says("run.rs:1");
    }
    // What another remote got unseen is no news to that one alone, wherever `origin` is said to be.
    repo.git(&["push", "-q", "--no-verify", "backup", "main"]);
    for setting in &settings {
        push(setting).expect_refused().says("run.rs:1");
    }
    assert_eq!(git_in(&sandbox, &fresh, &["for-each-ref"]).stdout, "");
    repo.write("run.rs", GOOD).commit("good");
    push(&settings[0]).expect(0);
    assert_eq!(git_in(&sandbox, &fresh, &["rev-parse", "main"]).expect(0).stdout.trim(), repo.oid("HEAD"));
}

#[test]
fn p41_a_shallow_clone_with_reftable_ends_where_its_history_ends() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let source = gated_as(&sandbox, &peer, REFTABLE);
    source.write("old.rs", GOOD).commit("old");
    source.publish("main");
    let url = format!("file://{}", sandbox.path().join("origin.git").display());
    git_in(&sandbox, sandbox.path(), &["clone", "-q", "--depth=1", "--ref-format=reftable", &url, "shallow"]).expect(0);
    let repo = Repo::at(&sandbox, sandbox.path().join("shallow"));
    repo.write("run.rs", EVIL).commit("evil");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says("run.rs:1").never_says("old.rs");
}
