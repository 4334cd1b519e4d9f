//! The repository's policy file as the commits have it that may speak: what is published, never what is being pushed.
//!
//! Bytes only; what they say is `config`'s business. A policy that is there and cannot be read refuses: it is not the same as none.

use super::object::Content;
use super::remotes::{self, Remotes};
use super::tree::{self, Leaf};
use super::{GitError, Repo, object, revision, worktree};
use crate::change::subject::{BaseSource, Subject};
use crate::change::{BytePath, Mode, Oid};

/// The name of the policy file, at the root.
pub const POLICY_FILE: &str = ".review-gate.yaml";

/// The largest policy that is read, in bytes.
pub const MAX_POLICY: u64 = 64 * 1024;

/// A policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Where it came from, for `config show` and messages: `base 1a2b3c…`, `default branch 1a2b3c…`, `HEAD 1a2b3c…`, `tip`.
    pub origin: String,
    /// The commit that has it; `None` for an index or a tree without history.
    pub commit: Option<Oid>,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Repo {
    /// Returns the policies that hold for a subject: its bases' and that of the remote's default branch, for a staged change HEAD's. None where nothing
    /// is published yet. `remote` is the remote's name or URL, by default the current branch's; `base` names the branch that stands in where the remote
    /// has no default one.
    ///
    /// # Errors
    ///
    /// A policy that is a link, a directory or a submodule, or larger than [`MAX_POLICY`].
    pub fn policy_files(&self, subject: &Subject, remote: Option<&str>, base: Option<&str>) -> Result<Vec<PolicyFile>, GitError> {
        let mut sources: Vec<(&str, Oid)> = Vec::new();
        let mut add = |name, commit: Option<Oid>| {
            if let Some(commit) = commit.filter(|commit| !sources.iter().any(|(_, other)| other == commit)) {
                sources.push((name, commit));
            }
        };
        for r in &subject.refs {
            add(if r.base_source == BaseSource::Index { "HEAD" } else { "base" }, r.base);
        }
        if subject.refs.iter().any(|r| r.base_source != BaseSource::Index) {
            add("default branch", self.target(remote, base)?);
        }
        let files = sources.into_iter().map(|(name, commit)| self.policy_at(name, commit));
        files.filter_map(Result::transpose).collect()
    }

    /// Returns the policy that the tip of a subject would have. It is reported, and may only tighten. `None` where it has none.
    ///
    /// # Errors
    ///
    /// As [`Repo::policy_files`].
    pub fn tip_policy(&self, subject: &Subject) -> Result<Option<PolicyFile>, GitError> {
        let path = BytePath::from(POLICY_FILE);
        let leaf = match subject.tip_tree {
            Some(tree) => tree::lookup(&self.gix, tree, &path)?,
            None => self.uncommitted_leaf(subject, &path)?,
        };
        let commit = subject.refs.first().and_then(|r| r.tip);
        let bytes = leaf.map(|leaf| self.policy_bytes("tip", leaf)).transpose()?;
        Ok(bytes.map(|bytes| PolicyFile { origin: "tip".to_owned(), commit, bytes }))
    }

    /// Finds what the index or the worktree has at a path: what the change says (a file that became a link is in it twice), else what HEAD has.
    fn uncommitted_leaf(&self, subject: &Subject, path: &BytePath) -> Result<Option<Leaf>, GitError> {
        let new = subject.change.files.iter().filter_map(|file| file.new.as_ref()).find(|side| side.path == *path);
        match (new, subject.base_tree) {
            (Some(side), _) => Ok(Some(Leaf { mode: side.mode, oid: side.oid })),
            (None, Some(head)) if subject.change.file(path).is_none() => tree::lookup(&self.gix, head, path),
            (None, _) => Ok(None),
        }
    }

    /// Finds the commit that a change is on its way to.
    fn target(&self, remote: Option<&str>, base: Option<&str>) -> Result<Option<Oid>, GitError> {
        let remote = remote.map_or_else(|| remotes::default_name(self), str::to_owned);
        if let Some(commit) = Remotes::of(self, &remote, &remote).default_branch(self)? {
            return Ok(Some(commit));
        }
        let Some(base) = base else { return Ok(None) };
        let tracking = format!("refs/remotes/{remote}/{base}");
        let tracked = if remotes::is_name(&remote) { revision::commit_of_ref(&self.gix, &tracking).ok().flatten() } else { None };
        Ok(tracked.or_else(|| revision::commit(&self.gix, base).ok()))
    }

    fn policy_at(&self, name: &str, commit: Oid) -> Result<Option<PolicyFile>, GitError> {
        let origin = format!("{name} {}", commit.short());
        let leaf = tree::lookup(&self.gix, object::commit_tree(&self.gix, commit)?, &BytePath::from(POLICY_FILE))?;
        let bytes = leaf.map(|leaf| self.policy_bytes(&origin, leaf)).transpose()?;
        Ok(bytes.map(|bytes| PolicyFile { origin, commit: Some(commit), bytes }))
    }

    fn policy_bytes(&self, origin: &str, leaf: Leaf) -> Result<Vec<u8>, GitError> {
        let refuse = |what: String| {
            Err(GitError::Unsupported { what: format!("{what} as {POLICY_FILE} ({origin})"), remedy: "make it a small file".to_owned() })
        };
        match leaf.mode {
            Mode::Regular | Mode::Executable => {}
            Mode::Symlink => return refuse("a symbolic link".to_owned()),
            Mode::Gitlink => return refuse("a submodule".to_owned()),
        }
        let content = match object::content(&self.gix, leaf.oid) {
            // What the worktree holds is in no object, unless it was staged too.
            Err(GitError::Missing { .. }) => worktree::content(&self.gix, &BytePath::from(POLICY_FILE), leaf)?,
            other => other?,
        };
        match content {
            Content::Whole(bytes) if bytes.len() as u64 <= MAX_POLICY => Ok(bytes.into_owned()),
            Content::Whole(_) | Content::Oversize(_) => refuse(format!("{} bytes (of {MAX_POLICY} allowed)", content.size())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, only};
    use super::super::{Options, Selector};
    use super::*;

    fn origins(world: &World, subject: &Subject, base: Option<&str>) -> Vec<(String, String)> {
        let files = world.repo().policy_files(subject, Some("origin"), base).expect("policies");
        let kind = |origin: &str| origin.rsplit_once(' ').map_or(origin, |(kind, _)| kind).to_owned();
        files.into_iter().map(|file| (kind(&file.origin), String::from_utf8(file.bytes).expect("UTF-8"))).collect()
    }

    fn pair(origin: &str, text: &str) -> (String, String) {
        (origin.to_owned(), text.to_owned())
    }

    #[test]
    fn what_is_published_speaks_and_what_is_pushed_does_not() {
        let world = World::new();
        world.commit(POLICY_FILE, "base: 1\n");
        world.git(&["push", "-q"]);
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit(POLICY_FILE, "base: 2\n");
        let push = |world: &World| world.push(&[["f", "f", "refs/heads/f", "-"]]);
        assert_eq!(origins(&world, only(&push(&world)), None), [pair("base", "base: 1\n")]);
        assert_eq!(world.repo().tip_policy(only(&push(&world))).expect("a policy").map(|file| file.bytes), Some(b"base: 2\n".to_vec()));
        world.colleague("main", "main", POLICY_FILE, "base: 3\n");
        world.git(&["fetch", "-q"]);
        assert_eq!(origins(&world, only(&push(&world)), Some("main")), [pair("base", "base: 1\n"), pair("default branch", "base: 3\n")]);
        assert_eq!(origins(&world, only(&push(&world)), Some("-x")), [pair("base", "base: 1\n")]);
        world.git(&["remote", "set-head", "origin", "main"]);
        assert_eq!(origins(&world, only(&push(&world)), None), [pair("base", "base: 1\n"), pair("default branch", "base: 3\n")]);
    }

    #[test]
    fn at_commit_time_head_speaks() {
        let world = World::new();
        world.commit(POLICY_FILE, "base: 1\n");
        let staged = |world: &World| world.repo().select(&Selector::Staged, &Options::default()).expect("the index");
        let tip = |world: &World| world.repo().tip_policy(only(&staged(world))).expect("a policy").map(|file| file.bytes);
        assert_eq!(tip(&world), Some(b"base: 1\n".to_vec()));
        std::fs::write(world.work().join(POLICY_FILE), "base: 2\n").expect("a file");
        world.git(&["add", "."]);
        assert_eq!(origins(&world, only(&staged(&world)), None), [pair("HEAD", "base: 1\n")]);
        assert_eq!(tip(&world), Some(b"base: 2\n".to_vec()));
        world.git(&["rm", "-q", "--cached", POLICY_FILE]);
        assert_eq!(tip(&world), None);
    }

    #[test]
    fn a_policy_in_the_worktree_is_read_as_it_was_captured() {
        let world = World::new();
        world.commit(POLICY_FILE, "base: 1\n");
        let (file, repo) = (world.work().join(POLICY_FILE), world.repo());
        let write = |text: &str| std::fs::write(&file, text).expect("a file");
        let captured = || repo.select(&Selector::Worktree, &Options::default()).expect("the worktree");
        let tip = |selected: &crate::git::Selected| repo.tip_policy(only(selected)).map(|file| file.map(|file| file.bytes));
        write("base: on disk\n");
        let selected = captured();
        assert_eq!(origins(&world, only(&selected), None), [pair("HEAD", "base: 1\n")]);
        assert_eq!(tip(&selected).expect("a policy"), Some(b"base: on disk\n".to_vec()));
        write("base: another\n");
        let error = tip(&selected).expect_err("not what was captured");
        assert!(matches!(error, GitError::Changed { .. }) && error.to_string().contains(POLICY_FILE), "{error}");
        // A link is what it is, and so is a file that is too large or gone.
        write(&"#".repeat(MAX_POLICY as usize + 1));
        assert!(matches!(tip(&captured()), Err(GitError::Unsupported { .. })));
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(tip(&captured()).expect("none"), None);
        std::os::unix::fs::symlink("base", &file).expect("a link");
        assert!(matches!(tip(&captured()), Err(GitError::Unsupported { .. })));
        world.git(&["add", "."]);
        let staged = repo.select(&Selector::Staged, &Options::default()).expect("the index");
        assert!(matches!(tip(&staged), Err(GitError::Unsupported { .. })));
    }

    #[test]
    fn a_staged_policy_that_is_in_no_object_is_missing() {
        let world = World::new();
        std::fs::write(world.work().join(POLICY_FILE), "base: 1\n").expect("a file");
        world.git(&["add", "."]);
        let selected = world.repo().select(&Selector::Staged, &Options::default()).expect("the index");
        let id = world.id(&format!(":{POLICY_FILE}"));
        std::fs::remove_file(world.work().join(".git/objects").join(&id[..2]).join(&id[2..])).expect("removed");
        std::fs::write(world.work().join(POLICY_FILE), "base: another\n").expect("a file");
        assert!(matches!(world.repo().tip_policy(only(&selected)), Err(GitError::Missing { .. })));
    }

    #[test]
    fn a_policy_that_is_no_small_file_is_not_absent() {
        for (size, link) in [(0, true), (MAX_POLICY as usize + 1, false)] {
            let world = World::new();
            if link {
                std::os::unix::fs::symlink("base", world.work().join(POLICY_FILE)).expect("a link");
                world.git(&["add", "."]);
                world.git(&["commit", "-q", "-m", "link"]);
            } else {
                world.commit(POLICY_FILE, &"#".repeat(size));
            }
            world.git(&["push", "-q"]);
            world.commit("n", "x\n");
            let selected = world.push(&[["main", "main", "refs/heads/main", "origin/main"]]);
            assert!(matches!(world.repo().policy_files(only(&selected), None, None), Err(GitError::Unsupported { .. })));
            assert!(matches!(world.repo().tip_policy(only(&selected)), Err(GitError::Unsupported { .. })));
        }
    }
}
