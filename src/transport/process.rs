//! Child processes: started in a group of their own, fed, read up to a cap, and ended at a limit. The only place that starts one.
//!
//! Leaves to callers: which program, and what its answer is worth. An exit status of 0 proves nothing about a reviewer.

mod environment;
#[cfg(test)]
mod tests;

pub use environment::{Environment, find_on_path};

use crate::clock::{Deadline, Limit};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
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

/// A program to run once.
#[derive(Debug, Clone)]
pub struct Child {
    /// The program, by absolute path.
    pub program: PathBuf,
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Environment,
    /// The directory it starts in.
    pub cwd: PathBuf,
    /// What it reads on stdin; end of file follows.
    pub stdin: Vec<u8>,
    /// Where its stderr goes.
    pub stderr: Stderr,
}

/// Where a child's stderr goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr {
    /// It is kept, up to the cap; the rest is read and dropped.
    Captured,
    /// It is ours: people see it at once.
    Inherited,
}

/// The most that is kept of each stream, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// More on stdout ends the child: half an answer is none.
    pub stdout: usize,
    /// More on stderr is dropped.
    pub stderr: usize,
}

/// How a child ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It returned this status.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
}

/// What a child that ended by itself left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub ended: Ended,
    /// All of its stdout.
    pub stdout: Vec<u8>,
    /// Its stderr, up to the cap; empty where it was inherited.
    pub stderr: Vec<u8>,
}

/// Why there is no output to judge.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// A bare or relative name could be found inside the repository under review.
    #[error("{} is not an absolute path; name the program by its full path", .0.display())]
    NotAbsolute(PathBuf),
    /// The shell's 127 (requirement C07).
    #[error("{} or its interpreter is not there; install it or correct the path", .0.display())]
    NotFound(PathBuf),
    /// The shell's 126.
    #[error("{} cannot be executed; check its permissions", .0.display())]
    NotExecutable(PathBuf),
    /// Anything else that kept it from starting.
    #[error("{} could not be started: {source}", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It was ended at a limit. Whatever it said or returned after that does not count.
    #[error("{} was still running at the {limit} and was ended", .program.display())]
    TimedOut {
        /// The program.
        program: PathBuf,
        /// Which limit.
        limit: Limit,
        /// Its stderr, up to the cap.
        stderr: Vec<u8>,
    },
    /// It was ended because it wrote too much.
    #[error("{} wrote more than {cap} bytes and was ended", .program.display())]
    TooMuch {
        /// The program.
        program: PathBuf,
        /// The cap on its stdout, in bytes.
        cap: usize,
    },
}

/// Runs a program to its end, to `deadline`, or to its cap on stdout, whichever is first. Nothing of its process group outlives the call.
///
/// # Errors
/// A [`ProcessError`] wherever the program did not end by itself with all of its stdout read.
pub fn run(child: Child, deadline: Deadline, caps: Caps) -> Result<Output, ProcessError> {
    let program = child.program.clone();
    let mut running = Running::start(child)?;
    let mut seen = Seen::default();
    let cut = running.follow(&mut seen, deadline, caps);
    let status = running.end();
    match (cut, status) {
        (Some(Cut::Cap), _) => Err(ProcessError::TooMuch { program, cap: caps.stdout }),
        (None, Some(status)) => Ok(Output { ended: status.into(), stdout: seen.stdout, stderr: seen.stderr }),
        (Some(Cut::Limit), _) | (None, None) => Err(ProcessError::TimedOut { program, limit: deadline.limit(), stderr: seen.stderr }),
    }
}

/// Kills every group that is running now: for an interrupt, which the terminal does not send to groups of their own. Their [`run`] returns as usual.
pub fn kill_running() {
    for group in live().iter() {
        kill(*group, Signal::KILL);
    }
}

/// Groups whose leader has not been reaped, so that none of these numbers can belong to anyone else.
static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill(group: i32, signal: Signal) {
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
enum Cut {
    Limit,
    Cap,
}

#[derive(Default)]
struct Seen {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    gone: bool,
}

struct Running {
    child: std::process::Child,
    group: i32,
    events: Receiver<Event>,
    open_pipes: usize,
}

impl Running {
    fn start(spec: Child) -> Result<Running, ProcessError> {
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
    fn follow(&mut self, seen: &mut Seen, deadline: Deadline, caps: Caps) -> Option<Cut> {
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
    fn end(mut self) -> Option<ExitStatus> {
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

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Ended {
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, signal) => Ended::Signalled(signal.unwrap_or_default()),
        }
    }
}

fn child_has_stderr(stderr: Stderr) -> bool {
    match stderr {
        Stderr::Captured => true,
        Stderr::Inherited => false,
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts a process")]
fn spawn(spec: &Child) -> io::Result<std::process::Child> {
    let stderr = match spec.stderr {
        Stderr::Captured => Stdio::piped(),
        Stderr::Inherited => Stdio::inherit(),
    };
    std::process::Command::new(&spec.program)
        .args(&spec.args)
        .env_clear()
        .envs(spec.env.iter())
        .current_dir(&spec.cwd)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
}

fn start_error(program: PathBuf, source: io::Error) -> ProcessError {
    if source.kind() == io::ErrorKind::NotFound {
        ProcessError::NotFound(program)
    } else if source.kind() == io::ErrorKind::PermissionDenied {
        ProcessError::NotExecutable(program)
    } else {
        ProcessError::Start { program, source }
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
