//! The three dialects, as bytes.

use super::http::Ending;
use super::prompt::Request;
use crate::common::Dialect;
use serde_json::{Value, json};

/// Returns the body of a streamed reply: the text in two parts, then the ending in the dialect's own words.
pub(super) fn stream(request: &Request, model: &str, text: &str, ending: &Ending) -> Vec<u8> {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let parts: Vec<&str> = [&text[..middle], &text[middle..]].into_iter().filter(|part| !part.is_empty()).collect();
    let lines = match request.dialect() {
        Dialect::OpenAi => openai(model, &parts, ending),
        Dialect::Anthropic => anthropic(model, &parts, ending),
        Dialect::Ollama => ollama(model, &parts, ending),
    };
    lines.concat().into_bytes()
}

/// Returns the type of a streamed body.
pub(super) fn content_type(request: &Request) -> &'static str {
    match request.dialect() {
        Dialect::OpenAi | Dialect::Anthropic => "text/event-stream",
        Dialect::Ollama => "application/x-ndjson",
    }
}

/// Returns an error body.
pub(super) fn error(request: &Request, status: u16, text: &str) -> String {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        _ => "api_error",
    };
    let body = match request.dialect() {
        Dialect::OpenAi if status == 404 => json!({"error": {"message": text, "type": "invalid_request_error", "code": "model_not_found"}}),
        Dialect::OpenAi => json!({"error": {"message": text, "type": kind, "code": null}}),
        Dialect::Anthropic => json!({"type": "error", "error": {"type": kind, "message": text}}),
        Dialect::Ollama => json!({"error": text}),
    };
    body.to_string()
}

fn openai(model: &str, parts: &[&str], ending: &Ending) -> Vec<String> {
    let event = |value: Value| format!("data: {value}\n\n");
    let chunk = |delta: Value, finish: Value| {
        event(
            json!({"id": "c1", "object": "chat.completion.chunk", "model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}),
        )
    };
    let mut lines = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    lines.extend(parts.iter().map(|part| chunk(json!({"content": part}), Value::Null)));
    let usage = event(
        json!({"id": "c1", "object": "chat.completion.chunk", "model": model, "choices": [], "usage": {"prompt_tokens": 1200, "completion_tokens": 80}}),
    );
    let done = "data: [DONE]\n\n".to_owned();
    match ending {
        Ending::Stop => lines.extend([chunk(json!({}), json!("stop")), usage, done]),
        Ending::Length => lines.extend([chunk(json!({}), json!("length")), usage, done]),
        Ending::Error => lines.extend([event(json!({"error": {"message": "the backend went away", "type": "server_error"}})), done]),
        Ending::Nothing | Ending::Cut => {}
    }
    lines
}

fn anthropic(model: &str, parts: &[&str], ending: &Ending) -> Vec<String> {
    let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default());
    let stop = |reason: &str| {
        let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 80}});
        [event(json!({"type": "content_block_stop", "index": 0})), event(delta), event(json!({"type": "message_stop"}))]
    };
    let message = json!({"id": "m1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": null, "usage": {"input_tokens": 1200, "output_tokens": 1}});
    let mut lines = vec![event(json!({"type": "message_start", "message": message}))];
    lines.push(event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})));
    lines.extend(parts.iter().map(|part| event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}}))));
    match ending {
        Ending::Stop => lines.extend(stop("end_turn")),
        Ending::Length => lines.extend(stop("max_tokens")),
        Ending::Error => lines.push(event(json!({"type": "error", "error": {"type": "api_error", "message": "the backend went away"}}))),
        Ending::Nothing | Ending::Cut => {}
    }
    lines
}

fn ollama(model: &str, parts: &[&str], ending: &Ending) -> Vec<String> {
    let line = |value: Value| format!("{value}\n");
    let done = |reason: &str| {
        line(
            json!({"model": model, "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason, "prompt_eval_count": 1200, "eval_count": 80}),
        )
    };
    let mut lines: Vec<String> =
        parts.iter().map(|part| line(json!({"model": model, "message": {"role": "assistant", "content": part}, "done": false}))).collect();
    match ending {
        Ending::Stop => lines.push(done("stop")),
        Ending::Length => lines.push(done("length")),
        Ending::Error => lines.push(line(json!({"error": "the backend went away"}))),
        Ending::Nothing | Ending::Cut => {}
    }
    lines
}
