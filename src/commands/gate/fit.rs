//! Whether a change fits its reviewers, and what to say where it does not: what is largest, and which key of the policy would take it out of review.

use crate::change::slice::{self, Slice};
use crate::change::{Change, FileChange};
use crate::paths;
use crate::verdict::{Ground, Reason};
use std::collections::BTreeMap;

/// Parts that one pass is cut into at the most.
pub(super) const MAX_PARTS: usize = 16;
/// What to do about files that are too large.
pub(super) const REMEDY: &str = "split the push, or have the policy at the base take them out of review";
/// Files that a message names.
const NAMED: usize = 5;

/// Returns the bytes of a file's larger side.
pub(super) fn blob(file: &FileChange) -> usize {
    let size = [&file.old, &file.new].into_iter().flatten().map(|side| side.size).max();
    size.map_or(0, |size| usize::try_from(size).unwrap_or(usize::MAX))
}

/// Names the largest files with their sizes and, where there is one, the key of the policy that would list them.
pub(super) fn named(files: &[&FileChange], size: impl Fn(&FileChange) -> usize) -> String {
    let mut sized: Vec<(usize, &FileChange)> = files.iter().map(|file| (size(file), *file)).collect();
    sized.sort_by_key(|(size, file)| (std::cmp::Reverse(*size), file.path()));
    let name = |(size, file): &(usize, &FileChange)| match paths::policy_key(file) {
        Some(key) => format!("{} ({}; `{key}`)", file.path(), bytes(*size)),
        None => format!("{} ({})", file.path(), bytes(*size)),
    };
    let mut names: Vec<String> = sized.iter().take(NAMED).map(name).collect();
    if sized.len() > NAMED {
        names.push(format!("and {} more", sized.len() - NAMED));
    }
    names.join(", ")
}

/// Refuses a change that needs more calls than a pass may make.
pub(super) fn too_many_parts(change: &Change, needed: usize) -> Reason {
    let files: Vec<&FileChange> = change.files.iter().collect();
    let what = format!("the change needs {needed} calls for each pass, more than {MAX_PARTS}; its {} files by size: ", files.len());
    Reason::new(Ground::TooLarge, format!("{what}{}; {REMEDY}", named(&files, slice::size_of)))
}

/// Refuses a line that no reviewer of some pass takes in one call: `most` is what one takes. A line is never cut, because half of one may say the opposite.
pub(super) fn too_long_a_line(change: &Change, slices: &[Slice], most: usize) -> Option<Reason> {
    let long = slices.iter().filter(|slice| slice.text.len() > most);
    let longest: BTreeMap<_, usize> = long.flat_map(|slice| slice.files.iter().map(|path| (path, slice.text.len()))).collect();
    let files: Vec<&FileChange> = change.files.iter().filter(|file| longest.contains_key(file.path())).collect();
    let size = |file: &FileChange| longest.get(file.path()).copied().unwrap_or_default();
    (!files.is_empty()).then(|| {
        let what = format!("a line is longer than the {} that a reviewer takes in one call: {}", bytes(most), named(&files, size));
        Reason::new(Ground::TooLarge, format!("{what}; {REMEDY}"))
    })
}

/// Writes a number of bytes for people.
fn bytes(number: usize) -> String {
    match number {
        0..=9_999 => format!("{number} bytes"),
        10_000..=9_999_999 => format!("{} kB", number / 1_000),
        _ => format!("{} MB", number / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Body, Mode, Oid, Side, Status};

    fn file(path: &str, size: u64) -> FileChange {
        let side = Some(Side { path: path.into(), mode: Mode::Regular, oid: Oid::from_bytes(&[1; 20]).expect("an id"), size });
        FileChange { status: Status::Added, old: None, new: side, body: Body::Text(Vec::new()) }
    }

    #[test]
    fn the_largest_are_named_with_the_key_that_would_list_them() {
        let files: Vec<FileChange> = [
            ("a.json", 12_345_678),
            ("src/api.rs", 60_000),
            ("Cargo.lock", 70_000),
            ("package.json", 500),
            ("x.txt", 600),
            ("y.txt", 1),
            ("z.txt", 2),
        ]
        .map(|(path, size)| file(path, size))
        .into();
        let text = named(&files.iter().collect::<Vec<_>>(), blob);
        assert_eq!(
            text,
            "a.json (12 MB; `data`), Cargo.lock (70 kB), src/api.rs (60 kB; `generated`), x.txt (600 bytes; `data`), package.json (500 bytes), and 2 more"
        );
    }
}
