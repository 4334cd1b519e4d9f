//! `install` and `uninstall`: where hooks go in this repository, and whether there is anybody to ask.
//!
//! `place.rs` says which folder may be written to, `slot.rs` what becomes of a hook that is there, `hooks.rs` changes the files, `shim.rs` has the script,
//! `managers.rs` knows other hook managers, `words.rs` tells people.

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

use super::Context;
use super::eligible::somebody_may_answer;
use crate::cli::{HookName, InstallArgs, UninstallArgs};
use crate::error::GateError;
use crate::exit::Told;
use crate::git::Repo;
use error::InstallError;
use place::{Place, Reach};
use shim::Hook;
use std::path::PathBuf;

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
    say(context, hooks::install(Dirs::of(&repo).place(args.global), &wanted(&args.hooks), &gate))
}

/// Takes the gate's hooks out and puts back what was there.
///
/// # Errors
/// Status 2 with what is in the way.
pub(super) fn undo(context: &Context, args: &UninstallArgs) -> Result<Told, GateError> {
    let repo = context.repo()?;
    let hooks = if args.hooks.is_empty() { Hook::ALL.to_vec() } else { wanted(&args.hooks) };
    say(context, hooks::uninstall(Dirs::of(&repo).place(args.global), &hooks))
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
