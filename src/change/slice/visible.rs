//! Makes every byte of the change visible: what a person cannot see, a reviewer is shown by name (threat T8).

/// Opens an escape: `⟨U+202E⟩` for a character, `⟨xFF⟩` for a byte that is not UTF-8.
const OPEN: char = '⟨';

/// Returns the bytes as text in which hidden characters, lone carriage returns and bytes that are not UTF-8 are escaped. Line feeds, tabs and the carriage
/// return before a line feed stay. What looks like an escape in the bytes is itself escaped, so that two different texts never look the same.
pub fn visible(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid().chars();
        while let Some(c) = rest.next() {
            let after = rest.as_str();
            let lone_return = c == '\r' && !after.starts_with('\n');
            let forged = c == OPEN && (after.starts_with("U+") || after.starts_with('x'));
            if is_hidden(c) || lone_return || forged {
                out.push_str(&format!("{OPEN}U+{:04X}⟩", u32::from(c)));
            } else {
                out.push(c);
            }
        }
        out.extend(chunk.invalid().iter().map(|byte| format!("{OPEN}x{byte:02X}⟩")));
    }
    out
}

/// Tells whether a character shows nothing, moves the cursor or turns the direction of text: controls but line feed, tab and carriage return, zero-width
/// and bidirectional marks, fillers, separators, variation selectors and tags.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | '\r' => false,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_named_and_the_rest_stays() {
        for (bytes, text) in [
            ("fn é() {}\t// ok 漢字 🙂\r\n".as_bytes(), "fn é() {}\t// ok 漢字 🙂\r\n"),
            ("a\u{202e}b\u{2066}".as_bytes(), "a⟨U+202E⟩b⟨U+2066⟩"),
            ("\u{e0041}\u{fe0f}\u{e0100}".as_bytes(), "⟨U+E0041⟩⟨U+FE0F⟩⟨U+E0100⟩"),
            (b"\x1b[2J\0\x7f", "⟨U+001B⟩[2J⟨U+0000⟩⟨U+007F⟩"),
            ("\u{9b}".as_bytes(), "⟨U+009B⟩"),
            (b"x\ry\r\r\n", "x⟨U+000D⟩y⟨U+000D⟩\r\n"),
            (b"a\r", "a⟨U+000D⟩"),
            (b"lat\xe9 \xff\xfe", "lat⟨xE9⟩ ⟨xFF⟩⟨xFE⟩"),
            (b"\xc0\xaf", "⟨xC0⟩⟨xAF⟩"),
            ("⟨U+202E⟩ ⟨xFF⟩ ⟨a⟩".as_bytes(), "⟨U+27E8⟩U+202E⟩ ⟨U+27E8⟩xFF⟩ ⟨a⟩"),
            ("\u{feff}x\u{200b}\u{2028}".as_bytes(), "⟨U+FEFF⟩x⟨U+200B⟩⟨U+2028⟩"),
        ] {
            assert_eq!(visible(bytes), text);
        }
    }

    #[test]
    fn no_character_gets_through_hidden() {
        for c in ('\0'..=char::MAX).filter(|c| is_hidden(*c)) {
            let shown = visible(format!("a{c}b").as_bytes());
            assert!(!shown.contains(c) && shown.contains(&format!("U+{:04X}", u32::from(c))), "{shown}");
        }
    }
}
