//! Ctrl-C, a polite kill, and the death of the process that waits for us. The only user of signal-hook.
//!
//! Once installed, a signal no longer ends the process by itself: it sets a mark that the waiting thread looks at, so that children and calls are ended and
//! the status says what happened (130, 143).

use crate::exit::Code;
use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where Linux says how a process takes signals. To ask the C library would be unsafe code; elsewhere no signal is known to be ignored.
const STATUS: &str = "/proc/self/status";

/// Who started the program. Noted at once: reading a large change takes a while, and a parent that dies meanwhile would else be taken for the one that is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parent(Option<Pid>);

impl Parent {
    /// Notes it.
    pub(super) fn now() -> Parent {
        Parent(getppid())
    }

    fn is_gone(self) -> bool {
        getppid() != self.0
    }
}

/// The mark that a signal leaves.
pub(super) struct Interrupt {
    caught: Arc<AtomicUsize>,
    /// Whose death ends the run: git's, for a hook. What a person started may outlive the shell.
    parent: Option<Parent>,
}

impl Interrupt {
    /// Starts to catch signals. Where that is not possible they end the process as ever, which refuses as well. What whoever started us ignores (`nohup`,
    /// `trap '' INT`) stays ignored.
    pub(super) fn install(parent: Option<Parent>) -> Interrupt {
        let caught = Arc::new(AtomicUsize::new(0));
        let ignored = std::fs::read_to_string(STATUS).map_or(0, |status| ignored(&status));
        let signals = [(SIGINT, Code::Interrupted), (SIGTERM, Code::Terminated), (SIGHUP, Code::Terminated)];
        for (signal, code) in signals.into_iter().filter(|(signal, _)| ignored & (1 << (signal - 1)) == 0) {
            let _ = signal_hook::flag::register_usize(signal, caught.clone(), usize::from(code as u8));
        }
        Interrupt { caught, parent }
    }

    /// Returns the status to end with, where there is reason to end. A hook whose git is gone has nobody left to refuse or to let through (case P51).
    pub(super) fn code(&self) -> Option<Code> {
        match self.caught.load(Ordering::SeqCst) {
            0 if !self.parent.is_some_and(Parent::is_gone) => None,
            130 => Some(Code::Interrupted),
            _ => Some(Code::Terminated),
        }
    }
}

/// Reads the mask of ignored signals; the lowest bit is signal 1.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
