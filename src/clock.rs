//! Time: what "now" is, and how long something may still take. The only file that reads a clock.
//!
//! Leaves to others: what happens when a limit is reached. Every blocking call in the program takes a [`Deadline`] and can say which limit ended it.

use std::fmt;
use std::time::{Duration, Instant};

pub use jiff::Timestamp;

/// Returns the wall-clock time, for records and expiry dates. Never used to measure a duration.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
pub fn now_utc() -> Timestamp {
    Timestamp::now()
}

/// Returns the monotonic time, for durations and limits.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the monotonic clock")]
pub fn instant() -> Instant {
    Instant::now()
}

/// Returns how long from now an HTTP date is (`Wed, 02 Dec 2026 07:28:00 GMT`); zero where it has passed, `None` where it is none.
pub fn until_http_date(text: &str) -> Option<Duration> {
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now_utc())).unwrap_or(Duration::ZERO))
}

/// Names the limit that a [`Deadline`] stands for, so that a message can say which one was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The whole run: `deadline`, `push_deadline` or `commit_deadline`.
    Run,
    /// What the passes may use of the run; the rest is kept for the refuter.
    Passes,
    /// The share of the run that one element of a chain may use (requirement B06).
    Slice,
    /// The reviewer's own `timeout`.
    Reviewer,
    /// The wait for the first byte of a reply (requirement H17).
    FirstByte,
    /// The wait between two bytes of a reply (requirement H18).
    Idle,
    /// The wait for a connection.
    Connect,
    /// The model-list request before the first call (requirement H03).
    Preflight,
    /// The wait for the ledger's lock.
    Lock,
    /// The wait for an answer of git itself.
    Git,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Run => "deadline",
            Limit::Passes => "three quarters of the deadline",
            Limit::Slice => "slice of the deadline",
            Limit::Reviewer => "reviewer timeout",
            Limit::FirstByte => "first-byte timeout",
            Limit::Idle => "idle timeout",
            Limit::Connect => "connect timeout",
            Limit::Preflight => "model-list timeout",
            Limit::Lock => "ledger lock wait",
            Limit::Git => "limit for an answer of git",
        })
    }
}

/// A point in time after which waiting is over, and the limit that it stands for.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    limit: Limit,
    allowed: Duration,
}

impl Deadline {
    /// Makes a deadline `allowed` from now, at the most a day.
    pub fn after(allowed: Duration, limit: Limit) -> Deadline {
        let allowed = allowed.min(Duration::from_secs(24 * 60 * 60));
        Deadline { at: instant() + allowed, limit, allowed }
    }

    /// Returns the nearer of this deadline and one `allowed` from now.
    pub fn within(self, allowed: Duration, limit: Limit) -> Deadline {
        let other = Deadline::after(allowed, limit);
        if other.at < self.at { other } else { self }
    }

    /// Returns this deadline brought forward by `reserve`, at the earliest to now; it stands for the same limit.
    pub fn less(self, reserve: Duration) -> Deadline {
        let at = self.at.checked_sub(reserve).unwrap_or_else(instant).max(instant());
        Deadline { at, ..self }
    }

    /// Returns this deadline brought forward by a quarter of what was allowed, at the earliest to now: what the passes may use (ruling on B14).
    pub fn for_passes(self) -> Deadline {
        let reserve = self.allowed / 4;
        Deadline { limit: Limit::Passes, allowed: self.allowed - reserve, ..self.less(reserve) }
    }

    /// Returns the time left; zero once the deadline has passed.
    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(instant())
    }

    /// Returns how long ago the deadline passed; zero before.
    pub fn over_by(&self) -> Duration {
        instant().saturating_duration_since(self.at)
    }

    /// Tells whether no time is left.
    pub fn passed(&self) -> bool {
        self.left().is_zero()
    }

    /// Returns which limit this deadline stands for.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Returns how long was allowed when the deadline was made.
    pub fn allowed(&self) -> Duration {
        self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_limit_wins_and_keeps_its_name() {
        let run = Deadline::after(Duration::from_secs(100), Limit::Run);
        assert_eq!(run.within(Duration::from_secs(5), Limit::Reviewer).limit(), Limit::Reviewer);
        assert_eq!(run.within(Duration::from_secs(500), Limit::Reviewer).limit(), Limit::Run);
    }

    #[test]
    fn http_dates_are_read_as_a_wait() {
        assert_eq!(until_http_date("Wed, 01 Dec 1999 00:00:00 GMT"), Some(Duration::ZERO));
        assert!(until_http_date("Sun, 01 Dec 2999 07:28:00 GMT").is_some_and(|wait| wait > Duration::from_secs(3600)));
        assert_eq!(until_http_date("soon"), None);
    }

    #[test]
    fn the_passes_get_three_quarters_and_say_so() {
        let passes = Deadline::after(Duration::from_secs(8), Limit::Run).for_passes();
        assert_eq!((passes.allowed(), passes.limit()), (Duration::from_secs(6), Limit::Passes));
        assert!(passes.left() <= Duration::from_secs(6) && passes.left() > Duration::from_secs(5));
        assert!(Deadline::after(Duration::ZERO, Limit::Run).for_passes().passed());
        assert!(!Deadline::after(Duration::MAX, Limit::Run).passed());
    }
}
