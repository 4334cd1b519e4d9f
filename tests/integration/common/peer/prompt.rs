//! A request as the peer received it, and what can be read out of its prompt: nonce, slices, task, added lines.

use super::http::Head;
use crate::common::Dialect;
use serde_json::Value;
use std::time::Instant;

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: String,
    /// The path, as sent.
    pub path: String,
    /// Names in lower case, values as sent.
    pub headers: Vec<(String, String)>,
    /// The body, parsed; null where there is none.
    pub json: Value,
    /// How many questions came before it.
    pub call: usize,
    /// When it had arrived in full.
    pub at: Instant,
    body: String,
}

/// A line that the change adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The path on the new side.
    pub file: String,
    /// The 1-based line on the new side.
    pub line: u64,
    /// The line without its plus.
    pub text: String,
}

impl Request {
    pub(super) fn new(head: Head, call: usize) -> Request {
        let json = serde_json::from_slice(&head.body).unwrap_or(Value::Null);
        let body = String::from_utf8_lossy(&head.body).into_owned();
        Request { method: head.method, path: head.path, headers: head.headers, json, call, at: Instant::now(), body }
    }

    /// Returns the dialect that the path belongs to; model lists count as the dialect they are for.
    pub fn dialect(&self) -> Dialect {
        match self.path.as_str() {
            path if path.ends_with("/messages") => Dialect::Anthropic,
            path if path.contains("/api/") => Dialect::Ollama,
            _ => Dialect::OpenAi,
        }
    }

    /// Tells whether something is asked of the model.
    pub fn is_question(&self) -> bool {
        self.method == "POST"
    }

    /// Returns the same request, asked of another model.
    pub(super) fn asked_of(&self, model: &str) -> Request {
        let mut request = self.clone();
        request.json["model"] = model.into();
        request
    }

    /// Tells whether a refuter is asked.
    pub fn is_refuter(&self) -> bool {
        self.field("task").is_some_and(|task| task == "refute")
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Returns the model that is asked.
    pub fn model(&self) -> &str {
        self.json["model"].as_str().unwrap_or_default()
    }

    /// Tells whether the text is in path, headers or body; a text that JSON escapes is found too.
    pub fn holds(&self, text: &str) -> bool {
        let in_headers = self.headers.iter().any(|(_, value)| value.contains(text));
        in_headers || self.path.contains(text) || self.body.contains(text) || self.prompt().contains(text)
    }

    /// Returns all text parts, in order: system first.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        gather(&self.json["system"], &mut texts);
        for message in self.json["messages"].as_array().into_iter().flatten() {
            gather(&message["content"], &mut texts);
        }
        texts
    }

    /// Returns the whole prompt.
    pub fn prompt(&self) -> String {
        self.texts().join("\n")
    }

    /// Returns the last text part, which holds the pass's question.
    pub fn brief(&self) -> String {
        self.texts().pop().unwrap_or_default()
    }

    /// Returns the nonce that the reply must repeat.
    pub fn nonce(&self) -> String {
        self.field("nonce").unwrap_or_default()
    }

    /// Returns the slices that the reply must name.
    pub fn slices(&self) -> Vec<String> {
        self.field("slices").unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    }

    /// Returns the lines that the change adds, as the prompt shows them.
    pub fn added(&self) -> Vec<Added> {
        added_lines(&self.prompt())
    }

    /// Returns the files of the change, as the prompt shows them.
    pub fn files(&self) -> Vec<String> {
        self.prompt().lines().filter_map(|line| Some(line.strip_prefix("diff --git a/")?.split(" b/").next()?.to_owned())).collect()
    }

    /// Returns what the last line `name: …` says. The data comes first, so the last one is the gate's own.
    fn field(&self, name: &str) -> Option<String> {
        let line = |text: &str| text.strip_prefix(name)?.strip_prefix(": ").map(|value| value.trim().to_owned());
        self.brief().lines().rev().find_map(line)
    }
}

/// Collects a string, or the `text` of every block of a list.
fn gather(content: &Value, texts: &mut Vec<String>) {
    texts.extend(content.as_str().map(str::to_owned));
    texts.extend(content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).map(str::to_owned));
}

/// Reads the added lines of every hunk in a text. Only the lines that a hunk's head counts belong to it.
fn added_lines(text: &str) -> Vec<Added> {
    let mut added = Vec::new();
    let mut file = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            file = path.trim_end_matches('\t').to_owned();
        } else if let Some(path) = line.strip_prefix("+++ \"b/") {
            // A quoted name is told as it is shown.
            file = format!("\"{path}");
        } else if let Some((mut old, mut new, first)) = hunk_head(line) {
            let mut at = first;
            while old + new > 0 {
                let Some(line) = lines.next() else { break };
                match line.as_bytes().first() {
                    Some(b'+') => {
                        added.push(Added { file: file.clone(), line: at, text: line[1..].to_owned() });
                        new = new.saturating_sub(1);
                        at += 1;
                    }
                    Some(b'-') => old = old.saturating_sub(1),
                    Some(b'\\') => {}
                    _ => {
                        old = old.saturating_sub(1);
                        new = new.saturating_sub(1);
                        at += 1;
                    }
                }
            }
        }
    }
    added
}

/// Reads `@@ -a,b +c,d @@` as (b, d, c).
fn hunk_head(line: &str) -> Option<(u64, u64, u64)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |side: &str| side.split_once(',').map_or(Some(1), |(_, n)| n.parse().ok());
    Some((count(old)?, count(new)?, new.split(',').next()?.parse().ok()?))
}

#[test]
fn added_lines_are_read_with_their_places() {
    let text = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,3 @@ fn x\n one\n-two\n+EVIL 2\n+++ three\n@@ -9 +10 @@\n-nine\n+ten\ntail +no\n+not in a hunk\n";
    let seen: Vec<(u64, String)> = added_lines(text).into_iter().map(|a| (a.line, a.text)).collect();
    assert_eq!(seen, [(2, "EVIL 2".into()), (3, "++ three".into()), (10, "ten".into())]);
}
