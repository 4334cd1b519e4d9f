//! Slices: the change cut at file and hunk seams to a size, the same bytes giving the same slice.
//!
//! Leaves to others: which files are to be shown (`paths`, `plan`) and what is secret in them (`redact`).

mod visible;

pub use visible::{is_hidden, visible};

use super::patch::{self, Style};
use super::{Body, BytePath, Change, FileChange, Hunk};
use crate::digest::Digest;
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

/// One in so many files begins a new run, by its name.
const RUN: u8 = 8;
/// Room for the marks of a part, in bytes; a test holds the marks to it.
const MARKS: usize = 160;
/// Stands before a part of a hunk that began in another. No line of a diff begins with a backslash but git's own remarks, so data cannot counterfeit it.
const BEGAN: &str = "\\ Cut: this hunk began in the part before\n";
/// Stands behind a part of a hunk that does not end with it.
const GOES_ON: &str = "\\ Cut: this hunk goes on in the next part\n";

/// Cuts the change into slices of at most `budget` bytes of text. A file that fits is never cut; one that does not is cut at hunk seams, and a hunk that does
/// not fit at line seams, each part with a header of its own and a mark that says so. Only a slice of a single line can be over the budget: the caller looks
/// at its length.
///
/// Files share a slice where a run of them fits it as a whole; else each has its own. Where a run begins hangs on names alone, so that an edit of one file
/// leaves the slices of all other runs as they were.
pub fn cut(change: &Change, budget: usize) -> Vec<Slice> {
    let mut slices: Vec<Slice> = Vec::new();
    let mut add = |text: String, files: Vec<BytePath>| slices.push(Slice { id: format!("c{}", slices.len() + 1), text, files });
    for run in change.files.chunk_by(|_, file| !begins_run(file.path())) {
        let parts: Vec<(&FileChange, Vec<String>)> = run.iter().map(|file| (file, parts(file, budget))).collect();
        let size: usize = parts.iter().flat_map(|(_, texts)| texts).map(String::len).sum();
        if size <= budget && parts.iter().all(|(_, texts)| texts.len() == 1) {
            let mut files: Vec<BytePath> = run.iter().map(|file| file.path().clone()).collect();
            files.dedup();
            add(parts.into_iter().flat_map(|(_, texts)| texts).collect(), files);
        } else {
            parts.into_iter().for_each(|(file, texts)| texts.into_iter().for_each(|text| add(text, vec![file.path().clone()])));
        }
    }
    slices
}

fn begins_run(path: &BytePath) -> bool {
    u8::from_str_radix(&Digest::of(path.as_bytes()).short(2), 16).is_ok_and(|byte| byte % RUN == 0)
}

/// Returns how many bytes of text [`cut`] would start from: headers and lines, before escapes make them longer. Cheap, so that a caller can refuse a
/// change that is too large without cutting it.
pub fn size(change: &Change) -> usize {
    change.files.iter().map(size_of).sum()
}

/// Returns the same for one file.
pub fn size_of(file: &FileChange) -> usize {
    let mut header = Vec::new();
    patch::header(file, Style::Prompt, &mut header);
    let lines = match &file.body {
        Body::Summary { text, .. } => text.len(),
        Body::Text(hunks) | Body::Utf16(hunks) => hunks.iter().map(|hunk| hunk.text.len()).sum(),
        Body::LineEnds(_) | Body::Binary | Body::Oversize => 0,
    };
    header.len() + lines
}

/// One file as texts that each fit the budget, where that can be.
fn parts(file: &FileChange, budget: usize) -> Vec<String> {
    let header = shown(|out| patch::header(file, Style::Prompt, out));
    let whole = match &file.body {
        Body::Summary { text, .. } => text.clone(),
        Body::Text(_) | Body::Utf16(_) | Body::LineEnds(_) | Body::Binary | Body::Oversize => file.hunks().iter().map(text).collect(),
    };
    if header.len() + whole.len() <= budget {
        return vec![header + &whole];
    }
    let room = budget.saturating_sub(header.len() + MARKS);
    let pieces = match &file.body {
        Body::Summary { .. } => whole.split_inclusive('\n').map(str::to_owned).collect(),
        Body::Text(_) | Body::Utf16(_) | Body::LineEnds(_) | Body::Binary | Body::Oversize => {
            file.hunks().iter().flat_map(|hunk| fitting(hunk, room)).collect()
        }
    };
    let parts = joined(pieces, room);
    let last = parts.len();
    let marked = |(at, text): (usize, String)| format!("{header}{}{text}", part_mark(at + 1, last));
    parts.into_iter().enumerate().map(marked).collect()
}

/// Says which part of a file stands below; it does not count them all, so that a part stays what it is when another is added.
fn part_mark(number: usize, last: usize) -> String {
    let rest = if number < last { "more follows" } else { "this is the last" };
    format!("\\ Cut: part {number} of this file; {rest}\n")
}

/// A hunk whole where it fits, else cut, with a mark on both sides of each cut.
fn fitting(hunk: &Hunk, room: usize) -> Vec<String> {
    let whole = text(hunk);
    if whole.len() <= room {
        return vec![whole];
    }
    let cut = cut_lines(hunk, room);
    let last = cut.len() - 1;
    let mark = |here: bool, mark: &'static str| if here { mark } else { "" };
    cut.iter().enumerate().map(|(at, text)| format!("{}{text}{}", mark(at > 0, BEGAN), mark(at < last, GOES_ON))).collect()
}

/// Puts pieces together in order, as many as fit.
fn joined(pieces: Vec<String>, room: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in pieces {
        match parts.last_mut() {
            Some(last) if last.len() + piece.len() <= room => last.push_str(&piece),
            Some(_) | None => parts.push(piece),
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
    use crate::change::{Mode, Oid, Side, Status};

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
        let slices = cut(&change, 10_000);
        assert_eq!(slices.len(), 1);
        assert_eq!((slices[0].id.as_str(), slices[0].files.len()), ("c1", 2));
        assert!(slices[0].text.contains("\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n"), "{}", slices[0].text);
        assert!(slices[0].text.ends_with("@@ -0,0 +1 @@\n+x⟨U+202E⟩\n\\ No newline at end of file\n"), "{}", slices[0].text);
        assert_eq!(cut(&Change::default(), 10_000), []);
    }

    #[test]
    fn a_file_that_fits_is_never_cut() {
        let lines = "+line\n".repeat(30);
        let change = change((0..40).map(|n| file(&format!("src/{n}.rs"), vec![hunk(1, &lines)])).collect());
        let slices = cut(&change, 1_400);
        assert!(slices.iter().any(|slice| slice.files.len() > 1) && slices.len() < 40, "some runs of files fit into one slice");
        assert!(slices.iter().flat_map(|slice| &slice.files).eq(change.files.iter().map(FileChange::path)), "each file once, in order");
        assert!(slices.iter().enumerate().all(|(at, slice)| slice.id == format!("c{}", at + 1) && !slice.text.contains("Cut:")));
    }

    #[test]
    fn every_cut_keeps_lines_numbers_and_size() {
        for seed in 0..25 {
            let change = sample(seed);
            let whole = cut(&change, usize::MAX);
            for budget in [550, 700, 1_000, 4_000] {
                let slices = cut(&change, budget);
                assert_eq!(slices, cut(&change.clone(), budget), "the same bytes give the same slices");
                assert!(slices.iter().all(|slice| slice.text.len() <= budget), "seed {seed}, budget {budget}");
                assert_eq!(read_back(&slices), read_back(&whole), "seed {seed}, budget {budget}");
            }
            for too_small in [0, 1, 100] {
                assert_eq!(read_back(&cut(&change, too_small)), read_back(&whole), "seed {seed}: nothing is lost where nothing fits");
            }
        }
    }

    #[test]
    fn a_line_that_fits_nowhere_stands_alone() {
        let long = format!("+{}\n", "x".repeat(2_000));
        let change = change(vec![file("a.rs", vec![hunk(1, &format!("+a\n+b\n{long}+c\n"))])]);
        let slices = cut(&change, 500);
        assert_eq!(slices.iter().map(|slice| slice.text.len() > 500).collect::<Vec<_>>(), [false, true, false]);
        assert!(
            slices[1].text.contains("\n\\ Cut: part 2 of this file; more follows\n\\ Cut: this hunk began in the part before\n@@ -0,0 +3 @@\n+xx")
        );
        assert!(slices[1].text.ends_with("xx\n\\ Cut: this hunk goes on in the next part\n"));
        assert!(slices[2].text.contains("last\n\\ Cut: this hunk began in the part before\n@@ -0,0 +4 @@\n+c\n"), "{}", slices[2].text);
    }

    #[test]
    fn each_cut_has_its_mark_on_both_sides() {
        for seed in 0..25 {
            let change = sample(seed);
            let slices = cut(&change, 600);
            for file in &change.files {
                let parts: Vec<&str> = slices.iter().filter(|slice| slice.files.contains(file.path())).map(|slice| slice.text.as_str()).collect();
                let marks = |mark: &str| parts.iter().map(|part| part.matches(mark).count()).sum::<usize>();
                assert_eq!(marks("\n\\ Cut: part "), if parts.len() > 1 { parts.len() } else { 0 });
                assert_eq!(marks("; this is the last\n"), usize::from(parts.len() > 1));
                assert_eq!(marks(BEGAN), marks(GOES_ON), "a hunk that goes on somewhere began somewhere");
                let heads = marks("\n@@ -");
                assert_eq!(heads, file.hunks().len() + marks(BEGAN), "and each further part of a hunk is one that is marked");
            }
        }
        assert!(BEGAN.len() + GOES_ON.len() + part_mark(99_999, 100_000).len() <= MARKS);
    }

    #[test]
    fn a_summary_is_cut_between_its_lines() {
        let mut file = file("Cargo.lock", vec![hunk(1, "+not shown\n")]);
        let text: String = (0..50).map(|n| format!("+ package-{n} 1.0.0\n")).collect();
        file.body = Body::Summary { text: text.clone(), hunks: file.hunks().to_vec() };
        assert_eq!(size_of(&file), cut(&change(vec![file.clone()]), 9_000)[0].text.len());
        let slices = cut(&change(vec![file]), 600);
        assert!(slices.len() > 1 && slices.iter().all(|slice| slice.text.len() <= 600));
        let lines: String =
            slices.iter().flat_map(|slice| slice.text.lines()).filter(|line| line.starts_with("+ ")).map(|line| format!("{line}\n")).collect();
        assert_eq!(lines, text, "nothing is lost, and the lines that it stands for are not shown");
    }

    /// The property that lets a result be kept for a slice: an edit of one file changes only slices of the files that share a run with it.
    #[test]
    fn an_edit_in_one_file_leaves_the_slices_of_other_runs_alone() {
        let texts = |slices: &[Slice], without: &[BytePath]| {
            slices.iter().filter(|slice| !slice.files.iter().any(|path| without.contains(path))).map(|slice| slice.text.clone()).collect::<Vec<_>>()
        };
        let mut untouched = 0;
        for seed in 0..40 {
            let files = |edited: usize, more: usize| {
                let lines = |n: usize| "+line\n".repeat(1 + (n * 7 + seed * 13) % 90 + if n == edited { more } else { 0 });
                change((0..40).map(|n| file(&format!("src/{seed}/{n}.rs"), vec![hunk(1, &lines(n))])).collect())
            };
            let edited = seed % 40;
            let one = files(edited, 0);
            let run = one.files.chunk_by(|_, file| !begins_run(file.path())).find(|run| run.iter().any(|file| file == &one.files[edited]));
            let run: Vec<BytePath> = run.expect("each file is in a run").iter().map(|file| file.path().clone()).collect();
            for more in [1, 100, 1_000] {
                let (before, after) = (cut(&one, 1_500), cut(&files(edited, more), 1_500));
                assert_ne!(before, after);
                assert_eq!(texts(&before, &run), texts(&after, &run), "seed {seed}, {more} lines more");
                untouched += texts(&after, &run).len();
            }
            let mut fewer = one.clone();
            fewer.files.remove(edited);
            let gone = [run, one.files.get(edited + 1).map(|file| file.path().clone()).into_iter().collect()].concat();
            let neighbours: Vec<BytePath> = cut(&fewer, 1_500)
                .iter()
                .filter(|slice| slice.files.iter().any(|path| gone.contains(path)))
                .flat_map(|slice| slice.files.clone())
                .collect();
            assert!(texts(&cut(&fewer, 1_500), &neighbours).len() >= 10, "nor does taking a file out move all that come after it");
        }
        assert!(untouched > 1_000);
    }

    #[test]
    fn the_words_behind_a_hunk_header_are_in_no_slice() {
        let change = change(vec![file("a.rs", vec![hunk(1, &"+line\n".repeat(90))])]);
        for budget in [300, 10_000] {
            let slices = cut(&change, budget);
            assert!(slices.iter().all(|slice| slice.text.contains("@@ -") && !slice.text.contains("fn x()")), "{slices:?}");
        }
    }

    #[test]
    fn the_size_is_known_before_the_cut() {
        let change = change(vec![file("a.rs", vec![hunk(1, "+a\n")]), file("b.rs", vec![hunk(1, &"+line\n".repeat(1_000))])]);
        for file in &change.files {
            let shown = cut(&Change { files: vec![file.clone()], already_published: Vec::new() }, usize::MAX)[0].text.len();
            assert!(size_of(file) <= shown && size_of(file) + 40 > shown, "{}: all but the line with the ranges", file.path());
        }
        assert_eq!(size(&change), change.files.iter().map(size_of).sum::<usize>());
    }

    #[test]
    fn the_time_is_linear_in_the_text() {
        let change = change(vec![file("a.rs", vec![hunk(1, &"+x\n".repeat(400_000))])]);
        assert!(cut(&change, 400).len() > 3_000);
    }
}
