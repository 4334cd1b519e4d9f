//! Slices: the change cut at file and hunk seams to a size, the same bytes giving the same slice.
//!
//! Leaves to others: which files are to be shown (`paths`, `plan`) and what is secret in them (`redact`).

mod visible;

pub use visible::{is_hidden, visible};

use super::patch::{self, Style};
use super::{BytePath, Change, FileChange, Hunk};
use std::ops::Range;

/// A part of the change that fits a reviewer: unified diff text with visible escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// `c1`, `c2`, … in path order.
    pub id: String,
    /// The text.
    pub text: String,
    /// The files that it shows, in order; a file that had to be cut is in several slices.
    pub files: Vec<BytePath>,
}

/// Cuts the files that `include` names into slices of at most `budget` bytes of text. A file that fits is never cut; one that does not is cut at hunk
/// seams, and a hunk that does not fit at line seams, each part with a header of its own. Only a slice of a single line can be over the budget: the
/// caller looks at its length.
pub fn cut(change: &Change, budget: usize, include: impl Fn(&FileChange) -> bool) -> Vec<Slice> {
    let mut slices: Vec<Slice> = Vec::new();
    for file in change.files.iter().filter(|file| include(file)) {
        for part in parts(file, budget) {
            match slices.last_mut() {
                Some(last) if last.text.len() + part.len() <= budget => append(last, &part, file.path()),
                Some(_) | None => slices.push(Slice { id: format!("c{}", slices.len() + 1), text: part, files: vec![file.path().clone()] }),
            }
        }
    }
    slices
}

/// Returns how many bytes of text [`cut`] would start from: headers and lines, before escapes make them longer. Cheap, so that a caller can refuse a
/// change that is too large without cutting it.
pub fn size(change: &Change, include: impl Fn(&FileChange) -> bool) -> usize {
    let header = |file: &FileChange| {
        let mut out = Vec::new();
        patch::header(file, Style::Prompt, &mut out);
        out.len()
    };
    let lines = |file: &FileChange| file.hunks().iter().map(|hunk| hunk.text.len()).sum::<usize>();
    change.files.iter().filter(|file| include(file)).map(|file| header(file) + lines(file)).sum()
}

fn append(slice: &mut Slice, part: &str, path: &BytePath) {
    slice.text.push_str(part);
    if slice.files.last() != Some(path) {
        slice.files.push(path.clone());
    }
}

/// One file as texts that each fit the budget, where that can be.
fn parts(file: &FileChange, budget: usize) -> Vec<String> {
    let header = shown(|out| patch::header(file, Style::Prompt, out));
    let room = budget.saturating_sub(header.len());
    let hunks: Vec<String> = file.hunks().iter().map(text).collect();
    if hunks.iter().map(String::len).sum::<usize>() <= room {
        return vec![header + &hunks.concat()];
    }
    let fitting = file.hunks().iter().zip(hunks).flat_map(|(hunk, text)| if text.len() <= room { vec![text] } else { cut_lines(hunk, room) });
    let mut parts: Vec<String> = Vec::new();
    for text in fitting {
        match parts.last_mut() {
            Some(last) if last.len() + text.len() <= budget => last.push_str(&text),
            Some(_) | None => parts.push(format!("{header}{text}")),
        }
    }
    parts
}

fn shown(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    visible(&bytes)
}

fn text(hunk: &Hunk) -> String {
    written(bare(hunk), &hunk.text)
}

/// A hunk with the lines `body`, as a reviewer is shown it.
fn written(numbers: Hunk, body: &[u8]) -> String {
    shown(|out| {
        patch::hunk(&numbers, out);
        out.extend_from_slice(body);
    })
}

/// The ranges of a hunk alone. The words behind its second `@@` are never shown: git cuts them at 80 bytes, and half a secret matches no rule.
fn bare(hunk: &Hunk) -> Hunk {
    let &Hunk { old_start, old_lines, new_start, new_lines, .. } = hunk;
    Hunk { old_start, old_lines, new_start, new_lines, section: Vec::new(), text: Vec::new() }
}

/// Cuts a hunk at line seams into texts that fit, where that can be. What stands before and behind a part is counted on, so that the time is linear.
fn cut_lines(hunk: &Hunk, room: usize) -> Vec<String> {
    let seams = seams(hunk);
    let (mut before, mut left) = (Lines::default(), Lines::of(&seams));
    let mut rest = &seams[..];
    let mut texts = Vec::new();
    while !rest.is_empty() {
        // Two lines or more are written longest: `9,2`, where one is `9` and none is `8,0`.
        let header = written(numbered(hunk, before, Lines { old: left.old.max(2), new: left.new.max(2) }), b"").len();
        let (part, after) = rest.split_at(longest(hunk, rest, room.saturating_sub(header)));
        let lines = Lines::of(part);
        let body = part[0].bytes.start..part[part.len() - 1].bytes.end;
        texts.push(written(numbered(hunk, before, lines), &hunk.text[body]));
        before = Lines { old: before.old + lines.old, new: before.new + lines.new };
        left = Lines { old: left.old - lines.old, new: left.new - lines.new };
        rest = after;
    }
    texts
}

/// Numbers of lines on both sides.
#[derive(Clone, Copy, Default)]
struct Lines {
    old: u32,
    new: u32,
}

impl Lines {
    fn of(seams: &[Seam]) -> Lines {
        seams.iter().fold(Lines::default(), |sum, seam| Lines { old: sum.old + seam.lines.old, new: sum.new + seam.lines.new })
    }
}

/// A line of a hunk with what belongs to it: where its bytes are, and whether it counts on the old and on the new side.
struct Seam {
    bytes: Range<usize>,
    lines: Lines,
}

/// The places where a hunk may be cut: before each line, but not before a mark for a missing final newline.
fn seams(hunk: &Hunk) -> Vec<Seam> {
    let mut seams: Vec<Seam> = Vec::new();
    let mut at = 0;
    for line in hunk.text.split_inclusive(|byte| *byte == b'\n') {
        let bytes = at..at + line.len();
        at = bytes.end;
        match (line[0], seams.last_mut()) {
            (b'\\', Some(owner)) => owner.bytes.end = bytes.end,
            (mark, _) => seams.push(Seam { bytes, lines: Lines { old: u32::from(mark != b'+'), new: u32::from(mark != b'-') } }),
        }
    }
    seams
}

/// How many lines from the start of `rest` fit; at least one.
fn longest(hunk: &Hunk, rest: &[Seam], room: usize) -> usize {
    let mut used = 0;
    let fits = |seam: &&Seam| {
        used += visible(&hunk.text[seam.bytes.clone()]).len();
        used <= room
    };
    rest.iter().take_while(fits).count().max(1)
}

/// The ranges of `lines` lines that come after `before` lines of a hunk; as git has it, a start is one less where a side has no lines.
fn numbered(hunk: &Hunk, before: Lines, lines: Lines) -> Hunk {
    let start = |start: u32, all: u32, before: u32, lines: u32| start + u32::from(all == 0) + before - u32::from(lines == 0);
    Hunk {
        old_start: start(hunk.old_start, hunk.old_lines, before.old, lines.old),
        old_lines: lines.old,
        new_start: start(hunk.new_start, hunk.new_lines, before.new, lines.new),
        new_lines: lines.new,
        section: Vec::new(),
        text: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Body, Mode, Oid, Side, Status};

    fn file(path: &str, hunks: Vec<Hunk>) -> FileChange {
        let side = || Some(Side { path: path.into(), mode: Mode::Regular, oid: Oid::from_bytes(&[1; 20]).expect("an id"), size: 1 });
        FileChange { status: Status::Modified, old: side(), new: side(), body: Body::Text(hunks) }
    }

    fn hunk(start: u32, text: &str) -> Hunk {
        let count = |without: u8| text.lines().filter(|line| !line.starts_with('\\') && line.as_bytes()[0] != without).count() as u32;
        let (old_lines, new_lines) = (count(b'+'), count(b'-'));
        let zero = |lines: u32| start - u32::from(lines == 0);
        Hunk {
            old_start: zero(old_lines),
            old_lines,
            new_start: zero(new_lines),
            new_lines,
            section: b"fn x()".to_vec(),
            text: text.as_bytes().to_vec(),
        }
    }

    fn change(files: Vec<FileChange>) -> Change {
        Change { files, already_published: Vec::new() }
    }

    fn all(_: &FileChange) -> bool {
        true
    }

    /// A change with many files and hunks, different for each seed and the same for the same.
    fn sample(seed: u64) -> Change {
        let mut state = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut files = Vec::new();
        for number in 0..1 + next(6) {
            let hunks = (0..1 + next(4)).map(|at| {
                let line = |n: u64, kind: u64| format!("{}line {n}{}\n", ["+", "-", " "][kind as usize], "é\u{202e}x".repeat((n % 9) as usize));
                let text: String = (0..1 + next(40)).map(|n| line(n, next(3))).collect();
                hunk(100 * (at as u32 + 1), &text)
            });
            files.push(file(&format!("src/f{number}.rs"), hunks.collect()));
        }
        change(files)
    }

    /// Reads slice texts back by their headers alone: file, side, number on both sides and text of every line.
    fn read_back(slices: &[Slice]) -> String {
        let mut out = String::new();
        let (mut path, mut left, mut at) = ("", [0_u32; 2], [0_u32; 2]);
        for line in slices.iter().flat_map(|slice| slice.text.lines()) {
            if left == [0, 0] {
                path = line.strip_prefix("+++ ").unwrap_or(path);
                let Some(ranges) = line.strip_prefix("@@ -").and_then(|rest| rest.split(" @@").next()) else { continue };
                for (side, range) in ranges.split(" +").enumerate() {
                    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                    left[side] = count.parse().expect("a count");
                    at[side] = start.parse::<u32>().expect("a start") + u32::from(left[side] == 0);
                }
                continue;
            }
            out.push_str(&format!("{path} {at:?} {line}\n"));
            for (side, other) in [(0, '+'), (1, '-')] {
                let counts = u32::from(!line.starts_with(other));
                left[side] -= counts;
                at[side] += counts;
            }
        }
        out
    }

    #[test]
    fn a_small_change_is_one_slice_in_git_form() {
        let change = change(vec![
            file("src/a.rs", vec![hunk(3, " a\n-b\n+c\n")]),
            file("src/b.rs", vec![hunk(1, "+x\u{202e}\n\\ No newline at end of file\n")]),
        ]);
        let slices = cut(&change, 10_000, all);
        assert_eq!(slices.len(), 1);
        assert_eq!((slices[0].id.as_str(), slices[0].files.len()), ("c1", 2));
        assert!(slices[0].text.contains("\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n"), "{}", slices[0].text);
        assert!(slices[0].text.ends_with("@@ -0,0 +1 @@\n+x⟨U+202E⟩\n\\ No newline at end of file\n"), "{}", slices[0].text);
        assert_eq!(cut(&change, 10_000, |file| file.path() == &"src/b.rs".into())[0].files, ["src/b.rs".into()]);
        assert_eq!(cut(&Change::default(), 10_000, all), []);
    }

    #[test]
    fn a_file_that_fits_is_never_cut() {
        let lines = "+line\n".repeat(30);
        let change = change((0..5).map(|n| file(&format!("src/{n}.rs"), vec![hunk(1, &lines)])).collect());
        let slices = cut(&change, 700, all);
        assert_eq!(slices.iter().map(|slice| slice.files.len()).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(slices.iter().map(|slice| slice.id.as_str()).collect::<Vec<_>>(), ["c1", "c2", "c3"]);
    }

    #[test]
    fn every_cut_keeps_lines_numbers_and_size() {
        for seed in 0..25 {
            let change = sample(seed);
            let whole = cut(&change, usize::MAX, all);
            assert_eq!(whole.len(), 1);
            for budget in [400, 600, 1_000, 4_000] {
                let slices = cut(&change, budget, all);
                assert_eq!(slices, cut(&change.clone(), budget, all), "the same bytes give the same slices");
                assert!(slices.iter().all(|slice| slice.text.len() <= budget), "seed {seed}, budget {budget}");
                assert_eq!(read_back(&slices), read_back(&whole), "seed {seed}, budget {budget}");
            }
            for too_small in [0, 1, 100] {
                assert_eq!(read_back(&cut(&change, too_small, all)), read_back(&whole), "seed {seed}: nothing is lost where nothing fits");
            }
        }
    }

    #[test]
    fn a_line_that_fits_nowhere_stands_alone() {
        let long = format!("+{}\n", "x".repeat(2_000));
        let change = change(vec![file("a.rs", vec![hunk(1, &format!("+a\n+b\n{long}+c\n"))])]);
        let slices = cut(&change, 500, all);
        assert_eq!(slices.iter().map(|slice| slice.text.len() > 500).collect::<Vec<_>>(), [false, true, false]);
        assert!(slices[1].text.contains("@@ -0,0 +3 @@"), "{}", slices[1].text);
        assert!(slices[2].text.contains("@@ -0,0 +4 @@"), "{}", slices[2].text);
    }

    #[test]
    fn a_change_in_one_file_leaves_the_slices_before_it_alone() {
        let lines = "+line\n".repeat(30);
        let files = |last: &str| change((0..5).map(|n| file(&format!("src/{n}.rs"), vec![hunk(1, if n == 4 { last } else { &lines })])).collect());
        let (one, two) = (cut(&files(&lines), 700, all), cut(&files("+other\n"), 700, all));
        assert_ne!(one, two);
        assert_eq!(one[0], two[0]);
    }

    #[test]
    fn the_words_behind_a_hunk_header_are_in_no_slice() {
        let change = change(vec![file("a.rs", vec![hunk(1, &"+line\n".repeat(90))])]);
        for budget in [300, 10_000] {
            let slices = cut(&change, budget, all);
            assert!(slices.iter().all(|slice| slice.text.contains("@@ -") && !slice.text.contains("fn x()")), "{slices:?}");
        }
    }

    #[test]
    fn the_size_is_known_before_the_cut() {
        let change = change(vec![file("a.rs", vec![hunk(1, "+a\n")]), file("b.rs", vec![hunk(1, &"+line\n".repeat(1_000))])]);
        let cut = |name: &'static str| cut(&change, usize::MAX, |file| file.path() == &name.into())[0].text.len();
        let size = |name: &'static str| size(&change, |file| file.path() == &name.into());
        for name in ["a.rs", "b.rs"] {
            assert!(size(name) <= cut(name) && size(name) + 40 > cut(name), "{name}: all but the line with the ranges");
        }
    }

    #[test]
    fn the_time_is_linear_in_the_text() {
        let change = change(vec![file("a.rs", vec![hunk(1, &"+x\n".repeat(400_000))])]);
        assert!(cut(&change, 400, all).len() > 3_000);
    }
}
