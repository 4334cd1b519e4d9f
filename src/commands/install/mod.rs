//! `install` and `uninstall`: where hooks go in this repository, and whether there is anybody to ask.
//!
//! `place.rs` says which folder may be written to, `slot.rs` what becomes of a hook that is there, `hooks.rs` changes the files, `shim.rs` has the script,
//! `configured.rs` puts the hook into git's configuration instead, `managers.rs` knows other hook managers, `words.rs` tells people.

mod configured;
mod error;
mod hooks;
mod managers;
mod place;
mod shim;
#[cfg(test)]
mod shim_tests;
mod slot;
#[cfg(test)]
mod tests;
mod words;

pub(super) use managers::{LEFTHOOK_FILES, Manager};
pub(super) use shim::{Baked, Hook, baked, is_current, is_ours};
pub(super) use slot::framework;

use super::Context;
use super::asked::{Git, runs_config_hooks};
use super::eligible::somebody_may_answer;
use crate::cli::{HookName, InstallArgs, ModeName, UninstallArgs};
use crate::error::GateError;
use crate::exit::Told;
use crate::git::Repo;
use configured::Entries;
use error::InstallError;
use place::{Place, Reach, resolved};
use std::path::{Path, PathBuf};

/// Installs the hooks. Refuses where no reviewer could ever answer, because such a hook refuses everything (`--force` installs all the same).
///
/// # Errors
/// Status 2 with what is in the way.
pub(super) fn run(context: &Context, args: &InstallArgs) -> Result<Told, GateError> {
    if !args.force {
        somebody_may_answer(&context.user()?, &context.env).map_err(|nobody| {
            GateError::usage(format!("{}, so the hook would refuse every push", nobody.why))
                .hinted(nobody.remedy)
                .hinted("--force installs it all the same")
        })?;
    }
    let repo = context.repo()?;
    let gate = std::env::current_exe().map_err(|error| GateError::usage(error).while_doing("cannot find the path of this program"))?;
    // Asked before anything is written: where git takes hooks from no folder at all, there is nothing to write to.
    Git::find(context).ok().map(|git| git.hooks(&repo)).transpose()?;
    let (dirs, hooks) = (Dirs::of(&repo), wanted(&args.hooks));
    let as_files = || hooks::install(dirs.place(args.global), &hooks, &gate);
    let as_entries = || entries(context, &Git::find(context)?, &dirs, args.global, |entries| entries.install(&hooks, &gate));
    match args.mode {
        ModeName::File => checked(context, &repo, &dirs, as_files()),
        ModeName::Config => say(context, as_entries()?),
        ModeName::Auto => match as_files() {
            Err(error) if error.is_about_the_folder() && runs_config_hooks(&Git::find(context)?.version()?) => say(context, as_entries()?),
            end => checked(context, &repo, &dirs, end),
        },
    }
}

/// An installation that git does not look at is none (case P47): git itself is asked where it takes hooks from. Where it is not there, there is no push either.
fn checked(context: &Context, repo: &Repo, dirs: &Dirs, end: Result<Vec<String>, InstallError>) -> Result<Told, GateError> {
    let said = end.map_err(GateError::usage)?;
    let taken = Git::find(context).ok().map(|git| git.hooks(repo)).transpose()?;
    let same = |dir: &Path| resolved(dir) == resolved(&context.cwd.join(&dirs.hooks));
    if let Some(taken) = taken.filter(|taken| !same(&taken.dir)) {
        let whence = taken.set.map(|set| format!(" (core.hooksPath, {}, {})", set.scope, set.origin)).unwrap_or_default();
        let what = format!("the hook is in {}, but git takes hooks from {}{whence}", dirs.hooks.display(), taken.dir.display());
        return Err(GateError::usage(what).hinted("unset it there, or install where git looks; `review-gate doctor` tells when it is right"));
    }
    say(context, Ok([said, vec!["`review-gate doctor` proves that it blocks".to_owned()]].concat()))
}

/// Takes the gate's hooks out and puts back what was there.
///
/// # Errors
/// Status 2 with what is in the way.
pub(super) fn undo(context: &Context, args: &UninstallArgs) -> Result<Told, GateError> {
    let repo = context.repo()?;
    let dirs = Dirs::of(&repo);
    let hooks = if args.hooks.is_empty() { Hook::ALL.to_vec() } else { wanted(&args.hooks) };
    let entries = match Git::find(context) {
        Ok(git) => entries(context, &git, &dirs, args.global, |entries| entries.uninstall(&hooks))?.map_err(GateError::usage)?,
        // Without git there is nobody to ask about its configuration.
        Err(_) => Vec::new(),
    };
    match hooks::uninstall(dirs.place(args.global), &hooks) {
        // The folder is someone else's and the hook was not in it.
        Err(error) if error.is_about_the_folder() && !entries.is_empty() => say(context, Ok(entries)),
        files => say(context, files.map(|files| [entries, files].concat())),
    }
}

/// Does something with the hooks of git's configuration, of this repository or of the user.
fn entries(
    context: &Context,
    git: &Git,
    dirs: &Dirs,
    global: bool,
    act: impl Fn(&Entries<'_>) -> Result<Vec<String>, InstallError>,
) -> Result<Result<Vec<String>, InstallError>, GateError> {
    let (scope, own) = if global {
        let config = context.env.user_config().ok_or_else(|| GateError::usage("neither XDG_CONFIG_HOME nor HOME is set"))?;
        ("--global", config.parent().map(Path::to_owned).unwrap_or(config))
    } else {
        ("--local", context.cwd.join(&dirs.common).canonicalize().unwrap_or_else(|_| dirs.common.clone()).join("review-gate"))
    };
    Ok(act(&Entries { git, scope, scripts: own.join("hooks") }))
}

/// A commit that a merge makes does not run pre-commit, so whoever asks for that one gets both.
fn wanted(names: &[HookName]) -> Vec<Hook> {
    let mut hooks: Vec<Hook> = Vec::new();
    for name in names {
        let these: &[Hook] = match name {
            HookName::PrePush => &[Hook::PrePush],
            HookName::PreCommit => &[Hook::PreCommit, Hook::PreMergeCommit],
            HookName::PreMergeCommit => &[Hook::PreMergeCommit],
        };
        these.iter().filter(|hook| !hooks.contains(hook)).copied().collect::<Vec<_>>().into_iter().for_each(|hook| hooks.push(hook));
    }
    hooks
}

struct Dirs {
    hooks: PathBuf,
    common: PathBuf,
    work: Option<PathBuf>,
}

impl Dirs {
    fn of(repo: &Repo) -> Dirs {
        Dirs { hooks: repo.hooks_dir().path, common: repo.common_dir().to_owned(), work: repo.work_dir().map(ToOwned::to_owned) }
    }

    fn place(&self, global: bool) -> Place<'_> {
        let reach = if global { Reach::Shared } else { Reach::Repository };
        Place { hooks_dir: &self.hooks, common_dir: &self.common, work_dir: self.work.as_deref(), reach }
    }
}

fn say(context: &Context, said: Result<Vec<String>, InstallError>) -> Result<Told, GateError> {
    let said = said.map_err(GateError::usage)?;
    context.printer.result(said.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
    Ok(Told)
}
