//! One child under way: its group, the threads at its pipes, and the wait that ends with it or with a limit.
//!
//! Leaves to `process.rs`: what a caller asks for and gets.

use super::{Caps, Child, ProcessError, Stderr, spawn, start_error};
use crate::clock::{Deadline, Limit};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long before the limit the group is asked to end (TERM); it is made to (KILL) at the limit. Under a limit of 8 s: a quarter of it.
const TERM_AHEAD: Duration = Duration::from_secs(2);
/// How long a pipe may stay silent once its process is gone. Only a descendant that left the group can still hold it.
const PIPE_SILENCE: Duration = Duration::from_millis(500);
/// How long the kernel gets to end a killed process before we go on without it.
const REAP: Duration = Duration::from_millis(200);
const CHUNK: usize = 64 * 1024;

/// Groups whose leader has not been reaped, so that none of these numbers can belong to anyone else.
static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

pub(super) fn live() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn kill(group: i32, signal: Signal) {
    // A group that has ended meanwhile is what was wanted.
    let _ = Pid::from_raw(group).map(|pid| kill_process_group(pid, signal));
}

enum Event {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// One of the pipes reached its end.
    Closed,
    /// The leader ended; it stays unreaped, so its number stays ours.
    Gone,
}

/// Why a child was ended by us.
pub(super) enum Cut {
    Limit,
    Cap,
}

#[derive(Default)]
pub(super) struct Seen {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    gone: bool,
}

pub(super) struct Running {
    child: std::process::Child,
    group: i32,
    events: Receiver<Event>,
    open_pipes: usize,
}

impl Running {
    pub(super) fn start(spec: Child) -> Result<Running, ProcessError> {
        if !spec.program.is_absolute() {
            return Err(ProcessError::NotAbsolute(spec.program));
        }
        let failed = |source: io::Error| start_error(spec.program.clone(), source);
        let mut child = spawn(&spec).map_err(failed)?;
        let group = child.id().cast_signed();
        live().insert(group);
        let (sender, events) = sync_channel(64);
        let threads = attach(&mut child, spec.stdin, sender);
        let open_pipes = usize::from(child_has_stderr(spec.stderr)) + 1;
        let running = Running { child, group, events, open_pipes };
        match threads {
            Ok(()) => Ok(running),
            Err(source) => {
                running.end();
                Err(failed(source))
            }
        }
    }

    /// Collects what the child says until it is gone and its pipes are closed, or until we must end it; then tells why.
    pub(super) fn follow(&mut self, seen: &mut Seen, deadline: Deadline, caps: Caps) -> Option<Cut> {
        let ask_at = deadline.less(TERM_AHEAD.min(deadline.left() / 4));
        let mut asked = false;
        while !seen.gone || self.open_pipes > 0 {
            // Looked at before each event, not only when none comes: a flood must not outrun the limit.
            if deadline.passed() {
                return Some(Cut::Limit);
            }
            if !seen.gone && !asked && ask_at.passed() {
                asked = true;
                kill(self.group, Signal::TERM);
            }
            let next = if asked { deadline } else { ask_at };
            let wait = if seen.gone { PIPE_SILENCE.min(deadline.left()) } else { next.left() };
            match self.events.recv_timeout(wait) {
                Ok(event) => self.take(event, seen, caps),
                Err(RecvTimeoutError::Timeout) if !seen.gone => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
            if seen.stdout.len() > caps.stdout {
                return Some(Cut::Cap);
            }
        }
        asked.then_some(Cut::Limit)
    }

    fn take(&mut self, event: Event, seen: &mut Seen, caps: Caps) {
        match event {
            Event::Stdout(bytes) => seen.stdout.extend(bytes),
            Event::Stderr(bytes) => {
                let room = caps.stderr.saturating_sub(seen.stderr.len());
                seen.stderr.extend(bytes.into_iter().take(room));
            }
            Event::Closed => self.open_pipes -= 1,
            Event::Gone => {
                seen.gone = true;
                // What the leader left behind would keep the pipes open, and go on working.
                kill(self.group, Signal::KILL);
            }
        }
    }

    /// Ends whatever is left and reaps the leader. `None`: the kernel did not let go of it in time.
    pub(super) fn end(mut self) -> Option<ExitStatus> {
        kill(self.group, Signal::KILL);
        // A leader that moved itself to another group.
        let _ = self.child.kill();
        let limit = Deadline::after(REAP, Limit::Slice);
        loop {
            let left = limit.left();
            // Taken off the list before it is reaped: from then on the number may be anyone's.
            live().remove(&self.group);
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Err(_) => return None,
                Ok(None) if left.is_zero() => return None,
                Ok(None) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

fn child_has_stderr(stderr: Stderr) -> bool {
    match stderr {
        Stderr::Captured => true,
        Stderr::Inherited => false,
    }
}

/// Starts the threads around a child. None is joined: each ends with its pipe, and a descendant that left the group may hold one for ever.
fn attach(child: &mut std::process::Child, input: Vec<u8>, events: SyncSender<Event>) -> io::Result<()> {
    let pid = child.id().cast_signed();
    if let Some(mut stdin) = child.stdin.take() {
        // A child that stops reading early (EPIPE) is judged by what it says.
        detach("child-stdin", move || drop(stdin.write_all(&input)))?;
    }
    if let Some(stdout) = child.stdout.take() {
        let events = events.clone();
        detach("child-stdout", move || forward(stdout, &events, Event::Stdout))?;
    }
    if let Some(stderr) = child.stderr.take() {
        let events = events.clone();
        detach("child-stderr", move || forward(stderr, &events, Event::Stderr))?;
    }
    detach("child-wait", move || {
        await_end(pid);
        let _ = events.send(Event::Gone);
    })
}

fn detach(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// Sends what a pipe brings until its end, or until nobody listens any more.
fn forward(mut pipe: impl Read, events: &SyncSender<Event>, wrap: fn(Vec<u8>) -> Event) {
    let mut chunk = vec![0; CHUNK];
    loop {
        match pipe.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => {
                let _ = events.send(Event::Closed);
                return;
            }
            Ok(n) => {
                if events.send(wrap(chunk[..n].to_vec())).is_err() {
                    return;
                }
            }
        }
    }
}

/// Waits for a process to end without reaping it, so that its group can still be addressed safely.
fn await_end(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
}
