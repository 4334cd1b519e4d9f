//! The upstream of a fork: bringing a fork up to date must not send again what others published at the place that it was forked from.
//!
//! What another remote has is in general no reason to pass ([`super::remotes::published`]): a backup may have got it unseen, a contributor's fork was reviewed
//! by nobody here. Which remote is the one that work flows *from* cannot be told by following branches: a clone of the fork follows the fork. It is told by the
//! one name that git's and the forges' own guides give it, `upstream`, and the name is the user's word: nothing that is pushed or fetched can set it. The
//! remote of that name counts for every other one, never the other way round, and of it
//!
//! * only the default branch, which is what forks are brought up to date with, and
//! * only what this repository *fetched*, by the tracking ref's own log. What was pushed there from here may have gone unseen; it, and all that came after it,
//!   counts only where the destination has it too. Where there is no log, or a part of it is gone, nothing tells, and the work is reviewed.
//!
//! Whoever can add a remote or write a log can write tracking refs as well; a server that checks evidence catches all three.

use super::history::{Ancestors, History};
use super::remotes::Remotes;
use super::{GitError, Repo, object, revision};
use crate::change::Oid;
use std::collections::HashSet;

/// The name by which the user says where a fork comes from.
const NAME: &str = "upstream";

/// What the upstream had when it was fetched.
pub(super) struct Upstream {
    /// Its branch, for messages: `upstream/main`.
    pub(super) branch: String,
    /// The states of the branch that were fetched.
    pub(super) tips: Vec<Oid>,
}

/// A line of a ref's log.
struct Step {
    old: Oid,
    new: Oid,
    message: String,
}

/// Finds what counts as published for a push to `remotes` because their upstream had it; `published` is what they have themselves.
pub(super) fn of(repo: &Repo, remotes: &Remotes, history: &mut History<'_>, published: &mut Ancestors) -> Result<Option<Upstream>, GitError> {
    let Remotes::Named(names) = remotes else { return Ok(None) };
    if names.iter().any(|name| name == NAME) {
        return Ok(None);
    }
    let branch = format!("{NAME}/{}", default_branch(repo, names));
    let (mut explained, steps) = open_steps(repo, history, published, log(repo, &format!("refs/remotes/{branch}"))?)?;
    let mut tips = Vec::new();
    for step in steps {
        let fetched = ["fetch", "pull"].iter().any(|action| step.message.starts_with(action));
        if !fetched || !explained.contains(&step.old) {
            break;
        }
        explained.insert(step.new);
        tips.extend(revision::commit_if_here(&repo.gix, step.new)?);
    }
    Ok((!tips.is_empty()).then_some(Upstream { branch, tips }))
}

/// Returns the steps that are newer than all that the destination has, and the states that they may start from: the newest one that it has, else nothing, or what
/// was cloned.
fn open_steps(
    repo: &Repo,
    history: &mut History<'_>,
    published: &mut Ancestors,
    mut steps: Vec<Step>,
) -> Result<(HashSet<Oid>, Vec<Step>), GitError> {
    for (at, step) in steps.iter().enumerate().rev() {
        if has(repo, history, published, step.new)? {
            return Ok((HashSet::from([step.new]), steps.split_off(at + 1)));
        }
    }
    let Some(first) = steps.first() else { return Ok((HashSet::new(), steps)) };
    let cloned = log(repo, &format!("refs/remotes/{NAME}/HEAD"))?.into_iter().filter(|step| step.message.starts_with("clone: from "));
    let mut explained: HashSet<Oid> = cloned.map(|step| step.new).collect();
    if first.old.is_null() || has(repo, history, published, first.old)? {
        explained.insert(first.old);
    }
    Ok((explained, steps))
}

fn has(repo: &Repo, history: &mut History<'_>, published: &mut Ancestors, oid: Oid) -> Result<bool, GitError> {
    let commit = revision::commit_if_here(&repo.gix, oid)?;
    commit.map_or(Ok(false), |commit| published.contains(history, commit))
}

/// Names the upstream's default branch: as its HEAD says, else as the destination's does, else `main`.
fn default_branch(repo: &Repo, destination: &[String]) -> String {
    let named = std::iter::once(NAME).chain(destination.iter().map(String::as_str)).find_map(|remote| {
        let head = repo.gix.try_find_reference(&format!("refs/remotes/{remote}/HEAD")).ok().flatten()?;
        let target = head.target().try_name()?.as_bstr().to_string();
        target.strip_prefix(&format!("refs/remotes/{remote}/")).map(str::to_owned)
    });
    named.unwrap_or_else(|| "main".to_owned())
}

/// Reads a ref's log, oldest first, as far as it can be read; without a log there are no lines. One that changes nothing (the remote was renamed) is left out.
fn log(repo: &Repo, name: &str) -> Result<Vec<Step>, GitError> {
    let doing = || format!("read the log of {name}");
    let Some(reference) = repo.gix.try_find_reference(name).map_err(GitError::other(doing()))? else { return Ok(Vec::new()) };
    let mut log = reference.log_iter();
    let lines = log.all().map_err(GitError::other(doing()))?.into_iter().flatten();
    let step = |line: gix::refs::file::log::LineRef<'_>| Step {
        old: object::oid(&line.previous_oid()),
        new: object::oid(&line.new_oid()),
        message: line.message.to_string(),
    };
    Ok(lines.map_while(Result::ok).map(step).filter(|step| step.old != step.new).collect())
}

#[cfg(test)]
mod tests {
    use super::super::Selector;
    use super::super::capture::Options;
    use super::super::fixture::{World, files, only, published};

    /// A fork: `origin` is one's own, `upstream` where it comes from, of which a working copy is at hand too (`there`).
    struct Fork {
        world: World,
    }

    impl Fork {
        fn new(name: &str) -> Fork {
            let fork = Fork { world: World::new() };
            let dir = fork.world.dir.path().to_owned();
            fork.world.git_in(&dir, &["clone", "-q", "--bare", "remote.git", "upstream.git"]);
            fork.world.git_in(&dir, &["clone", "-q", "upstream.git", "there"]);
            fork.world.git(&["remote", "add", name, "../upstream.git"]);
            fork.world.git(&["fetch", "-q", name]);
            fork
        }

        /// Lets others publish a file at the upstream.
        fn others(&self, branch: &str, file: &str, content: &str) {
            let there = self.world.dir.path().join("there");
            self.world.git_in(&there, &["fetch", "-q"]);
            let from = if self.world.try_git_in(&there, &["rev-parse", "-q", "--verify", &format!("origin/{branch}")]).status.success() {
                branch
            } else {
                "main"
            };
            self.world.git_in(&there, &["checkout", "-q", "-B", branch, &format!("origin/{from}")]);
            std::fs::write(there.join(file), content).expect("a file");
            self.world.git_in(&there, &["add", "."]);
            self.world.git_in(&there, &["commit", "-q", "-m", "theirs"]);
            self.world.git_in(&there, &["push", "-q", "origin", branch]);
        }

        /// What pushing `main` to `origin` has reviewed, and what it takes for published.
        fn sent(&self) -> (Vec<String>, Vec<String>) {
            let selected = self.world.push(&[["main", "main", "refs/heads/main", "origin/main"]]);
            let told = selected.notes.iter().any(|note| note.contains("upstream/"));
            assert!(told || published(only(&selected)).is_empty(), "{:?}", selected.notes);
            (files(only(&selected)), published(only(&selected)))
        }
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_fetched_from_the_upstream_is_not_sent_again() {
        for how in [&["merge", "-q", "--ff-only"][..], &["merge", "-q", "--no-ff"], &["rebase", "-q"], &["reset", "-q", "--hard"]] {
            let fork = Fork::new("upstream");
            let own = !how.contains(&"--ff-only") && !how.contains(&"--hard");
            if own {
                fork.world.commit("mine", "1\n");
            }
            fork.others("main", "theirs", "1\n");
            fork.world.git(&["fetch", "-q", "upstream"]);
            fork.others("main", "more", "1\n");
            fork.world.git(&["remote", "update"]);
            fork.world.git(&[how, &["upstream/main"]].concat());
            let expected = (names(if own { &["mine"] } else { &[] }), names(&["more", "theirs"]));
            assert_eq!(fork.sent(), expected, "{how:?}");
            // What the merge makes of it is one's own.
            std::fs::write(fork.world.work().join("theirs"), "evil\n").expect("a file");
            fork.world.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
            assert!(fork.sent().0.contains(&"theirs".to_owned()), "{how:?}");
        }
    }

    #[test]
    fn a_remote_that_was_renamed_keeps_what_was_fetched() {
        let fork = Fork::new("theirs");
        fork.others("main", "before", "1\n");
        fork.world.git(&["fetch", "-q", "theirs"]);
        fork.world.git(&["remote", "rename", "theirs", "upstream"]);
        fork.others("main", "after", "1\n");
        fork.world.git(&["fetch", "-q", "upstream"]);
        fork.world.git(&["merge", "-q", "--no-ff", "upstream/main"]);
        assert_eq!(fork.sent(), (vec![], names(&["after", "before"])));
    }

    #[test]
    fn no_other_name_and_no_other_branch_is_the_upstream() {
        let fork = Fork::new("alice");
        fork.others("main", "theirs", "1\n");
        fork.world.git(&["pull", "-q", "alice", "main"]);
        fork.world.git(&["branch", "-q", "-u", "alice/main"]);
        assert_eq!(fork.sent(), (names(&["theirs"]), vec![]));
        let fork = Fork::new("upstream");
        fork.others("topic", "theirs", "1\n");
        fork.world.git(&["pull", "-q", "upstream", "topic"]);
        assert_eq!(fork.sent(), (names(&["theirs"]), vec![]));
        // Its own HEAD says which one is the default.
        fork.world.git(&["symbolic-ref", "refs/remotes/upstream/HEAD", "refs/remotes/upstream/topic"]);
        assert_eq!(fork.sent(), (vec![], names(&["theirs"])));
    }

    #[test]
    fn what_a_fork_has_is_news_to_its_upstream() {
        let fork = Fork::new("upstream");
        fork.world.colleague("main", "main", "unseen", "1\n");
        fork.world.git(&["pull", "-q", "origin", "main"]);
        let lines = fork.world.lines(&[["main", "main", "refs/heads/main", "upstream/main"]]);
        let selected = fork.world.repo().pushed(&lines, "upstream", "../upstream.git", &Options::default()).expect("a push");
        assert_eq!(files(only(&selected)), ["unseen"]);
    }

    #[test]
    fn what_was_pushed_to_the_upstream_from_here_may_have_gone_unseen() {
        let fork = Fork::new("upstream");
        fork.others("main", "first", "1\n");
        fork.world.git(&["pull", "-q", "upstream", "main"]);
        fork.world.commit("evil", "1\n");
        fork.world.git(&["push", "-q", "upstream", "main"]);
        assert_eq!(fork.sent(), (names(&["evil"]), names(&["first"])));
        // Others' work on top of it counts once the destination has the push.
        fork.others("main", "second", "1\n");
        fork.world.git(&["pull", "-q", "upstream", "main"]);
        assert_eq!(fork.sent(), (names(&["evil", "second"]), names(&["first"])));
        fork.world.git(&["push", "-q", "origin", "main~1:main"]);
        assert_eq!(fork.sent(), (vec![], names(&["second"])));
    }

    #[test]
    fn where_nothing_tells_how_it_came_here_it_is_reviewed() {
        let log = |fork: &Fork| fork.world.work().join(".git/logs/refs/remotes/upstream/main");
        let behind = |message: &str| {
            let fork = Fork::new("upstream");
            fork.others("main", "theirs", "1\n");
            fork.world.git(&["fetch", "-q", "upstream"]);
            fork.others("main", "more", "1\n");
            fork.world.git(&["pull", "-q", "upstream", "main"]);
            let text = std::fs::read_to_string(log(&fork)).expect("a log");
            let edited: Vec<String> = match message {
                "none" => vec![],
                "cut" => text.lines().skip(2).map(str::to_owned).collect(),
                message => text.lines().map(|line| format!("{}\t{message}", line.split('\t').next().expect("a line"))).collect(),
            };
            std::fs::write(log(&fork), edited.join("\n") + "\n").expect("a log");
            fork.sent()
        };
        for message in ["none", "cut", "update by push", "reset: moving to x", "", "clone: from x"] {
            assert_eq!(behind(message), (names(&["more", "theirs"]), vec![]), "{message}");
        }
        assert_eq!(behind("fetch upstream: fast-forward"), (vec![], names(&["more", "theirs"])));
    }

    #[test]
    fn a_clone_of_the_upstream_explains_where_its_log_begins() {
        let fork = Fork::new("upstream");
        fork.others("main", "theirs", "1\n");
        let dir = fork.world.dir.path();
        std::fs::remove_dir_all(fork.world.work()).expect("the first clone goes");
        fork.world.git_in(dir, &["clone", "-q", "-o", "upstream", "upstream.git", "work"]);
        fork.world.git(&["remote", "add", "origin", "../remote.git"]);
        fork.world.git(&["fetch", "-q", "origin"]);
        fork.others("main", "more", "1\n");
        fork.world.git(&["pull", "-q"]);
        assert_eq!(fork.sent(), (vec![], names(&["more", "theirs"])));
    }

    #[test]
    fn a_merge_of_the_upstream_in_progress_shows_its_work_as_published() {
        let fork = Fork::new("upstream");
        fork.world.commit("mine", "1\n");
        fork.others("main", "theirs", "1\n");
        fork.world.git(&["fetch", "-q", "upstream"]);
        fork.world.git(&["merge", "-q", "--no-commit", "upstream/main"]);
        let selected = fork.world.repo().select(&Selector::Staged, &Options::default()).expect("the index");
        assert_eq!((files(only(&selected)), published(only(&selected))), (vec![], names(&["theirs"])));
    }
}
