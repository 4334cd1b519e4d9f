//! The hooks: what git, or a framework, calls. Everything for people goes to stderr.

use super::gate::{self, Request};
use super::run::sink;
use super::{Context, Gated};
use crate::cli::{Format, HookArgs, HookVerb, OutputArgs, PrePushArgs};
use crate::config::{Stage, User};
use crate::env::PRE_COMMIT;
use crate::error::GateError;
use crate::git::{FrameworkPush, Options, Repo, Selected, Selector, parse_lines};
use crate::report::progress::Channel;
use std::io::Read;

/// The most that is read of the ref lines, in bytes: 20,000 refs with long names fit many times.
const MAX_LINES: u64 = 64 << 20;

/// The hook of a merge that git commits by itself.
const MERGE: &str = "pre-merge-commit";

/// A hook judges all of a change.
const WHOLE: Options = Options { renames: true, only: Vec::new() };

/// Runs a hook.
///
/// # Errors
/// Usage, configuration, git and ledger errors, each with its status.
pub(super) fn run(context: &Context, hook: &HookVerb) -> Result<Gated, GateError> {
    match hook {
        HookVerb::PrePush(args) => pre_push(context, args),
        HookVerb::PreCommit(args) => commit(context, args, "pre-commit"),
        HookVerb::PreMergeCommit(args) => commit(context, args, MERGE),
    }
}

fn pre_push(context: &Context, args: &PrePushArgs) -> Result<Gated, GateError> {
    // All of stdin first: git waits for it, and a guard that refuses before reading would hide the real message behind a broken pipe.
    let stdin = read_lines()?;
    context.not_nested()?;
    let user = context.user()?;
    let judged = pre_push_of(context, &user, args, &stdin);
    judged.inspect_err(|error| gate::tell_error(context, &sink(&args.output), error))
}

fn pre_push_of(context: &Context, user: &User, args: &PrePushArgs, stdin: &[u8]) -> Result<Gated, GateError> {
    let repo = context.repo()?;
    let text = |arg: &Option<std::ffi::OsString>| arg.as_ref().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default();
    let (remote, url) = (text(&args.remote), text(&args.url));
    let (selected, remote) = pushed(context, &repo, args.from_git, stdin, &remote, &url)?;
    judge(context, &repo, user, "pre-push", selected, Some(remote), &args.output)
}

/// Finds out what is pushed: by git's lines, or under a framework by its variables. No lines mean "up to date" only where the caller is known to pass them on.
fn pushed(context: &Context, repo: &Repo, from_git: bool, stdin: &[u8], remote: &str, url: &str) -> Result<(Selected, String), GateError> {
    let lines = parse_lines(stdin)
        .map_err(|error| GateError::usage(error).hinted("this is what git should have written to the hook; nothing was reviewed"))?;
    if !lines.is_empty() || from_git {
        return Ok((repo.pushed(&lines, remote, url, &WHOLE)?, remote.to_owned()));
    }
    match FrameworkPush::of(&context.env) {
        Some(push) => Ok((repo.framework(&push, &WHOLE)?, push.remote_name)),
        None => Err(GateError::usage("no ref list on stdin: your hook manager is not forwarding it")
            .hinted("lefthook: a script with `use_stdin: true` that ends with `exec review-gate hook pre-push --from-git -- \"$@\"`")
            .hinted("a hook of your own: `exec review-gate hook pre-push --from-git -- \"$@\"` before anything that reads stdin")
            .hinted("to review by hand what a push would send: `review-gate run --push`")),
    }
}

fn commit(context: &Context, args: &HookArgs, name: &'static str) -> Result<Gated, GateError> {
    context.not_nested()?;
    let user = context.user()?;
    let judged = commit_of(context, &user, args, name);
    judged.inspect_err(|error| gate::tell_error(context, &sink(&args.output), error))
}

fn commit_of(context: &Context, user: &User, args: &HookArgs, name: &'static str) -> Result<Gated, GateError> {
    let repo = context.repo()?;
    let selected = if name == MERGE { repo.merging(&context.env, &WHOLE)? } else { repo.select(&Selector::Staged, &WHOLE)? };
    judge(context, &repo, user, name, selected, None, &args.output)
}

fn judge(
    context: &Context,
    repo: &Repo,
    user: &User,
    name: &'static str,
    selected: Selected,
    remote: Option<String>,
    output: &OutputArgs,
) -> Result<Gated, GateError> {
    let stage = if name == "pre-push" { Stage::Push } else { Stage::Commit };
    let request = Request {
        stage,
        name,
        selected,
        remote,
        authors: Vec::new(),
        tier: None,
        reviewers: Vec::new(),
        deadline: if stage == Stage::Push { user.push_deadline } else { user.commit_deadline },
        narrowed: false,
        override_reason: None,
        progress: channel(context, output),
        sink: sink(output),
    };
    gate::gate(context, repo, user, request)
}

/// Frameworks keep our stderr to themselves until we are done; and where the report is JSON on stderr, nothing else may stand beside it.
fn channel(context: &Context, output: &OutputArgs) -> Channel {
    match output.format {
        Format::Json if output.output.is_none() => Channel::Off,
        Format::Json | Format::Text if context.env.os(PRE_COMMIT).is_some() => Channel::Terminal,
        Format::Json | Format::Text => Channel::Stderr,
    }
}

pub(super) fn read_lines() -> Result<Vec<u8>, GateError> {
    let mut lines = Vec::new();
    let read = std::io::stdin().lock().take(MAX_LINES + 1).read_to_end(&mut lines);
    let size = read.map_err(|error| GateError::usage(error).while_doing("cannot read the ref lines on stdin"))?;
    if size as u64 > MAX_LINES {
        return Err(GateError::usage(format!("more than {MAX_LINES} bytes of ref lines on stdin")).hinted("push fewer refs at once"));
    }
    Ok(lines)
}
