//! `config show|check|schema`: effective values and the layer each came from.

use super::Context;
use crate::cli::{ConfigArgs, ConfigVerb};
use crate::clock;
use crate::config::{self, PolicyLayer, Row};
use crate::error::GateError;
use crate::exit::Told;
use crate::git::{GitError, Options, Repo, Selector};

/// Shows or checks the configuration. Outside a repository only the user's layer is there.
///
/// # Errors
/// Status 2 with every problem, its file, line and column.
pub(super) fn run(context: &Context, args: &ConfigArgs) -> Result<Told, GateError> {
    let verb = args.verb.unwrap_or(ConfigVerb::Show);
    if let ConfigVerb::Schema = verb {
        context.printer.result((config::schema() + "\n").as_bytes());
        return Ok(Told);
    }
    let user = context.user()?;
    let layers = policy_layers(context)?;
    let policy = config::effective(&layers, None, clock::now_utc());
    match verb {
        ConfigVerb::Check => {
            let place = user.path.as_ref().map_or_else(|| "no user configuration; defaults".to_owned(), |path| path.display().to_string());
            context.printer.result(format!("{place}: {} reviewers; {} policy layers: all well\n", user.reviewers.len(), layers.len()).as_bytes());
        }
        ConfigVerb::Show | ConfigVerb::Schema => {
            let rows: Vec<Row> = [config::user_rows(&user), config::policy_rows(&policy)].concat();
            let width = rows.iter().map(|row| row.key.len()).max().unwrap_or_default();
            let text: String = rows.iter().map(|row| format!("{:width$}  {}  ({})\n", row.key, row.value, row.layer)).collect();
            context.printer.result(text.as_bytes());
        }
    }
    Ok(Told)
}

/// Reads the policies that would hold for what is staged now.
fn policy_layers(context: &Context) -> Result<Vec<PolicyLayer>, GateError> {
    let repo = match Repo::discover(&context.cwd, &context.env) {
        Err(GitError::NotARepository { .. }) => return Ok(Vec::new()),
        repo => repo?,
    };
    let selected = repo.select(&Selector::Staged, &Options { renames: false, only: Vec::new() })?;
    let mut layers = Vec::new();
    for subject in &selected.subjects {
        for file in repo.policy_files(subject, None, None)? {
            layers.push(config::policy_layer(&file.bytes, &file.origin)?);
        }
    }
    Ok(layers)
}
