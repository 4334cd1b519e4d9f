//! The reviewers that `init` knows how to set up: one table of APIs by the variable that holds their key, one of command-line programs.
//!
//! Model ids age. Each is a starting point that the user edits; `init` says so.

/// An API that takes a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Api {
    /// The reviewer's name in the configuration.
    pub name: &'static str,
    /// Variables that hold its key, by habit; the first that is set is used.
    pub key_variables: &'static [&'static str],
    /// The dialect it speaks.
    pub provider: &'static str,
    /// Its base URL; `None` where it is the dialect's own.
    pub host: Option<&'static str>,
    /// A current model.
    pub model: &'static str,
    /// Who trained that model.
    pub family: &'static str,
}

/// A command-line reviewer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cli {
    /// The program's name, and the reviewer's.
    pub name: &'static str,
    /// A current model.
    pub model: &'static str,
}

/// APIs, in the order in which they are preferred where nothing else decides.
pub(super) const APIS: &[Api] = &[
    Api { name: "openai", key_variables: &["OPENAI_API_KEY"], provider: "openai", host: None, model: "gpt-5.6-sol", family: "openai" },
    Api { name: "anthropic", key_variables: &["ANTHROPIC_API_KEY"], provider: "anthropic", host: None, model: "claude-opus-5", family: "anthropic" },
    Api {
        name: "gemini",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        provider: "openai",
        host: Some("https://generativelanguage.googleapis.com/v1beta/openai"),
        model: "gemini-pro-latest",
        family: "google",
    },
    Api {
        name: "deepseek",
        key_variables: &["DEEPSEEK_API_KEY"],
        provider: "openai",
        host: Some("https://api.deepseek.com/v1"),
        model: "deepseek-v4-pro",
        family: "deepseek",
    },
    Api {
        name: "mistral",
        key_variables: &["MISTRAL_API_KEY"],
        provider: "openai",
        host: Some("https://api.mistral.ai/v1"),
        model: "mistral-large-latest",
        family: "mistral",
    },
    Api {
        name: "openrouter",
        key_variables: &["OPENROUTER_API_KEY"],
        provider: "openai",
        host: Some("https://openrouter.ai/api/v1"),
        model: "deepseek/deepseek-v4-pro",
        family: "deepseek",
    },
    Api {
        name: "nvidia",
        key_variables: &["NVIDIA_API_KEY"],
        provider: "openai",
        host: Some("https://integrate.api.nvidia.com/v1"),
        model: "qwen/qwen3-coder-480b-a35b-instruct",
        family: "qwen",
    },
];

/// Command-line reviewers.
pub(super) const CLIS: &[Cli] = &[
    Cli { name: "codex", model: "gpt-5.6-sol" },
    Cli { name: "claude", model: "claude-opus-5" },
    Cli { name: "gemini", model: "gemini-pro-latest" },
    Cli { name: "opencode", model: "provider/model" },
    Cli { name: "qwen", model: "qwen3-coder-plus" },
];
