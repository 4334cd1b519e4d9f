//! The user configuration that points the gate at scripted reviewers.

use super::peer::Peer;

/// The three ways to talk to a reviewer over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Ollama's own.
    Ollama,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 3] = [Dialect::OpenAi, Dialect::Anthropic, Dialect::Ollama];

    /// Returns the word of the configuration.
    pub fn word(self) -> &'static str {
        match self {
            Dialect::OpenAi => "openai",
            Dialect::Anthropic => "anthropic",
            Dialect::Ollama => "ollama",
        }
    }

    /// Returns the base URL for a server at `origin`.
    fn base(self, origin: &str) -> String {
        match self {
            Dialect::OpenAi | Dialect::Anthropic => format!("{origin}/v1"),
            Dialect::Ollama => origin.to_owned(),
        }
    }
}

/// One entry of `reviewers`.
#[derive(Debug, Clone)]
pub struct Reviewer {
    name: String,
    dialect: Dialect,
    host: String,
    model: String,
    more: Vec<String>,
}

impl Reviewer {
    /// Names a reviewer at a peer.
    pub fn new(name: &str, dialect: Dialect, peer: &Peer, model: &str) -> Reviewer {
        Reviewer { name: name.into(), dialect, host: dialect.base(&peer.origin()), model: model.into(), more: Vec::new() }
    }

    /// A reviewer of the qwen family that speaks chat completions: the usual one.
    pub fn qwen(peer: &Peer) -> Reviewer {
        Reviewer::new("qwen", Dialect::OpenAi, peer, "qwen3-coder")
    }

    /// A second one, of the mistral family.
    pub fn mistral(peer: &Peer) -> Reviewer {
        Reviewer::new("mistral", Dialect::OpenAi, peer, "mistral-large")
    }

    /// One of the anthropic family.
    pub fn claude(peer: &Peer) -> Reviewer {
        Reviewer::new("opus", Dialect::Anthropic, peer, "claude-opus-5")
    }

    /// Points it elsewhere.
    pub fn host(mut self, host: &str) -> Reviewer {
        self.host = host.into();
        self
    }

    /// Adds a line, such as `api_key_env: PEER_KEY`.
    pub fn with(mut self, line: &str) -> Reviewer {
        self.more.push(line.into());
        self
    }

    fn yaml(&self) -> String {
        let Reviewer { name, dialect, host, model, more } = self;
        let more: String = more.iter().map(|line| format!("    {line}\n")).collect();
        format!("  - name: {name}\n    provider: {}\n    host: {host}\n    model: {model}\n{more}", dialect.word())
    }
}

/// Writes a user configuration: the reviewers in order of preference, then further lines.
pub fn user_yaml(reviewers: &[Reviewer], more: &str) -> String {
    let list: String = reviewers.iter().map(Reviewer::yaml).collect();
    format!("reviewers:\n{list}{more}")
}
