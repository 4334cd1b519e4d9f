//! What can be in the way of an installation, each with the way to mend it. Status 2 at the edge.

use std::io;
use std::path::{Path, PathBuf};

/// Why nothing was changed for a hook, with the way to mend it.
#[derive(Debug, thiserror::Error)]
pub(super) enum InstallError {
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
    /// `--global`, where no folder is shared.
    #[error(
        "--global: no core.hooksPath names a folder that repositories share; set one (`git config --global core.hooksPath DIR`; git then runs no hook of \
         a repository's own folder any more), or use git 2.54 or newer, whose configuration holds hooks (--mode config)"
    )]
    NotShared,
    /// Another installation has been at work for longer than it can take.
    #[error("another installation is at work in {}; try again when it is done", .0.display())]
    Busy(PathBuf),
    /// Hooks in the configuration are passed over without a word by an older git.
    #[error("git {0} does not run hooks of its configuration (2.54 does); leave --mode config out")]
    TooOld(String),
    /// git did not do what it was asked.
    #[error("{0}")]
    Git(String),
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
    /// Tells whether the hook's folder is in the way, and not the hook: hooks of git's configuration need no folder.
    pub(super) fn is_about_the_folder(&self) -> bool {
        match self {
            InstallError::Outside(_) | InstallError::Husky { .. } | InstallError::NotShared => true,
            // Whoever switched all hooks off is told so.
            InstallError::HooksOff(_)
            | InstallError::NoFile(_)
            | InstallError::TwoForeign { .. }
            | InstallError::Busy(_)
            | InstallError::TooOld(_)
            | InstallError::Git(_)
            | InstallError::NoGate(_)
            | InstallError::Io { .. } => false,
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> InstallError {
        InstallError::Io { doing, path: path.to_owned(), source }
    }
}
