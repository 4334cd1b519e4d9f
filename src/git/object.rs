//! Verified reads: an object is taken by id, and its content hashed again before anyone sees it. What is too large for that is not read.
//!
//! Whoever opened the repository has switched replace refs off; a replacement that slipped through would not hash to the id that was asked for. What
//! the bytes of a tree mean is `tree`'s business.

use super::GitError;
use super::text::MAX_TEXT;
use super::{error::Extent, partial};
use crate::change::Oid;
use gix::objs::{CommitRefIter, Find as _, Kind};
use gix::{ObjectId, Repository};
use std::borrow::Cow;

/// Returns the plain id of gix's id.
pub(crate) fn oid(id: &gix::oid) -> Oid {
    Oid::from_bytes(id.as_bytes()).expect("an id, because gix makes them of 20 or 32 bytes")
}

/// Returns gix's id of the plain id.
pub(crate) fn id(oid: Oid) -> ObjectId {
    ObjectId::try_from(oid.as_bytes()).expect("an id, because an Oid has 20 or 32 bytes")
}

/// Hashes content as git would store it, with detection of SHA-1 collisions; `None` where one is detected.
pub(crate) fn hash(repo: &Repository, kind: Kind, content: &[u8]) -> Option<Oid> {
    gix::objs::compute_hash(repo.object_hash(), kind, content).ok().map(|id| oid(&id))
}

/// The content of a blob, or of what would become one.
#[derive(Debug, Clone)]
pub(crate) enum Content<'a> {
    /// All of it.
    Whole(Cow<'a, [u8]>),
    /// Too large to be read: its size in bytes.
    Oversize(u64),
}

impl Content<'_> {
    /// Returns the size in bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Content::Whole(bytes) => bytes.len() as u64,
            Content::Oversize(size) => *size,
        }
    }
}

/// Returns a blob's size in bytes without reading its content.
pub(crate) fn blob_size(repo: &Repository, oid: Oid) -> Result<u64, GitError> {
    let header = (id(oid).kind() == repo.object_hash()).then(|| repo.try_find_header(id(oid)));
    let header = header.transpose().map_err(|error| GitError::other(format!("read the header of object {oid}"))(error))?;
    let header = header.flatten().ok_or_else(|| missing(repo, oid))?;
    expect_kind(oid, header.kind(), Kind::Blob)?;
    Ok(header.size())
}

/// Reads a blob unless it is larger than [`MAX_TEXT`]. The repository was opened so that a read stops there by itself, which saves a look at the header of
/// every blob: for one that is not packed, half of all there is to do.
pub(crate) fn content(repo: &Repository, oid: Oid) -> Result<Content<'static>, GitError> {
    match blob(repo, oid) {
        Ok(bytes) if bytes.len() as u64 <= MAX_TEXT => Ok(Content::Whole(bytes.into())),
        Ok(bytes) => Ok(Content::Oversize(bytes.len() as u64)),
        Err(error) => match blob_size(repo, oid)? {
            size if size > MAX_TEXT => Ok(Content::Oversize(size)),
            _ => Err(error),
        },
    }
}

/// Reads a blob.
pub(crate) fn blob(repo: &Repository, oid: Oid) -> Result<Vec<u8>, GitError> {
    read(repo, oid, Kind::Blob)
}

/// Reads a tree. The empty tree exists whether it is stored or not.
pub(crate) fn tree(repo: &Repository, oid: Oid) -> Result<Vec<u8>, GitError> {
    if id(oid) == ObjectId::empty_tree(repo.object_hash()) {
        return Ok(Vec::new());
    }
    read(repo, oid, Kind::Tree)
}

/// Reads a commit.
pub(crate) fn commit(repo: &Repository, oid: Oid) -> Result<Vec<u8>, GitError> {
    read(repo, oid, Kind::Commit)
}

/// Returns the tree of a commit.
pub(crate) fn commit_tree(repo: &Repository, commit_id: Oid) -> Result<Oid, GitError> {
    let content = commit(repo, commit_id)?;
    let tree = CommitRefIter::from_bytes(&content, repo.object_hash()).tree_id();
    tree.map(|id| oid(&id)).map_err(|_| GitError::Malformed { oid: commit_id, why: "a commit without a tree".to_owned() })
}

/// Returns the tree of HEAD; `None` where HEAD has no commit yet.
pub(crate) fn head_tree(repo: &Repository) -> Result<Option<Oid>, GitError> {
    let head = repo.head().and_then(gix::Head::try_into_peeled_id).map_err(GitError::other("read HEAD"))?;
    head.map(|commit| commit_tree(repo, oid(&commit))).transpose()
}

/// Reads an object of one kind and refuses content that does not hash to its id.
fn read(repo: &Repository, oid: Oid, expected: Kind) -> Result<Vec<u8>, GitError> {
    let id = id(oid);
    if id.kind() != repo.object_hash() {
        return Err(missing(repo, oid));
    }
    let mut content = Vec::new();
    let found = repo.objects.try_find(&id, &mut content).map_err(|error| GitError::other(format!("read object {oid}"))(error))?;
    let found = found.ok_or_else(|| missing(repo, oid))?;
    expect_kind(oid, found.kind, expected)?;
    found.verify_checksum(&id).map_err(|_| GitError::Integrity { oid })?;
    Ok(content)
}

/// Says that an object is not here, and what this kind of repository can do about it.
pub(crate) fn missing(repo: &Repository, oid: Oid) -> GitError {
    let extent = match (partial::is(repo), repo.is_shallow().unwrap_or(false)) {
        (true, _) => Extent::Partial,
        (false, true) => Extent::Shallow,
        (false, false) => Extent::Whole,
    };
    GitError::Missing { oid, extent }
}

fn expect_kind(oid: Oid, found: Kind, expected: Kind) -> Result<(), GitError> {
    if found == expected {
        return Ok(());
    }
    Err(GitError::Kind { oid, found: found.to_string(), expected: expected.to_string() })
}
