//! Receipts: what was passed once is free, for exactly this content under exactly these rules, and for nothing else.

use crate::common::{Behaviour, EVIL, GOOD, Gate, Latch, Peer, Repo, Request, Reviewer, Sandbox, ZERO};
use review_gate::clock::now_utc;
use review_gate::digest::Digest;
use review_gate::ledger::{Event, History, Ledger, RunRecord};
use rustix::process::Signal;
use std::fs;
use std::path::PathBuf;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const REASON: &str = "the input comes from our own build and is checked there";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Runs the hook for `branch` going to the ref `to`, and returns how many questions it cost.
#[track_caller]
fn cost(repo: &Repo<'_>, peer: &Peer, branch: &str, to: &str, status: i32) -> usize {
    let before = peer.questions().len();
    let there = repo.remote_oid("origin", to).unwrap_or_else(|| ZERO.into());
    Gate::pre_push(repo, &format!("refs/heads/{branch} {} {to} {there}\n", repo.oid(branch))).run().expect(status);
    peer.questions().len() - before
}

/// On `topic`, two commits that nobody has.
fn topic(repo: &Repo<'_>) {
    repo.branch("topic", "main").write("src/run.rs", GOOD).commit("run");
    repo.write("src/walk.rs", GOOD).commit("walk");
}

fn colleague_publishes(sandbox: &Sandbox, repo: &Repo<'_>, file: &str, content: &str) {
    let colleague = sandbox.clone(&sandbox.path().join("origin.git"), &file.replace(['.', '/'], "-"));
    colleague.write(file, content).commit("theirs");
    colleague.publish("main");
    repo.git(&["fetch", "-q", "origin"]);
}

#[test]
fn what_leaves_the_content_alone_keeps_the_receipt() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    topic(&repo);
    assert_eq!(cost(&repo, &peer, "topic", "refs/heads/topic", 0), 1);
    type Change<'a> = (&'a str, &'a dyn Fn());
    let changes: [Change<'_>; 8] = [
        ("nothing", &|| {}),
        ("the message", &|| drop(repo.git(&["commit", "-q", "--no-verify", "--amend", "-m", "in other words"]))),
        ("the author's date", &|| drop(repo.git(&["commit", "-q", "--no-verify", "--amend", "--no-edit", "--date", "2020-02-03T04:05:06Z"]))),
        ("a rebase onto others' published files", &|| {
            colleague_publishes(&sandbox, &repo, "theirs.rs", "let theirs = THEIRS; // EVIL\n");
            let before = repo.oid("topic");
            repo.git(&["rebase", "-q", "origin/main"]);
            assert_ne!(repo.oid("topic"), before);
        }),
        ("a merge of others' published files", &|| {
            colleague_publishes(&sandbox, &repo, "more.rs", "let more = THEIRS; // EVIL\n");
            repo.git(&["merge", "-q", "--no-verify", "--no-edit", "origin/main"]);
        }),
        ("the branch's name", &|| drop(repo.git(&["branch", "-m", "topic", "other"]))),
        ("the branch's name, back", &|| drop(repo.git(&["branch", "-m", "other", "topic"]))),
        ("what lies about in the worktree", &|| {
            repo.write("half-done.rs", EVIL);
        }),
    ];
    for (what, change) in changes {
        change();
        let branch = repo.git(&["branch", "--show-current"]);
        for to in ["refs/heads/topic", "refs/heads/elsewhere", "refs/tags/v1"] {
            assert_eq!(cost(&repo, &peer, &branch, to, 0), 0, "{what}, to {to}");
        }
    }
    repo.remote("second", &sandbox.bare("second.git"));
    repo.git(&["push", "-q", "--no-verify", "second", "origin/main:refs/heads/main"]);
    let calls = peer.questions().len();
    repo.push(&["second", "topic"]).expect(0).says("passed before with this content");
    assert_eq!(peer.questions().len(), calls, "another remote");
    assert!(!peer.received("THEIRS"), "others' published work was sent");
}

#[test]
fn what_changes_the_content_misses_the_receipt() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("src/old.rs", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n").commit("old");
    repo.publish("main");
    topic(&repo);
    repo.write("src/old.rs", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n").commit("nine");
    assert_eq!(cost(&repo, &peer, "topic", "refs/heads/topic", 0), 1);
    let amend = || repo.git(&["commit", "-q", "-a", "--no-verify", "--amend", "--no-edit"]);
    type Change<'a> = (&'a str, &'a dyn Fn());
    let changes: [Change<'_>; 6] = [
        ("a line", &|| {
            repo.write("src/walk.rs", format!("{GOOD}{GOOD}"));
            amend();
        }),
        ("white space", &|| {
            repo.write("src/walk.rs", format!("{GOOD} {GOOD}"));
            amend();
        }),
        ("a mode", &|| {
            repo.git(&["update-index", "--chmod=+x", "src/walk.rs"]);
            repo.git(&["commit", "-q", "--no-verify", "--amend", "--no-edit"]);
        }),
        ("a name", &|| {
            repo.git(&["mv", "src/walk.rs", "src/stroll.rs"]);
            amend();
        }),
        ("what came and went in between", &|| {
            repo.write("src/gone.rs", GOOD).commit("add");
            repo.git(&["rm", "-q", "src/gone.rs"]);
            repo.git(&["commit", "-q", "--no-verify", "-m", "remove"]);
        }),
        ("what the same file was rebased onto", &|| {
            colleague_publishes(&sandbox, &repo, "src/old.rs", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
            repo.git(&["rebase", "-q", "origin/main"]);
        }),
    ];
    for (what, change) in changes {
        change();
        assert_ne!(cost(&repo, &peer, "topic", "refs/heads/topic", 0), 0, "{what}");
        assert_eq!(cost(&repo, &peer, "topic", "refs/heads/topic", 0), 0, "{what}, again");
    }
}

#[test]
fn what_changes_the_rules_misses_the_receipt() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    topic(&repo);
    let ask = |args: &[&str], reviewers: &[Reviewer], more: &str| {
        sandbox.configure(reviewers, more);
        let before = peer.questions().len();
        repo.gate(&[&["run", "--push"], args].concat()).run().expect(0);
        peer.questions().len() - before
    };
    let (qwen, mistral) = (Reviewer::qwen(&peer), Reviewer::mistral(&peer));
    let rows: [(&str, &[&str], &[Reviewer], &str); 9] = [
        ("the first review", &[], from_ref(&qwen), ""),
        ("the tier", &["--tier", "standard"], from_ref(&qwen), ""),
        ("the author", &["--author", "anthropic"], from_ref(&qwen), ""),
        ("a human author", &["--author", "human"], from_ref(&qwen), ""),
        ("the roster", &[], &[qwen.clone(), mistral.clone()], ""),
        ("the order of the roster", &[], &[mistral.clone(), qwen.clone()], ""),
        ("who is asked", &["--reviewer", "mistral"], &[qwen.clone(), mistral.clone()], ""),
        ("how hard it thinks", &[], &[qwen.clone().with("reasoning_effort: low")], ""),
        ("the model", &[], &[Reviewer::new("qwen", crate::common::Dialect::OpenAi, &peer, "deepseek-chat")], ""),
    ];
    for (what, args, reviewers, more) in rows {
        assert_ne!(ask(args, reviewers, more), 0, "{what}");
        assert_eq!(ask(args, reviewers, more), 0, "{what}, again");
    }
    for (what, reviewers, more) in [
        ("the reviewer's name", &[Reviewer::new("renamed", crate::common::Dialect::OpenAi, &peer, "qwen3-coder")], ""),
        ("the times", &[qwen.clone().with("timeout: 77")], "deadline: 99\npush_deadline: 98\n"),
    ] {
        assert_eq!(ask(&[], reviewers, more), 0, "{what} shapes no answer");
    }
    // The policy at the base, published by somebody else.
    sandbox.configure(&[qwen], "");
    colleague_publishes(&sandbox, &repo, ".review-gate.yaml", "block: MEDIUM\n");
    repo.git(&["rebase", "-q", "origin/main"]);
    assert_ne!(cost(&repo, &peer, "topic", "refs/heads/topic", 0), 0, "the policy");
    assert_eq!(cost(&repo, &peer, "topic", "refs/heads/topic", 0), 0, "the policy, again");
}

/// A peer that is out until the test mends it.
fn out_of_order() -> (Peer, Arc<AtomicBool>) {
    let mended = Arc::new(AtomicBool::new(false));
    let works = Arc::clone(&mended);
    (Peer::scripted(move |_| if works.load(Ordering::SeqCst) { Behaviour::Honest } else { Behaviour::Status(500, "out") }), mended)
}

#[test]
fn a_refusal_leaves_none() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    for _ in 0..2 {
        assert_ne!(cost(&repo, &peer, "main", "refs/heads/main", 1), 0);
    }
}

#[test]
fn a_later_refusal_takes_an_earlier_receipt_away() {
    let (sandbox, changed) = (Sandbox::new(), Arc::new(AtomicBool::new(false)));
    let mind = Arc::clone(&changed);
    let peer = Peer::scripted(move |_| if mind.load(Ordering::SeqCst) { Behaviour::Honest } else { Behaviour::Clean });
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    assert_ne!(cost(&repo, &peer, "main", "refs/heads/main", 0), 0);
    // The receipt would be taken; whoever puts the ledger back in time asks again.
    let (receipt, ledger) = (fs::read(repo.ledger()).unwrap(), repo.ledger());
    fs::remove_file(&ledger).unwrap();
    changed.store(true, Ordering::SeqCst);
    assert_ne!(cost(&repo, &peer, "main", "refs/heads/main", 1), 0);
    let refusal = runs(&repo).remove(0);
    fs::write(&ledger, receipt).unwrap();
    assert_eq!(cost(&repo, &peer, "main", "refs/heads/main", 0), 0);
    Ledger::open(&common_dir(&repo)).unwrap().append_run(refusal, now_utc()).unwrap();
    assert_ne!(cost(&repo, &peer, "main", "refs/heads/main", 1), 0);
}

#[test]
fn a_degraded_review_leaves_none() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let out = Reviewer::mistral(&peer).host(&format!("{}/v1", Peer::dead()));
    let repo = sandbox.gated(&[out, Reviewer::qwen(&peer)], "author: qwen\nsame_family: degraded\n");
    repo.write("run.rs", GOOD).commit("run");
    for _ in 0..2 {
        assert_ne!(cost(&repo, &peer, "main", "refs/heads/main", 0), 0);
    }
    assert!(repo.records().iter().all(|record| record["subjects"][0]["basis"] == "degraded"), "{:?}", repo.records());
}

#[test]
fn an_override_leaves_none() {
    let (sandbox, (peer, mended)) = (Sandbox::new(), out_of_order());
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    cost(&repo, &peer, "main", "refs/heads/main", 9);
    repo.gate(&["override", "--reason", REASON]).run().expect(0);
    assert_eq!(cost(&repo, &peer, "main", "refs/heads/main", 0), 0, "the override's own ref");
    mended.store(true, Ordering::SeqCst);
    assert_ne!(cost(&repo, &peer, "main", "refs/heads/other", 0), 0, "the same subject at a ref that the override is not for");
}

#[test]
fn advisory_mode_leaves_none() {
    let until = (now_utc() + 30 * DAY).to_string();
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".review-gate.yaml", format!("mode: {{ advisory_until: {} }}\n", &until[..10])).commit("policy");
    repo.publish("main");
    for content in [GOOD, EVIL] {
        repo.write("run.rs", content).commit("run");
        for _ in 0..2 {
            assert_ne!(cost(&repo, &peer, "main", "refs/heads/main", 0), 0, "{content}");
        }
    }
}

#[test]
fn a_review_that_was_skipped_leaves_none() {
    let (sandbox, (peer, mended)) = (Sandbox::new(), out_of_order());
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".review-gate.yaml", "on_unavailable: warn\n").commit("policy");
    repo.publish("main");
    repo.write("run.rs", GOOD).commit("run");
    cost(&repo, &peer, "main", "refs/heads/main", 0);
    assert_eq!(repo.records()[0]["verdict"], "unavailable");
    mended.store(true, Ordering::SeqCst);
    assert_ne!(cost(&repo, &peer, "main", "refs/heads/main", 0), 0);
    assert_eq!(cost(&repo, &peer, "main", "refs/heads/main", 0), 0, "now it was reviewed");
}

#[test]
fn a_narrowed_or_dry_run_leaves_none_and_a_whole_one_does() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let ask = |args: &[&str]| {
        let before = peer.questions().len();
        repo.gate(&[&["run", "--push"], args].concat()).run().expect(0);
        peer.questions().len() - before
    };
    // The one file is the whole change, so only the narrowing can make the difference.
    assert_eq!((ask(&["--file", "run.rs"]), ask(&["--dry-run"]), ask(&[])), (1, 0, 1));
    assert_eq!((ask(&[]), ask(&["--file", "run.rs"])), (0, 1), "nor does a narrowed run take one");
}

#[test]
fn a_run_that_was_cut_off_leaves_none() {
    let (sandbox, release) = (Sandbox::new(), Latch::closed());
    let door = release.clone();
    let script = move |request: &Request| {
        if request.holds("two.rs") {
            door.wait();
        }
        Behaviour::Honest
    };
    let peer = Peer::scripted(script);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    for name in ["one", "two"] {
        repo.branch(name, "main").write(&format!("{name}.rs"), GOOD).commit(name);
    }
    let lines = repo.push_line("one") + &repo.push_line("two");
    let gate = Gate::pre_push(&repo, &lines).start();
    peer.wait_for_questions(2);
    peer.wait_for_answers(1);
    gate.signal(Signal::INT);
    gate.finish().expect(130);
    release.open();
    let record = repo.records().remove(0);
    let subjects = record["subjects"].as_array().unwrap();
    assert!(subjects.iter().all(|subject| subject["verdict"] != "pass" || subject["receipt_key"].is_null()), "{record}");
    Gate::pre_push(&repo, &lines).run().expect(0);
    assert_eq!(peer.questions().len(), 4, "both are asked about again");
}

fn common_dir(repo: &Repo<'_>) -> PathBuf {
    repo.state().parent().unwrap().to_owned()
}

fn runs(repo: &Repo<'_>) -> Vec<RunRecord> {
    let history = History::read(&common_dir(repo)).unwrap();
    let run = |event: &Event| match event {
        Event::Run(run) => Some(run.clone()),
        Event::Override(_) | Event::Repair(_) | Event::Note(_) => None,
    };
    history.records().iter().filter_map(|record| run(&record.event)).collect()
}

/// A repository whose change was passed once, with one more record behind the receipt's.
fn passed<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    let repo = sandbox.gated(&[Reviewer::qwen(peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    assert_eq!(cost(&repo, peer, "main", "refs/heads/main", 0), 1);
    assert_eq!(cost(&repo, peer, "main", "refs/heads/main", 0), 0);
    repo
}

/// Gives a line the hash that its content asks for, as anyone can who has read the documentation.
fn rehashed(line: &str) -> String {
    let (before, rest) = line.split_once(r#""h":""#).expect("a record has a hash");
    let after = rest.split_once("\",").expect("the hash ends").1;
    let hash = Digest::of(format!("{before}{after}")).hex();
    format!(r#"{before}"h":"{hash}",{after}"#)
}

#[test]
fn a_record_that_was_changed_is_no_receipt() {
    type Edit = fn(&str) -> String;
    let evil_key = |line: &str| line.replacen(r#""receipt_key":""#, r#""receipt_key":"0"#, 1);
    let edits: [(&str, Edit, bool); 5] = [
        ("the key", evil_key, false),
        ("the key, with its hash", evil_key, true),
        ("the verdict, with its hash", |line| line.replacen(r#""basis":"reviewed""#, r#""basis":"checked""#, 1), true),
        ("the time, with its hash", |line| line.replacen(r#""time":"2"#, r#""time":"1"#, 1), true),
        ("the number, with its hash", |line| line.replacen(r#""seq":1,"#, r#""seq":2,"#, 1), true),
    ];
    for (what, edit, rehash) in edits {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = passed(&sandbox, &peer);
        let text = fs::read_to_string(repo.ledger()).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        let edited = edit(first);
        assert_ne!(edited, first, "{what}: the edit must change something");
        fs::write(repo.ledger(), format!("{}\n{rest}", if rehash { rehashed(&edited) } else { edited })).unwrap();
        assert_eq!(cost(&repo, &peer, "main", "refs/heads/main", 14), 0, "{what}");
    }
}

#[test]
fn a_record_of_a_newer_version_is_no_receipt() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = passed(&sandbox, &peer);
    let text = fs::read_to_string(repo.ledger()).unwrap();
    let newer: String = text.lines().take(1).map(|line| rehashed(&line.replacen(r#""v":1"#, r#""v":2"#, 1)) + "\n").collect();
    fs::write(repo.ledger(), newer).unwrap();
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(14).says("newer review-gate");
    assert_eq!(peer.questions().len(), 1);
}

/// No clock of the program can be moved, so the record is made at another time, by the program's own code.
#[test]
fn a_receipt_never_ages_and_one_of_another_clock_is_none() {
    for (time, calls) in [(now_utc() - 3650 * DAY, 0), (now_utc() + DAY, 1)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = passed(&sandbox, &peer);
        let run = runs(&repo).remove(0);
        fs::remove_file(repo.ledger()).unwrap();
        Ledger::open(&common_dir(&repo)).unwrap().append_run(run, time).unwrap();
        assert_eq!(cost(&repo, &peer, "main", "refs/heads/main", 0), calls, "{time}");
    }
}

#[test]
fn each_subject_of_a_push_has_its_own() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    for (name, content) in [("one", GOOD), ("two", EVIL)] {
        repo.branch(name, "main").write(&format!("{name}.rs"), content).commit(name);
    }
    Gate::pre_push(&repo, &(repo.push_line("one") + &repo.push_line("two"))).run().expect(1);
    assert_eq!(cost(&repo, &peer, "one", "refs/heads/one", 0), 0, "reviewed and found clean, whatever stood beside it");
    assert_ne!(cost(&repo, &peer, "two", "refs/heads/two", 1), 0);
}
