//! Partial clones: repositories that left file contents, or folders too, at the remote until somebody asks for them.
//!
//! The gate never asks: it contacts nobody that a repository chose (threat T3). What is pushed must be here, or the change is refused with the remedy
//! ([`GitError::Missing`]). What it is compared with need not be: then the new content is shown whole, and a note says so.

use super::range::Selected;
use super::{GitError, Repo, error, object};
use crate::change::{BytePath, FileChange, Mode};
use gix::Repository;
use gix::bstr::ByteSlice as _;

/// Tells whether some remote is to keep what is not here.
pub(super) fn is(repo: &Repository) -> bool {
    let config = repo.config_snapshot();
    let named = config.string("extensions.partialClone").is_some();
    let promises = |name: &gix::bstr::BStr| {
        let key = |key: &str| format!("remote.{}.{key}", name.to_str_lossy());
        config.boolean(key("promisor").as_str()) == Some(true) || config.string(key("partialCloneFilter").as_str()).is_some()
    };
    named || repo.remote_names().iter().any(|name| promises(name.as_ref()))
}

/// Notes the files whose old content is not here.
pub(super) fn noted(repo: &Repo, mut selected: Selected) -> Result<Selected, GitError> {
    if !is(&repo.gix) {
        return Ok(selected);
    }
    let files = selected.subjects.iter().flat_map(|subject| &subject.change.files);
    let mut alone: Vec<BytePath> = files.filter(|file| lacks_old(&repo.gix, file)).map(|file| file.path().clone()).collect();
    alone.sort_unstable();
    alone.dedup();
    if !alone.is_empty() {
        let note = "a partial clone left the old content of these files at the remote, so they are reviewed by their new content alone";
        selected.notes.push(format!("{note}: {}; `git fetch --refetch --no-filter` fetches the rest", error::list(&alone)));
    }
    Ok(selected)
}

fn lacks_old(repo: &Repository, file: &FileChange) -> bool {
    let old = file.old.as_ref().filter(|side| side.mode != Mode::Gitlink);
    old.is_some_and(|side| !repo.has_object(object::id(side.oid)))
}
