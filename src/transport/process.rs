//! Child processes: started in a group of their own, fed, read up to a cap, and ended at a limit. The only place that starts one.
//!
//! Leaves to callers: which program, and what its answer is worth. An exit status of 0 proves nothing about a reviewer.

mod environment;
mod running;
#[cfg(test)]
mod tests;

pub use environment::{Environment, find_on_path, repository_variables};

use crate::clock::{Deadline, Limit};
use running::{Cut, Running, Seen, kill, live};
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

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

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Ended {
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, signal) => Ended::Signalled(signal.unwrap_or_default()),
        }
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
