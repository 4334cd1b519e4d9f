//! Lines: from the bytes of two sides to hunks, equal to what git prints with its defaults (Myers, indent heuristic, three lines of context).
//!
//! Attributes, drivers and `diff.*` settings have no say, so the words behind the second `@@` follow git's default rule for every file.

use crate::change::Hunk;
use gix::diff::blob::{Algorithm, Diff, InternedInput, Token, sources::byte_lines};
use std::ops::Range;

/// The size in bytes above which a side is not read at all: nobody could search it for secrets, and it would not fit into memory beside the rest.
pub(crate) const MAX_TEXT: u64 = super::fresh::MAX_SEARCHED;

/// The size in bytes above which a text is not cut into lines: more than reviewers can read of one push.
pub(crate) const MAX_LINED: u64 = 8 << 20;

/// How many bytes are searched for a NUL, which makes a file binary.
const BINARY_PROBE: usize = 8000;
/// Lines of context around a change.
const CONTEXT: u32 = 3;
/// How many bytes of a line are taken for the words behind the second `@@`.
const SECTION: usize = 80;

/// Tells whether git takes the content for binary: a NUL near its start.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(BINARY_PROBE)].contains(&0)
}

/// What git writes behind a last line without a newline.
const NO_NEWLINE: &[u8] = b"\n\\ No newline at end of file\n";

/// Compares two texts. Line ends are part of the lines: a change of `\r\n` to `\n` is a change.
pub(crate) fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    match (old, new) {
        (old, new) if old == new => Vec::new(),
        ([], new) => vec![whole(b'+', new)],
        (old, []) => vec![whole(b'-', old)],
        (old, new) => Compared::new(old, new).hunks(),
    }
}

/// Makes the one hunk of a file that came or went.
fn whole(mark: u8, content: &[u8]) -> Hunk {
    let lines = content.iter().filter(|byte| **byte == b'\n').count() + usize::from(content.last() != Some(&b'\n'));
    let mut text = Vec::with_capacity(content.len() + lines + NO_NEWLINE.len());
    content.split_inclusive(|byte| *byte == b'\n').for_each(|line| push_line(&mut text, mark, line));
    let lines = lines as u32;
    let (old, new) = if mark == b'-' { ((1, lines), (0, 0)) } else { ((0, 0), (1, lines)) };
    Hunk { old_start: old.0, old_lines: old.1, new_start: new.0, new_lines: new.1, section: Vec::new(), text }
}

/// Writes a line of a hunk, with git's mark where the file ends without a newline.
fn push_line(text: &mut Vec<u8>, mark: u8, line: &[u8]) {
    text.push(mark);
    text.extend_from_slice(line);
    if line.last() != Some(&b'\n') {
        text.extend_from_slice(NO_NEWLINE);
    }
}

/// A run of lines replaced by another.
type Edit = gix::diff::blob::Hunk;

/// Two texts as lines, and how one becomes the other.
struct Compared<'a> {
    input: InternedInput<&'a [u8]>,
    edits: Vec<Edit>,
}

impl<'a> Compared<'a> {
    fn new(old: &'a [u8], new: &'a [u8]) -> Compared<'a> {
        let input = InternedInput::new(byte_lines(old), byte_lines(new));
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_lines(&input);
        let edits = diff.hunks().collect();
        Compared { input, edits }
    }

    /// Groups the edits whose context would touch.
    fn hunks(&self) -> Vec<Hunk> {
        let mut sections = Sections { searched: 0, found: &[] };
        let close = |a: &Edit, b: &Edit| b.before.start - a.before.end <= 2 * CONTEXT;
        self.edits.chunk_by(close).map(|edits| self.hunk(edits, &mut sections)).collect()
    }

    fn hunk(&self, edits: &[Edit], sections: &mut Sections<'a>) -> Hunk {
        let (first, last) = (&edits[0], &edits[edits.len() - 1]);
        let lead = CONTEXT.min(first.before.start);
        let trail = CONTEXT.min(self.input.before.len() as u32 - last.before.end);
        let old = first.before.start - lead..last.before.end + trail;
        let new = first.after.start - lead..last.after.end + trail;
        let section = sections.before(old.start, |at| self.line(self.input.before[at as usize]));
        let ((old_start, old_lines), (new_start, new_lines)) = (printed(&old), printed(&new));
        Hunk { old_start, old_lines, new_start, new_lines, section: section.to_vec(), text: self.text(edits, old) }
    }

    /// Writes the lines of a hunk: context from the old side, then for each edit what goes and what comes.
    fn text(&self, edits: &[Edit], old: Range<u32>) -> Vec<u8> {
        let size = |side: &[Token], lines: &Range<u32>| -> usize {
            side[lines.start as usize..lines.end as usize].iter().map(|token| self.line(*token).len() + 1).sum()
        };
        let added: usize = edits.iter().map(|edit| size(&self.input.after, &edit.after)).sum();
        let mut text = Vec::with_capacity(size(&self.input.before, &old) + added);
        let mut at = old.start;
        for edit in edits {
            self.push(&mut text, b' ', &self.input.before, at..edit.before.start);
            self.push(&mut text, b'-', &self.input.before, edit.before.clone());
            self.push(&mut text, b'+', &self.input.after, edit.after.clone());
            at = edit.before.end;
        }
        self.push(&mut text, b' ', &self.input.before, at..old.end);
        text
    }

    fn push(&self, text: &mut Vec<u8>, mark: u8, side: &[Token], lines: Range<u32>) {
        for token in &side[lines.start as usize..lines.end as usize] {
            push_line(text, mark, self.line(*token));
        }
    }

    fn line(&self, token: Token) -> &'a [u8] {
        self.input.interner[token]
    }
}

/// Returns start and count as git prints them: 1-based, and the line before where there are none.
fn printed(lines: &Range<u32>) -> (u32, u32) {
    (lines.start + u32::from(!lines.is_empty()), lines.end - lines.start)
}

/// Finds the words behind the second `@@`: the last line above the hunk that could open a function. A hunk without one keeps its predecessor's.
struct Sections<'a> {
    searched: u32,
    found: &'a [u8],
}

impl<'a> Sections<'a> {
    fn before(&mut self, start: u32, line: impl Fn(u32) -> &'a [u8]) -> &'a [u8] {
        if let Some(found) = (self.searched..start).rev().find_map(|at| section(line(at))) {
            self.found = found;
        }
        self.searched = self.searched.max(start);
        self.found
    }
}

/// Applies git's default rule to a line: it begins with a letter, `_` or `$`.
fn section(line: &[u8]) -> Option<&[u8]> {
    line.first().filter(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))?;
    let cut = &line[..line.len().min(SECTION)];
    let end = cut.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))?;
    Some(&cut[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_follow_gits_default_rule() {
        let long = [b"x".repeat(90), b"\n".to_vec()].concat();
        let cases: [(&[u8], Option<&[u8]>); 7] = [
            (b"fn main() {  \r\n", Some(b"fn main() {")),
            (b"_x\n", Some(b"_x")),
            (b"$x", Some(b"$x")),
            (b" indented\n", None),
            (b"7\n", None),
            (b"\n", None),
            (&long, Some(&long[..80])),
        ];
        for (line, expected) in cases {
            assert_eq!(section(line), expected, "{:?}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn edits_seven_lines_apart_are_two_hunks() {
        let text = |changed: &[usize]| -> Vec<u8> {
            (0..20).flat_map(|n| format!("{}{n}\n", if changed.contains(&n) { "new" } else { "old" }).into_bytes()).collect()
        };
        assert_eq!(hunks(&text(&[]), &text(&[3, 10])).len(), 1);
        assert_eq!(hunks(&text(&[]), &text(&[3, 11])).len(), 2);
    }

    #[test]
    fn a_change_of_line_ends_is_a_change() {
        assert_eq!(hunks(b"a\r\n", b"a\n")[0].text, b"-a\r\n+a\n");
        assert_eq!(hunks(b"a\n", b"a")[0].text, b"-a\n+a\n\\ No newline at end of file\n");
    }

    #[test]
    fn a_nul_makes_a_file_binary_only_near_its_start() {
        let content = |nul: usize| [vec![b'x'; nul], vec![0]].concat();
        assert!(is_binary(&content(7999)) && !is_binary(&content(8000)));
    }
}
