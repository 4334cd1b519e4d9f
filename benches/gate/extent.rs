//! Single large things: a difference of 10 MB, and a file that is too large to be read at all.

use crate::Size;
use crate::common::Sandbox;
use crate::made::{self, Stream};
use crate::table::{self, Call, row};
use std::io::Write as _;

/// Their text, beside git's.
pub fn large(size: &Size) {
    const HUGE: u64 = 700_000_000;
    let sandbox = Sandbox::new();
    let repo = made::repository(&sandbox, "extent", 1);
    table::head("large content");

    let lines = |word: &str| -> Vec<u8> { (0..150_000).flat_map(|n| format!("let {word}_{n} = call({n});\n").into_bytes()).collect() };
    let mut stream = Stream::new();
    stream.commit("main", Some("refs/heads/main^0")).file("long.rs", &lines("old"));
    stream.commit("staged", Some("refs/heads/main")).file("long.rs", &lines("new"));
    stream.loose(&repo);
    made::stage_branch(&repo);
    let text = Call::gate(&repo, &["diff", "--staged"]).run().expect(0).stdout.len() as f64 / 1e6;
    let what = format!("one file, text of {text:.0} MB : `git diff --cached`");
    row(size.runs, &what, 0, || Call::gate(&repo, &["diff", "--staged"]), || Call::git_diff(&repo, &["--cached"]));

    let mut file = std::io::BufWriter::new(std::fs::File::create(repo.path().join("huge")).unwrap());
    std::io::copy(&mut std::io::Read::take(std::io::repeat(b'x'), HUGE), &mut file).unwrap();
    file.flush().unwrap();
    drop(file);
    repo.git(&["read-tree", "main"]);
    repo.git(&["-c", "core.compression=1", "add", "huge"]);
    let what = "a file of 700 MB, staged : `git diff --cached`";
    row(size.runs, what, 0, || Call::gate(&repo, &["diff", "--staged"]), || Call::git_diff(&repo, &["--cached"]));
    row(
        size.runs,
        "the same, whole gate before any call",
        0,
        || Call::gate(&repo, &["run", "--staged", "--dry-run"]),
        || Call::git_diff(&repo, &["--cached"]),
    );
}
