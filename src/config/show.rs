//! `config show`: every key with its value and the layer it came from. Names of keys and variables, never a key; a proxy is only said to be there.

use super::effective::{Policy, Row};
use super::force::marked;
use super::reviewers::Entry;
use super::user::User;
use crate::author::Who;
use crate::reviewer::Provider;
use std::time::Duration;

/// Returns the rows of the user's settings; each reviewer has two of its own: who it is, and what it may use.
pub fn user_rows(user: &User) -> Vec<Row> {
    let file = layer(user);
    let row = |key, value| Row { key, value, layer: file.clone(), is_set: true };
    let reviewers = user.reviewers.iter().flat_map(|entry| [row("reviewer", reviewer(entry)), row("limits", limits(entry))]);
    user_settings(user).into_iter().map(marked).chain(reviewers).collect()
}

/// Returns the rows of the policy that holds.
pub fn policy_rows(policy: &Policy) -> Vec<Row> {
    policy.rows().iter().cloned().map(marked).collect()
}

/// Returns the rows of the user's keys, without the reviewers' own.
pub(super) fn user_settings(user: &User) -> Vec<Row> {
    let file = layer(user);
    let row = |(key, value): (&'static str, String)| {
        let is_set = user.set.contains(key);
        Row { key, value, layer: if is_set { file.clone() } else { "default".to_owned() }, is_set }
    };
    settings(user).into_iter().map(row).collect()
}

fn layer(user: &User) -> String {
    user.path.as_ref().map_or_else(|| "user".to_owned(), |path| format!("user ({})", path.display()))
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
    text += if entry.pin_sha256.is_some() { ", pin_sha256 (not in force yet)" } else { "" };
    text += if entry.enabled { "" } else { ", not enabled" };
    text += match spec.provider {
        Provider::Cli => ", not asked yet",
        Provider::OpenAi | Provider::Anthropic | Provider::Ollama => "",
    };
    text
}

fn limits(entry: &Entry) -> String {
    let (spec, price) = (&entry.spec, &entry.spec.price);
    let time = |time: Option<Duration>| time.map_or_else(|| "slice".to_owned(), |time| format!("{} s", time.as_secs()));
    let parallel = spec.parallel.map_or_else(|| "any".to_owned(), |calls| calls.to_string());
    format!(
        "{}: window {}, max_tokens {}, timeout {}, first_byte_timeout {}, parallel {parallel}, price {}/{}/{} USD per million tokens",
        spec.name,
        spec.window,
        spec.max_tokens,
        time(spec.timeout),
        time(spec.first_byte_timeout),
        price.input,
        price.output,
        price.cached,
    )
}
