//! The text that would be published for the first time, for the search for secrets: commit by commit, not only between the ends.
//!
//! A key that one commit adds and the next removes is in neither end, and is published all the same (case P11). Lines that a parent has are no news:
//! either the remote has them, or they were seen where they came in. What counts as a secret is `checks`' and `redact`'s business.

use super::error::Extent;
use super::object::Content;
use super::text::MAX_LINED;
use super::tree::{self, Entry};
use super::worktree;
use super::{GitError, Repo, history::History, object};
use crate::change::subject::Subject;
use crate::change::{Body, BytePath, FileChange, Mode, Oid, Origin, Side};
use std::collections::{BTreeMap, HashSet};

/// Files above this size, in bytes, are not searched; they are returned by name.
pub const MAX_SEARCHED: u64 = 64 * 1024 * 1024;

/// New lines of one file in one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreshFile {
    /// The commit that brings them; `None` for what is not committed, or has no history.
    pub commit: Option<Oid>,
    /// The file.
    pub path: BytePath,
    /// The whole new content: a key whose first line is old is seen here only.
    pub content: Vec<u8>,
    /// The whole old sides that it is compared with: of every parent, or of what the same commit takes away.
    pub before: Vec<Vec<u8>>,
}

impl FreshFile {
    /// A name alone.
    fn name(commit: Option<Oid>, path: &BytePath) -> FreshFile {
        FreshFile { commit, path: path.clone(), content: Vec::new(), before: Vec::new() }
    }

    /// Iterates over the lines that no old side has, with their 1-based numbers, without the newline. Binary files are cut at newlines too. An old side that is
    /// too large to be cut explains nothing: all lines count as new.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let olds = self.before.iter().filter(|content| content.len() as u64 <= MAX_LINED);
        let known: HashSet<&[u8]> = olds.flat_map(|content| lines(content)).map(|(_, line)| line).collect();
        lines(&self.content).filter(move |(_, line)| !known.contains(line))
    }
}

impl Repo {
    /// Returns the first bytes of a side's blob; none for a submodule, or where it is too large to be looked into.
    ///
    /// # Errors
    ///
    /// A missing or altered object.
    pub fn first_bytes(&self, side: &Side, most: usize) -> Result<Vec<u8>, GitError> {
        if side.mode == Mode::Gitlink {
            return Ok(Vec::new());
        }
        Ok(match object::content(&self.gix, side.oid) {
            Ok(Content::Whole(bytes)) => bytes[..bytes.len().min(most)].to_vec(),
            Ok(Content::Oversize(_)) => Vec::new(),
            // What is only on disk.
            Err(GitError::Missing { oid, .. }) if oid == side.oid && self.work_dir().is_some() => match worktree::tracked(&self.gix)?.1.get(&oid) {
                Some(Content::Whole(bytes)) => bytes[..bytes.len().min(most)].to_vec(),
                Some(Content::Oversize(_)) | None => Vec::new(),
            },
            Err(error) => return Err(error),
        })
    }

    /// Shows every new line of a subject to `visit`, one file of one commit at a time, newest commit first. Returns the files that are too large to be
    /// searched ([`MAX_SEARCHED`]).
    ///
    /// # Errors
    ///
    /// A missing or altered object: text that cannot be read is not known to be clean.
    pub fn fresh_text(&self, subject: &Subject, visit: &mut dyn FnMut(&FreshFile)) -> Result<Vec<BytePath>, GitError> {
        let mut search = Search { repo: self, visit, seen: HashSet::new(), too_large: Vec::new() };
        if subject.commits.is_empty() {
            subject.change.files.iter().try_for_each(|file| search.file(file))?;
        } else {
            let mut history = History::new(&self.gix)?;
            subject.commits.iter().try_for_each(|commit| search.commit(&mut history, *commit))?;
        }
        Ok(search.too_large)
    }
}

struct Search<'a> {
    repo: &'a Repo,
    visit: &'a mut dyn FnMut(&FreshFile),
    /// Pairs of a new blob and the old ones it was compared with. The blob alone would not do: it may come in twice, beside different parents.
    seen: HashSet<(Oid, Vec<Oid>)>,
    too_large: Vec<BytePath>,
}

impl Search<'_> {
    fn commit(&mut self, history: &mut History<'_>, commit: Oid) -> Result<(), GitError> {
        let node = history.node(commit)?;
        let mut parents = Vec::new();
        for parent in &node.parents {
            parents.push(tree::between(&self.repo.gix, Some(history.node(*parent)?.tree), Some(node.tree))?);
        }
        if parents.is_empty() {
            parents.push(tree::between(&self.repo.gix, None, Some(node.tree))?);
        }
        // Every new name on its own: an empty file, a moved one and a submodule bring no line, and a name can hold a secret too.
        let mut named: BTreeMap<&BytePath, usize> = BTreeMap::new();
        for entry in parents.iter().flatten().filter(|entry| entry.new.is_some() && entry.old.is_none()) {
            *named.entry(&entry.path).or_default() += 1;
        }
        // What a parent has is no news.
        for (path, _) in named.into_iter().filter(|(_, count)| *count == parents.len()) {
            self.show(FreshFile::name(Some(commit), path));
        }
        for (path, (new, old)) in differing_from_all(&parents) {
            self.blob(Some(commit), &path, new, old)?;
        }
        Ok(())
    }

    /// Searches what is not committed or has no history: the lines that the change adds, or of a binary file those that its old side has not.
    fn file(&mut self, file: &FileChange) -> Result<(), GitError> {
        if let Some(side) = &file.new {
            self.show(FreshFile::name(None, &side.path));
        }
        let Some(new) = file.new.as_ref().filter(|side| side.mode != Mode::Gitlink) else { return Ok(()) };
        match &file.body {
            Body::Text(_) | Body::LineEnds(_) | Body::Utf16(_) | Body::Binary | Body::Oversize | Body::Summary { .. } => {
                let old = file.old.as_ref().filter(|side| side.mode != Mode::Gitlink).map(|side| side.oid);
                match self.blob(None, &new.path, new.oid, old.into_iter().collect()) {
                    // A file of the worktree that was never added has no object: what its hunks add is all there is to go by.
                    Err(GitError::Missing { oid, .. }) if oid == new.oid => {
                        self.hunks(file, &new.path);
                        Ok(())
                    }
                    other => other,
                }
            }
        }
    }

    fn hunks(&mut self, file: &FileChange, path: &BytePath) {
        let added = file.hunks().iter().flat_map(|hunk| hunk.lines()).filter(|line| line.origin == Origin::Added);
        let content = added.flat_map(|line| [line.bytes, b"\n"]).collect::<Vec<_>>().concat();
        self.show(FreshFile { commit: None, path: path.clone(), content, before: Vec::new() });
    }

    fn blob(&mut self, commit: Option<Oid>, path: &BytePath, new: Oid, old: Vec<Oid>) -> Result<(), GitError> {
        if !self.seen.insert((new, old.clone())) {
            return Ok(());
        }
        let Some(content) = self.read(new)? else {
            self.too_large.push(path.clone());
            return Ok(());
        };
        let mut before = Vec::new();
        for oid in old {
            // An old side that is too large to be read, or that a partial clone left at the remote, explains nothing: all lines count as new.
            match self.read(oid) {
                Err(GitError::Missing { extent: Extent::Partial, .. }) => {}
                content => before.extend(content?),
            }
        }
        self.show(FreshFile { commit, path: path.clone(), content, before });
        Ok(())
    }

    fn show(&mut self, file: FreshFile) {
        (self.visit)(&file);
    }

    fn read(&self, oid: Oid) -> Result<Option<Vec<u8>>, GitError> {
        Ok(match object::content(&self.repo.gix, oid)? {
            Content::Whole(bytes) if bytes.len() as u64 <= MAX_SEARCHED => Some(bytes.into_owned()),
            Content::Whole(_) | Content::Oversize(_) => None,
        })
    }
}

/// Finds the paths that differ from every parent: the new blob, and the old ones to compare it with. A merge's other paths came with a parent.
///
/// A file that is new under its path is compared with everything the same commit takes away: a move publishes nothing.
fn differing_from_all(parents: &[Vec<Entry>]) -> BTreeMap<BytePath, (Oid, Vec<Oid>)> {
    let mut found: BTreeMap<BytePath, (usize, Oid, Vec<Oid>)> = BTreeMap::new();
    for entry in parents.iter().flatten() {
        let Some(new) = entry.new.filter(|leaf| leaf.mode != Mode::Gitlink) else { continue };
        let (count, _, old) = found.entry(entry.path.clone()).or_insert((0, new.oid, Vec::new()));
        *count += 1;
        old.extend(blob_of(entry));
    }
    let taken: Vec<Oid> = parents.iter().flatten().filter(|entry| entry.new.is_none()).filter_map(blob_of).collect();
    let everywhere = found.into_iter().filter(|(_, (count, _, _))| *count == parents.len());
    everywhere.map(|(path, (_, new, old))| (path, (new, if old.is_empty() { taken.clone() } else { old }))).collect()
}

/// Returns the blob of an entry's old side.
fn blob_of(entry: &Entry) -> Option<Oid> {
    entry.old.filter(|leaf| leaf.mode != Mode::Gitlink).map(|leaf| leaf.oid)
}

/// Splits content into numbered lines.
fn lines(content: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    content.split_inclusive(|byte| *byte == b'\n').zip(1u32..).map(|(line, number)| (number, line.strip_suffix(b"\n").unwrap_or(line)))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, only};
    use super::super::{Options, Selector};
    use super::*;

    fn fresh(world: &World, subject: &Subject) -> Vec<String> {
        let mut found = Vec::new();
        let mut note = |file: &FreshFile| {
            found.extend(file.lines().map(|(number, line)| format!("{}:{number}:{}", file.path, String::from_utf8_lossy(line))));
        };
        let too_large = world.repo().fresh_text(subject, &mut note).expect("text");
        assert!(too_large.is_empty());
        found.sort();
        found
    }

    fn pushed(world: &World) -> Vec<String> {
        fresh(world, only(&world.push(&[["main", "main", "refs/heads/main", "origin/main"]])))
    }

    #[test]
    fn a_key_that_came_and_went_is_seen() {
        let world = World::new();
        world.commit("k", "x\nKEY=abc\n");
        world.commit("k", "x\n");
        world.git(&["rm", "-q", "k"]);
        world.git(&["commit", "-q", "-m", "rm"]);
        assert!(only(&world.push(&[["main", "main", "refs/heads/main", "origin/main"]])).change.is_empty());
        assert_eq!(pushed(&world), ["k:1:x", "k:2:KEY=abc"]);
    }

    #[test]
    fn a_key_in_a_state_that_comes_back_is_seen_where_it_came_in() {
        let world = World::new();
        for content in ["base\nKEY\n", "base\nKEY\nmore\n", "base\nKEY\n"] {
            world.commit("base", content);
        }
        assert_eq!(pushed(&world), ["base:2:KEY", "base:3:more"]);
    }

    #[test]
    fn what_is_moved_or_merged_is_no_news() {
        let world = World::new();
        world.git(&["mv", "base", "moved"]);
        world.git(&["commit", "-q", "-m", "mv"]);
        world.colleague("main", "main", "theirs", "their key\n");
        world.git(&["fetch", "-q"]);
        world.git(&["merge", "-q", "origin/main"]);
        assert_eq!(pushed(&world), Vec::<String>::new());
        world.git(&["mv", "moved", "again"]);
        std::fs::write(world.work().join("again"), "first\nbase\n").expect("a file");
        world.git(&["commit", "-q", "-a", "-m", "mv"]);
        assert_eq!(pushed(&world), ["again:1:first"]);
    }

    #[test]
    fn a_merge_that_adds_of_its_own_is_seen() {
        let world = World::new();
        world.commit("mine", "1\n");
        world.colleague("main", "main", "theirs", "x\n");
        world.git(&["fetch", "-q"]);
        world.git(&["merge", "-q", "--no-commit", "origin/main"]);
        std::fs::write(world.work().join("theirs"), "x\nKEY\n").expect("a file");
        world.git(&["commit", "-q", "-a", "-m", "merge"]);
        assert_eq!(pushed(&world), ["mine:1:1", "theirs:2:KEY"]);
    }

    #[test]
    fn a_first_push_and_a_lone_blob_are_searched_whole() {
        let world = World::empty(&[]);
        world.commit("a", "one\ntwo");
        for (tip, expected) in [("main", ["a:1:one", "a:2:two"]), ("main:a", ["refs/x/y:1:one", "refs/x/y:2:two"])] {
            let selected = world.push(&[["x", tip, "refs/x/y", "-"]]);
            assert_eq!(fresh(&world, only(&selected)), expected);
        }
    }

    #[test]
    fn what_is_staged_is_searched_in_text_and_binary() {
        let world = World::new();
        std::fs::write(world.work().join("base"), "base\nKEY\n").expect("a file");
        std::fs::write(world.work().join("bin"), "\0\nKEY\n").expect("a file");
        world.git(&["add", "."]);
        std::fs::write(world.work().join("base"), "harmless\n").expect("a file");
        let selected = world.repo().select(&Selector::Staged, &Options::default()).expect("the index");
        assert_eq!(fresh(&world, only(&selected)), ["base:2:KEY", "bin:1:\0", "bin:2:KEY"]);
    }
}
