//! Children that hang, flood, linger or never start, and what becomes of each.

use super::*;
use crate::clock::Limit;
use crate::clock::instant;
use crate::env::Env;
use rustix::process::{Pid, test_kill_process};
use std::thread;
use std::time::Duration;

const CAPS: Caps = Caps { stdout: 16 << 20, stderr: 1 << 10 };

fn shell(script: &str) -> Child {
    Child {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: Environment::outside_repository(&Env::of_process()),
        cwd: "/".into(),
        stdin: Vec::new(),
        stderr: Stderr::Captured,
    }
}

fn within(ms: u64) -> Deadline {
    Deadline::after(Duration::from_millis(ms), Limit::Reviewer)
}

/// Tells whether a process dies within a moment: a KILL is sent at once but carried out by the kernel in its own time.
fn dies(pid: &str) -> bool {
    let moment = within(500);
    while is_alive(pid) && !moment.passed() {
        thread::sleep(Duration::from_millis(5));
    }
    !is_alive(pid)
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    !zombie && test_kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap()).is_ok()
}

#[test]
fn status_streams_and_input_come_through() {
    let child = Child { stdin: b"in".to_vec(), ..shell("cat; echo err >&2; exit 7") };
    let out = run(child, within(10_000), CAPS).unwrap();
    assert_eq!(out, Output { ended: Ended::Exited(7), stdout: b"in".to_vec(), stderr: b"err\n".to_vec() });
    assert_eq!(run(shell("kill -9 $$"), within(10_000), CAPS).unwrap().ended, Ended::Signalled(9));
}

#[test]
fn eight_mebibytes_go_through_cat_unharmed() {
    let input: Vec<u8> = (0..8u32 << 20).map(|i| (i % 251) as u8).collect();
    let out = run(Child { stdin: input.clone(), ..shell("exec cat") }, within(20_000), CAPS).unwrap();
    assert!(out.stdout == input, "{} of {} bytes", out.stdout.len(), input.len());
}

#[test]
fn a_child_that_reads_nothing_is_judged_by_what_it_says() {
    let out = run(Child { stdin: vec![0; 8 << 20], ..shell("exec <&-; echo done") }, within(10_000), CAPS).unwrap();
    assert_eq!((out.ended, out.stdout.as_slice()), (Ended::Exited(0), b"done\n".as_slice()));
}

#[test]
fn what_ignores_term_is_gone_at_the_limit_with_all_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; (trap '' TERM; sleep 60) & echo $$ $! > pids; while :; do sleep 60; done";
    let started = instant();
    let result = run(Child { cwd: dir.path().into(), ..shell(script) }, within(800), CAPS);
    let took = started.elapsed();
    assert!(matches!(result, Err(ProcessError::TimedOut { limit: Limit::Reviewer, .. })), "{result:?}");
    assert!((800..1100).contains(&took.as_millis()), "{took:?}");
    for pid in std::fs::read_to_string(dir.path().join("pids")).unwrap().split_whitespace() {
        assert!(dies(pid), "{pid} lives");
    }
}

#[test]
fn an_answer_after_the_request_to_end_does_not_count() {
    let result = run(shell("trap 'echo PASS; echo late >&2; exit 0' TERM; while :; do sleep 0.01; done"), within(1000), CAPS);
    let Err(ProcessError::TimedOut { stderr, .. }) = result else { panic!("{result:?}") };
    assert!(stderr.ends_with(b"late\n"), "{}", String::from_utf8_lossy(&stderr));
}

#[test]
fn a_grandchild_that_holds_the_pipe_delays_nothing_and_is_ended() {
    // It keeps writing, so that waiting for silence would not end either.
    let script = "(while :; do echo still here >&2; sleep 0.05; done) & echo $!";
    let started = instant();
    let out = run(shell(script), within(8_000), CAPS).unwrap();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert!(dies(std::str::from_utf8(&out.stdout).unwrap().trim()));
}

#[test]
fn a_flood_ends_at_the_cap_and_one_on_stderr_at_the_limit() {
    let caps = Caps { stdout: 100_000, stderr: 10 };
    assert!(matches!(run(shell("exec yes"), within(20_000), caps), Err(ProcessError::TooMuch { cap: 100_000, .. })));
    let started = instant();
    let result = run(shell("trap '' TERM; exec yes >&2"), within(500), caps);
    let Err(ProcessError::TimedOut { stderr, .. }) = result else { panic!("{result:?}") };
    assert_eq!(stderr.len(), 10);
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
}

#[test]
fn exactly_the_cap_is_allowed_and_no_byte_more() {
    let caps = Caps { stdout: 5, stderr: 0 };
    assert_eq!(run(shell("printf 12345"), within(10_000), caps).unwrap().stdout, b"12345");
    assert!(matches!(run(shell("printf 123456"), within(10_000), caps), Err(ProcessError::TooMuch { .. })));
}

#[test]
fn what_cannot_start_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let start = |program: PathBuf| run(Child { program, ..shell("") }, within(10_000), CAPS).unwrap_err();
    assert!(matches!(start("sh".into()), ProcessError::NotAbsolute(_)));
    assert!(matches!(start(dir.path().join("absent")), ProcessError::NotFound(_)));
    assert!(matches!(start(plain), ProcessError::NotExecutable(_)));
}

#[test]
fn the_environment_is_exactly_the_one_given() {
    let env = Environment::default().with("A", "1").with("B", "2").with("A", "3");
    let out = run(Child { program: "/usr/bin/env".into(), args: Vec::new(), env, ..shell("") }, within(10_000), CAPS).unwrap();
    assert_eq!(out.stdout, b"A=3\nB=2\n");
}

#[test]
fn a_group_can_be_ended_from_outside_while_it_runs_and_not_after() {
    let dir = tempfile::tempdir().unwrap();
    let child = Child { cwd: dir.path().into(), ..shell("echo $$ > new; mv new pid; exec sleep 60") };
    let running = thread::spawn(move || run(child, within(20_000), CAPS));
    let moment = within(10_000);
    let group: i32 = loop {
        assert!(!moment.passed());
        match std::fs::read_to_string(dir.path().join("pid")) {
            Ok(pid) => break pid.trim().parse().unwrap(),
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(live().contains(&group));
    kill(group, Signal::KILL);
    assert_eq!(running.join().unwrap().unwrap().ended, Ended::Signalled(9));
    assert!(!live().contains(&group));
}
