//! What counts as published: what the remotes have by the word of tracking refs and of the server, and beside it what the upstream of a fork has.

use super::history::{Ancestors, History};
use super::remotes::{self, Remotes};
use super::{GitError, Repo, revision, upstream};
use crate::change::Oid;

/// The commits that count as published for a push to some remotes.
pub(super) struct Known {
    /// All of them.
    pub(super) published: Ancestors,
    /// The upstream among them, until it was told.
    fork: Option<Fork>,
    /// Nothing is known of the remotes themselves: what others have stands in.
    pub(super) stands_in: bool,
}

struct Fork {
    branch: String,
    /// What the remotes have without it.
    own: Ancestors,
}

impl Known {
    /// Finds them; `advertised` is what the server, or whoever asks, says that the remotes have besides.
    pub(super) fn of(
        repo: &Repo,
        remotes: &Remotes,
        history: &mut History<'_>,
        advertised: impl IntoIterator<Item = Oid>,
    ) -> Result<Known, GitError> {
        let remotes::Published { mut tips, stands_in } = remotes::published(repo, remotes)?;
        for old in advertised {
            tips.extend(revision::commit_if_here(&repo.gix, old)?);
        }
        let mut published = Ancestors::of(history, tips.iter().copied())?;
        let mut fork = None;
        if let Some(upstream) = upstream::of(repo, remotes, history, &mut published)? {
            let all = Ancestors::of(history, tips.into_iter().chain(upstream.tips))?;
            fork = Some(Fork { branch: upstream.branch, own: std::mem::replace(&mut published, all) });
        }
        Ok(Known { published, fork, stands_in })
    }

    /// Names the upstream's branch, once, where one of the commits is there and not at the remotes.
    pub(super) fn upstream_of(&mut self, history: &mut History<'_>, commits: &[Oid]) -> Result<Option<String>, GitError> {
        let Some(mut fork) = self.fork.take() else { return Ok(None) };
        for commit in commits {
            if !fork.own.contains(history, *commit)? {
                return Ok(Some(fork.branch));
            }
        }
        self.fork = Some(fork);
        Ok(None)
    }
}
