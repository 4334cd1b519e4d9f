//! The hook: where it goes, what it leaves alone, and that it refuses when the program behind it is gone.

use crate::common::{Behaviour, EVIL, GATE, GOOD, Peer, Repo, Reviewer, Run, Sandbox, child};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn configured<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    sandbox.published()
}

fn hook(repo: &Repo<'_>) -> PathBuf {
    repo.path().join(".git/hooks/pre-push")
}

fn write_hook(file: &Path, script: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, script).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Copies the program. A child does it: a file that this process had open for writing may still be open in a child of another test, and could not be run.
fn copy_of_the_gate(sandbox: &Sandbox, folder: &str) -> PathBuf {
    let program = sandbox.path().join(folder).join("review-gate");
    fs::create_dir(program.parent().unwrap()).unwrap();
    let mut copy = sandbox.command("cp");
    copy.arg(GATE).arg(&program);
    child::run(copy, b"").expect(0);
    program
}

fn install_with(program: &Path, repo: &Repo<'_>) {
    let mut install = repo.sandbox().command(program);
    install.arg("install").current_dir(repo.path());
    child::run(install, b"").expect(0);
}

/// A hook of someone else that keeps what it is given.
const FOREIGN: &str =
    "#!/bin/sh\nprintf '%s %s\\n' \"$1\" \"$2\" > \"$(git rev-parse --git-dir)/foreign-args\"\ncat > \"$(git rev-parse --git-dir)/foreign-stdin\"\n";

#[test]
fn install_is_idempotent_and_uninstall_leaves_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = configured(&sandbox, &peer);
    repo.gate(&["install"]).run().expect(0);
    let first = fs::read(hook(&repo)).unwrap();
    assert_ne!(fs::metadata(hook(&repo)).unwrap().permissions().mode() & 0o111, 0, "the hook can be run");
    assert!(String::from_utf8_lossy(&first).contains(GATE), "the path of the program is absolute");
    repo.gate(&["install"]).run().expect(0);
    assert_eq!(fs::read(hook(&repo)).unwrap(), first);
    repo.gate(&["uninstall"]).run().expect(0);
    assert!(!hook(&repo).exists());
    assert!(peer.questions().is_empty());
}

#[test]
fn a_hook_that_is_there_still_gets_everything_and_comes_back() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = configured(&sandbox, &peer);
    write_hook(&hook(&repo), FOREIGN);
    repo.gate(&["install"]).run().expect(0);
    repo.write("run.rs", GOOD).commit("run");
    let line = repo.push_line("main");
    repo.push(&["origin", "main"]).expect(0);
    assert_eq!(fs::read_to_string(repo.path().join(".git/foreign-stdin")).unwrap(), line);
    assert!(fs::read_to_string(repo.path().join(".git/foreign-args")).unwrap().starts_with("origin "));
    repo.gate(&["uninstall"]).run().expect(0);
    assert_eq!(fs::read_to_string(hook(&repo)).unwrap(), FOREIGN);
    assert_ne!(fs::metadata(hook(&repo)).unwrap().permissions().mode() & 0o111, 0);
}

#[test]
fn a_hook_that_refuses_still_refuses() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = configured(&sandbox, &peer);
    write_hook(&hook(&repo), "#!/bin/sh\necho foreign says no >&2\nexit 5\n");
    repo.gate(&["install"]).run().expect(0);
    repo.write("run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect_refused().says("foreign says no");
}

#[test]
fn a_chained_hook_does_not_let_a_bad_change_through() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = configured(&sandbox, &peer);
    write_hook(&hook(&repo), "#!/bin/sh\nexit 0\n");
    repo.gate(&["install"]).run().expect(0);
    repo.write("run.rs", EVIL).commit("run");
    repo.push(&["origin", "main"]).expect_refused().says("run.rs:1");
}

#[test]
fn p46_the_hook_refuses_when_the_program_is_gone() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = configured(&sandbox, &peer);
    let program = copy_of_the_gate(&sandbox, "bin");
    install_with(&program, &repo);
    repo.write("run.rs", GOOD).commit("run");
    fs::remove_file(&program).unwrap();
    repo.push(&["origin", "main"]).expect_refused().says("review-gate");
    assert_ne!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
}

#[test]
fn a_remote_that_is_called_like_a_flag_is_no_way_past() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = configured(&sandbox, &peer);
    repo.gate(&["install"]).run().expect(0);
    repo.write("run.rs", EVIL).commit("run");
    for name in ["--help", "-h", "--version", "--config=other.yaml", "-q"] {
        let bare = sandbox.bare(&format!("flag{}.git", name.len()));
        repo.git(&["config", &format!("remote.{name}.url"), bare.to_str().unwrap()]);
        repo.push(&["--", name, "main"]).expect_refused().says("run.rs:1");
    }
}

#[test]
fn an_empty_program_is_no_gate() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = configured(&sandbox, &peer);
    let program = copy_of_the_gate(&sandbox, "bin");
    install_with(&program, &repo);
    repo.write("run.rs", GOOD).commit("run");
    fs::write(&program, b"").unwrap();
    repo.push(&["origin", "main"]).expect_refused().says("no working review-gate");
    assert_ne!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
}

#[test]
fn p47_the_hook_goes_where_git_looks() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = configured(&sandbox, &peer);
    repo.git(&["config", "core.hooksPath", ".hooks"]);
    repo.gate(&["install"]).run().expect(0);
    assert!(!hook(&repo).exists() && repo.path().join(".hooks/pre-push").exists());
    repo.write("run.rs", EVIL).git(&["add", "run.rs"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "run"]);
    repo.push(&["origin", "main"]).expect_refused().says("run.rs:1");
}

#[test]
fn without_an_eligible_reviewer_there_is_no_hook() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.published();
    repo.gate(&["install"]).run().expect(2).says("no reviewer is configured").says("review-gate init");
    sandbox.configure_raw("reviewers:\n  - {name: codex, provider: cli, command: /usr/bin/codex, model: gpt-5}\n");
    repo.gate(&["install"]).run().expect(2).says("does not ask yet").never_says("no reviewer is configured").never_says("review-gate init");
    sandbox.configure(&[Reviewer::claude(&peer)], "author: anthropic\n");
    repo.gate(&["install"]).run().expect(2).says("anthropic").never_says("review-gate init");
    assert!(!hook(&repo).exists());
    repo.gate(&["install", "--force"]).run().expect(0);
    assert!(hook(&repo).exists());
}

#[test]
fn paths_with_spaces_and_quotes_work() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let program = copy_of_the_gate(&sandbox, "a b's");
    let repo = sandbox.repo("it's a \"work\" $tree");
    repo.remote("origin", &sandbox.bare("or igin.git"));
    install_with(&program, &repo);
    repo.write("run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect(0);
}

#[test]
fn init_writes_a_configuration_that_can_be_read_and_never_overwrites_one() {
    let sandbox = Sandbox::new();
    let repo = sandbox.published();
    let init = || -> Run { repo.gate(&["init"]).env("PATH", "/usr/bin:/bin").env("ANTHROPIC_API_KEY", "key-of-a-test").run() };
    init().expect(0).says("config.yaml").never_says("key-of-a-test");
    let written = fs::read_to_string(sandbox.config_file()).unwrap();
    assert!(written.contains("api_key_env: ANTHROPIC_API_KEY") && !written.contains("key-of-a-test"), "{written}");
    repo.gate(&["config", "check"]).env("ANTHROPIC_API_KEY", "key-of-a-test").run().expect(0);
    init();
    assert_eq!(fs::read_to_string(sandbox.config_file()).unwrap(), written);
}
