//! Chat completions with server-sent events: OpenAI and every compatible host (vLLM, llama.cpp, OpenRouter, NVIDIA, DeepSeek, Gemini's compatible endpoint).
//!
//! Finished means a `finish_reason`; `[DONE]` alone does not count, and a stream that ends without it after a `finish_reason` does. Only `content` is text:
//! `reasoning` and `reasoning_content` are left out. A think block inside the content is for the reply's reader.

use super::{Dialect, Knob, Knobs, Next, Refusal};
use crate::reviewer::{Fault, Finish, Question, RawReply, Secret, Spec, Usage};
use crate::transport::http::{Header, Response};
use crate::transport::sse::Events;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const TEMPERATURE: f64 = 0.2;
/// The words by which hosts say what they do not take.
const COMPLAINTS: [(Knob, &[&str]); 4] = [
    (Knob::MaxTokens, &["max_completion_tokens"]),
    (Knob::StreamOptions, &["stream_options"]),
    (Knob::Temperature, &["temperature"]),
    (Knob::Schema, &["response_format", "json_schema", "json schema", "structured output", "guided_json", "grammar"]),
];

/// The dialect.
pub(super) struct OpenAi;

impl Dialect for OpenAi {
    fn headers(&self, key: Option<&Secret>) -> Option<Vec<Header>> {
        match key {
            Some(key) => Some(vec![Header::secret("authorization", "Bearer ", key)?]),
            None => Some(Vec::new()),
        }
    }

    fn models_path(&self) -> Option<&'static str> {
        Some("/models")
    }

    fn models(&self, body: &[u8]) -> Option<Vec<String>> {
        let list: ModelList = serde_json::from_slice(body).ok()?;
        Some(list.data.into_iter().map(|model| model.id).collect())
    }

    /// Gemini lists its models under `models/`, while a call takes either form.
    fn is_model(&self, listed: &str, model: &str) -> bool {
        let bare = |name: &str| name.strip_prefix("models/").unwrap_or(name).to_owned();
        bare(listed) == bare(model)
    }

    fn call_path(&self) -> &'static str {
        "/chat/completions"
    }

    fn body(&self, spec: &Spec, question: &Question, refused: Knobs) -> String {
        let user = format!("{}\n\n{}", question.shared.as_str(), question.brief.as_str());
        let keep = |knob| !refused.has(knob);
        let body = Body {
            model: &spec.model,
            messages: [Message { role: "system", content: question.system.as_str() }, Message { role: "user", content: &user }],
            stream: true,
            stream_options: keep(Knob::StreamOptions).then(|| json!({ "include_usage": true })),
            temperature: keep(Knob::Temperature).then_some(TEMPERATURE),
            max_tokens: keep(Knob::MaxTokens).then_some(question.max_tokens),
            max_completion_tokens: refused.has(Knob::MaxTokens).then_some(question.max_tokens),
            provider: (keep(Knob::Schema) && is_openrouter(&spec.host)).then(|| json!({ "require_parameters": true })),
            reasoning: reasoning(spec),
        };
        let mut body = serde_json::to_string(&body).expect("strings, numbers and maps with string keys are JSON");
        if keep(Knob::Schema) {
            let format = format!(r#"{{"type":"json_schema","json_schema":{{"name":"review","strict":true,"schema":{}}}}}"#, question.schema);
            super::append(&mut body, "response_format", &format);
        }
        body
    }

    fn read(&self, _: &Spec, _: &Question, reply: &mut Response) -> Result<RawReply, Fault> {
        let mut fold = Fold::default();
        if reply.content_type == "application/json" {
            // Some servers do not stream whatever they are asked (requirement H06).
            fold.whole(reply.whole()?)?;
            return Ok(fold.raw);
        }
        let mut events = Events::default();
        while let Some(event) = super::next_event(reply, &mut events)? {
            if fold.frame(&event.data)? == Next::Done {
                break;
            }
        }
        if fold.begun { Ok(fold.raw) } else { Err(super::empty_reply()) }
    }

    fn refused_knob(&self, refusal: &Refusal) -> Option<Knob> {
        COMPLAINTS.iter().find(|(_, words)| refusal.says(words)).map(|(knob, _)| *knob)
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Value>,
    #[serde(flatten)]
    reasoning: Map<String, Value>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// OpenRouter hands a call to any provider, and drops what that one does not know, unless told that it matters.
fn is_openrouter(host: &str) -> bool {
    host.contains("://openrouter.ai")
}

/// Returns the body keys of requirement H20: the configured extra ones; off wins over an effort.
fn reasoning(spec: &Spec) -> Map<String, Value> {
    const TEMPLATE: &str = "chat_template_kwargs";
    let mut keys = spec.extra.clone();
    if spec.reasoning_off {
        keys.remove("reasoning_effort");
        let mut template = keys.get(TEMPLATE).and_then(Value::as_object).cloned().unwrap_or_default();
        template.extend(["thinking", "enable_thinking"].map(|name| (name.to_owned(), Value::Bool(false))));
        keys.insert(TEMPLATE.to_owned(), Value::Object(template));
    } else if let Some(effort) = &spec.reasoning_effort {
        keys.insert("reasoning_effort".to_owned(), Value::String(effort.clone()));
    }
    keys
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// A streamed chunk, or a whole completion.
#[derive(Deserialize)]
struct Chunk {
    object: Option<String>,
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
    error: Option<Value>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u32>,
    #[serde(alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptTokens>,
    /// DeepSeek's name for the cached ones.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptTokens {
    cached_tokens: Option<u64>,
}

impl Tokens {
    fn usage(&self) -> Usage {
        let cached = self.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens).or(self.prompt_cache_hit_tokens);
        Usage { input: self.prompt_tokens.unwrap_or(0), cached: cached.unwrap_or(0), output: self.completion_tokens.unwrap_or(0) }
    }
}

/// Frames → reply.
#[derive(Default)]
struct Fold {
    raw: RawReply,
    begun: bool,
}

impl Fold {
    fn frame(&mut self, data: &str) -> Result<Next, Fault> {
        self.begun = true;
        if data.trim() == "[DONE]" {
            return Ok(Next::Done);
        }
        let chunk = serde_json::from_str(data).map_err(|error| super::bad_frame(&error, &self.raw.text))?;
        self.chunk(chunk)?;
        Ok(Next::More)
    }

    fn whole(&mut self, body: Vec<u8>) -> Result<(), Fault> {
        let chunk = super::whole_body(&body)?;
        drop(body);
        self.chunk(chunk)
    }

    fn chunk(&mut self, chunk: Chunk) -> Result<(), Fault> {
        if let Some(error) = &chunk.error {
            return Err(failed(error));
        }
        if chunk.object.as_deref() == Some("error") {
            return Err(super::failed_midway("", chunk.message.as_deref().unwrap_or("no explanation")));
        }
        if let Some(tokens) = &chunk.usage {
            self.raw.usage = tokens.usage();
        }
        self.raw.model = chunk.model.or(self.raw.model.take());
        chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0).try_for_each(|choice| self.choice(choice))
    }

    fn choice(&mut self, choice: Choice) -> Result<(), Fault> {
        if let Some(delta) = choice.delta {
            super::gather(&mut self.raw.text, delta.content);
            if delta.refusal.is_some_and(|refusal| !refusal.is_empty()) {
                self.raw.finish = Some(Finish::Refused);
            }
        }
        let Some(word) = choice.finish_reason else { return Ok(()) };
        // The first end that is not the normal one stays: `stop` after a refusal or a limit does not heal it.
        if matches!(self.raw.finish, None | Some(Finish::Stop)) {
            self.raw.finish = Some(finish(word)?);
        }
        Ok(())
    }
}

fn finish(word: String) -> Result<Finish, Fault> {
    match word.as_str() {
        "stop" => Ok(Finish::Stop),
        "length" => Ok(Finish::Length),
        "content_filter" => Ok(Finish::Refused),
        // DeepSeek's and OpenRouter's words for an outage in the middle.
        "insufficient_system_resource" | "error" => Err(super::failed_midway("", &format!("finish_reason {word}"))),
        _ => Ok(Finish::Other(word)),
    }
}

/// `error` is an object, or with some hosts a string.
fn failed(error: &Value) -> Fault {
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let kind = text("code").or_else(|| text("type")).unwrap_or("");
    super::failed_midway(kind, text("message").or_else(|| error.as_str()).unwrap_or("no explanation"))
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
        Ok(fold.raw)
    }

    #[test]
    fn the_end_of_a_stream_has_one_meaning() {
        let text = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
        let end = |word: &str| format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{word}"}}]}}"#);
        let table = [
            (vec![text.into(), end("stop")], Some(Finish::Stop)),
            (vec![text.into(), end("length")], Some(Finish::Length)),
            (vec![text.into(), end("content_filter")], Some(Finish::Refused)),
            (vec![text.into(), end("tool_calls")], Some(Finish::Other("tool_calls".into()))),
            (vec![text.into(), end("length"), end("stop")], Some(Finish::Length)),
            (vec![r#"{"choices":[{"delta":{"refusal":"no"}}]}"#.into(), end("stop")], Some(Finish::Refused)),
            (vec![text.into(), "[DONE]".into()], None),
            (vec![text.into(), r#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#.into()], None),
        ];
        for (frames, want) in table {
            let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
            assert_eq!(fold(&frames).unwrap().finish, want, "{frames:?}");
        }
    }

    #[test]
    fn a_frame_that_cannot_be_read_is_malformed_not_skipped() {
        for frame in ["{", "{\"choices\":7}", "PASS", "{\"model\":\"a\",\"model\":\"b\"}"] {
            assert_eq!(fold(&[frame]).unwrap_err().class, Class::Malformed, "{frame}");
        }
    }

    #[test]
    fn off_wins_over_effort_and_keeps_other_template_keys() {
        let mut spec = crate::provider::replay::spec(crate::reviewer::Provider::OpenAi, "http://127.0.0.1:1");
        spec.extra = serde_json::from_str(r#"{"chat_template_kwargs":{"a":1,"thinking":true},"reasoning_effort":"high"}"#).unwrap();
        spec.reasoning_effort = Some("low".into());
        assert_eq!(reasoning(&spec)["reasoning_effort"], "low");
        spec.reasoning_off = true;
        let off = json!({"chat_template_kwargs": {"a": 1, "thinking": false, "enable_thinking": false}});
        assert_eq!(Value::Object(reasoning(&spec)), off);
    }
}
