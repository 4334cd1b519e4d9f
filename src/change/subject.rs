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
    /// The commit that the ref would point to, peeled from a tag; the blob or tree where that is what is pushed; nothing for what is not committed.
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
    /// The commits that would be published with it, newest first; empty for what is not committed and for a blob or tree that is pushed alone.
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

    /// Returns the name for messages: the remote refs, else what the user named, else "uncommitted change".
    pub fn label(&self) -> String {
        let shown = |names: Vec<&BytePath>| {
            names.iter().filter(|name| !name.as_bytes().is_empty()).map(|name| name.to_string()).collect::<Vec<_>>().join(", ")
        };
        let remote = shown(self.refs.iter().map(|r| &r.remote_ref).collect());
        let local = shown(self.refs.iter().map(|r| &r.local_ref).collect());
        [remote, local].into_iter().find(|names| !names.is_empty()).unwrap_or_else(|| "uncommitted change".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(names: &[(&str, &str)]) -> Subject {
        let update = |(local, remote): &(&str, &str)| RefUpdate {
            local_ref: BytePath::from(*local),
            remote_ref: BytePath::from(*remote),
            tip: None,
            base: None,
            base_source: BaseSource::Empty,
            force: false,
        };
        Subject { refs: names.iter().map(update).collect(), base_tree: None, tip_tree: None, commits: Vec::new(), change: Change::default() }
    }

    #[test]
    fn the_label_is_the_best_name_there_is() {
        assert_eq!(subject(&[("HEAD", "refs/heads/a"), ("HEAD", "refs/heads/b")]).label(), "refs/heads/a, refs/heads/b");
        assert_eq!(subject(&[("main..HEAD", "")]).label(), "main..HEAD");
        assert_eq!(subject(&[("", "")]).label(), "uncommitted change");
    }

    #[test]
    fn the_id_is_bound_to_the_trees_and_not_to_the_names() {
        let (plain, mut other) = (subject(&[("a", "b")]), subject(&[("c", "d")]));
        assert_eq!(plain.id(), other.id());
        other.tip_tree = Oid::from_bytes(&[1; 20]);
        assert_ne!(plain.id(), other.id());
    }
}
