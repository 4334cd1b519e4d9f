//! The gate's own keys, found in any text: they may appear in no sink, whatever they look like.

use crate::reviewer::Secret;
use regex::bytes::Regex;
use std::ops::Range;

/// The rule name of a masked own key.
pub(super) const OWN_KEY: &str = "own-key";

/// Values shorter than this (in bytes) are no secret, and masking them would blot out ordinary words.
const SHORTEST: usize = 6;

/// What people write where a local server wants some key: masking these would hide code from the reviewer and protect nothing.
const NO_KEYS: [&str; 12] = [
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
];

/// The gate's own key values. Has no `Debug` that would show them.
#[derive(Clone, Default)]
pub struct Vault {
    pattern: Option<Regex>,
}

impl Vault {
    /// Takes the keys of all configured reviewers. Each is also known in its JSON, percent and base64 forms, in which errors and dumps repeat it.
    pub fn new(keys: &[Secret]) -> Vault {
        let real = |key: &&str| key.len() >= SHORTEST && !NO_KEYS.contains(&key.to_ascii_lowercase().as_str());
        let mut forms: Vec<String> = keys.iter().map(|key| key.expose().trim()).filter(real).flat_map(forms).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        let pattern = forms.iter().map(|form| regex::escape(form)).collect::<Vec<_>>().join("|");
        let compiled = || Regex::new(&pattern).expect("escaped texts compile, because a key is at most a few kilobytes");
        Vault { pattern: (!pattern.is_empty()).then(compiled) }
    }

    /// Finds every occurrence; the longest form wins.
    pub fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        self.pattern.iter().flat_map(|pattern| pattern.find_iter(text)).map(|found| found.range()).collect()
    }
}

fn forms(key: &str) -> [String; 4] {
    let json = serde_json::Value::from(key).to_string();
    [key.to_owned(), json[1..json.len() - 1].to_owned(), percent(key), base64(key)]
}

fn percent(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    key.bytes().map(|byte| if plain(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Base64 without padding: with it, the text that follows is the same.
fn base64(key: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |group: u32, at: usize| DIGITS[(group >> (18 - 6 * at) & 63) as usize] as char;
    key.as_bytes()
        .chunks(3)
        .flat_map(|chunk| {
            let group = chunk.iter().enumerate().fold(0, |group, (at, byte)| group | u32::from(*byte) << (16 - 8 * at));
            (0..=chunk.len()).map(move |at| digit(group, at))
        })
        .collect()
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
    fn the_longest_key_wins_and_regex_signs_are_text() {
        assert_eq!(vault(&["abcdef", "abcdefghij"]).find(b"abcdefghij"), vec![0..10]);
        assert!(vault(&["a.c.e.g"]).find(b"abcdefg").is_empty());
    }

    #[test]
    fn what_is_no_key_is_not_masked() {
        for key in ["", "EMPTY", "none", "ollama", "Changeme", "      "] {
            assert!(vault(&[key]).find(format!("x {key} y").as_bytes()).is_empty(), "{key}");
        }
    }
}
