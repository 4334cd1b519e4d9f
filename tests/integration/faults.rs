//! Everything a reviewer can do instead of answering, in three dialects, through real pushes: the status of the class table, never 0, in time.

use crate::common::{Behaviour, Dialect, EVIL, GOOD, Gate, Peer, Request, Reviewer, Sandbox};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Every run gets this much time.
const DEADLINE: Duration = Duration::from_secs(3);
/// And may be late by this much, `git push` and its start included.
const SLACK: Duration = Duration::from_secs(2);

/// What is done, and the status that it must end as.
fn table(elsewhere: &Peer) -> Vec<(&'static str, Behaviour, i32)> {
    vec![
        ("hang", Behaviour::Hang, 9),
        ("drip", Behaviour::Drip, 9),
        ("500", Behaviour::Status(500, "the backend went away"), 9),
        ("401", Behaviour::Status(401, "invalid key"), 7),
        ("404", Behaviour::Status(404, "model not found"), 4),
        ("429", Behaviour::Busy(30), 9),
        ("empty", Behaviour::Empty, 11),
        ("prose that says PASS", Behaviour::Prose, 9),
        ("wrong nonce", Behaviour::WrongNonce, 9),
        ("length cut", Behaviour::LengthCut, 9),
        ("two objects", Behaviour::TwoObjects, 9),
        ("two different answers", Behaviour::TwoAnswers, 15),
        ("missing slice", Behaviour::MissingSlice, 9),
        ("redirect", Behaviour::Redirect(elsewhere.origin()), 9),
        ("duplicate keys", Behaviour::DuplicateKeys, 9),
        ("cut stream", Behaviour::CutStream, 9),
        ("no end mark", Behaviour::EofNoFinish, 9),
        ("error in the stream", Behaviour::ErrorMidStream, 9),
        ("garbage", Behaviour::Garbage, 9),
        ("another server's page", Behaviour::HtmlPortal, 9),
        ("compressed", Behaviour::ContentEncodingGzip, 9),
    ]
}

#[test]
fn openai_faults_refuse_with_the_status_of_their_class() {
    all_refuse(Dialect::OpenAi);
}

#[test]
fn anthropic_faults_refuse_with_the_status_of_their_class() {
    all_refuse(Dialect::Anthropic);
}

#[test]
fn ollama_faults_refuse_with_the_status_of_their_class() {
    all_refuse(Dialect::Ollama);
}

#[test]
fn a_reviewer_that_is_not_there_refuses_as_unavailable() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer).host(&format!("{}/v1", Peer::dead()))], "push_deadline: 3\n");
    repo.write("run.rs", GOOD).commit("run");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(9);
    repo.push(&["origin", "main"]).expect_refused();
}

#[test]
fn the_next_reviewer_of_the_chain_answers_for_one_that_is_out() {
    let (sandbox, out, peer) = (Sandbox::new(), Peer::new(Behaviour::Status(500, "out")), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::mistral(&out), Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let (run, report) = Gate::pre_push(&repo, &repo.push_line("main")).report();
    run.expect(0);
    let pass = &report["subjects"][0]["passes"][0];
    assert_eq!((pass["reviewer"].as_str(), pass["outcome"].as_str()), (Some("qwen"), Some("reviewed")));
    assert_eq!(pass["attempts"][0]["class"], "unreachable", "the class of every attempt is named: {pass}");
}

#[test]
fn a_chain_does_not_shop_for_a_better_verdict() {
    let (sandbox, first, second) = (Sandbox::new(), Peer::new(Behaviour::Honest), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&first), Reviewer::mistral(&second)], "");
    repo.write("run.rs", EVIL).commit("run");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1);
    assert!(second.reviews().is_empty(), "a refused change is not put to another reviewer");
}

#[test]
fn a_reply_that_was_cut_is_asked_for_once_more_with_twice_the_tokens() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::LengthCut));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let (run, report) = Gate::pre_push(&repo, &repo.push_line("main")).report();
    run.expect(9);
    assert_eq!(report["subjects"][0]["passes"][0]["outcome"], "truncated");
    let asked: Vec<u64> = peer.questions().iter().filter_map(max_tokens).collect();
    assert_eq!(asked, [asked[0], 2 * asked[0]]);
}

#[test]
fn findings_of_a_reply_that_was_cut_count() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::LengthCut));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says("run.rs:1");
}

/// Local servers want some key, and people write any word; the finding must stand although its evidence holds that word.
#[test]
fn a_key_that_is_an_ordinary_word_hides_no_finding() {
    for key in ["EVIL", "null"] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer).with("api_key_env: PEER_KEY")], "");
        repo.write("run.rs", EVIL).commit("run");
        Gate::pre_push(&repo, &repo.push_line("main")).env("PEER_KEY", key).run().expect(1).says("run.rs:1");
    }
}

fn max_tokens(request: &Request) -> Option<u64> {
    ["max_tokens", "max_completion_tokens"].iter().find_map(|key| request.json[key].as_u64())
}

/// Runs the table, many cases at a time since most of them wait, and reports every row that is wrong.
fn all_refuse(dialect: Dialect) {
    let elsewhere = Peer::new(Behaviour::Clean);
    let work = Mutex::new(table(&elsewhere).into_iter());
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                while let Some((name, behaviour, status)) = { work.lock().unwrap().next() } {
                    let found = judge(dialect, behaviour, status);
                    wrong.lock().unwrap().extend(found.into_iter().map(|what| format!("{name}: {what}")));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}:\n{}", dialect.word(), wrong.join("\n"));
    assert!(elsewhere.requests().is_empty(), "a redirect is never followed");
}

/// Pushes past one fault, through the hook for its status and through git for the refusal.
fn judge(dialect: Dialect, behaviour: Behaviour, status: i32) -> Vec<String> {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(behaviour));
    let model = if dialect == Dialect::Anthropic { "claude-opus-5" } else { "qwen3-coder" };
    let repo = sandbox.gated(&[Reviewer::new("peer", dialect, &peer, model)], &format!("push_deadline: {}\n", DEADLINE.as_secs()));
    repo.write("run.rs", GOOD).commit("run");
    let before = repo.remote_refs("origin");
    let mut wrong = Vec::new();

    let hook = Gate::pre_push(&repo, &repo.push_line("main")).run();
    if hook.status != status {
        wrong.push(format!("the hook must end with {status}: {hook}"));
    }
    let push = repo.push(&["origin", "main"]);
    if push.status == 0 || repo.remote_refs("origin") != before {
        wrong.push(format!("the push must be refused: {push}"));
    }
    for run in [&hook, &push] {
        if run.took > DEADLINE + SLACK {
            wrong.push(format!("late: {run}"));
        }
    }
    if peer.questions().is_empty() {
        wrong.push("the reviewer was never asked".into());
    }
    wrong
}
