//! One record a run, chained; a record that cannot be written or was tampered with refuses.

use crate::common::{Behaviour, EVIL, GOOD, Gate, Peer, Repo, Reviewer, Sandbox};
use std::fs;

fn gated<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    let repo = sandbox.gated(&[Reviewer::qwen(peer)], "push_deadline: 5\n");
    repo.write("run.rs", GOOD).commit("run");
    repo
}

#[test]
fn every_run_leaves_one_record_whatever_its_end() {
    let script = |r: &crate::common::Request| if r.holds("out.rs") { Behaviour::Status(500, "out") } else { Behaviour::Honest };
    let (sandbox, peer) = (Sandbox::new(), Peer::scripted(script));
    let repo = gated(&sandbox, &peer);
    for (file, content, status) in [("a.rs", GOOD, 0), ("b.rs", EVIL, 1), ("out.rs", GOOD, 9)] {
        let before = repo.records().len();
        repo.write(file, content).commit(file);
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(status);
        assert_eq!(repo.records().len(), before + 1, "{file}");
        repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
    repo.gate(&["log", "verify"]).run().expect(0);
}

#[test]
fn the_log_is_short_enough_to_read() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0);
    let shown = repo.gate(&["log", "show"]).run().expect(0).stdout;
    let words: Vec<&str> = shown.lines().last().expect("a run").split(' ').collect();
    assert_eq!((words[1].len(), words[2].len()), ("2026-01-02T03:04:05Z".len(), 8), "seconds, and the start of the run's id: {shown}");
    assert!(shown.lines().all(|line| line.len() < 120) && !shown.contains("$0.0000"), "{shown}");
    let count = shown.lines().count();
    repo.gate(&["log", "verify"]).run().expect(0).says(if count == 1 { ": 1 record," } else { " records," });
}

#[test]
fn records_are_numbered_and_chained() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    for n in 0..3 {
        repo.write("run.rs", format!("let n = {n};\n")).commit("run");
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0);
    }
    let records = repo.records();
    for pair in records.windows(2) {
        assert_eq!(pair[1]["seq"].as_u64(), pair[0]["seq"].as_u64().map(|seq| seq + 1));
        assert_eq!(pair[1]["prev"], pair[0]["h"]);
    }
    assert!(records.len() >= 3 && records.iter().all(|r| r["v"] == 1));
}

#[test]
fn a_ledger_that_was_tampered_with_refuses() {
    type Edit = fn(&str) -> String;
    let edits: [(&str, Edit); 3] = [
        ("a changed record", |text| text.replacen("pass", "fail", 1)),
        ("a record taken out", |text| text.lines().skip(1).map(|l| format!("{l}\n")).collect()),
        ("a foreign line", |text| format!("{text}{{\"v\":1}}\n")),
    ];
    for (what, edit) in edits {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = gated(&sandbox, &peer);
        for n in 0..2 {
            repo.write("run.rs", format!("let n = {n};\n")).commit("run");
            Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0);
        }
        let text = fs::read_to_string(repo.ledger()).unwrap();
        let edited = edit(&text);
        assert_ne!(edited, text, "{what}: the edit must change something");
        fs::write(repo.ledger(), edited).unwrap();
        let run = Gate::pre_push(&repo, &repo.push_line("main")).run();
        assert_eq!(run.status, 14, "{what}; {run}");
        repo.gate(&["log", "verify"]).run().expect(14);
    }
}

/// A read-only folder stops no one who is root, so the folder's place is taken.
#[test]
fn a_ledger_that_cannot_be_written_refuses() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    let _ = fs::remove_dir_all(repo.state());
    fs::write(repo.state(), "in the way\n").unwrap();
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(14);
    repo.push(&["origin", "main"]).expect_refused();
}

#[test]
fn a_ledger_behind_a_link_is_not_followed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    let elsewhere = sandbox.path().join("elsewhere");
    fs::write(&elsewhere, "").unwrap();
    fs::create_dir_all(repo.state()).unwrap();
    let _ = fs::remove_file(repo.ledger());
    std::os::unix::fs::symlink(&elsewhere, repo.ledger()).unwrap();
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(14);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "");
}

#[test]
fn runs_side_by_side_keep_one_chain() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = gated(&sandbox, &peer);
    let before = repo.records().len();
    let line = repo.push_line("main");
    let running: Vec<_> = (0..6).map(|_| Gate::pre_push(&repo, &line).start()).collect();
    for gate in running {
        gate.finish().expect(0);
    }
    assert_eq!(repo.records().len(), before + 6);
    repo.gate(&["log", "verify"]).run().expect(0);
}
