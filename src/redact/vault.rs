//! The gate's own keys, found in any text: they may appear in no sink, whatever they look like.

use crate::reviewer::Secret;
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::ops::Range;

/// The rule name of a masked own key.
pub(super) const OWN_KEY: &str = "own-key";

/// Values shorter than this (in bytes) are no secret, and masking them would blot out ordinary words.
const SHORTEST: usize = 6;

/// The most memory of the compiled search, in bytes: more than all forms of dozens of the longest keys need.
const SEARCH: usize = 1 << 30;

/// What people write where a local server wants some key: masking these would hide code from the reviewer and protect nothing.
const NO_KEYS: [&str; 18] = [
    "ollama",
    "lmstudio",
    "lm-studio",
    "llama.cpp",
    "localhost",
    "no-key",
    "no-key-required",
    "sk-no-key-required",
    "not-needed",
    "notneeded",
    "unused",
    "changeme",
    "api-key",
    "apikey",
    "dummy-key",
    "test-key",
    "fake-key",
    "placeholder",
];

/// The gate's own key values. Has no `Debug` that would show them.
#[derive(Clone, Default)]
pub struct Vault {
    pattern: Option<Regex>,
}

impl Vault {
    /// Takes the keys of all configured reviewers. Each is also known in its JSON, percent, hex and base64 forms, in which errors and
    /// dumps repeat it. What is too short or a well-known filler is no key: it is in ordinary text.
    pub fn new(keys: &[Secret]) -> Vault {
        let mut forms: Vec<String> = keys.iter().map(|key| key.expose().trim()).filter(|key| is_real(key)).flat_map(forms).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        let pattern = forms.iter().map(|form| regex::escape(form)).collect::<Vec<_>>().join("|");
        let search = || RegexBuilder::new(&pattern).size_limit(SEARCH).build();
        let compiled = || search().expect("escaped texts compile, because a key is at most a few kilobytes");
        Vault { pattern: (!pattern.is_empty()).then(compiled) }
    }

    /// Finds every occurrence; the longest form wins.
    pub fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        self.pattern.iter().flat_map(|pattern| pattern.find_iter(text)).map(|found| found.range()).collect()
    }

    /// Puts a mark in the place of every occurrence.
    pub fn mask<'t>(&self, text: &'t str, mark: &str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut rest = 0;
        for range in self.find(text.as_bytes()) {
            // Every form is ASCII, so the ends are ends of characters.
            out.push_str(&text[rest..range.start]);
            out.push_str(mark);
            rest = range.end;
        }
        if rest == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[rest..]) }
    }
}

/// Tells whether a configured key is a secret at all.
fn is_real(key: &str) -> bool {
    key.len() >= SHORTEST && !NO_KEYS.contains(&key.to_ascii_lowercase().as_str())
}

fn forms(key: &str) -> Vec<String> {
    let json = serde_json::Value::from(key).to_string();
    let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![key.to_owned(), json[1..json.len() - 1].to_owned(), percent(key), hex.to_ascii_uppercase(), hex];
    for before in 0..3 {
        let standard = base64(key, before);
        forms.push(standard.replace('+', "-").replace('/', "_"));
        forms.push(standard);
    }
    forms
}

fn percent(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    key.bytes().map(|byte| if plain(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Base64 of the key where `before` bytes (modulo 3) precede it, as in `Bearer <key>` or `user:<key>`: the digits that the key alone decides.
fn base64(key: &str, before: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = [&[0; 2][..before], key.as_bytes()].concat();
    let byte = |at: usize| bytes.get(at).copied().map_or(0, u32::from);
    let digit = |at: usize| {
        let group = byte(at / 4 * 3) << 16 | byte(at / 4 * 3 + 1) << 8 | byte(at / 4 * 3 + 2);
        DIGITS[(group >> (18 - 6 * (at % 4)) & 63) as usize] as char
    };
    ((before * 8).div_ceil(6)..bytes.len() * 8 / 6).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault(keys: &[&str]) -> Vault {
        Vault::new(&keys.iter().map(|key| Secret::new(*key)).collect::<Vec<_>>())
    }

    #[test]
    fn every_form_of_a_key_is_found() {
        let vault = vault(&["a+b/c\"d e\n"]);
        for text in ["a+b/c\"d e", r#"a+b/c\"d e"#, "a%2Bb%2Fc%22d%20e", "YStiL2MiZCBl"] {
            assert_eq!(vault.find(text.as_bytes()), vec![0..text.len()], "{text}");
        }
    }

    #[test]
    fn a_key_inside_a_longer_text_is_found_in_that_texts_encoding() {
        let vault = vault(&["local-key-1234"]);
        let table = [
            ("Basic bG9jYWwta2V5LTEyMzQ=", "Basic *Q="),
            ("Basic OmxvY2FsLWtleS0xMjM0", "Basic Om*"),
            ("Basic dTpsb2NhbC1rZXktMTIzNA==", "Basic dTp*A=="),
            ("QmVhcmVyIGxvY2FsLWtleS0xMjM0", "QmVhcmVyIG*"),
            ("bG9jYWwta2V5LTEyMzQhIQ==", "*QhIQ=="),
            ("6c6f63616c2d6b65792d31323334", "*"),
            ("6C6F63616C2D6B65792D31323334", "*"),
        ];
        for (text, masked) in table {
            assert_eq!(vault.mask(text, "*"), masked, "{text}");
        }
    }

    #[test]
    fn the_url_alphabet_of_base64_is_known_too() {
        let vault = vault(&["~~~???~~~"]);
        for text in ["fn5+Pz8/fn5+", "fn5-Pz8_fn5-"] {
            assert_eq!(vault.mask(text, "*"), "*", "{text}");
        }
    }

    #[test]
    fn a_mark_is_text_and_the_longest_keys_compile() {
        assert_eq!(vault(&["local-key-1234"]).mask("a local-key-1234 b", "$0"), "a $0 b");
        let long: Vec<String> = (0..20u8).map(|n| format!("{n}{}", "\"".repeat(16 * 1024))).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        assert_eq!(vault(&long).mask(long[3], "*"), "*");
    }

    #[test]
    fn the_longest_key_wins_and_regex_signs_are_text() {
        assert_eq!(vault(&["abcdef", "abcdefghij"]).find(b"abcdefghij"), vec![0..10]);
        assert!(vault(&["a.c.e.g"]).find(b"abcdefg").is_empty());
    }

    #[test]
    fn what_is_no_key_is_not_masked() {
        for key in ["", "EMPTY", "none", "ollama", "Changeme", "      ", "test", "null", "not-needed", "placeholder"] {
            assert!(vault(&[key]).find(format!("x {key} y").as_bytes()).is_empty(), "{key}");
        }
    }
}
