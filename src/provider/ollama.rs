//! Ollama's own API: newline-delimited JSON.
//!
//! Finished means `done` with a `done_reason`. The window is asked for with every call (`num_ctx`), since the server's own default is small and it cuts a longer
//! prompt in silence (threat T13); what it reports to have read is held against what was sent.

use super::{Dialect, Knob, Knobs, Next, Refusal};
use crate::reviewer::{Class, Fault, Finish, Question, RawReply, Secret, Spec, Usage};
use crate::transport::http::{Header, Response};
use crate::transport::ndjson;
use serde::Deserialize;
use serde_json::json;

const TEMPERATURE: f64 = 0.2;
/// The words by which the server says what it does not take.
const COMPLAINTS: [(Knob, &[&str]); 2] = [(Knob::Think, &["thinking"]), (Knob::Schema, &["format", "schema", "grammar"])];
/// No text of ours has so few tokens: code has one in three or four bytes.
const BYTES_PER_TOKEN: usize = 12;
/// Below this a small count may be that of an old server, which leaves out the tokens it had cached.
const COUNTED: u64 = 1024;

/// The dialect.
pub(super) struct Ollama;

impl Dialect for Ollama {
    /// The compatible endpoint's base is accepted too (requirement H02).
    fn base<'a>(&self, host: &'a str) -> &'a str {
        host.strip_suffix("/v1").unwrap_or(host)
    }

    fn headers(&self, key: Option<&Secret>) -> Option<Vec<Header>> {
        match key {
            Some(key) => Some(vec![Header::secret("authorization", "Bearer ", key)?]),
            None => Some(Vec::new()),
        }
    }

    fn models_path(&self) -> Option<&'static str> {
        Some("/api/tags")
    }

    fn models(&self, body: &[u8]) -> Option<Vec<String>> {
        let tags: Tags = serde_json::from_slice(body).ok()?;
        Some(tags.models.unwrap_or_default().into_iter().map(|model| model.name).collect())
    }

    /// A name without a tag means its `latest`.
    fn is_model(&self, listed: &str, model: &str) -> bool {
        let tagged = |name: &str| if name.contains(':') { name.to_owned() } else { format!("{name}:latest") };
        tagged(listed) == tagged(model)
    }

    fn call_path(&self) -> &'static str {
        "/api/chat"
    }

    fn body(&self, spec: &Spec, question: &Question, refused: Knobs) -> String {
        let user = format!("{}\n\n{}", question.shared.as_str(), question.brief.as_str());
        let mut body = json!({
            "model": spec.model,
            "messages": [{ "role": "system", "content": question.system.as_str() }, { "role": "user", "content": user }],
            "stream": true,
            "options": { "num_ctx": spec.window, "num_predict": question.max_tokens, "temperature": TEMPERATURE },
        });
        if !refused.has(Knob::Think) {
            body["think"] = json!(false);
        }
        let mut body = body.to_string();
        if !refused.has(Knob::Schema) {
            super::append(&mut body, "format", question.schema);
        }
        body
    }

    fn read(&self, spec: &Spec, question: &Question, reply: &mut Response) -> Result<RawReply, Fault> {
        let mut fold = Fold::default();
        while let Some(line) = reply.next_line()? {
            let value = ndjson::value(&line).map_err(|error| super::bad_frame(&error, &fold.raw.text))?;
            if let Some(value) = value
                && fold.line(value)? == Next::Done
            {
                whole_prompt(spec, question, fold.raw.usage)?;
                return Ok(fold.raw);
            }
        }
        if fold.begun { Ok(fold.raw) } else { Err(super::empty_reply()) }
    }

    fn refused_knob(&self, refusal: &Refusal) -> Option<Knob> {
        COMPLAINTS.iter().find(|(_, words)| refusal.says(words)).map(|(knob, _)| *knob)
    }
}

#[derive(Deserialize)]
struct Tags {
    models: Option<Vec<Tag>>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

#[derive(Deserialize)]
struct Line {
    model: Option<String>,
    message: Option<Message>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

/// Lines → reply.
#[derive(Default)]
struct Fold {
    raw: RawReply,
    begun: bool,
}

impl Fold {
    fn line(&mut self, value: &str) -> Result<Next, Fault> {
        self.begun = true;
        let line: Line = serde_json::from_str(value).map_err(|error| super::bad_frame(&error, &self.raw.text))?;
        if let Some(error) = &line.error {
            return Err(super::failed_midway("", error));
        }
        super::gather(&mut self.raw.text, line.message.and_then(|message| message.content));
        self.raw.model = line.model.or(self.raw.model.take());
        if !line.done {
            return Ok(Next::More);
        }
        self.raw.usage = Usage { input: line.prompt_eval_count.unwrap_or(0), cached: 0, output: line.eval_count.unwrap_or(0) };
        self.raw.finish = Some(finish(line.done_reason)?);
        Ok(Next::Done)
    }
}

fn finish(word: Option<String>) -> Result<Finish, Fault> {
    match word.as_deref() {
        Some("stop") => Ok(Finish::Stop),
        Some("length") => Ok(Finish::Length),
        Some("load") => Err(Fault::new(Class::Declined, "the server loaded the model and generated nothing")),
        Some(_) | None => Ok(Finish::Other(word.unwrap_or_else(|| "done without a reason".to_owned()))),
    }
}

/// Refuses a reply to a prompt that the server cut: one that fills the window, or that has far too few tokens for its bytes. A review of the rest proves
/// nothing, although it carries the right nonce, which stands at the end.
fn whole_prompt(spec: &Spec, question: &Question, usage: Usage) -> Result<(), Fault> {
    let sent = question.system.as_str().len() + question.shared.as_str().len() + question.brief.as_str().len();
    let fills_the_window = usage.input >= spec.window;
    let too_few = usage.input >= COUNTED && sent as u64 > usage.input.saturating_mul(BYTES_PER_TOKEN as u64);
    if !(fills_the_window || too_few) {
        return Ok(());
    }
    let detail =
        format!("the server read {} tokens of a prompt of {sent} bytes: it cut the prompt to its window (window: {})", usage.input, spec.window);
    Err(Fault { usage, ..Fault::new(Class::TooLarge, detail) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_stream_has_one_meaning() {
        let end = |rest: &str| {
            let mut fold = Fold::default();
            fold.line(r#"{"message":{"content":"x"},"done":false}"#).unwrap();
            fold.line(&format!(r#"{{"message":{{"content":""}},"done":true{rest}}}"#)).map(|_| fold.raw.finish.unwrap())
        };
        assert_eq!(end(r#","done_reason":"stop""#).unwrap(), Finish::Stop);
        assert_eq!(end(r#","done_reason":"length""#).unwrap(), Finish::Length);
        assert_eq!(end(r#","done_reason":"unload""#).unwrap(), Finish::Other("unload".into()));
        assert_eq!(end("").unwrap(), Finish::Other("done without a reason".into()));
        assert_eq!(end(r#","done_reason":"load""#).unwrap_err().class, Class::Declined);
        assert_eq!(end(r#","error":"oom""#).unwrap_err().class, Class::Unreachable);
    }

    #[test]
    fn a_prompt_that_was_cut_is_noticed_and_an_honest_count_is_not() {
        let mut spec = crate::provider::replay::spec(crate::reviewer::Provider::Ollama, "http://127.0.0.1:1");
        spec.window = 32_768;
        let table = [
            (560_000, 16_387, true),
            (560_000, 160_000, true),
            (100_000, 32_768, true),
            (100_000, 30_000, false),
            (100_000, 500, false),
            (100_000, 0, false),
            (10_000, 1_100, false),
        ];
        for (bytes, input, cut) in table {
            let question = crate::provider::replay::question(&"x".repeat(bytes));
            assert_eq!(whole_prompt(&spec, &question, Usage { input, ..Usage::default() }).is_err(), cut, "{bytes} bytes, {input} tokens");
        }
    }

    #[test]
    fn a_name_without_a_tag_is_its_latest() {
        assert!(Ollama.is_model("other:latest", "other"));
        assert!(Ollama.is_model("syn:1b", "syn:1b"));
        assert!(!Ollama.is_model("syn:1b", "syn"));
    }
}
