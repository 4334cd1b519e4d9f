//! Names and ids to objects: what a person typed, and what an id that is pushed stands for.
//!
//! Text from a person or a framework is a revision and never an option; ids are peeled by verified reads, so a tag cannot be made to point elsewhere.

use super::error::RevisionFault;
use super::{GitError, object};
use crate::change::Oid;
use gix::Repository;
use gix::objs::{Find as _, Kind, TagRef};

/// How many tags may point to each other before the innermost object.
const MAX_TAGS: usize = 32;

/// What is pushed when all tags around it are taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peeled {
    /// History.
    Commit(Oid),
    /// A tree without history, as in `HEAD^{tree}:refs/trees/x`.
    Tree(Oid),
    /// A single file, as in `<blob>:refs/blobs/x`, or a key that a tag points to.
    Blob(Oid),
}

impl Peeled {
    /// Returns the commit, if it is one.
    pub(super) fn commit(self) -> Option<Oid> {
        match self {
            Peeled::Commit(oid) => Some(oid),
            Peeled::Tree(_) | Peeled::Blob(_) => None,
        }
    }
}

/// Takes tags off an object.
///
/// # Errors
///
/// [`GitError::Missing`] where the object, or one that a tag names, is not here.
pub(super) fn peel(repo: &Repository, oid: Oid) -> Result<Peeled, GitError> {
    let mut at = oid;
    for _ in 0..MAX_TAGS {
        match kind(repo, at)?.ok_or_else(|| object::missing(repo, at))? {
            Kind::Commit => return Ok(Peeled::Commit(at)),
            Kind::Tree => return Ok(Peeled::Tree(at)),
            Kind::Blob => return Ok(Peeled::Blob(at)),
            Kind::Tag => at = tag_target(repo, at)?,
        }
    }
    Err(GitError::Malformed { oid, why: format!("more than {MAX_TAGS} tags around each other") })
}

/// Takes tags off an object that need not be here; `None` also where it is no commit.
pub(super) fn commit_if_here(repo: &Repository, oid: Oid) -> Result<Option<Oid>, GitError> {
    match peel(repo, oid) {
        Ok(peeled) => Ok(peeled.commit()),
        Err(GitError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Resolves what a person typed to a commit.
pub(super) fn commit(repo: &Repository, revision: &str) -> Result<Oid, GitError> {
    let bad = |why| GitError::BadRevision { revision: revision.to_owned(), why };
    if revision.starts_with('-') || revision.is_empty() {
        return Err(bad(RevisionFault::Malformed));
    }
    let id = repo.rev_parse_single(revision).map_err(|error| bad(fault(&error)))?;
    match peel(repo, object::oid(&id))? {
        Peeled::Commit(commit) => Ok(commit),
        Peeled::Tree(_) => Err(bad(RevisionFault::NotACommit("folder"))),
        Peeled::Blob(_) => Err(bad(RevisionFault::NotACommit("file"))),
    }
}

/// Says in our own words why a revision cannot be resolved: the library's are written for its own debugging.
fn fault(error: &gix::Error) -> RevisionFault {
    use gix::revision::spec::parse::Error::{AmbiguousPrefix, AmbiguousRefAndObject};
    match error.downcast_any_ref::<gix::revision::spec::parse::Error>() {
        Some(AmbiguousPrefix { .. } | AmbiguousRefAndObject { .. }) => RevisionFault::Ambiguous,
        // Foreign and not exhaustive: what else it may say comes down to the same for whoever typed the name.
        Some(_) | None => RevisionFault::Unknown,
    }
}

/// Resolves a full ref name to its commit; `None` where there is no such ref, or it leads to no commit that is here.
pub(super) fn commit_of_ref(repo: &Repository, name: &str) -> Result<Option<Oid>, GitError> {
    let reference = repo.try_find_reference(name).map_err(GitError::other(format!("read {name}")))?;
    let Some(id) = reference.and_then(|reference| reference.into_fully_peeled_id().ok()) else { return Ok(None) };
    commit_if_here(repo, object::oid(&id))
}

/// Returns what kind of object an id names; `None` where it is not here. An id of the other hash is nothing that can be here.
fn kind(repo: &Repository, oid: Oid) -> Result<Option<Kind>, GitError> {
    let id = object::id(oid);
    if id.kind() != repo.object_hash() {
        return Ok(None);
    }
    let header = repo.try_find_header(id).map_err(GitError::other(format!("read the header of object {oid}")))?;
    Ok(header.map(|header| header.kind()))
}

fn tag_target(repo: &Repository, oid: Oid) -> Result<Oid, GitError> {
    let id = object::id(oid);
    let mut content = Vec::new();
    let found = repo.objects.try_find(&id, &mut content).map_err(GitError::other(format!("read tag {oid}")))?;
    found.ok_or_else(|| object::missing(repo, oid))?.verify_checksum(&id).map_err(|_| GitError::Integrity { oid })?;
    let tag = TagRef::from_bytes(&content, repo.object_hash());
    tag.map(|tag| object::oid(&tag.target())).map_err(|_| GitError::Malformed { oid, why: "a tag that cannot be read".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::World;
    use super::*;

    #[test]
    fn what_cannot_be_used_is_told_in_words_with_the_remedy() {
        let world = World::new();
        // Two blobs whose ids begin with 6bb2.
        world.commit("one", "195\n");
        world.commit("two", "389\n");
        let cases = [
            ("", RevisionFault::Malformed),
            ("--all", RevisionFault::Malformed),
            ("nosuch", RevisionFault::Unknown),
            ("origin/nosuch", RevisionFault::Unknown),
            ("main~99", RevisionFault::Unknown),
            ("main^{commit", RevisionFault::Unknown),
            ("main@{upstream", RevisionFault::Unknown),
            ("HEAD@{99}", RevisionFault::Unknown),
            (":/no such message", RevisionFault::Unknown),
            ("main:nosuch", RevisionFault::Unknown),
            ("main..", RevisionFault::Unknown),
            ("1111111111111111111111111111111111111111", RevisionFault::Unknown),
            ("a b", RevisionFault::Unknown),
            ("\u{1b}[2J", RevisionFault::Unknown),
            ("6bb2", RevisionFault::Ambiguous),
            ("main:base", RevisionFault::NotACommit("file")),
            ("main^{tree}", RevisionFault::NotACommit("folder")),
        ];
        for (revision, expected) in cases {
            let error = commit(&world.repo().gix, revision).expect_err(revision);
            let GitError::BadRevision { why, .. } = &error else { panic!("{revision}: {error}") };
            assert_eq!(*why, expected, "{revision}");
            let words = error.to_string().replace(revision, "");
            assert!(!words.contains(['{', '}', '"']) && words.contains("; "), "{words}");
        }
    }
}
