//! Reviewers behind an API. A dialect, one a file, knows its request body, its list of models, how its events fold into text, and what "finished" means there;
//! this file knows the course that every call takes. No judgement of the text: that is `reply`'s and `review/`'s.

mod anthropic;
mod knobs;
mod ollama;
mod openai;
mod preflight;
mod refusal;
#[cfg(test)]
mod replay;
mod scrub;

use crate::clock::{Deadline, Limit};
use crate::reviewer::{Class, CompleteReply, Fault, Key, Provider, Question, RawReply, Reviewer, Secret, Spec};
use crate::transport::http::{self, Client, ClientError, Header, Limits, Response};
use crate::transport::sse::{Event, Events};
use knobs::{Knob, Knobs, SharedKnobs};
use preflight::Preflight;
use refusal::Refusal;
use scrub::Scrub;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use std::sync::Arc;
use std::time::Duration;

const MODEL_LIST: Duration = Duration::from_secs(5);
/// A streamed token with its wrapping is seldom longer; 16,000 tokens fit the usual cap.
const BYTES_PER_TOKEN: usize = 512;
const ERROR_TEXT: usize = 64 << 10;

/// Why there is no reviewer for a configured entry.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No reviewer of this kind is built in.
    #[error("reviewer {name:?}: provider {} is not supported yet", provider.as_str())]
    Unsupported {
        /// The entry.
        name: String,
        /// Its provider.
        provider: Provider,
    },
    /// A setting of the entry cannot be used.
    #[error("reviewer {name:?}: {source}")]
    Setting {
        /// The entry.
        name: String,
        /// Which, and why.
        source: ClientError,
    },
}

/// Makes a reviewer of a configured entry. No connection is made before the first question.
///
/// # Errors
/// [`ConnectError`] where the entry's provider or one of its settings cannot be used.
pub fn connect(spec: Spec) -> Result<Arc<dyn Reviewer>, ConnectError> {
    match spec.provider {
        Provider::OpenAi => Ok(Arc::new(Api::new(openai::OpenAi, spec)?)),
        Provider::Anthropic => Ok(Arc::new(Api::new(anthropic::Anthropic, spec)?)),
        Provider::Ollama => Ok(Arc::new(Api::new(ollama::Ollama, spec)?)),
        Provider::Cli => Err(ConnectError::Unsupported { name: spec.name, provider: spec.provider }),
    }
}

/// Lists the models that an ollama on this machine serves; empty where none answers. For `init`, which asks nobody but the loopback interface.
pub fn ollama_models(host: &str, deadline: Deadline) -> Vec<String> {
    let dialect = ollama::Ollama;
    let list = || {
        let client = Client::new(dialect.base(host), None, None).ok()?;
        let reply = client.send(dialect.models_path()?, &[], None, Limits::until(deadline)).ok()?;
        let mut reply = Some(reply).filter(|reply| reply.status == 200)?;
        dialect.models(&reply.whole().ok()?)
    };
    list().unwrap_or_default()
}

/// What differs from dialect to dialect. Each file has these parts, in this order; the defaults are for what a dialect does not have.
trait Dialect: Send + Sync {
    /// Returns the part of the configured host that paths are appended to.
    fn base<'a>(&self, host: &'a str) -> &'a str {
        host
    }

    /// Returns the dialect's own headers, the key's among them; `None` where the key cannot be sent as one.
    fn headers(&self, key: Option<&Secret>) -> Option<Vec<Header>>;

    /// Returns the path of the list of models; `None` where there is no preflight (requirement H04).
    fn models_path(&self) -> Option<&'static str> {
        None
    }

    /// Reads the list of models; `None` where the body is none.
    fn models(&self, _body: &[u8]) -> Option<Vec<String>> {
        None
    }

    /// Tells whether a listed name is the model that was configured.
    fn is_model(&self, listed: &str, model: &str) -> bool {
        listed == model
    }

    /// Returns the path of a call.
    fn call_path(&self) -> &'static str;

    /// Returns the body of a call, without what the server has refused before.
    fn body(&self, spec: &Spec, question: &Question, refused: Knobs) -> String;

    /// Reads a reply of status 200 to its end mark.
    fn read(&self, spec: &Spec, question: &Question, reply: &mut Response) -> Result<RawReply, Fault>;

    /// Names the part of a body that a refusal is about, where a call can do without it.
    fn refused_knob(&self, refusal: &Refusal) -> Option<Knob>;
}

/// A reviewer behind an API.
struct Api<D> {
    dialect: D,
    spec: Spec,
    client: Client,
    scrub: Scrub,
    preflight: Preflight,
    refused: SharedKnobs,
}

impl<D: Dialect> Api<D> {
    fn new(dialect: D, spec: Spec) -> Result<Api<D>, ConnectError> {
        let client = Client::new(dialect.base(spec.host.trim_end_matches('/')), spec.ca_file.as_deref(), spec.proxy.as_deref());
        let client = client.map_err(|source| ConnectError::Setting { name: spec.name.clone(), source })?;
        let scrub = Scrub::new(&spec.key);
        Ok(Api { dialect, spec, client, scrub, preflight: Preflight::default(), refused: SharedKnobs::default() })
    }

    fn answer(&self, question: &Question, deadline: Deadline) -> Result<CompleteReply, Fault> {
        let headers = self.headers()?;
        self.preflight.once(deadline, || self.check_model(&headers, deadline))?;
        let raw = self.call(&headers, question, deadline)?;
        CompleteReply::accept(raw)
    }

    fn headers(&self) -> Result<Vec<Header>, Fault> {
        let key = match &self.spec.key {
            Key::None => None,
            Key::Value(key) => Some(key),
            Key::Missing(named) => return Err(Fault::new(Class::Auth, format!("the key {named} is not there; no call was made"))),
        };
        let unfit = || Fault::new(Class::Auth, "the key holds a character that no header can carry, such as a line break; no call was made");
        self.dialect.headers(key).ok_or_else(unfit)
    }

    /// Asks the host which models it serves. A host without such a list goes on to the call, which will tell (ruling on H03).
    fn check_model(&self, headers: &[Header], deadline: Deadline) -> Result<(), Fault> {
        let Some(path) = self.dialect.models_path() else { return Ok(()) };
        let mut reply = self.client.send(path, headers, None, Limits::until(deadline.within(MODEL_LIST, Limit::Preflight)))?;
        if reply.status != 200 {
            let fault = Refusal::read(reply).fault();
            return match fault.class {
                Class::Auth | Class::Quota | Class::RateLimited | Class::Unreachable | Class::Deadline => Err(fault),
                Class::CutStream
                | Class::NotServed
                | Class::AuthorFamily
                | Class::BadConfig
                | Class::TooLarge
                | Class::Truncated
                | Class::Malformed
                | Class::Contradiction
                | Class::Declined => Ok(()),
            };
        }
        let Some(listed) = self.dialect.models(&reply.whole()?) else { return Ok(()) };
        if listed.iter().any(|name| self.dialect.is_model(name, &self.spec.model)) {
            return Ok(());
        }
        Err(preflight::not_served(&self.spec.model, self.client.authority(), &listed))
    }

    /// Makes the call; where the server refuses a part of the body that a call can do without, once more without it. What was refused is left out from then on.
    fn call(&self, headers: &[Header], question: &Question, deadline: Deadline) -> Result<RawReply, Fault> {
        loop {
            let left_out = self.refused.get();
            let body = self.dialect.body(&self.spec, question, left_out);
            let mut reply = self.client.send(self.dialect.call_path(), headers, Some(body), self.limits(question, deadline))?;
            if reply.status == 200 {
                return self.read(question, &mut reply);
            }
            let refusal = Refusal::read(reply);
            // A part is refused at most once: the next body does not hold it, so the loop ends. A parallel call may have been quicker to leave it out.
            match self.dialect.refused_knob(&refusal).filter(|knob| refusal.is_bad_request() && !left_out.has(*knob)) {
                Some(knob) => self.refused.add(knob),
                None => return Err(refusal.fault()),
            }
        }
    }

    fn read(&self, question: &Question, reply: &mut Response) -> Result<RawReply, Fault> {
        if reply.content_type == "text/html" {
            let detail = format!("{} answered with a web page: not an API, or a portal or proxy in between", self.client.authority());
            return Err(Fault::new(Class::Unreachable, detail));
        }
        self.dialect.read(&self.spec, question, reply)
    }

    fn limits(&self, question: &Question, deadline: Deadline) -> Limits {
        let body = http::BODY_CAP.max(question.max_tokens as usize * BYTES_PER_TOKEN);
        Limits { first_byte: self.spec.first_byte_timeout, body, ..Limits::until(deadline) }
    }
}

impl<D: Dialect> Reviewer for Api<D> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn ask(&self, question: &Question, deadline: Deadline) -> Result<CompleteReply, Fault> {
        let deadline = self.spec.timeout.map_or(deadline, |limit| deadline.within(limit, Limit::Reviewer));
        self.answer(question, deadline).map_err(|fault| self.scrub.fault(fault))
    }

    fn cancel(&self) {
        self.client.cancel();
    }
}

/// Appends a member to the JSON text of an object. The schema goes in as the text it is: read and written again it would lose the order of its keys, and
/// models answer in that order.
fn append(object: &mut String, name: &str, json: &str) {
    let closing = object.pop();
    debug_assert_eq!(closing, Some('}'), "the body of a request is an object");
    object.push_str(&format!(",\"{name}\":{json}}}"));
}

/// Whether a dialect wants more of a reply.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    More,
    Done,
}

/// Returns the next event of a reply; `None` at its proper end.
fn next_event(reply: &mut Response, events: &mut Events) -> Result<Option<Event>, Fault> {
    while let Some(line) = reply.next_line()? {
        let event = events.line(&line).map_err(|error| bad_frame(&error, ""))?;
        if event.is_some() {
            return Ok(event);
        }
    }
    events.end().map_err(|error| bad_frame(&error, ""))
}

/// Reads a reply that came as one JSON value.
fn whole_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Eof if body.trim_ascii().is_empty() => empty_reply(),
        Category::Eof => Fault::new(Class::CutStream, "the reply ends in the middle of its JSON"),
        Category::Io | Category::Syntax | Category::Data => bad_frame(&error, &String::from_utf8_lossy(body)),
    })
}

/// Says that a frame is not what the protocol promises. Never skipped: what it held may have been the end of a finding (ruling on H05).
fn bad_frame(error: &dyn std::fmt::Display, text: &str) -> Fault {
    Fault { raw: Some(text.to_owned()), ..Fault::new(Class::Malformed, format!("a frame of the reply cannot be read: {error}")) }
}

/// Says that the server reported an error after it had begun to answer with 200.
fn failed_midway(kind: &str, message: &str) -> Fault {
    let class = if ["rate_limit_error", "rate_limit_exceeded"].contains(&kind) { Class::RateLimited } else { Class::Unreachable };
    Fault::new(class, format!("the server broke off with an error: {message}"))
}

/// Appends a piece of a reply. The first is taken as it is: a host that does not stream sends megabytes in one.
fn gather(text: &mut String, piece: Option<String>) {
    match piece {
        Some(piece) if text.is_empty() => *text = piece,
        Some(piece) => text.push_str(&piece),
        None => {}
    }
}

/// Says that the body ended properly and held nothing at all.
fn empty_reply() -> Fault {
    Fault::new(Class::Declined, "the reply is empty")
}
