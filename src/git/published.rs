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

/// Splits the difference between the tree of `base` and that of the tip.
pub(super) fn split(repo: &Repository, history: &mut History<'_>, base: Oid, tip_tree: Oid, boundary: &[Oid]) -> Result<Split, GitError> {
    let mut sides = Vec::new();
    for commit in boundary.iter().filter(|commit| **commit != base) {
        sides.push(Brought::by(repo, history, base, *commit)?);
    }
    let all = tree::between(repo, Some(history.node(base)?.tree), Some(tip_tree))?;
    let undone = undone(&sides, &all);
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
