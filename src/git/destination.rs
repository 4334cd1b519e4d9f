//! Where `git push` would send the current branch, as git's own settings decide it: `remote.<name>.push`, else `push.default`.
//!
//! Only the current branch is followed. Where the same `git push` would send more, something else, or nothing, a note says so and names the push that sends
//! what was measured. What the other side has already is `remotes`' business.

use super::error::RevisionFault;
use super::refspec::{captured, ends};
use super::remotes;
use super::{GitError, Repo, revision};
use crate::change::{BytePath, Oid};
use gix::remote::Direction;

/// How many refs a note names.
const NAMED: usize = 3;

/// Where a push of the current branch goes.
pub(super) struct Destination {
    pub(super) remote: String,
    pub(super) local_ref: BytePath,
    pub(super) remote_ref: BytePath,
    /// What our tracking ref says the remote has there.
    pub(super) tracked: Option<Oid>,
    /// How `git push` alone would differ.
    pub(super) notes: Vec<String>,
}

/// What `git push` alone does with a branch.
enum Alone {
    /// Sends it to this ref.
    To(String),
    /// Does not send it, because of this.
    Not(String),
}

/// Finds where `git push [REMOTE]` would push the current branch.
///
/// # Errors
///
/// No branch, or [`GitError::UnknownRemote`]: measured from a remote that is not there, everything would look new, or nothing.
pub(super) fn of(repo: &Repo, remote: Option<&str>) -> Result<Destination, GitError> {
    let branch = repo.gix.head_name().map_err(GitError::other("read HEAD"))?;
    let branch = branch.ok_or_else(|| GitError::BadRevision { revision: "HEAD".to_owned(), why: RevisionFault::Detached })?;
    let short = branch.shorten().to_string();
    let branch = branch.as_bstr().to_string();
    let remote = remotes::known(repo, remote.map_or_else(|| remotes::default_name(repo), str::to_owned))?;
    let settings = Settings { repo, remote: &remote, branch: &branch, short: &short };
    let (alone, others) = settings.alone()?;
    let mut notes = Vec::new();
    if !others.is_empty() {
        notes.push(format!(
            "`git push` alone may also send {}, which is not looked at here; `git push {remote} {short}` sends this branch only",
            few(&others)
        ));
    }
    let remote_ref = match alone {
        Alone::To(remote_ref) => remote_ref,
        // What is measured then is what a push that names the branch would send.
        Alone::Not(why) => {
            notes.push(format!("`git push` alone would not send {short}: {why}; measured is what `git push {remote} {short}` would send"));
            branch.clone()
        }
    };
    let tracked = settings.tracked(&remote_ref)?;
    Ok(Destination { local_ref: BytePath::from(branch.as_str()), remote_ref: BytePath::from(remote_ref.as_str()), remote, tracked, notes })
}

/// The settings that a push of one branch to one remote goes by.
struct Settings<'a> {
    repo: &'a Repo,
    remote: &'a str,
    branch: &'a str,
    short: &'a str,
}

impl Settings<'_> {
    /// Returns what `git push` does with the branch, and which other refs it would send with it.
    fn alone(&self) -> Result<(Alone, Vec<String>), GitError> {
        if self.text(&format!("remote.{}.mirror", self.remote)).is_some_and(|value| is_true(&value)) {
            return Ok((Alone::To(self.branch.to_owned()), self.others("refs/", &|name| Some(name.to_owned()))?));
        }
        let specs = self.all(&format!("remote.{}.push", self.remote));
        if !specs.is_empty() {
            let (matching, named): (Vec<String>, Vec<String>) = specs.iter().cloned().partition(|spec| matches!(spec.as_str(), ":" | "+:"));
            let mut others = self.others("refs/", &|name| self.through(&named, name))?;
            if !matching.is_empty() {
                others.extend(self.matching()?.into_iter().filter(|name| !others.contains(name)).collect::<Vec<_>>());
            }
            let alone =
                self.through(&specs, self.branch).map_or_else(|| Alone::Not(format!("remote.{}.push does not name it", self.remote)), Alone::To);
            return Ok((alone, others));
        }
        let upstream = self.text(&format!("branch.{}.merge", self.short));
        let is_upstream = self.remote == self.fetched_from();
        let same = || Alone::To(self.branch.to_owned());
        let alone = match self.text("push.default").as_deref() {
            Some("current") => same(),
            Some("nothing") => Alone::Not("push.default is `nothing`".to_owned()),
            Some("matching") => return Ok((same(), self.matching()?)),
            // `tracking` is its old name.
            Some("upstream" | "tracking") if is_upstream => upstream.map_or_else(|| Alone::Not("it has no upstream branch".to_owned()), Alone::To),
            Some("upstream" | "tracking") => {
                Alone::Not(format!("push.default is `upstream`, and {} is not where its upstream branch is", self.remote))
            }
            // `simple`, which is the default, and what git would not take.
            Some(_) | None => match upstream {
                Some(upstream) if is_upstream && upstream != self.branch => {
                    Alone::Not(format!("push.default is `simple`, and its upstream branch is {upstream}"))
                }
                Some(_) | None => same(),
            },
        };
        Ok((alone, Vec::new()))
    }

    /// Lists the other branches that the remote has too and that differ from what it has.
    fn matching(&self) -> Result<Vec<String>, GitError> {
        let mut found = Vec::new();
        for name in self.others("refs/heads/", &|name| Some(name.to_owned()))? {
            if self.tracked(&name)?.is_some() {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Lists the refs below a prefix, other than the branch, that a push would change at the remote as far as the tracking refs tell.
    fn others(&self, below: &str, to: &dyn Fn(&str) -> Option<String>) -> Result<Vec<String>, GitError> {
        let mut found = Vec::new();
        for (name, commit) in remotes::refs(self.repo, below)? {
            if name == self.branch || name.starts_with("refs/remotes/") {
                continue;
            }
            let Some(remote_ref) = to(&name) else { continue };
            if self.tracked(&remote_ref)? != Some(commit) {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Returns the ref that push specifications map a ref to; `None` where no one does, or one excludes it.
    fn through(&self, specs: &[String], name: &str) -> Option<String> {
        let is_head = |source: &str| name == self.branch && matches!(source, "HEAD" | "@");
        mapped(specs, name, &is_head)
    }

    /// Returns what the tracking ref of a remote's ref points to.
    fn tracked(&self, remote_ref: &str) -> Result<Option<Oid>, GitError> {
        let specs = self.all(&format!("remote.{}.fetch", self.remote));
        let short = remote_ref.strip_prefix("refs/heads/");
        let tracking = match mapped(&specs, remote_ref, &|_| false) {
            Some(tracking) => tracking,
            None => match short {
                Some(short) if remotes::is_name(self.remote) => format!("refs/remotes/{}/{short}", self.remote),
                Some(_) | None => return Ok(None),
            },
        };
        revision::commit_of_ref(&self.repo.gix, &tracking)
    }

    /// Returns the remote that the branch is fetched from.
    fn fetched_from(&self) -> String {
        self.text(&format!("branch.{}.remote", self.short))
            .or_else(|| self.repo.gix.remote_default_name(Direction::Fetch).map(|name| name.to_string()))
            .unwrap_or_else(|| "origin".to_owned())
    }

    fn text(&self, key: &str) -> Option<String> {
        self.repo.gix.config_snapshot().plumbing().string(key).map(|value| value.to_string())
    }

    fn all(&self, key: &str) -> Vec<String> {
        let values = self.repo.gix.config_snapshot().plumbing().strings(key).unwrap_or_default();
        values.iter().map(|value| value.to_string()).collect()
    }
}

/// Maps a full ref name through ref specifications; the first that fits wins, and one that excludes it wins over all.
fn mapped(specs: &[String], name: &str, is_head: &dyn Fn(&str) -> bool) -> Option<String> {
    let fits = |source: &str| is_head(source) || expands_to(source, name);
    if is_excluded(specs, name) {
        return None;
    }
    specs.iter().map(|spec| ends(spec)).find_map(|ends| match ends {
        // Matching branches: each under its own name.
        ("", Some("")) => name.starts_with("refs/heads/").then(|| name.to_owned()),
        (source, target) if source.contains('*') => captured(source, name).map(|middle| target.unwrap_or(source).replacen('*', middle, 1)),
        (source, None | Some("")) => fits(source).then(|| name.to_owned()),
        (source, Some(target)) if fits(source) => Some(if target.starts_with("refs/") { target.to_owned() } else { format!("refs/heads/{target}") }),
        (_, Some(_)) => None,
    })
}

/// Tells whether a specification such as `^refs/heads/mine` excludes a ref. Git compares it with what the others map *to* the name, not from it, so that it
/// excludes nothing that is sent under another name.
fn is_excluded(specs: &[String], name: &str) -> bool {
    let (negative, positive): (Vec<&String>, Vec<&String>) = specs.iter().partition(|spec| spec.starts_with('^'));
    let back = |spec: &&String| match ends(spec) {
        ("", _) => Some(name.to_owned()),
        (source, target) if source.contains('*') => captured(target.unwrap_or(source), name).map(|middle| source.replacen('*', middle, 1)),
        (source, _) => (source == name).then(|| name.to_owned()),
    };
    let sources: Vec<String> = positive.iter().filter_map(back).collect();
    let excludes = |spec: &&String, source: &String| spec[1..] == **source || captured(&spec[1..], source).is_some();
    negative.iter().any(|spec| sources.iter().any(|source| excludes(spec, source)))
}

/// Tells whether a name as a person writes it stands for a full ref name.
fn expands_to(source: &str, name: &str) -> bool {
    !source.is_empty() && ["", "refs/", "refs/heads/", "refs/tags/"].iter().any(|before| name.strip_prefix(before) == Some(source))
}

fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1" | "")
}

fn few(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED { format!("{shown} and {} more", names.len() - NAMED) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::World;
    use super::*;

    /// A working copy with a second remote, `backup`, on the branch `topic` with a commit that nobody has yet.
    fn world() -> World {
        let world = World::new();
        world.git_in(world.dir.path(), &["init", "-q", "--bare", "-b", "main", "backup.git"]);
        world.git(&["remote", "add", "backup", "../backup.git"]);
        world.git(&["switch", "-q", "-c", "topic"]);
        world.commit("n", "new\n");
        world
    }

    /// Does something under some settings, and takes them back.
    fn under<T>(world: &World, settings: &[&str], work: impl FnOnce() -> T) -> T {
        let file = world.work().join(".git/config");
        let before = std::fs::read(&file).expect("a configuration");
        for setting in settings {
            let (key, value) = setting.split_once(' ').expect("a key and a value");
            world.git(&["config", "--add", key, value]);
        }
        let done = work();
        std::fs::write(file, before).expect("a configuration");
        done
    }

    fn found(world: &World, remote: Option<&str>) -> Destination {
        of(&world.repo(), remote).unwrap_or_else(|error| panic!("{remote:?}: {error}"))
    }

    /// Returns what `git push --dry-run` says that it would send, as `LOCAL:REMOTE` lines; none where it refuses.
    fn gits_word(world: &World, remote: Option<&str>) -> Vec<String> {
        let output = world.try_git_in(&world.work(), &[&["push", "--dry-run", "--porcelain"], remote.as_slice()].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = |line: &str| line.split('\t').nth(1).map(str::to_owned);
        text.lines().filter(|text| !text.starts_with("To ") && !text.starts_with('=')).filter_map(line).collect()
    }

    #[test]
    fn the_branch_goes_where_git_itself_would_push_it() {
        let upstream = ["branch.topic.remote origin", "branch.topic.merge refs/heads/theirs"];
        let own = ["branch.topic.remote origin", "branch.topic.merge refs/heads/topic"];
        let cases: [(&[&str], Option<&str>, &str, &str); 21] = [
            (&own, None, "origin", "refs/heads/topic"),
            (&own, Some("backup"), "backup", "refs/heads/topic"),
            (&["push.default current"], None, "origin", "refs/heads/topic"),
            (&["push.default current"], Some("backup"), "backup", "refs/heads/topic"),
            (&[&upstream[..], &["push.default current"]].concat(), None, "origin", "refs/heads/topic"),
            (&[&upstream[..], &["push.default upstream"]].concat(), None, "origin", "refs/heads/theirs"),
            (&[&upstream[..], &["push.default tracking"]].concat(), None, "origin", "refs/heads/theirs"),
            (&[&upstream[..], &["push.default simple"]].concat(), Some("backup"), "backup", "refs/heads/topic"),
            (&["push.default current", "branch.topic.pushRemote backup"], None, "backup", "refs/heads/topic"),
            (&["push.default current", "remote.pushDefault backup"], None, "backup", "refs/heads/topic"),
            (&["push.default current", "remote.pushDefault backup", "branch.topic.pushRemote origin"], None, "origin", "refs/heads/topic"),
            (&[&upstream[..], &["remote.pushDefault backup"]].concat(), None, "backup", "refs/heads/topic"),
            (&["remote.origin.push HEAD:refs/for/main"], None, "origin", "refs/for/main"),
            (&["remote.origin.push +@:refs/for/main"], None, "origin", "refs/for/main"),
            (&["remote.origin.push refs/heads/*:refs/heads/me/*"], None, "origin", "refs/heads/me/topic"),
            (&["remote.origin.push topic:released"], None, "origin", "refs/heads/released"),
            (&["remote.origin.push topic"], None, "origin", "refs/heads/topic"),
            (&["remote.origin.push heads/topic"], None, "origin", "refs/heads/topic"),
            (&["remote.backup.push topic:elsewhere", "push.default current"], None, "origin", "refs/heads/topic"),
            (&["remote.origin.push refs/heads/*:refs/x/*", "remote.origin.push ^refs/heads/topic"], None, "origin", "refs/x/topic"),
            (&["remote.origin.push refs/heads/*", "remote.origin.push ^refs/heads/m*"], None, "origin", "refs/heads/topic"),
        ];
        let world = world();
        for (settings, remote, to, name) in cases {
            let (destination, word) = under(&world, settings, || (found(&world, remote), gits_word(&world, remote)));
            assert_eq!((destination.remote.as_str(), destination.remote_ref.to_string().as_str()), (to, name), "{settings:?}");
            let (of_topic, rest): (Vec<&String>, Vec<&String>) = word.iter().partition(|line| line.ends_with(&format!(":{name}")));
            assert_eq!(of_topic.len(), 1, "git itself says {word:?}: {settings:?}");
            assert_eq!(rest.is_empty(), destination.notes.is_empty(), "git itself says {word:?}: {settings:?} {:?}", destination.notes);
        }
    }

    #[test]
    fn where_git_push_alone_sends_something_else_or_nothing_a_note_says_so() {
        let upstream = ["branch.topic.remote origin", "branch.topic.merge refs/heads/theirs"];
        let cases: [(&[&str], &str); 6] = [
            (&upstream, "push.default is `simple`, and its upstream branch is refs/heads/theirs"),
            (&["push.default nothing"], "push.default is `nothing`"),
            (&["push.default upstream"], "it has no upstream branch"),
            (&[&upstream[..], &["push.default upstream", "remote.pushDefault backup"]].concat(), "backup is not where its upstream branch is"),
            (&["remote.origin.push refs/heads/main"], "remote.origin.push does not name it"),
            (&["remote.origin.push refs/heads/*", "remote.origin.push ^refs/heads/topic"], "remote.origin.push does not name it"),
        ];
        let world = world();
        for (settings, why) in cases {
            let (destination, word) = under(&world, settings, || (found(&world, None), gits_word(&world, None)));
            let remote = &destination.remote;
            let end = format!("; measured is what `git push {remote} topic` would send");
            assert!(destination.notes.iter().any(|note| note.contains(why) && note.ends_with(&end)), "{settings:?}: {:?}", destination.notes);
            assert_eq!(destination.remote_ref, BytePath::from("refs/heads/topic"), "{settings:?}");
            assert!(word.iter().all(|line| !line.starts_with("refs/heads/topic:")), "git itself says {word:?}: {settings:?}");
        }
    }

    #[test]
    fn what_the_same_push_would_send_beside_the_branch_is_named() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&["push.default matching"], &["refs/heads/main"]),
            (&["remote.origin.push :"], &["refs/heads/main"]),
            (&["remote.origin.push refs/heads/*"], &["refs/heads/local", "refs/heads/main"]),
            (&["remote.origin.push HEAD", "remote.origin.push main:refs/x/main"], &["refs/heads/main"]),
            (&["remote.origin.mirror true"], &["refs/heads/local", "refs/heads/main", "refs/tags/v1"]),
        ];
        let world = world();
        world.git(&["push", "-q", "origin", "topic"]);
        for branch in ["main", "local"] {
            world.git(&["branch", "-f", branch, "topic"]);
        }
        world.git(&["tag", "v1"]);
        world.commit("more", "more\n");
        for (settings, others) in cases {
            let (destination, word) = under(&world, settings, || (found(&world, None), gits_word(&world, None)));
            let note = destination.notes.first().unwrap_or_else(|| panic!("no note: {settings:?}"));
            let named = note.strip_prefix("`git push` alone may also send ").and_then(|rest| rest.split(", which is").next());
            assert_eq!(named, Some(others.join(", ").as_str()), "{settings:?}");
            assert!(note.ends_with("`git push origin topic` sends this branch only"), "{note}");
            assert!(
                others.iter().all(|name| word.iter().any(|line| line.starts_with(&format!("{name}:")))),
                "git itself says {word:?}: {settings:?}"
            );
        }
    }

    #[test]
    fn what_the_remote_has_is_read_where_its_fetches_put_it() {
        let world = world();
        let main = world.id("main");
        world.git(&["switch", "-q", "main"]);
        world.commit("n", "new\n");
        let tracked = |world: &World| found(world, None).tracked.map(|oid| oid.to_string());
        assert_eq!(tracked(&world), Some(main.clone()));
        world.git(&["config", "remote.origin.fetch", "+refs/heads/*:refs/seen/*"]);
        world.git(&["update-ref", "refs/seen/main", "main"]);
        assert_eq!(tracked(&world), Some(world.id("main")));
        world.git(&["config", "--unset", "remote.origin.fetch"]);
        assert_eq!(tracked(&world), Some(main), "without a rule, where git puts it by default");
    }

    #[test]
    fn very_many_others_are_counted() {
        let names: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        assert_eq!(few(&names), "a, b, c and 2 more");
        assert_eq!(few(&names[..1]), "a");
    }

    #[test]
    fn a_push_goes_to_a_remote_a_url_or_a_repository_and_nowhere_else() {
        let world = world();
        std::fs::create_dir(world.work().join("src")).expect("a directory");
        world.git(&["update-ref", "refs/remotes/seen/main", "main"]);
        for remote in ["origin", "backup", "seen", "https://host/x.git", "git@host:x.git", "../remote.git", "../remote", "../work", "."] {
            assert!(of(&world.repo(), Some(remote)).is_ok(), "{remote}");
        }
        for remote in ["nosuchremote", "orign", "", "src", "../nowhere", "/:", ":x"] {
            let Err(error) = of(&world.repo(), Some(remote)) else { panic!("{remote:?} was taken for a remote") };
            assert!(matches!(error, GitError::UnknownRemote { .. }), "{remote}: {error}");
            assert!(error.to_string().contains(&format!("no remote {remote} ")) && error.to_string().contains("(backup, origin)"), "{error}");
        }
        for remote in ["origin", "backup"] {
            world.git(&["remote", "remove", remote]);
        }
        let Err(error) = of(&world.repo(), None) else { panic!("a push without a remote was taken for one") };
        assert!(error.to_string().contains("no remote origin") && error.to_string().contains("`git remote add`"), "{error}");
    }
}
