//! Beside other hook managers, the real ones, set up with the lines that the README shows: what a push and a commit through them is worth, and what `doctor`
//! says of it.

use crate::common::{Behaviour, EVIL, GATE, GOOD, Peer, Repo, Reviewer, Run, Sandbox, tools};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const FRAMEWORKS: [&str; 2] = ["pre-commit", "prek"];

fn world<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    sandbox.configure(&[Reviewer::qwen(peer)], "");
    sandbox.published()
}

/// A repository with the gate's manifest, at the address that the README names. Its hooks are not built but taken from where they are.
fn manifest(sandbox: &Sandbox) {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml")).unwrap();
    let here = text.replace("\n  language: rust\n", "\n  language: system\n").replace("\n  entry: review-gate ", &format!("\n  entry: {GATE} "));
    let hooks = sandbox.unborn("manifest");
    hooks.write(".pre-commit-hooks.yaml", here).commit("hooks");
    hooks.git(&["tag", "v0.1.0"]);
    sandbox.git_config(&format!("[url \"{}\"]\n\tinsteadOf = https://example.invalid/review-gate\n", hooks.path().display()));
}

/// A published repository that a framework gates as the README says.
fn framed<'s>(sandbox: &'s Sandbox, peer: &Peer, tool: &str) -> Repo<'s> {
    manifest(sandbox);
    let repo = world(sandbox, peer);
    repo.write(".pre-commit-config.yaml", &tools::readme("pre-commit, prek")[0]).commit("framework");
    repo.publish("main");
    framework(&repo, tool);
    repo
}

fn framework(repo: &Repo<'_>, tool: &str) {
    tools::run(repo, &[tool], tools::find(tool), &["install", "--hook-type", "pre-commit", "--hook-type", "pre-push"]).expect(0);
}

/// Pushes two branches at once, of which only the second is bad.
fn push_two(repo: &Repo<'_>, names: &[&str]) -> Run {
    repo.git(&["checkout", "-q", "-B", "one", "main"]);
    repo.write("one.rs", GOOD).commit("one");
    repo.git(&["checkout", "-q", "-B", "two", "main"]);
    repo.write("two.rs", EVIL).commit("two");
    tools::run(repo, names, "git", &["push", "origin", "one", "two"])
}

fn nothing_arrived(repo: &Repo<'_>) {
    for name in ["refs/heads/one", "refs/heads/two"] {
        assert_eq!(repo.remote_oid("origin", name), None, "{name}");
    }
}

/// Runs `doctor`, and sees that no file of the hooks, of the manager or of git's configuration is touched by what it starts.
fn doctor(repo: &Repo<'_>, names: &[&str]) -> Run {
    let common = PathBuf::from(repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]));
    let folders =
        [common.join("hooks"), common.join("info"), common.clone(), repo.path().into(), repo.path().join(".husky"), repo.path().join(".husky/_")];
    let seen = || -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
        let files = folders.iter().flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_file());
        let mut seen: Vec<_> = files.map(|path| (path.clone(), fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap())).collect();
        seen.sort();
        seen
    };
    let before = seen();
    let run = tools::run(repo, names, GATE, &["doctor"]);
    for (before, after) in before.iter().zip(seen().iter()) {
        assert_eq!(before, after, "{run}");
    }
    assert!(before == seen(), "doctor made or changed a file; {run}");
    run
}

/// A commit of a bad change is refused, one of a good change is made.
fn commits_are_gated(repo: &Repo<'_>, names: &[&str]) {
    let head = repo.oid("HEAD");
    repo.write("commit.rs", EVIL).add();
    tools::run(repo, names, "git", &["commit", "-m", "evil"]).expect_refused().says("commit.rs:1");
    assert_eq!(repo.oid("HEAD"), head);
    repo.write("commit.rs", GOOD).add();
    tools::run(repo, names, "git", &["commit", "-m", "good"]).expect(0);
    assert_ne!(repo.oid("HEAD"), head);
}

#[test]
fn a_framework_alone_shows_the_first_ref_and_the_gate_and_doctor_say_so() {
    for tool in FRAMEWORKS {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = framed(&sandbox, &peer, tool);
        commits_are_gated(&repo, &[tool]);
        push_two(&repo, &[tool]).expect(0).says("reviewed refs/heads/one only");
        assert!(repo.remote_oid("origin", "refs/heads/two").is_some(), "{tool}: the second ref goes past it");
        let records = repo.records().len();
        doctor(&repo, &[tool])
            .expect(2)
            .says("✗ a bad change between clean ones went through")
            .says(&format!("is {tool}'s alone: it shows the gate only the first ref of a push"))
            .says("remedy: run `review-gate install`");
        assert_eq!(repo.records().len(), records, "{tool}: doctor leaves the ledger alone");
    }
}

#[test]
fn beneath_a_framework_every_ref_is_gated_whichever_came_first() {
    for tool in FRAMEWORKS {
        for ours_first in [true, false] {
            let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
            manifest(&sandbox);
            let repo = world(&sandbox, &peer);
            repo.write(".pre-commit-config.yaml", &tools::readme("pre-commit, prek")[0]).commit("framework");
            repo.publish("main");
            if ours_first {
                repo.gate(&["install"]).run().expect(0);
                framework(&repo, tool);
            } else {
                framework(&repo, tool);
                repo.gate(&["install"]).run().expect(0);
            }
            push_two(&repo, &[tool]).expect_refused().says("two.rs:1");
            nothing_arrived(&repo);
            doctor(&repo, &[tool]).expect(0).says("with the gate's own beneath it").says("PROVEN");
        }
    }
}

/// A framework's configuration with a hook of someone else's.
const OTHER: &str = "repos:\n  - repo: local\n    hooks:\n      - {id: other, name: other, entry: \"true\", language: system, always_run: true, pass_filenames: false, stages: [pre-push]}\n";

/// A framework that does not call the gate, in the place of the gate's own hook, which its installer was told to drop.
#[test]
fn t01_doctor_names_the_framework_that_replaced_the_hook() {
    for tool in FRAMEWORKS {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = world(&sandbox, &peer);
        repo.write(".pre-commit-config.yaml", OTHER).commit("framework");
        repo.gate(&["install"]).run().expect(0);
        doctor(&repo, &[tool]).expect(0);
        tools::run(&repo, &[tool], tools::find(tool), &["install", "-f", "--hook-type", "pre-push"]).expect(0);
        doctor(&repo, &[tool])
            .expect(2)
            .says(&format!("was replaced: it is {tool}'s, and its configuration does not name the gate"))
            .says("✗ a bad change went through");
        repo.gate(&["install"]).run().expect(0);
        doctor(&repo, &[tool]).expect(0);
    }
}

const LEFTHOOK: &[&str] = &["lefthook"];

fn lefthook<'s>(sandbox: &'s Sandbox, peer: &Peer, config: &str) -> Repo<'s> {
    let repo = world(sandbox, peer);
    let readme = tools::readme("lefthook");
    repo.write("lefthook.yml", config).write(".lefthook/pre-push/gate.sh", &readme[1]).write(".lefthook/pre-commit/gate.sh", &readme[2]);
    repo.write("doomed.rs", GOOD).commit("lefthook");
    repo.publish("main");
    tools::run(&repo, LEFTHOOK, tools::find("lefthook"), &["install"]).expect(0);
    repo
}

#[test]
fn lefthook_as_the_readme_shows_it_gates_every_ref_and_every_commit() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = lefthook(&sandbox, &peer, &tools::readme("lefthook")[0]);
    push_two(&repo, LEFTHOOK).expect_refused().says("two.rs:1");
    nothing_arrived(&repo);
    commits_are_gated(&repo, LEFTHOOK);
    // lefthook would sync its hooks at the next run; not at one of doctor's.
    repo.write("lefthook.yml", tools::readme("lefthook")[0].clone() + "commit-msg:\n  commands:\n    new:\n      run: \"true\"\n");
    doctor(&repo, LEFTHOOK).expect(0).says("lefthook's").says("PROVEN");
}

/// What lefthook's commands would be passed over at: lefthook looks for files to push between `HEAD` and its upstream.
#[test]
fn lefthook_asks_the_gate_whatever_is_checked_out_and_whatever_is_pushed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = lefthook(&sandbox, &peer, &tools::readme("lefthook")[0]);
    let push = |args: &[&str]| tools::run(&repo, LEFTHOOK, "git", &[&["push", "origin"], args].concat());
    repo.git(&["branch", "--set-upstream-to=origin/main", "main"]);
    push(&["main"]).expect(0);
    repo.branch("bad", "main").write("bad.rs", EVIL).commit("bad");
    repo.branch("gone", "main").git(&["rm", "-q", "doomed.rs"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "gone"]);
    repo.git(&["checkout", "-q", "main"]);
    push(&["bad"]).expect_refused().says("bad.rs:1");
    assert_eq!(repo.remote_oid("origin", "refs/heads/bad"), None);
    let before = peer.questions().len();
    push(&["gone"]).expect(0);
    assert!(peer.questions().len() > before, "a push that only deletes files is reviewed");
}

/// As a command the gate would be passed over, so doctor names it whatever it saw.
#[test]
fn t01_doctor_names_a_gate_among_lefthooks_commands_and_keys_it_cannot_see_through() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let command = "pre-push:\n  commands:\n    review-gate:\n      run: review-gate hook pre-push --from-git -- {1} {2}\n      use_stdin: true\n";
    let repo = lefthook(&sandbox, &peer, command);
    repo.git(&["branch", "--set-upstream-to=origin/main", "main"]);
    doctor(&repo, LEFTHOOK)
        .expect(2)
        .says("lefthook.yml runs the gate as one of lefthook's commands")
        .says("a bad change went through")
        .says("and to .lefthook/pre-push/gate.sh:");
    for file in ["lefthook-local.yml", ".config/lefthook-local.json"] {
        repo.write("lefthook.yml", &tools::readme("lefthook")[0]);
        let text = if file.ends_with("json") { "{\"pre-push\": {\"skip\": [{\"ref\": \"x\"}]}}\n" } else { "pre-push:\n  skip:\n    - ref: x\n" };
        repo.write(file, text);
        doctor(&repo, LEFTHOOK).expect(2).says(&format!("{file} uses skip: by these lefthook leaves jobs out")).says("the proof cannot see them");
        fs::remove_file(repo.path().join(file)).unwrap();
    }
    doctor(&repo, LEFTHOOK).expect(0);
    repo.git(&["remote", "add", "odd", "../a b & c.git"]);
    doctor(&repo, LEFTHOOK).expect(2).says("remote.odd.url is ../a b & c.git: lefthook hands it to a shell");
}

fn without_stdin(from_git: bool) -> (String, String) {
    let config = tools::readme("lefthook")[0].replace("      use_stdin: true\n", "");
    let script = tools::readme("lefthook")[1].clone();
    (config, if from_git { script } else { script.replace("--from-git -- \"$@\"", "") })
}

#[test]
fn lefthook_without_use_stdin_is_refused_with_the_stanza() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let (config, script) = without_stdin(false);
    let repo = lefthook(&sandbox, &peer, &config);
    repo.write(".lefthook/pre-push/gate.sh", script).write("run.rs", GOOD).commit("run");
    tools::run(&repo, LEFTHOOK, "git", &["push", "origin", "main"]).expect_refused().says("use_stdin: true").says("no ref list on stdin");
    assert!(peer.questions().is_empty());
}

#[test]
fn t01_doctor_names_a_hook_chain_that_drops_stdin() {
    for (from_git, seen) in [(false, "drops stdin"), (true, "a bad change went through")] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let (config, script) = without_stdin(from_git);
        let repo = lefthook(&sandbox, &peer, &config);
        repo.write(".lefthook/pre-push/gate.sh", script);
        doctor(&repo, LEFTHOOK)
            .expect(2)
            .says("lefthook.yml calls the gate without `use_stdin: true`")
            .says("remedy: add `use_stdin: true` to that command or script in lefthook.yml")
            .says(seen);
    }
}

#[test]
fn t01_doctor_names_lefthook_that_moved_the_hook_away() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = world(&sandbox, &peer);
    repo.gate(&["install"]).run().expect(0);
    repo.write("lefthook.yml", "pre-push:\n  commands:\n    other:\n      run: \"true\"\n").commit("lefthook");
    tools::run(&repo, LEFTHOOK, tools::find("lefthook"), &["install"]).expect(0);
    doctor(&repo, LEFTHOOK).expect(2).says("lefthook moved the gate's hook to").says("pre-push.old").says("a bad change went through");
    repo.gate(&["install"]).run().expect(0);
    doctor(&repo, LEFTHOOK).expect(0).says("pre-push.review-gate-legacy runs first");
    push_two(&repo, LEFTHOOK).expect_refused().says("two.rs:1");
    nothing_arrived(&repo);
}

const HUSKY: &[&str] = &["husky"];

/// A published repository with husky as the README shows it.
fn husky<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    let repo = world(sandbox, peer);
    let stanzas = tools::readme("husky");
    repo.write(".husky/pre-push", &stanzas[0]).write(".husky/pre-commit", &stanzas[1]).write(".gitignore", "_\n").commit("husky");
    repo.publish("main");
    tools::run(&repo, HUSKY, tools::find("husky"), &[]).expect(0);
    repo
}

#[test]
fn husky_as_the_readme_shows_it_gates_every_ref_and_every_commit() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = husky(&sandbox, &peer);
    push_two(&repo, HUSKY).expect_refused().says("two.rs:1");
    nothing_arrived(&repo);
    commits_are_gated(&repo, HUSKY);
    doctor(&repo, HUSKY).expect(0).says("husky's").says("core.hooksPath = .husky/_, local").says("PROVEN");
    repo.gate(&["install"]).run().expect(2).says("husky holds the hooks here").says("review-gate hook pre-push --from-git");
}

#[test]
fn p24_doctor_reports_a_linked_worktree_where_husky_is_not_installed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = husky(&sandbox, &peer);
    repo.git(&["worktree", "add", "-q", "../linked", "-b", "linked"]);
    let linked = Repo::at(&sandbox, sandbox.path().join("linked"));
    linked.write("two.rs", EVIL).add();
    linked.git(&["commit", "-q", "-m", "no hook runs here"]);
    doctor(&repo, HUSKY)
        .expect(2)
        .says("linked has no hooks")
        .says("✓ a bad change between clean ones was refused")
        .says("remedy: run husky's own installer in that worktree");
    doctor(&linked, HUSKY).expect(2).says(".husky/_ is not there, so git runs no hook at all in this worktree").says("npx husky");
    // Its installer looks for `.git`, which is a file there; that is enough.
    tools::run(&linked, HUSKY, tools::find("husky"), &[]).expect(0);
    doctor(&linked, HUSKY).expect(0);
    doctor(&repo, HUSKY).expect(0);
    tools::run(&linked, HUSKY, "git", &["push", "origin", "linked"]).expect_refused().says("two.rs:1");
}

#[test]
fn t01_doctor_names_husky_that_shadows_the_hook() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = world(&sandbox, &peer);
    repo.gate(&["install"]).run().expect(0);
    tools::run(&repo, HUSKY, tools::find("husky"), &[]).expect(0);
    doctor(&repo, HUSKY).expect(2).says(".husky/pre-push does not call the gate").says("remedy: add the gate's lines to .husky/pre-push");
}

#[test]
fn a_script_of_ones_own_as_the_readme_shows_it_gates_every_ref() {
    use std::os::unix::fs::PermissionsExt;
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = world(&sandbox, &peer);
    let hooks = sandbox.path().join("shared hooks");
    fs::create_dir(&hooks).unwrap();
    fs::write(hooks.join("pre-push"), &tools::readme("A folder of your own (`core.hooksPath`)")[0]).unwrap();
    fs::set_permissions(hooks.join("pre-push"), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.git_config(&format!("[core]\n\thooksPath = {}\n", hooks.display()));
    push_two(&repo, &[]).expect_refused().says("two.rs:1");
    nothing_arrived(&repo);
    doctor(&repo, &[]).expect(0).says("global, file:").says("PROVEN");
}

/// No git that runs hooks of its configuration is to be had here: this one says that it is 2.54, notes what is asked of its configuration, and runs such
/// hooks at a push as the documentation says: by the shell, with git's arguments and lines.
fn newer_git(sandbox: &Sandbox) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap()).map(|dir| dir.join("git")).find(|file| file.is_file()).unwrap();
    let folder = sandbox.path().join("newer");
    fs::create_dir(&folder).unwrap();
    let script = format!(
        r#"#!/bin/sh
real='{real}' here='{here}'
hooks() {{ "$real" config --get-regexp '^hook\..*\.event$' | while read -r key event; do [ "$event" = "$1" ] && key=${{key#hook.}} && echo "${{key%.event}}"; done; }}
case $1 in
version | --version) echo "git version 2.54.0" ;;
config) printf '%s\n' "$*" >>"$here/asked"; exec "$real" "$@" ;;
hook) hooks "$3" ;;
push)
    mkdir -p "$here/run"
    {{
        echo '#!/bin/sh'
        echo 'lines=$(cat)'
        for name in $(hooks pre-push); do
            [ "$("$real" config --get "hook.$name.enabled")" = false ] && continue
            printf '%s\n' "printf '%s\\n' \"\$lines\" | $("$real" config --get "hook.$name.command") \"\$@\" || exit 1"
        done
    }} >"$here/run/pre-push"
    chmod +x "$here/run/pre-push"
    exec "$real" -c "core.hooksPath=$here/run" "$@"
    ;;
*) exec "$real" "$@" ;;
esac
"#,
        real = real.display(),
        here = folder.display()
    );
    fs::write(folder.join("git"), script).unwrap();
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn with_newer_git(repo: &Repo<'_>, folder: &Path, program: &str, args: &[&str]) -> Run {
    let mut command = repo.sandbox().command(program);
    command.args(args).env("PATH", format!("{}:{}", folder.display(), tools::path(&[]))).current_dir(repo.path());
    crate::common::child::run(command, b"")
}

#[test]
fn hooks_of_gits_configuration_stand_beside_husky_and_go_without_a_trace() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = world(&sandbox, &peer);
    let newer = newer_git(&sandbox);
    let git = newer.join("git").display().to_string();
    tools::run(&repo, HUSKY, tools::find("husky"), &[]).expect(0);
    let before = fs::read(repo.path().join(".git/config")).unwrap();
    with_newer_git(&repo, &newer, GATE, &["install"]).expect(0).says("installed as hook.review-gate-pre-push in git's configuration (--local)");
    with_newer_git(&repo, &newer, GATE, &["install"]).expect(0).says("already installed");
    let asked = fs::read_to_string(newer.join("asked")).unwrap();
    let order: Vec<usize> = ["pre-push.command '", "pre-push.event pre-push"].iter().map(|part| asked.find(part).expect(part)).collect();
    assert!(order[0] < order[1], "the event comes last: {asked}");
    repo.git(&["checkout", "-q", "-B", "one", "main"]);
    repo.write("one.rs", GOOD).commit("one");
    repo.branch("two", "main").write("two.rs", EVIL).commit("two");
    with_newer_git(&repo, &newer, &git, &["push", "origin", "one", "two"]).expect_refused().says("two.rs:1");
    nothing_arrived(&repo);
    with_newer_git(&repo, &newer, GATE, &["doctor"]).expect(0).says("hook.review-gate-pre-push of git's configuration").says("PROVEN");
    repo.git(&["config", "hook.review-gate-pre-push.enabled", "false"]);
    with_newer_git(&repo, &newer, GATE, &["doctor"]).expect(2).says("is switched off (hook.review-gate-pre-push.enabled is false)");
    with_newer_git(&repo, &newer, GATE, &["install"]).expect(2).says("is it switched off").never_says("already installed");
    repo.git(&["config", "hook.pre-push.enabled", "false"]);
    with_newer_git(&repo, &newer, GATE, &["doctor"]).expect(2).says("HOLE  hook.pre-push.enabled is false");
    repo.gate(&["doctor"]).run().says("note  hook.pre-push.enabled is false");
    repo.git(&["config", "--remove-section", "hook.pre-push"]);
    with_newer_git(&repo, &newer, GATE, &["uninstall"]).expect(0).says("removed hook.review-gate-pre-push");
    assert_eq!(fs::read(repo.path().join(".git/config")).unwrap(), before);
    assert!(!repo.state().join("hooks").exists());
}

#[test]
fn an_older_git_is_not_given_hooks_that_it_would_pass_over() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = world(&sandbox, &peer);
    let before = fs::read(repo.path().join(".git/config")).unwrap();
    repo.gate(&["install", "--mode", "config"]).run().expect(2).says("does not run hooks of its configuration");
    assert_eq!(fs::read(repo.path().join(".git/config")).unwrap(), before);
    let newer = newer_git(&sandbox);
    with_newer_git(&repo, &newer, GATE, &["install", "--mode", "config"]).expect(0);
    // The same repository, seen by the real git.
    repo.gate(&["doctor"]).run().expect(2).says("stands in git's configuration as hook.review-gate-pre-push, which git").says("install --mode file");
}

#[test]
fn the_configuration_that_the_readme_shows_gates_every_ref() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = world(&sandbox, &peer);
    let newer = newer_git(&sandbox);
    let lines = &tools::readme("hk, and hooks of git's configuration")[0];
    with_newer_git(&repo, &newer, "sh", &["-eu", "-c", lines]).expect(0);
    with_newer_git(&repo, &newer, GATE, &["doctor"]).expect(0).says("PROVEN");
}
