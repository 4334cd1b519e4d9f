//! `config show|check|schema`: effective values and the layer each came from, and what is wrong with the files.

use super::Context;
use super::eligible::somebody_may_answer;
use crate::cli::{ConfigArgs, ConfigVerb};
use crate::clock;
use crate::config::{self, ConfigError, POLICY_FILE, Policy, PolicyLayer, Row, User};
use crate::error::GateError;
use crate::exit::Told;
use crate::git::{GitError, Options, PolicyFile, Repo, Selector};

/// Shows or checks the configuration. Outside a repository only the user's layer is there.
///
/// # Errors
/// Status 2 with every problem, its file, line and column.
pub(super) fn run(context: &Context, args: &ConfigArgs) -> Result<Told, GateError> {
    match args.verb.unwrap_or(ConfigVerb::Show) {
        ConfigVerb::Show => show(context),
        ConfigVerb::Check => check(context),
        ConfigVerb::Schema => {
            context.printer.result(config::schema().as_bytes());
            Ok(Told)
        }
    }
}

fn show(context: &Context) -> Result<Told, GateError> {
    let user = context.user()?;
    let policy = config::effective(&Policies::read(context)?.layers()?, None, clock::now_utc());
    let rows: Vec<Row> = [config::user_rows(&user), config::policy_rows(&policy)].concat();
    let width = rows.iter().map(|row| row.key.len()).max().unwrap_or_default();
    let text: String = rows.iter().map(|row| format!("{:width$}  {}  ({})\n", row.key, row.value, row.layer)).collect();
    context.printer.result(text.as_bytes());
    Ok(Told)
}

/// Says what would surprise at the next push. Only a file that cannot be read is an error.
fn check(context: &Context) -> Result<Told, GateError> {
    let user = context.user()?;
    let policies = Policies::read(context)?;
    let layers = policies.layers()?;
    let policy = config::effective(&layers, None, clock::now_utc());
    let mut said = vec![files(&user, &layers)];
    said.extend(remarks(context, &user, &policy));
    let mut problems = Vec::new();
    for draft in policies.drafts {
        match draft.remark(&layers) {
            Ok(remark) => said.push(remark),
            Err(error) => problems.extend(error.problems),
        }
    }
    if said.len() == 1 && problems.is_empty() {
        said.push("all well".to_owned());
    }
    context.printer.result(said.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
    if problems.is_empty() {
        return Ok(Told);
    }
    Err(GateError::from(ConfigError { problems }).while_doing("the policy that is not yet in force could not be read, and would refuse every change"))
}

fn files(user: &User, layers: &[PolicyLayer]) -> String {
    let file = user.path.as_ref().map_or_else(|| "no user configuration, defaults".to_owned(), |path| path.display().to_string());
    let reviewers = if user.reviewers.len() == 1 { "1 reviewer".to_owned() } else { format!("{} reviewers", user.reviewers.len()) };
    let origins: Vec<&str> = layers.iter().map(|layer| layer.origin.as_str()).collect();
    let policy = if origins.is_empty() { "none, defaults".to_owned() } else { origins.join(", ") };
    format!("{file}: {reviewers}; policy: {policy}")
}

fn remarks(context: &Context, user: &User, policy: &Policy) -> Vec<String> {
    let nobody = somebody_may_answer(user, &context.env).err();
    let nobody = nobody.map(|nobody| format!("{}, so every change would be refused; {}", nobody.why, nobody.remedy));
    [policy.notes.clone(), config::not_in_force(user, policy), nobody.into_iter().collect()].concat()
}

/// The policies of a repository: those that hold for what is staged now, and those that are on their way.
#[derive(Default)]
struct Policies {
    held: Vec<PolicyFile>,
    drafts: Vec<Draft>,
}

/// A policy that differs from the one before it on the way to a commit, and is not yet in force.
struct Draft {
    place: &'static str,
    /// `None` where the file is deleted there.
    bytes: Option<Vec<u8>>,
}

impl Policies {
    fn read(context: &Context) -> Result<Policies, GateError> {
        let repo = match Repo::discover(&context.cwd, &context.env) {
            Err(GitError::NotARepository { .. }) => return Ok(Policies::default()),
            repo => repo?,
        };
        let selected = repo.select(&Selector::Staged, &Options { renames: false, only: Vec::new() })?;
        let mut policies = Policies::default();
        for subject in &selected.subjects {
            policies.held.extend(repo.policy_files(subject, None, None)?);
            let staged = repo.tip_policy(subject)?.map(|file| file.bytes);
            let in_tree = repo.work_dir().map(config::read_draft).transpose()?.unwrap_or_else(|| staged.clone());
            policies.drafts = drafts(policies.held.first().map(|file| file.bytes.clone()), staged, in_tree);
        }
        Ok(policies)
    }

    fn layers(&self) -> Result<Vec<PolicyLayer>, ConfigError> {
        self.held.iter().map(|file| config::policy_layer(&file.bytes, &file.origin)).collect()
    }
}

fn drafts(head: Option<Vec<u8>>, staged: Option<Vec<u8>>, in_tree: Option<Vec<u8>>) -> Vec<Draft> {
    let in_tree = (in_tree != staged).then_some(Draft { place: "worktree", bytes: in_tree });
    let staged = (staged != head).then_some(Draft { place: "index", bytes: staged });
    staged.into_iter().chain(in_tree).collect()
}

impl Draft {
    /// Says that it is not yet in force, and what it would lower once it were.
    fn remark(&self, held: &[PolicyLayer]) -> Result<String, ConfigError> {
        let (state, layer) = match &self.bytes {
            Some(bytes) => ("changed", config::policy_layer(bytes, self.place)?),
            None => ("deleted", PolicyLayer::empty(self.place)),
        };
        let lowered = config::lowered(held, &layer);
        let weaker = if lowered.is_empty() { String::new() } else { format!("; it lowers {}, which refuses as a HIGH finding", lowered.join(", ")) };
        Ok(format!("{POLICY_FILE} is {state} in the {} and not yet in force{weaker}", self.place))
    }
}
