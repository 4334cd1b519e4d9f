//! Text in UTF-16, in which every rule would be blind: a NUL stands between any two letters of a token.

/// Decodes UTF-16, by its byte order mark or by the NUL bytes that are every other byte of Western text. `None` for anything else. What is no character
/// becomes U+FFFD; line feeds stay what they are, so that line numbers are right.
pub(super) fn decoded(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => by_nuls(bytes)?,
    };
    let units = bytes.as_chunks().0.iter().map(|pair| unit(*pair));
    Some(char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// The byte order, if a quarter of the pairs or more hold a NUL on the same side and next to none on the other.
fn by_nuls(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
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

    #[test]
    fn both_byte_orders_are_read_with_and_without_a_mark() {
        let text = "é: 上\nkey = 1\n🙂";
        for mark in ["", "\u{feff}"] {
            let text = format!("{mark}{text}");
            for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                assert_eq!(decoded(&text.encode_utf16().flat_map(bytes).collect::<Vec<_>>()).as_ref(), Some(&text));
            }
        }
    }

    #[test]
    fn other_bytes_are_not_read() {
        for bytes in [&b""[..], b"plain text", b"\x7fELF\0\0\0\0\0\0\0\0abcd", b"one NUL\0 in a text", b"\xef\xbb\xbfkey"] {
            assert_eq!(decoded(bytes), None, "{bytes:?}");
        }
    }
}
