//! Our hooks beside whatever is there (requirement G08), and taken out again so that all is as before.
//!
//! `slot.rs` decides, this file changes files, nothing prints: both functions return sentences for people.

use super::error::InstallError;
use super::place::{self, Place};
use super::shim::Hook;
use super::slot::{Found, MODE, Plan, Slot, What, look};
use super::words;
use crate::clock::{Deadline, Limit};
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

/// How long another installation in the same folder is waited for, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether it is done.
const POLL: Duration = Duration::from_millis(5);

/// Installs hooks that run the program at `gate`. Running it again changes nothing. Returns what was done, and what to know about it.
///
/// # Errors
/// An [`InstallError`] names the first thing in the way. Nothing is changed unless every hook can be installed.
pub(super) fn install(place: Place<'_>, hooks: &[Hook], gate: &Path) -> Result<Vec<String>, InstallError> {
    check_gate(gate)?;
    place::check_husky(place, hooks)?;
    place::check(place)?;
    fs::create_dir_all(place.hooks_dir).map_err(|source| InstallError::io("create", place.hooks_dir, source))?;
    let _lock = lock(place.hooks_dir)?;
    let mut planned = Vec::new();
    for hook in hooks {
        let slot = Slot::of(*hook, place.hooks_dir)?;
        let plan = slot.plan(gate)?;
        planned.push((slot, plan));
    }
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
pub(super) fn uninstall(place: Place<'_>, hooks: &[Hook]) -> Result<Vec<String>, InstallError> {
    place::check(place)?;
    let _lock = if place.hooks_dir.is_dir() { Some(lock(place.hooks_dir)?) } else { None };
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
            keep(&slot.path, &slot.kept_path)?;
            write(&slot.path, script).inspect_err(|_| {
                // The first error is the one to report. What was there is still in its place.
                let _ = fs::remove_file(&slot.kept_path);
            })
        }
    }
}

/// Gives what lies at `path` a second name, so that git finds it there until ours takes its place in one step. Never over something that is there.
fn keep(path: &Path, kept: &Path) -> Result<(), InstallError> {
    let failed = |source| InstallError::io("keep", path, source);
    match fs::hard_link(path, kept) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(failed(error)),
        // A file system without hard links, or a file of someone else's.
        Err(_) => match look(path)? {
            Found::Foreign { what: What::Link(target), .. } => symlink(target, kept).map_err(failed),
            Found::Foreign { what: What::File(_), .. } | Found::Nothing | Found::Ours { .. } | Found::NoFile => copy(path, kept).map_err(failed),
        },
    }
}

/// Copies a file, permissions included, so that it is whole once it has its name.
fn copy(path: &Path, kept: &Path) -> std::io::Result<()> {
    let file = tempfile::NamedTempFile::new_in(kept.parent().unwrap_or(Path::new("/")))?;
    fs::copy(path, file.path())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(kept).map(drop).map_err(|error| error.error)
}

/// Writes a script in one step: git sees the old hook or the new one, never a part; a link at `path` is replaced, not followed.
pub(super) fn write(path: &Path, script: &[u8]) -> Result<(), InstallError> {
    let failed = |source| InstallError::io("write", path, source);
    let dir = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    file.write_all(script).map_err(failed)?;
    file.as_file().set_permissions(Permissions::from_mode(MODE)).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}

/// Keeps other installations out of a folder until it is dropped; the system lets go of it when the process ends, however it ends.
pub(super) fn lock(dir: &Path) -> Result<File, InstallError> {
    let failed = |source| InstallError::io("lock", dir, source);
    let folder = File::open(dir).map_err(failed)?;
    let deadline = Deadline::after(PATIENCE, Limit::Lock);
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(folder),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if deadline.passed() => return Err(InstallError::Busy(dir.to_owned())),
            Err(TryLockError::WouldBlock) => std::thread::sleep(POLL.min(deadline.left())),
        }
    }
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
    if ours.is_empty() && look(&kept_path)? != Found::Nothing && look(&kept_path)? == look(&top)? {
        fs::remove_file(&kept_path).map_err(|source| InstallError::io("remove", &kept_path, source))?;
        said.push(format!("{name}: removed {}, a second name that an interrupted installation had left", kept_path.display()));
    }
    if ours.is_empty() && look(&kept_path)? != Found::Nothing {
        said.push(format!("{name}: {} was kept for a hook of ours that is gone; rename it if it is still wanted", kept_path.display()));
    }
    if said.is_empty() {
        said.push(format!("{name}: nothing of ours is installed in {}", hooks_dir.display()));
    }
    Ok(said)
}
