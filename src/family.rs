//! Who trained a model: model id, CLI name, agent variable, commit trailer → family, from `families.yaml`.
//!
//! A proxy or a runtime is no family: for `vendor/model` ids the vendor's part decides where it is known (requirement F08). What cannot be told is
//! `None`, and the caller must not take it for "different".

use std::fmt;

/// A model family: `anthropic`, `openai`, `google`, `meta`, `qwen`, `deepseek`, `mistral`, …
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family(String);

impl Family {
    /// Makes a family from a word of the configuration or the data file; lower case.
    pub fn new(word: &str) -> Family {
        Family(word.trim().to_ascii_lowercase())
    }

    /// TEMP stand-in until the data file lands.
    pub fn of_model(_id: &str) -> Option<Family> {
        None
    }

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
