//! How much scrutiny the paths deserve, with the rule that decided, and which floors hold. Pure: paths and sizes in, tier out.

use std::fmt;

/// How much scrutiny a change gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// One general pass.
    Light,
    /// General, adversarial and tests.
    Standard,
    /// All of them, and a second adversarial pass by a second other family.
    Full,
}

impl Tier {
    /// Returns the word of configuration and report.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Light => "light",
            Tier::Standard => "standard",
            Tier::Full => "full",
        }
    }

    /// Reads a tier; `trivial` and `critical` are accepted for light and full (requirement T13).
    pub fn parse(word: &str) -> Option<Tier> {
        match word.trim().to_ascii_lowercase().as_str() {
            "light" | "trivial" => Some(Tier::Light),
            "standard" => Some(Tier::Standard),
            "full" | "critical" => Some(Tier::Full),
            _ => None,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
