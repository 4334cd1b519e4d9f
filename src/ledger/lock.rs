//! One writer at a time: the lock on the ledger's own file, waited for with a limit (threat T19).
//!
//! The system lets go of it when the process ends, however it ends, so a killed run locks no one out. What is done under it is `store.rs`'s business.

use super::error::LedgerError;
use crate::clock::{Deadline, Limit};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// How often a taken lock is tried again. An append takes a few milliseconds.
const POLL: Duration = Duration::from_millis(5);

/// Whether a lock keeps readers out.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// Others may read, no one may append.
    Read,
    /// No one else may read or append.
    Append,
}

/// A held lock; released when dropped, and by the system when the process ends.
pub(super) struct Lock<'a>(&'a File);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Closing the file releases it too; there is nothing else to do about a failure here.
        let _ = self.0.unlock();
    }
}

/// Takes the lock on `file`, trying for `wait` at most. `path` is for the message.
pub(super) fn lock<'a>(file: &'a File, access: Access, wait: Duration, path: &Path) -> Result<Lock<'a>, LedgerError> {
    let deadline = Deadline::after(wait, Limit::Lock);
    loop {
        let taken = match access {
            Access::Read => file.try_lock_shared(),
            Access::Append => file.try_lock(),
        };
        match taken {
            Ok(()) => return Ok(Lock(file)),
            Err(TryLockError::Error(error)) => return Err(LedgerError::io("lock", path, error)),
            Err(TryLockError::WouldBlock) if deadline.passed() => return Err(LedgerError::Locked { path: path.to_owned(), waited: wait }),
            Err(TryLockError::WouldBlock) => std::thread::sleep(POLL.min(deadline.left())),
        }
    }
}
