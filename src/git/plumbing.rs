//! The real git, asked for what gix cannot read. The one fallback of this module: whoever needs git's word gets it here.
//!
//! It is asked for names only, never for content: objects are read by id and hashed, whoever named them. What it says depends on the repository and on git's
//! own configuration files alone: the environment is made anew, and nothing that the repository chose is run or contacted (threat T4).

use super::GitError;
use crate::change::{BytePath, Oid};
use crate::clock::{Deadline, Limit};
use crate::env::Env;
use crate::transport::process::{self, Caps, Child, Ended, Environment, Output, Stderr};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long git may take for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most that is read of an answer, in bytes: half a million refs.
const CAPS: Caps = Caps { stdout: 64 << 20, stderr: 4 << 10 };

/// What git needs to find its configuration, as the user's git finds it: `safe.directory` and the like.
const ALLOWED: &[&str] = &["PATH", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// Switches off what could make git say something else than what is stored, write, or reach out.
const VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
const SETTINGS: &[&str] = &["core.fsmonitor=false", "core.commitGraph=false", "core.hooksPath=/dev/null", "protocol.allow=never"];

/// Where a ref leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// To an object.
    Object(Oid),
    /// To another ref, by its full name.
    Ref(BytePath),
}

/// Git, for one repository.
pub(super) struct Git {
    program: PathBuf,
    env: Environment,
    git_dir: PathBuf,
}

impl Git {
    /// Finds git on the `PATH`, at an absolute place. `git_dir` is the repository's, absolute; of a linked worktree its own.
    pub(super) fn at(git_dir: &Path, env: &Env) -> Result<Git, GitError> {
        let program = process::find_on_path("git", env).ok_or_else(|| GitError::Plumbing {
            doing: "find git",
            why: "there is none on the PATH, and this repository can only be read with its help".to_owned(),
        })?;
        let env = VARIABLES.iter().fold(Environment::only(env, ALLOWED), |env, (name, value)| env.with(*name, *value));
        Ok(Git { program, env, git_dir: git_dir.to_owned() })
    }

    /// Lists every ref with where it leads. Git leaves out those that lead nowhere.
    pub(super) fn refs(&self) -> Result<Vec<(BytePath, Target)>, GitError> {
        const DOING: &str = "list the refs with git";
        let said = self.told(DOING, &["for-each-ref", "--format=%(objectname)%00%(symref)%00%(refname)"])?;
        let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| parse(line).ok_or_else(|| unexpected(DOING, line))).collect()
    }

    /// Returns where HEAD leads: to a branch, which need not be there yet, or to a commit.
    pub(super) fn head(&self) -> Result<Target, GitError> {
        const DOING: &str = "read HEAD with git";
        let answer = self.ask(DOING, &["symbolic-ref", "--quiet", "HEAD"])?;
        match answer.ended {
            Ended::Exited(0) => Ok(Target::Ref(BytePath::new(answer.stdout.trim_ascii_end()))),
            // Git's way to say that HEAD is detached.
            Ended::Exited(1) => {
                let said = self.told(DOING, &["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD"])?;
                let oid = Oid::from_hex(said.trim_ascii_end()).ok_or_else(|| unexpected(DOING, &said))?;
                Ok(Target::Object(oid))
            }
            Ended::Exited(_) | Ended::Signalled(_) => Err(failed(DOING, &answer)),
        }
    }

    /// Asks, and takes only success for an answer.
    fn told(&self, doing: &'static str, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let answer = self.ask(doing, args)?;
        if answer.ended == Ended::Exited(0) { Ok(answer.stdout) } else { Err(failed(doing, &answer)) }
    }

    fn ask(&self, doing: &'static str, args: &[&str]) -> Result<Output, GitError> {
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(&self.git_dir);
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]).map(OsString::from);
        let child = Child {
            program: self.program.clone(),
            args: settings.chain([git_dir]).chain(args.iter().map(OsString::from)).collect(),
            env: self.env.clone(),
            cwd: self.git_dir.clone(),
            stdin: Vec::new(),
            stderr: Stderr::Captured,
        };
        process::run(child, Deadline::after(PATIENCE, Limit::Git), CAPS).map_err(|error| GitError::Plumbing { doing, why: error.to_string() })
    }
}

/// Reads a line of [`Git::refs`]: id, NUL, target of a symbolic ref, NUL, name.
fn parse(line: &[u8]) -> Option<(BytePath, Target)> {
    let mut fields = line.split(|byte| *byte == 0);
    let (oid, symref, name) = (fields.next()?, fields.next()?, fields.next()?);
    let target = if symref.is_empty() { Target::Object(Oid::from_hex(oid)?) } else { Target::Ref(BytePath::new(symref)) };
    fields.next().is_none().then(|| (BytePath::new(name), target))
}

fn unexpected(doing: &'static str, said: &[u8]) -> GitError {
    GitError::Plumbing { doing, why: format!("it said {:?}", BytePath::new(&said[..said.len().min(200)]).to_string()) }
}

fn failed(doing: &'static str, answer: &Output) -> GitError {
    let words = answer.stderr.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let why = match answer.ended {
        Ended::Exited(status) => format!("it ended with status {status}: {}", BytePath::new(words)),
        Ended::Signalled(signal) => format!("signal {signal} ended it"),
    };
    GitError::Plumbing { doing, why }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::World;
    use super::*;

    fn env() -> Env {
        Env::of_process()
    }

    fn oid(hex: &str) -> Oid {
        Oid::from_hex(hex.as_bytes()).expect("an id")
    }

    #[test]
    fn refs_and_head_are_as_git_has_them() {
        for format in [&[][..], &["--ref-format=reftable"]] {
            let world = World::empty(format);
            let git = Git::at(&world.work().join(".git"), &env()).expect("git");
            let main = Target::Ref(BytePath::from("refs/heads/main"));
            assert_eq!((git.refs().expect("refs"), git.head().expect("HEAD")), (Vec::new(), main.clone()));
            let tip = oid(&world.commit("a", "1\n"));
            world.git(&["push", "-q", "origin", "main"]);
            world.git(&["remote", "set-head", "origin", "main"]);
            assert_eq!(git.head().expect("HEAD"), main);
            world.git(&["checkout", "-q", "--detach"]);
            assert_eq!(git.head().expect("HEAD"), Target::Object(tip));
            let named = |name: &str, target| (BytePath::from(name), target);
            let expected = [
                named("refs/heads/main", Target::Object(tip)),
                named("refs/remotes/origin/HEAD", Target::Ref(BytePath::from("refs/remotes/origin/main"))),
                named("refs/remotes/origin/main", Target::Object(tip)),
            ];
            assert_eq!(git.refs().expect("refs"), expected);
        }
    }

    #[test]
    fn what_the_caller_and_the_repository_set_has_no_say() {
        let world = World::new();
        let marker = world.dir.path().join("ran");
        for key in ["core.fsmonitor", "core.pager", "core.sshCommand", "alias.for-each-ref"] {
            world.git(&["config", key, &format!("!touch {}", marker.display())]);
        }
        let elsewhere = World::empty(&[]);
        let hostile = [
            ("GIT_DIR", elsewhere.work().join(".git").into_os_string()),
            ("GIT_CONFIG_PARAMETERS", "'core.bare'='maybe'".into()),
            ("GIT_NAMESPACE", "x".into()),
            ("GIT_TRACE", marker.clone().into_os_string()),
            ("PATH", std::env::join_paths(std::env::split_paths(env().os("PATH").expect("a PATH"))).expect("a PATH")),
        ];
        let git = Git::at(&world.work().join(".git"), &Env::from_pairs(hostile)).expect("git");
        assert_eq!(git.refs().expect("refs").len(), 2);
        assert!(!marker.exists());
    }

    #[test]
    fn no_answer_is_an_error_that_names_the_question() {
        let world = World::new();
        let nobody = Git::at(&world.work(), &Env::from_pairs([("PATH", "relative:/nonexistent")]));
        assert!(nobody.is_err_and(|error| error.to_string().contains("none on the PATH")));
        let nowhere = Git::at(world.dir.path(), &env()).expect("git").refs().expect_err("no repository");
        assert!(nowhere.to_string().contains("list the refs with git") && nowhere.to_string().contains("status 128"), "{nowhere}");
        for line in [&b"x\0\0refs/heads/a"[..], b"", b"1111111111111111111111111111111111111111\0refs/heads/a"] {
            assert_eq!(parse(line), None, "{}", line.escape_ascii());
        }
    }
}
