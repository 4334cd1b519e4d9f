//! The gate with reviewers that answer: what it adds to the capture, and passes beside each other.

use crate::Size;
use crate::common::{Behaviour, Gate, Peer, Repo, Reviewer, Sandbox};
use crate::made;
use crate::table::{Call, median, ms};
use std::time::Duration;

/// The whole gate with a reviewer that answers at once, beside the capture alone.
pub fn overhead(size: &Size) {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = made::repository(&sandbox, "small", 40);
    let (mut gate, mut capture, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..size.runs {
        // New content each time: a receipt would answer for the old one.
        made::stage(&repo, 3, &format!("let run = {n};\n"));
        let run = Call::gate(&repo, &["run", "--staged", "--format=json"]).run().expect(0);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        gate.push(run.took);
        own.push(Duration::from_millis(report["timing"]["overhead_ms"].as_u64().expect("a report has its overhead")));
        capture.push(Call::gate(&repo, &["diff", "--staged"]).run().expect(0).took);
    }
    let (gate, capture, own) = (median(gate), median(capture), median(own));
    println!("| 40 files, 3 staged, a reviewer that answers at once | ms |\n|---|---|");
    println!("| whole gate, from outside | {} |", ms(gate));
    println!("| capture alone (`review-gate diff --staged`) | {} |", ms(capture));
    println!("| above the capture | {} |", ms(gate.saturating_sub(capture)));
    println!("| `timing.overhead_ms` of the report | {} |", ms(own));
}

/// Passes beside each other, each of which takes as long as the reviewer does. Two branches in one push are two subjects.
pub fn side_by_side(size: &Size) {
    const SLOW: Duration = Duration::from_millis(500);
    println!("| passes at once | subjects | a pass, ms | all, ms | above the slowest, ms |\n|---|---|---|---|---|");
    for (names, subjects) in [(&["a"][..], 1), (&["a", "b", "c", "d", "e"], 1), (&["auth"], 1), (&["a", "b", "c", "d", "e"], 2), (&["auth"], 2)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean.after(SLOW)));
        sandbox.configure(&[Reviewer::qwen(&peer)], "author: anthropic\n");
        let repo = sandbox.published();
        let mut took = Vec::new();
        let mut passes = 0;
        for n in 0..size.runs.min(5) {
            let lines = branches(&repo, names, subjects, n);
            let before = peer.reviews().len();
            took.push(Gate::pre_push(&repo, &lines).run().expect(0).took);
            passes = peer.reviews().len() - before;
        }
        let all = median(took);
        println!("| {passes} | {subjects} | {} | {} | {} |", ms(SLOW), ms(all), ms(all.saturating_sub(SLOW)));
    }
}

/// Makes branches of new content and returns the lines that a push of them would have.
fn branches(repo: &Repo<'_>, names: &[&str], count: usize, round: usize) -> String {
    let one = |subject: usize| {
        let branch = format!("s{subject}-{round}");
        repo.branch(&branch, "main");
        for name in names {
            repo.write(&format!("src/{name}.rs"), format!("let subject = {subject}; let round = {round};\n"));
        }
        repo.commit(&branch);
        repo.push_line(&branch)
    };
    (0..count).map(one).collect()
}
