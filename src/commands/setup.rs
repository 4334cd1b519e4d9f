//! `init`: finds the reviewers on this machine and writes the user configuration, or with `--policy` the repository's policy.

use super::Context;
use super::init::{self, Existing, InitPlan};
use crate::author::Author;
use crate::cli::InitArgs;
use crate::clock::{Deadline, Limit};
use crate::config::{self, POLICY_FILE};
use crate::error::GateError;
use crate::exit::Told;
use crate::family::Family;
use crate::provider;
use std::time::Duration;

/// How long a model server on this machine may take to say what it serves.
const LOOK: Duration = Duration::from_secs(1);

/// Writes what was found and says what was chosen and why. Ends well also where nothing was found: it then says what to do.
///
/// # Errors
/// Where the file cannot be written.
pub(super) fn run(context: &Context, args: &InitArgs) -> Result<Told, GateError> {
    let existing = if args.force { Existing::BackUp } else { Existing::Keep };
    if args.policy {
        let repo = context.repo()?;
        let top = repo.work_dir().ok_or_else(|| GateError::usage("a bare repository has no work tree to put a policy into"))?;
        let explanation = vec!["the policy holds once it is on the branch that a change is measured from; commit and push it".to_owned()];
        let plan = InitPlan { config_text: Some(config::POLICY_TEMPLATE.to_owned()), explanation };
        return say(context, init::init(plan, Some(&top.join(POLICY_FILE)), existing));
    }
    let models = |base: &str| provider::ollama_models(base, Deadline::after(LOOK, Limit::Preflight));
    let found = init::look(&context.env, &models);
    let authors: Vec<Family> = Author::detect(&[], &context.env, &[]).families().iter().cloned().collect();
    let plan = init::plan(&found, &authors, &Family::of_model);
    let path = context.config.clone().or_else(|| context.env.user_config());
    say(context, init::init(plan, path.as_deref(), existing))
}

fn say(context: &Context, said: Result<Vec<String>, init::InitError>) -> Result<Told, GateError> {
    let said = said.map_err(|error| GateError::usage(error).while_doing("cannot write the configuration"))?;
    context.printer.result(said.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
    Ok(Told)
}
