//! The `reviewers` list of the user configuration: raw entries → validated [`Spec`]s. Everything wrong with an entry is said at once.
//!
//! Leaves to others: fetching keys (`key.rs`) and finding a bare command on the path (the edge, which records what it found).

use super::fields::Fields;
use super::host::is_loopback;
use super::key::KeySource;
use super::problem::Problems;
use super::section::{Section, clip};
use crate::reviewer::{Key, Price, Provider, Spec};
use crate::yaml::{Node, Value};
use std::path::Path;

/// The keys of an entry, in the order of the documentation.
pub(super) const KEYS: [&str; 22] = [
    "name",
    "provider",
    "model",
    "host",
    "command",
    "family",
    "api_key_env",
    "api_key_file",
    "api_key_command",
    "timeout",
    "first_byte_timeout",
    "max_tokens",
    "window",
    "parallel",
    "reasoning_off",
    "reasoning_effort",
    "extra",
    "price",
    "pin_sha256",
    "ca_file",
    "proxy",
    "enabled",
];
const MAX_TOKENS: u32 = 16_000;
const WINDOW_LOOPBACK: u64 = 32_000;
const WINDOW: u64 = 128_000;
const FREE: Price = Price { input: 0.0, output: 0.0, cached: 0.0 };
/// What an API without a stated price is taken to cost: high, so that the budget errs on the safe side (ruling on S15).
pub(super) const UNKNOWN_PRICE: Price = Price { input: 15.0, output: 75.0, cached: 15.0 };

/// A reviewer as configured.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What the gate needs to know; its key is [`Key::None`] until [`Entry::with_key`].
    pub spec: Spec,
    /// Where the key comes from.
    pub key: KeySource,
    /// False: listed, never asked.
    pub enabled: bool,
    /// The SHA-256 that a CLI's file must have, in lower-case hex.
    pub pin_sha256: Option<String>,
}

impl Entry {
    /// Returns the reviewer with its key.
    pub fn with_key(&self, key: Key) -> Spec {
        Spec { key, ..self.spec.clone() }
    }
}

/// Reads the list. `home` is what `~/` stands for.
pub(super) fn read(items: &[Node], home: Option<&Path>, problems: &mut Problems) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let Some(entry) = entry(index, node, home, problems) else { continue };
        if entries.iter().any(|other| other.spec.name == entry.spec.name) {
            problems.add(node, format!("reviewer `{}` is there twice", entry.spec.name), "give each reviewer its own name");
        }
        entries.push(entry);
    }
    entries
}

fn entry(index: usize, node: &Node, home: Option<&Path>, problems: &mut Problems) -> Option<Entry> {
    refuse_literal_key(node, problems)?;
    let section = Section::open(&label(index, node), node, &KEYS, problems)?;
    let fields = Fields { section: &section, home };
    let name = fields.name(problems);
    let provider = fields.provider(problems);
    let model = fields.required("model", "every reviewer names its model, so that its family is known", problems);
    let provider = provider?;
    let host = fields.host(provider, problems);
    let command = fields.command(provider, problems);
    let family = fields.family(model.as_deref(), command.as_ref().and_then(Option::as_deref), problems);
    let key = fields.key(provider, problems);
    let is_loopback = host.as_ref().is_some_and(|(host, _)| is_loopback(host));
    let is_free = provider == Provider::Cli || is_loopback;
    let window = section.number("window", 1_000..=20_000_000, problems);
    let enabled = section.flag("enabled", problems).unwrap_or(true);
    let pin_sha256 = fields.pin(provider, problems);
    let spec = Spec {
        provider,
        max_tokens: section.number("max_tokens", 256..=1_000_000, problems).and_then(|n| u32::try_from(n).ok()).unwrap_or(MAX_TOKENS),
        window: window.unwrap_or(if is_loopback { WINDOW_LOOPBACK } else { WINDOW }),
        timeout: section.seconds("timeout", problems),
        first_byte_timeout: section.seconds("first_byte_timeout", problems),
        parallel: fields.parallel(provider, problems),
        reasoning_off: section.flag("reasoning_off", problems).unwrap_or(false),
        reasoning_effort: fields.effort(problems),
        extra: fields.extra(problems),
        price: fields.price(if is_free { FREE } else { UNKNOWN_PRICE }, problems),
        ca_file: fields.path("ca_file", problems),
        proxy: fields.proxy(problems),
        key: Key::None,
        host_is_default: host.as_ref().is_some_and(|(_, is_default)| *is_default),
        host: host?.0,
        command: command?,
        family: family?,
        name: name?,
        model: model?,
    };
    Some(Entry { spec, key: key?, enabled, pin_sha256 })
}

/// A key itself in the file is refused before anything else is read, and its value is never shown.
fn refuse_literal_key(node: &Node, problems: &mut Problems) -> Option<()> {
    let Value::Map(entries) = &node.value else { return Some(()) };
    let literal = entries.iter().find(|(key, _)| matches!(key.text.as_str(), "api_key" | "apikey" | "key" | "token" | "api_token" | "secret"));
    let Some((key, _)) = literal else { return Some(()) };
    let hint = "name where it is: `api_key_env`, `api_key_file` or `api_key_command`; a key that was in a file should be replaced";
    problems.add(key, format!("`{}`: a key is never written into the configuration", key.text), hint);
    None
}

/// Names an entry in messages: by its name where it has one, else by its position.
fn label(index: usize, node: &Node) -> String {
    let name = match &node.value {
        Value::Map(entries) => entries.iter().find(|(key, _)| key.text == "name").map(|(_, node)| &node.value),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => None,
    };
    match name {
        Some(Value::Text(name)) => format!("reviewer `{}`", clip(name)),
        _ => format!("reviewer {}", index + 1),
    }
}
