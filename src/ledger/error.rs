//! How the ledger can fail. Every variant refuses with status 14 at the edge: a run that cannot be recorded cannot pass.

use super::overrides::Refusal;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why the ledger could not be read or appended to. Each message names the file, what is wrong with it and what to do.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file system said no: read-only, full, no permission, no such directory.
    #[error("cannot {doing} `{}`: {source}; the gate needs to write there", path.display())]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The directory or file could be someone else's: a link, a foreign owner, or writable by others (threat T21).
    #[error("`{}` {why}", path.display())]
    Unsafe {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it, and the remedy.
        why: String,
    },
    /// Another process held the lock for the whole wait.
    #[error("`{}` has been locked by another run for {} s; wait for it to end and try again", path.display(), waited.as_secs_f32())]
    Locked {
        /// The ledger.
        path: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    /// A record is not what was written, or does not follow from the one before it (threat T16).
    #[error("`{}` line {line}: {why}; nothing recorded there can be trusted any more: keep the file as evidence and move it away to begin a new ledger", path.display())]
    Broken {
        /// The ledger.
        path: PathBuf,
        /// The 1-based line, which is also the record's number in an intact ledger.
        line: u64,
        /// What does not hold.
        why: String,
    },
    /// The chain is intact, but a record says something that this version does not know; skipping it could skip a refusal.
    #[error("`{}` line {line}: {what} was written by a newer review-gate; update this one", path.display())]
    Newer {
        /// The ledger.
        path: PathBuf,
        /// The 1-based line.
        line: u64,
        /// The version or the kind that is not known.
        what: String,
    },
    /// The file behind the open handle is no longer the ledger, so a record written to it would be lost.
    #[error("`{}` was replaced while this run was under way; run again", path.display())]
    Replaced {
        /// The ledger.
        path: PathBuf,
    },
    /// The record is longer than a line may be, even without its findings.
    #[error("the record of this run has {bytes} bytes, more than the {limit} that a ledger line may have; push fewer refs at once")]
    TooLarge {
        /// The record's length.
        bytes: usize,
        /// The longest line.
        limit: usize,
    },
    /// The record could not be read back as it was meant (a number that JSON does not have).
    #[error("the record of this run cannot be written: {why}")]
    Unwritable {
        /// What the encoder said.
        why: String,
    },
    /// The override that the run relies on stopped being valid before the run could be recorded: another run used it for another ref, or it expired.
    #[error("override {id} {why}")]
    OverrideSpent {
        /// The override.
        id: String,
        /// Why it does not hold.
        why: Refusal,
    },
}

impl LedgerError {
    /// Wraps what the system said about `path`.
    pub(super) fn io(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> LedgerError {
        LedgerError::Io { doing, path: path.to_owned(), source: source.into() }
    }
}
