//! A mapping of a configuration file, read key by key: unknown and repeated keys, wrong types and values out of range become problems with their place.
//!
//! Every getter returns `None` where the key is absent, empty or wrong; wrong ones are noted, so that one reading finds every problem of the file.

use super::problem::{Problems, nearest};
use crate::yaml::{Key, Node, Value};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The longest time that a file may ask for, in seconds.
const MAX_SECONDS: u64 = 3600;
/// How much of a value a message may show.
const SHOWN: usize = 60;

/// A mapping whose keys are all known and written once.
pub(super) struct Section<'a> {
    /// What the mapping is, for messages: `reviewer opus`, `price`; empty at the top.
    name: String,
    node: &'a Node,
    entries: Vec<(&'a Key, &'a Node)>,
}

impl<'a> Section<'a> {
    /// Opens a mapping. Keys that are not in `known` or come twice are noted and left out; `None` where the node is no mapping.
    pub(super) fn open(name: &str, node: &'a Node, known: &[&str], problems: &mut Problems) -> Option<Section<'a>> {
        let Value::Map(all) = &node.value else {
            problems.add(
                node,
                format!("{} must be a mapping of keys, not {}", if name.is_empty() { "the file" } else { name }, node.value.kind()),
                "",
            );
            return None;
        };
        let mut section = Section { name: name.to_owned(), node, entries: Vec::new() };
        for (key, value) in all {
            if !known.contains(&key.text.as_str()) {
                problems.add(key, format!("unknown key `{}`{}", clip(&key.text), section.inside()), unknown_hint(&key.text, known));
            } else if let Some((first, _)) = section.entries.iter().find(|(other, _)| other.text == key.text) {
                problems.add(
                    key,
                    format!("key `{}` is written twice", key.text),
                    format!("the first one is on line {}; keep one of them", first.line),
                );
            } else {
                section.entries.push((key, value));
            }
        }
        Some(section)
    }

    /// Returns the mapping's own node, for problems that concern it as a whole.
    pub(super) fn node(&self) -> &'a Node {
        self.node
    }

    /// Returns the keys that are written and hold something.
    pub(super) fn keys(&self) -> BTreeSet<String> {
        self.entries.iter().filter(|(_, node)| node.value != Value::Null).map(|(key, _)| key.text.clone()).collect()
    }

    /// Returns the node of a key; a key with nothing behind its colon counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(own, _)| own.text == key).map(|(_, node)| *node).filter(|node| node.value != Value::Null)
    }

    /// Returns the entries in order, for mappings whose keys are data.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a Key, &'a Node)> {
        self.entries.iter().copied()
    }

    /// Notes that a key holds something of the wrong kind.
    pub(super) fn wrong(&self, key: &str, node: &Node, want: &str, problems: &mut Problems) {
        let quote = matches!(node.value, Value::Bool(_) | Value::Int(_) | Value::Float(_)) && want.starts_with("text");
        problems.add(
            node,
            format!("`{key}`{} must be {want}, not {}", self.inside(), shown(&node.value)),
            if quote { "put it in quotes" } else { "" },
        );
    }

    /// Reads text that is not blank.
    pub(super) fn text(&self, key: &str, problems: &mut Problems) -> Option<String> {
        let node = self.get(key)?;
        match &node.value {
            Value::Text(text) if !text.trim().is_empty() && !text.chars().any(char::is_control) => Some(text.trim().to_owned()),
            Value::Text(_) => {
                problems.add(node, format!("`{key}`{} must not be blank or hold control characters", self.inside()), "");
                None
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
                self.wrong(key, node, "text", problems);
                None
            }
        }
    }

    /// Reads one of a few words.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
        let text = self.text(key, problems)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let node = self.get(key)?;
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = nearest(&text, list.iter().copied()).map(|word| format!("did you mean `{word}`?")).unwrap_or_default();
            problems.add(node, format!("`{key}`{} must be {}, not `{}`", self.inside(), or_list(&list), clip(&text)), hint);
        }
        found
    }

    /// Reads `true` or `false`.
    pub(super) fn flag(&self, key: &str, problems: &mut Problems) -> Option<bool> {
        let node = self.get(key)?;
        if let Value::Bool(flag) = node.value {
            return Some(flag);
        }
        self.wrong(key, node, "true or false", problems);
        None
    }

    /// Reads a whole number inside a range.
    pub(super) fn number(&self, key: &str, range: RangeInclusive<u64>, problems: &mut Problems) -> Option<u64> {
        let node = self.get(key)?;
        if let Value::Int(number) = node.value
            && let Some(number) = u64::try_from(number).ok().filter(|number| range.contains(number))
        {
            return Some(number);
        }
        self.wrong(key, node, &format!("a whole number from {} to {}", range.start(), range.end()), problems);
        None
    }

    /// Reads a time in seconds.
    pub(super) fn seconds(&self, key: &str, problems: &mut Problems) -> Option<Duration> {
        self.number(key, 1..=MAX_SECONDS, problems).map(Duration::from_secs)
    }

    /// Reads an amount of money: a finite number that is not negative.
    pub(super) fn usd(&self, key: &str, problems: &mut Problems) -> Option<f64> {
        let node = self.get(key)?;
        let amount = match node.value {
            Value::Int(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        };
        let amount = amount.filter(|amount| amount.is_finite() && (0.0..=1e6).contains(amount));
        if amount.is_none() {
            self.wrong(key, node, "an amount in USD, 0 or more", problems);
        }
        amount
    }

    /// Reads a list of nodes.
    pub(super) fn list(&self, key: &str, problems: &mut Problems) -> Option<&'a [Node]> {
        let node = self.get(key)?;
        if let Value::List(items) = &node.value {
            return Some(items);
        }
        self.wrong(key, node, "a list", problems);
        None
    }

    /// Reads a list of texts; each wrong item is noted.
    pub(super) fn texts(&self, key: &str, problems: &mut Problems) -> Option<Vec<(&'a Node, &'a str)>> {
        let items = self.list(key, problems)?;
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text) if !text.trim().is_empty() => texts.push((item, text.as_str())),
                Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                    self.wrong(&format!("{key}[]"), item, "text", problems);
                }
            }
        }
        Some(texts)
    }

    /// Returns ` in <name>` for messages; empty at the top.
    pub(super) fn inside(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!(" in {}", self.name) }
    }
}

/// Joins words to `a, b or c`.
pub(super) fn or_list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

/// Shortens a value for a message and takes control characters out of it.
pub(super) fn clip(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
    if text.chars().count() > SHOWN { format!("{clean}…") } else { clean }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Int(number) => format!("`{number}`"),
        Value::Float(number) => format!("`{number}`"),
        Value::Text(text) => format!("`{}`", clip(text)),
        Value::Null | Value::List(_) | Value::Map(_) => value.kind().to_owned(),
    }
}

fn unknown_hint(key: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", known.join(", ")),
    }
}
