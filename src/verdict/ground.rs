//! Why a run refuses, in the order that decides, and the words and codes that follow.

use std::fmt;

/// Why a run refuses. In the order of the product contract: the first that applies decides the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ground {
    /// A fault of the gate itself (70).
    Internal,
    /// What was read or answered is not what it should be (15).
    Integrity,
    /// The ledger cannot be written, is locked, or its chain is broken (14).
    Ledger,
    /// A secret in what would leave (16).
    Secret,
    /// Usage, configuration, hook input; nobody eligible; a nested run (2).
    Config,
    /// Authentication failed, or the named key is not there (7).
    Auth,
    /// A configured model is not served, or the reply names a model of the author's family (4).
    NotServed,
    /// Unreachable, at a default host that nobody configured (6).
    DefaultHost,
    /// A finding blocks (1).
    Finding,
    /// A person must decide (3).
    NeedsHuman,
    /// The whole chain declined or answered nothing (11).
    Declined,
    /// The override is not valid (17).
    Override,
    /// The cost limit was reached (13).
    Budget,
    /// The change is too large for every reviewer (9): no outage, so no policy lets it through.
    TooLarge,
    /// A mandatory pass has no answer (9).
    Unavailable,
}

/// The reason code of a clean pass.
pub const CLEAN: &str = "RG000";
/// The reason code where there was nothing to review.
pub const NOTHING: &str = "RG010";
/// The reason code of an interrupted run.
pub const INTERRUPTED: &str = "RG312";
/// The reason code where an override let something through.
pub const OVERRIDDEN: &str = "RG600";

impl Ground {
    /// Returns the verdict word that this ground leads to.
    pub fn word(self) -> Word {
        match self {
            Ground::Secret | Ground::Finding => Word::Fail,
            Ground::NeedsHuman | Ground::Declined => Word::NeedsHuman,
            Ground::Budget | Ground::TooLarge | Ground::Unavailable => Word::Unavailable,
            Ground::Internal
            | Ground::Integrity
            | Ground::Ledger
            | Ground::Config
            | Ground::Auth
            | Ground::NotServed
            | Ground::DefaultHost
            | Ground::Override => Word::Error,
        }
    }

    /// Returns the reason code of the report; [`CLEAN`] and its kin are those of a run that nothing speaks against.
    pub fn reason(self) -> &'static str {
        match self {
            Ground::Internal => "RG800",
            Ground::Integrity => "RG410",
            Ground::Ledger => "RG700",
            Ground::Secret => "RG500",
            Ground::Config => "RG201",
            Ground::Auth => "RG301",
            Ground::NotServed => "RG302",
            Ground::DefaultHost => "RG310",
            Ground::Finding => "RG100",
            Ground::NeedsHuman => "RG130",
            Ground::Declined => "RG304",
            Ground::Override => "RG601",
            Ground::Budget => "RG311",
            Ground::TooLarge => "RG307",
            Ground::Unavailable => "RG300",
        }
    }

    /// Tells whether an override of the subject lifts it (product contract, exit table).
    pub fn is_lifted_by_override(self) -> bool {
        match self {
            Ground::Secret | Ground::Finding | Ground::NeedsHuman | Ground::Declined | Ground::Budget | Ground::TooLarge | Ground::Unavailable => {
                true
            }
            Ground::Internal
            | Ground::Integrity
            | Ground::Ledger
            | Ground::Config
            | Ground::Auth
            | Ground::NotServed
            | Ground::DefaultHost
            | Ground::Override => false,
        }
    }
}

/// The verdict's word in report and ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Accepted.
    Pass,
    /// A finding or a secret.
    Fail,
    /// A person must decide.
    NeedsHuman,
    /// A mandatory review could not be had.
    Unavailable,
    /// Something must be mended first.
    Error,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Word::Pass => "pass",
            Word::Fail => "fail",
            Word::NeedsHuman => "needs-human",
            Word::Unavailable => "unavailable",
            Word::Error => "error",
        })
    }
}
