//! What this repository knows of the other side: which configured remotes a push goes to, and the commits that their tracking refs say it has.
//!
//! Tracking refs are this machine's word, not the server's; the report says so (`base_source: tracking`). A ref that leads nowhere says nothing.

use super::{GitError, Repo, object, revision};
use crate::change::{BytePath, Oid};
use gix::bstr::ByteSlice as _;
use gix::remote::Direction;

/// The remotes of this repository's configuration that a push goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remotes {
    /// These, by name.
    Named(Vec<String>),
    /// A URL that belongs to no configured remote.
    Any,
}

impl Remotes {
    /// Finds them by the two arguments of a pre-push hook: the remote's name and its URL, or the URL twice.
    pub(super) fn of(repo: &Repo, remote: &str, url: &str) -> Remotes {
        let configured = names(repo);
        if configured.iter().any(|name| name == remote) || has_tracking_refs(repo, remote) {
            return Remotes::Named(vec![remote.to_owned()]);
        }
        let same: Vec<String> =
            configured.into_iter().filter(|name| urls(repo, name).iter().any(|known| same_url(known, remote) || same_url(known, url))).collect();
        if same.is_empty() { Remotes::Any } else { Remotes::Named(same) }
    }

    /// Returns the commit of the remotes' default branch, as `refs/remotes/<name>/HEAD` names it.
    pub(super) fn default_branch(&self, repo: &Repo) -> Result<Option<Oid>, GitError> {
        let names = match self {
            Remotes::Named(names) => names.clone(),
            Remotes::Any => vec![default_name(repo)],
        };
        for name in names {
            if let Some(commit) = revision::commit_of_ref(&repo.gix, &format!("refs/remotes/{name}/HEAD"))? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }
}

/// Lists the commits that the tracking refs say some remote has. Every remote counts, not only the one that is pushed to: a branch that was rebased onto
/// another remote's work (a fork onto its upstream) must not send that work again. A forged tracking ref hides what it names from the gate; a server that
/// checks evidence catches it.
pub(super) fn published(repo: &Repo) -> Result<Vec<Oid>, GitError> {
    let mut tips = Vec::new();
    collect(repo, "refs/remotes/", &mut tips)?;
    tips.sort_unstable();
    tips.dedup();
    Ok(tips)
}

/// Where a push of the current branch goes.
pub(super) struct Destination {
    pub(super) remote: String,
    pub(super) local_ref: BytePath,
    pub(super) remote_ref: BytePath,
    /// What our tracking ref says the remote has there.
    pub(super) tracked: Option<Oid>,
}

/// Finds where `git push [REMOTE]` would push the current branch.
pub(super) fn destination(repo: &Repo, remote: Option<&str>) -> Result<Destination, GitError> {
    let branch = repo.gix.head_name().map_err(GitError::other("read HEAD"))?;
    let detached = || GitError::BadRevision {
        revision: "HEAD".to_owned(),
        why: "it is on no branch, so nothing says where it would be pushed; use --range".to_owned(),
    };
    let branch = branch.ok_or_else(detached)?;
    let remote = remote.map_or_else(|| default_name(repo), str::to_owned);
    // Where the configuration does not name another ref, git pushes to the branch of the same name.
    let configured = repo.gix.branch_remote_ref_name(branch.as_ref(), Direction::Push).and_then(Result::ok);
    let remote_ref = configured.unwrap_or_else(|| branch.clone());
    let tracking = format!("refs/remotes/{remote}/{}", remote_ref.shorten());
    let tracked = if is_name(&remote) { revision::commit_of_ref(&repo.gix, &tracking)? } else { None };
    let path = |name: &gix::refs::FullName| BytePath::new(name.as_bstr().to_vec());
    Ok(Destination { local_ref: path(&branch), remote_ref: path(&remote_ref), remote, tracked })
}

/// Returns the remote that a push without arguments goes to.
pub(super) fn default_name(repo: &Repo) -> String {
    let branch = repo.gix.head_name().ok().flatten();
    let of_branch = branch.and_then(|name| repo.gix.branch_remote_name(name.shorten(), Direction::Push).map(|name| name.as_bstr().to_string()));
    of_branch.or_else(|| repo.gix.remote_default_name(Direction::Push).map(|name| name.to_string())).unwrap_or_else(|| "origin".to_owned())
}

fn names(repo: &Repo) -> Vec<String> {
    repo.gix.remote_names().iter().map(|name| name.to_string()).collect()
}

/// Lists a remote's URLs for fetching and pushing, as written and as `url.<base>.insteadOf` rewrites them.
fn urls(repo: &Repo, name: &str) -> Vec<String> {
    let config = repo.gix.config_snapshot();
    let written =
        ["url", "pushurl"].into_iter().flat_map(|key| config.plumbing().strings(format!("remote.{name}.{key}").as_str()).unwrap_or_default());
    let mut urls: Vec<String> = written.map(|url| url.to_string()).collect();
    if let Ok(remote) = repo.gix.find_remote(name) {
        urls.extend([Direction::Fetch, Direction::Push].into_iter().filter_map(|direction| Some(remote.url(direction)?.to_bstring().to_string())));
    }
    urls
}

fn same_url(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

fn has_tracking_refs(repo: &Repo, remote: &str) -> bool {
    let mut tips = Vec::new();
    is_name(remote) && collect(repo, &format!("refs/remotes/{remote}/"), &mut tips).is_ok() && !tips.is_empty()
}

/// A URL or a path is no part of a ref name.
pub(super) fn is_name(remote: &str) -> bool {
    gix::refs::FullName::try_from(format!("refs/remotes/{remote}/HEAD")).is_ok()
}

/// Collects the commits below a prefix. Refs of a remote whose name continues this one's (`a/b` beside `a`) are its own.
fn collect(repo: &Repo, prefix: &str, tips: &mut Vec<Oid>) -> Result<(), GitError> {
    let below = names(repo).into_iter().map(|name| format!("refs/remotes/{name}/"));
    let others: Vec<String> = below.filter(|other| other.len() > prefix.len() && other.starts_with(prefix) && prefix != "refs/remotes/").collect();
    let doing = || format!("list the refs below {prefix}");
    let platform = repo.gix.references().map_err(GitError::other(doing()))?;
    let refs = platform.prefixed(prefix).and_then(|refs| refs.peeled()).map_err(GitError::other(doing()))?;
    for reference in refs.filter_map(Result::ok) {
        let name = reference.name().as_bstr();
        if others.iter().any(|other| name.starts_with_str(other)) {
            continue;
        }
        if let Some(id) = reference.try_id() {
            tips.extend(revision::commit_if_here(&repo.gix, object::oid(&id))?);
        }
    }
    Ok(())
}
