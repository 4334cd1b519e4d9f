//! Repositories and remotes made by a real git without any outside configuration, for the tests of ranges.

use super::capture::Options;
use super::push::{PushLine, parse_lines};
use super::range::Selected;
use super::testing;
use super::{GitError, Repo};
use crate::change::subject::Subject;
use crate::env::Env;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A working copy `work` with a bare remote `origin` (`remote.git` beside it). Commits are a minute apart, so that their order is never a matter of luck.
pub(super) struct World {
    pub(super) dir: tempfile::TempDir,
    clock: std::cell::Cell<u32>,
}

impl World {
    /// Makes a working copy whose `main` has the file `base` and is published.
    pub(super) fn new() -> World {
        let world = World::empty(&[]);
        world.commit("base", "base\n");
        world.git(&["push", "-q", "-u", "origin", "main"]);
        world
    }

    /// Makes a working copy and a remote without any commit.
    pub(super) fn empty(format: &[&str]) -> World {
        let world = World { dir: tempfile::tempdir().expect("a temporary directory"), clock: std::cell::Cell::new(0) };
        world.git_in(world.dir.path(), &[&["init", "-q", "--bare", "-b", "main"], format, &["remote.git"]].concat());
        world.git_in(world.dir.path(), &[&["init", "-q", "-b", "main"], format, &["work"]].concat());
        world.git(&["remote", "add", "origin", "../remote.git"]);
        world
    }

    pub(super) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Runs git in the working copy and returns its output without the last newline.
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.work(), arguments)
    }

    pub(super) fn git_in(&self, dir: &Path, arguments: &[&str]) -> String {
        let output = self.try_git_in(dir, arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Runs git, whatever comes of it.
    pub(super) fn try_git_in(&self, dir: &Path, arguments: &[&str]) -> Output {
        self.clock.set(self.clock.get() + 60);
        let date = format!("{} +0000", 1_700_000_000 + self.clock.get());
        let settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "gc.auto=0", "-c", "protocol.file.allow=always"];
        let mut command = testing::git();
        command.current_dir(dir).env("HOME", self.dir.path()).env("GIT_EDITOR", "true");
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        command.args(settings).args(arguments).output().expect("git runs")
    }

    /// Writes a file, commits it and returns the commit's id.
    pub(super) fn commit(&self, file: &str, content: &str) -> String {
        std::fs::write(self.work().join(file), content).expect("a file");
        self.git(&["add", file]);
        self.git(&["commit", "-q", "-m", file]);
        self.id("HEAD")
    }

    pub(super) fn id(&self, revision: &str) -> String {
        self.git(&["rev-parse", revision])
    }

    /// Lets a colleague publish a commit on a branch of the remote, grown from the remote's `from`.
    pub(super) fn colleague(&self, from: &str, branch: &str, file: &str, content: &str) {
        let there = self.dir.path().join("colleague");
        if !there.exists() {
            self.git_in(self.dir.path(), &["clone", "-q", "remote.git", "colleague"]);
        }
        self.git_in(&there, &["fetch", "-q"]);
        self.git_in(&there, &["checkout", "-q", "-B", branch, &format!("origin/{from}")]);
        std::fs::write(there.join(file), content).expect("a file");
        self.git_in(&there, &["add", file]);
        self.git_in(&there, &["commit", "-q", "-m", "theirs"]);
        self.git_in(&there, &["push", "-q", "origin", branch]);
    }

    pub(super) fn repo(&self) -> Repo {
        Repo::discover(&self.work(), &Env::default()).expect("a repository")
    }

    /// Captures the push of lines `LOCAL REVISION REMOTE OLD`; OLD is a revision, or `-` for none.
    pub(super) fn push(&self, lines: &[[&str; 4]]) -> Selected {
        self.try_push(lines).expect("a push that can be read")
    }

    pub(super) fn try_push(&self, lines: &[[&str; 4]]) -> Result<Selected, GitError> {
        self.repo().pushed(&self.lines(lines), "origin", "../remote.git", &Options::default())
    }

    pub(super) fn lines(&self, lines: &[[&str; 4]]) -> Vec<PushLine> {
        let null = "0".repeat(self.repo().gix.object_hash().len_in_hex());
        let id = |revision: &str| match revision {
            "-" => null.clone(),
            hex if hex.len() >= 40 => hex.to_owned(),
            revision => self.id(revision),
        };
        let text: String = lines.iter().map(|[local, tip, remote, old]| format!("{local} {} {remote} {}\n", id(tip), id(old))).collect();
        parse_lines(text.as_bytes()).expect("well-formed lines")
    }
}

/// Names the files of a subject's change.
pub(super) fn files(subject: &Subject) -> Vec<String> {
    subject.change.files.iter().map(|file| file.path().to_string()).collect()
}

/// Names the files that a subject sets aside as published.
pub(super) fn published(subject: &Subject) -> Vec<String> {
    subject.change.already_published.iter().map(ToString::to_string).collect()
}

/// Returns the only subject.
pub(super) fn only(selected: &Selected) -> &Subject {
    assert_eq!(selected.subjects.len(), 1, "{:?}", selected.subjects.iter().map(files).collect::<Vec<_>>());
    &selected.subjects[0]
}
