//! What lies where a hook goes, and what that means for ours: the deciding half of `install` and `uninstall`. Reads the hooks folder, changes nothing.

use super::error::InstallError;
use super::shim::{Chain, Hook, is_ours, render};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Permissions of our script.
pub(super) const MODE: u32 = 0o755;
/// How pre-commit and prek rename a hook that they found; they run it first, with all of its input.
const BENEATH: &str = "legacy";
/// How lefthook renames a hook that it found; it never runs it.
const DISPLACED: &str = "old";

/// What someone else's hook is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A file with this content.
    File(Vec<u8>),
    /// A link to there.
    Link(PathBuf),
}

/// What lies at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A script of ours, of any version.
    Ours {
        /// Its content.
        content: Vec<u8>,
        /// Its permissions.
        mode: u32,
    },
    /// Someone else's hook: a script, a program, a link.
    Foreign {
        /// Its content, or what a link points to.
        what: What,
        /// git ignores a hook that cannot be executed.
        executable: bool,
    },
    /// Something that is no hook: git push hangs on a directory.
    NoFile,
}

/// Looks at a path without following a link.
///
/// # Errors
/// [`InstallError::Io`] where it cannot be read.
pub(super) fn look(path: &Path) -> Result<Found, InstallError> {
    let meta = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        other => other.map_err(|source| InstallError::io("look at", path, source))?,
    };
    if meta.is_symlink() {
        // A dangling link is skipped by git without a word; so it is not executable.
        let executable = fs::metadata(path).is_ok_and(|target| target.is_file() && target.permissions().mode() & 0o111 != 0);
        let target = fs::read_link(path).map_err(|source| InstallError::io("read", path, source))?;
        return Ok(Found::Foreign { what: What::Link(target), executable });
    }
    if !meta.is_file() {
        return Ok(Found::NoFile);
    }
    let content = fs::read(path).map_err(|source| InstallError::io("read", path, source))?;
    let mode = meta.permissions().mode() & 0o7777;
    Ok(if is_ours(&content) { Found::Ours { content, mode } } else { Found::Foreign { what: What::File(content), executable: mode & 0o111 != 0 } })
}

/// Where our script goes for one hook, and what is there.
#[derive(Debug)]
pub(super) struct Slot {
    /// The hook.
    pub hook: Hook,
    /// Where our script goes.
    pub path: PathBuf,
    /// What is there now.
    pub found: Found,
    /// Where a hook that was there is kept, always beside `path`.
    pub kept_path: PathBuf,
    /// What is kept there now.
    pub kept: Found,
    /// Our script where lefthook moved it; never run there.
    pub displaced: Option<PathBuf>,
    /// pre-commit or prek stand above and run what lies at `path`.
    pub beneath_framework: bool,
}

impl Slot {
    /// Looks at one hook in a hooks folder.
    ///
    /// Where pre-commit or prek hold the hook, ours goes beneath theirs: they run it first with all of its input, their installer expects it there,
    /// and chaining them instead would have each call the other once their installer has run again.
    ///
    /// # Errors
    /// [`InstallError::Io`] where something cannot be read.
    pub(super) fn of(hook: Hook, hooks_dir: &Path) -> Result<Slot, InstallError> {
        let top = hooks_dir.join(hook.name());
        let beneath = with_suffix(&top, BENEATH);
        let displaced = with_suffix(&top, DISPLACED);
        let at_top = look(&top)?;
        let beneath_framework = is_framework(&at_top);
        let (path, found) = if beneath_framework { (beneath.clone(), look(&beneath)?) } else { (top, at_top) };
        let kept_path = hooks_dir.join(hook.kept_name());
        let kept = look(&kept_path)?;
        let displaced = matches!(look(&displaced)?, Found::Ours { .. }).then_some(displaced);
        Ok(Slot { hook, path, found, kept_path, kept, displaced, beneath_framework })
    }

    /// Decides what an installation does here.
    ///
    /// # Errors
    /// [`InstallError::NoFile`] for a directory, [`InstallError::TwoForeign`] where a hook would have to be overwritten.
    pub(super) fn plan(&self, gate: &Path) -> Result<Plan, InstallError> {
        let kept_chain = chain(&self.kept);
        match &self.found {
            Found::NoFile => Err(InstallError::NoFile(self.path.clone())),
            Found::Nothing => Ok(Plan::Write(render(self.hook, gate, kept_chain))),
            Found::Ours { content, mode } => {
                let script = render(self.hook, gate, kept_chain);
                Ok(if *content == script && *mode == MODE { Plan::Nothing } else { Plan::Write(script) })
            }
            Found::Foreign { .. } if self.kept == Found::Nothing => Ok(Plan::MoveAsideAndWrite(render(self.hook, gate, chain(&self.found)))),
            // The same hook put back over ours by its own tool, or an installation that was interrupted: the copy that is kept loses nothing.
            Found::Foreign { .. } if self.found == self.kept => Ok(Plan::Write(render(self.hook, gate, kept_chain))),
            Found::Foreign { .. } => Err(InstallError::TwoForeign { found: self.path.clone(), kept: self.kept_path.clone() }),
        }
    }

    /// Returns every script of ours around this hook: where git runs it, where pre-commit does, and where nobody does.
    ///
    /// # Errors
    /// [`InstallError::Io`] where something cannot be read.
    pub(super) fn ours(hook: Hook, hooks_dir: &Path) -> Result<Vec<PathBuf>, InstallError> {
        let top = hooks_dir.join(hook.name());
        let mut ours = Vec::new();
        for path in [top.clone(), with_suffix(&top, BENEATH), with_suffix(&top, DISPLACED)] {
            if let Found::Ours { .. } = look(&path)? {
                ours.push(path);
            }
        }
        Ok(ours)
    }
}

/// What an installation does at one slot.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// It is as it should be.
    Nothing,
    /// Write this script.
    Write(Vec<u8>),
    /// Rename what is there to the kept name, then write this script.
    MoveAsideAndWrite(Vec<u8>),
}

fn chain(kept: &Found) -> Chain {
    match kept {
        Found::Foreign { executable: true, .. } => Chain::Kept,
        Found::Foreign { executable: false, .. } | Found::Nothing | Found::Ours { .. } | Found::NoFile => Chain::None,
    }
}

/// Tells whether a hook is the script that pre-commit or prek write, and one that git will run.
fn is_framework(found: &Found) -> bool {
    let Found::Foreign { what: What::File(content), executable: true } = found else { return false };
    framework(content).is_some()
}

/// Names the framework whose installer wrote a script.
pub(in crate::commands) fn framework(content: &[u8]) -> Option<&'static str> {
    let second = content.split(|byte| *byte == b'\n').nth(1).unwrap_or_default();
    let wrote = |name: &str| second.starts_with(format!("# File generated by {name}:").as_bytes());
    ["pre-commit", "prek"].into_iter().find(|name| wrote(name))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}
