//! A run that is ended from outside says so in its status and leaves nothing running.

use crate::common::{Behaviour, GATE, GOOD, Gate, Latch, Peer, Reviewer, Sandbox, child};
use rustix::process::Signal;
use std::time::{Duration, Instant};

#[test]
fn signals_end_a_waiting_run_at_once() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Hang));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("run.rs", GOOD).commit("run");
        let before = repo.snapshot();
        let gate = Gate::pre_push(&repo, &repo.push_line("main")).start();
        let group = gate.group();
        peer.wait_for_question();
        let sent = Instant::now();
        gate.signal(signal);
        gate.finish().expect(status);
        assert!(sent.elapsed() < Duration::from_secs(2), "it took {:?}", sent.elapsed());
        assert!(rustix::process::test_kill_process_group(group).is_err(), "a process of the run is alive");
        peer.wait_until_idle();
        assert_eq!(repo.snapshot(), before);
        repo.gate(&["log", "verify"]).run().expect(0);
    }
}

#[test]
fn a_closed_stderr_changes_no_decision() {
    for (content, status) in [(GOOD, 0), (crate::common::EVIL, 1)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("run.rs", content).commit("run");
        let mut shell = sandbox.command("sh");
        let script = r#"printf '%s' "$2" | "$1" hook pre-push --from-git origin url 2>&-"#;
        shell.args(["-c", script, "sh", crate::common::GATE, &repo.push_line("main")]).current_dir(repo.path());
        crate::common::child::run(shell, b"").expect(status);
    }
}

/// A peer that answers once the door is open.
fn behind(door: &Latch) -> Peer {
    let door = door.clone();
    Peer::scripted(move |_| {
        door.wait();
        Behaviour::Honest
    })
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let mut shell = sandbox.command("sh");
    shell.args(["-c", r#"trap '' HUP INT; exec "$0" run --push"#, GATE]).current_dir(repo.path());
    let gate = child::start(shell, b"");
    peer.wait_for_question();
    gate.signal(Signal::HUP);
    gate.signal(Signal::INT);
    door.open();
    gate.finish().expect(0);
}

#[test]
fn a_run_that_a_person_started_outlives_the_shell() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let mut shell = sandbox.command("sh");
    // Its output is the shell's, so that it has ended once that is closed.
    shell.args(["-c", r#""$0" run --push & wait"#, GATE]).current_dir(repo.path());
    let shell = child::start(shell, b"");
    peer.wait_for_question();
    let started = i32::try_from(shell.pid()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(started).unwrap(), Signal::KILL).unwrap();
    until_orphaned(started);
    door.open();
    peer.wait_until_idle();
    while repo.records().is_empty() {
        std::thread::yield_now();
    }
    repo.push(&["origin", "main"]).expect(0).says("passed before with this content");
    shell.finish();
}

/// Waits until nobody has the process as a parent.
fn until_orphaned(parent: i32) {
    let children = format!("/proc/{parent}/task/{parent}/children");
    while std::fs::read_to_string(&children).is_ok_and(|children| !children.trim().is_empty()) {
        std::thread::yield_now();
    }
}
