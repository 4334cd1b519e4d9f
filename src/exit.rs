//! The exit table, and the only place that makes a 0 for a gate.
//!
//! A gate ends with 0 only through a [`PassProof`]: an accepted verdict *and* the proof that its record is synced. Verbs that judge nothing (`log show`,
//! `config check`, `--help`) end with [`ExitStatus::told`], which no gate can return, because a gate's result type is `Result<PassProof, Refusal>`.

use crate::error::GateError;
use crate::ledger::{Recorded, VerdictWord};
use crate::verdict::{Accepted, Ground, Word};
use std::fmt;

/// Every status but 0, by its meaning (product contract, exit table).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// A finding blocks.
    Fail = 1,
    /// Usage, configuration, hook input; no eligible reviewer; nested run.
    Usage = 2,
    /// A person must decide.
    NeedsHuman = 3,
    /// A configured model is not served, or the reply names a model of the author's family.
    NotServed = 4,
    /// Unreachable, at a default host that nobody configured.
    DefaultHost = 6,
    /// Authentication failed, or the named key is not there.
    Auth = 7,
    /// A mandatory pass has no answer.
    Unavailable = 9,
    /// The whole chain declined or answered nothing.
    Declined = 11,
    /// The cost limit was reached before the mandatory passes were done.
    Budget = 13,
    /// The ledger cannot be written, is locked, or its chain is broken.
    Ledger = 14,
    /// Object id mismatch, two different answers with the right nonce, a pinned binary changed.
    Integrity = 15,
    /// A secret in what would leave: nothing was sent.
    Secret = 16,
    /// The override is not valid.
    Override = 17,
    /// A fault of the gate itself.
    Internal = 70,
    /// Interrupted from the terminal.
    Interrupted = 130,
    /// Ended by a signal.
    Terminated = 143,
}

impl From<Ground> for Code {
    fn from(ground: Ground) -> Code {
        match ground {
            Ground::Internal => Code::Internal,
            Ground::Integrity => Code::Integrity,
            Ground::Ledger => Code::Ledger,
            Ground::Secret => Code::Secret,
            Ground::Config => Code::Usage,
            Ground::Auth => Code::Auth,
            Ground::NotServed => Code::NotServed,
            Ground::DefaultHost => Code::DefaultHost,
            Ground::Finding => Code::Fail,
            Ground::NeedsHuman => Code::NeedsHuman,
            Ground::Declined => Code::Declined,
            Ground::Override => Code::Override,
            Ground::Budget => Code::Budget,
            Ground::TooLarge | Ground::Unavailable => Code::Unavailable,
        }
    }
}

/// The status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitStatus(u8);

impl ExitStatus {
    /// Ends a gate that may let the change through.
    pub fn pass(_proof: PassProof) -> ExitStatus {
        ExitStatus(0)
    }

    /// Ends a run that refuses or failed.
    pub fn refuse(code: Code) -> ExitStatus {
        ExitStatus(code as u8)
    }

    /// Ends a verb that judges nothing and did what it was asked.
    pub fn told(_told: Told) -> ExitStatus {
        ExitStatus(0)
    }

    /// Returns the number.
    pub fn code(self) -> u8 {
        self.0
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The end of a verb that judges nothing.
#[derive(Debug, Clone, Copy)]
pub struct Told;

/// Proof that status 0 is right: what was accepted is what was recorded.
#[derive(Debug)]
pub struct PassProof(());

impl PassProof {
    /// Joins the two halves.
    ///
    /// # Errors
    /// An internal error where the record is of another run or carries another word: then nothing proves that this run passed.
    pub fn new(accepted: Accepted, recorded: &Recorded) -> Result<PassProof, GateError> {
        if recorded.run_id() == accepted.run_id() && recorded.verdict() == word(accepted.word()) {
            return Ok(PassProof(()));
        }
        Err(GateError::internal(format!("the ledger's record {} does not belong to the accepted run {}", recorded.seq(), accepted.run_id())))
    }
}

/// A gate that does not let the change through; the report was already shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal(pub Code);

/// Translates the verdict's word to the ledger's frozen copy of it.
pub fn word(word: Word) -> VerdictWord {
    match word {
        Word::Pass => VerdictWord::Pass,
        Word::Fail => VerdictWord::Fail,
        Word::NeedsHuman => VerdictWord::NeedsHuman,
        Word::Unavailable => VerdictWord::Unavailable,
        Word::Error => VerdictWord::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ground_maps_to_zero_and_the_numbers_are_the_contracts() {
        let table = [
            (Ground::Internal, 70),
            (Ground::Integrity, 15),
            (Ground::Ledger, 14),
            (Ground::Secret, 16),
            (Ground::Config, 2),
            (Ground::Auth, 7),
            (Ground::NotServed, 4),
            (Ground::DefaultHost, 6),
            (Ground::Finding, 1),
            (Ground::NeedsHuman, 3),
            (Ground::Declined, 11),
            (Ground::Override, 17),
            (Ground::Budget, 13),
            (Ground::TooLarge, 9),
            (Ground::Unavailable, 9),
        ];
        for (ground, number) in table {
            assert_eq!(ExitStatus::refuse(ground.into()).code(), number, "{ground:?}");
        }
    }
}
