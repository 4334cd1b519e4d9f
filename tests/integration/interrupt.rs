//! A run that is ended from outside says so in its status and leaves nothing running.

use crate::common::{Behaviour, GOOD, Gate, Peer, Reviewer, Sandbox};
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
