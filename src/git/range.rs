//! From what was asked to what is judged: selectors, push lines and the framework's variables become subjects.
//!
//! Which commit a pushed ref is measured from is `sending`'s business; what is not committed yet, `uncommitted`'s.

use super::capture::{self, Options, Unstored};
use super::error::RevisionFault;
use super::history::{Ancestors, History};
use super::push::{FrameworkPush, PushLine};
use super::remotes::{self, Remotes};
use super::sending::{self, Old, Update};
use super::tree::{self, Entry};
use super::{GitError, Repo, destination, narrow, partial, revision};
use crate::change::subject::{BaseSource, RefUpdate, Subject};
use crate::change::{BytePath, Change};

/// What the user asks to have reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// HEAD → index: what a commit would record.
    Staged,
    /// HEAD → tracked files.
    Worktree,
    /// Merge base of HEAD with the base → HEAD; `None` for the remote's default branch, else `main`.
    All {
        /// The base that policy or a flag names.
        base: Option<String>,
    },
    /// Merge base of HEAD with a revision → HEAD.
    Base(String),
    /// Merge base of two revisions → the second.
    Range {
        /// The older end.
        from: String,
        /// The newer end.
        to: String,
    },
    /// What pushing the current branch to its push destination would send.
    Push {
        /// The remote, where it is not the branch's own.
        remote: Option<String>,
    },
}

impl Selector {
    /// Reads `A..B` (or `A...B`, which means the same here); an end that is left out is HEAD. `None` where there are no dots.
    pub fn range(text: &str) -> Option<Selector> {
        let (from, to) = text.split_once("...").or_else(|| text.split_once(".."))?;
        let end = |end: &str| if end.is_empty() { "HEAD" } else { end }.to_owned();
        Some(Selector::Range { from: end(from), to: end(to) })
    }
}

/// What a selection or a push came to.
#[derive(Debug, Clone, Default)]
pub struct Selected {
    /// What is to be judged, in the order it was asked; a subject whose change is empty sends nothing new.
    pub subjects: Vec<Subject>,
    /// The remote refs that the push deletes; they are listed and carry no content.
    pub deletions: Vec<BytePath>,
    /// What a reader of the report should know of how the ranges came about, as sentences without a final full stop.
    pub notes: Vec<String>,
    /// The remote that [`Selector::Push`] measured against, by its name; `None` for every other way to ask.
    pub remote: Option<String>,
}

impl Repo {
    /// Captures what a selector names.
    ///
    /// # Errors
    ///
    /// A bare repository where the index or the work tree is asked for, a revision that names no commit, two without a common ancestor, an unmerged index, a missing or altered object, a path that matches nothing.
    pub fn select(&self, selector: &Selector, options: &Options) -> Result<Selected, GitError> {
        let selected = match selector {
            Selector::Staged | Selector::Worktree if self.is_bare() => Err(GitError::Bare),
            Selector::Staged => self.staged(options),
            Selector::Worktree => self.worktree(options),
            Selector::All { base } => self.range(&base.clone().map_or_else(|| self.default_base(), Ok)?, "HEAD", options),
            Selector::Base(base) => self.range(base, "HEAD", options),
            Selector::Range { from, to } => self.range(from, to, options),
            Selector::Push { remote } => self.push_destination(remote.as_deref(), options),
        };
        partial::noted(self, narrow::matched(selected?, options)?)
    }

    /// Captures what a push sends, from the lines that git gave the hook; `remote` and `url` are the hook's two arguments.
    ///
    /// # Errors
    ///
    /// An object that is pushed and is not here, a missing or altered object, a path that matches nothing.
    pub fn pushed(&self, lines: &[PushLine], remote: &str, url: &str, options: &Options) -> Result<Selected, GitError> {
        let updates = lines.iter().map(|line| Update {
            local_ref: line.local_ref.clone(),
            remote_ref: line.remote_ref.clone(),
            local: line.local_oid,
            old: if line.remote_oid.is_null() { Old::Absent } else { Old::Advertised(line.remote_oid) },
        });
        let selected = sending::select(self, &Remotes::of(self, remote, url), updates.collect(), options)?;
        partial::noted(self, narrow::matched(selected, options)?)
    }

    /// Captures what a push sends, from the variables of the pre-commit framework. Only its first ref is visible there, and a note says so.
    pub fn framework(&self, push: &FrameworkPush, options: &Options) -> Result<Selected, GitError> {
        let old = push.from.as_deref().map(|from| revision::commit(&self.gix, from)).transpose()?;
        let update = Update {
            local_ref: BytePath::from(if push.local_branch.is_empty() { push.to.as_str() } else { push.local_branch.as_str() }),
            remote_ref: BytePath::from(push.remote_branch.as_str()),
            local: revision::commit(&self.gix, &push.to)?,
            old: old.map_or(Old::Absent, Old::Named),
        };
        let note = format!("the framework shows one ref of a push: reviewed {} only; a pre-push hook of git's own sees all", update.local_ref);
        let mut selected = sending::select(self, &Remotes::of(self, &push.remote_name, &push.remote_url), vec![update], options)?;
        selected.notes.push(note);
        partial::noted(self, narrow::matched(selected, options)?)
    }

    /// Captures entries whose content is all in objects.
    pub(super) fn capture(&self, entries: Vec<Entry>, options: &Options) -> Result<Change, GitError> {
        capture::capture(&self.gix, entries, &Unstored::new(), options)
    }

    fn default_base(&self) -> Result<String, GitError> {
        let head = format!("refs/remotes/{}/HEAD", remotes::default_name(self));
        Ok(if revision::commit_of_ref(&self.gix, &head)?.is_some() { head } else { "main".to_owned() })
    }

    /// Merge base → tip, like `git diff A...B`: what others did since is not shown in reverse.
    fn range(&self, from: &str, to: &str, options: &Options) -> Result<Selected, GitError> {
        let (old, tip) = (revision::commit(&self.gix, from)?, revision::commit(&self.gix, to)?);
        let mut history = History::new(&self.gix)?;
        let bases = history.merge_bases(old, tip)?;
        let unrelated = || GitError::BadRevision { revision: format!("{from}..{to}"), why: RevisionFault::Unrelated };
        let base = *bases.first().ok_or_else(unrelated)?;
        let mut known = Ancestors::of(&mut history, [old])?;
        let commits = history.unpublished(tip, &mut known)?.commits;
        let (base_tree, tip_tree) = (history.node(base)?.tree, history.node(tip)?.tree);
        let change = self.capture(tree::between(&self.gix, Some(base_tree), Some(tip_tree))?, options)?;
        let range = RefUpdate {
            local_ref: BytePath::from(format!("{from}..{to}").as_str()),
            remote_ref: BytePath::from(""),
            tip: Some(tip),
            base: Some(base),
            base_source: BaseSource::MergeBase,
            force: false,
        };
        let subject = Subject { refs: vec![range], base_tree: Some(base_tree), tip_tree: Some(tip_tree), commits, change };
        let notes = (bases.len() > 1).then(|| format!("{from} and {to} have {} common ancestors; {} is taken", bases.len(), base.short()));
        Ok(Selected { subjects: vec![subject], notes: notes.into_iter().collect(), ..Selected::default() })
    }

    fn push_destination(&self, remote: Option<&str>, options: &Options) -> Result<Selected, GitError> {
        let destination = destination::of(self, remote)?;
        let update = Update {
            local_ref: destination.local_ref,
            remote_ref: destination.remote_ref,
            local: self.head_commit()?.ok_or(GitError::Unborn)?,
            old: destination.tracked.map_or(Old::Absent, Old::Tracked),
        };
        let selected = sending::select(self, &Remotes::of(self, &destination.remote, &destination.remote), vec![update], options)?;
        let notes = [selected.notes, destination.notes].concat();
        Ok(Selected { remote: Some(destination.remote), notes, ..selected })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, files, only, published};
    use super::*;
    use crate::change::Oid;
    use crate::env::Env;

    fn select(world: &World, selector: &Selector) -> Result<Selected, GitError> {
        world.repo().select(selector, &Options::default())
    }

    fn range(from: &str, to: &str) -> Selector {
        Selector::Range { from: from.to_owned(), to: to.to_owned() }
    }

    #[test]
    fn two_dots_and_three_mean_the_same() {
        assert_eq!(Selector::range("a..b"), Some(range("a", "b")));
        assert_eq!(Selector::range("a...b"), Some(range("a", "b")));
        assert_eq!(Selector::range("a.."), Some(range("a", "HEAD")));
        assert_eq!(Selector::range("..b"), Some(range("HEAD", "b")));
        assert_eq!(Selector::range("v1.0"), None);
    }

    #[test]
    fn a_range_does_not_show_others_work_in_reverse() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit("mine", "1\n");
        world.git(&["switch", "-q", "main"]);
        world.commit("theirs", "1\n");
        world.git(&["switch", "-q", "f"]);
        for selector in
            [range("main", "f"), range("main", "HEAD"), Selector::Base("main".to_owned()), Selector::All { base: Some("main".to_owned()) }]
        {
            let selected = select(&world, &selector).expect("a range");
            let subject = only(&selected);
            assert_eq!(
                (files(subject), subject.commits.len(), subject.refs[0].base_source),
                (vec!["mine".to_owned()], 1, BaseSource::MergeBase),
                "{selector:?}"
            );
        }
    }

    #[test]
    fn all_is_measured_from_the_remotes_default_branch_else_main() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit("mine", "1\n");
        let all = Selector::All { base: None };
        assert_eq!(files(only(&select(&world, &all).expect("a range"))), ["mine"]);
        world.git(&["branch", "-q", "-D", "main"]);
        assert!(matches!(select(&world, &all), Err(GitError::BadRevision { .. })));
        world.git(&["remote", "set-head", "origin", "main"]);
        assert_eq!(files(only(&select(&world, &all).expect("a range"))), ["mine"]);
    }

    #[test]
    fn text_is_a_revision_and_never_an_option() {
        let world = World::new();
        world.git(&["checkout", "-q", "--orphan", "other"]);
        world.commit("n", "x\n");
        for from in ["--all", "-", "", "nowhere", "HEAD:base", "HEAD^{tree}", "main..other", "main"] {
            let error = select(&world, &range(from, "other")).expect_err(from);
            assert!(matches!(error, GitError::BadRevision { .. }), "{from}: {error}");
        }
    }

    #[test]
    fn a_criss_cross_takes_gits_base_and_says_so() {
        let world = World::new();
        for (branch, file) in [("a", "x"), ("b", "y")] {
            world.git(&["switch", "-q", "-c", branch, "main"]);
            world.commit(file, "1\n");
        }
        let (a, b) = (world.id("a"), world.id("b"));
        world.git(&["merge", "-q", "--no-ff", &a]);
        world.git(&["switch", "-q", "a"]);
        world.git(&["merge", "-q", "--no-ff", &b]);
        world.commit("z", "1\n");
        let selected = select(&world, &range("b", "a")).expect("a range");
        assert!(selected.notes[0].contains("2 common ancestors"), "{:?}", selected.notes);
        assert_eq!(files(only(&selected)).join("\n"), world.git(&["diff", "--name-only", "b...a"]));
    }

    #[test]
    fn a_push_destination_is_what_git_push_would_send() {
        let world = World::new();
        world.commit("n", "new\n");
        for remote in [None, Some("origin".to_owned())] {
            let selected = select(&world, &Selector::Push { remote }).expect("a push");
            let update = &only(&selected).refs[0];
            assert_eq!((files(only(&selected)), update.remote_ref.to_string()), (vec!["n".to_owned()], "refs/heads/main".to_owned()));
            assert_eq!((update.base_source, update.force), (BaseSource::Tracking, false));
            assert_eq!(selected.remote.as_deref(), Some("origin"));
        }
        assert_eq!(select(&world, &range("main", "main")).expect("a range").remote, None);
        world.git(&["checkout", "-q", "--detach"]);
        assert!(matches!(select(&world, &Selector::Push { remote: None }), Err(GitError::BadRevision { .. })));
    }

    #[test]
    fn the_framework_is_believed_about_its_ends_and_its_gap_is_told() {
        let world = World::new();
        let first = world.id("HEAD");
        world.commit("a", "1\n");
        world.commit("b", "2\n");
        let framework = |pairs: &[(&str, &str)]| {
            let known = [("PRE_COMMIT", "1"), ("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/main"), ("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/main")];
            let push = FrameworkPush::of(&Env::from_pairs(known.iter().chain(pairs).copied())).expect("a push");
            world.repo().framework(&push, &Options::default()).expect("a push")
        };
        let ends = [("PRE_COMMIT_FROM_REF", first.as_str()), ("PRE_COMMIT_TO_REF", "HEAD"), ("PRE_COMMIT_REMOTE_NAME", "origin")];
        let selected = framework(&ends);
        assert_eq!(files(only(&selected)), ["a", "b"]);
        assert!(selected.notes.iter().any(|note| note.contains("refs/heads/main only")), "{:?}", selected.notes);
        // The first push of a root commit: no ends at all, and the whole tree of the branch.
        world.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
        assert_eq!(files(only(&framework(&[("PRE_COMMIT_REMOTE_NAME", "origin")]))), ["a", "b", "base"]);
    }

    #[test]
    fn nothing_committed_yet_is_measured_from_the_empty_tree() {
        let world = World::empty(&[]);
        std::fs::write(world.work().join("a"), "a\n").expect("a file");
        world.git(&["add", "a"]);
        let selected = select(&world, &Selector::Staged).expect("the index");
        let subject = only(&selected);
        assert_eq!((files(subject), subject.base_tree, subject.refs[0].base_source), (vec!["a".to_owned()], None, BaseSource::Index));
        assert_eq!(subject.label(), "uncommitted change");
        assert!(matches!(select(&world, &Selector::Push { remote: None }), Err(GitError::Unborn)));
    }

    #[test]
    fn a_merge_in_progress_shows_published_work_as_published() {
        let world = World::new();
        world.commit("mine", "1\n");
        world.colleague("main", "main", "theirs", "x\n");
        world.git(&["fetch", "-q"]);
        world.git(&["branch", "-q", "theirs", "origin/main"]);
        world.git(&["merge", "-q", "--no-commit", "theirs"]);
        std::fs::write(world.work().join("base"), "more\n").expect("a file");
        world.git(&["add", "base"]);
        let selected = select(&world, &Selector::Staged).expect("the index");
        assert_eq!((files(only(&selected)), published(only(&selected))), (vec!["base".to_owned()], vec!["theirs".to_owned()]));
        // No remote has it: nobody can say that it was ever reviewed.
        world.git(&["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
        let selected = select(&world, &Selector::Staged).expect("the index");
        assert_eq!((files(only(&selected)), selected.notes.len()), (vec!["base".to_owned(), "theirs".to_owned()], 1));
    }

    #[test]
    fn a_bare_repository_has_commits_and_nothing_else() {
        let world = World::new();
        let there = world.dir.path().join("remote.git");
        let repo = Repo::discover(&there, &Env::default()).expect("a repository");
        for selector in [Selector::Staged, Selector::Worktree] {
            let error = repo.select(&selector, &Options::default()).expect_err("a refusal");
            assert!(matches!(error, GitError::Bare) && error.to_string().contains("--range"), "{error}");
        }
        assert!(repo.select(&range("main", "main"), &Options::default()).is_ok());
        // A work tree of a bare repository has both.
        world.git_in(&there, &["worktree", "add", "-q", "../linked", "-b", "l"]);
        let linked = world.dir.path().join("linked");
        std::fs::write(linked.join("base"), "changed\n").expect("a file");
        world.git_in(&linked, &["add", "."]);
        let repo = Repo::discover(&linked, &Env::default()).expect("a repository");
        for selector in [Selector::Staged, Selector::Worktree] {
            assert_eq!(files(only(&repo.select(&selector, &Options::default()).expect("a change"))), ["base"]);
        }
    }

    #[test]
    fn the_worktree_is_measured_from_head() {
        let world = World::new();
        std::fs::write(world.work().join("base"), "on disk\n").expect("a file");
        let selected = select(&world, &Selector::Worktree).expect("the worktree");
        assert_eq!((files(only(&selected)), only(&selected).refs[0].base), (vec!["base".to_owned()], Oid::from_hex(world.id("HEAD").as_bytes())));
    }
}
