//! `config show`: every key with its value and the layer it came from. Names of keys and variables, never a key; a proxy is only said to be there.

use super::effective::{Policy, Row};
use super::reviewers::Entry;
use super::user::User;
use crate::author::Who;

/// Returns the rows of the user's settings; each reviewer has one of its own.
pub fn user_rows(user: &User) -> Vec<Row> {
    let file = user.path.as_ref().map_or_else(|| "user".to_owned(), |path| format!("user ({})", path.display()));
    let layer = |key: &str| if user.set.contains(key) { file.clone() } else { "default".to_owned() };
    let row = |(key, value): (&'static str, String)| Row { key, value, layer: layer(key) };
    let reviewers = user.reviewers.iter().map(|entry| Row { key: "reviewer", value: reviewer(entry), layer: file.clone() });
    settings(user).into_iter().map(row).chain(reviewers).collect()
}

/// Returns the rows of the policy that holds.
pub fn policy_rows(policy: &Policy) -> Vec<Row> {
    policy.rows().to_vec()
}

fn settings(user: &User) -> [(&'static str, String); 9] {
    let author = match &user.author {
        None => "auto".to_owned(),
        Some(Who::Human) => "human".to_owned(),
        Some(Who::Family(family)) => family.to_string(),
    };
    [
        ("author", author),
        ("deadline", format!("{} s", user.deadline.as_secs())),
        ("push_deadline", format!("{} s", user.push_deadline.as_secs())),
        ("commit_deadline", format!("{} s", user.commit_deadline.as_secs())),
        ("same_family", user.same_family.as_str().to_owned()),
        ("budget", format!("{} USD a run, {} USD an hour", user.budget.per_run, user.budget.per_hour)),
        ("allow_secrets", format!("{} values", user.allow_secrets.len())),
        ("lenses", format!("{:?}", user.lenses.iter().map(|lens| lens.name.as_str()).collect::<Vec<_>>())),
        ("reviewers", format!("{} ({} enabled)", user.reviewers.len(), user.enabled().count())),
    ]
}

fn reviewer(entry: &Entry) -> String {
    let spec = &entry.spec;
    let place = match &spec.command {
        Some(command) => format!("command {}", command.display()),
        None => format!("at {}{}", spec.host, if spec.host_is_default { " (default)" } else { "" }),
    };
    let mut text = format!("{}: {}, family {}, {place}, key {}", spec.name, spec.label(), spec.family, entry.key.describe());
    text += if spec.proxy.is_some() { ", through a proxy" } else { "" };
    text += if entry.enabled { "" } else { ", not enabled" };
    text
}
