//! What it takes to make an override: a reason of substance and a short life (threats 3.4). Parsed once from what a person typed; status 17 otherwise.
//!
//! Leaves to `overrides.rs` what an override that was made lets through.

use crate::change::slice::is_hidden;
use std::collections::BTreeSet;
use std::time::Duration;

/// Why an override cannot be made (status 17).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOverride {
    /// Too short to be a reason.
    #[error("the reason is too short ({0} of at least {min} characters); say why this change may pass unreviewed", min = Reason::MIN_CHARS)]
    TooShort(usize),
    /// Too few different words to be a reason.
    #[error("the reason says too little ({0} of at least {min} different words); say why this change may pass unreviewed", min = Reason::MIN_WORDS)]
    TooFewWords(usize),
    /// Too long for a line of the log.
    #[error("the reason is too long ({0} characters of at most {max})", max = Reason::MAX_CHARS)]
    TooLong(usize),
    /// Would not be shown as it is.
    #[error("the reason holds the control or invisible character U+{:04X}; write it on one line in plain text", u32::from(*.0))]
    Hidden(char),
    /// Not a length of time.
    #[error("`{0}` is no length of time; write hours, minutes or days, such as `24h`, `90m` or `3d`")]
    NoDuration(String),
    /// Longer than an override may live, or no time at all.
    #[error("an override may live for 1 second to 72 hours, not for `{0}`")]
    OutOfRange(String),
}

/// A reason of substance, trimmed, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// The fewest characters, after trimming.
    pub const MIN_CHARS: usize = 20;
    /// The most characters, after trimming.
    pub const MAX_CHARS: usize = 256;
    /// The fewest different words.
    pub const MIN_WORDS: usize = 3;

    /// Reads what a person typed.
    ///
    /// # Errors
    /// [`InvalidOverride`] for what says nothing or would not be shown as it is.
    pub fn parse(typed: &str) -> Result<Reason, InvalidOverride> {
        let text = typed.trim();
        if let Some(hidden) = text.chars().find(|c| c.is_control() || is_hidden(*c)) {
            return Err(InvalidOverride::Hidden(hidden));
        }
        let chars = text.chars().count();
        if chars < Reason::MIN_CHARS {
            return Err(InvalidOverride::TooShort(chars));
        }
        if chars > Reason::MAX_CHARS {
            return Err(InvalidOverride::TooLong(chars));
        }
        let lower = text.to_lowercase();
        let words: BTreeSet<&str> = lower.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).collect();
        if words.len() < Reason::MIN_WORDS {
            return Err(InvalidOverride::TooFewWords(words.len()));
        }
        Ok(Reason(text.to_owned()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How long an override lives: 24 hours unless said otherwise, at most 72.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime(Duration);

impl Lifetime {
    const MAX_SECONDS: u64 = 72 * 60 * 60;

    /// Reads `24h`, `90m`, `3d` or `45s`.
    ///
    /// # Errors
    /// [`InvalidOverride`] for what is no length of time, is zero, or is more than 72 hours.
    pub fn parse(typed: &str) -> Result<Lifetime, InvalidOverride> {
        let no_duration = || InvalidOverride::NoDuration(typed.to_owned());
        let text = typed.trim();
        let unit = text.chars().last().ok_or_else(no_duration)?;
        let seconds_each = match unit {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return Err(no_duration()),
        };
        let digits = &text[..text.len() - unit.len_utf8()];
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(no_duration());
        }
        let seconds = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(seconds_each));
        match seconds {
            Some(seconds @ 1..=Lifetime::MAX_SECONDS) => Ok(Lifetime(Duration::from_secs(seconds))),
            Some(_) | None => Err(InvalidOverride::OutOfRange(typed.to_owned())),
        }
    }

    /// Returns the length of time.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl Default for Lifetime {
    fn default() -> Lifetime {
        Lifetime(Duration::from_secs(24 * 60 * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHY: &str = "vendor outage, reviewed by hand with Kim";

    #[test]
    fn reasons_without_substance_are_refused() {
        let long = "word other third ".repeat(20);
        let cases: [(&str, Result<&str, InvalidOverride>); 11] = [
            (WHY, Ok(WHY)),
            ("  vendor outage, reviewed by hand with Kim\n", Ok(WHY)),
            ("", Err(InvalidOverride::TooShort(0))),
            ("please let it pass", Err(InvalidOverride::TooShort(18))),
            ("                            ok                        ", Err(InvalidOverride::TooShort(2))),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaa", Err(InvalidOverride::TooFewWords(1))),
            ("urgent Urgent URGENT urgent urgent", Err(InvalidOverride::TooFewWords(1))),
            ("reason ... --- ... --- ... ---", Err(InvalidOverride::TooFewWords(1))),
            (&long, Err(InvalidOverride::TooLong(339))),
            ("vendor outage,\nreviewed by hand", Err(InvalidOverride::Hidden('\n'))),
            ("vendor outage, \0 reviewed by hand", Err(InvalidOverride::Hidden('\0'))),
        ];
        for (typed, expected) in cases {
            assert_eq!(Reason::parse(typed).map(|reason| reason.0), expected.map(str::to_owned), "{typed:?}");
        }
        for hidden in ['\u{1b}', '\u{202e}', '\u{200b}', '\u{9b}', '\u{2028}', '\t', '\u{3164}'] {
            assert_eq!(Reason::parse(&format!("vendor outage, {hidden} reviewed by hand")), Err(InvalidOverride::Hidden(hidden)));
        }
        assert_eq!(
            Reason::parse("x").unwrap_err().to_string(),
            "the reason is too short (1 of at least 20 characters); say why this change may pass unreviewed"
        );
        let exactly = "three words 45678901";
        assert_eq!((exactly.chars().count(), Reason::parse(exactly).is_ok()), (Reason::MIN_CHARS, true));
    }

    #[test]
    fn lifetimes_are_seconds_minutes_hours_or_days_up_to_72_hours() {
        let hours = |h: u64| Ok(Lifetime(Duration::from_secs(h * 3600)));
        for (typed, expected) in [("24h", hours(24)), ("72h", hours(72)), ("3d", hours(72)), ("120m", hours(2)), (" 1h ", hours(1))] {
            assert_eq!(Lifetime::parse(typed), expected, "{typed}");
        }
        for typed in ["0h", "73h", "4d", "4321m", "99999999999999999999h", "18446744073709551615d"] {
            assert_eq!(Lifetime::parse(typed), Err(InvalidOverride::OutOfRange(typed.to_owned())));
        }
        for typed in ["", "h", "24", "1.5h", "-1h", "+1h", "1h30m", "24H", "24 h", "2w", "1ü"] {
            assert_eq!(Lifetime::parse(typed), Err(InvalidOverride::NoDuration(typed.to_owned())));
        }
        assert_eq!(Lifetime::default(), Lifetime::parse("24h").expect("a day"));
    }
}
