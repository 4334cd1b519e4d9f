//! What is not committed yet: the index or the worktree beside HEAD.

use super::capture::{self, Options};
use super::history::History;
use super::known::Known;
use super::published::Brought;
use super::range::Selected;
use super::remotes::{self, Remotes};
use super::tree::Entry;
use super::{GitError, Repo, index, narrow, object, revision, worktree};
use crate::change::subject::{BaseSource, RefUpdate, Subject};
use crate::change::{BytePath, Change, Oid};
use crate::env::{Env, MERGED_HEAD};
use std::os::unix::ffi::OsStrExt as _;

impl Repo {
    /// HEAD → index. While a merge is being committed, what comes from a commit that some remote has is not new (case P13).
    pub(super) fn staged(&self, options: &Options) -> Result<Selected, GitError> {
        self.staged_merge(self.merge_heads()?, options)
    }

    /// Captures the merge that git is about to commit by itself. `MERGE_HEAD` is not written yet; the names of the heads are in the environment. A variable that
    /// names another commit hides nothing: only what that commit has published is set aside, and a push is measured without it.
    ///
    /// # Errors
    ///
    /// As for [`super::Selector::Staged`].
    pub fn merging(&self, env: &Env, options: &Options) -> Result<Selected, GitError> {
        if self.is_bare() {
            return Err(GitError::Bare);
        }
        let mut heads = self.merge_heads()?;
        for name in env.iter().filter_map(|(name, _)| name.as_bytes().strip_prefix(MERGED_HEAD.as_bytes())) {
            if let Some(oid) = Oid::from_hex(name) {
                heads.extend(revision::commit_if_here(&self.gix, oid)?);
            }
        }
        self.staged_merge(heads, options)
    }

    fn staged_merge(&self, merged: Vec<Oid>, options: &Options) -> Result<Selected, GitError> {
        let mut notes = Vec::new();
        let entries = index::staged(&self.gix)?;
        let (entries, already) = self.without_published_merge(merged, entries, &mut notes)?;
        let mut change = self.capture(entries, options)?;
        change.already_published = narrow::paths(already, options);
        Ok(Selected { subjects: vec![self.uncommitted(change)?], notes, ..Selected::default() })
    }

    /// HEAD → tracked files.
    pub(super) fn worktree(&self, options: &Options) -> Result<Selected, GitError> {
        let (entries, unstored) = worktree::tracked(&self.gix)?;
        let change = capture::capture(&self.gix, entries, &unstored, options)?;
        Ok(Selected { subjects: vec![self.uncommitted(change)?], ..Selected::default() })
    }

    fn uncommitted(&self, change: Change) -> Result<Subject, GitError> {
        let base = self.head_commit()?;
        let base_tree = base.map(|commit| object::commit_tree(&self.gix, commit)).transpose()?;
        let nameless = RefUpdate {
            local_ref: BytePath::from(""),
            remote_ref: BytePath::from(""),
            tip: None,
            base,
            base_source: BaseSource::Index,
            force: false,
        };
        Ok(Subject { refs: vec![nameless], base_tree, tip_tree: None, commits: Vec::new(), change })
    }

    /// Sets aside the entries that a published head brought. One that no remote has is reviewed: its commits may never have been.
    fn without_published_merge(
        &self,
        merged: Vec<Oid>,
        entries: Vec<Entry>,
        notes: &mut Vec<String>,
    ) -> Result<(Vec<Entry>, Vec<BytePath>), GitError> {
        // Only a merge has published work in it, and only then is it worth asking every tracking ref.
        let Some(head) = self.head_commit()?.filter(|_| !merged.is_empty()) else { return Ok((entries, Vec::new())) };
        let mut history = History::new(&self.gix)?;
        let remotes = Remotes::of(self, &remotes::default_name(self), "");
        let mut known = Known::of(self, &remotes, &mut history, [])?;
        let mut sides = Vec::new();
        for commit in merged {
            if known.published.contains(&mut history, commit)? {
                sides.push(Brought::by(&self.gix, &mut history, head, commit)?);
            } else {
                notes.push(format!("{} is being merged and no remote has it: it is reviewed with the rest", commit.short()));
            }
        }
        let (already, entries): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(|entry| sides.iter().any(|side| side.explains(entry)));
        Ok((entries, already.into_iter().map(|entry| entry.path).collect()))
    }

    fn merge_heads(&self) -> Result<Vec<Oid>, GitError> {
        let path = self.git_dir().join("MERGE_HEAD");
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(GitError::io("read", &path)(error)),
        };
        let mut heads = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            if let Some(oid) = Oid::from_hex(line) {
                heads.extend(revision::commit_if_here(&self.gix, oid)?);
            }
        }
        Ok(heads)
    }
}
