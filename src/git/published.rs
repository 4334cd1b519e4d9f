//! What the remote already has (product contract, "Already published"): merging or rebasing onto others' published work does not send it again, and
//! undoing published work by a merge is not hidden.
//!
//! A boundary commit is one that the remote has and that a new commit stands on. An entry of the tip counts as published only where a boundary commit
//! has that very entry *and brought it*: it differs from what that commit and the base have in common. So a merge that takes back the base's newer
//! state of a file in favour of an older one, which some published branch still has, is reviewed like any other change.

use super::GitError;
use super::history::History;
use super::tree::{self, Entry};
use crate::change::{BytePath, Oid};
use gix::Repository;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What of the difference between a base and a tip is to be judged.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// What is judged, in path order.
    pub(super) entries: Vec<Entry>,
    /// What a boundary commit brought.
    pub(super) published: Vec<BytePath>,
    /// How many of `entries` are published work that the new commits undo while base and tip agree.
    pub(super) undone: usize,
}

/// Splits the difference between the tree of `base` and that of the tip. `rewritten` is the old tip of a ref that is forced: what it brought and the new tip
/// keeps is on that very ref already. What it brought and the new tip drops is not held against the push: that is what rewriting is for.
pub(super) fn split(
    repo: &Repository,
    history: &mut History<'_>,
    base: Oid,
    tip_tree: Oid,
    boundary: &[Oid],
    rewritten: Option<Oid>,
) -> Result<Split, GitError> {
    let mut sides = Vec::new();
    for commit in boundary.iter().filter(|commit| **commit != base) {
        sides.push(Brought::by(repo, history, base, *commit)?);
    }
    let all = tree::between(repo, Some(history.node(base)?.tree), Some(tip_tree))?;
    let undone = undone(&sides, &all);
    if let Some(old) = rewritten {
        sides.push(Brought::by(repo, history, base, old)?);
    }
    let (published, mut entries): (Vec<Entry>, Vec<Entry>) = all.into_iter().partition(|entry| sides.iter().any(|side| side.explains(entry)));
    let count = undone.len();
    if count > 0 {
        entries.extend(undone);
        entries.sort_by(|a, b| a.path.cmp(&b.path));
    }
    Ok(Split { entries, published: published.into_iter().map(|entry| entry.path).collect(), undone: count })
}

/// What a published commit brought since it and the base parted.
pub(super) struct Brought {
    /// Where it differs from each common ancestor with the base; the old side is the ancestor's.
    entries: BTreeMap<BytePath, Entry>,
    /// Of these, the paths that the base left alone, so that a merge of the two has this commit's entry and no other.
    alone: BTreeSet<BytePath>,
}

impl Brought {
    /// Compares a published commit and the base with what they have in common.
    pub(super) fn by(repo: &Repository, history: &mut History<'_>, base: Oid, commit: Oid) -> Result<Brought, GitError> {
        let (base_tree, tree) = (history.node(base)?.tree, history.node(commit)?.tree);
        let mut ancestors = Vec::new();
        for ancestor in history.merge_bases(base, commit)? {
            ancestors.push(history.node(ancestor)?.tree);
        }
        let Some(first) = ancestors.first().copied() else {
            // Unrelated histories that were joined: everything in it is that commit's doing, and leaving it out undoes nothing.
            return Ok(Brought { entries: by_path(tree::between(repo, None, Some(tree))?), alone: BTreeSet::new() });
        };
        let mut entries = by_path(tree::between(repo, Some(first), Some(tree))?);
        let mut touched = BTreeSet::new();
        for ancestor in ancestors {
            let here = by_path(tree::between(repo, Some(ancestor), Some(tree))?);
            entries.retain(|path, _| here.contains_key(path));
            touched.extend(by_path(tree::between(repo, Some(ancestor), Some(base_tree))?).into_keys());
        }
        let alone = entries.keys().filter(|path| !touched.contains(*path)).cloned().collect();
        Ok(Brought { entries, alone })
    }

    /// Tells whether what an entry has become is this commit's doing.
    pub(super) fn explains(&self, entry: &Entry) -> bool {
        self.entries.get(&entry.path).is_some_and(|brought| brought.new == entry.new)
    }
}

fn by_path(entries: Vec<Entry>) -> BTreeMap<BytePath, Entry> {
    entries.into_iter().map(|entry| (entry.path.clone(), entry)).collect()
}

/// Finds published work that the new commits undo although base and tip agree: a boundary commit brought it, the base left the path alone, and the tip
/// has the base's entry. Whoever merges this later loses that work, and the difference of base and tip does not show it.
fn undone(sides: &[Brought], all: &[Entry]) -> Vec<Entry> {
    let changed: HashSet<&BytePath> = all.iter().map(|entry| &entry.path).collect();
    let lost = sides.iter().flat_map(|side| side.alone.iter().map(|path| &side.entries[path])).filter(|entry| !changed.contains(&entry.path));
    let reversed = lost.map(|entry| (&entry.path, Entry { path: entry.path.clone(), old: entry.new, new: entry.old }));
    reversed.collect::<BTreeMap<_, _>>().into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, files, only, published};
    use crate::change::subject::BaseSource;

    #[test]
    fn a_branch_that_merges_published_work_sends_only_its_own() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit("mine", "1\n");
        world.git(&["push", "-q", "origin", "f"]);
        world.colleague("main", "main", "theirs", "x\n");
        world.git(&["fetch", "-q"]);
        world.git(&["merge", "-q", "origin/main"]);
        world.commit("mine", "2\n");
        for (old, source, set_aside) in [("origin/f", BaseSource::Server, vec!["theirs"]), ("-", BaseSource::Tracking, vec![])] {
            let selected = world.push(&[["f", "f", "refs/heads/f", old]]);
            assert_eq!(
                (files(only(&selected)), published(only(&selected))),
                (vec!["mine".to_owned()], set_aside.iter().map(ToString::to_string).collect()),
                "{old}"
            );
            assert_eq!(only(&selected).refs[0].base_source, source);
        }
    }

    #[test]
    fn a_branch_rebased_onto_published_work_sends_only_its_own() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit("mine", "1\n");
        world.git(&["push", "-q", "origin", "f"]);
        world.colleague("main", "main", "theirs", "x\n");
        world.git(&["fetch", "-q"]);
        world.git(&["rebase", "-q", "origin/main"]);
        world.commit("more", "2\n");
        let selected = world.push(&[["f", "f", "refs/heads/f", "origin/f"]]);
        let (sent, set_aside) = (files(only(&selected)), published(only(&selected)));
        assert_eq!((sent, set_aside), (vec!["more".to_owned()], vec!["mine".to_owned(), "theirs".to_owned()]), "the ref has `mine` already");
        assert_eq!((only(&selected).refs[0].force, only(&selected).commits.len()), (true, 2));
        // Onto the published branch itself, by a fast-forward: all of it is there already.
        let selected = world.push(&[["origin/f", "origin/f", "refs/heads/main", "main"]]);
        assert_eq!((files(only(&selected)), published(only(&selected))), (vec![], vec!["mine".to_owned()]));
    }

    #[test]
    fn a_branch_that_no_remote_has_is_sent_with_the_merge_of_it() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "side"]);
        world.commit("local", "x\n");
        world.git(&["switch", "-q", "main"]);
        world.commit("mine", "1\n");
        world.git(&["merge", "-q", "side"]);
        let selected = world.push(&[["main", "main", "refs/heads/main", "origin/main"]]);
        assert_eq!((files(only(&selected)), published(only(&selected)).len()), (vec!["local".to_owned(), "mine".to_owned()], 0));
    }

    #[test]
    fn an_evil_merge_is_reviewed() {
        let world = World::new();
        world.commit("mine", "1\n");
        world.colleague("main", "main", "theirs", "x\n");
        world.git(&["fetch", "-q"]);
        world.git(&["merge", "-q", "--no-commit", "origin/main"]);
        std::fs::write(world.work().join("theirs"), "evil\n").expect("a file");
        std::fs::write(world.work().join("base"), "evil too\n").expect("a file");
        world.git(&["add", "."]);
        world.git(&["commit", "-q", "-m", "merge"]);
        let selected = world.push(&[["main", "main", "refs/heads/main", "origin/main"]]);
        assert_eq!(files(only(&selected)), ["base", "mine", "theirs"]);
    }

    /// `main` fixes a file that the published branch `old` still has in its unfixed state.
    fn with_a_fix() -> World {
        let world = World::new();
        world.colleague("main", "old", "other", "x\n");
        world.commit("base", "fixed\n");
        world.git(&["push", "-q"]);
        world.git(&["fetch", "-q"]);
        world
    }

    #[test]
    fn an_older_state_that_a_published_branch_still_has_is_no_published_work() {
        let world = with_a_fix();
        world.git(&["merge", "-q", "--no-commit", "origin/old"]);
        world.git(&["checkout", "-q", "origin/old", "--", "base"]);
        world.git(&["commit", "-q", "-m", "merge"]);
        let selected = world.push(&[["main", "main", "refs/heads/main", "origin/main"]]);
        assert_eq!((files(only(&selected)), published(only(&selected))), (vec!["base".to_owned()], vec!["other".to_owned()]));
        // An ancestor as a second parent is no boundary that could bring anything.
        let world = with_a_fix();
        let tree = world.id("main~1^{tree}");
        let evil = world.git(&["commit-tree", &tree, "-p", "main", "-p", "main~1", "-m", "evil"]);
        let selected = world.push(&[["x", &evil, "refs/heads/main", "origin/main"]]);
        assert_eq!((files(only(&selected)), published(only(&selected)).len()), (vec!["base".to_owned()], 0));
    }

    #[test]
    fn undoing_published_work_by_a_merge_is_seen() {
        let world = with_a_fix();
        world.git(&["switch", "-q", "-c", "f", "origin/old"]);
        world.git(&["merge", "-q", "-s", "ours", "origin/main"]);
        for old in ["origin/old", "-"] {
            let selected = world.push(&[["f", "f", "refs/heads/old", old]]);
            let file = only(&selected).change.files.iter().find(|file| file.path().as_bytes() == b"base").expect("the file that was fixed");
            assert_eq!(file.counts(), (1, 1), "{old}");
            let undone = selected.notes.iter().any(|note| note.contains("undone"));
            assert!(undone == (old != "-"), "{:?}", selected.notes);
        }
        // A choice between two changes of the same file undoes nothing.
        let world = with_a_fix();
        world.git(&["switch", "-q", "-c", "f", "origin/main~1"]);
        world.commit("base", "mine\n");
        world.git(&["push", "-q", "origin", "f"]);
        world.git(&["merge", "-q", "-s", "ours", "origin/main"]);
        let selected = world.push(&[["f", "f", "refs/heads/f", "origin/f"]]);
        assert!(only(&selected).change.is_empty() && selected.notes.is_empty(), "{:?}", files(only(&selected)));
    }

    #[test]
    fn a_criss_cross_sends_only_what_is_new() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit("mine", "1\n");
        world.git(&["push", "-q", "origin", "f"]);
        world.colleague("main", "main", "theirs", "1\n");
        world.git(&["fetch", "-q"]);
        let (mine, theirs) = (world.id("origin/f"), world.id("origin/main"));
        for (branch, into, other) in [("p", mine.as_str(), theirs.as_str()), ("q", theirs.as_str(), mine.as_str())] {
            world.git(&["switch", "-q", "-c", branch, into]);
            world.git(&["merge", "-q", "--no-ff", other]);
            world.git(&["push", "-q", "origin", branch]);
        }
        world.git(&["switch", "-q", "p"]);
        world.git(&["merge", "-q", "origin/q"]);
        world.commit("mine", "2\n");
        let selected = world.push(&[["p", "p", "refs/heads/p", "origin/p"]]);
        assert_eq!(files(only(&selected)), ["mine"]);
    }
}
