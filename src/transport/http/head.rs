//! What is read from a reply's headers.

use crate::clock;
use std::time::Duration;
use ureq::http::{HeaderMap, Uri};

/// The part of a reply's headers that anyone here looks at.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after: Option<Duration>,
    location: Option<String>,
    pub(super) encoding: Option<String>,
}

impl Head {
    pub(super) fn of(status: u16, headers: &HeaderMap) -> Head {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let media = text("content-type").and_then(|value| value.split(';').next()).unwrap_or("");
        let encoding = text("content-encoding").filter(|value| !value.eq_ignore_ascii_case("identity"));
        let retry_after = text("retry-after-ms").and_then(|ms| ms.trim().parse().ok()).map(Duration::from_millis);
        Head {
            status,
            content_type: media.trim().to_ascii_lowercase(),
            retry_after: retry_after.or_else(|| text("retry-after").and_then(wait_of)),
            location: text("location").map(str::to_owned),
            encoding: encoding.map(str::to_owned),
        }
    }

    /// Returns the host that a redirect leads to. Only the host: the rest may hold anything.
    pub(super) fn redirect(&self) -> Option<String> {
        if !(300..400).contains(&self.status) {
            return None;
        }
        let target = self.location.as_deref().and_then(|location| location.parse::<Uri>().ok());
        Some(target.as_ref().and_then(Uri::host).unwrap_or("another path").to_owned())
    }
}

/// Reads `Retry-After`: seconds or a date.
fn wait_of(value: &str) -> Option<Duration> {
    match value.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => clock::until_http_date(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_seconds_or_a_date_and_nothing_else() {
        assert_eq!(wait_of("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait_of(" 1.5 "), Some(Duration::from_millis(1500)));
        assert_eq!(wait_of("Wed, 01 Dec 1999 00:00:00 GMT"), Some(Duration::ZERO));
        for odd in ["-1", "NaN", "inf", "1e300", "soon", ""] {
            assert_eq!(wait_of(odd), None, "{odd}");
        }
    }
}
