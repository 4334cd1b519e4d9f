//! A subject: what is judged as one. A push is a list of subjects, one for each distinct pair of base and tip.

use super::{BytePath, Change, Oid};
use crate::digest::Fields;
use std::fmt;

/// Where the base of a range came from; the report states it because not all are equally trustworthy (threat T5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseSource {
    /// The server's own old id for the ref, from the push lines.
    Server,
    /// The merge base of two commits that the user named, or of a rewritten ref and its old tip.
    MergeBase,
    /// Commits that the remote-tracking refs say the remote has.
    Tracking,
    /// Nothing known: the whole tree is new.
    Empty,
    /// HEAD, compared with the index or the worktree.
    Index,
}

impl BaseSource {
    /// Returns the word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            BaseSource::Server => "server",
            BaseSource::MergeBase => "merge-base",
            BaseSource::Tracking => "tracking",
            BaseSource::Empty => "empty",
            BaseSource::Index => "index",
        }
    }
}

/// One ref that the subject would update. For a staged change there is one with empty names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    /// The local side as git or the user named it; not necessarily a ref name.
    pub local_ref: BytePath,
    /// The ref at the remote; empty where nothing is pushed.
    pub remote_ref: BytePath,
    /// The commit (or, for a staged change, nothing) that the ref would point to, peeled from a tag.
    pub tip: Option<Oid>,
    /// The commit that the change is measured from.
    pub base: Option<Oid>,
    /// Where the base came from.
    pub base_source: BaseSource,
    /// The remote's old tip is not an ancestor of the new one.
    pub force: bool,
}

/// A short id of a subject that a person can type: 16 hex digits over both trees and the change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectId(pub String);

impl fmt::Display for SubjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is judged as one: the difference between two trees, and the refs that carry it.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The refs that this subject would update; at least one.
    pub refs: Vec<RefUpdate>,
    /// The tree of the base; `None` for the empty tree.
    pub base_tree: Option<Oid>,
    /// The tree of the tip; `None` where the tip is an index or a worktree that has no tree object.
    pub tip_tree: Option<Oid>,
    /// The commits that would be published with it, newest first; empty for a staged change.
    pub commits: Vec<Oid>,
    /// The difference, captured once; every later step uses these bytes.
    pub change: Change,
}

impl Subject {
    /// Returns the id that an override names. It is bound to the content: the same trees and the same changed entries.
    pub fn id(&self) -> SubjectId {
        let mut fields = Fields::new("review-gate subject v1");
        for tree in [self.base_tree, self.tip_tree] {
            fields.add(tree.map(|oid| oid.to_string()).unwrap_or_default());
        }
        fields.add(self.change.digest().hex());
        SubjectId(fields.finish().short(16))
    }

    /// Returns the name for messages: the remote refs, else "staged change".
    pub fn label(&self) -> String {
        let names: Vec<String> = self.refs.iter().map(|r| r.remote_ref.to_string()).filter(|name| !name.is_empty()).collect();
        if names.is_empty() { self.refs.first().map(|r| r.local_ref.to_string()).unwrap_or_default() } else { names.join(", ") }
    }
}
