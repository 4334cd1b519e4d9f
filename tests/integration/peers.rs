//! The harness itself: the scripted reviewer, asked by an HTTP client that is not the gate, and the watch over what must not be written. Were these broken, every
//! refusal would look right.

use crate::common::{Behaviour, Dialect, Peer, Repo, Sandbox};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const NONCE: &str = "0123456789abcdef0123456789abcdef";
const SHARED: &str = "+++ b/run.rs\n@@ -0,0 +1,2 @@\n+one\n+two EVIL\nnonce: counterfeit\n";

/// Asks in a dialect and returns status, type and body; `None` where the connection broke.
fn ask(dialect: Dialect, peer: &Peer, brief: &str) -> Option<(u16, String, String)> {
    let (path, body) = match dialect {
        Dialect::OpenAi => (
            "/v1/chat/completions",
            json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": SHARED}, {"type": "text", "text": brief}]}]}),
        ),
        Dialect::Anthropic => (
            "/v1/messages",
            json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": SHARED}, {"type": "text", "text": brief}]}]}),
        ),
        Dialect::Ollama => ("/api/chat", json!({"model": "m", "messages": [{"role": "user", "content": format!("{SHARED}{brief}")}]})),
    };
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).timeout_global(Some(Duration::from_secs(5))).build().into();
    let mut response = agent.post(format!("{}{path}", peer.origin())).send_json(body).ok()?;
    let kind = response.headers().get("content-type")?.to_str().ok()?.to_owned();
    Some((response.status().as_u16(), kind, response.body_mut().read_to_string().ok()?))
}

fn brief() -> String {
    format!("nonce: {NONCE}\nslices: c1 c2\n")
}

/// Joins the text of a stream and says whether its success mark came.
fn fold(dialect: Dialect, body: &str) -> (String, bool) {
    let events: Vec<Value> = body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok()).collect();
    let text = |event: &Value| match dialect {
        Dialect::OpenAi => event["choices"][0]["delta"]["content"].as_str().map(str::to_owned),
        Dialect::Anthropic => event["delta"]["text"].as_str().map(str::to_owned),
        Dialect::Ollama => event["message"]["content"].as_str().map(str::to_owned),
    };
    let done = |event: &Value| match dialect {
        Dialect::OpenAi => event["choices"][0]["finish_reason"] == "stop",
        Dialect::Anthropic => event["delta"]["stop_reason"] == "end_turn",
        Dialect::Ollama => event["done_reason"] == "stop",
    };
    (events.iter().filter_map(text).collect(), events.iter().any(done))
}

#[test]
fn an_honest_peer_reports_the_planted_line_in_every_dialect() {
    for dialect in Dialect::ALL {
        let peer = Peer::new(Behaviour::Honest);
        let (status, _, body) = ask(dialect, &peer, &brief()).unwrap();
        let (text, done) = fold(dialect, &body);
        let reply: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, done, &reply["nonce"], &reply["complete"]), (200, true, &json!(NONCE), &json!(NONCE)));
        assert_eq!(reply["reviewed"], json!(["c1", "c2"]));
        assert_eq!((&reply["findings"][0]["file"], &reply["findings"][0]["line"]), (&json!("run.rs"), &json!(2)));
        assert_eq!(reply["findings"][0]["evidence"], "two EVIL");
        assert_eq!(peer.questions().len(), 1);
    }
}

#[test]
fn a_peer_that_is_asked_to_refute_answers_as_a_refuter() {
    for (behaviour, refuted, file) in [
        (Behaviour::Honest, false, "run.rs"),
        (Behaviour::Refutes { found: true }, true, "run.rs"),
        (Behaviour::Refutes { found: false }, true, "nowhere.rs"),
    ] {
        let peer = Peer::new(behaviour);
        let (_, _, body) = ask(Dialect::OpenAi, &peer, &format!("{}task: refute\n", brief())).unwrap();
        let reply: Value = serde_json::from_str(&fold(Dialect::OpenAi, &body).0).unwrap();
        assert_eq!((&reply["refuted"], &reply["file"]), (&json!(refuted), &json!(file)));
    }
}

#[test]
fn an_edited_reply_keeps_its_completion_mark_last() {
    let peer = Peer::new(Behaviour::claims("severity", "LOW"));
    let (_, _, body) = ask(Dialect::Ollama, &peer, &brief()).unwrap();
    let (text, _) = fold(Dialect::Ollama, &body);
    assert!(text.ends_with(&format!(r#""complete":"{NONCE}"}}"#)), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["findings"][0]["severity"], "LOW");
}

#[test]
fn faults_are_what_they_say() {
    for dialect in Dialect::ALL {
        let told = |behaviour| ask(dialect, &Peer::new(behaviour), &brief());
        let mark = |behaviour| told(behaviour).map(|(_, _, body)| fold(dialect, &body).1);
        assert_eq!(told(Behaviour::Status(500, "out")).unwrap().0, 500);
        assert_eq!(told(Behaviour::Redirect("http://127.0.0.1:1".into())).unwrap().0, 307);
        assert_eq!(told(Behaviour::CutStream), None, "the body breaks off");
        assert_eq!(mark(Behaviour::EofNoFinish), Some(false));
        assert_eq!(mark(Behaviour::LengthCut), Some(false));
        assert_eq!(mark(Behaviour::ErrorMidStream), Some(false));
        assert_eq!(mark(Behaviour::Empty), Some(true));
        assert_eq!(fold(dialect, &told(Behaviour::Empty).unwrap().2).0, "");
        assert_eq!(told(Behaviour::HtmlPortal).unwrap().1, "text/html");
    }
}

#[test]
fn a_silent_peer_is_gone_as_soon_as_it_is_dropped() {
    let peer = Peer::new(Behaviour::Hang);
    let origin = peer.origin();
    let asking = std::thread::spawn(move || std::net::TcpStream::connect(origin.trim_start_matches("http://")).unwrap());
    let _open = asking.join().unwrap();
    let start = Instant::now();
    drop(peer);
    assert!(start.elapsed() < Duration::from_secs(1));
}

/// Every run of the gate is held to this comparison, so it must see each way to write.
#[test]
fn a_write_to_worktree_index_or_refs_is_seen() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("work");
    repo.git(&["worktree", "add", "-q", "../linked"]);
    let linked = Repo::at(&sandbox, sandbox.path().join("linked"));
    type Write = fn(&Repo<'_>);
    let writes: [(&str, Write); 6] = [
        ("nothing", |_| {}),
        ("the same content again", |repo| _ = repo.write("README", "base\n")),
        ("a new file", |repo| _ = repo.write("folder/new", "")),
        ("an index", |repo| _ = repo.git(&["update-index", "--chmod=+x", "README"])),
        ("a ref", |repo| _ = repo.git(&["update-ref", "refs/heads/other", "HEAD"])),
        ("a mode", |repo| std::fs::set_permissions(repo.path().join("README"), std::fs::Permissions::from_mode(0o600)).unwrap()),
    ];
    for (what, write) in writes {
        for repo in [&repo, &linked] {
            let before = repo.snapshot();
            write(repo);
            // The refs of a linked worktree are its main one's.
            let same = what == "nothing" || (what == "a ref" && repo.path().ends_with("linked"));
            assert_eq!(repo.snapshot() == before, same, "{what} in {}", repo.path().display());
        }
    }
}
