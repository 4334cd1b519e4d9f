//! Newline-delimited JSON: one value a line. Blank lines are allowed between values and mean nothing.

/// A line whose bytes are not UTF-8.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of the reply is not UTF-8")]
pub struct BadLine;

/// Returns the JSON text of a line; `None` for a blank one.
///
/// # Errors
/// [`BadLine`] where it is not UTF-8.
pub fn value(line: &[u8]) -> Result<Option<&str>, BadLine> {
    let text = std::str::from_utf8(line).map_err(|_| BadLine)?.trim();
    Ok(if text.is_empty() { None } else { Some(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_values_blank_lines_are_not() {
        assert_eq!(value(b"{\"done\":true}"), Ok(Some("{\"done\":true}")));
        assert_eq!(value(b" {} \r"), Ok(Some("{}")));
        assert_eq!(value(b"  "), Ok(None));
        assert_eq!(value("é".as_bytes()), Ok(Some("é")));
        assert_eq!(value(b"\xc3"), Err(BadLine));
    }
}
