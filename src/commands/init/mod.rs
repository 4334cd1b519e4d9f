//! `init`: finds the reviewers on this machine and writes the user configuration, or with `--policy` the repository's policy.
//!
//! `look.rs` finds, `choice.rs` decides, `render.rs` words the file, `write.rs` writes it.

mod choice;
mod known;
mod look;
mod render;
#[cfg(test)]
mod tests;
mod write;

use super::Context;
use crate::author::Author;
use crate::cli::InitArgs;
use crate::clock::{Deadline, Limit};
use crate::config::{self, POLICY_FILE};
use crate::error::GateError;
use crate::exit::Told;
use crate::family::Family;
use crate::provider;
use choice::{Choice, choose};
use std::time::Duration;
use write::{Existing, InitError, write};

/// How long a model server on this machine may take to say what it serves.
const LOOK: Duration = Duration::from_secs(1);

/// Writes what was found and says what was chosen and why. Ends well also where nothing was found: it then says what to do.
///
/// # Errors
/// Where the file cannot be written.
pub(super) fn run(context: &Context, args: &InitArgs) -> Result<Told, GateError> {
    let existing = if args.force { Existing::BackUp } else { Existing::Keep };
    if args.policy {
        return policy(context, existing);
    }
    let models = |base: &str| provider::ollama_models(base, Deadline::after(LOOK, Limit::Preflight));
    let found = look::look(&context.env, &models);
    let authors: Vec<Family> = Author::detect(&[], &context.env, &[]).families().iter().cloned().collect();
    let chosen = choose(&found, &authors, &Family::of_model);
    let path = context.config.clone().or_else(|| context.env.user_config());
    say(context, write(chosen, path.as_deref(), existing))
}

fn policy(context: &Context, existing: Existing) -> Result<Told, GateError> {
    let repo = context.repo()?;
    let top = repo.work_dir().ok_or_else(|| GateError::usage("a bare repository has no work tree to put a policy into"))?;
    let explanation = vec!["the policy holds once it is on the branch that a change is measured from; commit and push it".to_owned()];
    let policy = Choice { config_text: Some(config::POLICY_TEMPLATE.to_owned()), explanation };
    say(context, write(policy, Some(&top.join(POLICY_FILE)), existing))
}

fn say(context: &Context, said: Result<Vec<String>, InitError>) -> Result<Told, GateError> {
    let said = said.map_err(|error| GateError::usage(error).while_doing("cannot write the configuration"))?;
    context.printer.result(said.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
    Ok(Told)
}
