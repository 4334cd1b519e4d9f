//! The way past a refusal: one subject, one ref, a reason, an end, and a record.

use crate::common::{Behaviour, EVIL, Gate, Peer, Repo, Reviewer, Sandbox};
use review_gate::clock::now_utc;
use review_gate::ledger::{Ledger, Lifetime, Reason, Refused, Waiting};
use std::time::Duration;

const REASON: &str = "the input comes from our own build and is checked there";

/// A repository whose last push was refused.
fn refused<'s>(sandbox: &'s Sandbox, peer: &Peer) -> Repo<'s> {
    let repo = sandbox.gated(&[Reviewer::qwen(peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    repo.push(&["origin", "main"]).expect_refused();
    repo
}

#[test]
fn an_override_lets_the_refused_subject_through_and_is_written_down() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = refused(&sandbox, &peer);
    let calls = peer.questions().len();
    repo.gate(&["override", "--reason", REASON]).run().expect(0);
    repo.push(&["origin", "main"]).expect(0).says("OVERRIDDEN");
    assert_eq!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
    assert_eq!(peer.questions().len(), calls, "an overridden change is not sent anywhere");
    repo.gate(&["log", "show"]).run().expect(0).says(REASON);
    repo.gate(&["log", "verify"]).run().expect(0);
}

#[test]
fn a_reason_without_substance_is_not_valid() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = refused(&sandbox, &peer);
    for reason in ["", "   ", "ok", "......................"] {
        repo.gate(&["override", "--reason", reason]).run().expect(17);
    }
    repo.push(&["origin", "main"]).expect_refused();
}

#[test]
fn an_override_holds_for_one_ref_of_one_remote() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = refused(&sandbox, &peer);
    repo.remote("second", &sandbox.bare("second.git"));
    repo.git(&["push", "-q", "--no-verify", "second", "main~1:refs/heads/main"]);
    repo.gate(&["override", "--reason", REASON]).run().expect(0);
    repo.push(&["second", "main"]).expect_refused();
    assert_eq!(repo.remote_oid("second", "refs/heads/main"), Some(repo.oid("main~1")));
    repo.push(&["origin", "main"]).expect(0);
}

/// Refused at `main`, let through there; then the same change is refused at `other`.
#[test]
fn a_change_that_is_overridden_for_one_ref_can_be_overridden_for_the_next() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = refused(&sandbox, &peer);
    repo.gate(&["override", "--reason", REASON]).run().expect(0).says("refs/heads/main at origin");
    repo.push(&["origin", "main:refs/heads/other"]).expect_refused();
    repo.gate(&["override", "--reason", REASON]).run().expect(0).says("refs/heads/other at origin");
    repo.push(&["origin", "main:refs/heads/other"]).expect(0).says("OVERRIDDEN");
}

/// Refused at `main`, then at `other`; the override is for `other`, the last one, and `main` still waits.
#[test]
fn an_override_for_the_last_ref_leaves_the_earlier_one_waiting() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = refused(&sandbox, &peer);
    repo.push(&["origin", "main:refs/heads/other"]).expect_refused();
    let made = |place: &str| repo.gate(&["override", "--reason", REASON]).run().expect(0).says(place).stdout;
    let other = made("refs/heads/other at origin");
    made("refs/heads/main at origin");
    let id = other.split(' ').nth(1).expect("the override's id");
    let nothing = repo.gate(&["override", "--reason", REASON]).run().expect(17).says("no refused subject").says("--subject ID");
    assert!(nothing.says(id).stderr.contains("lets subject"), "the override that covers it is named");
}

#[test]
fn an_override_does_not_cover_a_later_change() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = refused(&sandbox, &peer);
    repo.gate(&["override", "--reason", REASON]).run().expect(0);
    repo.write("more.rs", EVIL).commit("more");
    repo.push(&["origin", "main"]).expect_refused().says("more.rs:1");
}

/// No clock of the program can be moved, so the record is made in the past, by the program's own code.
#[test]
fn an_override_ends() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = refused(&sandbox, &peer);
    let common_dir = repo.state().parent().unwrap().to_owned();
    let mut ledger = Ledger::open(&common_dir).unwrap();
    let Waiting::For(Refused { subject, .. }) = ledger.history().waiting(now_utc()) else { panic!("the push was refused") };
    let (reason, life) = (Reason::parse(REASON).unwrap(), Lifetime::parse("1h").unwrap());
    ledger.add_override(&subject, None, &reason, life, now_utc() - Duration::from_secs(3601)).unwrap();
    repo.push(&["origin", "main"]).expect_refused();
    for endless in ["0h", "9999d", "soon", ""] {
        repo.gate(&["override", "--reason", REASON, "--expires", endless]).run().expect(17);
    }
}

#[test]
fn an_override_needs_something_that_was_refused() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.gate(&["override", "--reason", REASON]).run().expect(17).says("no refused subject");
    repo.gate(&["override", "--reason", REASON, "--subject", "0123456789abcdef"]).run().expect(17);
}

#[test]
fn run_takes_an_override_of_its_own() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).add();
    repo.gate(&["run", "--staged"]).run().expect(1);
    repo.gate(&["run", "--staged", "--override", "x"]).run().expect(17);
    let (run, report) = repo.gate(&["run", "--staged", "--override", REASON]).report();
    run.expect(0);
    assert_eq!(report["subjects"][0]["override"]["reason"], REASON);
    let id = report["subjects"][0]["override"]["id"].as_str().expect("the report names the override");
    repo.gate(&["log", "show"]).run().expect(0).says(id);
    assert_eq!(repo.gate(&["log", "show"]).run().expect(0).stdout.matches(REASON).count(), 1);
}

#[test]
fn a_dead_reviewer_can_be_overridden_and_a_broken_key_cannot() {
    for (behaviour, status, lifted) in [(Behaviour::Status(500, "out"), 9, true), (Behaviour::Status(401, "no"), 7, false)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(behaviour));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 5\n");
        repo.write("run.rs", EVIL).commit("run");
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(status);
        repo.gate(&["override", "--reason", REASON]).run().expect(if lifted { 0 } else { 17 });
        assert_eq!(repo.push(&["origin", "main"]).status == 0, lifted, "status {status}");
    }
}
