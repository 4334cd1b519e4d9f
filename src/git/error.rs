//! What can go wrong between the gate and a repository. Which exit status follows is decided at the edge, not here.

use crate::change::{BytePath, Oid};
use std::error::Error;
use std::io;
use std::path::Path;

/// A failure to read the repository. Each one refuses: none of them is an empty change.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no repository where the gate was started.
    #[error("no git repository at {at} or above it: run the gate inside one")]
    NotARepository {
        /// The directory that the search began in.
        at: String,
    },
    /// The repository, or its index, has a format that the gate does not read.
    #[error("this repository uses {what}, which the gate does not read: {remedy}")]
    Unsupported {
        /// The format, in git's words.
        what: String,
        /// What a person can do about it.
        remedy: String,
    },
    /// An object is not here: a shallow or partial clone, or a damaged repository.
    #[error("object {oid} is not in this repository: {}, then try again", extent.remedy())]
    Missing {
        /// The object that was asked for.
        oid: Oid,
        /// How much of the history this repository means to have.
        extent: Extent,
    },
    /// An object's content does not hash to the id that it was asked by (exit status 15).
    #[error("object {oid} holds content that does not hash to its id: the object database was damaged or altered; see `git fsck`")]
    Integrity {
        /// The object that was asked for.
        oid: Oid,
    },
    /// An object is of another type than the place that names it says.
    #[error("object {oid} is a {found} where a {expected} belongs; see `git fsck`")]
    Kind {
        /// The object that was asked for.
        oid: Oid,
        /// The type that was found.
        found: String,
        /// The type that was expected.
        expected: String,
    },
    /// An object hashes right but is not what git would write: two programs could read it as two different changes.
    #[error("object {oid} is malformed ({why}); see `git fsck`")]
    Malformed {
        /// The object that was asked for.
        oid: Oid,
        /// What is wrong with it.
        why: String,
    },
    /// The index contradicts itself.
    #[error("the index is damaged at {path} ({why}); `git read-tree HEAD` rebuilds it")]
    Index {
        /// The entry that cannot be.
        path: BytePath,
        /// What is wrong with it.
        why: String,
    },
    /// The index has unresolved conflicts (exit status 3): what would be committed is not decided yet.
    #[error("unmerged paths: {}; resolve the conflict and `git add` them", list(paths))]
    Unmerged {
        /// Each path once, in the order of the index.
        paths: Vec<BytePath>,
    },
    /// HEAD names a branch without a commit, where one is needed.
    #[error("HEAD has no commit yet: commit first, or review the index with --staged")]
    Unborn,
    /// The repository has neither an index nor a work tree.
    #[error("this repository is bare: nothing is staged and no file is checked out; review commits with --range A..B")]
    Bare,
    /// A revision that cannot be measured from or to.
    #[error("cannot use {revision}: {why}")]
    BadRevision {
        /// The revision as it was given.
        revision: String,
        /// Why not.
        why: RevisionFault,
    },
    /// A remote that git could not push to either.
    #[error("no remote {remote} to push to: {}, a URL, or the path of a repository", choice(configured))]
    UnknownRemote {
        /// The remote as it was given, or as git would choose it.
        remote: String,
        /// The names of the configured ones.
        configured: Vec<String>,
    },
    /// A path that a change cannot be narrowed to.
    #[error("cannot narrow the change to {path}: {why}")]
    BadPath {
        /// The path as it was given.
        path: BytePath,
        /// Why not.
        why: PathFault,
    },
    /// A file of the work tree is no longer what it was when the change was captured.
    #[error("{path} was changed while it was being reviewed: try again")]
    Changed {
        /// The file.
        path: BytePath,
    },
    /// A file or directory could not be read.
    #[error("cannot {doing} {path}")]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The file.
        path: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// Git itself, asked for what the library cannot read, gave no answer.
    #[error("cannot {doing}: {why}")]
    Plumbing {
        /// What was being done, as a verb with its object.
        doing: &'static str,
        /// What it said, or why it could not be asked.
        why: String,
    },
    /// Anything else that the git library reports.
    #[error("cannot {doing}")]
    Other {
        /// What was being done, as a verb with its object.
        doing: String,
        /// The library's reason.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// How much of the history a repository means to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it: what is missing was never fetched, or is lost.
    Whole,
    /// A shallow clone: older commits stayed at the remote.
    Shallow,
    /// A partial clone: file contents, or folders too, stayed at the remote. The gate never fetches them: it contacts nobody that a repository chose.
    Partial,
}

impl Extent {
    fn remedy(self) -> &'static str {
        match self {
            Extent::Whole => "`git fetch` it (`git fsck` tells whether it is lost)",
            Extent::Shallow => "this is a shallow clone, `git fetch --unshallow` fetches the rest",
            Extent::Partial => "this is a partial clone, `git fetch --refetch --no-filter` fetches what it left at the remote",
        }
    }
}

/// Why a revision cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RevisionFault {
    /// It has no name, or one that git would take for an option.
    #[error("it is no revision; name a branch, a tag or a commit")]
    Malformed,
    /// Nothing here has this name, or what it is followed by leads nowhere.
    #[error("there is no such branch, tag or commit here; check the spelling, or `git fetch` it")]
    Unknown,
    /// Several objects have ids that begin so.
    #[error("several objects have ids that begin so; give more digits")]
    Ambiguous,
    /// It names a file or a folder.
    #[error("it names a {0}, not a commit; name a branch, a tag or a commit")]
    NotACommit(&'static str),
    /// The two ends of a range have nothing in common.
    #[error("the two have no common ancestor; name a base that the change grew from")]
    Unrelated,
    /// HEAD is on no branch, which a push without a destination needs.
    #[error("it is on no branch, so nothing says where it would be pushed; use --range")]
    Detached,
}

/// Why a change cannot be narrowed to a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// It has no name.
    #[error("it is empty; name a file or a folder, `.` for this one")]
    Empty,
    /// It leads out of the work tree.
    #[error("it lies outside the work tree {top}; name a path inside")]
    Outside {
        /// The top of the work tree.
        top: String,
    },
    /// No changed path is at or below it.
    #[error("it matches nothing in the change; `review-gate diff` with the same selector shows what does")]
    NoMatch,
}

impl GitError {
    /// Wraps a failure of the git library; `doing` completes "cannot …".
    pub(crate) fn other<E: Into<Box<dyn Error + Send + Sync>>>(doing: impl Into<String>) -> impl FnOnce(E) -> GitError {
        let doing = doing.into();
        move |source| GitError::Other { doing, source: source.into() }
    }

    /// Wraps a failure of the file system; `doing` completes "cannot …" before the path.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
        let path = path.display().to_string();
        move |source| GitError::Io { doing, path, source }
    }
}

/// Offers the configured remotes.
fn choice(configured: &[String]) -> String {
    match configured {
        [] => "none is configured; `git remote add` one, or name".to_owned(),
        names => format!("name one that is configured ({})", names.join(", ")),
    }
}

/// Names a few paths, and how many more there are.
pub(super) fn list(paths: &[BytePath]) -> String {
    const SHOWN: usize = 10;
    let mut names: Vec<String> = paths.iter().take(SHOWN).map(BytePath::to_string).collect();
    if paths.len() > SHOWN {
        names.push(format!("{} more", paths.len() - SHOWN));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmerged_paths_are_named_and_the_rest_counted() {
        let paths: Vec<BytePath> = (0..12).map(|n| BytePath::from(format!("f{n}").as_str())).collect();
        let text = GitError::Unmerged { paths }.to_string();
        assert!(text.contains("f0, f1") && text.contains("f9, 2 more"), "{text}");
    }
}
