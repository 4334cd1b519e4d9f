//! What became of a pass: a closed list. "Read, and nothing found" and "no usable answer" are different variants, so silence cannot become approval.

use crate::change::BytePath;
use crate::finding::Claim;
use crate::reply::Review;
use crate::reviewer::{Class, Fault, Usage};
use std::time::Duration;

/// What became of a pass. Only `Reviewed` says that every slice was read; adding a variant makes the compiler show every place that must care.
#[derive(Debug, Clone, PartialEq)]
pub enum PassOutcome {
    /// A complete reply that keeps the contract.
    Reviewed(Review),
    /// No answer could be had.
    Unavailable(Fault),
    /// A limit of the run ended the wait.
    TimedOut(Fault),
    /// The reply hit the token limit twice. What claims arrived whole count ([`PassResult::claims`]); an empty list means nothing.
    Truncated(Fault),
    /// A reply that does not keep the contract.
    Malformed(Fault),
    /// A refusal, or no text.
    Declined(Fault),
    /// Not asked: too large for every window.
    Skipped(Fault),
}

impl PassOutcome {
    /// Sorts a fault into its outcome (product contract, class table).
    pub fn of_fault(fault: Fault) -> PassOutcome {
        match fault.class {
            Class::Unreachable
            | Class::CutStream
            | Class::RateLimited
            | Class::Quota
            | Class::Auth
            | Class::NotServed
            | Class::AuthorFamily
            | Class::BadConfig => PassOutcome::Unavailable(fault),
            Class::TooLarge => PassOutcome::Skipped(fault),
            Class::Truncated => PassOutcome::Truncated(fault),
            Class::Malformed | Class::Contradiction => PassOutcome::Malformed(fault),
            Class::Declined => PassOutcome::Declined(fault),
            Class::Deadline => PassOutcome::TimedOut(fault),
        }
    }

    /// Returns the word of the report.
    pub fn as_str(&self) -> &'static str {
        match self {
            PassOutcome::Reviewed(_) => "reviewed",
            PassOutcome::Unavailable(_) => "unavailable",
            PassOutcome::TimedOut(_) => "timed-out",
            PassOutcome::Truncated(_) => "truncated",
            PassOutcome::Malformed(_) => "malformed",
            PassOutcome::Declined(_) => "declined",
            PassOutcome::Skipped(_) => "skipped",
        }
    }

    /// Returns the fault; `None` for a review.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            PassOutcome::Reviewed(_) => None,
            PassOutcome::Unavailable(fault)
            | PassOutcome::TimedOut(fault)
            | PassOutcome::Truncated(fault)
            | PassOutcome::Malformed(fault)
            | PassOutcome::Declined(fault)
            | PassOutcome::Skipped(fault) => Some(fault),
        }
    }
}

/// One call of a chain, for the hop log and the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Position in the list of reviewers.
    pub reviewer: usize,
    /// `None` for the answer that was used.
    pub class: Option<Class>,
    /// For people, without any key.
    pub detail: String,
    /// The reviewer's host was a default that nobody configured.
    pub default_host: bool,
    /// How long the call took.
    pub took: Duration,
    /// Tokens.
    pub usage: Usage,
}

/// Something that happened while the passes run, for the progress display and the hop log.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A reviewer was asked.
    Asked {
        /// The pass, or `refuter`.
        pass: String,
        /// Position in the list of reviewers.
        reviewer: usize,
    },
    /// A call gave no usable answer.
    Failed {
        /// The pass, or `refuter`.
        pass: String,
        /// Position in the list of reviewers.
        reviewer: usize,
        /// What kind.
        class: Class,
        /// For people.
        detail: String,
        /// What happens now: asked again, next reviewer, or the chain is exhausted.
        then: Then,
    },
    /// A pass has its outcome.
    Finished {
        /// The pass, or `refuter`.
        pass: String,
    },
}

/// What follows a call without a usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The same reviewer is asked once more.
    Again,
    /// The next reviewer is asked.
    Next,
    /// Nobody is left.
    Exhausted,
}

/// A finished pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassResult {
    /// The name: `general`, `adversarial`, `tests`, `adversarial-2`.
    pub name: String,
    /// The reviewer that answered, or the last one that was asked; `None` where none was.
    pub reviewer: Option<usize>,
    /// What became of it.
    pub outcome: PassOutcome,
    /// The claims that count: of every part that was reviewed, and what arrived whole before a token limit.
    pub claims: Vec<Claim>,
    /// The reason for which a reviewer of any part wants a person to look; it counts whatever became of the other parts.
    pub human: Option<String>,
    /// The files of the parts that have no answer.
    pub unread: Vec<BytePath>,
    /// The answer came from the author's own family (`same_family: degraded`).
    pub degraded: bool,
    /// Every call, in order.
    pub attempts: Vec<Attempt>,
    /// The model that the answer named.
    pub model_reported: Option<String>,
    /// From start to end.
    pub took: Duration,
    /// Tokens of all calls.
    pub usage: Usage,
}
