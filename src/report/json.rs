//! The report as JSON: one object, pretty-printed, the same for every status, with a final newline.

use super::v1::Report;
use crate::change::slice::is_hidden;

/// Renders the report. Characters that hide or turn text are escaped: programs read the same, and a terminal that shows the JSON is not deceived (threat T8).
pub fn render(report: &Report) -> String {
    let json = serde_json::to_string_pretty(report).expect("the report serialises, because it holds only text, numbers and lists");
    let mut out = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if is_hidden(c) {
            // Such a character can stand inside a string only, where its escape means the same.
            let escape = |unit: &u16| format!("\\u{unit:04x}");
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(escape));
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_escaped_and_means_the_same() {
        let hostile = "a\u{1b}[2J\u{9b}\u{7f}\u{202e}\u{2028}\u{e0041} é漢";
        let json = render(&Report { notes: vec![hostile.to_owned()], ..Report::default() });
        assert!(!json.chars().any(is_hidden) && json.contains("é漢"), "{json}");
        let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read["notes"][0], hostile);
    }
}
