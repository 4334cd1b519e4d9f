//! Private keys in text armour: several lines, or one line with escaped newlines, whole or cut at either end, plain or as lines of a diff.

use super::samples::entropy;
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::OnceLock;

/// The rule name of a private key.
pub(super) const PRIVATE_KEY: &str = "private-key";

/// How far (in bytes) a block may reach: twice the largest RSA key in use.
const LONGEST: usize = 32 * 1024;
/// A shorter run of base64 is no key body; code that only names the armour has none.
const SHORTEST_BODY: usize = 32;

/// Finds private keys, in order. A key whose other end is not in the text counts too: a hunk may show only a part.
pub(super) fn find(text: &[u8]) -> Vec<Range<usize>> {
    let mut keys: Vec<Range<usize>> = Vec::new();
    for mark in armour().captures_iter(text) {
        let whole = mark.get(0).expect("group 0 is the match").range();
        let opens = mark.get(1).is_some_and(|word| word.as_bytes() == b"BEGIN");
        let covered = keys.last().map_or(0, |last| last.end);
        if whole.start < covered {
            continue;
        }
        let key = if opens { whole.start..body_end(text, whole.end) } else { body_start(text, whole.start, covered)..whole.end };
        let body = if opens { &text[whole.end..key.end] } else { &text[key.start..whole.start] };
        if holds_key(body) {
            keys.push(key);
        }
    }
    keys
}

fn armour() -> &'static Regex {
    static ARMOUR: OnceLock<Regex> = OnceLock::new();
    ARMOUR.get_or_init(|| {
        Regex::new(r"(?-u)-----(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
            .expect("a constant pattern compiles, because a test finds keys")
    })
}

/// Where the block that opens before `from` ends: behind its closing line, else behind the last line that can be of a key.
fn body_end(text: &[u8], from: usize) -> usize {
    let window = &text[from..text.len().min(from + LONGEST)];
    let next = armour().captures(window).and_then(|mark| Some((mark.get(0)?.range(), mark.get(1)?.as_bytes() == b"END")));
    match next {
        Some((mark, true)) if window[..mark.start].iter().all(|byte| is_body(*byte)) => from + mark.end,
        Some((mark, _)) => from + key_lines(&window[..mark.start]),
        None => from + key_lines(window),
    }
}

/// How many bytes of a text, from its start, are lines that can be of a key.
fn key_lines(text: &[u8]) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.enumerate().take_while(|(at, line)| *at == 0 || is_key_line(line)).map(|(_, line)| line.len()).sum()
}

/// Where the key that closes at `end` starts: at the first of the lines before it that can be of a key.
fn body_start(text: &[u8], end: usize, floor: usize) -> usize {
    let mut start = text[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1).max(floor);
    while start > floor {
        let line = text[..start - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1).max(floor);
        if !is_key_line(&text[line..start]) || end - line > LONGEST {
            break;
        }
        start = line;
    }
    start
}

/// A line of base64, of a PEM header (`DEK-Info: …`), or empty; quotes, a comma, an escaped newline and a diff mark may stand around it.
fn is_key_line(line: &[u8]) -> bool {
    static LINE: OnceLock<Regex> = OnceLock::new();
    let pattern = r#"(?-u)^[-+ \t"'#*/|>]*(?:[A-Za-z0-9+/=]*|[A-Z][A-Za-z-]{3,24}: [^\r\n]{0,80})(?:\\[nr])*["',;\\+ \t\r]*\n?$"#;
    LINE.get_or_init(|| Regex::new(pattern).expect("a constant pattern compiles, because a test finds keys")).is_match(line)
}

fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\\"',:;.()<>|#*-_".contains(&byte)
}

/// Tells whether there is a run of base64 that is long and random enough to be of a key.
fn holds_key(body: &[u8]) -> bool {
    let digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    body.split(|byte| !digit(byte)).any(|run| run.len() >= SHORTEST_BODY && entropy(run) >= 3.5)
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

    #[test]
    fn every_shape_of_a_key_is_covered_to_its_end() {
        let plain = lines("").join("\n");
        for key in [
            plain.clone(),
            lines("RSA ").join("\r\n"),
            lines("OPENSSH ").join("\n"),
            lines("ENCRYPTED ").join("\\n"),
            lines("EC ")
                .iter()
                .map(|line| format!("\"{line}\\n\" +\n"))
                .collect::<String>()
                .trim_end_matches("\\n\" +\n")
                .trim_start_matches('"')
                .to_owned(),
            plain.replace("KEY-----", "KEY BLOCK-----"),
            plain.replacen("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C\n\n", 1),
        ] {
            let text = format!("let k = {key};\nlet other = 1;\n");
            let found = find(text.as_bytes());
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(text[found[0].clone()].trim_end_matches("\\n"), key, "{text}");
        }
    }

    #[test]
    fn a_part_of_a_key_is_found_too() {
        let lines = lines("");
        for (part, before, after) in [(&lines[..3], "a b\n", "\na b"), (&lines[2..], "a b\n", "\na b"), (&lines[..], "", "")] {
            let part = part.join("\n");
            let text = format!("{before}{part}{after}");
            let found = find(text.as_bytes());
            assert_eq!(found.len(), 1, "{text}");
            assert!(
                found[0].start == before.len() && found[0].end >= before.len() + part.len() && found[0].end <= before.len() + part.len() + 1,
                "{text}"
            );
        }
    }

    #[test]
    fn a_rotated_key_in_a_hunk_is_covered_on_both_sides() {
        let text = format!(" {}\n-{}\n+{}\n {}\n fn x() {{}}\n", mark("BEGIN", ""), BODY[0], BODY[1], mark("END", ""));
        let found = find(text.as_bytes());
        assert_eq!(found.len(), 1);
        assert!(text[found[0].clone()].contains(BODY[1]) && !text[found[0].clone()].contains("fn x"));
    }

    #[test]
    fn armour_without_a_key_is_no_key() {
        for body in
            ["", "...", "<your key here>", "MIIE...", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "\", text.contains(\"x\") && a_rather_long_name()"]
        {
            let text = format!("{}\n{body}\n{}\n", mark("BEGIN", "RSA "), mark("END", "RSA "));
            assert!(find(text.as_bytes()).is_empty(), "{text}");
        }
        let public = lines("").join("\n").replace("PRIVATE", "PUBLIC");
        assert!(find(public.as_bytes()).is_empty());
    }
}
