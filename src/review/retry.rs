//! What follows a call without a usable answer: the same reviewer again, the next one, or the end. Pure (product contract, class table).

use crate::outcome::Then;
use crate::reviewer::{Class, Fault};
use std::time::Duration;

/// Calls of one reviewer in one chain, the first included (requirement H12).
const ATTEMPTS: u32 = 3;
/// The first pause before another attempt; each further one is twice as long.
const BACK_OFF: Duration = Duration::from_millis(1500);

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Ask the same reviewer once more.
    Again {
        /// After this pause.
        pause: Duration,
        /// With twice the tokens.
        more_tokens: bool,
    },
    /// Ask the next reviewer, if there is one.
    Next,
    /// End the chain: there was an answer of sorts, and asking somebody else would be shopping for a verdict.
    Stop,
}

impl Step {
    /// Returns the word for the hop log.
    pub(super) fn then(self, last: bool) -> Then {
        match self {
            Step::Again { .. } => Then::Again,
            Step::Next if !last => Then::Next,
            Step::Next | Step::Stop => Then::Exhausted,
        }
    }
}

/// Where a chain stands when a call has failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// Calls of this reviewer so far, this one included.
    pub attempt: u32,
    /// Nobody comes after this reviewer.
    pub last: bool,
    /// What is left of the reviewer's slice of time.
    pub left: Duration,
    /// The token limit was already doubled.
    pub doubled: bool,
    /// Claims arrived whole before a token limit, in this call or an earlier one of this reviewer.
    pub salvaged: bool,
}

/// Decides.
pub(super) fn step(fault: &Fault, standing: Standing) -> Step {
    let again = |pause: Duration| {
        if standing.attempt < ATTEMPTS && pause < standing.left { Step::Again { pause, more_tokens: false } } else { Step::Next }
    };
    match fault.class {
        // What arrived whole is a verdict of sorts: whatever the second attempt came to, nobody else is asked for a kinder one.
        class if standing.salvaged && (standing.doubled || class != Class::Truncated) => Step::Stop,
        class if class.is_transient() && fault.permanent => Step::Next,
        Class::Unreachable | Class::CutStream => {
            let back_off = BACK_OFF * 2u32.pow(standing.attempt.saturating_sub(1));
            again(fault.retry_after.map_or(back_off, |asked| asked.max(back_off)))
        }
        Class::RateLimited if standing.last => fault.retry_after.map_or(Step::Next, again),
        Class::Truncated if !standing.doubled && !standing.left.is_zero() => Step::Again { pause: Duration::ZERO, more_tokens: true },
        Class::Contradiction => Step::Stop,
        Class::RateLimited
        | Class::Quota
        | Class::Auth
        | Class::NotServed
        | Class::AuthorFamily
        | Class::BadConfig
        | Class::TooLarge
        | Class::Truncated
        | Class::Malformed
        | Class::Declined
        | Class::Deadline => Step::Next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_followed_by_what_the_contract_says() {
        let seconds = Duration::from_secs;
        let start = Standing { attempt: 1, last: false, left: seconds(60), doubled: false, salvaged: false };
        let again = |pause| Step::Again { pause, more_tokens: false };
        let asked_to_wait = |class| Fault { retry_after: Some(seconds(2)), ..Fault::new(class, "") };
        let plain = |class| Fault::new(class, "");
        let cases = [
            ("first outage", plain(Class::Unreachable), start, again(Duration::from_millis(1500))),
            ("second outage", plain(Class::CutStream), Standing { attempt: 2, ..start }, again(seconds(3))),
            ("third outage", plain(Class::Unreachable), Standing { attempt: 3, ..start }, Step::Next),
            ("outage, no time for a pause", plain(Class::Unreachable), Standing { left: seconds(1), ..start }, Step::Next),
            ("an outage that asks to wait", asked_to_wait(Class::Unreachable), start, again(seconds(2))),
            ("redirect", plain(Class::Unreachable).permanent(), start, Step::Next),
            ("429, others follow", asked_to_wait(Class::RateLimited), start, Step::Next),
            ("429, the last one", asked_to_wait(Class::RateLimited), Standing { last: true, ..start }, again(seconds(2))),
            ("429, the last one, no word how long", plain(Class::RateLimited), Standing { last: true, ..start }, Step::Next),
            ("429, the last one, too long", asked_to_wait(Class::RateLimited), Standing { last: true, left: seconds(1), ..start }, Step::Next),
            ("token limit", plain(Class::Truncated), start, Step::Again { pause: Duration::ZERO, more_tokens: true }),
            ("token limit again", plain(Class::Truncated), Standing { doubled: true, ..start }, Step::Next),
            ("token limit again, with claims", plain(Class::Truncated), Standing { doubled: true, salvaged: true, ..start }, Step::Stop),
            ("an outage after claims", plain(Class::Unreachable), Standing { doubled: true, salvaged: true, ..start }, Step::Stop),
            ("a bad request after claims", plain(Class::BadConfig), Standing { doubled: true, salvaged: true, ..start }, Step::Stop),
            ("contradiction", plain(Class::Contradiction), start, Step::Stop),
            ("malformed", plain(Class::Malformed), start, Step::Next),
            ("declined", plain(Class::Declined), start, Step::Next),
            ("auth", plain(Class::Auth), start, Step::Next),
            ("quota", asked_to_wait(Class::Quota), Standing { last: true, ..start }, Step::Next),
        ];
        for (name, fault, standing, expected) in cases {
            assert_eq!(step(&fault, standing), expected, "{name}");
        }
    }
}
