//! Keeps a reviewer's key, and whatever could steer a terminal, out of what a call hands back: servers repeat keys in their errors (threat T15).

use crate::reviewer::{Fault, Key, RawReply, Secret};

const SHOWN: usize = 400;
/// Shorter values are no secret, and taking them out would riddle the text.
const SHORTEST: usize = 4;

/// The value to take out.
pub(super) struct Scrub(Option<Secret>);

impl Scrub {
    /// Makes one for a reviewer's key.
    pub(super) fn new(key: &Key) -> Scrub {
        Scrub(match key {
            Key::Value(secret) if secret.expose().len() >= SHORTEST => Some(secret.clone()),
            Key::Value(_) | Key::None | Key::Missing(_) => None,
        })
    }

    /// Cleans every text of a fault.
    pub(super) fn fault(&self, fault: Fault) -> Fault {
        Fault {
            detail: one_line(&self.text(fault.detail)),
            partial: fault.partial.map(|text| self.text(text)),
            raw: fault.raw.map(|text| self.text(text)),
            model: fault.model.map(|text| self.text(text)),
            ..fault
        }
    }

    /// Cleans every text of a reply.
    pub(super) fn reply(&self, raw: RawReply) -> RawReply {
        RawReply { text: self.text(raw.text), model: raw.model.map(|model| self.text(model)), ..raw }
    }

    fn text(&self, text: String) -> String {
        match &self.0 {
            Some(secret) if text.contains(secret.expose()) => text.replace(secret.expose(), "***"),
            Some(_) | None => text,
        }
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
    use crate::reviewer::Class;

    #[test]
    fn the_key_leaves_no_trace_in_any_text() {
        let scrub = Scrub::new(&Key::Value(Secret::new("sk-marker")));
        let fault = Fault { partial: Some("sk-marker".into()), raw: Some("xsk-markerx".into()), ..Fault::new(Class::Auth, "bad key sk-marker\n") };
        let clean = scrub.fault(fault);
        assert_eq!((clean.detail.as_str(), clean.partial.as_deref(), clean.raw.as_deref()), ("bad key ***", Some("***"), Some("x***x")));
    }

    #[test]
    fn a_detail_is_one_short_line_without_controls() {
        assert_eq!(one_line("a\n\t b\x1b[31m\u{9b}"), "a b\\u{1b}[31m\\u{9b}");
        assert!(one_line(&"é".repeat(1000)).chars().count() <= SHOWN / 2 + 1);
    }
}
