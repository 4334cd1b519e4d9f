//! Pushes of very many refs, as a pre-push hook is told of them, beside git finding what is new in them.

use crate::Size;
use crate::common::{Sandbox, ZERO};
use crate::made::Stream;
use crate::table::{self, Call, row};

/// Thousands of refs here and at the remote, thousands of lines on stdin.
pub fn many(size: &Size) {
    const REFS: usize = 3_000;
    const LINES: usize = 20_000;
    let sandbox = Sandbox::new();
    let repo = sandbox.published();
    repo.git(&["config", "gc.auto", "0"]);
    let mut stream = Stream::new();
    for n in 0..REFS {
        stream.commit(&format!("old{n}"), Some("refs/heads/main")).file(&format!("old/f{n}.rs"), format!("let old = {n};\n").as_bytes());
    }
    stream.packed(&repo);
    repo.git(&["push", "-q", "--no-verify", "origin", "refs/heads/old*"]);
    let mut stream = Stream::new();
    stream.commit("new", Some("refs/heads/main")).file("new.rs", b"let new = 1;\n");
    for n in 0..REFS {
        stream.commit(&format!("new{n}"), Some("refs/heads/main")).file(&format!("new/f{n}.rs"), b"let new = 1;\n");
    }
    stream.packed(&repo);
    repo.git(&["pack-refs", "--all"]);

    table::head(&format!("{REFS} refs here and at the remote : `git rev-list --objects --stdin --not --remotes`"));
    let new = repo.oid("new");
    let one = |count: usize| -> String { (0..count).map(|n| format!("refs/heads/new {new} refs/heads/x{n} {ZERO}\n")).collect() };
    let listed = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/new*"]);
    let each: String = listed.lines().map(|line| format!("{line} {} {ZERO}\n", line.split(' ').next().unwrap_or_default())).collect();
    for (what, lines) in
        [("1 line", one(1)), ("3,000 lines, one commit", one(REFS)), ("3,000 lines, as many commits", each), ("20,000 lines, one commit", one(LINES))]
    {
        let tips: String = lines.lines().filter_map(|line| line.split(' ').nth(1)).map(|tip| format!("{tip}\n")).collect();
        let gate = || Call::gate(&repo, &["diff", "--stage", "pre-push", "origin", "url"]).stdin(&lines);
        row(size.runs, what, 0, gate, || Call::git(&repo, &["rev-list", "--objects", "--stdin", "--not", "--remotes=origin"]).stdin(&tips));
    }
}
