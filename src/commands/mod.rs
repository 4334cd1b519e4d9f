//! One verb a file. A verb reads what it needs, hands values to the stages, and says how it ended; it does nothing that a stage could do.

mod asked;
mod config;
mod demo;
mod diff;
mod doctor;
mod eligible;
mod gate;
mod hook;
mod init;
mod install;
mod interrupt;
mod log;
mod overrides;
mod peer;
mod prompt;
mod run;
mod tier;

use crate::cli::{Cli, Verb};
use crate::config::{ConfigError, User, load_user};
use crate::env::{Env, NESTED};
use crate::error::GateError;
use crate::exit::{Code, ExitStatus, PassProof, Refusal, Told};
use crate::git::{GitError, Repo};
use crate::report::printer::{Place, Printer};
use interrupt::Parent;
use std::path::PathBuf;

/// What every verb is given.
pub(crate) struct Context {
    env: Env,
    printer: Printer,
    cwd: PathBuf,
    config: Option<PathBuf>,
    parent: Parent,
}

impl Context {
    fn repo(&self) -> Result<Repo, GateError> {
        Ok(Repo::discover(&self.cwd, &self.env)?)
    }

    fn user(&self) -> Result<User, GateError> {
        Ok(load_user(self.config.as_deref(), &self.env)?)
    }

    /// Refuses to run inside a reviewer that the gate itself started: a guard that lets a nested run pass would be a bypass for whoever sets it (case P61).
    fn not_nested(&self) -> Result<(), GateError> {
        match self.env.os(NESTED) {
            None => Ok(()),
            Some(_) => Err(GateError::usage("nested run: review-gate was started by a reviewer of review-gate")
                .hinted(format!("unset {NESTED} if that is not so; the variable never lets anything pass"))),
        }
    }
}

/// How a gate ends.
type Gated = Result<PassProof, Refusal>;

/// Runs the verb.
///
/// # Errors
/// Whatever keeps it from being done, with its status.
pub(crate) fn run(cli: Cli, env: &Env, printer: Printer) -> Result<ExitStatus, GateError> {
    let cwd = std::env::current_dir().map_err(|error| GateError::usage(error).while_doing("cannot tell the current directory"))?;
    let mut context = Context { env: env.clone(), printer, cwd, config: cli.common.config.clone(), parent: Parent::now() };
    let told = match &cli.verb {
        Verb::Run(args) => return run::run(&context, args),
        Verb::Hook(hook) => {
            context.printer = Printer::new(Place::Stderr, cli.common.volume(), cli.common.color.into(), env.os("NO_COLOR").is_some());
            return hook::run(&context, hook).map(ended);
        }
        Verb::Diff(args) => diff::run(&context, args),
        Verb::Prompt(args) => prompt::run(&context, args),
        Verb::Tier(args) => tier::run(&context, args),
        Verb::Init(args) => init::run(&context, args),
        Verb::Install(args) => install::run(&context, args),
        Verb::Uninstall(args) => install::undo(&context, args),
        Verb::Doctor(args) => doctor::run(&context, args),
        Verb::Config(args) => config::run(&context, args),
        Verb::Override(args) => overrides::run(&context, args),
        Verb::Log(args) => log::run(&context, args),
        Verb::Demo => demo::run(env, printer).map(|()| Told),
    };
    told.map(ExitStatus::told)
}

fn ended(gated: Gated) -> ExitStatus {
    match gated {
        Ok(proof) => ExitStatus::pass(proof),
        Err(Refusal(code)) => ExitStatus::refuse(code),
    }
}

impl From<GitError> for GateError {
    fn from(error: GitError) -> GateError {
        let code = match &error {
            GitError::Integrity { .. } => Code::Integrity,
            GitError::Unmerged { .. } => Code::NeedsHuman,
            GitError::Missing { .. } | GitError::Kind { .. } | GitError::Malformed { .. } => Code::Integrity,
            GitError::NotARepository { .. }
            | GitError::Unsupported { .. }
            | GitError::Index { .. }
            | GitError::Unborn
            | GitError::Bare
            | GitError::BadRevision { .. }
            | GitError::UnknownRemote { .. }
            | GitError::BadPath { .. }
            | GitError::Changed { .. }
            | GitError::Io { .. }
            | GitError::Plumbing { .. }
            | GitError::Other { .. } => Code::Usage,
        };
        GateError::new(code, error)
    }
}

impl From<ConfigError> for GateError {
    fn from(error: ConfigError) -> GateError {
        GateError::new(Code::Usage, error)
    }
}
