//! Text in UTF-16, which git takes for binary: a NUL stands between any two letters. It is decoded to be reviewed, and to be searched for secrets, whose rules
//! would be blind to it.

/// How many bytes tell the byte order of a text without a mark.
const PROBE: usize = 8000;
/// Fewer bytes than this tell nothing without a mark.
const LEAST: usize = 8;

/// Decodes UTF-16 that can be shown as the text it is: by its byte order mark, or by the NUL bytes that are every other byte at the start of Western text.
/// `None` for anything else, and where a unit is half a pair, a byte is left over or a character is NUL (without a mark: any control): such content is no
/// text, or not only text.
pub fn text(bytes: &[u8]) -> Option<String> {
    let marked = by_mark(bytes);
    let unit = marked.or_else(|| by_nuls(&bytes[..bytes.len().min(PROBE)]).filter(|_| bytes.len() >= LEAST))?;
    let (pairs, []) = bytes.as_chunks() else { return None };
    let is_text = |c: &char| if marked.is_some() { *c != '\0' } else { !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{c}') };
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).map(|read| read.ok().filter(is_text)).collect()
}

/// Tells whether a program that takes bytes one by one and passes over NULs, as some shells do, would read a letter, a blank or a line end where UTF-16 has
/// this character: what a reviewer was shown is then not all that could be run.
pub fn reads_otherwise(c: char) -> bool {
    let mut units = [0; 2];
    let is_ascii = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    !c.is_ascii() && c.encode_utf16(&mut units).iter().any(|unit| unit.to_le_bytes().into_iter().any(is_ascii))
}

/// Decodes UTF-16 for a search, by its byte order mark or by its NUL bytes. `None` for anything else. What is no character becomes U+FFFD; line feeds stay
/// what they are, so that line numbers are right.
pub fn searchable(bytes: &[u8]) -> Option<String> {
    let unit = by_mark(bytes).or_else(|| by_nuls(bytes))?;
    let units = bytes.as_chunks().0.iter().map(|pair| unit(*pair));
    Some(char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

type Unit = fn([u8; 2]) -> u16;

fn by_mark(bytes: &[u8]) -> Option<Unit> {
    match bytes {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// The byte order, if a quarter of the pairs or more hold a NUL on the same side and next to none on the other.
fn by_nuls(bytes: &[u8]) -> Option<Unit> {
    let pairs = bytes.as_chunks::<2>().0;
    let (first, second) = pairs.iter().fold((0, 0), |(first, second), pair| (first + usize::from(pair[0] == 0), second + usize::from(pair[1] == 0)));
    let one_sided = |many: usize, few: usize| many > 0 && many * 4 >= pairs.len() && few * 16 <= many;
    match (one_sided(first, second), one_sided(second, first)) {
        (true, _) => Some(u16::from_be_bytes),
        (_, true) => Some(u16::from_le_bytes),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn both_byte_orders_are_read_with_and_without_a_mark() {
        let body = "é: 上\nkey = 1\n🙂";
        for mark in ["", "\u{feff}"] {
            let expected = format!("{mark}{body}");
            for order in [u16::to_le_bytes, u16::to_be_bytes] {
                let bytes = wide(&expected, order);
                assert_eq!((searchable(&bytes).as_ref(), text(&bytes).as_ref()), (Some(&expected), Some(&expected)));
            }
        }
    }

    #[test]
    fn other_bytes_are_not_read() {
        for bytes in [&b""[..], b"plain text", b"\x7fELF\0\0\0\0\0\0\0\0abcd", b"one NUL\0 in a text", b"\xef\xbb\xbfkey"] {
            assert_eq!((searchable(bytes), text(bytes)), (None, None), "{bytes:?}");
        }
    }

    #[test]
    fn a_handful_of_bytes_is_no_text_without_a_mark() {
        for (bytes, expected) in [(&b"\0b"[..], None), (b"a\0b\0c\0", None), (b"a\0b\0c\0d\0", Some("abcd")), (b"\xff\xfea\0", Some("\u{feff}a"))] {
            assert_eq!(text(bytes).as_deref(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_not_only_text_is_searched_and_never_shown_as_text() {
        let half_a_pair = [wide("\u{feff}a", u16::to_le_bytes), vec![0x00, 0xd8], wide("key\n", u16::to_le_bytes)].concat();
        let byte_left_over = [wide("\u{feff}key\n", u16::to_le_bytes), b"x".to_vec()].concat();
        let nul = wide("\u{feff}key\0\n", u16::to_le_bytes);
        for bytes in [half_a_pair, byte_left_over, nul, wide("key\u{1}\n", u16::to_le_bytes)] {
            assert!(searchable(&bytes).is_some_and(|text| text.contains("key")) && text(&bytes).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn a_character_that_hides_a_byte_of_program_text_is_told() {
        // é, Ā and 🙂 hold no such byte; Ċ holds a line end, л a semicolon, ’ a blank, 畣 the letters `cu`.
        assert!(!['a', '\n', 'é', 'Ā', '\u{feff}'].into_iter().any(reads_otherwise));
        assert!(['Ċ', 'л', '’', '畣'].into_iter().all(reads_otherwise));
    }
}
