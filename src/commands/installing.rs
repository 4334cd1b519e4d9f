//! The verbs `install` and `uninstall`: where hooks go in this repository, and whether there is anybody to ask. What is done there is `install/`'s business.

use super::Context;
use super::install::{self, Hook, InstallError, Place, Reach};
use crate::author::{Author, Stated};
use crate::cli::{HookName, InstallArgs, UninstallArgs};
use crate::error::GateError;
use crate::exit::Told;
use crate::git::Repo;
use crate::plan;
use crate::reviewer::{Provider, Spec};
use crate::tier::Tier;
use std::path::PathBuf;

/// Installs the hooks. Refuses where no reviewer could ever answer, because such a hook refuses everything (`--force` installs all the same).
///
/// # Errors
/// Status 2 with what is in the way.
pub(super) fn install(context: &Context, args: &InstallArgs) -> Result<Told, GateError> {
    if !args.force {
        somebody_may_answer(context)?;
    }
    let repo = context.repo()?;
    let gate = std::env::current_exe().map_err(|error| GateError::usage(error).while_doing("cannot find the path of this program"))?;
    let hooks = wanted(&args.hooks);
    let dirs = Dirs::of(&repo);
    let said = install::install(dirs.place(args.global), &hooks, &gate);
    say(context, said)
}

/// Takes the gate's hooks out and puts back what was there.
///
/// # Errors
/// Status 2 with what is in the way.
pub(super) fn uninstall(context: &Context, args: &UninstallArgs) -> Result<Told, GateError> {
    let repo = context.repo()?;
    let hooks = if args.hooks.is_empty() { Hook::ALL.to_vec() } else { wanted(&args.hooks) };
    let dirs = Dirs::of(&repo);
    let said = install::uninstall(dirs.place(args.global), &hooks);
    say(context, said)
}

/// Refuses where the plan for the smallest change would find nobody to ask.
fn somebody_may_answer(context: &Context) -> Result<(), GateError> {
    let user = context.user()?;
    let specs: Vec<Spec> = user.enabled().map(|entry| entry.spec.clone()).filter(|spec| spec.provider != Provider::Cli).collect();
    let stated: Vec<Stated> = user.stated().into_iter().collect();
    let author = Author::detect(&stated, &context.env, &[]);
    match plan::plan(Tier::Light, author.kind(), author.families(), &specs, user.same_family) {
        Ok(_) => Ok(()),
        Err(error) => Err(GateError::usage(format!("{error}, so the hook would refuse every push"))
            .hinted("run `review-gate init`, or add a reviewer of another family to your configuration")
            .hinted("--force installs it all the same")),
    }
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
