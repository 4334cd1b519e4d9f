//! The reviewer of `demo` and `doctor`: a scripted model behind a real HTTP server on the loopback interface, speaking the chat-completions protocol with
//! server-sent events.
//!
//! It is honest in one respect only: it reports an added line that its script looks for, and confirms it when the refuter asks. The gate does not know that
//! it is not a model; nothing in the product depends on this file.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The longest request body that is read, in bytes.
const MAX_BODY: usize = 8 << 20;

/// What the server says it is, and what it reports.
#[derive(Debug)]
pub(super) struct Script {
    /// The model that it serves.
    pub model: &'static str,
    /// What an added line must hold, all of it, to be reported.
    pub marks: Vec<String>,
    /// What is said about such a line.
    pub claim: Claim,
}

/// The words of a finding.
#[derive(Debug)]
pub(super) struct Claim {
    /// In a few words.
    pub title: String,
    /// What is wrong.
    pub issue: &'static str,
    /// Why it is.
    pub cause: &'static str,
    /// When it shows.
    pub failing_case: &'static str,
    /// What mends it.
    pub fix: &'static str,
}

/// A running server; ends when dropped.
pub(super) struct Peer {
    address: SocketAddr,
    calls: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Peer {
    /// Starts a server on a free port of 127.0.0.1.
    pub(super) fn start(script: Script) -> io::Result<Peer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let peer = Peer { address: listener.local_addr()?, calls: Arc::default(), stop: Arc::default() };
        let (calls, stop, script) = (peer.calls.clone(), peer.stop.clone(), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (calls, script) = (calls.clone(), script.clone());
                // A connection that breaks is the gate's to notice.
                thread::spawn(move || stream.and_then(|stream| serve(stream, &script, &calls)));
            }
        });
        Ok(peer)
    }

    /// Returns the base URL for the configuration.
    pub(super) fn host(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns how many reviews were asked for.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread up; if that fails it ends with the process.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
    }
}

fn serve(stream: TcpStream, script: &Script, calls: &AtomicUsize) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request_line = String::new();
    reader.read_line(&mut request_line)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; usize::min(length, MAX_BODY)];
    reader.read_exact(&mut body)?;
    if request_line.starts_with("GET") {
        return respond(stream, "application/json", &json!({"data": [{"id": script.model}]}).to_string());
    }
    calls.fetch_add(1, Ordering::SeqCst);
    let answer = answer(script, &prompt(&body));
    let event = |value: Value| format!("data: {value}\n\n");
    let delta = event(json!({"model": script.model, "choices": [{"index": 0, "delta": {"content": answer}}]}));
    let end = event(json!({"model": script.model, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    respond(stream, "text/event-stream", &format!("{delta}{end}data: [DONE]\n\n"))
}

fn respond(mut stream: TcpStream, kind: &str, body: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())?;
    stream.flush()
}

/// Joins the texts of all messages.
fn prompt(body: &[u8]) -> String {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Answers by the reply contract.
fn answer(script: &Script, prompt: &str) -> String {
    let last = |name: &str| prompt.lines().rev().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned();
    let (nonce, slices) = (last("nonce:"), last("slices:"));
    if last("task:") == "refute" {
        let why = "the line says what the finding says";
        return json!({"nonce": nonce, "refuted": false, "file": "", "line": 0, "evidence": "", "why": why, "complete": nonce}).to_string();
    }
    let findings: Vec<Value> = reported(script, prompt).map(|(file, line)| finding(&script.claim, &file, &line)).collect();
    let reviewed: Vec<&str> = slices.split_whitespace().collect();
    json!({"nonce": nonce, "reviewed": reviewed, "findings": findings, "human": null, "complete": nonce}).to_string()
}

/// Finds the added lines that the script looks for, with the file they stand in.
fn reported(script: &Script, prompt: &str) -> impl Iterator<Item = (String, String)> {
    let mut file = String::new();
    let mut hits = Vec::new();
    for line in prompt.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            file = path.trim().to_owned();
        } else if line.starts_with('+') && script.marks.iter().all(|mark| line.contains(mark)) {
            hits.push((file.clone(), line[1..].to_owned()));
        }
    }
    hits.into_iter()
}

fn finding(claim: &Claim, file: &str, line: &str) -> Value {
    json!({
        "severity": "CRITICAL", "rule": "", "kind": "presence", "file": file, "line": 0,
        "title": claim.title, "issue": claim.issue, "cause": claim.cause, "failing_case": claim.failing_case,
        "evidence": line, "provenance": "introduced", "confidence": "clear", "fix": claim.fix, "proof": ""
    })
}
