//! Ctrl-C, a polite kill, and the death of the process that waits for us. The only user of signal-hook.
//!
//! Once installed, a signal no longer ends the process by itself: it sets a mark that the waiting thread looks at, so that children and calls are ended and
//! the status says what happened (130, 143).

use crate::exit::Code;
use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The mark that a signal leaves.
pub(super) struct Interrupt {
    caught: Arc<AtomicUsize>,
    parent: Option<Pid>,
}

impl Interrupt {
    /// Starts to catch signals. Where that is not possible they end the process as ever, which refuses as well.
    pub(super) fn install() -> Interrupt {
        let caught = Arc::new(AtomicUsize::new(0));
        for (signal, code) in [(SIGINT, Code::Interrupted), (SIGTERM, Code::Terminated), (SIGHUP, Code::Terminated)] {
            let _ = signal_hook::flag::register_usize(signal, caught.clone(), usize::from(code as u8));
        }
        Interrupt { caught, parent: getppid() }
    }

    /// Returns the status to end with, where there is reason to end. A hook whose git is gone has nobody left to refuse or to let through (case P51).
    pub(super) fn code(&self) -> Option<Code> {
        match self.caught.load(Ordering::SeqCst) {
            0 if getppid() == self.parent => None,
            130 => Some(Code::Interrupted),
            _ => Some(Code::Terminated),
        }
    }
}
