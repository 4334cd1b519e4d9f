//! How time and memory grow: each row has twice the change of the one before.

use crate::Size;
use crate::common::Sandbox;
use crate::made::{self, Stream};
use crate::table::{self, Call, Row, row};

/// A doubling series of text and one of files.
pub fn doubling(size: &Size) {
    text(size);
    println!();
    files(size);
}

/// Text that changed, in files of a megabyte: up to 100 MB on the new side.
fn text(size: &Size) {
    const MOST: usize = 100;
    let sandbox = Sandbox::new();
    let repo = made::repository(&sandbox, "text", 1);
    let content =
        |file: usize, word: &str| -> Vec<u8> { (0..37_000).flat_map(|n| format!("let {word}_{n} = call({file});\n").into_bytes()).collect() };
    table::head("text of a change : `git diff --cached`");
    let mut before: Option<Row> = None;
    for megabytes in [MOST / 8, MOST / 4, MOST / 2, MOST] {
        let mut stream = Stream::new();
        stream.commit("staged", Some("refs/heads/main"));
        for file in 0..megabytes {
            stream.file(&format!("text/f{file}.rs"), &content(file, "line"));
        }
        stream.loose(&repo);
        made::stage_branch(&repo);
        let text = Call::gate(&repo, &["diff", "--staged"]).run().expect(0).stdout.len() as f64 / 1024.0 / 1024.0;
        let what = format!("{text:.0} MiB");
        let now = row(size.runs.min(5), &what, 0, || Call::gate(&repo, &["diff", "--staged"]), || Call::git_diff(&repo, &["--cached"]));
        told(before.as_ref(), &now, Some(text));
        before = Some(now);
    }
}

/// Files that changed by a line: up to 100,000.
fn files(size: &Size) {
    const MOST: usize = 100_000;
    let sandbox = Sandbox::new();
    let repo = made::repository(&sandbox, "files", MOST);
    table::head("changed files of 100,000 : `git diff --cached`");
    let mut before: Option<Row> = None;
    for count in [MOST / 8, MOST / 4, MOST / 2, MOST] {
        made::stage(&repo, count, &format!("let staged = {count};\n"));
        let now = row(size.runs.min(3), &count.to_string(), 0, || Call::gate(&repo, &["diff", "--staged"]), || Call::git_diff(&repo, &["--cached"]));
        told(before.as_ref(), &now, None);
        before = Some(now);
    }
}

/// Prints what became of the time since the row before, and the memory beside the text where that is known.
fn told(before: Option<&Row>, now: &Row, text: Option<f64>) {
    let growth = before.map(|before| format!("{:.2} times the time", now.gate.as_secs_f64() / before.gate.as_secs_f64()));
    let memory = text.map(|text| format!("{:.0} MiB above twice the text", (now.mib - 2.0 * text).max(0.0)));
    let words: Vec<String> = growth.into_iter().chain(memory).collect();
    if !words.is_empty() {
        println!("| – {} | | | | | |", words.join(", "));
    }
}
