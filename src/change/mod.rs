//! What changed: files with an old and a new side, hunks with line numbers on both, and the subject that is judged as one.
//!
//! Plain values and pure functions. Where the bytes come from is `git/`'s business; what they mean is `tier`'s, `review`'s and `verdict`'s.

pub mod lfs;
pub mod line_ends;
pub mod oid;
pub mod patch;
pub mod path;
pub mod slice;
pub mod subject;
pub mod utf16;

pub use line_ends::LineEnds;
pub use oid::Oid;
pub use path::BytePath;

use crate::digest::{Digest, Fields};

/// A file mode as git stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// An ordinary file, `100644`.
    Regular,
    /// A file with the executable bit, `100755`.
    Executable,
    /// A symbolic link, `120000`: the content is its target, never followed.
    Symlink,
    /// A submodule, `160000`: the id is a commit of another repository.
    Gitlink,
}

impl Mode {
    /// Returns the six octal digits that git prints.
    pub fn octal(self) -> &'static str {
        match self {
            Mode::Regular => "100644",
            Mode::Executable => "100755",
            Mode::Symlink => "120000",
            Mode::Gitlink => "160000",
        }
    }

    /// Tells whether two modes are of the same type; a change of type is a deletion and an addition (as `git diff` prints it).
    pub fn same_type(self, other: Mode) -> bool {
        let file = |mode| matches!(mode, Mode::Regular | Mode::Executable);
        self == other || (file(self) && file(other))
    }
}

/// One side of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The path on this side.
    pub path: BytePath,
    /// The mode on this side.
    pub mode: Mode,
    /// The blob (for a gitlink, the commit) on this side.
    pub oid: Oid,
    /// The blob's size in bytes; 0 for a gitlink.
    pub size: u64,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Only the new side exists.
    Added,
    /// Only the old side exists.
    Deleted,
    /// Both sides, same path.
    Modified,
    /// Both sides, another path; similarity in percent, 100 for the same bytes.
    Renamed {
        /// Similarity in percent, 50 to 100.
        similarity: u8,
    },
}

/// The content of a changed file, as far as it can be shown as lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text on both sides that exist. Empty where only mode or path changed, or an empty file came or went.
    Text(Vec<Hunk>),
    /// A side is text in UTF-16, which git prints as binary; the lines are those of the decoded text. Printed as git prints it, and reviewed as what it is.
    Utf16(Vec<Hunk>),
    /// Many lines change, each only in its end. What is captured is text; this is what it becomes on its way to a reviewer.
    LineEnds(LineEnds),
    /// A NUL byte in the first 8,000 bytes of a side: decided by content, whatever attributes say.
    Binary,
    /// A side is too large to be read as text (over the limit that `git/` states, in bytes). Git itself would print it as binary.
    Oversize,
    /// A lock file, text on both sides, of which a summary is shown in place of the lines (`lockfile`).
    Summary {
        /// What is shown: whole lines in which everything is visible, the first of which says what they are.
        text: String,
        /// The lines that it stands for.
        hunks: Vec<Hunk>,
    },
}

/// A run of changed lines with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line on the old side, 1-based; as git prints it (one less where there are no lines).
    pub old_start: u32,
    /// Number of lines on the old side.
    pub old_lines: u32,
    /// First line on the new side, 1-based; as git prints it.
    pub new_start: u32,
    /// Number of lines on the new side.
    pub new_lines: u32,
    /// The words behind the second `@@` (git's default rule, no language driver).
    pub section: Vec<u8>,
    /// The body in unified form: each line with its leading ` `, `-` or `+`, and the `\ No newline at end of file` marks.
    pub text: Vec<u8>,
}

/// The role of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// On both sides.
    Context,
    /// Only on the old side.
    Removed,
    /// Only on the new side.
    Added,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Which side it is on.
    pub origin: Origin,
    /// 1-based line number on the old side; the number of the next old line where `origin` is `Added`.
    pub old: u32,
    /// 1-based line number on the new side; the number of the next new line where `origin` is `Removed`.
    pub new: u32,
    /// The bytes without the leading mark and without the final newline. A carriage return stays.
    pub bytes: &'a [u8],
}

impl Hunk {
    /// Iterates over the lines with their numbers on both sides. Marks for a missing final newline are passed over.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let (mut old, mut new) = (self.old_start + u32::from(self.old_lines == 0), self.new_start + u32::from(self.new_lines == 0));
        self.text.split_inclusive(|byte| *byte == b'\n').filter_map(move |raw| {
            let (mark, bytes) = raw.split_first()?;
            let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let origin = match mark {
                b'+' => Origin::Added,
                b'-' => Origin::Removed,
                b'\\' => return None,
                _ => Origin::Context,
            };
            let line = Line { origin, old, new, bytes };
            old += u32::from(origin != Origin::Added);
            new += u32::from(origin != Origin::Removed);
            Some(line)
        })
    }

    /// Counts the added and the removed lines.
    pub fn counts(&self) -> (usize, usize) {
        self.lines().fold((0, 0), |(added, removed), line| match line.origin {
            Origin::Added => (added + 1, removed),
            Origin::Removed => (added, removed + 1),
            Origin::Context => (added, removed),
        })
    }

    /// Returns a digest of the hunk's content that does not depend on where in the file it stands: the identity of what a finding is about.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.text)
    }
}

/// One changed file. At least one side exists; [`FileChange::path`] relies on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// What happened.
    pub status: Status,
    /// The old side; `None` for an addition.
    pub old: Option<Side>,
    /// The new side; `None` for a deletion.
    pub new: Option<Side>,
    /// What can be shown of the content.
    pub body: Body,
}

impl FileChange {
    /// Returns the path people know it by: the new side's, or the old side's of a deleted file.
    pub fn path(&self) -> &BytePath {
        let side = self.new.as_ref().or(self.old.as_ref());
        &side.expect("a changed file has at least one side, because both constructors in git/ make one").path
    }

    /// Iterates over the names of both sides, each once.
    pub fn paths(&self) -> impl Iterator<Item = &BytePath> {
        let old = self.old.as_ref().map(|side| &side.path);
        let new = self.new.as_ref().map(|side| &side.path).filter(|new| old != Some(*new));
        old.into_iter().chain(new)
    }

    /// Returns the hunks; empty for anything that is not text. Those of a summary are there to be counted, and are not shown.
    pub fn hunks(&self) -> &[Hunk] {
        match &self.body {
            Body::Text(hunks) | Body::Utf16(hunks) | Body::Summary { hunks, .. } => hunks,
            Body::LineEnds(_) | Body::Binary | Body::Oversize => &[],
        }
    }

    /// Counts the added and the removed lines; a binary counts none (requirement T03).
    pub fn counts(&self) -> (usize, usize) {
        match &self.body {
            Body::LineEnds(ends) => (ends.lines(), ends.lines()),
            Body::Text(_) | Body::Utf16(_) | Body::Binary | Body::Oversize | Body::Summary { .. } => {
                self.hunks().iter().map(Hunk::counts).fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed))
            }
        }
    }
}

/// Everything that a subject changes, in path order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The changed files that are to be judged.
    pub files: Vec<FileChange>,
    /// Paths that differ but whose entry at the tip is one that the remote already has (product contract, "Already published").
    pub already_published: Vec<BytePath>,
}

impl Change {
    /// Tells whether there is nothing to judge.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Counts the added and the removed lines.
    pub fn counts(&self) -> (usize, usize) {
        self.files.iter().map(FileChange::counts).fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed))
    }

    /// Returns the digest of the changed entries (paths, modes, blob ids): equal for the same content, whatever the commits are called.
    pub fn digest(&self) -> Digest {
        let mut fields = Fields::new("review-gate change v1");
        for file in &self.files {
            for side in [&file.old, &file.new] {
                match side {
                    None => fields.add("-"),
                    Some(side) => {
                        fields.add(side.mode.octal());
                        fields.add(side.oid.as_bytes());
                        fields.add(side.path.as_bytes());
                    }
                }
            }
        }
        fields.finish()
    }

    /// Finds a changed file by either of its paths.
    pub fn file(&self, path: &BytePath) -> Option<&FileChange> {
        self.files.iter().find(|file| [&file.new, &file.old].into_iter().flatten().any(|side| side.path == *path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(text: &str) -> Hunk {
        Hunk { old_start: 5, old_lines: 2, new_start: 7, new_lines: 2, section: Vec::new(), text: text.as_bytes().to_vec() }
    }

    #[test]
    fn lines_carry_their_numbers_on_both_sides() {
        let hunk = hunk(" same\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n");
        let lines: Vec<_> = hunk.lines().map(|line| (line.origin, line.old, line.new, line.bytes)).collect();
        assert_eq!(lines, [(Origin::Context, 5, 7, &b"same"[..]), (Origin::Removed, 6, 8, &b"old"[..]), (Origin::Added, 7, 8, &b"new"[..])]);
        assert_eq!(hunk.counts(), (1, 1));
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_data() {
        assert_eq!(hunk("+++ b/x\n--- a/x\n+@@ -1 +1 @@\n").counts(), (2, 1));
    }
}
