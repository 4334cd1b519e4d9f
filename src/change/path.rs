//! Paths as git has them: bytes. How they are shown, and how they are read back.

use super::slice::visible;
use std::fmt;

/// A path inside the repository: bytes separated by `/`, not necessarily UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BytePath(Vec<u8>);

impl BytePath {
    /// Wraps the bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> BytePath {
        BytePath(bytes.into())
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the last component.
    pub fn file_name(&self) -> &[u8] {
        self.0.rsplit(|b| *b == b'/').next().unwrap_or_default()
    }

    /// Writes the path as `git diff` does: in double quotes with C escapes where it holds a control character, a quote or a backslash, and, with
    /// `ascii_only` (git's default, `core.quotePath`), any byte above 0x7f; without it, those of a path that is not UTF-8 or holds a character that would be hidden.
    pub fn quoted(&self, prefix: &str, ascii_only: bool) -> Vec<u8> {
        let high_is_text = !ascii_only && !self.0.is_ascii() && is_plain_text(&self.0);
        let plain = |byte: u8| matches!(byte, b' '..=b'~' if byte != b'"' && byte != b'\\') || (byte > 0x7f && high_is_text);
        let mut out = Vec::with_capacity(prefix.len() + self.0.len() + 2);
        if self.0.iter().all(|byte| plain(*byte)) {
            out.extend_from_slice(prefix.as_bytes());
            out.extend_from_slice(&self.0);
            return out;
        }
        out.push(b'"');
        out.extend_from_slice(prefix.as_bytes());
        for byte in &self.0 {
            match byte {
                b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
                7 => out.extend_from_slice(b"\\a"),
                8 => out.extend_from_slice(b"\\b"),
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\n' => out.extend_from_slice(b"\\n"),
                11 => out.extend_from_slice(b"\\v"),
                12 => out.extend_from_slice(b"\\f"),
                b'\r' => out.extend_from_slice(b"\\r"),
                byte if plain(*byte) => out.push(*byte),
                byte => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            }
        }
        out.push(b'"');
        out
    }

    /// Reads back what [`BytePath`]'s display form shows; `None` for a broken escape.
    pub fn parse(shown: &str) -> Option<BytePath> {
        let Some(inner) = shown.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
            return Some(BytePath::new(shown.as_bytes()));
        };
        let mut out = Vec::new();
        let mut rest = inner.bytes();
        while let Some(byte) = rest.next() {
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            out.push(match rest.next()? {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                high @ b'0'..=b'3' => {
                    let digit = |d: Option<u8>| d.filter(|d| (b'0'..=b'7').contains(d)).map(|d| d - b'0');
                    (high - b'0') << 6 | digit(rest.next())? << 3 | digit(rest.next())?
                }
                same @ (b'"' | b'\\') => same,
                _ => return None,
            });
        }
        Some(BytePath(out))
    }
}

/// Tells whether the bytes are UTF-8 in which every character shows as itself in a prompt.
fn is_plain_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| visible(bytes) == text)
}

/// The form of reports and prompts: plain where it is plain UTF-8, else git's quoted form. [`BytePath::parse`] reads it back.
impl fmt::Display for BytePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.quoted("", false)))
    }
}

impl fmt::Debug for BytePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<&str> for BytePath {
    fn from(text: &str) -> BytePath {
        BytePath::new(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_round_trips_through_its_display_form() {
        let hidden = "a\u{202e}é".as_bytes();
        let cases: [&[u8]; 11] = [
            b"src/a.rs",
            b"a b/ b",
            b"n\nl",
            b"t\tb",
            b"q\"u",
            b"back\\slash",
            b"lat\xe9",
            "é".as_bytes(),
            b"\x1b[2J",
            hidden,
            "⟨U+202E⟩".as_bytes(),
        ];
        for bytes in cases {
            let path = BytePath::new(bytes);
            assert_eq!(BytePath::parse(&path.to_string()), Some(path.clone()), "{path}");
            assert_eq!(visible(path.to_string().as_bytes()), path.to_string(), "a prompt shows it as the report does");
        }
    }

    #[test]
    fn quoting_is_gits() {
        let quoted = |bytes: &[u8], ascii| String::from_utf8(BytePath::new(bytes).quoted("a/", ascii)).expect("UTF-8");
        assert_eq!(quoted("é".as_bytes(), true), "\"a/\\303\\251\"");
        assert_eq!(quoted("é".as_bytes(), false), "a/é");
        assert_eq!(quoted(b"n\nl", true), "\"a/n\\nl\"");
        assert_eq!(quoted(b"a b", true), "a/a b");
        assert_eq!(quoted(b"\x7f", true), "\"a/\\177\"");
    }
}
