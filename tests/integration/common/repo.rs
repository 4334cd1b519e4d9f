//! A real repository, driven by the real git.

use super::ZERO;
use super::child::{self, Run};
use super::gate::Gate;
use super::kept::Kept;
use super::sandbox::Sandbox;
use std::fs;
use std::path::{Path, PathBuf};

/// A repository of a sandbox.
pub struct Repo<'s> {
    sandbox: &'s Sandbox,
    path: PathBuf,
}

impl<'s> Repo<'s> {
    /// Names a repository that is there.
    pub fn at(sandbox: &'s Sandbox, path: PathBuf) -> Repo<'s> {
        Repo { sandbox, path }
    }

    /// Returns the worktree.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the world it is in.
    pub fn sandbox(&self) -> &'s Sandbox {
        self.sandbox
    }

    /// Runs git to success and returns its output without the last line end.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        self.try_git(args).expect(0).stdout.trim_end_matches('\n').to_owned()
    }

    /// Runs git, whatever it says. Where it runs hooks, they read the settings that lie, and leave the worktree alone; a push leaves the index alone too.
    #[track_caller]
    pub fn try_git(&self, args: &[&str]) -> Run {
        let keep = match args.first() {
            Some(&"push") => Kept::index_and_worktree,
            Some(&"commit") => Kept::worktree,
            _ => return child::run(self.git_command(args), b""),
        };
        let mut command = self.sandbox.hostile_command("git");
        command.args(args).current_dir(&self.path);
        // git itself cannot summarise a commit with an order file that is not there, nor, before 2.40, commit a submodule that it was told to ignore.
        for (n, key, value) in [(0, "diff.orderFile", "/dev/null"), (1, "diff.ignoreSubmodules", "none")] {
            command.env("GIT_CONFIG_COUNT", "2").env(format!("GIT_CONFIG_KEY_{n}"), key).env(format!("GIT_CONFIG_VALUE_{n}"), value);
        }
        let before = keep(&self.path);
        let run = child::run(command, b"");
        assert_eq!(keep(&self.path), before, "a hook wrote to the repository; {run}");
        run
    }

    /// Prepares a git command.
    pub fn git_command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.sandbox.command("git");
        command.args(args).current_dir(&self.path);
        command
    }

    /// Prepares the gate in this repository.
    pub fn gate(&self, args: &[&str]) -> Gate {
        Gate::new(self, args)
    }

    /// Writes a file, folders included.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let file = self.path.join(path);
        fs::create_dir_all(file.parent().expect("a file is in a folder")).unwrap();
        fs::write(file, content).unwrap();
        self
    }

    /// Stages everything.
    pub fn add(&self) -> &Self {
        self.git(&["add", "-A"]);
        self
    }

    /// Commits everything without hooks and returns the new id.
    #[track_caller]
    pub fn commit(&self, message: &str) -> String {
        self.add();
        self.git(&["commit", "-q", "--no-verify", "-m", message]);
        self.oid("HEAD")
    }

    /// Makes a branch from `start` and moves to it.
    pub fn branch(&self, name: &str, start: &str) -> &Self {
        self.git(&["switch", "-q", "-c", name, start]);
        self
    }

    /// Returns the id of a revision.
    #[track_caller]
    pub fn oid(&self, revision: &str) -> String {
        self.git(&["rev-parse", "--verify", revision])
    }

    /// Names a remote.
    pub fn remote(&self, name: &str, path: &Path) -> &Self {
        self.git(&["remote", "add", name, &path.to_string_lossy()]);
        self
    }

    /// Pushes without hooks.
    pub fn publish(&self, refspec: &str) -> &Self {
        self.git(&["push", "-q", "--no-verify", "origin", refspec]);
        self
    }

    /// Runs `git push` with what follows; hooks run.
    pub fn push(&self, args: &[&str]) -> Run {
        self.try_git(&[&["push"], args].concat())
    }

    /// Returns what a remote has under a ref, `None` where it has nothing.
    pub fn remote_oid(&self, remote: &str, name: &str) -> Option<String> {
        let listed = self.git(&["ls-remote", remote, name]);
        listed.split_whitespace().next().map(str::to_owned)
    }

    /// Returns all refs of a remote, to compare before and after.
    pub fn remote_refs(&self, remote: &str) -> String {
        self.git(&["ls-remote", remote])
    }

    /// Returns the line that git gives to pre-push when `branch` goes to the same name at `origin`.
    pub fn push_line(&self, branch: &str) -> String {
        let name = format!("refs/heads/{branch}");
        let there = self.remote_oid("origin", &name).unwrap_or_else(|| ZERO.into());
        format!("{name} {} {name} {there}\n", self.oid(branch))
    }

    /// Returns the gate's folder in the git folder.
    pub fn state(&self) -> PathBuf {
        let common = self.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        Path::new(&common).join("review-gate")
    }

    /// Returns the ledger's file.
    pub fn ledger(&self) -> PathBuf {
        self.state().join("ledger.jsonl")
    }

    /// Returns the ledger's records.
    pub fn records(&self) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.ledger()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("no JSON in the ledger: {e}: {line}"))).collect()
    }

    /// Takes what the gate must leave alone.
    pub fn snapshot(&self) -> Kept {
        Kept::everything(&self.path)
    }
}
