//! `tier`: `<tier> <reason>` on one line for each subject. Reads, never judges; no network.

use super::Context;
use super::gate;
use super::run::{options, selector};
use crate::cli::SelectorArgs;
use crate::error::GateError;
use crate::exit::Told;

/// Prints the tier.
///
/// # Errors
/// What cannot be read, with its status.
pub(super) fn run(context: &Context, args: &SelectorArgs) -> Result<Told, GateError> {
    let repo = context.repo()?;
    let selected = repo.select(&selector(args)?, &options(context, &repo, &args.files, true)?)?;
    let lines: Result<Vec<String>, GateError> =
        selected.subjects.iter().map(|subject| Ok(format!("{}\n", gate::sizing(context, &repo, subject)?))).collect();
    context.printer.result(lines?.concat().as_bytes());
    Ok(Told)
}
