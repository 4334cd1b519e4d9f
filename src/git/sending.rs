//! What a push sends: for each ref the commit that the change is measured from, with the reason, and the subjects that come of it.
//!
//! A ref that is pushed is never passed over: it becomes a subject, or a deletion that is listed, or an error that names what is missing. What of a
//! change the remote already has is `published`'s business.

use super::capture::Options;
use super::history::{Ancestors, History, Unpublished};
use super::known::Known;
use super::range::Selected;
use super::remotes::Remotes;
use super::revision::{self, Peeled};
use super::tree::{self, Entry, Leaf};
use super::{GitError, Repo, narrow, published};
use crate::change::subject::{BaseSource, RefUpdate, Subject};
use crate::change::{BytePath, Mode, Oid};
use std::collections::HashMap;

/// A ref that is to be pushed, whoever said so.
pub(super) struct Update {
    pub(super) local_ref: BytePath,
    pub(super) remote_ref: BytePath,
    /// The object that is pushed; all zero for a deletion.
    pub(super) local: Oid,
    pub(super) old: Old,
}

/// What the remote has at the ref now, and who says so.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Old {
    /// Nothing, or nobody knows.
    Absent,
    /// This, by the server's word.
    Advertised(Oid),
    /// This, by our tracking ref.
    Tracked(Oid),
    /// This, by the words of the user or of the framework.
    Named(Oid),
}

impl Old {
    fn oid(self) -> Option<Oid> {
        match self {
            Old::Absent => None,
            Old::Advertised(oid) | Old::Tracked(oid) | Old::Named(oid) => Some(oid),
        }
    }

    /// Says where a base that is the old commit itself came from.
    fn source(self) -> BaseSource {
        match self {
            Old::Absent => BaseSource::Empty,
            Old::Advertised(_) => BaseSource::Server,
            Old::Tracked(_) => BaseSource::Tracking,
            Old::Named(_) => BaseSource::MergeBase,
        }
    }
}

/// The commit that a change is measured from.
#[derive(Clone, Copy)]
struct Base {
    commit: Option<Oid>,
    source: BaseSource,
    force: bool,
}

/// Captures what a push of these refs to these remotes sends.
pub(super) fn select(repo: &Repo, remotes: &Remotes, updates: Vec<Update>, options: &Options) -> Result<Selected, GitError> {
    let mut push = Push::new(repo, remotes, &updates, options)?;
    updates.into_iter().try_for_each(|update| push.update(update))?;
    Ok(push.selected)
}

/// A push in the making: what the remote has is asked once for all refs.
struct Push<'r> {
    repo: &'r Repo,
    history: History<'r>,
    known: Known,
    default_branch: Option<Oid>,
    options: &'r Options,
    ranges: HashMap<(Oid, Option<Oid>), (Base, Unpublished)>,
    /// The places of subjects by tip, base, and the old id of a forced ref: what such a ref has already is set aside for that ref alone.
    sent: HashMap<(Oid, Option<Oid>, Option<Oid>), usize>,
    selected: Selected,
}

impl<'r> Push<'r> {
    /// Everything that is known to be published counts for every ref of the push: the tracking refs, and each old id that the remote advertised just now.
    fn new(repo: &'r Repo, remotes: &Remotes, updates: &[Update], options: &'r Options) -> Result<Push<'r>, GitError> {
        let mut history = History::new(&repo.gix)?;
        let mut known = Known::of(repo, remotes, &mut history, updates.iter().filter_map(|update| update.old.oid()))?;
        let mut selected = Selected::default();
        if updates.iter().any(|update| !update.local.is_null()) {
            selected.notes.extend(known.note.take());
        }
        let default_branch = remotes.default_branch(repo)?;
        Ok(Push { repo, history, known, default_branch, options, ranges: HashMap::new(), sent: HashMap::new(), selected })
    }

    fn update(&mut self, update: Update) -> Result<(), GitError> {
        // A deletion sends nothing. It is listed, because a person may want to know.
        if update.local.is_null() {
            self.selected.deletions.push(update.remote_ref);
            return Ok(());
        }
        match revision::peel(&self.repo.gix, update.local)? {
            Peeled::Commit(tip) => self.commit(update, tip),
            // A tree without history: all of it is new.
            Peeled::Tree(tree) => {
                let entries = tree::between(&self.repo.gix, None, Some(tree))?;
                self.bare_object(update, tree, Some(tree), entries)
            }
            // A single object, which may be any file: it is reviewed as one, under the name that it gets at the remote.
            Peeled::Blob(blob) => {
                let entry = Entry { path: update.remote_ref.clone(), old: None, new: Some(Leaf { mode: Mode::Regular, oid: blob }) };
                self.bare_object(update, blob, None, vec![entry])
            }
        }
    }

    fn bare_object(&mut self, update: Update, tip: Oid, tip_tree: Option<Oid>, entries: Vec<Entry>) -> Result<(), GitError> {
        let change = self.repo.capture(entries, self.options)?;
        let base = Base { commit: None, source: BaseSource::Empty, force: update.old != Old::Absent };
        self.selected.notes.push(format!("{} carries no commits: all of its content is reviewed", update.remote_ref));
        self.add(Subject { refs: vec![ref_update(update, tip, base)], base_tree: None, tip_tree, commits: Vec::new(), change });
        Ok(())
    }

    fn commit(&mut self, update: Update, tip: Oid) -> Result<(), GitError> {
        let key = (tip, update.old.oid());
        let (base, new) = match self.ranges.get(&key) {
            Some((base, new)) => (*base, new.clone()),
            None => {
                let new = self.history.unpublished(tip, &mut self.known.published)?;
                if let Some(branch) = self.known.upstream_of(&mut self.history, &new.boundary)? {
                    let note = format!("{branch} counts as published as far as it was fetched: others' work there is not reviewed again");
                    self.selected.notes.push(note);
                }
                let base = self.base(&update, tip, &new)?;
                self.ranges.insert(key, (base, new.clone()));
                (base, new)
            }
        };
        let sent = (tip, base.commit, update.old.oid().filter(|_| base.force));
        if let Some(at) = self.sent.get(&sent) {
            self.selected.subjects[*at].refs.push(ref_update(update, tip, base));
            return Ok(());
        }
        let subject = self.subject(update, tip, base, new)?;
        let at = self.add(subject);
        self.sent.insert(sent, at);
        Ok(())
    }

    /// Chooses the commit that the change is measured from.
    fn base(&mut self, update: &Update, tip: Oid, new: &Unpublished) -> Result<Base, GitError> {
        // A new ref, or a Gerrit `refs/for/`: what the tracking refs say the remote has is all there is to go by.
        let Some(old) = update.old.oid() else { return self.tracked(new, false) };
        // The remote has something that we do not (nobody fetched it). It cannot be compared, and certainly is not in the tip's history.
        let Some(old) = revision::commit_if_here(&self.repo.gix, old)? else {
            self.selected
                .notes
                .push(format!("{}: base unknown (not fetched); measured from what the tracking refs say the remote has", update.remote_ref));
            return self.tracked(new, true);
        };
        Ok(match self.history.merge_bases(old, tip)?.as_slice() {
            // The remote's own old tip: exactly what the receiver's branch will change by.
            [same] if *same == old => Base { commit: Some(old), source: update.old.source(), force: false },
            // A rewritten ref: from where the two part, so that others' work is not shown in reverse.
            [fork, ..] => Base { commit: Some(*fork), source: BaseSource::MergeBase, force: true },
            // A ref that is replaced by an unrelated history.
            [] => self.tracked(new, true)?,
        })
    }

    /// Takes the commit that the new ones stand on: on the remote's default branch if there is one such, else the nearest. Which one matters little, as
    /// what the others brought is set aside as published. With none, everything is new.
    fn tracked(&mut self, new: &Unpublished, force: bool) -> Result<Base, GitError> {
        let mut on_default = None;
        if let Some(default) = self.default_branch {
            let mut line = Ancestors::of(&mut self.history, [default])?;
            for commit in &new.boundary {
                if on_default.is_none() && line.contains(&mut self.history, *commit)? {
                    on_default = Some(*commit);
                }
            }
        }
        let commit = on_default.or_else(|| new.boundary.first().copied());
        let source = if commit.is_some() { BaseSource::Tracking } else { BaseSource::Empty };
        Ok(Base { commit, source, force })
    }

    fn subject(&mut self, update: Update, tip: Oid, base: Base, new: Unpublished) -> Result<Subject, GitError> {
        let tip_tree = self.history.node(tip)?.tree;
        let (base_tree, split) = match base.commit {
            Some(commit) => {
                let old = update.old.oid().filter(|_| base.force);
                let rewritten = old.map(|old| revision::commit_if_here(&self.repo.gix, old)).transpose()?.flatten();
                let split = published::split(&self.repo.gix, &mut self.history, commit, tip_tree, &new.boundary, rewritten)?;
                (Some(self.history.node(commit)?.tree), split)
            }
            None => (None, published::Split { entries: tree::between(&self.repo.gix, None, Some(tip_tree))?, ..published::Split::default() }),
        };
        if split.undone > 0 {
            let note =
                format!("{}: {} file(s) of published work are undone by a merge; they are reviewed as changes", update.remote_ref, split.undone);
            self.selected.notes.push(note);
        }
        let mut change = self.repo.capture(split.entries, self.options)?;
        change.already_published = narrow::paths(split.published, self.options);
        Ok(Subject { refs: vec![ref_update(update, tip, base)], base_tree, tip_tree: Some(tip_tree), commits: new.commits, change })
    }

    /// Adds a subject, or its refs to one that is the same: equal trees and an equal change, whatever the commits are called. Returns its place.
    fn add(&mut self, subject: Subject) -> usize {
        let subjects = &mut self.selected.subjects;
        let same = |other: &Subject| (other.base_tree, other.tip_tree) == (subject.base_tree, subject.tip_tree) && other.change == subject.change;
        let Some(at) = subjects.iter().position(same) else {
            subjects.push(subject);
            return subjects.len() - 1;
        };
        let other = &mut subjects[at];
        other.refs.extend(subject.refs);
        let more: Vec<Oid> = subject.commits.into_iter().filter(|commit| !other.commits.contains(commit)).collect();
        other.commits.extend(more);
        at
    }
}

fn ref_update(update: Update, tip: Oid, base: Base) -> RefUpdate {
    let Base { commit, source, force } = base;
    RefUpdate { local_ref: update.local_ref, remote_ref: update.remote_ref, tip: Some(tip), base: commit, base_source: source, force }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, files, only};
    use super::super::push::PushLine;
    use super::*;

    const ONES: &str = "1111111111111111111111111111111111111111";

    fn first(selected: &Selected) -> &RefUpdate {
        &only(selected).refs[0]
    }

    #[test]
    fn a_fast_forward_is_measured_from_the_servers_word() {
        let world = World::new();
        world.commit("a", "a\n");
        let tip = world.commit("b", "b\n");
        let selected = world.push(&[["refs/heads/main", "HEAD", "refs/heads/main", "origin/main"]]);
        assert_eq!(files(only(&selected)), ["a", "b"]);
        let update = first(&selected);
        assert_eq!((update.base_source, update.force), (BaseSource::Server, false));
        assert_eq!(update.base.map(|oid| oid.to_string()), Some(world.id("origin/main")));
        assert_eq!(only(&selected).commits.iter().map(ToString::to_string).collect::<Vec<_>>(), [tip, world.id("HEAD~1")]);
    }

    #[test]
    fn a_new_branch_is_measured_from_the_tracking_refs() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit("n", "new\n");
        for fetched in [false, true] {
            if fetched {
                world.colleague("main", "main", "theirs", "x\n");
                world.git(&["fetch", "-q"]);
            }
            let selected = world.push(&[["refs/heads/f", "f", "refs/heads/f", "-"]]);
            assert_eq!((files(only(&selected)), first(&selected).base_source), (vec!["n".to_owned()], BaseSource::Tracking));
        }
    }

    #[test]
    fn with_nothing_known_everything_is_new() {
        let world = World::empty(&[]);
        world.commit("a", "a\n");
        world.commit("b", "b\n");
        let selected = world.push(&[["refs/heads/main", "HEAD", "refs/heads/main", "-"]]);
        assert_eq!((files(only(&selected)), first(&selected).base_source), (vec!["a".to_owned(), "b".to_owned()], BaseSource::Empty));
        assert_eq!((only(&selected).base_tree, only(&selected).commits.len()), (None, 2));
    }

    #[test]
    fn what_one_remote_has_is_news_to_another() {
        let world = World::new();
        world.git(&["remote", "add", "other", "../other.git"]);
        world.git(&["remote", "set-url", "--push", "origin", "ssh://host/push.git"]);
        world.commit("n", "new\n");
        let push = |remote: &str| {
            let lines = world.lines(&[["HEAD", "HEAD", "refs/heads/x", "-"]]);
            world.repo().pushed(&lines, remote, remote, &Options::default()).expect("a push")
        };
        for remote in ["origin", "../remote.git", "ssh://host/push.git/", "https://host/unknown", "other", "../other.git"] {
            assert_eq!(files(only(&push(remote))), ["n"], "{remote}: nothing is known of the last three, so any remote's word counts");
        }
        world.git(&["update-ref", "refs/remotes/other/x", "main"]);
        assert_eq!(files(only(&push("other"))), Vec::<String>::new());
        assert_eq!(files(only(&push("origin"))), ["n"], "what `other` has is news to origin");
    }

    #[test]
    fn every_ref_counts_and_equal_ones_are_judged_once() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "a"]);
        world.commit("a", "good\n");
        world.git(&["tag", "-a", "-m", "t", "v1"]);
        world.git(&["switch", "-q", "-c", "b", "main"]);
        world.commit("b", "evil\n");
        let selected = world.push(&[
            ["refs/heads/a", "a", "refs/heads/a", "-"],
            ["refs/heads/b", "b", "refs/heads/b", "-"],
            ["refs/tags/v1", "v1", "refs/tags/v1", "-"],
            ["(delete)", "-", "refs/heads/gone", "main"],
        ]);
        assert_eq!(selected.subjects.iter().map(files).collect::<Vec<_>>(), [["a"], ["b"]]);
        assert_eq!(selected.subjects[0].label(), "refs/heads/a, refs/tags/v1");
        assert_eq!(selected.deletions, [BytePath::from("refs/heads/gone")]);
    }

    #[test]
    fn what_the_remote_has_sends_nothing() {
        let world = World::new();
        world.git(&["tag", "light"]);
        world.git(&["tag", "-a", "-m", "t", "heavy"]);
        world.git(&["tag", "-a", "-m", "t", "outer", "heavy"]);
        for name in ["light", "heavy", "outer", "main"] {
            let selected = world.push(&[[name, name, "refs/x/y", "-"]]);
            assert!(only(&selected).change.is_empty() && only(&selected).commits.is_empty(), "{name}");
        }
        let selected = world.push(&[["(delete)", "-", "refs/heads/x", "main"]]);
        assert_eq!((selected.subjects.len(), selected.deletions.len()), (0, 1));
        assert!(world.push(&[]).subjects.is_empty());
    }

    #[test]
    fn a_blob_and_a_tree_are_reviewed_whole() {
        let world = World::new();
        world.git(&["tag", "-a", "-m", "a key", "key", "HEAD:base"]);
        for (revision, expected) in [("HEAD:base", "refs/x/y"), ("key", "refs/x/y"), ("HEAD^{tree}", "base")] {
            let selected = world.push(&[[revision, revision, "refs/x/y", "-"]]);
            assert_eq!(files(only(&selected)), [expected], "{revision}");
            assert_eq!((first(&selected).base_source, selected.notes.len()), (BaseSource::Empty, 1));
        }
    }

    #[test]
    fn an_object_that_is_not_here_refuses() {
        let world = World::new();
        for id in [ONES, &"1".repeat(64)] {
            let error = world.repo().pushed(&[new_ref(id)], "origin", "u", &Options::default()).expect_err("a refusal");
            assert!(matches!(error, GitError::Missing { .. }), "{error}");
        }
    }

    fn new_ref(id: &str) -> PushLine {
        let oid = Oid::from_hex(id.as_bytes()).expect("an id");
        PushLine { local_ref: BytePath::from("x"), local_oid: oid, remote_ref: BytePath::from("refs/heads/x"), remote_oid: oid.to_null() }
    }

    #[test]
    fn an_unfetched_remote_tip_is_never_no_change() {
        let world = World::new();
        world.commit("n", "new\n");
        let selected = world.push(&[["refs/heads/main", "HEAD", "refs/heads/main", ONES]]);
        assert_eq!((files(only(&selected)), first(&selected).base_source), (vec!["n".to_owned()], BaseSource::Tracking));
        assert!(selected.notes[0].contains("base unknown (not fetched)"), "{:?}", selected.notes);
        world.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
        let selected = world.push(&[["refs/heads/main", "HEAD", "refs/heads/main", ONES]]);
        assert_eq!((files(only(&selected)), first(&selected).base_source), (vec!["base".to_owned(), "n".to_owned()], BaseSource::Empty));
        assert!(first(&selected).force);
    }

    #[test]
    fn a_rewritten_ref_is_measured_from_where_it_parts() {
        let world = World::new();
        world.commit("a", "1\n");
        world.git(&["push", "-q"]);
        world.git(&["reset", "-q", "--hard", "HEAD~1"]);
        world.commit("b", "2\n");
        let selected = world.push(&[["refs/heads/main", "HEAD", "refs/heads/main", "origin/main"]]);
        assert_eq!(files(only(&selected)), ["b"]);
        assert_eq!((first(&selected).base_source, first(&selected).force), (BaseSource::MergeBase, true));
    }

    #[test]
    fn what_a_forced_ref_has_already_is_news_to_another_ref() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "forced"]);
        let old = world.commit("mine", "1\n");
        world.git(&["switch", "-q", "-c", "again", "main"]);
        world.commit("more", "1\n");
        world.git(&["cherry-pick", &old]);
        let forced = ["again", "again", "refs/heads/forced", old.as_str()];
        let new = ["again", "again", "refs/heads/new", "main"];
        for lines in [[forced, new], [new, forced]] {
            let selected = world.push(&lines);
            let mut sent: Vec<_> = selected.subjects.iter().map(|subject| (subject.label(), files(subject))).collect();
            sent.sort();
            let expected = [("refs/heads/forced", vec!["more"]), ("refs/heads/new", vec!["mine", "more"])];
            assert_eq!(sent, expected.map(|(label, files)| (label.to_owned(), files.into_iter().map(str::to_owned).collect::<Vec<_>>())));
        }
    }

    #[test]
    fn an_unrelated_history_is_reviewed_whole() {
        let world = World::new();
        world.git(&["checkout", "-q", "--orphan", "new"]);
        world.commit("n", "new\n");
        let selected = world.push(&[["refs/heads/new", "HEAD", "refs/heads/main", "origin/main"]]);
        assert_eq!((files(only(&selected)), first(&selected).base_source), (vec!["base".to_owned(), "n".to_owned()], BaseSource::Empty));
        assert!(first(&selected).force);
    }

    #[test]
    fn names_do_not_matter() {
        let world = World::new();
        world.git(&["checkout", "-q", "--detach"]);
        world.commit("n", "new\n");
        for local in ["HEAD", ":/fix bug", "refs/notes/x"] {
            let selected = world.push(&[[local, "HEAD", "refs/for/main%topic=x", "-"]]);
            assert_eq!(files(only(&selected)), ["n"], "{local}");
        }
    }

    #[test]
    fn replaced_and_grafted_history_has_no_say() {
        let world = World::new();
        world.commit("base", "evil\n");
        world.commit("more", "x\n");
        let (good, evil) = (world.id("HEAD~2:base"), world.id("HEAD:base"));
        world.git(&["replace", &evil, &good]);
        world.git(&["replace", "HEAD", "HEAD~2"]);
        std::fs::write(world.work().join(".git/info/grafts"), format!("{}\n", world.git(&["--no-replace-objects", "rev-parse", "HEAD"])))
            .expect("a file");
        let selected = world.push(&[["main", "HEAD", "refs/heads/main", "origin/main"]]);
        assert_eq!((files(only(&selected)), only(&selected).commits.len()), (vec!["base".to_owned(), "more".to_owned()], 2));
        assert!(only(&selected).change.files[0].hunks()[0].text.ends_with(b"+evil\n"));
    }

    #[test]
    fn sha_256_repositories_are_read() {
        let world = World::empty(&["--object-format=sha256"]);
        world.commit("a", "a\n");
        world.git(&["push", "-q", "-u", "origin", "main"]);
        world.commit("b", "b\n");
        let selected = world.push(&[["main", "main", "refs/heads/main", "origin/main"], ["main", "main", "refs/heads/new", "-"]]);
        assert_eq!(selected.subjects.iter().map(files).collect::<Vec<_>>(), [["b"]]);
        let shorter = World::new().lines(&[["main", "main", "refs/heads/main", "-"]]);
        assert!(world.repo().pushed(&shorter, "origin", "u", &Options::default()).is_err());
    }

    #[test]
    fn a_shallow_clone_is_measured_from_what_is_here() {
        let world = World::new();
        world.commit("a", "a\n");
        world.git(&["push", "-q"]);
        let url = format!("file://{}", world.dir.path().join("remote.git").display());
        let shallow = world.dir.path().join("shallow");
        world.git_in(world.dir.path(), &["clone", "-q", "--depth=1", &url, "shallow"]);
        std::fs::write(shallow.join("n"), "new\n").expect("a file");
        world.git_in(&shallow, &["add", "."]);
        world.git_in(&shallow, &["commit", "-q", "-m", "n"]);
        let repo = Repo::discover(&shallow, &crate::env::Env::default()).expect("a repository");
        let tip = Oid::from_hex(world.git_in(&shallow, &["rev-parse", "HEAD"]).as_bytes()).expect("an id");
        for old in [tip.to_null(), Oid::from_hex(world.id("origin/main").as_bytes()).expect("an id")] {
            let line = PushLine { local_oid: tip, remote_oid: old, ..new_ref(ONES) };
            let selected = repo.pushed(&[line], "origin", &url, &Options::default()).expect("a push");
            assert_eq!((files(only(&selected)), only(&selected).commits.len()), (vec!["n".to_owned()], 1));
        }
    }

    #[test]
    fn three_thousand_refs_are_no_trouble() {
        let world = World::new();
        world.commit("n", "new\n");
        let lines: Vec<String> = (0..3000).map(|n| format!("refs/tags/{n}")).collect();
        let lines: Vec<[&str; 4]> = lines.iter().map(|name| [name.as_str(), "HEAD", name.as_str(), "-"]).collect();
        let parsed = world.lines(&lines[..1]);
        let lines: Vec<_> = lines.iter().map(|[name, ..]| PushLine { remote_ref: BytePath::from(*name), ..parsed[0].clone() }).collect();
        let selected = world.repo().pushed(&lines, "origin", "u", &Options::default()).expect("a push");
        assert_eq!((files(only(&selected)), only(&selected).refs.len()), (vec!["n".to_owned()], 3000));
    }

    #[test]
    fn what_the_server_has_of_one_ref_counts_for_all() {
        let world = World::new();
        world.commit("n", "new\n");
        world.git(&["push", "-q"]);
        world.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
        let selected = world.push(&[["main", "main", "refs/heads/main", "main"], ["main", "main", "refs/heads/x", "-"]]);
        assert!(selected.subjects.iter().all(|subject| subject.change.is_empty() && subject.commits.is_empty()));
    }

    #[test]
    fn of_two_bases_the_one_on_the_default_branch_is_taken() {
        let world = World::new();
        world.colleague("main", "dev", "dev", "x\n");
        world.colleague("main", "main", "theirs", "x\n");
        world.colleague("dev", "dev", "dev", "y\n");
        world.git(&["fetch", "-q"]);
        world.git(&["switch", "-q", "-c", "f", "origin/main"]);
        world.git(&["merge", "-q", "origin/dev"]);
        world.commit("mine", "1\n");
        let base = |world: &World| only(&world.push(&[["f", "f", "refs/heads/f", "-"]])).refs[0].base.map(|oid| oid.to_string());
        assert_eq!(base(&world), Some(world.id("origin/dev")), "the nearest");
        world.git(&["remote", "set-head", "origin", "main"]);
        assert_eq!(base(&world), Some(world.id("origin/main")));
        assert_eq!(files(only(&world.push(&[["f", "f", "refs/heads/f", "-"]]))), ["mine"]);
    }
}
