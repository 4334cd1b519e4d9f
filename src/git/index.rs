//! What would be committed: the index beside HEAD's tree. The worktree has no say (requirement D01, case P29).
//!
//! The index keeps the ids of the trees it would write; where one equals HEAD's, the whole directory is passed over. That is what makes a small commit
//! in a large repository cheap, and it hides nothing: git writes those very ids into the commit.

use super::tree::{Entry, Item, Named, Target, Walk, items, side_by_side, target};
use super::{GitError, object};
use crate::change::{BytePath, Oid};
use gix::Repository;
use gix::index::extension::Tree as Cached;
use gix::index::{File, State, entry::Flags};
use std::ops::Range;

/// Lists what differs between HEAD (the empty tree where it has no commit yet) and the index, in git's order.
///
/// # Errors
///
/// [`GitError::Unmerged`] with the paths where a conflict is not resolved.
pub(crate) fn staged(repo: &Repository) -> Result<Vec<Entry>, GitError> {
    against_head(repo, &read(repo)?)
}

/// Reads the index file, which `GIT_INDEX_FILE` may have moved; a missing one is an empty index, as for git. Its checksum is not verified, as git does not.
pub(super) fn read(repo: &Repository) -> Result<State, GitError> {
    let path = repo.index_path();
    let doing = format!("read the index {}", path.display());
    let index = File::at_or_default(path, repo.object_hash(), true, gix::index::decode::Options::default());
    index.map(State::from).map_err(GitError::other(doing))
}

/// Compares an index that was read with HEAD.
pub(super) fn against_head(repo: &Repository, index: &State) -> Result<Vec<Entry>, GitError> {
    refuse_unmerged(index)?;
    let mut staged = Staged { walk: Walk::new(repo), index };
    staged.directory(object::head_tree(repo)?, 0..index.entries().len(), index.tree())?;
    Ok(staged.walk.found)
}

fn refuse_unmerged(index: &State) -> Result<(), GitError> {
    let unmerged = index.entries().iter().filter(|entry| entry.stage_raw() != 0);
    let mut paths: Vec<BytePath> = unmerged.map(|entry| BytePath::new(entry.path(index).to_vec())).collect();
    paths.dedup();
    if paths.is_empty() { Ok(()) } else { Err(GitError::Unmerged { paths }) }
}

/// What the index has under one name of a directory.
enum Place<'a> {
    /// One entry: a file, or a directory that a sparse index keeps folded.
    Entry(Item<'a>),
    /// The entries below a directory.
    Directory { name: &'a [u8], entries: Range<usize> },
}

impl Named for Place<'_> {
    fn name(&self) -> (&[u8], bool) {
        match self {
            Place::Entry(item) => item.name(),
            Place::Directory { name, .. } => (name, true),
        }
    }
}

struct Staged<'r, 'i> {
    walk: Walk<'r>,
    index: &'i State,
}

impl<'i> Staged<'_, 'i> {
    /// Compares one directory: HEAD's tree, the index entries below it, and the tree id that the index keeps for them.
    fn directory(&mut self, head: Option<Oid>, entries: Range<usize>, cached: Option<&'i Cached>) -> Result<(), GitError> {
        if head.is_some() && head == cached.and_then(|cached| valid(cached, entries.len())) {
            return Ok(());
        }
        let content = self.walk.content(head)?;
        let head = head.map_or(Ok(Vec::new()), |oid| items(self.walk.repo, oid, &content))?;
        let places = self.places(entries)?;
        side_by_side(&head, &places).try_for_each(|(head, place)| match place {
            None => self.walk.pair(head, None),
            Some(Place::Entry(item)) => self.walk.pair(head, Some(item)),
            Some(Place::Directory { name, entries }) => {
                let below = cached.and_then(|cached| child(cached, name));
                let head = head.and_then(|item| item.target.tree());
                self.walk.enter(name)?;
                self.directory(head, entries.clone(), below)?;
                self.walk.leave(name);
                Ok(())
            }
        })
    }

    /// Groups the index entries of a directory by their next name. Entries that are only intended (`git add -N`) will not be committed.
    fn places(&self, entries: Range<usize>) -> Result<Vec<Place<'i>>, GitError> {
        let mut places = Vec::with_capacity(entries.len().min(256));
        let mut at = entries.start;
        while at < entries.end {
            let entry = &self.index.entries()[at];
            let rest = self.rest(at)?;
            let slash = rest.iter().position(|byte| *byte == b'/').filter(|_| !entry.mode.is_sparse());
            at = match slash {
                Some(len) => {
                    let end = self.end_of(at..entries.end, self.walk.prefix().len() + len + 1);
                    places.push(Place::Directory { name: &rest[..len], entries: at..end });
                    end
                }
                None if entry.flags.contains(Flags::INTENT_TO_ADD) => at + 1,
                None => {
                    places.push(Place::Entry(Item { name: rest.strip_suffix(b"/").unwrap_or(rest), target: self.target(at)? }));
                    at + 1
                }
            };
        }
        Ok(places)
    }

    /// Returns an entry's path below the current directory.
    fn rest(&self, at: usize) -> Result<&'i [u8], GitError> {
        let path: &[u8] = self.index.entries()[at].path(self.index);
        let rest = path.strip_prefix(self.walk.prefix()).filter(|rest| !rest.is_empty());
        rest.ok_or_else(|| damaged(path, "entries out of order"))
    }

    fn target(&self, at: usize) -> Result<Target, GitError> {
        let entry = &self.index.entries()[at];
        target(entry.mode.bits(), object::oid(&entry.id)).ok_or_else(|| damaged(entry.path(self.index), "an unknown mode"))
    }

    /// Finds where the entries end that share the first `len` bytes of the first one's path; entries are sorted by path.
    fn end_of(&self, entries: Range<usize>, len: usize) -> usize {
        let path = |at: usize| -> &'i [u8] { self.index.entries()[at].path(self.index) };
        let prefix = &path(entries.start)[..len];
        entries.start + self.index.entries()[entries].partition_point(|entry| entry.path(self.index).starts_with(prefix))
    }
}

/// Returns the tree id that the index keeps for a directory, if it is valid for as many entries as there are.
fn valid(cached: &Cached, entries: usize) -> Option<Oid> {
    (cached.num_entries.map(|count| count as usize) == Some(entries)).then(|| object::oid(&cached.id))
}

fn child<'i>(cached: &'i Cached, name: &[u8]) -> Option<&'i Cached> {
    let at = cached.children.binary_search_by(|child| child.name.as_slice().cmp(name)).ok()?;
    Some(&cached.children[at])
}

fn damaged(path: &[u8], why: &str) -> GitError {
    GitError::Index { path: BytePath::new(path), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sandbox;
    use super::*;

    fn paths(sandbox: &Sandbox) -> Vec<String> {
        staged(&sandbox.open()).expect("entries").iter().map(|entry| entry.path.to_string()).collect()
    }

    /// A repository with files in two directories and one commit.
    fn committed() -> Sandbox {
        let sandbox = Sandbox::new(&[]);
        for path in ["base", "x/f", "y/deep/f", "y/g"] {
            sandbox.write(path, "one\n");
        }
        sandbox.git(&["add", "."]);
        sandbox.commit();
        sandbox
    }

    #[test]
    fn before_the_first_commit_everything_is_new() {
        let sandbox = Sandbox::new(&[]);
        assert!(paths(&sandbox).is_empty());
        sandbox.write("a", "a\n");
        sandbox.git(&["add", "."]);
        assert_eq!(paths(&sandbox), ["a"]);
    }

    #[test]
    fn the_index_counts_whatever_the_worktree_holds() {
        let sandbox = committed();
        sandbox.write("base", "EVIL\n");
        sandbox.git(&["add", "base"]);
        std::fs::remove_file(sandbox.path("base")).expect("removed");
        sandbox.git(&["update-index", "--skip-worktree", "base"]);
        assert_eq!(paths(&sandbox), ["base"]);
    }

    #[test]
    fn files_that_are_only_intended_are_not_committed() {
        let sandbox = committed();
        sandbox.write("y/new", "x\n");
        sandbox.git(&["add", "-N", "y/new"]);
        assert!(paths(&sandbox).is_empty());
    }

    #[test]
    fn an_unmerged_index_is_an_error_that_names_the_paths() {
        let sandbox = committed();
        let id = sandbox.line(&["rev-parse", "HEAD:base"]);
        for stage in ["1", "2", "3"] {
            let file = sandbox.path("info");
            sandbox.write("info", format!("100644 {id} {stage}\tx/f\n"));
            sandbox.git_from(&file, &["update-index", "--index-info"]);
        }
        let Err(GitError::Unmerged { paths }) = staged(&sandbox.open()) else { panic!("an unmerged index was read as a change") };
        assert_eq!(paths, [BytePath::from("x/f")]);
    }

    #[test]
    fn every_form_of_index_is_read() {
        let forms: [&[&str]; 4] = [
            &["update-index", "--index-version", "4"],
            &["update-index", "--split-index"],
            &["update-index", "--untracked-cache"],
            &["sparse-checkout", "set", "--sparse-index", "x"],
        ];
        for form in forms {
            let sandbox = committed();
            sandbox.git(form);
            assert!(paths(&sandbox).is_empty(), "{form:?}");
            sandbox.write("x/f", "two\n");
            sandbox.git(&["add", "x/f"]);
            assert_eq!(paths(&sandbox), ["x/f"], "{form:?}");
        }
    }

    #[test]
    fn a_folded_directory_that_changed_is_opened() {
        let sandbox = committed();
        sandbox.write("y/deep/f", "two\n");
        sandbox.git(&["add", "."]);
        sandbox.git(&["commit", "-qm", "two"]);
        sandbox.git(&["sparse-checkout", "set", "--sparse-index", "x"]);
        sandbox.git(&["reset", "-q", "--soft", "HEAD~1"]);
        assert!(read(&sandbox.open()).expect("an index").is_sparse());
        assert_eq!(paths(&sandbox), ["y/deep/f"]);
    }
}
