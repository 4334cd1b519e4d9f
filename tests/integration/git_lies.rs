//! Git's settings, attributes and stored data can make git show another change than the one that leaves. Fourteen ways, each in three modes: a reviewer gets
//! the true bytes, or the gate ends with status 15. And nothing that the repository names is ever run (threat T4).

use crate::common::{Behaviour, EVIL, Gate, Peer, Repo, Reviewer, Sandbox};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// As long as [`EVIL`], which a comparison by size and time takes for it.
const FINE: &str = "let good = run(input); // FINE\n";
/// The file that the change is in.
const FILE: &str = "src/run.py";

/// How the gate is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    PrePush,
    PreCommit,
    Run,
}

impl Mode {
    const ALL: [Mode; 3] = [Mode::PrePush, Mode::PreCommit, Mode::Run];

    fn is_of_commits(self) -> bool {
        self != Mode::PreCommit
    }

    /// Prepares the call. Made before the trick, because it asks git for ids.
    fn call(self, repo: &Repo<'_>) -> Gate {
        match self {
            Mode::PrePush => Gate::pre_push(repo, &repo.push_line("main")),
            Mode::PreCommit => repo.gate(&["hook", "pre-commit"]),
            Mode::Run => repo.gate(&["run", "--base", "origin/main"]),
        }
    }
}

/// A published start, on which the evil change comes.
fn started<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    let repo = sandbox.gated(&[Reviewer::qwen(peer)], "");
    repo.write(FILE, "let base = 1;\n").write("docs/a.md", "# a\n").commit("start");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    repo
}

/// Brings the change in with what `before` puts beside it, plays the trick, and looks at what the reviewer got.
#[track_caller]
fn never_hides(trick: &str, before: impl Fn(&Repo<'_>), after: impl Fn(&Repo<'_>, Mode), call: impl Fn(Gate, &Repo<'_>) -> Gate) {
    for mode in Mode::ALL {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = started(&sandbox, &peer);
        repo.write(FILE, EVIL);
        before(&repo);
        repo.add();
        if mode.is_of_commits() {
            repo.git(&["commit", "-q", "--no-verify", "-m", "change"]);
        }
        let gate = mode.call(&repo);
        after(&repo, mode);
        told(trick, mode, call(gate, &repo), &peer);
    }
}

#[track_caller]
fn told(trick: &str, mode: Mode, gate: Gate, peer: &Peer) {
    let run = gate.run();
    let seen = peer.reviews().iter().any(|request| request.added().iter().any(|added| added.text == EVIL.trim_end()));
    assert!(run.status == 15 || run.status == 1 && seen, "{trick}, {mode:?}: the line {}; {run}", if seen { "was sent" } else { "was hidden" });
}

fn nothing(_: &Repo<'_>) {}

fn nothing_more(_: &Repo<'_>, _: Mode) {}

fn as_it_is(gate: Gate, _: &Repo<'_>) -> Gate {
    gate
}

fn set(repo: &Repo<'_>, settings: &[(&str, &str)]) {
    settings.iter().for_each(|(key, value)| _ = repo.git(&["config", key, value]));
}

fn info(repo: &Repo<'_>, name: &str, text: &str) {
    let file = repo.path().join(".git/info").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Where git keeps a loose object.
fn object(repo: &Repo<'_>, id: &str) -> PathBuf {
    repo.path().join(".git/objects").join(&id[..2]).join(&id[2..])
}

#[test]
fn t04_01_attributes_in_the_same_push() {
    never_hides("`*.py -diff` in the same push", |repo| _ = repo.write(".gitattributes", "*.py -diff\n"), nothing_more, as_it_is);
}

#[test]
fn t04_02_attributes_of_the_machine() {
    let play = |repo: &Repo<'_>, _: Mode| {
        info(repo, "attributes", "*.py -diff\n");
        repo.write("../attributes", "* binary\n");
        set(repo, &[("core.attributesFile", &repo.path().join("../attributes").to_string_lossy())]);
    };
    never_hides("info/attributes and core.attributesFile", nothing, play, as_it_is);
}

#[test]
fn t04_03_big_file_threshold() {
    never_hides("core.bigFileThreshold=1", nothing, |repo, _| set(repo, &[("core.bigFileThreshold", "1")]), as_it_is);
}

#[test]
fn t04_04_replace_refs() {
    let play = |repo: &Repo<'_>, mode: Mode| {
        let evil = repo.oid(&format!(":{FILE}"));
        repo.git(&["replace", &evil, &repo.oid(&format!("origin/main:{FILE}"))]);
        if mode.is_of_commits() {
            repo.git(&["replace", "-f", &repo.oid("HEAD"), &repo.oid("origin/main")]);
        }
    };
    never_hides("git replace", nothing, play, as_it_is);
}

#[test]
fn t04_05_textconv() {
    let play = |repo: &Repo<'_>, _: Mode| {
        info(repo, "attributes", "*.py diff=x\n");
        set(repo, &[("diff.x.textconv", "echo FINE #"), ("diff.x.cachetextconv", "true")]);
    };
    never_hides("diff.x.textconv", nothing, play, as_it_is);
}

#[test]
fn t04_06_external_diff() {
    let play = |repo: &Repo<'_>, _: Mode| {
        info(repo, "attributes", "*.py diff=x\n");
        set(repo, &[("diff.external", "true"), ("diff.x.command", "true")]);
    };
    never_hides("diff.external", nothing, play, |gate, _| gate.env("GIT_EXTERNAL_DIFF", "true"));
}

#[test]
fn t04_07_fsmonitor() {
    never_hides("core.fsmonitor", nothing, |repo, _| set(repo, &[("core.fsmonitor", "true")]), as_it_is);
    never_hides("core.fsmonitor=COMMAND", nothing, |repo, _| set(repo, &[("core.fsmonitor", "/bin/echo")]), as_it_is);
}

#[test]
fn t04_08_the_worktree_stands_in_for_the_blob() {
    // Long ago, so that the index does not take the file for one that was written while it was.
    let dated = |repo: &Repo<'_>, content: &str| {
        let path = repo.path().join(FILE);
        fs::write(&path, content).unwrap();
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    };
    assert_eq!(EVIL.len(), FINE.len());
    let play = |repo: &Repo<'_>, _: Mode| {
        set(repo, &[("core.checkStat", "minimal"), ("core.trustctime", "false")]);
        dated(repo, FINE);
    };
    never_hides("core.checkStat=minimal", |repo| dated(repo, EVIL), play, as_it_is);
    // The other way about: the index knows a harmless file of this size and time, and the review is of what is on disk.
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = started(&sandbox, &peer);
    dated(&repo, FINE);
    repo.commit("harmless");
    set(&repo, &[("core.checkStat", "minimal"), ("core.trustctime", "false")]);
    // At once, so that all of it falls into one second where it can.
    dated(&repo, EVIL);
    told("core.checkStat=minimal", Mode::Run, repo.gate(&["run", "--worktree"]), &peer);
}

#[test]
fn t04_09_a_loose_object_with_the_content_of_another() {
    let play = |repo: &Repo<'_>, _: Mode| {
        let (evil, good) = (object(repo, &repo.oid(&format!(":{FILE}"))), object(repo, &repo.oid(&format!("origin/main:{FILE}"))));
        fs::remove_file(&evil).unwrap();
        fs::copy(good, evil).unwrap();
    };
    never_hides("a corrupted loose blob", nothing, play, as_it_is);
    // The same with the tree of the tip.
    let play = |repo: &Repo<'_>, mode: Mode| {
        if mode.is_of_commits() {
            let (evil, good) = (object(repo, &repo.oid("HEAD^{tree}")), object(repo, &repo.oid("origin/main^{tree}")));
            fs::remove_file(&evil).unwrap();
            fs::copy(good, evil).unwrap();
        }
    };
    never_hides("a corrupted loose tree", nothing, play, as_it_is);
}

#[test]
fn t04_10_relative_to_another_folder() {
    let play = |repo: &Repo<'_>, _: Mode| set(repo, &[("diff.relative", "true")]);
    never_hides("diff.relative from a folder", nothing, play, |gate, repo| gate.in_dir(&repo.path().join("docs")).env("GIT_PREFIX", "docs/"));
}

#[test]
fn t04_11_the_grammar_of_the_diff() {
    let play = |repo: &Repo<'_>, _: Mode| {
        let settings =
            [("color.ui", "always"), ("diff.noprefix", "true"), ("diff.wordRegex", "."), ("diff.context", "0"), ("diff.orderFile", "/nowhere")];
        set(repo, &settings);
    };
    never_hides("color.ui, diff.noprefix", nothing, play, |gate, _| gate.env("GIT_DIFF_OPTS", "-u0"));
}

#[test]
fn t04_12_a_forged_commit_graph() {
    let play = |repo: &Repo<'_>, mode: Mode| {
        repo.git(&["commit-graph", "write", "--reachable"]);
        // A graph in which the tip has the tree of the base, or HEAD the tree that is about to be committed.
        let (old, new) = match mode {
            Mode::PreCommit => (repo.oid("HEAD^{tree}"), repo.git(&["write-tree"])),
            Mode::PrePush | Mode::Run => (repo.oid("HEAD^{tree}"), repo.oid("origin/main^{tree}")),
        };
        forge(&repo.path().join(".git/objects/info/commit-graph"), &old, &new);
        assert_eq!(repo.git(&["log", "-1", "--format=%T"]), new, "git itself must fall for it, or this shows nothing");
    };
    never_hides("a forged commit graph", nothing, play, as_it_is);
}

/// Puts one id in the place of another in a commit graph, and makes its checksum right again.
fn forge(path: &std::path::Path, old: &str, new: &str) {
    let raw = |hex: &str| gix::ObjectId::from_hex(hex.as_bytes()).unwrap().as_slice().to_vec();
    let (old, new) = (raw(old), raw(new));
    let mut graph = fs::read(path).unwrap();
    let at = graph.windows(old.len()).position(|window| window == old).expect("the graph names the tree");
    graph[at..at + old.len()].copy_from_slice(&new);
    let end = graph.len() - 20;
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&graph[..end]);
    let sum = hasher.try_finalize().unwrap();
    graph[end..].copy_from_slice(sum.as_slice());
    fs::remove_file(path).unwrap();
    fs::write(path, graph).unwrap();
}

#[test]
fn t04_13_grafts_and_a_shallow_file() {
    // What is published has the tip as its parent, and so nothing is new.
    let play = |repo: &Repo<'_>, _: Mode| info(repo, "grafts", &format!("{} {}\n", repo.oid("origin/main"), repo.oid("HEAD")));
    never_hides("grafts", nothing, play, as_it_is);
    let play = |repo: &Repo<'_>, _: Mode| fs::write(repo.path().join(".git/shallow"), format!("{}\n", repo.oid("HEAD"))).unwrap();
    never_hides("a shallow file", nothing, play, as_it_is);
}

#[test]
fn t04_14_an_evil_merge() {
    for mode in Mode::ALL {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = started(&sandbox, &peer);
        repo.branch("side", "main").write("side.md", "# side\n").commit("side");
        repo.git(&["push", "-q", "--no-verify", "origin", "side"]);
        repo.git(&["switch", "-q", "main"]);
        repo.write("main.md", "# main\n").commit("main");
        repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
        repo.git(&["merge", "-q", "--no-commit", "side"]);
        repo.write(FILE, EVIL).add();
        if mode.is_of_commits() {
            repo.git(&["commit", "-q", "--no-verify", "-m", "merge"]);
            assert_eq!(repo.git(&["log", "-1", "-p", "--format="]), "", "git itself must be silent about it, or this shows nothing");
        }
        told("an evil merge", mode, mode.call(&repo), &peer);
    }
}

/// Every program that git can be told to run, as a script that leaves a mark.
fn canaries(sandbox: &Sandbox, repo: &Repo<'_>) -> Vec<(&'static str, String)> {
    let script = |name: &str| {
        let path = sandbox.path().join(format!("canary-{name}"));
        fs::write(&path, format!("#!/bin/sh\necho {name} >> {}\nexit 1\n", sandbox.path().join("ran").display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    };
    let hooks = sandbox.path().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["pre-commit", "pre-push", "post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"] {
        fs::copy(script(&format!("hook-{hook}")), hooks.join(hook)).unwrap();
    }
    let keys = [
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "pager.log",
        "alias.diff",
        "alias.log",
        "alias.rev-list",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "filter.lfs.clean",
        "filter.lfs.process",
        "credential.helper",
        "core.sshCommand",
        "core.askPass",
        "core.editor",
        "sequence.editor",
        "merge.x.driver",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "gpg.program",
        "gpg.ssh.program",
        "interactive.diffFilter",
        "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "hook.x.command",
    ];
    let mut settings: Vec<(&str, String)> = keys.into_iter().map(|key| (key, script(key))).collect();
    for alias in settings.iter_mut().filter(|(key, _)| key.starts_with("alias.")) {
        alias.1.insert(0, '!');
    }
    settings.push(("core.hooksPath", hooks.to_string_lossy().into_owned()));
    settings.extend([("filter.x.required", "true".to_owned()), ("hook.x.event", "pre-push".to_owned())]);
    settings.iter().for_each(|(key, value)| _ = repo.git(&["config", "--add", key, value]));
    let variables =
        ["GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_EDITOR", "EDITOR", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND"];
    variables.into_iter().map(|name| (name, script(name))).collect()
}

#[test]
fn t04_no_program_that_the_repository_names_is_run() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = started(&sandbox, &peer);
    repo.write(".gitattributes", "* diff=x filter=x merge=x\n*.big filter=lfs\n").write(FILE, EVIL).commit("committed");
    repo.write(FILE, format!("{EVIL}staged\n")).write("b.big", "staged\n").add();
    repo.write(FILE, format!("{EVIL}on disk\n")).write("b.big", "on disk\n");
    let line = repo.push_line("main");
    let push = || Gate::pre_push(&repo, &line);
    let mut calls: Vec<(String, Gate)> = vec![("hook pre-push".to_owned(), push())];
    let variables = canaries(&sandbox, &repo);
    let verbs: [&[&str]; 17] = [
        &["hook", "pre-commit"],
        &["hook", "pre-merge-commit"],
        &["run", "--staged"],
        &["run", "--worktree"],
        &["run", "--all"],
        &["run", "--base", "origin/main"],
        &["run", "--push", "origin"],
        &["diff", "--staged"],
        &["diff", "--worktree"],
        &["diff", "--all"],
        &["diff", "--stage", "pre-commit"],
        &["prompt", "--worktree"],
        &["tier", "--worktree"],
        &["config", "show"],
        &["config", "check"],
        &["log", "show"],
        &["log", "verify"],
    ];
    calls.extend(verbs.map(|verb| (verb.join(" "), repo.gate(verb))));
    let ran = sandbox.path().join("ran");
    for (name, gate) in calls {
        let gate = variables.iter().fold(gate, |gate, (variable, script)| gate.env(variable, script));
        let run = gate.run();
        let marks = fs::read_to_string(&ran).unwrap_or_default();
        assert!(marks.is_empty(), "{name} ran {marks:?}; {run}");
        assert_ne!(run.status, 70, "{name}; {run}");
    }
    assert!(peer.received("EVIL") && peer.received("on disk"));
    // Git does run them, so that the mark would have appeared.
    let mut git = repo.git_command(&["diff"]);
    variables.iter().for_each(|(variable, script)| _ = git.env(variable, script));
    crate::common::child::run(git, b"");
    let marks = fs::read_to_string(&ran).unwrap_or_default();
    assert!(marks.contains("GIT_EXTERNAL_DIFF") || marks.contains("core.fsmonitor"), "{marks}");
}

#[test]
fn t04_what_attributes_hide_is_named() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = started(&sandbox, &peer);
    let marks = [
        ("a.py", "-diff"),
        ("b.txt", "binary"),
        ("c.md", "-text"),
        ("d.js", "linguist-generated"),
        ("e.md", "export-ignore"),
        ("f.rs", "diff=odd"),
        ("g.rs", "diff=rust"),
    ];
    repo.write(".gitattributes", marks.map(|(path, mark)| format!("{path} {mark}\n")).concat());
    marks.iter().for_each(|(path, _)| _ = repo.write(path, format!("text of {path}\n")));
    repo.add();
    let (run, report) = repo.gate(&["run"]).report();
    run.expect(0);
    marks.iter().for_each(|(path, _)| assert!(peer.received(&format!("+text of {path}")), "{path} was not sent"));
    let notes = report["notes"].to_string();
    assert!(notes.contains("a.py (-diff), b.txt (binary), c.md (-text), d.js (linguist-generated), e.md (export-ignore), 1 more"), "{notes}");
    let finding = &report["findings"][0];
    assert_eq!(
        (finding["rule"].as_str(), finding["severity"].as_str(), finding["status"].as_str()),
        (Some("hidden-by-attributes"), Some("LOW"), Some("open"))
    );
    assert!(finding["title"].as_str().unwrap().ends_with("a.py (-diff), f.rs (diff=odd)"), "{finding}");
}
