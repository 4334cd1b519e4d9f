//! `install`: our hooks beside whatever is there (requirement G08), and `uninstall`, which leaves what was there before.
//!
//! The caller says which folder git takes hooks from, and whether a reviewer is eligible. `slot.rs` decides, this file changes files, nothing prints:
//! both return sentences for people.

mod managers;
mod place;
mod shim;
#[cfg(test)]
mod shim_tests;
mod slot;
#[cfg(test)]
mod tests;
mod words;

pub use managers::Manager;
pub use place::{Place, Reach};
pub use shim::Hook;

use slot::{Found, MODE, Plan, Slot, look};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why nothing was changed for a hook, with the way to mend it.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// `core.hooksPath=/dev/null` and the like.
    #[error(
        "hooks are switched off: core.hooksPath names {}, which is no folder; unset it (`git config --show-origin --get core.hooksPath` tells where \
         it is set) and run this again",
        .0.display()
    )]
    HooksOff(PathBuf),
    /// The folder does not belong to this repository alone.
    #[error(
        "{} lies outside this repository: a hook there would run in every repository that uses it; give --global if that is meant, else unset \
         core.hooksPath here",
        .0.display()
    )]
    Outside(PathBuf),
    /// husky rewrites its own folder; its users' hooks lie one level up, are committed, and must not name a path of this machine.
    #[error(
        "husky holds the hooks here and rewrites {}; put these lines into {}, before anything that reads its input:\n{stanza}",
        .hooks_dir.display(),
        .file.display()
    )]
    Husky {
        /// husky's folder.
        hooks_dir: PathBuf,
        /// The file to put the stanza into.
        file: PathBuf,
        /// The stanza, indented.
        stanza: String,
    },
    /// A hook must be a file.
    #[error("{} is not a file; git cannot run it and `git push` hangs on it; remove it and install again", .0.display())]
    NoFile(PathBuf),
    /// Two hooks of others, and only one name to keep one under.
    #[error(
        "{} is not ours, and an earlier hook is kept at {} already; merge the two into one of them, remove the other, and install again",
        .found.display(),
        .kept.display()
    )]
    TwoForeign {
        /// The hook that git runs now.
        found: PathBuf,
        /// The hook that ours would run first.
        kept: PathBuf,
    },
    /// The hook would refuse everything.
    #[error("{} is not a program that a hook can run by its full path", .0.display())]
    NoGate(PathBuf),
    /// The system refused.
    #[error("could not {doing} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl InstallError {
    fn io(doing: &'static str, path: &Path, source: io::Error) -> InstallError {
        InstallError::Io { doing, path: path.to_owned(), source }
    }
}

/// Installs hooks that run the program at `gate`. Running it again changes nothing. Returns what was done, and what to know about it.
///
/// # Errors
/// An [`InstallError`] names the first thing in the way. Nothing is changed unless every hook can be installed.
pub fn install(place: Place<'_>, hooks: &[Hook], gate: &Path) -> Result<Vec<String>, InstallError> {
    check_gate(gate)?;
    place::check_husky(place, hooks)?;
    place::check(place)?;
    let mut planned = Vec::new();
    for hook in hooks {
        let slot = Slot::of(*hook, place.hooks_dir)?;
        let plan = slot.plan(gate)?;
        planned.push((slot, plan));
    }
    fs::create_dir_all(place.hooks_dir).map_err(|source| InstallError::io("create", place.hooks_dir, source))?;
    let mut said = Vec::new();
    for (slot, plan) in planned {
        carry_out(&slot, &plan)?;
        said.extend(words::describe(&slot, &plan));
    }
    said.extend(words::notes(place, hooks, gate));
    Ok(said)
}

/// Takes our hooks out and puts back what was there before, bytes and permissions; files without our marker stay. `core.hooksPath` is left alone.
///
/// # Errors
/// [`InstallError::Outside`] for a shared folder without [`Reach::Shared`], [`InstallError::Io`] where the system refuses.
pub fn uninstall(place: Place<'_>, hooks: &[Hook]) -> Result<Vec<String>, InstallError> {
    place::check(place)?;
    let mut said = Vec::new();
    for hook in hooks {
        said.extend(take_out(*hook, place.hooks_dir)?);
    }
    Ok(said)
}

fn check_gate(gate: &Path) -> Result<(), InstallError> {
    let runs = fs::metadata(gate).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if gate.is_absolute() && runs { Ok(()) } else { Err(InstallError::NoGate(gate.to_owned())) }
}

fn carry_out(slot: &Slot, plan: &Plan) -> Result<(), InstallError> {
    match plan {
        Plan::Nothing => Ok(()),
        Plan::Write(script) => write(&slot.path, script),
        Plan::MoveAsideAndWrite(script) => {
            rename(&slot.path, &slot.kept_path)?;
            write(&slot.path, script).inspect_err(|_| {
                // The first error is the one to report.
                let _ = rename(&slot.kept_path, &slot.path);
            })
        }
    }
}

/// Writes a script in one step: git sees the old hook or the new one, never a part; a link at `path` is replaced, not followed.
fn write(path: &Path, script: &[u8]) -> Result<(), InstallError> {
    let failed = |source| InstallError::io("write", path, source);
    let dir = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    file.write_all(script).map_err(failed)?;
    file.as_file().set_permissions(Permissions::from_mode(MODE)).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}

fn rename(from: &Path, to: &Path) -> Result<(), InstallError> {
    fs::rename(from, to).map_err(|source| InstallError::io("rename", from, source))
}

fn take_out(hook: Hook, hooks_dir: &Path) -> Result<Vec<String>, InstallError> {
    let name = hook.name();
    let kept_path = hooks_dir.join(hook.kept_name());
    let ours = Slot::ours(hook, hooks_dir)?;
    let mut said = Vec::new();
    for path in &ours {
        if let Found::Foreign { .. } = look(&kept_path)? {
            rename(&kept_path, path)?;
            said.push(format!("{name}: removed {}; the hook that was there before is back", path.display()));
        } else {
            fs::remove_file(path).map_err(|source| InstallError::io("remove", path, source))?;
            said.push(format!("{name}: removed {}", path.display()));
        }
    }
    let top = hooks_dir.join(name);
    if ours.first() != Some(&top)
        && let Found::Foreign { .. } = look(&top)?
    {
        said.push(format!("{name}: {} is not ours and stays as it is", top.display()));
    }
    if ours.is_empty() && look(&kept_path)? != Found::Nothing {
        said.push(format!("{name}: {} was kept for a hook of ours that is gone; rename it if it is still wanted", kept_path.display()));
    }
    if said.is_empty() {
        said.push(format!("{name}: nothing of ours is installed in {}", hooks_dir.display()));
    }
    Ok(said)
}
