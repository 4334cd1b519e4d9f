//! Secrets: refused in what is new, masked in what is old. The only maker of [`Outbound`], the only type that a reviewer is ever sent.
//!
//! `rules`, `keyblock` and `keyline` say what a secret looks like, `samples` what only looks like one, `scan` finds them, `vault` knows the gate's own keys. What follows from a leak (status 16) is the caller's. The only user of regex and aho-corasick.

mod keyblock;
mod keyline;
mod leak;
mod rules;
mod samples;
mod scan;
mod vault;

pub use leak::Leak;
pub use vault::Vault;

use crate::digest::Digest;
use crate::reviewer::Secret;
use scan::{Hit, number_lines, scan};
use std::collections::BTreeSet;
use std::ops::Range;

/// Text that may leave the machine: secrets masked. Nothing else can be handed to a [`crate::reviewer::Reviewer`].
#[derive(Clone, PartialEq, Eq)]
pub struct Outbound(String);

impl Outbound {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes text as it is, for tests of what comes after redaction.
    #[cfg(test)]
    pub(crate) fn for_test(text: &str) -> Outbound {
        Outbound(text.to_owned())
    }
}

/// Masks the gate's own keys and whatever looks like a secret. One for a run, shared by every sink.
#[derive(Clone, Default)]
pub struct Redactor {
    vault: Vault,
    allowed: BTreeSet<String>,
}

impl Redactor {
    /// Makes a redactor from the gate's own keys and the user's `allow_secrets`: SHA-256 values, in hex, of texts that are known not to be secret.
    pub fn new(keys: &[Secret], allow: &[String]) -> Redactor {
        let allowed = allow.iter().map(|hex| hex.trim().trim_start_matches("sha256:").to_ascii_lowercase()).collect();
        Redactor { vault: Vault::new(keys), allowed }
    }

    /// Masks a text for a reviewer. The same text gives the same bytes, so that a prefix shared by several calls stays shared.
    pub fn seal(&self, text: &str) -> Outbound {
        Outbound(self.clean(text))
    }

    /// Masks a text for any other sink: terminal, report, ledger, kept raw replies.
    pub fn clean(&self, text: &str) -> String {
        let hits = self.own(text.as_bytes()).into_iter().chain(self.hits(text.as_bytes()));
        mask(text, hits.flat_map(|hit| hit.spans.into_iter().map(move |span| (span, hit.rule))).collect())
    }

    /// Finds what looks like a secret and is not on the allow-list.
    fn hits(&self, text: &[u8]) -> Vec<Hit> {
        let mut hits = scan(text);
        hits.retain(|hit| !self.allows(hit));
        hits
    }

    /// Finds the gate's own keys.
    fn own(&self, text: &[u8]) -> Vec<Hit> {
        let hit =
            |range: Range<usize>| Hit { rule: vault::OWN_KEY, digest: Digest::of(&text[range.clone()]), spans: vec![range], certain: true, line: 0 };
        number_lines(text, self.vault.find(text).into_iter().map(hit).collect())
    }

    fn allows(&self, hit: &Hit) -> bool {
        !self.allowed.is_empty() && self.allowed.contains(&hit.digest.hex())
    }
}

/// Replaces ranges by `[secret:<rule>]`. Ranges that overlap become one, named by the one that starts first; a tie goes to the one listed first.
fn mask(text: &str, mut ranges: Vec<(Range<usize>, &'static str)>) -> String {
    ranges.sort_by_key(|(range, _)| range.start);
    let mut merged: Vec<(Range<usize>, &'static str)> = Vec::new();
    for (range, rule) in ranges {
        match merged.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push((range, rule)),
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (range, rule) in merged {
        let (start, end) = (text.floor_char_boundary(range.start), text.ceil_char_boundary(range.end));
        out.push_str(&text[done..start]);
        out.push_str(&format!("[secret:{rule}]"));
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token that no scanner of this repository's text finds: it exists only while the test runs.
    fn token() -> String {
        ["gh", "p_", "x7Qm2Lk9Vb4Nc8", "Wz1Rt6Yp3Hs5Jd0FgAeUi2"].concat()
    }

    fn key_block() -> String {
        let body =
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n";
        ["-----BEGIN ", "PRIVATE", " KEY-----\n", body, "-----END ", "PRIVATE", " KEY-----\n"].concat()
    }

    #[test]
    fn a_secret_is_masked_and_the_rest_stays() {
        let redactor = Redactor::new(&[], &[]);
        assert_eq!(redactor.clean(&format!("a {} b", token())), "a [secret:github-token] b");
        assert_eq!(redactor.seal("nothing here").as_str(), "nothing here");
    }

    #[test]
    fn own_keys_are_masked_in_any_text_and_first() {
        let redactor = Redactor::new(&[Secret::new("local-key-1234"), Secret::new(token())], &[Digest::of("local-key-1234").hex()]);
        assert_eq!(redactor.clean("x=local-key-1234;"), "x=[secret:own-key];");
        assert_eq!(redactor.clean(&token()), "[secret:own-key]");
    }

    #[test]
    fn a_value_on_the_allow_list_stays() {
        for hex in [Digest::of(token()).hex(), format!("sha256:{}", Digest::of(token()).hex().to_uppercase())] {
            assert_eq!(Redactor::new(&[], &[hex]).clean(&token()), token());
        }
    }

    #[test]
    fn masking_a_key_keeps_the_lines_of_a_diff() {
        for mark in ["", "+", "-", " "] {
            let diff: String = key_block().lines().map(|line| format!("{mark}{line}\n")).collect();
            let masked = Redactor::default().clean(&format!("@@ -0,0 +1,4 @@\n{diff} after\n"));
            assert_eq!(masked.lines().count(), 6, "{masked}");
            assert!(masked.lines().skip(1).take(4).all(|line| line == format!("{mark}[secret:private-key]")), "{masked}");
            assert!(masked.ends_with("\n after\n"), "{masked}");
        }
    }

    #[test]
    fn masking_is_deterministic_and_settles() {
        let redactor = Redactor::new(&[Secret::new("local-key-1234")], &[]);
        let text = format!("é {} local-key-1234 {}\u{202e}{}", token(), key_block(), token());
        let once = redactor.clean(&text);
        assert_eq!(once, redactor.clean(&text));
        assert_eq!(once, redactor.clean(&once));
        assert_eq!(once, redactor.seal(&text).as_str());
    }

    #[test]
    fn a_key_cut_anywhere_is_masked_as_far_as_an_end_of_it_shows() {
        let block = key_block();
        let lines: Vec<&str> = block.split_inclusive('\n').collect();
        for from in 0..lines.len() {
            for to in from..=lines.len() {
                let masked = Redactor::default().clean(&lines[from..to].concat());
                let armoured = from == 0 || to == lines.len();
                assert!(!armoured || !masked.contains("ASCBK") && !masked.contains("SuYEvu"), "{from}..{to}: {masked}");
                assert_eq!(masked.lines().count(), to - from);
            }
        }
        for at in 0..block.len() {
            let _ = (scan(&block.as_bytes()[at..]), scan(&block.as_bytes()[..at]));
        }
    }

    #[test]
    fn overlapping_ranges_are_masked_once() {
        assert_eq!(mask("abcdefgh", vec![(2..6, "x"), (4..8, "y"), (3..5, "z")]), "ab[secret:x]");
        assert_eq!(mask("aéb", vec![(2..3, "x")]), "a[secret:x]b");
        assert_eq!(mask("ab", vec![(0..1, "x"), (1..2, "y")]), "[secret:x][secret:y]");
    }
}
