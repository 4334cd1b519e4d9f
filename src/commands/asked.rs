//! Questions that only git itself can answer for `install` and `doctor`: what its configuration says in all its scopes, and which version it is.
//!
//! Asked with the caller's whole environment, because a variable can move all of it. What the gate judges is never read this way.

use super::Context;
use crate::clock::{Deadline, Limit};
use crate::env::Env;
use crate::error::GateError;
use crate::git::Repo;
use crate::transport::process::{self, Caps, Child, Ended, Environment, Output, Stderr, find_on_path};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// How long one question may take.
const QUESTION: Duration = Duration::from_secs(20);
/// The first git that runs hooks that stand in its configuration.
const CONFIG_HOOKS_SINCE: (u32, u32) = (2, 54);

/// Where git takes hooks from. All paths are absolute.
#[derive(Debug)]
pub(super) struct Hooks {
    /// Where they are if nothing is configured: below the common directory, for all worktrees.
    pub own_dir: PathBuf,
    /// Who says that they are elsewhere.
    pub set: Option<HooksPath>,
    /// Where they are.
    pub dir: PathBuf,
}

/// `core.hooksPath` as it is set.
#[derive(Debug, Clone)]
pub(super) struct HooksPath {
    /// The value, with `~` expanded.
    pub value: PathBuf,
    /// system, global, local, worktree, command.
    pub scope: String,
    /// The file or variable.
    pub origin: String,
}

/// The git that the user's own commands would start.
#[derive(Debug)]
pub(super) struct Git {
    /// Where it is.
    pub program: PathBuf,
    env: Env,
    cwd: PathBuf,
}

impl Git {
    /// Finds it.
    pub(super) fn find(context: &Context) -> Result<Git, GateError> {
        let program = find_on_path("git", &context.env).ok_or_else(|| GateError::usage("git is not on the PATH").hinted("install it"))?;
        Ok(Git { program, env: context.env.clone(), cwd: context.cwd.clone() })
    }

    /// Runs it to its end, whatever its status.
    pub(super) fn run(&self, args: &[&str]) -> Result<Output, GateError> {
        let child = Child {
            program: self.program.clone(),
            args: args.iter().map(Into::into).collect(),
            env: Environment::for_git(&self.env),
            cwd: self.cwd.clone(),
            stdin: Vec::new(),
            stderr: Stderr::Captured,
        };
        process::run(child, Deadline::after(QUESTION, Limit::Run), Caps { stdout: 1 << 22, stderr: 1 << 16 })
            .map_err(|error| GateError::usage(error).while_doing("cannot ask git"))
    }

    /// Puts a question. `None`: a status other than 0, which for `config` means that nothing is set.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<Vec<u8>>, GateError> {
        let output = self.run(args)?;
        Ok((output.ended == Ended::Exited(0)).then_some(output.stdout))
    }

    /// Asks where it takes hooks from in a repository.
    pub(super) fn hooks(&self, repo: &Repo) -> Result<Hooks, GateError> {
        let absolute = |path: &Path| self.cwd.join(path).canonicalize().unwrap_or_else(|_| self.cwd.join(path));
        let own_dir = absolute(repo.common_dir()).join("hooks");
        let asked = self.run(&["config", "--show-scope", "--show-origin", "-z", "--type=path", "--get", "core.hooksPath"])?;
        let set = match asked.ended {
            Ended::Exited(0) => hooks_path(&asked.stdout),
            // Not set; anything else is no answer, and a folder that was not asked for proves nothing.
            Ended::Exited(1) => None,
            Ended::Exited(_) | Ended::Signalled(_) => {
                let said = String::from_utf8_lossy(&asked.stderr).lines().next().unwrap_or_default().to_owned();
                return Err(GateError::usage(said).while_doing("git does not say where it takes hooks from (2.26 or newer is needed)"));
            }
        };
        if let Some(set) = set.as_ref().filter(|set| set.value.components().all(|part| part == Component::CurDir)) {
            let what =
                format!("core.hooksPath is set to {:?} ({}, {}), so git runs no hook that could be installed", set.value, set.scope, set.origin);
            return Err(GateError::usage(what).hinted(format!("take it out: `git config --{} --unset core.hooksPath`", set.scope)));
        }
        // Relative: below the directory that the hook runs in.
        let top = absolute(repo.work_dir().unwrap_or(repo.git_dir()));
        let dir = set.as_ref().map_or_else(|| own_dir.clone(), |set| top.join(&set.value));
        Ok(Hooks { own_dir, set, dir })
    }

    /// Returns its version, as it says it.
    pub(super) fn version(&self) -> Result<String, GateError> {
        let answer = self.ask(&["version"])?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&answer).trim().trim_start_matches("git version ").to_owned())
    }
}

/// Tells whether a git of that version runs hooks that stand in its configuration; older ones pass over the keys without a word.
pub(super) fn runs_config_hooks(version: &str) -> bool {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= CONFIG_HOOKS_SINCE
}

fn hooks_path(answer: &[u8]) -> Option<HooksPath> {
    let mut parts = answer.split(|byte| *byte == 0);
    let text = |part: Option<&[u8]>| part.map(|part| String::from_utf8_lossy(part).into_owned());
    let (scope, origin) = (text(parts.next())?, text(parts.next())?);
    Some(HooksPath { value: OsStr::from_bytes(parts.next()?).into(), scope, origin })
}

/// Splits what `config -z --get-regexp` writes: key, line end, value, NUL.
pub(super) fn pairs(answer: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(answer);
    let entries = text.split('\0').filter(|entry| !entry.is_empty());
    entries.map(|entry| entry.split_once('\n').unwrap_or((entry, "true"))).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let table = [
            ("2.47.3", false),
            ("2.54.0", true),
            ("2.100.0", true),
            ("2.53.9 (Apple Git-154)", false),
            ("3.0.0", true),
            ("2.54.0-rc1", true),
            ("two.54", false),
            ("", false),
        ];
        for (text, runs) in table {
            assert_eq!(runs_config_hooks(text), runs, "{text}");
        }
    }

    #[test]
    fn a_key_without_a_value_is_true() {
        let read = pairs(b"hook.a.enabled\0hook.a.command\nx\ny\0");
        assert_eq!(read, [("hook.a.enabled".to_owned(), "true".to_owned()), ("hook.a.command".to_owned(), "x\ny".to_owned())]);
    }

    #[test]
    fn where_the_hooks_path_was_set_is_told() {
        let set = hooks_path(b"global\0file:/home/u/.gitconfig\0/home/u/hooks\0").unwrap();
        assert_eq!((set.scope.as_str(), set.origin.as_str(), set.value.as_path()), ("global", "file:/home/u/.gitconfig", Path::new("/home/u/hooks")));
        assert!(hooks_path(b"").is_none());
    }
}
