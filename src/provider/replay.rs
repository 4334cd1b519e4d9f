//! Plays captured and made-up replies from a loopback peer through the real client, and holds what comes out against the table of classes.

use super::{ConnectError, connect};
use crate::clock::{self, Deadline, Limit};
use crate::family::Family;
use crate::redact::Outbound;
use crate::reviewer::{Class, CompleteReply, Fault, Key, Price, Provider, Question, Reviewer, Secret, Spec};
use crate::transport::peer::{Peer, drip, reply};
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const MARKER: &str = "sk-marker-5f1d";

/// Makes an entry for a host, with the marker as its key.
pub(super) fn spec(provider: Provider, host: &str) -> Spec {
    Spec {
        name: "r".into(),
        provider,
        host: host.into(),
        host_is_default: false,
        model: "syn-1".into(),
        family: Family::new("syn"),
        key: Key::Value(Secret::new(MARKER)),
        timeout: None,
        first_byte_timeout: None,
        max_tokens: 100,
        window: 32_768,
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

/// Makes a question about a change.
pub(super) fn question(change: &str) -> Question {
    let text = |text: &str| Outbound::for_test(text);
    Question {
        system: text("be strict"),
        shared: text(change),
        brief: text("nonce: 7"),
        schema: r#"{"type":"object","properties":{"nonce":{},"findings":{},"complete":{}}}"#,
        max_tokens: 100,
    }
}

fn within(ms: u64) -> Deadline {
    Deadline::after(Duration::from_millis(ms), Limit::Run)
}

fn ask(spec: Spec) -> Result<CompleteReply, Fault> {
    connect(spec).unwrap().ask(&question("diff"), within(10_000))
}

fn capture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn names() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Answers the list of models with 404, so that the call is made, and the call by `play`.
fn peer(play: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Peer {
    Peer::answering(move |request, stream| {
        if request.starts_with("GET ") {
            stream.write_all(&reply("404 Not Found", "text/html", "<html>")).unwrap();
        } else {
            play(stream);
        }
    })
}

fn dialect_of(name: &str) -> Provider {
    match name {
        _ if name.starts_with("anthropic-") || name == "real-llama-anthropic-sse.txt" => Provider::Anthropic,
        _ if name.starts_with("ollama-") => Provider::Ollama,
        _ => Provider::OpenAi,
    }
}

/// What a capture must become; `None` where it is a reply with text. Whether the text is a review is decided after this module.
fn class_of(name: &str) -> Option<Option<Class>> {
    use Class::*;
    Some(match name.strip_suffix(".txt")? {
        "openai-sse-ok"
        | "openai-sse-ok-splits"
        | "openai-sse-crlf-utf8split"
        | "openai-sse-no-findings-empty-array"
        | "openai-sse-no-done"
        | "openai-sse-markdown-fenced"
        | "openai-sse-repeated-json"
        | "openai-json-nonstream"
        | "deepseek-sse-reasoning"
        | "openrouter-sse-processing-reasoning"
        | "nvidia-sse-reasoning"
        | "gemini-compat-sse-ok"
        | "anthropic-sse-ok"
        | "anthropic-sse-thinking"
        | "anthropic-sse-tooluse-json"
        | "anthropic-sse-unknown-event"
        | "ollama-ndjson-ok"
        | "ollama-ndjson-thinking"
        | "ollama-ndjson-two-per-chunk"
        | "real-llama-sse-stop" => None,
        "openai-sse-eof-no-finish"
        | "openai-sse-truncated-chunked"
        | "openai-sse-truncated-in-chunk"
        | "anthropic-sse-eof-no-stop"
        | "ollama-ndjson-eof-no-done"
        | "real-llama-server-killed-midstream"
        | "real-llama-client-timeout" => Some(CutStream),
        "openai-sse-finish-length"
        | "deepseek-sse-reasoning-only-length"
        | "anthropic-sse-max-tokens"
        | "anthropic-sse-context-exceeded"
        | "ollama-ndjson-length"
        | "real-llama-sse-length"
        | "real-llama-sse-jsonschema"
        | "real-llama-sse-jsonobject"
        | "real-llama-nonstream"
        | "real-llama-wrong-model"
        | "real-llama-anthropic-sse"
        | "real-randgguf-sse-garbage" => Some(Truncated),
        "openai-sse-content-filter"
        | "openai-sse-refusal"
        | "anthropic-sse-refusal"
        | "empty-200"
        | "gemini-compat-sse-empty-stop"
        | "ollama-ndjson-load" => Some(Declined),
        "openai-sse-toolcall-instead" => Some(Malformed),
        "vllm-sse-error-midstream"
        | "deepseek-sse-insufficient-resource"
        | "openrouter-sse-error-midstream"
        | "llama-sse-error-midstream"
        | "ollama-ndjson-error-midstream"
        | "real-randgguf-sse-jsonschema"
        | "openai-500"
        | "openai-503"
        | "proxy-502-html"
        | "cloudflare-520-html"
        | "cloudflare-524-text"
        | "proxy-407"
        | "captive-portal-200-html"
        | "login-redirect-302"
        | "anthropic-500"
        | "anthropic-529"
        | "ollama-500-oom"
        | "gemini-compat-503-array" => Some(Unreachable),
        "openai-401"
        | "openai-401-org"
        | "openai-403-country"
        | "anthropic-401"
        | "anthropic-403"
        | "ollama-401-cloud"
        | "gemini-compat-400-key-array"
        | "gemini-compat-400-key-object"
        | "gemini-compat-400-missing-key" => Some(Auth),
        "openai-404-model" | "nvidia-404-model" | "anthropic-404" | "ollama-404-model" | "gemini-compat-404-model-array" => Some(NotServed),
        "openai-429-rate" | "openai-429-retry-after-date" | "anthropic-429" | "ollama-429-busy" => Some(RateLimited),
        "openai-429-quota" | "openrouter-402" => Some(Quota),
        "openai-413" | "anthropic-400" | "anthropic-413" | "real-llama-400-context" => Some(TooLarge),
        "openai-400-unsupported-param"
        | "openai-400-schema"
        | "ollama-400-think"
        | "real-llama-400-badjson"
        | "real-llama-400-badschema"
        | "real-llama-404"
        | "models-404-html" => Some(BadConfig),
        // Lists of models have a test of their own; the responses API is not spoken here.
        _ => return None,
    })
}

#[test]
fn every_capture_is_of_its_class() {
    let skipped =
        ["models-ok-gemini-prefix.txt", "models-ok-openai.txt", "ollama-tags-empty.txt", "ollama-tags-ok.txt", "real-llama-responses-sse.txt"];
    let skipped = [&skipped[..], &["real-llama-server-models.txt"]].concat();
    let untold: Vec<String> = names().into_iter().filter(|name| class_of(name).is_none()).collect();
    assert_eq!(untold, skipped);
    std::thread::scope(|scope| {
        for name in names() {
            let Some(want) = class_of(&name) else { continue };
            scope.spawn(move || {
                let bytes = capture(&name);
                let peer = peer(move |stream| drop(stream.write_all(&bytes)));
                let got = ask(spec(dialect_of(&name), &peer.url()));
                assert_eq!(got.as_ref().err().map(|fault| fault.class), want, "{name}: {got:?}");
            });
        }
    });
}

#[test]
fn where_the_bytes_are_cut_on_the_way_does_not_matter() {
    let names =
        ["openai-sse-ok.txt", "openai-sse-crlf-utf8split.txt", "anthropic-sse-tooluse-json.txt", "ollama-ndjson-two-per-chunk.txt", "openai-401.txt"];
    std::thread::scope(|scope| {
        for name in names {
            scope.spawn(move || {
                let (whole, single) = (capture(name), capture(name));
                let whole = peer(move |stream| drop(stream.write_all(&whole)));
                let single = peer(move |stream| drip(stream, &single, Duration::ZERO));
                let [whole, single] = [whole, single].map(|peer| ask(spec(dialect_of(name), &peer.url())));
                assert_eq!(whole, single, "{name}");
            });
        }
    });
}

#[test]
fn text_model_and_tokens_come_out_of_each_dialect() {
    for name in ["openai-sse-ok.txt", "anthropic-sse-ok.txt", "ollama-ndjson-ok.txt"] {
        let bytes = capture(name);
        let peer = peer(move |stream| stream.write_all(&bytes).unwrap());
        let reply = ask(spec(dialect_of(name), &peer.url())).unwrap();
        assert!(reply.text().starts_with(r#"{"findings":[{"severity":"HIGH","file":"src.py""#), "{name}: {}", reply.text());
        assert!(reply.model().is_some(), "{name}");
        assert_eq!((reply.usage().input, reply.usage().output), (120, 30), "{name}");
    }
}

/// A body cut at any byte is never a reply, unless only what follows the end mark is missing.
#[test]
fn no_prefix_of_a_reply_passes_for_the_whole() {
    for (name, last_needed) in
        [("openai-sse-no-done.txt", "\"stop\""), ("anthropic-sse-ok.txt", "message_stop\"}"), ("ollama-ndjson-ok.txt", "\"stop\"")]
    {
        let bytes = capture(name);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let needed = text.rfind(last_needed).unwrap();
        for cut in (0..needed).step_by(37) {
            let part = bytes[..cut].to_vec();
            let peer = peer(move |stream| stream.write_all(&part).unwrap());
            let fault = ask(spec(dialect_of(name), &peer.url())).expect_err(&format!("{name} cut at {cut}"));
            assert!(matches!(fault.class, Class::CutStream | Class::Unreachable), "{name} cut at {cut}: {fault:?}");
        }
    }
}

#[test]
fn retry_after_is_read_in_each_form() {
    for (name, want) in [("openai-429-rate.txt", 6200), ("anthropic-429.txt", 12_000), ("openai-503.txt", 30_000)] {
        let peer = Peer::saying(capture(name));
        let fault = ask(spec(dialect_of(name), &peer.url())).unwrap_err();
        assert_eq!(fault.retry_after, Some(Duration::from_millis(want)), "{name}");
    }
    let peer = Peer::saying(capture("openai-429-retry-after-date.txt"));
    assert!(ask(spec(Provider::OpenAi, &peer.url())).unwrap_err().retry_after.is_some());
}

#[test]
fn the_list_of_models_decides_whether_a_call_is_made() {
    use Provider::{Ollama, OpenAi};
    let table = [
        ("models-ok-openai.txt", OpenAi, "syn-2", None),
        ("models-ok-openai.txt", OpenAi, "syn-3", Some(Class::NotServed)),
        ("models-ok-gemini-prefix.txt", OpenAi, "gemini-syn-flash", None),
        ("models-ok-gemini-prefix.txt", OpenAi, "models/gemini-syn-flash", None),
        ("real-llama-server-models.txt", OpenAi, "smollm2", None),
        ("real-llama-server-models.txt", OpenAi, "gpt", Some(Class::NotServed)),
        ("models-404-html.txt", OpenAi, "any", None),
        ("captive-portal-200-html.txt", OpenAi, "any", None),
        ("openai-401.txt", OpenAi, "any", Some(Class::Auth)),
        ("gemini-compat-400-key-array.txt", OpenAi, "any", Some(Class::Auth)),
        ("openai-429-rate.txt", OpenAi, "any", Some(Class::RateLimited)),
        ("openai-500.txt", OpenAi, "any", Some(Class::Unreachable)),
        ("login-redirect-302.txt", OpenAi, "any", Some(Class::Unreachable)),
        ("ollama-tags-ok.txt", Ollama, "other", None),
        ("ollama-tags-ok.txt", Ollama, "syn", Some(Class::NotServed)),
        ("ollama-tags-empty.txt", Ollama, "syn", Some(Class::NotServed)),
    ];
    for (list, provider, model, want) in table {
        let list_bytes = capture(list);
        let call = capture(if provider == Ollama { "ollama-ndjson-ok.txt" } else { "openai-sse-ok.txt" });
        let peer = Peer::answering(move |request, stream| stream.write_all(if request.starts_with("GET ") { &list_bytes } else { &call }).unwrap());
        let got = ask(Spec { model: model.into(), ..spec(provider, &peer.url()) });
        assert_eq!(got.as_ref().err().map(|fault| fault.class), want, "{list} {model}: {got:?}");
        assert_eq!(peer.requests().len(), if want.is_none() { 2 } else { 1 }, "{list} {model}");
    }
}

#[test]
fn parallel_calls_share_one_preflight() {
    let (list, call) = (capture("models-ok-openai.txt"), capture("openai-sse-ok.txt"));
    let peer = Peer::answering(move |request, stream| stream.write_all(if request.starts_with("GET ") { &list } else { &call }).unwrap());
    let reviewer = connect(spec(Provider::OpenAi, &peer.url())).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| reviewer.ask(&question("diff"), within(5000)).unwrap());
        }
    });
    let gets = peer.requests().iter().filter(|request| request.starts_with("GET ")).count();
    assert_eq!((gets, peer.requests().len()), (1, 5));
}

/// Refuses each part of a body in turn; a part that was refused may not come again.
#[test]
fn a_refused_part_is_left_out_for_good() {
    let complaints = [
        ("\"max_tokens\":", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        ("\"temperature\":", "Unsupported value: 'temperature' does not support 0.2 with this model."),
        ("\"stream_options\":", "Unrecognized request argument supplied: stream_options"),
        ("\"response_format\":", "Invalid schema for response_format 'review'"),
    ];
    let ok = capture("openai-sse-ok.txt");
    let peer = Peer::answering(move |request, stream| {
        let complaint = complaints.iter().find(|(part, _)| request.contains(part));
        let bytes = match complaint {
            _ if request.starts_with("GET ") => reply("404 Not Found", "text/plain", ""),
            Some((_, message)) => reply("400 Bad Request", "application/json", &format!("{{\"error\":{{\"message\":\"{message}\"}}}}")),
            None => ok.clone(),
        };
        stream.write_all(&bytes).unwrap();
    });
    let reviewer = connect(spec(Provider::OpenAi, &peer.url())).unwrap();
    reviewer.ask(&question("diff"), within(5000)).unwrap();
    assert_eq!(peer.requests().len(), 1 + complaints.len() + 1);
    assert!(peer.requests().last().unwrap().contains("\"max_completion_tokens\":100"));
    reviewer.ask(&question("diff"), within(5000)).unwrap();
    assert_eq!(peer.requests().len(), 1 + complaints.len() + 2, "what was refused is remembered");
}

#[test]
fn each_dialect_asks_in_its_own_form() {
    let table = [
        (
            Provider::OpenAi,
            "/v1",
            "POST /v1/chat/completions ",
            "authorization: Bearer ",
            r#""response_format":{"type":"json_schema","json_schema":{"#,
        ),
        (Provider::Anthropic, "", "POST /v1/messages ", "x-api-key: ", r#""output_config":{"format":{"type":"json_schema","#),
        (Provider::Anthropic, "/v1/", "POST /v1/messages ", "x-api-key: ", "\"cache_control\":{\"type\":\"ephemeral\"}"),
        (Provider::Ollama, "/", "POST /api/chat ", "authorization: Bearer ", r#""format":{"type":"object""#),
        (Provider::Ollama, "/v1", "POST /api/chat ", "authorization: Bearer ", "\"num_ctx\":32768"),
    ];
    for (provider, path, line, key, part) in table {
        let peer = peer(|stream| stream.write_all(&reply("500 Oh", "text/plain", "")).unwrap());
        ask(spec(provider, &format!("{}{path}", peer.url()))).unwrap_err();
        let request = peer.requests().pop().unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(line) && body.contains(part), "{request}");
        assert!(head.contains(&format!("{key}{MARKER}")) && head.contains("accept-encoding: identity"), "{head}");
        assert!(body.contains(question("").schema), "the schema keeps the order of its keys: {body}");
        assert_eq!(body.contains("temperature"), provider != Provider::Anthropic);
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "{body}");
    }
}

#[test]
fn the_key_is_in_the_request_header_and_in_no_sentence_for_people() {
    let echo = format!("{{\"error\":{{\"message\":\"bad key {MARKER}\"}}}}");
    let long = format!("{{\"error\":{{\"message\":\"{}{MARKER}\"}}}}", "x".repeat(195));
    let text = format!("data: {{\"model\":\"{MARKER}\",\"choices\":[{{\"delta\":{{\"content\":\"{MARKER}\"}},\"finish_reason\":\"length\"}}]}}\n\n");
    let replies = [
        reply("401 Unauthorized", "application/json", &echo),
        reply("200 OK", "text/event-stream", &text),
        reply("200 OK", "text/event-stream", &format!("data: {MARKER}\n\n")),
        reply("401 Unauthorized", "application/json", &long),
        reply("200 OK", "text/event-stream", &format!("{}{MARKER}\n\n", "y".repeat(35))),
        reply("500 Oh", "text/plain", &format!("{}{MARKER}", " ".repeat(super::ERROR_TEXT - MARKER.len() + 1))),
        format!("HTTP/1.1 302 Found\r\nLocation: http://{MARKER}.example/\r\nContent-Length: 0\r\n\r\n").into_bytes(),
    ];
    for bytes in replies {
        let peer = peer(move |stream| stream.write_all(&bytes).unwrap());
        let reviewer = connect(spec(Provider::OpenAi, &peer.url())).unwrap();
        let fault = reviewer.ask(&question("diff"), within(5000)).unwrap_err();
        assert!(!format!("{}{:?}", fault.detail, reviewer.spec()).contains(&MARKER[..9]), "{fault:?}");
        for request in peer.requests() {
            assert_eq!(request.matches(MARKER).count(), 1, "{request}");
        }
    }
}

/// A review may quote what is also a key; its JSON and its evidence must reach the reader as they are, or the finding has no place in the change.
#[test]
fn the_text_of_a_reply_is_left_alone_whatever_the_key_is() {
    let text = format!(r#"{{"complete":null,"evidence":"test(none, {MARKER})"}}"#);
    for (finish, key) in ["stop", "length"].iter().flat_map(|finish| ["null", "none", "test", "ollama", "complete", MARKER].map(|key| (finish, key)))
    {
        let chunk = serde_json::json!({"model": key, "choices": [{"delta": {"content": text}, "finish_reason": finish}]});
        let peer = peer(move |stream| stream.write_all(&reply("200 OK", "text/event-stream", &format!("data: {chunk}\n\n"))).unwrap());
        let got = ask(Spec { key: Key::Value(Secret::new(key)), ..spec(Provider::OpenAi, &peer.url()) });
        let got = got.map_or_else(|fault| fault.partial, |reply| Some(reply.text().to_owned()));
        assert_eq!(got.as_deref(), Some(text.as_str()), "{finish}, {key}");
    }
}

#[test]
fn a_key_that_is_not_there_or_not_fit_makes_no_call() {
    let peer = Peer::saying(capture("openai-sse-ok.txt"));
    for key in [Key::Missing("OPENAI_API_KEY".into()), Key::Value(Secret::new("two\r\nlines"))] {
        for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Ollama] {
            let fault = ask(Spec { key: key.clone(), ..spec(provider, &peer.url()) }).unwrap_err();
            assert_eq!(fault.class, Class::Auth);
        }
    }
    assert!(peer.requests().is_empty());
}

#[test]
fn a_redirect_sends_nothing_to_the_second_host() {
    let second = Peer::saying(capture("openai-sse-ok.txt"));
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let head = format!("HTTP/1.1 {status}\r\nLocation: {}/v1/chat/completions\r\nContent-Length: 0\r\n\r\n", second.url());
        let first = peer(move |stream| stream.write_all(head.as_bytes()).unwrap());
        let fault = ask(spec(Provider::OpenAi, &first.url())).unwrap_err();
        assert!(fault.class == Class::Unreachable && fault.permanent && fault.detail.contains("127.0.0.1"), "{fault:?}");
    }
    assert!(second.requests().is_empty());
}

#[test]
fn each_limit_ends_the_call_and_says_its_name() {
    let long = Duration::from_secs(30);
    let limits = [
        (Spec { timeout: Some(Duration::from_millis(250)), ..spec(Provider::OpenAi, "") }, Class::Unreachable, false, "reviewer timeout"),
        (Spec { first_byte_timeout: Some(Duration::from_millis(250)), ..spec(Provider::OpenAi, "") }, Class::Unreachable, true, "first byte"),
        (spec(Provider::OpenAi, ""), Class::Deadline, false, "deadline"),
    ];
    std::thread::scope(|scope| {
        for (spec, class, permanent, word) in limits {
            scope.spawn(move || {
                let peer = peer(move |stream| {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").unwrap();
                    std::thread::sleep(long);
                });
                let reviewer = connect(Spec { host: peer.url(), ..spec }).unwrap();
                let (start, run) = (clock::instant(), if class == Class::Deadline { 250 } else { 5000 });
                let fault = reviewer.ask(&question("diff"), within(run)).unwrap_err();
                assert!(start.elapsed() < Duration::from_millis(550), "{word}: {:?}", start.elapsed());
                assert_eq!((fault.class, fault.permanent, fault.detail.contains(word)), (class, permanent, true), "{fault:?}");
            });
        }
    });
}

#[test]
fn a_command_line_reviewer_is_not_built_in() {
    assert!(matches!(connect(spec(Provider::Cli, "")).err(), Some(ConnectError::Unsupported { .. })));
    assert!(matches!(connect(spec(Provider::OpenAi, "http://example.com/v1")).err(), Some(ConnectError::Setting { .. })));
}

#[test]
fn cancelling_ends_a_call_under_way_and_forbids_later_ones() {
    let peer = peer(|_| std::thread::sleep(Duration::from_secs(30)));
    let reviewer: Arc<dyn Reviewer> = connect(spec(Provider::OpenAi, &peer.url())).unwrap();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| reviewer.ask(&question("diff"), within(20_000)));
        std::thread::sleep(Duration::from_millis(200));
        let start = clock::instant();
        reviewer.cancel();
        assert_eq!(call.join().unwrap().unwrap_err().class, Class::Deadline);
        assert!(start.elapsed() < Duration::from_millis(300));
    });
    let before = peer.requests().len();
    assert_eq!(reviewer.ask(&question("diff"), within(20_000)).unwrap_err().class, Class::Deadline);
    assert_eq!(peer.requests().len(), before);
}
