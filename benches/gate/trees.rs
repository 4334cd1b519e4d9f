//! A large repository: a stored receipt, staged text and a long range, beside what git takes for the same.

use crate::Size;
use crate::common::{Behaviour, Peer, Reviewer, Sandbox};
use crate::made::{self, Stream};
use crate::table::{self, Call, row};

/// A stored receipt, and the text of what is staged.
pub fn staged(size: &Size) {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = made::repository(&sandbox, "large", size.files);
    table::head(&format!("{} files", size.files));

    made::stage(&repo, 1, "let staged = 1;\n");
    Call::gate(&repo, &["run", "--staged"]).run().expect(0);
    let calls = peer.questions().len();
    let quiet = ["diff", "--cached", "--quiet"];
    let what = "whole gate with a receipt : `git diff --cached --quiet`";
    row(size.runs, what, 0, || Call::gate(&repo, &["run", "--staged"]), || Call::git(&repo, &quiet));
    assert_eq!(peer.questions().len(), calls, "the receipt must have answered");

    for count in [1, 100, 5_000, 50_000].into_iter().filter(|count| *count <= size.files) {
        made::stage(&repo, count, &format!("let staged = {count};\n"));
        let what = format!("{count} staged, text : `git diff --cached`");
        row(size.runs, &what, 0, || Call::gate(&repo, &["diff", "--staged"]), || Call::git_diff(&repo, &["--cached"]));
    }
}

/// The text of a thousand commits, renames included.
pub fn range(size: &Size) {
    const COMMITS: usize = 1_000;
    let sandbox = Sandbox::new();
    let repo = made::repository(&sandbox, "range", size.files);
    let mut stream = Stream::new();
    for n in 0..COMMITS {
        stream.commit("topic", (n == 0).then_some("refs/heads/main"));
        for file in (0..3).map(|k| (n * 3 + k) * 17 % size.files) {
            stream.file(&made::path(file), &[&made::content(file), format!("let commit = {n};\n").as_bytes()].concat());
        }
        if n % 20 == 0 {
            let file = n * 3 * 17 % size.files;
            stream.moved(&made::path(file), &format!("moved/f{n}.rs"));
        }
    }
    stream.packed(&repo);
    repo.git(&["repack", "-adq"]);
    table::head(&format!("{} files, a range of {COMMITS} commits", size.files));
    let gate = || Call::gate(&repo, &["diff", "--range", "main..topic"]);
    row(size.runs, "text : `git diff A...B`", 0, gate, || Call::git_diff(&repo, &["main...topic"]));
}
