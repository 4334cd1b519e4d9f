//! The change as the gate prints it, byte for byte what git prints; and what no setting can hide.

use crate::common::{Repo, Sandbox, child};
use std::os::unix::fs::{PermissionsExt, symlink};

/// What git is asked for: the form that the gate promises, free of the user's settings.
const PLAIN: [&str; 7] = ["--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "-O/dev/null"];

#[track_caller]
fn assert_same(repo: &Repo<'_>, gate: &[&str], git: &[&str]) {
    let ours = repo.gate(gate).run().expect(0).stdout;
    let theirs = repo.try_git(&[&["diff"], git, &PLAIN].concat()).expect(0).stdout;
    assert_eq!(ours, theirs);
    assert!(!ours.is_empty(), "a comparison of nothing proves nothing");
}

/// A commit, and then every kind of change on top of it.
fn every_kind(sandbox: &Sandbox) -> Repo<'_> {
    let repo = sandbox.repo("work");
    let long: String = (0..200).map(|n| format!("fn line_{n}() {{}}\n")).collect();
    for (path, content) in
        [("long.rs", long.as_str()), ("gone.rs", "gone\n"), ("moved.rs", "moved\nmoved\nmoved\n"), ("mode.sh", "#!/bin/sh\n"), ("link", "a file\n")]
    {
        repo.write(path, content);
    }
    repo.write("no-newline", "last line").write("crlf", "a\r\nb\r\n").write("binary", b"\0\x01\x02").commit("start");
    repo.write("long.rs", long.replace("line_3()", "third()").replace("line_150()", "later()"));
    std::fs::remove_file(repo.path().join("gone.rs")).unwrap();
    std::fs::rename(repo.path().join("moved.rs"), repo.path().join("renamed.rs")).unwrap();
    std::fs::set_permissions(repo.path().join("mode.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(repo.path().join("link")).unwrap();
    symlink("/etc/hostname", repo.path().join("link")).unwrap();
    repo.write("no-newline", "last line, still").write("crlf", "a\r\nB\r\n").write("binary", b"\0\x03").write("empty", "");
    for name in ["n\nl", "t\tab", "q\"uote", "a b/ c", "-rf/--", "é"] {
        repo.write(name, "odd\n");
    }
    repo.add();
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},module", "1".repeat(40))]);
    repo
}

#[test]
fn the_staged_change_is_printed_as_git_prints_it() {
    let sandbox = Sandbox::new();
    let repo = every_kind(&sandbox);
    assert_same(&repo, &["diff", "--staged", "--no-renames"], &["--cached", "--no-renames"]);
    assert_same(&repo, &["diff", "--staged"], &["--cached", "-M"]);
}

#[test]
fn a_range_is_printed_as_git_prints_it() {
    let sandbox = Sandbox::new();
    let repo = every_kind(&sandbox);
    repo.git(&["commit", "-q", "--no-verify", "-m", "all"]);
    repo.branch("side", "HEAD~1").write("side.rs", "side\n").commit("side");
    assert_same(&repo, &["diff", "--range", "side..main", "--no-renames"], &["--no-renames", "side...main"]);
}

#[test]
fn the_push_stage_prints_what_the_lines_say() {
    let sandbox = Sandbox::new();
    let repo = sandbox.published();
    repo.write("one.rs", "one\n").commit("one");
    let lines = repo.push_line("main");
    let printed = repo.gate(&["diff", "--stage", "pre-push", "origin", "url", "--no-renames"]).stdin(&lines).run().expect(0).stdout;
    assert_eq!(printed, repo.try_git(&[&["diff", "--no-renames", "origin/main...main"], &PLAIN[..]].concat()).stdout);
}

#[test]
fn p33_no_prefix_and_no_other_setting_changes_a_byte() {
    let sandbox = Sandbox::new();
    let repo = every_kind(&sandbox);
    let plain = repo.gate(&["diff", "--staged"]).run().expect(0).stdout;
    let settings = [
        "diff.external=true",
        "diff.noprefix=true",
        "diff.mnemonicPrefix=true",
        "diff.srcPrefix=x/",
        "color.ui=always",
        "diff.context=0",
        "diff.orderFile=/nonexistent",
        "diff.relative=true",
        "diff.renames=false",
        "diff.submodule=log",
        "diff.ignoreSubmodules=all",
        "diff.algorithm=patience",
        "core.quotePath=false",
        "core.abbrev=7",
    ];
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap();
        let gate = repo.gate(&["diff", "--staged"]).env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", key).env("GIT_CONFIG_VALUE_0", value);
        assert_eq!(gate.run().expect(0).stdout, plain, "{setting}");
    }
    for variable in ["GIT_EXTERNAL_DIFF=true", "GIT_DIFF_OPTS=-u0", "GIT_NO_REPLACE_OBJECTS=0", "GIT_PAGER=false"] {
        let (name, value) = variable.split_once('=').unwrap();
        assert_eq!(repo.gate(&["diff", "--staged"]).env(name, value).run().expect(0).stdout, plain, "{variable}");
    }
}

#[test]
fn p22_a_link_is_shown_and_not_followed() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    std::fs::write(sandbox.path().join("private"), "not in the repository\n").unwrap();
    symlink(sandbox.path().join("private"), repo.path().join("link")).unwrap();
    repo.add();
    repo.gate(&["diff", "--staged"]).run().expect(0).says("120000").never_says("not in the repository");
}

#[test]
fn a_path_that_names_nothing_is_an_error_and_no_empty_change() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    repo.write("src/a.rs", "one\n").add();
    repo.gate(&["diff", "--staged", "--file", "src"]).run().expect(0).says("+one");
    for slip in ["src/b.rs", "sr", "src/a.rs/x"] {
        let run = repo.gate(&["diff", "--staged", "--file", "src", "--file", slip]).run();
        assert_eq!(run.expect(2).says(slip).says("matches nothing").stdout, "");
    }
}

#[test]
fn a_path_is_read_from_the_folder_it_is_typed_in() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    repo.write("src/deep/a.rs", "one\n").write("b.rs", "two\n").add();
    let src = repo.path().join("src");
    let diff = |file: &str| repo.gate(&["diff", "--staged", "--file", file]).in_dir(&src).run();
    for file in ["deep", "deep/a.rs", "./deep//a.rs", "../src/deep", "."] {
        diff(file).expect(0).says("+one").never_says("+two");
    }
    diff("../b.rs").expect(0).says("+two").never_says("+one");
    diff("..").expect(0).says("+two").says("+one");
    diff("b.rs").expect(2).says("src/b.rs");
    diff("../../b.rs").expect(2).says("outside");
}

/// What every story runs under: were these settings harmless, that the stories hold under them would say nothing.
#[test]
fn the_settings_that_every_story_runs_under_do_lie() {
    let sandbox = Sandbox::new();
    let repo = every_kind(&sandbox);
    let truth = repo.try_git(&[&["diff", "--cached"], &PLAIN[..]].concat()).expect(0).stdout;
    let lied = |leave_out: &str| {
        let mut git = sandbox.hostile_command("git");
        git.args(["-c", leave_out, "diff", "--no-ext-diff", "--no-textconv", "--cached", "--full-index", "--no-color"]).current_dir(repo.path());
        child::run(git, b"")
    };
    lied("core.abbrev=4").expect(128).says("/nonexistent/order");
    let text = lied("diff.orderFile=/dev/null").expect(0).stdout;
    assert!(!text.contains("third()") && text.contains("Binary files"), "git must be led to hide text; {text}");
    assert_eq!(repo.gate(&["diff", "--staged"]).run().expect(0).stdout, truth);
}
