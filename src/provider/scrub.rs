//! Keeps a reviewer's key, and whatever could steer a terminal, out of what a fault says: servers repeat keys in their errors (threat T15).
//!
//! Only the sentence for people is cleaned. The text of a reply, whole or partial, is read first and must be what the reviewer wrote: a key that is also an
//! ordinary word would break its JSON and its quotations. What of it goes to a sink is the redactor's to clean, which knows the same keys.

use crate::redact::Vault;
use crate::reviewer::{Fault, Key};

const SHOWN: usize = 400;

/// The value to take out.
pub(super) struct Scrub(Vault);

impl Scrub {
    /// Makes one for a reviewer's key.
    pub(super) fn new(key: &Key) -> Scrub {
        Scrub(match key {
            Key::Value(secret) => Vault::new(std::slice::from_ref(secret)),
            Key::None | Key::Missing(_) => Vault::default(),
        })
    }

    /// Cleans the sentence of a fault, then cuts it: half a key would not be known for one.
    pub(super) fn fault(&self, fault: Fault) -> Fault {
        Fault { detail: one_line(&self.0.mask(&fault.detail, "***")), ..fault }
    }
}

/// Makes one line of a text, control characters escaped, cut to what a message can hold.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = String::new();
    for char in words.chars() {
        if line.len() >= SHOWN {
            line.push('…');
            break;
        }
        if char.is_control() {
            line.extend(char.escape_default());
        } else {
            line.push(char);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reviewer::{Class, Secret};

    #[test]
    fn the_sentence_is_cleaned_and_the_text_of_the_reply_is_not() {
        let scrub = Scrub::new(&Key::Value(Secret::new("sk-marker")));
        let fault = Fault { partial: Some("sk-marker".into()), raw: Some("xsk-markerx".into()), ..Fault::new(Class::Auth, "bad key sk-marker\n") };
        let clean = scrub.fault(fault);
        assert_eq!((clean.detail.as_str(), clean.partial.as_deref(), clean.raw.as_deref()), ("bad key ***", Some("sk-marker"), Some("xsk-markerx")));
    }

    #[test]
    fn a_key_across_the_cut_is_not_shown_in_part() {
        let scrub = Scrub::new(&Key::Value(Secret::new("sk-marker")));
        for before in 0..SHOWN + 9 {
            let shown = scrub.fault(Fault::new(Class::Auth, format!("{}sk-marker", "x".repeat(before)))).detail;
            assert!(!shown.contains('s'), "{shown}");
        }
    }

    #[test]
    fn a_detail_is_one_short_line_without_controls() {
        assert_eq!(one_line("a\n\t b\x1b[31m\u{9b}"), "a b\\u{1b}[31m\\u{9b}");
        assert!(one_line(&"é".repeat(1000)).chars().count() <= SHOWN / 2 + 1);
    }
}
