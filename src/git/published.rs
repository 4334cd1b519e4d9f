//! What the remote already has (product contract, "Already published"): merging or rebasing onto others' published work does not send it again, and
//! losing published work by a merge is not hidden.
//!
//! A boundary commit is one that the remote has and that a new commit stands on. An entry of the tip counts as published only where a boundary commit
//! has that very entry, *brought it*, and taking it loses nothing of the base: the base left the path alone, and no merge on the way to the boundary
//! commit gave up what the base has there. What both sides changed is reviewed from the base, even where the tip took one side whole. Where the boundary
//! commit alone changed a path and the tip has something else, the path is reviewed from the boundary commit's entry, so that what is lost is seen.

use super::GitError;
use super::history::History;
use super::object::{self, Content};
use super::tree::{self, Entry, Leaf};
use crate::change::{BytePath, Mode, Oid};
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
    let mut lost = lost(repo, &sides, tip_tree)?;
    if let Some(old) = rewritten {
        sides.push(Brought::by(repo, history, base, old)?);
    }
    let mut split = Split::default();
    for entry in tree::between(repo, Some(history.node(base)?.tree), Some(tip_tree))? {
        match lost.remove(&entry.path) {
            Some(from_boundary) => split.entries.push(from_boundary),
            None if sides.iter().any(|side| side.explains(&entry)) => split.published.push(entry.path),
            None => split.entries.push(entry),
        }
    }
    split.undone = lost.len();
    split.entries.extend(lost.into_values());
    split.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(split)
}

/// What a published commit brought since it and the base parted.
pub(super) struct Brought {
    tree: Oid,
    /// The trees of what it and the base have in common; none for unrelated histories that were joined.
    common: Vec<Oid>,
    /// Where it differs from all of these.
    entries: BTreeMap<BytePath, Entry>,
    /// Of these, the paths at which taking this commit's entry loses nothing of the base.
    alone: BTreeSet<BytePath>,
}

impl Brought {
    /// Compares a published commit and the base with what they have in common.
    pub(super) fn by(repo: &Repository, history: &mut History<'_>, base: Oid, commit: Oid) -> Result<Brought, GitError> {
        let (base_tree, tree) = (history.node(base)?.tree, history.node(commit)?.tree);
        let common = history.common_trees(base, commit)?;
        let entries = changed(repo, &common, tree)?;
        let touched = changed(repo, &common, base_tree)?;
        let given_up = given_up(repo, history, base, commit, &entries)?;
        let alone = entries.keys().filter(|path| !touched.contains_key(*path) && !given_up.contains(*path)).cloned().collect();
        Ok(Brought { tree, common, entries, alone })
    }

    /// Tells whether what an entry has become is this commit's doing, and nothing of the base is lost by it.
    pub(super) fn explains(&self, entry: &Entry) -> bool {
        self.alone.contains(&entry.path) && self.entries.get(&entry.path).is_some_and(|brought| brought.new == entry.new)
    }

    /// Lists what this commit alone changed and the tip has otherwise, from this commit's entry to the tip's: what it brought is published, what has
    /// become of that is not. Leaving out an unrelated history undoes nothing.
    fn lost(&self, repo: &Repository, tip_tree: Oid) -> Result<Vec<Entry>, GitError> {
        if self.common.is_empty() {
            return Ok(Vec::new());
        }
        let mut entries = tree::between(repo, Some(self.tree), Some(tip_tree))?;
        entries.retain(|entry| self.alone.contains(&entry.path));
        Ok(entries)
    }
}

/// Lists where a tree differs from all of some others, or what is in it where there are none.
fn changed(repo: &Repository, since: &[Oid], tree: Oid) -> Result<BTreeMap<BytePath, Entry>, GitError> {
    let mut found = by_path(tree::between(repo, since.first().copied(), Some(tree))?);
    for other in since.iter().skip(1) {
        let here = by_path(tree::between(repo, Some(*other), Some(tree))?);
        found.retain(|path, _| here.contains_key(path));
    }
    Ok(found)
}

fn by_path(entries: Vec<Entry>) -> BTreeMap<BytePath, Entry> {
    entries.into_iter().map(|entry| (entry.path.clone(), entry)).collect()
}

/// Finds the paths at which a published commit may have given up work of the base by a merge. The common ancestor does not tell: for whoever merged
/// `main` and kept the own side of everything it is `main` itself. So where a merge did not take a side that had changed the path, the base is compared
/// with every commit that the work was started from.
fn given_up(
    repo: &Repository,
    history: &mut History<'_>,
    base: Oid,
    commit: Oid,
    brought: &BTreeMap<BytePath, Entry>,
) -> Result<BTreeSet<BytePath>, GitError> {
    let (commits, starts) = history.beyond(commit, base)?;
    let mut suspects = BTreeSet::new();
    for merge in commits {
        suspects.extend(not_taken(repo, history, merge, brought)?);
    }
    let (mut given_up, base_tree) = (BTreeSet::new(), history.node(base)?.tree);
    if !suspects.is_empty() {
        for start in starts {
            let touched = tree::between(repo, Some(history.node(start)?.tree), Some(base_tree))?;
            given_up.extend(touched.into_iter().map(|entry| entry.path).filter(|path| suspects.contains(path)));
        }
    }
    Ok(given_up)
}

/// Lists, of some paths, those that one side of a merge had changed and that the merge has otherwise. None for a commit that is no merge.
fn not_taken(repo: &Repository, history: &mut History<'_>, merge: Oid, of: &BTreeMap<BytePath, Entry>) -> Result<Vec<BytePath>, GitError> {
    let merge = history.node(merge)?;
    let mut found = Vec::new();
    for other in merge.parents.iter().skip(1) {
        for side in [merge.parents[0], *other] {
            let side_tree = history.node(side)?.tree;
            let mut differing = tree::between(repo, Some(side_tree), Some(merge.tree))?;
            differing.retain(|entry| of.contains_key(&entry.path));
            if !differing.is_empty() {
                let changed = changed(repo, &history.common_trees(merge.parents[0], *other)?, side_tree)?;
                found.extend(differing.into_iter().map(|entry| entry.path).filter(|path| changed.contains_key(path)));
            }
        }
    }
    Ok(found)
}

/// Collects what of the boundary commits' work the tip has otherwise. Where several of them changed a path, the one of which most is lost is shown.
fn lost(repo: &Repository, sides: &[Brought], tip_tree: Oid) -> Result<BTreeMap<BytePath, Entry>, GitError> {
    let mut lost: BTreeMap<BytePath, Entry> = BTreeMap::new();
    for side in sides {
        for entry in side.lost(repo, tip_tree)? {
            let shown = lost.get(&entry.path).filter(|other| other.old != entry.old);
            if shown.map_or(Ok(true), |other| Ok(lines_lost(repo, &entry)? > lines_lost(repo, other)?))? {
                lost.insert(entry.path.clone(), entry);
            }
        }
    }
    Ok(lost)
}

/// Counts the old lines that the new side has not.
fn lines_lost(repo: &Repository, entry: &Entry) -> Result<usize, GitError> {
    let (old, new) = (text(repo, entry.old)?, text(repo, entry.new)?);
    let kept: HashSet<&[u8]> = new.split(|byte| *byte == b'\n').collect();
    Ok(old.split(|byte| *byte == b'\n').filter(|line| !kept.contains(line)).count())
}

/// Reads what has lines; of what is too large, or absent, or a submodule, nothing.
fn text(repo: &Repository, leaf: Option<Leaf>) -> Result<Vec<u8>, GitError> {
    let Some(leaf) = leaf.filter(|leaf| leaf.mode != Mode::Gitlink) else { return Ok(Vec::new()) };
    Ok(match object::content(repo, leaf.oid)? {
        Content::Whole(bytes) => bytes.into_owned(),
        Content::Oversize(_) => Vec::new(),
    })
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

    fn shown(world: &World, tip: &str, remote_ref: &str, old: &str, path: &str) -> Option<String> {
        let selected = world.push(&[[tip, tip, remote_ref, old]]);
        let file = only(&selected).change.files.iter().find(|file| file.path().as_bytes() == path.as_bytes())?;
        Some(file.hunks().iter().map(|hunk| String::from_utf8_lossy(&hunk.text)).collect())
    }

    /// A file of many lines, of which three are given.
    fn long(first: &str, last: &str) -> String {
        format!("{first}\n{}{last}\n", "same\n".repeat(20))
    }

    #[test]
    fn a_fix_that_a_merge_loses_beside_a_cosmetic_edit_is_seen() {
        for later in [false, true] {
            let world = World::new();
            world.commit("f.py", &long("unfixed", "# a"));
            world.git(&["push", "-q"]);
            world.git(&["switch", "-q", "-c", "feat"]);
            world.commit("mine", "1\n");
            world.git(&["push", "-q", "origin", "feat"]);
            world.git(&["switch", "-q", "main"]);
            world.commit("f.py", &long("fixed", "# a"));
            world.git(&["push", "-q"]);
            world.git(&["switch", "-q", "feat"]);
            world.git(&["merge", "-q", "-s", "ours", "main"]);
            std::fs::write(world.work().join("f.py"), long("unfixed", "# b")).expect("a file");
            world.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
            let seen = shown(&world, "feat", "refs/heads/feat", "origin/feat", "f.py").expect("the file");
            assert!(seen.contains("-fixed\n+unfixed\n") && seen.contains("-# a\n+# b\n"), "{seen}");
            // Published all the same, by whoever does not care, and then brought to `main`: by a fast-forward, or by a merge after `main` moved on.
            world.git(&["push", "-q", "origin", "feat"]);
            let mut tip = "feat";
            if later {
                world.colleague("main", "main", "theirs", "x\n");
                world.git(&["fetch", "-q"]);
                world.git(&["switch", "-q", "-c", "joined", "origin/main"]);
                world.git(&["merge", "-q", "feat"]);
                tip = "joined";
            }
            let seen = shown(&world, tip, "refs/heads/main", "origin/main", "f.py").expect("the file");
            assert!(seen.contains("-fixed\n+unfixed\n"), "{seen}");
            let selected = world.push(&[[tip, tip, "refs/heads/main", "origin/main"]]);
            assert_eq!(published(only(&selected)), ["mine"]);
            // With one more edit that is not published, too.
            world.commit("f.py", &long("unfixed", "# c"));
            let seen = shown(&world, "HEAD", "refs/heads/main", "origin/main", "f.py").expect("the file");
            assert!(seen.contains("-fixed\n+unfixed\n"), "{seen}");
        }
    }

    #[test]
    fn a_conflict_resolved_by_taking_the_other_file_whole_is_seen() {
        let world = with_a_fix();
        world.git(&["switch", "-q", "-c", "feat", "origin/main~1"]);
        world.commit("base", "theirs\n");
        world.git(&["push", "-q", "origin", "feat"]);
        world.git(&["switch", "-q", "main"]);
        assert!(!world.try_git_in(&world.work(), &["merge", "-q", "feat"]).status.success(), "a conflict");
        world.git(&["checkout", "-q", "--theirs", "base"]);
        world.git(&["commit", "-q", "-a", "-m", "merge"]);
        assert_eq!(shown(&world, "main", "refs/heads/main", "origin/main", "base").as_deref(), Some("-fixed\n+theirs\n"));
    }

    #[test]
    fn of_two_published_changes_of_a_file_the_one_that_is_lost_is_shown() {
        for kept in ["one", "two"] {
            let world = World::new();
            for branch in ["one", "two"] {
                world.git(&["switch", "-q", "-c", branch, "main"]);
                world.commit("base", &format!("{branch}\n"));
                world.git(&["push", "-q", "origin", branch]);
            }
            world.git(&["switch", "-q", "main"]);
            world.git(&["merge", "-q", "--no-ff", "one"]);
            world.git(&["merge", "-q", "-s", "ours", "two"]);
            world.git(&["checkout", "-q", kept, "--", "base"]);
            std::fs::write(world.work().join("base"), format!("{kept}\nmore\n")).expect("a file");
            world.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
            let lost = if kept == "one" { "two" } else { "one" };
            let expected = format!("-{lost}\n+{kept}\n+more\n");
            assert_eq!(shown(&world, "main", "refs/heads/main", "origin/main", "base"), Some(expected));
        }
    }

    #[test]
    fn others_merges_of_the_same_file_are_not_sent_again() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "topic"]);
        world.commit("topic", "1\n");
        world.git(&["switch", "-q", "main"]);
        world.commit("hot", &long("1", "1"));
        world.git(&["switch", "-q", "-c", "mine"]);
        world.commit("mine", "1\n");
        world.git(&["push", "-q", "origin", "mine"]);
        world.git(&["switch", "-q", "main"]);
        world.git(&["merge", "-q", "--no-ff", "topic"]);
        world.commit("hot", &long("2", "1"));
        world.git(&["push", "-q"]);
        world.git(&["switch", "-q", "mine"]);
        world.git(&["merge", "-q", "main"]);
        world.commit("mine", "2\n");
        let selected = world.push(&[["mine", "mine", "refs/heads/mine", "origin/mine"]]);
        assert_eq!((files(only(&selected)), published(only(&selected))), (vec!["mine".to_owned()], vec!["hot".to_owned(), "topic".to_owned()]));
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
