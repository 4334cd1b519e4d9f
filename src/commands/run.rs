//! `run`: review a change now.

use super::gate::{self, Request, Sink};
use super::{Context, ended};
use crate::author::Who;
use crate::cli::{OutputArgs, RunArgs, SelectorArgs};
use crate::config::{Stage, User};
use crate::error::GateError;
use crate::exit::ExitStatus;
use crate::git::{Options, Repo, Selector};
use crate::report::progress::Channel;
use crate::tier::Tier;
use std::ffi::OsString;
use std::time::Duration;

/// Runs the gate on what the selector names.
///
/// # Errors
/// Usage, configuration, git and ledger errors, each with its status.
pub(super) fn run(context: &Context, args: &RunArgs) -> Result<ExitStatus, GateError> {
    context.not_nested()?;
    let user = context.user()?;
    judge(context, &user, args).inspect_err(|error| gate::tell_error(context, &sink(&args.output), error))
}

fn judge(context: &Context, user: &User, args: &RunArgs) -> Result<ExitStatus, GateError> {
    let authors = args.author.iter().map(|word| author(word, &user.families())).collect::<Result<_, _>>()?;
    let tier = args.tier.as_deref().map(tier).transpose()?;
    let repo = context.repo()?;
    let selected = repo.select(&selector(&args.selector)?, &options(context, &repo, &args.selector.files, true)?)?;
    let deadline = args.deadline.map_or(user.deadline, Duration::from_secs);
    let request = Request {
        stage: Stage::Run,
        name: "run",
        remote: selected.remote.clone(),
        selected,
        authors,
        tier,
        reviewers: args.reviewer.clone(),
        deadline,
        narrowed: !args.selector.files.is_empty(),
        override_reason: args.override_reason.clone(),
        progress: Channel::Stderr,
        sink: sink(&args.output),
    };
    if args.dry_run {
        return gate::dry_run(context, &repo, user, request).map(ExitStatus::told);
    }
    Ok(ended(gate::gate(context, &repo, user, request)?))
}

pub(super) fn sink(output: &OutputArgs) -> Sink {
    Sink { format: output.format, file: output.output.clone() }
}

/// Reads the selector flags; `--staged` is the default.
pub(super) fn selector(args: &SelectorArgs) -> Result<Selector, GateError> {
    let malformed =
        |text: &str| GateError::usage(format!("--range {text}: not of the form A..B")).hinted("name both ends, for instance --range main..HEAD");
    Ok(match args {
        SelectorArgs { worktree: true, .. } => Selector::Worktree,
        SelectorArgs { all: true, .. } => Selector::All { base: None },
        SelectorArgs { base: Some(base), .. } => Selector::Base(base.clone()),
        SelectorArgs { range: Some(range), .. } => Selector::range(range).ok_or_else(|| malformed(range))?,
        SelectorArgs { push: Some(remote), .. } => Selector::Push { remote: remote.clone() },
        SelectorArgs { .. } => Selector::Staged,
    })
}

/// Builds the capture options; `files`, read from where they were typed, narrow.
pub(super) fn options(context: &Context, repo: &Repo, files: &[OsString], renames: bool) -> Result<Options, GateError> {
    let only = files.iter().map(|file| repo.path_in_repo(&context.cwd, file)).collect::<Result<_, _>>()?;
    Ok(Options { renames, only })
}

fn author(word: &str, declared: &[crate::family::Family]) -> Result<Who, GateError> {
    let unknown = || {
        GateError::usage(format!("--author {word}: not a known family")).hinted("name a model family such as anthropic, openai or google, or `human`")
    };
    Who::parse(word, declared).ok_or_else(unknown)
}

fn tier(word: &str) -> Result<Tier, GateError> {
    Tier::parse(word).ok_or_else(|| GateError::usage(format!("--tier {word}: not a tier")).hinted("use light, standard or full"))
}
