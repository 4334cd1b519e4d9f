//! How a peer may behave, and the answer that comes of it. Faults are built on a reply that would pass: whoever lets one through fails open.

use super::http::{Answer, Ending};
use super::prompt::{Added, Request};
use super::{MODELS, wire};
use crate::common::Dialect;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const REVIEW: &str = include_str!("../../../../fixtures/replies/review.json");
const REFUTER: &str = include_str!("../../../../fixtures/replies/refuter.json");
const FINDING: &str = include_str!("../../../../fixtures/replies/finding.json");
const PROSE: &str = include_str!("../../../../fixtures/replies/prose.txt");
const PORTAL: &str = include_str!("../../../../fixtures/replies/portal.html");

type Change = dyn Fn(&mut Value, &Request) + Send + Sync;

/// How the peer behaves. Where nothing else is said, a refuter's question is answered with "it stands".
#[derive(Clone)]
pub enum Behaviour {
    /// Finds nothing.
    Clean,
    /// Reports every added line with the word EVIL, HIGH, at its place and with its text.
    Honest,
    /// Honest, and as a refuter says that the claim is wrong; `found` tells whether what it quotes is in the change.
    Refutes { found: bool },
    /// Honest, the reply then changed.
    Edit(Arc<Change>),
    /// Waits, then behaves so.
    Delay(Duration, Box<Behaviour>),
    /// Names another model than the one asked.
    Reports(&'static str, Box<Behaviour>),
    /// Takes the question and says nothing, ever.
    Hang,
    /// Sends a clean reply, a byte every 100 ms.
    Drip,
    /// Answers with a status and a text.
    Status(u16, &'static str),
    /// Answers 429 and asks to wait so many seconds.
    Busy(u32),
    /// A normal end and no text.
    Empty,
    /// Says in words that all is well.
    Prose,
    /// A clean reply with another nonce.
    WrongNonce,
    /// An honest reply, whole, ended by the token limit.
    LengthCut,
    /// Two clean replies.
    TwoObjects,
    /// Two replies with the right nonce that differ.
    TwoAnswers,
    /// A clean reply without the last slice.
    MissingSlice,
    /// A clean reply with `findings` twice.
    DuplicateKeys,
    /// A clean reply in a stream that breaks off.
    CutStream,
    /// A clean reply in a stream that ends properly but without its end mark.
    EofNoFinish,
    /// A clean reply, then an error in the stream.
    ErrorMidStream,
    /// Bytes that are no text.
    Garbage,
    /// Another server's page, status 200.
    HtmlPortal,
    /// A clean reply, compressed although nobody asked for it.
    ContentEncodingGzip,
    /// Sends the caller elsewhere.
    Redirect(String),
}

impl Behaviour {
    /// Honest, with a change to the reply.
    pub fn edit(change: impl Fn(&mut Value, &Request) + Send + Sync + 'static) -> Behaviour {
        Behaviour::Edit(Arc::new(change))
    }

    /// Honest, with every finding's field set.
    pub fn claims(field: &'static str, value: impl Into<Value>) -> Behaviour {
        let value = value.into();
        Behaviour::edit(move |reply, _| {
            for finding in reply["findings"].as_array_mut().into_iter().flatten() {
                finding[field] = value.clone();
            }
        })
    }

    /// Waits, then behaves so.
    pub fn after(self, delay: Duration) -> Behaviour {
        Behaviour::Delay(delay, Box::new(self))
    }
}

/// Turns behaviour and question into what goes over the wire.
pub(super) fn answer(behaviour: &Behaviour, request: &Request) -> Answer {
    let said = |text: String, ending| Answer::reply(wire::stream(request, request.model(), &text, &ending), ending);
    let clean = || match request.is_refuter() {
        true => stands(request),
        false => review(request, &[]),
    };
    match behaviour {
        Behaviour::Clean => said(clean(), Ending::Stop),
        Behaviour::Honest => said(honest(request), Ending::Stop),
        Behaviour::Refutes { found } => said(if request.is_refuter() { refuted(request, *found) } else { honest(request) }, Ending::Stop),
        Behaviour::Edit(change) => said(edited(request, change.as_ref()), Ending::Stop),
        Behaviour::Delay(delay, then) => answer(then, request).after(*delay),
        Behaviour::Reports(model, then) => answer(then, &request.asked_of(model)),
        Behaviour::Hang => Answer::silence(),
        Behaviour::Drip => said(clean(), Ending::Stop).paced(Duration::from_millis(100)),
        Behaviour::Status(status, text) => Answer::page(*status, "application/json", &wire::error(request, *status, text)),
        Behaviour::Busy(seconds) => {
            Answer::page(429, "application/json", &wire::error(request, 429, "slow down")).with("Retry-After", &seconds.to_string())
        }
        Behaviour::Empty => said(String::new(), Ending::Stop),
        Behaviour::Prose => said(PROSE.to_owned(), Ending::Stop),
        Behaviour::WrongNonce => said(clean().replace(&request.nonce(), &"f".repeat(32)), Ending::Stop),
        Behaviour::LengthCut => said(honest(request), Ending::Length),
        Behaviour::TwoObjects => said(format!("{}\n{}", clean(), clean()), Ending::Stop),
        Behaviour::TwoAnswers => said(format!("{}\n{}", clean(), clean().replace("null", r#""it drops a table""#)), Ending::Stop),
        Behaviour::MissingSlice => said(edited(request, &forget_last_slice), Ending::Stop),
        Behaviour::DuplicateKeys => said(clean().replacen(r#""findings":"#, r#""findings": [], "findings":"#, 1), Ending::Stop),
        Behaviour::CutStream => said(clean(), Ending::Cut),
        Behaviour::EofNoFinish => said(clean(), Ending::Nothing),
        Behaviour::ErrorMidStream => said(clean(), Ending::Error),
        Behaviour::Garbage => Answer::reply((0..=255u8).cycle().take(4096).collect(), Ending::Stop),
        Behaviour::HtmlPortal => Answer::page(200, "text/html", PORTAL),
        Behaviour::ContentEncodingGzip => Answer::packed(&wire::stream(request, request.model(), &clean(), &Ending::Stop)),
        Behaviour::Redirect(to) => Answer::page(307, "text/plain", "elsewhere").with("Location", &format!("{to}{}", request.path)),
    }
}

/// Returns the list of models in the dialect's form.
pub(super) fn model_list(request: &Request) -> Answer {
    let body = match request.dialect() {
        Dialect::Ollama => json!({"models": MODELS.map(|name| json!({"name": name, "model": name}))}),
        Dialect::OpenAi | Dialect::Anthropic => json!({"object": "list", "data": MODELS.map(|id| json!({"id": id, "object": "model"}))}),
    };
    Answer::page(200, "application/json", &body.to_string())
}

fn honest(request: &Request) -> String {
    match request.is_refuter() {
        true => stands(request),
        false => review(request, &evil(request)),
    }
}

fn evil(request: &Request) -> Vec<Value> {
    let report = |added: Added| {
        let mut finding: Value = serde_json::from_str(FINDING).expect("the fixture is JSON");
        finding["file"] = json!(added.file);
        finding["line"] = json!(added.line);
        finding["evidence"] = json!(added.text);
        finding
    };
    request.added().into_iter().filter(|added| added.text.contains("EVIL")).map(report).collect()
}

fn review(request: &Request, findings: &[Value]) -> String {
    REVIEW
        .trim()
        .replace("{{nonce}}", &request.nonce())
        .replace("{{reviewed}}", &json!(request.slices()).to_string())
        .replace("{{findings}}", &json!(findings).to_string())
}

/// "The claim is right": quotes the line that is claimed, or the first one that the change adds.
fn stands(request: &Request) -> String {
    let added = request.added();
    let place = added.iter().find(|a| a.text.contains("EVIL")).or(added.first());
    refuter(request, false, place)
}

fn refuted(request: &Request, found: bool) -> String {
    let invented = Added { file: "nowhere.rs".into(), line: 7, text: "assert!(input.was_checked_long_before());".into() };
    match found {
        true => refuter(request, true, request.added().first()),
        false => refuter(request, true, Some(&invented)),
    }
}

fn refuter(request: &Request, refuted: bool, place: Option<&Added>) -> String {
    let (file, line, text) = place.map_or(("", 0, ""), |a| (a.file.as_str(), a.line, a.text.as_str()));
    REFUTER
        .trim()
        .replace("{{nonce}}", &request.nonce())
        .replace("{{refuted}}", &refuted.to_string())
        .replace("{{file}}", &json!(file).to_string())
        .replace("{{line}}", &line.to_string())
        .replace("{{evidence}}", &json!(text).to_string())
}

/// Changes an honest reply and keeps `complete` as its last key.
fn edited(request: &Request, change: &Change) -> String {
    let mut reply: Value = serde_json::from_str(&honest(request)).expect("the template is JSON");
    change(&mut reply, request);
    let complete = reply.as_object_mut().and_then(|map| map.remove("complete"));
    let text = reply.to_string();
    match (complete, text.strip_suffix('}')) {
        (Some(complete), Some(open)) => format!(r#"{open},"complete":{complete}}}"#),
        _ => text,
    }
}

fn forget_last_slice(reply: &mut Value, _: &Request) {
    if let Some(reviewed) = reply["reviewed"].as_array_mut() {
        reviewed.pop();
    }
}
