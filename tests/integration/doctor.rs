//! `doctor`: it proves by pushing, says which hole a push gets through, and leaves everything of the user's alone.

use crate::common::{Behaviour, EVIL, GATE, GOOD, Peer, Repo, Reviewer, Run, Sandbox, child};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn gated<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.gated(&[Reviewer::qwen(peer)], "")
}

fn doctor(repo: &Repo<'_>) -> Run {
    repo.gate(&["doctor"]).run()
}

fn hook(repo: &Repo<'_>) -> PathBuf {
    repo.path().join(".git/hooks/pre-push")
}

fn put(file: &Path, mode: u32, text: &str) {
    let _ = fs::remove_file(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// A hook of one's own that names the gate by its path.
fn own(lines: &str) -> String {
    format!("#!/bin/sh\n{}\n", lines.replace("GATE", &format!("'{GATE}'")))
}

#[test]
fn t01_doctor_proves_the_hook_and_leaves_everything_alone() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    repo.write("run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect(0);
    let seen = || (repo.snapshot(), fs::read(repo.ledger()).unwrap(), repo.remote_refs("origin"), fs::read(repo.path().join(".git/config")).unwrap());
    let (before, questions) = (seen(), peer.requests().len());
    doctor(&repo)
        .expect(0)
        .says("the gate's own, which runs")
        .says("whatever it calls, at pushes between two throw-away repositories")
        .says("qwen (qwen)")
        .says("✓ a clean change went through")
        .says("✓ a bad change between clean ones was refused with the reviewer's finding, and nothing arrived")
        .says("PROVEN")
        .never_says("HOLE");
    assert!(seen() == before, "doctor changed something");
    assert_eq!(peer.requests().len(), questions, "no configured reviewer was asked");
    assert_eq!(fs::read_dir(sandbox.path().join("tmp")).unwrap().count(), 0, "the throw-away folder is gone");
}

#[test]
fn t01_doctor_names_that_nothing_is_installed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    repo.gate(&["uninstall"]).run().expect(0);
    doctor(&repo)
        .expect(2)
        .says("no pre-push hook is installed in")
        .says("remedy: run `review-gate install`")
        .says("not proven")
        .never_says("running ");
}

#[test]
fn t01_doctor_names_hooks_path_elsewhere_with_scope_and_origin() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    let elsewhere = sandbox.path().join("elsewhere");
    let value = elsewhere.display().to_string();
    repo.git(&["config", "core.hooksPath", &value]);
    let dead = format!("the gate's hook at {} is never run", hook(&repo).canonicalize().unwrap().display());
    doctor(&repo)
        .expect(2)
        .says(&format!("core.hooksPath = {value}, local, file:.git/config"))
        .says(&dead)
        .says("unset core.hooksPath (local scope)");
    repo.git(&["config", "--unset", "core.hooksPath"]);
    sandbox.git_config("[core]\n\thooksPath = /dev/null\n");
    doctor(&repo).expect(2).says("core.hooksPath = /dev/null, global, file:").says(&dead);
    fs::remove_file(sandbox.path().join("home/.gitconfig")).unwrap();
    let by_variable = repo.gate(&["doctor"]).env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "core.hooksPath").env("GIT_CONFIG_VALUE_0", &value);
    by_variable.run().expect(2).says(", command, command line:").says("GIT_CONFIG_COUNT");
    // Elsewhere is no hole where the gate is there.
    sandbox.git_config(&format!("[core]\n\thooksPath = {value}\n"));
    repo.gate(&["install"]).run().expect(2).says("lies outside this repository");
    repo.gate(&["install", "--global"]).run().expect(0);
    doctor(&repo).expect(0).says("global, file:").says("PROVEN");
}

/// P47: a hook that is installed but inert, because the configuration of one worktree points elsewhere.
#[test]
fn p47_doctor_names_the_worktree_scope_that_shadows_the_hook() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    repo.git(&["config", "extensions.worktreeConfig", "true"]);
    repo.git(&["config", "--worktree", "core.hooksPath", "/nonexistent/hooks"]);
    doctor(&repo).expect(2).says("core.hooksPath = /nonexistent/hooks, worktree, file:").says("config.worktree").says("is never run");
    repo.gate(&["install"]).run().expect(2).says("lies outside this repository");
    repo.git(&["config", "--worktree", "--unset", "core.hooksPath"]);
    doctor(&repo).expect(0);
}

#[test]
fn t01_doctor_names_a_hook_that_is_not_executable() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    fs::set_permissions(hook(&repo), fs::Permissions::from_mode(0o644)).unwrap();
    doctor(&repo).expect(2).says("is not executable, so git passes over it (the gate's own").says("remedy: run `review-gate install`");
    repo.gate(&["install"]).run().expect(0);
    doctor(&repo).expect(0);
}

/// git push hangs on these for ever, so they are not run.
#[test]
fn t01_doctor_names_a_missing_interpreter() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    for (first, expected) in [
        ("#!/nonexistent/sh", "the interpreter of"),
        ("#!/usr/bin/env no-such-interpreter-here", "no-such-interpreter-here (looked for on the PATH)"),
        ("#!/usr/bin/env -S FOO=bar no-such-interpreter-here -x", "no-such-interpreter-here"),
        ("#!/bin/sh\r", "ends with a carriage return (CRLF)"),
    ] {
        put(&hook(&repo), 0o755, &format!("{first}\nexit 0\n"));
        doctor(&repo).expect(2).says(expected).says("`git push` hangs on it").never_says("running ");
    }
    fs::remove_file(hook(&repo)).unwrap();
    fs::create_dir(hook(&repo)).unwrap();
    doctor(&repo).expect(2).says("is no file: `git push` fails on it or hangs").never_says("running ");
}

#[test]
fn t01_doctor_names_what_replaced_the_hook() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    let path = hook(&repo);
    put(&path, 0o755, "#!/bin/sh\nexit 0\n");
    doctor(&repo).expect(2).says("was replaced, or never was the gate's: it is a script (#!/bin/sh)").says("✗ a bad change went through");
    put(&path, 0o755, "#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || exit 0\ngit lfs pre-push \"$@\"\n");
    doctor(&repo).expect(2).says("was replaced: it is git-lfs's and does not call the gate");
    fs::remove_file(&path).unwrap();
    symlink("/bin/true", &path).unwrap();
    doctor(&repo).expect(2).says("it is a link to /bin/true");
    fs::remove_file(&path).unwrap();
    symlink("/nonexistent/hook", &path).unwrap();
    doctor(&repo).expect(2).says("is a link to /nonexistent/hook, which is not there: git passes over it without a word");
    repo.gate(&["install"]).run().expect(0);
    doctor(&repo).expect(0);
}

/// Refusals that are not the gate's, and a gate whose refusal is dropped.
#[test]
fn t01_doctor_takes_no_other_refusal_for_the_gates() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    let table = [
        ("exit 1", "✗ a clean change was refused"),
        ("if grep -q second; then exit 1; fi", "✗ a bad change was refused, but no reviewer was asked"),
        ("GATE hook pre-push --from-git -- \"$@\" || true", "names the gate, but does not hand it git's lines or does not return its status"),
        ("cat >/dev/null; GATE hook pre-push --from-git -- \"$@\"", "✗ a bad change went through"),
        ("cat >/dev/null; GATE hook pre-push -- \"$@\"", "drops stdin"),
        ("tail -n 1 | GATE hook pre-push --from-git -- \"$@\"", "a bad change between clean ones went through"),
        ("cat >/dev/null; GATE run --push", "✗ a bad change went through"),
        ("GATE hook pre-push --from-git -- \"$@\"; [ $? -ne 1 ]", "✗ while no reviewer answered, a change went through"),
        ("grep -v refs/tags/ | GATE hook pre-push --from-git -- \"$@\"", "✗ a tag on a bad change went through"),
        ("grep ' 00000*$' | GATE hook pre-push --from-git -- \"$@\"", "✗ a bad update of a branch went through"),
        ("head -n 1 | GATE hook pre-push --from-git -- \"$@\"", "not every ref of a push is gated"),
        ("GATE hook pre-push --from-git -- \"$@\" 2>/dev/null; [ $? = 0 ] || exit 1", "✗ a bad change was refused, but no reviewer was asked"),
    ];
    for (lines, expected) in table {
        put(&hook(&repo), 0o755, &own(lines));
        doctor(&repo).expect(2).says(expected).says("not proven").never_says("PROVEN");
    }
    put(&hook(&repo), 0o755, &own("exec GATE hook pre-push --from-git -- \"$@\""));
    // What only a run can tell is not said without one.
    repo.gate(&["doctor", "--no-run"]).run().expect(2).never_says("HOLE");
    doctor(&repo).expect(0).says("a script (#!/bin/sh)").says("PROVEN");
    assert!(peer.requests().is_empty());
}

#[test]
fn t01_doctor_names_a_program_that_is_gone_or_another() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    let program = sandbox.path().join("other/review-gate");
    fs::create_dir(program.parent().unwrap()).unwrap();
    let mut copy = sandbox.command("cp");
    copy.arg(GATE).arg(&program);
    child::run(copy, b"").expect(0);
    let mut install = sandbox.command(&program);
    install.arg("install").current_dir(repo.path());
    child::run(install, b"").expect(0);
    doctor(&repo).expect(0).says("other/review-gate, not the program that says this").says("PROVEN");
    fs::remove_file(&program).unwrap();
    doctor(&repo).expect(2).says("which is not there or cannot be run: every push is refused").says("install review-gate again");
}

/// The kept hook belongs to another tree: it cannot be content in a throw-away repository, or takes its time. By our script its refusal stands.
#[test]
fn t01_doctor_proves_the_gate_behind_a_hook_that_refuses_and_not_one_that_dawdles() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    let kept = hook(&repo).with_file_name("pre-push.review-gate-legacy");
    let dawdles = |lines: &str| {
        put(&kept, 0o755, &format!("#!/bin/sh\n{lines}\n"));
        repo.gate(&["install"]).run().expect(0);
        repo.gate(&["doctor", "--deadline", "3"]).run()
    };
    dawdles("exec sleep 600").expect(2).says("✗ a push did not end in time").never_says("PROVEN");
    dawdles("echo needs the real tree >&2; exit 1")
        .expect(0)
        .says("pre-push.review-gate-legacy runs first")
        .says("| needs the real tree")
        .says("✓ without it a bad change");
    // The same, behind a script that only says that it is ours.
    let script = fs::read_to_string(hook(&repo)).unwrap().replace("    exit \"$status\"\n", "    exit 0\n");
    put(&hook(&repo), 0o755, &script);
    put(&kept, 0o755, "#!/bin/sh\nexit 1\n");
    doctor(&repo).expect(2).says("is not what this version of the gate writes").says("✗ a bad change went through");
    // And behind one that asks the gate only where it is not at home.
    let at_home = format!("case $0 in '{}'/*) exit 0 ;; esac\nexec \"$gate\"", hook(&repo).parent().unwrap().canonicalize().unwrap().display());
    repo.gate(&["install"]).run().expect(0);
    let script = fs::read_to_string(hook(&repo))
        .unwrap()
        .replace("exec \"$gate\" hook pre-push --from-git -- \"$@\" <&4", &format!("{at_home} hook pre-push --from-git -- \"$@\" <&4"));
    assert!(script.contains("esac\nexec"));
    put(&hook(&repo), 0o755, &script);
    doctor(&repo).expect(2).says("✗ a clean change was refused").never_says("without it");
}

#[test]
fn t01_doctor_names_aliases_variables_and_switches() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    repo.git(&["config", "alias.up", "push --no-verify"]);
    repo.git(&["config", "alias.push", "push --quiet"]);
    repo.git(&["config", "alias.st", "status"]);
    let git_dir = repo.path().join(".git");
    let run = repo.gate(&["doctor"]).env("GIT_DIR", &git_dir).env("HUSKY", "0").env("SKIP", "x").run();
    run.expect(0)
        .says("alias.up pushes past every hook: push --no-verify")
        .says("alias.push is set (push --quiet); git does not use it")
        .says("GIT_DIR is set in this environment")
        .says("HUSKY, SKIP are set in this environment")
        .never_says("alias.st");
}

#[test]
fn t01_doctor_without_a_run_or_a_reviewer_proves_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    repo.gate(&["doctor", "--no-run"]).run().expect(2).says("nothing was run (--no-run)").says("not proven").never_says("running ");
    repo.gate(&["doctor"]).env("REVIEW_GATE_NESTED", "1").run().expect(2).says("nested run");
    repo.gate(&["doctor"]).env("REVIEW_TIER", "full").env("CLAUDECODE", "1").run().expect(0).says("PROVEN");
    sandbox.configure_raw("reviewers: []\n");
    doctor(&repo).expect(2).says("no reviewer is configured, so every push is refused").says("✓ a bad change between clean ones was refused");
    sandbox.configure_raw("reviewers: [\n");
    doctor(&repo).expect(2).says("the configuration cannot be used, so every push is refused");
}

#[test]
fn p24_doctor_proves_it_in_a_linked_worktree_a_submodule_and_a_bare_repository() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    repo.git(&["worktree", "add", "-q", "../linked", "-b", "linked"]);
    let linked = Repo::at(&sandbox, sandbox.path().join("linked"));
    doctor(&linked).expect(0).says("work/.git/hooks/pre-push: the gate's own");

    let library = sandbox.repo("library");
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &library.path().to_string_lossy(), "sm"]);
    let inside = Repo::at(&sandbox, repo.path().join("sm"));
    doctor(&inside).expect(2).says("no pre-push hook is installed in").says(".git/modules/sm/hooks");
    inside.gate(&["install"]).run().expect(0);
    doctor(&inside).expect(0).says(".git/modules/sm/hooks/pre-push: the gate's own");
    inside.write("inside.rs", EVIL).commit("inside");
    inside.push(&["origin", "HEAD:refs/heads/inside"]).expect_refused().says("inside.rs:1");
    assert_eq!(inside.remote_oid("origin", "refs/heads/inside"), None);

    let bare = Repo::at(&sandbox, sandbox.bare("bare.git"));
    doctor(&bare).expect(2).says("a bare repository: hooks are in");
    bare.gate(&["install"]).run().expect(0);
    doctor(&bare).expect(0).says("a bare repository").says("PROVEN");
    bare.git(&["fetch", "-q", &repo.path().to_string_lossy(), "main:main"]);
    bare.remote("origin", &sandbox.bare("target.git"));
    repo.write("run.rs", EVIL).commit("run");
    bare.git(&["fetch", "-q", &repo.path().to_string_lossy(), "main:main"]);
    bare.push(&["origin", "main"]).expect_refused().says("run.rs:1");
    assert_eq!(bare.remote_refs("origin"), "");
}

/// What a manager needs of the user's own configuration folder is there when it runs, the gate's own configuration is not.
#[test]
fn t01_doctor_shows_a_hook_the_users_configuration_folder_but_not_its_reviewers() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    fs::create_dir(sandbox.path().join("config/manager")).unwrap();
    fs::write(sandbox.path().join("config/manager/settings"), "mine\n").unwrap();
    let lines = "[ \"$(cat \"$XDG_CONFIG_HOME/manager/settings\")\" = mine ] || exit 5\n[ -z \"$GIT_INDEX_FILE\" ] || exit 6\nexec GATE hook pre-push --from-git -- \"$@\"";
    put(&hook(&repo), 0o755, &own(lines));
    repo.gate(&["doctor"]).env("GIT_INDEX_FILE", repo.path().join(".git/index")).run().expect(0).says("PROVEN");
    assert!(peer.requests().is_empty());
}

/// git looks for hooks below `/` then, or where none are meant to be; a script in the worktree is never run.
#[test]
fn t01_an_empty_hooks_path_is_refused_by_install_and_doctor() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    for value in ["", "."] {
        repo.git(&["config", "core.hooksPath", value]);
        for verb in ["install", "doctor"] {
            repo.gate(&[verb])
                .run()
                .expect(2)
                .says("core.hooksPath is set to")
                .says("git config --local --unset core.hooksPath")
                .never_says("PROVEN");
        }
        assert!(!repo.path().join("pre-push").exists());
    }
    repo.git(&["config", "--unset", "core.hooksPath"]);
    sandbox.git_config("[core]\n\thooksPath =\n");
    doctor(&repo).expect(2).says("git config --global --unset core.hooksPath");
    fs::remove_file(sandbox.path().join("home/.gitconfig")).unwrap();
    doctor(&repo).expect(0);
}

/// The kept hook is run first by ours, which refuses every push where it cannot be.
#[test]
fn t01_doctor_names_a_kept_hook_that_cannot_run() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    let kept = hook(&repo).with_file_name("pre-push.review-gate-legacy");
    put(&kept, 0o755, "#!/bin/sh\nexit 0\n");
    repo.gate(&["install"]).run().expect(0);
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o644)).unwrap();
    doctor(&repo).expect(2).says("pre-push.review-gate-legacy, which the gate's hook runs first, cannot be run");
    put(&kept, 0o755, "#!/bin/sh\r\nexit 0\r\n");
    doctor(&repo).expect(2).says("pre-push.review-gate-legacy, which the gate's hook runs first, cannot be run");
}

#[test]
fn t01_doctor_names_what_the_policy_lets_through() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = gated(&sandbox, &peer);
    let soon = advisory_day();
    let table = [
        ("on_unavailable: warn\nexclude: ['docs/**']\n".to_owned(), 0, "the policy says on_unavailable: warn"),
        (format!("mode: {{advisory_until: {soon}}}\n"), 2, "the policy's mode is advisory"),
        ("roundz: 1\n".to_owned(), 2, "the policy cannot be read, so every push is refused"),
    ];
    for (text, status, expected) in table {
        repo.write(".review-gate.yaml", text).commit("policy");
        repo.publish("main");
        repo.git(&["fetch", "-q", "origin"]);
        doctor(&repo).expect(status).says(expected);
    }
}

/// A day on which an advisory mode of today may end.
fn advisory_day() -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 7)).to_string()[..10].to_owned()
}

#[test]
fn a_signal_ends_doctor_and_what_it_has_started() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
        let repo = gated(&sandbox, &peer);
        let (hook, mark) = (repo.path().join(".git/hooks/pre-push"), sandbox.path().join("runs"));
        fs::write(&hook, format!("#!/bin/sh\necho $$ >'{}'\nexec sleep 1000\n", mark.display())).unwrap();
        let doctor = repo.gate(&["doctor"]).start();
        let started = || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            fs::read_to_string(&mark).ok()?.trim().parse::<i32>().ok()
        };
        let pid = (0..6000).find_map(|_| started()).expect("the hook runs within half a minute");
        doctor.signal(signal);
        doctor.finish().expect(status).says("interrupted, so nothing is proven");
        // A dead process may wait for whoever adopted it.
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_else(|_| "gone) Z".to_owned());
        assert!(state.rsplit(") ").next().is_some_and(|state| state.starts_with('Z')), "the hook still runs: {state}");
        assert_eq!(fs::read_dir(sandbox.path().join("tmp")).unwrap().count(), 0, "something is left behind");
        assert!(peer.requests().is_empty());
    }
}
