//! A private home, configuration and temporary folder, and the environment that every child gets: nothing of the caller's but `PATH`.
//!
//! The gate, and git where it runs the gate as its hook, read a global git configuration full of settings that lie (`fixtures/hostile/`): whatever a story is
//! about, it holds under them too. Git as the stories' own tool reads none of it.

use super::child::{self, Run};
use super::config::{self, Reviewer};
use super::repo::Repo;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Settings of git's diff, colour and core that must not change what is reviewed.
const HOSTILE_CONFIG: &str = include_str!("../../../fixtures/hostile/gitconfig");
/// The attributes that they name.
const HOSTILE_ATTRIBUTES: &str = include_str!("../../../fixtures/hostile/attributes");

/// One story's world. Removed on drop.
pub struct Sandbox {
    dir: tempfile::TempDir,
}

impl Sandbox {
    /// Makes an empty world.
    pub fn new() -> Sandbox {
        let dir = tempfile::Builder::new().prefix("review-gate-test-").tempdir().expect("a temporary folder can be made");
        let sandbox = Sandbox { dir };
        for name in ["home", "config", "tmp", "cache", "home/hostile"] {
            fs::create_dir(sandbox.path().join(name)).unwrap();
        }
        fs::write(sandbox.hostile_config(), HOSTILE_CONFIG).unwrap();
        fs::write(sandbox.system_config(), "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n").unwrap();
        fs::write(sandbox.path().join("home/hostile/attributes"), HOSTILE_ATTRIBUTES).unwrap();
        sandbox
    }

    /// Returns the folder that holds everything.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Gives all later git commands this user configuration.
    pub fn git_config(&self, text: &str) {
        fs::write(self.path().join("home/.gitconfig"), text).unwrap();
    }

    /// Writes the gate's user configuration: these reviewers, then further lines.
    pub fn configure(&self, reviewers: &[Reviewer], more: &str) {
        self.configure_raw(&config::user_yaml(reviewers, more));
    }

    /// Writes the gate's user configuration as it is.
    pub fn configure_raw(&self, yaml: &str) {
        let file = self.config_file();
        fs::create_dir_all(file.parent().expect("the file is in a folder")).unwrap();
        fs::write(file, yaml).unwrap();
    }

    /// Returns where the gate's user configuration is.
    pub fn config_file(&self) -> PathBuf {
        self.path().join("config/review-gate/config.yaml")
    }

    /// Prepares a child with the documented environment and no other variable.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let global = self.path().join("home/.gitconfig");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path().join("home"))
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env("TMPDIR", self.path().join("tmp"))
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("GIT_CONFIG_SYSTEM", self.system_config())
            .env("GIT_CONFIG_GLOBAL", if global.exists() { global } else { "/dev/null".into() })
            .env("GIT_TERMINAL_PROMPT", "0");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "A. Person")
                .env(format!("GIT_{who}_EMAIL"), "person@example.com")
                .env(format!("GIT_{who}_DATE"), "2026-01-02T03:04:05+0000");
        }
        command
    }

    /// Prepares a child as [`Sandbox::command`] does, whose global git configuration lies in every way that a setting can. What [`Sandbox::git_config`] says holds
    /// as well.
    pub fn hostile_command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.command(program);
        command.env("GIT_CONFIG_GLOBAL", self.hostile_config());
        command
    }

    /// What holds for every git: none of them repacks in the background, where it would write beside a story.
    fn system_config(&self) -> PathBuf {
        self.path().join("home/system")
    }

    fn hostile_config(&self) -> PathBuf {
        self.path().join("home/hostile/config")
    }

    /// Makes a repository with one commit on `main`.
    pub fn repo(&self, name: &str) -> Repo<'_> {
        let repo = self.unborn(name);
        repo.write("README", "base\n").commit("base");
        repo
    }

    /// Makes a repository without a commit.
    pub fn unborn(&self, name: &str) -> Repo<'_> {
        let path = self.path().join(name);
        self.run(&["git", "init", "-q", "-b", "main", &path.to_string_lossy()]).expect(0);
        Repo::at(self, path)
    }

    /// Makes a bare repository and returns its path.
    pub fn bare(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        self.run(&["git", "init", "-q", "--bare", "-b", "main", &path.to_string_lossy()]).expect(0);
        path
    }

    /// Clones a repository, as a colleague would.
    pub fn clone(&self, from: &Path, name: &str) -> Repo<'_> {
        let path = self.path().join(name);
        self.run(&["git", "clone", "-q", &from.to_string_lossy(), &path.to_string_lossy()]).expect(0);
        Repo::at(self, path)
    }

    /// Makes a repository whose only commit was published to the bare remote `origin.git`.
    pub fn published(&self) -> Repo<'_> {
        let repo = self.repo("work");
        repo.remote("origin", &self.bare("origin.git"));
        repo.git(&["push", "-q", "--no-verify", "-u", "origin", "main"]);
        repo
    }

    /// Makes a published repository whose pushes are gated by these reviewers.
    pub fn gated(&self, reviewers: &[Reviewer], more: &str) -> Repo<'_> {
        self.configure(reviewers, more);
        let repo = self.published();
        repo.gate(&["install"]).run().expect(0);
        repo
    }

    fn run(&self, words: &[&str]) -> Run {
        let mut command = self.command(words[0]);
        command.args(&words[1..]).current_dir(self.path());
        child::run(command, b"")
    }
}
