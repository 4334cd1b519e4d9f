//! Changes of line ends and nothing else: thousands of lines that look the same on both sides. A reviewer is told of them in one line.

use super::{Body, FileChange, Hunk, Line, Origin};
use std::fmt;

/// From this many lines on, the change is told and not shown.
const FROM: usize = 100;

/// How many lines get another end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineEnds {
    /// From LF to CRLF.
    pub to_crlf: usize,
    /// From CRLF to LF.
    pub to_lf: usize,
}

impl LineEnds {
    /// Returns how many lines change.
    pub fn lines(self) -> usize {
        self.to_crlf + self.to_lf
    }
}

impl fmt::Display for LineEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line ends change and nothing else: LF to CRLF in {} lines, CRLF to LF in {}", self.to_crlf, self.to_lf)
    }
}

/// Reads a text in which many lines change and each only in its end; `None` for any other change.
pub fn only(file: &FileChange) -> Option<LineEnds> {
    let hunks = match &file.body {
        Body::Text(hunks) => hunks,
        Body::LineEnds(_) | Body::Utf16(_) | Body::Binary | Body::Oversize | Body::Summary { .. } => return None,
    };
    let mut all = LineEnds::default();
    for hunk in hunks {
        let ends = of_hunk(hunk)?;
        all = LineEnds { to_crlf: all.to_crlf + ends.to_crlf, to_lf: all.to_lf + ends.to_lf };
    }
    (all.lines() >= FROM).then_some(all)
}

/// Lines are compared run by run: a line that comes back behind one that stayed has moved, whatever its end. The first lines tell most changes apart, so that
/// little is read of one that is no such change.
fn of_hunk(hunk: &Hunk) -> Option<LineEnds> {
    let lines: Vec<Line<'_>> = hunk.lines().collect();
    let mut ends = LineEnds::default();
    for run in lines.split(|line| line.origin == Origin::Context) {
        let of = |side: Origin| run.iter().filter(move |line| line.origin == side).map(|line| line.bytes);
        let (mut old, mut new) = (of(Origin::Removed), of(Origin::Added));
        loop {
            match (old.next(), new.next()) {
                (None, None) => break,
                (Some(old), Some(new)) if new.strip_suffix(b"\r") == Some(old) => ends.to_crlf += 1,
                (Some(old), Some(new)) if old.strip_suffix(b"\r") == Some(new) => ends.to_lf += 1,
                (Some(_) | None, Some(_) | None) => return None,
            }
        }
    }
    // A last line that gains or loses its end changes in more than its kind.
    let unended = hunk.text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"\\"));
    (!unended).then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{BytePath, Mode, Oid, Side, Status};

    fn file(text: &str) -> FileChange {
        let side = Side { path: BytePath::from("f"), mode: Mode::Regular, oid: Oid::from_bytes(&[1; 20]).expect("an id"), size: 1 };
        let hunk = Hunk { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, section: Vec::new(), text: text.as_bytes().to_vec() };
        FileChange { status: Status::Modified, old: Some(side.clone()), new: Some(side), body: Body::Text(vec![hunk]) }
    }

    #[test]
    fn only_ends_and_many_of_them() {
        let (old, new) = ("-line\n".repeat(100), "+line\r\n".repeat(100));
        let ends = |text: String| only(&file(&text)).map(|ends| (ends.to_crlf, ends.to_lf));
        assert_eq!(ends(format!("{old}{new}")), Some((100, 0)));
        assert_eq!(ends(format!(" x\n-a\r\n+a\n y\n{old}{new}")), Some((100, 1)));
        let others = [
            "-line\n+line\r\n".repeat(99),
            format!("{old}{new}+evil\r\n"),
            format!("{old}-last\n{new}+lasT\r\n"),
            format!("{old}-last\n{new}+last \r\n"),
            format!("{old}-last\n{new}+last\r\r\n"),
            format!("{old}-last\n{new}+last\r\n\\ No newline at end of file\n"),
            "+line\r\n".repeat(200),
            // One line has moved behind another that stays.
            format!("{old}-check\n{new} delete\n-end\n+check\r\n+end\r\n"),
        ];
        for text in others {
            assert_eq!(ends(text.clone()), None, "{}", &text[text.len() - 40..]);
        }
    }
}
