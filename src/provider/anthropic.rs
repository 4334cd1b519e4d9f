//! The messages API with named server-sent events.
//!
//! Finished means a `stop_reason` and then `message_stop`. Thinking blocks are left out; the arguments of a tool call count as text, since a schema may reach
//! the model as a tool. No temperature is sent: newer models refuse it (requirement H08). There is no list of models to ask for first (requirement H04).

use super::{Dialect, Knob, Knobs, Next, Refusal};
use crate::reviewer::{Fault, Finish, Question, RawReply, Secret, Spec, Usage};
use crate::transport::http::{Header, Response};
use crate::transport::sse::Events;
use serde::Deserialize;
use serde_json::{Value, json};

const VERSION: &str = "2023-06-01";

/// The dialect.
pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn base<'a>(&self, host: &'a str) -> &'a str {
        host.strip_suffix("/v1").unwrap_or(host)
    }

    fn headers(&self, key: Option<&Secret>) -> Option<Vec<Header>> {
        let mut headers = vec![Header::plain("anthropic-version", VERSION)];
        if let Some(key) = key {
            headers.push(Header::secret("x-api-key", "", key)?);
        }
        Some(headers)
    }

    fn call_path(&self) -> &'static str {
        "/v1/messages"
    }

    fn body(&self, spec: &Spec, question: &Question, refused: Knobs) -> String {
        let shared = json!({ "type": "text", "text": question.shared.as_str(), "cache_control": { "type": "ephemeral" } });
        let brief = json!({ "type": "text", "text": question.brief.as_str() });
        let body = json!({
            "model": spec.model,
            "max_tokens": question.max_tokens,
            "stream": true,
            "system": question.system.as_str(),
            "messages": [{ "role": "user", "content": [shared, brief] }],
        });
        let mut body = body.to_string();
        if !refused.has(Knob::Schema) {
            super::append(&mut body, "output_config", &format!(r#"{{"format":{{"type":"json_schema","schema":{}}}}}"#, question.schema));
        }
        body
    }

    fn read(&self, _: &Spec, _: &Question, reply: &mut Response) -> Result<RawReply, Fault> {
        let mut fold = Fold::default();
        if reply.content_type == "application/json" {
            // Some proxies do not stream whatever they are asked (requirement H06).
            fold.whole(reply.whole()?)?;
            return Ok(fold.end());
        }
        let mut events = Events::default();
        while let Some(event) = super::next_event(reply, &mut events)? {
            if fold.frame(&event.data)? == Next::Done {
                break;
            }
        }
        if fold.begun { Ok(fold.end()) } else { Err(super::empty_reply()) }
    }

    fn refused_knob(&self, refusal: &Refusal) -> Option<Knob> {
        refusal.says(&["output_config", "output_format", "json_schema", "json schema", "structured output"]).then_some(Knob::Schema)
    }
}

/// Any event; its `type` says which parts are there.
#[derive(Deserialize)]
struct Frame {
    r#type: String,
    message: Option<Message>,
    content_block: Option<Block>,
    delta: Option<Delta>,
    usage: Option<Tokens>,
    error: Option<Failure>,
}

/// The message that a stream opens with, or a whole one.
#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    content: Option<Vec<Block>>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Block {
    r#type: Option<String>,
    text: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Failure {
    r#type: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Tokens {
    /// Adds what this report knows: counts are totals, and a later report may leave some out.
    fn update(&self, usage: &mut Usage) {
        let parts = [self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        let input: u64 = parts.iter().flatten().sum();
        if input > 0 {
            *usage = Usage { input, cached: self.cache_read_input_tokens.unwrap_or(0), ..*usage };
        }
        usage.output = self.output_tokens.unwrap_or(usage.output);
    }
}

/// Frames → reply.
#[derive(Default)]
struct Fold {
    text: String,
    arguments: String,
    stop_reason: Option<String>,
    stopped: bool,
    model: Option<String>,
    usage: Usage,
    begun: bool,
}

impl Fold {
    fn frame(&mut self, data: &str) -> Result<Next, Fault> {
        self.begun = true;
        let frame: Frame = serde_json::from_str(data).map_err(|error| super::bad_frame(&error, &self.text))?;
        match frame.r#type.as_str() {
            "error" => return Err(failed(frame.error.as_ref())),
            "message_start" => self.open(frame.message),
            "content_block_start" => self.block(frame.content_block),
            "content_block_delta" => self.delta(frame.delta),
            "message_delta" => self.stop_reason = frame.delta.and_then(|delta| delta.stop_reason).or(self.stop_reason.take()),
            "message_stop" => self.stopped = true,
            // `ping`, `content_block_stop` and the events of the future: the API's description asks clients to pass over what they do not know.
            _ => {}
        }
        if let Some(tokens) = &frame.usage {
            tokens.update(&mut self.usage);
        }
        Ok(if self.stopped { Next::Done } else { Next::More })
    }

    fn whole(&mut self, body: Vec<u8>) -> Result<(), Fault> {
        let message: Message = super::whole_body(&body)?;
        drop(body);
        if message.error.is_some() {
            return Err(failed(message.error.as_ref()));
        }
        self.stop_reason = message.stop_reason.clone();
        self.stopped = true;
        self.open(Some(message));
        Ok(())
    }

    fn open(&mut self, message: Option<Message>) {
        let Some(message) = message else { return };
        if let Some(tokens) = &message.usage {
            tokens.update(&mut self.usage);
        }
        self.model = message.model;
        message.content.into_iter().flatten().for_each(|block| self.block(Some(block)));
    }

    fn block(&mut self, block: Option<Block>) {
        let Some(block) = block else { return };
        match block.r#type.as_deref() {
            Some("text") => super::gather(&mut self.text, block.text),
            // A stream opens a tool call with empty arguments and sends them later; a whole message has them here.
            Some("tool_use") => match block.input {
                Some(Value::Object(input)) if !input.is_empty() => self.arguments.push_str(&Value::Object(input).to_string()),
                Some(_) | None => {}
            },
            _ => {}
        }
    }

    fn delta(&mut self, delta: Option<Delta>) {
        let Some(delta) = delta else { return };
        super::gather(&mut self.text, delta.text);
        super::gather(&mut self.arguments, delta.partial_json);
    }

    fn end(self) -> RawReply {
        let called = !self.arguments.is_empty();
        let finish = self.stop_reason.filter(|_| self.stopped).map(|word| finish(word, called));
        RawReply { text: if called { self.arguments } else { self.text }, finish, model: self.model, usage: self.usage }
    }
}

fn finish(word: String, called: bool) -> Finish {
    match word.as_str() {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" if called => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refused,
        _ => Finish::Other(word),
    }
}

fn failed(error: Option<&Failure>) -> Fault {
    let kind = error.and_then(|error| error.r#type.as_deref()).unwrap_or("");
    super::failed_midway(kind, error.and_then(|error| error.message.as_deref()).unwrap_or("no explanation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::reviewer::Class;

    fn fold(frames: &[&str]) -> Result<RawReply, Fault> {
        let mut fold = Fold::default();
        for frame in frames {
            fold.frame(frame)?;
        }
        Ok(fold.end())
    }

    #[test]
    fn a_stop_reason_counts_only_with_the_end_of_the_message() {
        let text = r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}"#;
        let reason = |word: &str| format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{word}"}}}}"#);
        let stop = r#"{"type":"message_stop"}"#;
        assert_eq!(fold(&[text, &reason("end_turn")]).unwrap().finish, None);
        assert_eq!(fold(&[text, stop]).unwrap().finish, None);
        let table = [
            ("end_turn", Finish::Stop),
            ("stop_sequence", Finish::Stop),
            ("max_tokens", Finish::Length),
            ("model_context_window_exceeded", Finish::Length),
            ("refusal", Finish::Refused),
            ("tool_use", Finish::Other("tool_use".into())),
            ("pause_turn", Finish::Other("pause_turn".into())),
        ];
        for (word, want) in table {
            assert_eq!(fold(&[text, &reason(word), stop]).unwrap().finish, Some(want), "{word}");
        }
    }

    #[test]
    fn an_error_in_the_stream_is_an_outage_unless_it_is_about_the_rate() {
        for (kind, class) in [("overloaded_error", Class::Unreachable), ("api_error", Class::Unreachable), ("rate_limit_error", Class::RateLimited)] {
            let frame = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}}}}"#);
            assert_eq!(fold(&[&frame]).unwrap_err().class, class, "{kind}");
        }
    }

    #[test]
    fn cached_tokens_count_as_prompt_tokens() {
        let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":100,"output_tokens":1}}}"#;
        let delta = r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":9}}"#;
        assert_eq!(fold(&[start, delta]).unwrap().usage, Usage { input: 103, cached: 100, output: 9 });
    }

    #[test]
    fn a_whole_message_is_accepted_and_a_cut_one_is_not() {
        let body =
            r#"{"type":"message","model":"m","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"x"}],"stop_reason":"end_turn"}"#;
        let mut whole = Fold::default();
        whole.whole(body.into()).unwrap();
        let reply = whole.end();
        assert_eq!((reply.text.as_str(), reply.finish), ("x", Some(Finish::Stop)));
        assert_eq!(Fold::default().whole(body[..60].into()).unwrap_err().class, Class::CutStream);
    }
}
