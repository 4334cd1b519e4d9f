//! A reviewer's host as configured: the base URL, checked before anything could be sent to it.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Checks a base URL and returns it without a final slash. Plain http is for the loopback interface only; credentials, queries and fragments are refused,
/// since the URL appears in messages and records.
///
/// # Errors
/// A lower-case fragment that says what is wrong.
pub(super) fn base_url(url: &str) -> Result<String, &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("must start with https:// (or http:// on the loopback interface)")?;
    if !matches!(scheme, "https" | "http") {
        return Err("must start with https:// (or http:// on the loopback interface)");
    }
    if rest.contains(['@', '?', '#', '\\']) || rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("must be a plain base URL without credentials, query, fragment or white space");
    }
    let name = host_name(rest).ok_or("must name a host, and a port as a number where it has one")?;
    if scheme == "http" && !is_loopback_name(name) {
        return Err("uses plain http, which is for the loopback interface only; use https");
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// Tells whether a checked base URL stays on this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    url.split_once("://").and_then(|(_, rest)| host_name(rest)).is_some_and(is_loopback_name)
}

/// Returns the host of `host[:port][/path]`, brackets of an IPv6 address kept off.
fn host_name(rest: &str) -> Option<&str> {
    let authority = rest.split('/').next()?;
    let (name, port) = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => authority.find(':').map_or((authority, ""), |at| authority.split_at(at)),
    };
    let port_is_fine = port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.parse::<u16>().is_ok());
    (!name.is_empty() && port_is_fine).then_some(name)
}

/// `localhost` and literal loopback addresses only: a name that merely begins like one is someone else's.
fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || name.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_the_loopback_interface() {
        for url in ["http://localhost:11434", "http://127.0.0.1:8000/v1/", "http://127.8.8.8", "http://[::1]:11434", "http://LOCALHOST"] {
            assert!(base_url(url).is_ok() && is_loopback(url), "{url}");
        }
        for url in [
            "http://example.org",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org",
            "http://0.0.0.0",
            "http://10.0.0.1:80",
            "http://127.1",
        ] {
            assert!(base_url(url).is_err() && !is_loopback(url), "{url}");
        }
    }

    #[test]
    fn a_base_url_is_plain_and_loses_its_final_slash() {
        assert_eq!(base_url("https://api.openai.com/v1/").as_deref(), Ok("https://api.openai.com/v1"));
        let bad =
            ["api.openai.com", "ftp://x", "https://", "https:///v1", "https://key@example.org", "https://example.org?k=v", "https://example.org#x"];
        for url in bad.into_iter().chain(["https://exa mple.org", "https://example.org:port", "https://[::1", "https://localhost\\@example.org"]) {
            assert!(base_url(url).is_err(), "{url}");
        }
    }
}
