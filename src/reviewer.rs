//! The port to a reviewer: what is asked, and how an answer may end. Implemented by `provider/`, called by `review/`; neither names the other.

use crate::clock::Deadline;
use crate::family::Family;
use crate::redact::Outbound;
use std::fmt;
use std::time::Duration;

/// An API dialect, or a command-line program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Chat completions with server-sent events: OpenAI and every compatible host.
    OpenAi,
    /// The messages API with named server-sent events.
    Anthropic,
    /// Ollama's own API, newline-delimited JSON.
    Ollama,
    /// A command-line reviewer.
    Cli,
}

impl Provider {
    /// Returns the word of configuration and report.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Ollama => "ollama",
            Provider::Cli => "cli",
        }
    }
}

/// A value that must appear in no sink. `Debug` and `Display` hide it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Secret {
        Secret(value.into())
    }

    /// Returns the value, for the one header it belongs in and for the redactor.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The key of a reviewer. It belongs to that entry's host; nothing is inherited (ruling on B02).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The entry names none.
    None,
    /// The entry names one and it is there.
    Value(Secret),
    /// The entry names one and it is not there; holds what was named, for the message. No call is made (requirement H10).
    Missing(String),
}

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Per million prompt tokens.
    pub input: f64,
    /// Per million completion tokens.
    pub output: f64,
    /// Per million prompt tokens that the provider had cached.
    pub cached: f64,
}

/// A reviewer as configured, validated. `name` is unique among them.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The name in configuration, banner and report.
    pub name: String,
    /// The dialect.
    pub provider: Provider,
    /// The base URL, without a final slash; empty for a CLI.
    pub host: String,
    /// Nobody configured the host: unreachable then means 6, not 9.
    pub host_is_default: bool,
    /// The model id as the provider knows it.
    pub model: String,
    /// Who trained it.
    pub family: Family,
    /// The key.
    pub key: Key,
    /// Total time for one call; `None`: the slice.
    pub timeout: Option<Duration>,
    /// Time to the first byte; `None`: the slice (ruling on H17).
    pub first_byte_timeout: Option<Duration>,
    /// Completion tokens asked for (16,000 unless set).
    pub max_tokens: u32,
    /// The model's window in tokens (32k on loopback, else 128k, where unknown).
    pub window: u64,
    /// Calls at once; `None`: no limit. Ollama: 1.
    pub parallel: Option<usize>,
    /// Ask the model not to think (`chat_template_kwargs`); wins over `reasoning_effort`.
    pub reasoning_off: bool,
    /// `low`, `medium` or `high`.
    pub reasoning_effort: Option<String>,
    /// Further body keys from the allow-list of requirement H20.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// What a call costs.
    pub price: Price,
    /// A PEM file with the certificates to trust instead of the platform's.
    pub ca_file: Option<std::path::PathBuf>,
    /// A proxy URL. Proxies of the environment are not used (threat T2).
    pub proxy: Option<String>,
    /// The CLI's command; `None` for an API.
    pub command: Option<std::path::PathBuf>,
}

impl Spec {
    /// Returns the key's value, for the redactor.
    pub fn secret(&self) -> Option<&Secret> {
        match &self.key {
            Key::Value(secret) => Some(secret),
            Key::None | Key::Missing(_) => None,
        }
    }

    /// Returns `provider/model`, the form of banner and hop log.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider.as_str(), self.model)
    }
}

/// One question. `shared` is byte-identical in all passes of a run, so that providers can cache it; `brief` comes last.
#[derive(Clone)]
pub struct Question {
    /// Standing instructions; the same for all passes.
    pub system: Outbound,
    /// Context, then the change.
    pub shared: Outbound,
    /// The pass's question, the nonce and the slice ids.
    pub brief: Outbound,
    /// The JSON schema of the reply, key order kept.
    pub schema: &'static str,
    /// Completion tokens to ask for.
    pub max_tokens: u32,
}

/// Tokens of one call, as the provider reported them; 0 where it did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input: u64,
    /// Prompt tokens served from the provider's cache.
    pub cached: u64,
    /// Completion tokens.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
    }
}

/// The provider's own word for how the text ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The normal end.
    Stop,
    /// A token limit.
    Length,
    /// A content filter or a refusal.
    Refused,
    /// Anything else, by its name: never a pass.
    Other(String),
}

/// What a dialect folded out of the bytes: text, and how it ended. No judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawReply {
    /// The text of the answer; reasoning is left out.
    pub text: String,
    /// How it ended; `None` where the stream ended without saying so.
    pub finish: Option<Finish>,
    /// The model that the reply names.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
}

/// A reply that ended in its protocol's own success mark and holds text. Only this can become a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompleteReply {
    text: String,
    model: Option<String>,
    usage: Usage,
}

impl CompleteReply {
    /// Accepts a reply that ended normally with text; every other end is a fault.
    ///
    /// # Errors
    /// `cut-stream` without an end mark, `truncated` at a token limit (the text is kept in [`Fault::partial`]), `declined` for a refusal or empty text,
    /// `malformed` for an unknown end.
    pub fn accept(raw: RawReply) -> Result<CompleteReply, Fault> {
        let seen = |class, detail: &str| Fault { usage: raw.usage, model: raw.model.clone(), ..Fault::new(class, detail) };
        let fault = |class, detail: &str| Fault { raw: Some(raw.text.clone()), ..seen(class, detail) };
        match &raw.finish {
            None => return Err(fault(Class::CutStream, "the reply ended without its end mark")),
            Some(Finish::Length) => {
                return Err(Fault { partial: Some(raw.text.clone()), ..seen(Class::Truncated, "the reply hit the token limit") });
            }
            Some(Finish::Refused) => return Err(fault(Class::Declined, "the model refused, or a filter stopped it")),
            Some(Finish::Other(word)) => return Err(fault(Class::Malformed, &format!("the reply ended with the unknown word {word:?}"))),
            Some(Finish::Stop) => {}
        }
        if raw.text.trim().is_empty() {
            return Err(fault(Class::Declined, "the reply holds no text"));
        }
        Ok(CompleteReply { text: raw.text, model: raw.model, usage: raw.usage })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the model that the reply names.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the tokens.
    pub fn usage(&self) -> Usage {
        self.usage
    }
}

/// What happened to a call that gave no usable answer (product contract, class table).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Refused, DNS, TLS, 5xx, reset, idle, no first byte, proxy page, redirect, content encoding, over a cap.
    Unreachable,
    /// The stream ended before its end mark.
    CutStream,
    /// 429.
    RateLimited,
    /// Quota or payment: waiting does not help.
    Quota,
    /// 401, 403, a key error in a 400, or a named key that is not there.
    Auth,
    /// The model is not served there.
    NotServed,
    /// The reply names a model of the author's family.
    AuthorFamily,
    /// 400: a parameter or the schema was not accepted, also without it.
    BadConfig,
    /// Too large for the model's window.
    TooLarge,
    /// The reply hit a token limit.
    Truncated,
    /// No or a wrong nonce, prose, several objects, a missing slice, duplicate keys, an unknown end.
    Malformed,
    /// Two different answers with the right nonce: somebody interferes (status 15).
    Contradiction,
    /// A refusal, a content filter, or empty text.
    Declined,
    /// A limit of the run was reached.
    Deadline,
}

impl Class {
    /// Returns the word of report and hop log.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Unreachable => "unreachable",
            Class::CutStream => "cut-stream",
            Class::RateLimited => "rate-limited",
            Class::Quota => "quota",
            Class::Auth => "auth",
            Class::NotServed => "not-served",
            Class::AuthorFamily => "author-family",
            Class::BadConfig => "bad-config",
            Class::TooLarge => "too-large",
            Class::Truncated => "truncated",
            Class::Malformed => "malformed",
            Class::Contradiction => "contradiction",
            Class::Declined => "declined",
            Class::Deadline => "deadline",
        }
    }

    /// Tells whether the same reviewer is asked again (three attempts, back-off, inside the slice).
    pub fn is_transient(self) -> bool {
        match self {
            Class::Unreachable | Class::CutStream => true,
            Class::RateLimited
            | Class::Quota
            | Class::Auth
            | Class::NotServed
            | Class::AuthorFamily
            | Class::BadConfig
            | Class::TooLarge
            | Class::Truncated
            | Class::Malformed
            | Class::Contradiction
            | Class::Declined
            | Class::Deadline => false,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The most of a fault's detail that is kept, in characters.
const MAX_DETAIL: usize = 600;

/// A call without a usable answer. Only the detail is masked; what is kept of a reply goes through the redactor before any sink.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What kind.
    pub class: Class,
    /// For people: what was seen, without any key, at most a few hundred characters.
    pub detail: String,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// Asking the same reviewer again is pointless although the class is transient (a redirect, a missed first byte).
    pub permanent: bool,
    /// The text that arrived before a token limit: its findings count, an empty list does not.
    pub partial: Option<String>,
    /// The text of a malformed or declined reply, to be kept in a file for a person.
    pub raw: Option<String>,
    /// The model that the reply named.
    pub model: Option<String>,
    /// Tokens that were used all the same.
    pub usage: Usage,
}

impl Fault {
    /// Makes a fault of a class with a sentence for people. The sentence may quote what a server sent, so it is cut.
    pub fn new(class: Class, detail: impl Into<String>) -> Fault {
        let mut detail: String = detail.into();
        if let Some((end, _)) = detail.char_indices().nth(MAX_DETAIL) {
            detail.truncate(end);
            detail.push('…');
        }
        Fault { class, detail, retry_after: None, permanent: false, partial: None, raw: None, model: None, usage: Usage::default() }
    }

    /// Marks the fault as one that another attempt cannot mend.
    pub fn permanent(self) -> Fault {
        Fault { permanent: true, ..self }
    }
}

/// A reviewer that can be asked. An implementation returns before `deadline` plus a moment; the caller does not rely on it.
pub trait Reviewer: Send + Sync {
    /// Returns what is configured.
    fn spec(&self) -> &Spec;

    /// Asks once: no retry, no judgement.
    ///
    /// # Errors
    /// A [`Fault`] for everything but a complete reply.
    fn ask(&self, question: &Question, deadline: Deadline) -> Result<CompleteReply, Fault>;

    /// Ends all calls under way; later ones fail at once.
    fn cancel(&self);
}

/// Returns a reviewer for table tests of the model layer.
#[cfg(test)]
pub(crate) fn test_spec(name: &str, family: &str) -> Spec {
    Spec {
        name: name.to_owned(),
        provider: Provider::OpenAi,
        host: "http://127.0.0.1:9/v1".to_owned(),
        host_is_default: false,
        model: format!("{family}-model"),
        family: Family::new(family),
        key: Key::None,
        timeout: None,
        first_byte_timeout: None,
        max_tokens: 16_000,
        window: 128_000,
        parallel: None,
        reasoning_off: false,
        reasoning_effort: None,
        extra: serde_json::Map::new(),
        price: Price { input: 0.0, output: 0.0, cached: 0.0 },
        ca_file: None,
        proxy: None,
        command: None,
    }
}
