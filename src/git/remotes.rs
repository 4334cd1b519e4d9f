//! What this repository knows of the other side: which configured remotes a push goes to, and the commits that their tracking refs say it has.
//!
//! Tracking refs are this machine's word, not the server's; the report says so (`base_source: tracking`). A ref that leads nowhere says nothing.

use super::{GitError, Repo, object, place, refspec, revision};
use crate::change::Oid;
use gix::remote::Direction;

/// The remotes of this repository's configuration that a push goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remotes {
    /// These, by name.
    Named(Vec<String>),
    /// A place that this one is pushed to and not fetched from: its tracking refs tell of another place.
    Elsewhere(String),
    /// A URL that belongs to no configured remote.
    Any,
}

impl Remotes {
    /// Finds them by the two arguments of a pre-push hook: the remote's name and its URL, or the URL twice.
    pub(super) fn of(repo: &Repo, remote: &str, url: &str) -> Remotes {
        let configured = names(repo);
        if configured.iter().any(|name| name == remote) || has_tracking_refs(repo, remote) {
            return if is_fetched_from(repo, remote, url) { Remotes::Named(vec![remote.to_owned()]) } else { Remotes::Elsewhere(remote.to_owned()) };
        }
        let same = |name: &String| urls(repo, name).iter().any(|known| same_url(known, remote) || same_url(known, url));
        let (fetched, mut only_pushed): (Vec<String>, Vec<String>) =
            configured.into_iter().filter(same).partition(|name| is_fetched_from(repo, name, if url.is_empty() { remote } else { url }));
        match only_pushed.pop() {
            _ if !fetched.is_empty() => Remotes::Named(fetched),
            Some(name) => Remotes::Elsewhere(name),
            None => Remotes::Any,
        }
    }

    fn has(&self, owner: &str) -> bool {
        match self {
            Remotes::Named(names) => names.iter().any(|name| name == owner),
            Remotes::Elsewhere(_) | Remotes::Any => false,
        }
    }

    /// Tells whether a fetch would write down what the place has.
    fn is_tracked(&self, repo: &Repo) -> bool {
        match self {
            Remotes::Named(names) => names.iter().any(|name| !values(repo, name, "fetch").is_empty()),
            Remotes::Elsewhere(_) => true,
            Remotes::Any => false,
        }
    }

    /// Names the remote whose word stands in where nothing is known of these: what most work is fetched from, never the one that a branch is set to, which
    /// may be a contributor's fork.
    fn stand_in(&self, repo: &Repo) -> String {
        match self {
            Remotes::Elsewhere(name) => name.clone(),
            Remotes::Named(_) | Remotes::Any => {
                repo.gix.remote_default_name(Direction::Push).map_or_else(|| "origin".to_owned(), |name| name.to_string())
            }
        }
    }

    /// Returns the commit of the remotes' default branch, as `refs/remotes/<name>/HEAD` names it.
    pub(super) fn default_branch(&self, repo: &Repo) -> Result<Option<Oid>, GitError> {
        let names = match self {
            Remotes::Named(names) => names.clone(),
            Remotes::Elsewhere(name) => vec![name.clone()],
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

/// What counts as published by the word of tracking refs and of the server.
pub(super) struct Published {
    pub(super) tips: Vec<Oid>,
    /// Says whose word was taken, where it is not the remotes' own.
    pub(super) note: Option<String>,
}

/// Lists the commits that count as published for a push to `remotes`: what their own tracking refs say they have, and what is `advertised`, which is the server's
/// word. Where no tracking ref tells of them, the server's word counts alone; of a place that is never fetched from (a URL that nobody configured, a mirror that
/// is only pushed to) what the default remote has as well. Where there is not even that word, what the default remote has stands in, else what any remote has, so
/// that the first push to a mirror is not the whole history.
///
/// What another remote has is otherwise no reason to pass: it may have gone there unseen, or come from a fork that nobody reviewed. The one exception is a
/// fork's `upstream`. A forged tracking ref hides what it names; a server that checks evidence catches it.
pub(super) fn published(repo: &Repo, remotes: &Remotes, advertised: Vec<Oid>) -> Result<Published, GitError> {
    let specs = Specs::of(repo);
    let stand_in = remotes.stand_in(repo);
    let (mut own, mut default, mut any) = (Vec::new(), Vec::new(), Vec::new());
    each(repo, "refs/remotes/", &mut |reference| {
        let name = reference.name().as_bstr().to_string();
        let owner = specs.owner(&name);
        let Some(id) = reference.try_id().filter(|_| specs.is_of_branch(&owner, &name)) else { return Ok(()) };
        let commit = revision::commit_if_here(&repo.gix, object::oid(&id))?;
        any.extend(commit);
        own.extend(commit.filter(|_| remotes.has(&owner)));
        default.extend(commit.filter(|_| owner == stand_in));
        Ok(())
    })?;
    let counts = |whose: &str| Some(format!("no tracking ref says what this remote has: what {whose} counts as published"));
    let of_default = format!("{stand_in} has");
    let elsewhere = match remotes {
        Remotes::Elsewhere(name) => Some(name),
        Remotes::Named(_) | Remotes::Any => None,
    };
    let (more, note) = if let Some(name) = elsewhere.filter(|_| !advertised.is_empty()) {
        (Vec::new(), Some(format!("{name} is fetched from another place than this: only what the server says that it has counts as published")))
    } else if !own.is_empty() {
        (own, None)
    } else if !advertised.is_empty() && remotes.is_tracked(repo) {
        (Vec::new(), None)
    } else if !default.is_empty() {
        (default, counts(&of_default))
    } else if advertised.is_empty() && !any.is_empty() {
        (any, counts("other remotes have"))
    } else {
        (Vec::new(), None)
    };
    let mut tips = [advertised, more].concat();
    tips.sort_unstable();
    tips.dedup();
    Ok(Published { tips, note })
}

/// The configured remotes and how they are fetched.
struct Specs(Vec<(String, Vec<String>)>);

impl Specs {
    fn of(repo: &Repo) -> Specs {
        Specs(names(repo).into_iter().map(|name| (name.clone(), values(repo, &name, "fetch"))).collect())
    }

    /// Returns the remote that a tracking ref belongs to: the configured one with the longest name that fits (`a/b` beside `a`), else its first part.
    fn owner(&self, tracking: &str) -> String {
        let below = tracking.strip_prefix("refs/remotes/").unwrap_or(tracking);
        let fits = self.0.iter().map(|(name, _)| name).filter(|remote| below.strip_prefix(remote.as_str()).is_some_and(|rest| rest.starts_with('/')));
        fits.max_by_key(|remote| remote.len()).cloned().unwrap_or_else(|| below.split('/').next().unwrap_or_default().to_owned())
    }

    /// Tells whether a tracking ref stands for a branch, by the specifications of its owner and by those of others that write among the owner's.
    fn is_of_branch(&self, owner: &str, tracking: &str) -> bool {
        let among = format!("refs/remotes/{owner}/");
        let writes = |spec: &str| refspec::ends(spec).1.is_some_and(|target| target.starts_with(&among));
        let specs = self.0.iter().flat_map(|(name, specs)| specs.iter().filter(|spec| *name == *owner || writes(spec)));
        refspec::is_of_branch(specs.map(String::as_str), tracking)
    }
}

/// Refuses what is neither a remote nor a URL nor a repository on this machine.
pub(super) fn known(repo: &Repo, remote: String) -> Result<String, GitError> {
    let configured = names(repo);
    if configured.contains(&remote) || has_tracking_refs(repo, &remote) || is_url(&remote) || is_repository(repo, &remote) {
        return Ok(remote);
    }
    Err(GitError::UnknownRemote { remote, configured })
}

/// Tells a URL, or `host:path`, from a name and a path: it has a colon before any slash.
fn is_url(remote: &str) -> bool {
    remote.split_once(':').is_some_and(|(scheme, _)| !scheme.is_empty() && !scheme.contains('/'))
}

/// Tells whether a path leads to a repository, from the top of the work tree as for `git push`, and with the `.git` that may be left out.
fn is_repository(repo: &Repo, path: &str) -> bool {
    let top = repo.work_dir().unwrap_or(repo.git_dir());
    !path.is_empty() && ["", "/.git", ".git", ".git/.git"].iter().any(|end| gix::discover::is_git(&top.join(format!("{path}{end}"))).is_ok())
}

/// Returns the remote that a push without arguments goes to.
pub(super) fn default_name(repo: &Repo) -> String {
    let branch = repo.gix.head_name().ok().flatten();
    let of_branch = branch.and_then(|name| repo.gix.branch_remote_name(name.shorten(), Direction::Push).map(|name| name.as_bstr().to_string()));
    of_branch.or_else(|| repo.gix.remote_default_name(Direction::Push).map(|name| name.to_string())).unwrap_or_else(|| "origin".to_owned())
}

/// Lists the refs below a prefix by name, each with its commit. What leads to no commit is passed over.
pub(super) fn refs(repo: &Repo, below: &str) -> Result<Vec<(String, Oid)>, GitError> {
    let mut found = Vec::new();
    each(repo, below, &mut |reference| {
        let commit = reference.try_id().map(|id| revision::commit_if_here(&repo.gix, object::oid(&id))).transpose()?.flatten();
        found.extend(commit.map(|commit| (reference.name().as_bstr().to_string(), commit)));
        Ok(())
    })?;
    Ok(found)
}

fn names(repo: &Repo) -> Vec<String> {
    repo.gix.remote_names().iter().map(|name| name.to_string()).collect()
}

/// Lists the values that a remote has for a key.
fn values(repo: &Repo, name: &str, key: &str) -> Vec<String> {
    let values = repo.gix.config_snapshot().plumbing().strings(format!("remote.{name}.{key}").as_str()).unwrap_or_default();
    values.iter().map(|value| value.to_string()).collect()
}

/// Tells whether a remote is fetched from the place that a URL leads to. It is fetched from the first of its `url`s; what `insteadOf` and `pushInsteadOf` make of
/// that one is the same place by the user's word. Without a URL to compare nothing speaks against it.
fn is_fetched_from(repo: &Repo, name: &str, url: &str) -> bool {
    let first = values(repo, name, "url").into_iter().find(|url| !url.is_empty());
    let Some(first) = first.filter(|_| !url.is_empty() && url != name) else { return true };
    let mut places = vec![];
    if let Ok(remote) = repo.gix.remote_at(first.as_str()) {
        places.extend([Direction::Fetch, Direction::Push].into_iter().filter_map(|direction| Some(remote.url(direction)?.to_bstring().to_string())));
    }
    if places.is_empty() {
        places.push(first);
    }
    let base = repo.gix.current_dir().join(repo.work_dir().unwrap_or(repo.git_dir()));
    places.iter().any(|known| place::is_same(&base, known, url))
}

/// Lists a remote's URLs for fetching and pushing, as written and as `url.<base>.insteadOf` rewrites them.
fn urls(repo: &Repo, name: &str) -> Vec<String> {
    let mut urls: Vec<String> = ["url", "pushurl"].into_iter().flat_map(|key| values(repo, name, key)).collect();
    if let Ok(remote) = repo.gix.find_remote(name) {
        urls.extend([Direction::Fetch, Direction::Push].into_iter().filter_map(|direction| Some(remote.url(direction)?.to_bstring().to_string())));
    }
    urls
}

fn same_url(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

fn has_tracking_refs(repo: &Repo, remote: &str) -> bool {
    let mut any = false;
    let mut see = |_: &gix::Reference<'_>| {
        any = true;
        Ok(())
    };
    is_name(remote) && each(repo, &format!("refs/remotes/{remote}/"), &mut see).is_ok() && any
}

/// A URL or a path is no part of a ref name.
pub(super) fn is_name(remote: &str) -> bool {
    gix::refs::FullName::try_from(format!("refs/remotes/{remote}/HEAD")).is_ok()
}

/// Visits the refs below a prefix, peeled. One that leads nowhere is passed over: it says nothing of what a remote has.
fn each(repo: &Repo, prefix: &str, visit: &mut dyn FnMut(&gix::Reference<'_>) -> Result<(), GitError>) -> Result<(), GitError> {
    let doing = || format!("list the refs below {prefix}");
    let platform = repo.gix.references().map_err(GitError::other(doing()))?;
    let mut refs = platform.prefixed(prefix).and_then(|refs| refs.peeled()).map_err(GitError::other(doing()))?;
    refs.by_ref().filter_map(Result::ok).try_for_each(|reference| visit(&reference))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::World;
    use super::*;

    /// Returns which of the named revisions count as published for a push to a remote.
    fn counted<'n>(world: &World, repo: &Repo, remote: &str, names: &[&'n str]) -> Vec<&'n str> {
        let tips = published(repo, &Remotes::of(repo, remote, remote), Vec::new()).expect("a list").tips;
        let is_tip = |name: &&&str| tips.contains(&Oid::from_hex(world.id(name).as_bytes()).expect("an id"));
        names.iter().filter(is_tip).copied().collect()
    }

    /// A working copy with a second remote, `backup`.
    fn with_backup() -> World {
        let world = World::new();
        world.git_in(world.dir.path(), &["init", "-q", "--bare", "-b", "main", "backup.git"]);
        world.git(&["remote", "add", "backup", "../backup.git"]);
        world
    }

    #[test]
    fn what_one_remote_has_is_published_for_that_one_alone() {
        let world = with_backup();
        world.git(&["push", "-q", "backup", "main"]);
        world.commit("n", "unseen\n");
        world.git(&["push", "-q", "backup", "main"]);
        assert_eq!(counted(&world, &world.repo(), "origin", &["main", "main~1"]), ["main~1"]);
        assert_eq!(counted(&world, &world.repo(), "backup", &["main", "main~1"]), ["main"]);
        world.colleague("main", "main", "theirs", "x\n");
        world.git(&["fetch", "-q", "origin"]);
        assert_eq!(counted(&world, &world.repo(), "backup", &["origin/main"]), Vec::<&str>::new(), "a fork's work was seen by nobody here");
    }

    #[test]
    fn where_nothing_is_known_of_a_remote_any_other_stands_in() {
        let world = with_backup();
        for remote in ["backup", "https://host/elsewhere"] {
            assert_eq!(counted(&world, &world.repo(), remote, &["main"]), ["main"], "{remote}");
        }
    }
}
