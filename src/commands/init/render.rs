//! The text of the user configuration that `init` writes: what was chosen, and every other key as a comment with its default.

use super::known::{Api, Cli};
use crate::family::Family;
use std::fmt::Write;
use std::path::PathBuf;

const HEAD: &str = include_str!("head.yaml");
const TAIL: &str = include_str!("tail.yaml");

/// A reviewer to write down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name.
    pub name: String,
    /// Its dialect.
    pub provider: &'static str,
    /// Its base URL; `None` where it is the dialect's own.
    pub host: Option<String>,
    /// Its model.
    pub model: String,
    /// Who trained the model.
    pub family: Family,
    /// The variable that holds its key; `None` for a local one.
    pub key_variable: Option<&'static str>,
}

impl Entry {
    /// Makes the entry of an API whose key is in `variable`.
    pub(super) fn of_api(api: &Api, variable: &'static str) -> Entry {
        Entry {
            name: api.name.to_owned(),
            provider: api.provider,
            host: api.host.map(str::to_owned),
            model: api.model.to_owned(),
            family: Family::new(api.family),
            key_variable: Some(variable),
        }
    }

    /// Makes the entry of a local ollama's model.
    pub(super) fn local(host: &str, model: &str, family: Family) -> Entry {
        Entry { name: "local".to_owned(), provider: "ollama", host: Some(host.to_owned()), model: model.to_owned(), family, key_variable: None }
    }
}

/// Renders the file. Command-line reviewers become comments.
pub(super) fn render(entries: &[Entry], clis: &[(&Cli, PathBuf)]) -> String {
    let mut text = HEAD.to_owned();
    for entry in entries {
        // Writing to a string cannot fail.
        let _ = write_entry(&mut text, entry);
    }
    for (cli, path) in clis {
        let _ = write_cli(&mut text, cli, &path.to_string_lossy());
    }
    text + TAIL
}

fn write_entry(text: &mut String, entry: &Entry) -> std::fmt::Result {
    writeln!(text, "  - name: {}", entry.name)?;
    writeln!(text, "    provider: {}", entry.provider)?;
    if let Some(host) = &entry.host {
        writeln!(text, "    host: {}", quoted(host))?;
    }
    writeln!(text, "    model: {} # family {}", quoted(&entry.model), entry.family)?;
    if let Some(variable) = entry.key_variable {
        writeln!(text, "    api_key_env: {variable} # the name of the variable, never the key")?;
    }
    Ok(())
}

fn write_cli(text: &mut String, cli: &Cli, path: &str) -> std::fmt::Result {
    writeln!(text, "  # supported from a later release:")?;
    writeln!(text, "  # - name: {}-cli", cli.name)?;
    writeln!(text, "  #   provider: cli")?;
    writeln!(text, "  #   command: {}", quoted(path))?;
    writeln!(text, "  #   model: {}", quoted(cli.model))
}

/// Quotes text from outside: a JSON string is a YAML string, and stays on its line.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
