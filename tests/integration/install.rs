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

/// Whatever lay there: a program, a link, a script that git passed over. Pushes are gated, and all comes back as it was.
#[test]
fn beside_any_kind_of_hook_pushes_are_gated_and_all_comes_back() {
    type Put = fn(&Path);
    let table: [(&str, Put); 4] = [
        ("program", |file| assert!(fs::copy("/bin/true", file).unwrap() > 0)),
        ("link", |file| std::os::unix::fs::symlink("/bin/true", file).unwrap()),
        ("dangling link", |file| std::os::unix::fs::symlink("/nonexistent", file).unwrap()),
        ("not executable", |file| fs::write(file, "#!/bin/sh\nexit 1\n").unwrap()),
    ];
    for (case, put) in table {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = configured(&sandbox, &peer);
        let file = hook(&repo);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        put(&file);
        let seen = || (fs::read_link(&file).ok(), fs::read(&file).ok(), fs::symlink_metadata(&file).unwrap().permissions().mode());
        let before = seen();
        repo.gate(&["install"]).run().expect(0);
        repo.write("run.rs", EVIL).commit("evil");
        repo.push(&["origin", "main"]).expect_refused().says("run.rs:1");
        repo.write("run.rs", GOOD).commit("good");
        repo.push(&["origin", "main"]).expect(0);
        repo.gate(&["uninstall"]).run().expect(0);
        assert!(seen() == before, "{case}");
        assert!(!file.with_file_name("pre-push.review-gate-legacy").exists(), "{case}");
    }
}

#[test]
fn a_folder_and_switched_off_hooks_are_refused_by_name() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = configured(&sandbox, &peer);
    let _ = fs::remove_file(hook(&repo));
    fs::create_dir_all(hook(&repo)).unwrap();
    repo.gate(&["install"]).run().expect(2).says("is not a file").says("`git push` hangs on it");
    fs::remove_dir(hook(&repo)).unwrap();
    sandbox.git_config("[core]\n\thooksPath = /dev/null\n");
    repo.gate(&["install"]).run().expect(2).says("hooks are switched off: core.hooksPath names /dev/null");
    repo.git(&["config", "core.hooksPath", "own hooks"]);
    repo.gate(&["install"]).run().expect(0).says("do not commit the hook");
    repo.write("run.rs", EVIL).git(&["add", "run.rs"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "run"]);
    repo.push(&["origin", "main"]).expect_refused().says("run.rs:1");
}

/// P46: a client with a bare environment, as a graphical one has. The hook finds its program, and says what is missing where it is gone.
#[test]
fn p46_a_bare_environment_is_gated_and_a_missing_program_is_named() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = configured(&sandbox, &peer);
    let program = copy_of_the_gate(&sandbox, "bin");
    let mut install = sandbox.command(&program);
    install.args(["install", "--hook", "pre-commit", "--hook", "pre-push"]).current_dir(repo.path());
    child::run(install, b"").expect(0);
    let bare = |args: &[&str]| {
        let mut git = sandbox.command("git");
        git.env_clear().env("HOME", sandbox.path().join("home")).env("PATH", "/usr/bin:/bin");
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.com"]).args(args).current_dir(repo.path());
        child::run(git, b"")
    };
    // The configuration is below HOME there.
    fs::create_dir_all(sandbox.path().join("home/.config/review-gate")).unwrap();
    fs::copy(sandbox.config_file(), sandbox.path().join("home/.config/review-gate/config.yaml")).unwrap();
    let head = repo.oid("HEAD");
    repo.write("run.rs", EVIL).add();
    bare(&["commit", "-m", "evil"]).expect_refused().says("run.rs:1");
    repo.write("run.rs", GOOD).add();
    bare(&["commit", "-m", "good"]).expect(0);
    assert_ne!(repo.oid("HEAD"), head);
    fs::remove_file(&program).unwrap();
    repo.write("more.rs", GOOD).add();
    let missing = format!("there is no working review-gate at {}", program.display());
    bare(&["commit", "-m", "more"]).expect_refused().says(&missing).says("so the commit is refused");
    bare(&["push", "origin", "main"]).expect_refused().says(&missing).says("so the push is refused");
    assert_ne!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
}

/// P47: an installation that git would not run is no installation.
#[test]
fn p47_an_installation_that_git_does_not_look_at_is_an_error() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = configured(&sandbox, &peer);
    // What `git -c` hands down to an alias that calls the gate.
    let shadowed = repo.gate(&["install"]).env("GIT_CONFIG_PARAMETERS", "'core.hooksPath'='/nonexistent/hooks'").run();
    shadowed.expect(2).says("git takes hooks from /nonexistent/hooks").says("command");
    repo.gate(&["install"]).run().expect(0).says("review-gate doctor");
}

/// P24: one hook for all worktrees, wherever it is installed from; each sees its own index, and the ledger is in the common folder.
#[test]
fn p24_a_linked_worktree_shares_hook_and_ledger_and_has_its_own_index() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = configured(&sandbox, &peer);
    repo.git(&["worktree", "add", "-q", "../linked", "-b", "linked"]);
    let linked = Repo::at(&sandbox, sandbox.path().join("linked"));
    linked.gate(&["install", "--hook", "pre-commit", "--hook", "pre-push"]).run().expect(0);
    assert!(hook(&repo).exists() && linked.path().join(".git").is_file());
    repo.write("staged-elsewhere.rs", EVIL).add();
    linked.write("linked.rs", GOOD).add();
    linked.try_git(&["commit", "-m", "good"]).expect(0).never_says("staged-elsewhere.rs");
    linked.write("linked.rs", EVIL).add();
    linked.try_git(&["commit", "-m", "evil"]).expect_refused().says("linked.rs:1");
    linked.git(&["commit", "-q", "--no-verify", "-m", "evil"]);
    linked.push(&["origin", "linked"]).expect_refused().says("linked.rs:1");
    assert_eq!(linked.remote_oid("origin", "refs/heads/linked"), None);
    assert!(repo.path().join(".git/review-gate/ledger.jsonl").is_file());
    linked.gate(&["uninstall"]).run().expect(0);
    assert!(!hook(&repo).exists());
}

/// Many installations at once, over a hook that is there: at every moment git finds the old hook or the new one, and in the end it is as after one.
#[test]
fn installations_at_once_end_as_one_and_never_leave_a_gap() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = configured(&sandbox, &peer);
    let kept = hook(&repo).with_file_name("pre-push.review-gate-legacy");
    for _ in 0..5 {
        write_hook(&hook(&repo), FOREIGN);
        let running: Vec<_> = (0..6).map(|_| repo.gate(&["install"]).start()).collect();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::SeqCst) {
                    let text = fs::read_to_string(hook(&repo)).expect("there is a hook at every moment");
                    assert!(text == FOREIGN || text.contains("# review-gate hook v"), "half a hook: {text}");
                }
            });
            let ends: Vec<Run> = running.into_iter().map(|run| run.finish()).collect();
            done.store(true, std::sync::atomic::Ordering::SeqCst);
            ends.into_iter().for_each(|run| drop(run.expect(0)));
        });
        assert_eq!(fs::read_to_string(&kept).unwrap(), FOREIGN);
        assert!(fs::read_to_string(hook(&repo)).unwrap().contains("chained='pre-push.review-gate-legacy'"));
        repo.gate(&["uninstall"]).run().expect(0);
        assert_eq!(fs::read_to_string(hook(&repo)).unwrap(), FOREIGN);
        assert!(!kept.exists());
    }
}

#[test]
fn a_folder_of_ones_own_is_no_shared_one() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = configured(&sandbox, &peer);
    repo.gate(&["install", "--global"]).run().expect(2).says("no core.hooksPath names a folder that repositories share");
    assert!(!hook(&repo).exists());
}
