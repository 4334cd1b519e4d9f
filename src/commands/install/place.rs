//! The folder that hooks go to, and whether it is one that an installation may write to.
//!
//! Leaves to the caller: asking git which folder it is.

use super::error::InstallError;
use super::managers::Manager;
use super::shim::Hook;
use std::path::{Path, PathBuf};

/// How far an installation may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// This repository only.
    Repository,
    /// Also a hooks folder that other repositories share (`--global`).
    Shared,
}

/// Where hooks go. All paths are absolute.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The folder that git takes hooks from: `git rev-parse --path-format=absolute --git-path hooks`, which respects `core.hooksPath`.
    pub hooks_dir: &'a Path,
    /// The git directory that all worktrees of the repository share.
    pub common_dir: &'a Path,
    /// The top of the working tree; `None` in a bare repository.
    pub work_dir: Option<&'a Path>,
    /// How far to reach.
    pub reach: Reach,
}

/// Refuses husky's own folder, which husky rewrites.
///
/// # Errors
/// [`InstallError::Husky`] with the stanza for the file that its users keep.
pub(super) fn check_husky(place: Place<'_>, hooks: &[Hook]) -> Result<(), InstallError> {
    let Some(husky) = place.hooks_dir.parent().filter(|parent| place.hooks_dir.ends_with("_") && parent.ends_with(".husky")) else {
        return Ok(());
    };
    let Some(hook) = hooks.first() else { return Ok(()) };
    let (hooks_dir, file, stanza) = (place.hooks_dir.to_owned(), husky.join(hook.name()), Manager::Husky.stanza(*hook));
    Err(InstallError::Husky { hooks_dir, file, stanza })
}

/// Refuses what is no folder, and a folder of another reach than was asked for.
///
/// # Errors
/// [`InstallError::HooksOff`], [`InstallError::Outside`], or [`InstallError::NotShared`] where a shared one was asked for and there is none.
pub(super) fn check(place: Place<'_>) -> Result<(), InstallError> {
    if place.hooks_dir.exists() && !place.hooks_dir.is_dir() {
        return Err(InstallError::HooksOff(place.hooks_dir.to_owned()));
    }
    let dir = resolved(place.hooks_dir);
    let inside = [Some(place.common_dir), place.work_dir].into_iter().flatten().any(|own| dir.starts_with(resolved(own)));
    match (inside, place.reach) {
        (true, Reach::Repository) | (false, Reach::Shared) => Ok(()),
        (true, Reach::Shared) => Err(InstallError::NotShared),
        (false, Reach::Repository) => Err(InstallError::Outside(place.hooks_dir.to_owned())),
    }
}

/// Follows links in the part of a path that exists, so that a link cannot make a folder look like one of this repository.
pub(super) fn resolved(path: &Path) -> PathBuf {
    for existing in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (existing.canonicalize(), path.strip_prefix(existing)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}
