//! `prompt`: exactly what would be sent, after redaction and escapes. No network, nothing written.

use super::Context;
use super::gate::{self, Request, Sink};
use super::run::{options, selector};
use crate::cli::{Format, PromptArgs};
use crate::config::Stage;
use crate::error::GateError;
use crate::exit::Told;
use crate::report::progress::Channel;

/// Prints the prompts.
///
/// # Errors
/// What keeps a plan from being made, with its status.
pub(super) fn run(context: &Context, args: &PromptArgs) -> Result<Told, GateError> {
    let user = context.user()?;
    let repo = context.repo()?;
    let selected = repo.select(&selector(&args.selector)?, &options(context, &repo, &args.selector.files, true)?)?;
    let request = Request {
        stage: Stage::Run,
        name: "run",
        selected,
        remote: None,
        authors: Vec::new(),
        tier: None,
        reviewers: Vec::new(),
        deadline: user.deadline,
        narrowed: true,
        override_reason: None,
        progress: Channel::Off,
        sink: Sink { format: Format::Text, file: None },
    };
    let text = gate::prompts(context, &repo, &user, request, args.pass.as_deref())?;
    context.printer.result(text.as_bytes());
    Ok(Told)
}
