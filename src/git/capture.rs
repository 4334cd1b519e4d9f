//! From changed entries to the change: renames paired, content read and verified, lines compared. What is captured here is what every later step uses.

use super::rename::{self, Pair, Place};
use super::text::{self, MAX_TEXT};
use super::tree::{Entry, Leaf};
use super::{GitError, object};
use crate::change::{Body, BytePath, Change, FileChange, Mode, Oid, Side};
use gix::Repository;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What of the entries is captured, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Pair deleted and added files that are alike.
    pub renames: bool,
    /// Files, or directories with all below them; empty for everything.
    pub only: Vec<BytePath>,
}

/// Content that is in no object yet: what the worktree holds.
pub(crate) type Unstored = HashMap<Oid, Content<'static>>;

/// The content of one side.
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

/// Captures the change that the entries describe. Content comes from `unstored`, else from the object database, verified.
pub(crate) fn capture(repo: &Repository, entries: Vec<Entry>, unstored: &Unstored, options: &Options) -> Result<Change, GitError> {
    let entries = narrow(entries, &options.only);
    let source = Source { repo, unstored };
    let pairs = if options.renames { rename::pairs(&source, entries)? } else { entries.into_iter().flat_map(rename::unpaired).collect() };
    Ok(Change { files: files(&source, &pairs)?, already_published: Vec::new() })
}

/// Keeps the entries at or below the named paths.
fn narrow(mut entries: Vec<Entry>, only: &[BytePath]) -> Vec<Entry> {
    let at_or_below =
        |path: &[u8], only: &[u8]| path.strip_prefix(only).is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || only.ends_with(b"/"));
    if !only.is_empty() {
        entries.retain(|entry| only.iter().any(|only| at_or_below(entry.path.as_bytes(), only.as_bytes())));
    }
    entries
}

/// How many files make a second thread worth its start.
const SHARED_FROM: usize = 64;

/// Compares the content of each pair, on two threads where there are many.
fn files(source: &Source<'_>, pairs: &[Pair]) -> Result<Vec<FileChange>, GitError> {
    let next = AtomicUsize::new(0);
    if pairs.len() < SHARED_FROM {
        return work(source, pairs, &next).into_iter().map(|(_, file)| file).collect();
    }
    let (repo, unstored) = (source.repo.clone(), source.unstored);
    let mut done = std::thread::scope(|scope| {
        let second = scope.spawn(|| work(&Source { repo: &{ repo }, unstored }, pairs, &next));
        let mut done = work(source, pairs, &next);
        done.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, file)| file).collect()
}

/// Takes one pair after the other until none is left. The result of each keeps its place.
fn work(source: &Source<'_>, pairs: &[Pair], next: &AtomicUsize) -> Vec<(usize, Result<FileChange, GitError>)> {
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < pairs.len());
    std::iter::from_fn(take).map(|at| (at, source.file(&pairs[at]))).collect()
}

/// Where content comes from.
pub(super) struct Source<'a> {
    pub(super) repo: &'a Repository,
    pub(super) unstored: &'a Unstored,
}

impl Source<'_> {
    /// Reads one side. Its size is known before its content is touched.
    pub(super) fn content(&self, leaf: Leaf) -> Result<Content<'_>, GitError> {
        if leaf.mode == Mode::Gitlink {
            return Ok(Content::Whole(format!("Subproject commit {}\n", leaf.oid).into_bytes().into()));
        }
        match self.unstored.get(&leaf.oid) {
            Some(Content::Whole(bytes)) => return Ok(Content::Whole(Cow::Borrowed(bytes))),
            Some(Content::Oversize(size)) => return Ok(Content::Oversize(*size)),
            None => {}
        }
        match object::blob_size(self.repo, leaf.oid)? {
            size if size > MAX_TEXT => Ok(Content::Oversize(size)),
            _ => Ok(Content::Whole(object::blob(self.repo, leaf.oid)?.into())),
        }
    }

    /// Returns the size in bytes without reading the content; 0 for a gitlink.
    pub(super) fn size(&self, leaf: Leaf) -> Result<u64, GitError> {
        match (leaf.mode, self.unstored.get(&leaf.oid)) {
            (Mode::Gitlink, _) => Ok(0),
            (_, Some(content)) => Ok(content.size()),
            (_, None) => object::blob_size(self.repo, leaf.oid),
        }
    }

    fn file(&self, pair: &Pair) -> Result<FileChange, GitError> {
        let leaf = |place: &Option<Place>| place.as_ref().map(|place| place.leaf);
        let (old, new) = (leaf(&pair.old), leaf(&pair.new));
        let (body, sizes) = match (old, new) {
            (Some(old), Some(new)) if old.oid == new.oid => (Body::Text(Vec::new()), [self.size(old)?; 2]),
            (old, new) => self.body(old, new)?,
        };
        let [old, new] = [(&pair.old, sizes[0]), (&pair.new, sizes[1])].map(|(place, size)| place.as_ref().map(|place| side(place, size)));
        Ok(FileChange { status: pair.status, old, new, body })
    }

    /// Reads and compares two sides; also tells their sizes.
    fn body(&self, old: Option<Leaf>, new: Option<Leaf>) -> Result<(Body, [u64; 2]), GitError> {
        let read = |leaf: Option<Leaf>| leaf.map_or(Ok(Content::Whole(Cow::Borrowed(&[]))), |leaf| self.content(leaf));
        let (old, new) = (read(old)?, read(new)?);
        let body = match (&old, &new) {
            (Content::Oversize(_), _) | (_, Content::Oversize(_)) => Body::Oversize,
            (Content::Whole(old), Content::Whole(new)) if text::is_binary(old) || text::is_binary(new) => Body::Binary,
            (Content::Whole(old), Content::Whole(new)) => Body::Text(text::hunks(old, new)),
        };
        Ok((body, [old.size(), new.size()]))
    }
}

fn side(place: &Place, size: u64) -> Side {
    let size = if place.leaf.mode == Mode::Gitlink { 0 } else { size };
    Side { path: place.path.clone(), mode: place.leaf.mode, oid: place.leaf.oid, size }
}
