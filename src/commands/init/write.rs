//! What `init` does to files: a new configuration is private, in one step, and never over one that is there. Nothing prints: sentences for people are returned.

use super::choice::Choice;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What becomes of a configuration that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// It stays.
    Keep,
    /// It is renamed to `….bak` (`--force`).
    BackUp,
}

/// Why the configuration could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum InitError {
    /// Nobody says where configuration lives.
    #[error("there is no place for the configuration: neither XDG_CONFIG_HOME nor HOME is set")]
    NoPlace,
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

/// Writes the configuration that was chosen to `path`, readable by its owner only, and returns what to tell. A choice without one writes nothing.
///
/// # Errors
/// [`InitError::NoPlace`] without a path, [`InitError::Io`] where the system refuses.
pub(super) fn write(choice: Choice, path: Option<&Path>, existing: Existing) -> Result<Vec<String>, InitError> {
    let path = path.ok_or(InitError::NoPlace)?;
    let mut said = choice.explanation;
    let Some(text) = choice.config_text else { return Ok(said) };
    match (fs::symlink_metadata(path).is_ok(), existing) {
        (true, Existing::Keep) => {
            said.push(format!("{} is there already and stays as it is; --force writes a new one and keeps the old as .bak", path.display()));
            return Ok(said);
        }
        (true, Existing::BackUp) => {
            let backup = free_backup_name(path);
            fs::rename(path, &backup).map_err(|source| InitError::Io { doing: "rename", path: path.to_owned(), source })?;
            said.push(format!("the configuration that was there is kept at {}", backup.display()));
        }
        (false, Existing::Keep | Existing::BackUp) => {}
    }
    write_new(path, &text)?;
    said.push(format!("wrote {}", path.display()));
    Ok(said)
}

/// Writes a new file in one step, never over one that appeared meanwhile.
fn write_new(path: &Path, text: &str) -> Result<(), InitError> {
    let failed = |source| InitError::Io { doing: "write", path: path.to_owned(), source };
    let dir = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    // A temporary file is readable by its owner only, and keeps that under its new name.
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist_noclobber(path).map(drop).map_err(|error| failed(error.error))
}

fn free_backup_name(path: &Path) -> PathBuf {
    let named = |suffix: String| {
        let mut name = OsString::from(path);
        name.push(suffix);
        PathBuf::from(name)
    };
    let numbered = (1u32..).map(|n| named(format!(".bak.{n}")));
    std::iter::once(named(".bak".to_owned()))
        .chain(numbered)
        .find(|name| fs::symlink_metadata(name).is_err())
        .unwrap_or_else(|| named(".bak".to_owned()))
}
