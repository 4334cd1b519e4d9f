//! Passes: how many, side by side, what they share, what becomes of a claim before it may block.

use crate::common::{Behaviour, Dialect, EVIL, GOOD, Gate, Peer, Repo, Request, Reviewer, Run, Sandbox};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Five files: the standard tier, three passes.
fn standard(repo: &Repo<'_>, content: &str) {
    for name in ["a", "b", "c", "d", "e"] {
        repo.write(&format!("src/{name}.rs"), GOOD);
    }
    repo.write("src/e.rs", content).commit("standard");
}

fn judge(repo: &Repo<'_>) -> (Run, Value) {
    Gate::pre_push(repo, &repo.push_line("main")).report()
}

fn passes(report: &Value) -> Vec<&str> {
    report["subjects"][0]["passes"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect()
}

#[test]
fn three_passes_of_two_seconds_take_less_than_two_and_a_half() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest.after(Duration::from_secs(2))));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    standard(&repo, GOOD);
    let (run, report) = judge(&repo);
    assert!(run.took < Duration::from_millis(2600), "{run}");
    assert!(report["timing"]["total_ms"].as_u64().unwrap() < 2600);
    assert_eq!((peer.reviews().len(), peer.peak()), (3, 3));
    run.expect(0);
}

#[test]
fn each_tier_has_its_passes() {
    let rows: [(&[&str], &[&str]); 3] = [
        (&["a.rs"], &["general"]),
        (&["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"], &["adversarial", "general", "tests"]),
        (&["src/auth.rs"], &["adversarial", "adversarial-2", "general", "tests"]),
    ];
    for (files, want) in rows {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        // Of an author nobody knows, full would ask for a second family.
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "author: anthropic\n");
        for file in files {
            repo.write(file, GOOD);
        }
        repo.commit("change");
        let (run, report) = judge(&repo);
        run.expect(0);
        let mut names = passes(&report);
        names.sort_unstable();
        assert_eq!(names, want);
        assert_eq!(peer.reviews().len(), want.len());
    }
}

#[test]
fn the_second_adversary_is_of_another_family_where_there_is_one() {
    let (sandbox, qwen, mistral) = (Sandbox::new(), Peer::new(Behaviour::Honest), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&qwen), Reviewer::mistral(&mistral)], "");
    repo.write("src/auth.rs", GOOD).commit("auth");
    let (run, report) = judge(&repo);
    run.expect(0);
    let families: Vec<&Value> = report["subjects"][0]["passes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|p| p["name"].as_str().unwrap().starts_with("adversarial"))
        .map(|p| &p["family"])
        .collect();
    assert_eq!(families, [&json!("qwen"), &json!("mistral")]);
    assert_eq!(mistral.reviews().len(), 1);
}

#[test]
fn a_mandatory_pass_without_an_answer_refuses_although_the_others_passed() {
    for silent in 0..3 {
        let script = move |r: &Request| if r.call == silent { Behaviour::Prose } else { Behaviour::Clean };
        let (sandbox, peer) = (Sandbox::new(), Peer::scripted(script));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        standard(&repo, GOOD);
        judge(&repo).0.expect(9);
    }
}

#[test]
fn all_passes_share_one_prefix_byte_for_byte() {
    for dialect in Dialect::ALL {
        let model = if dialect == Dialect::Anthropic { "claude-opus-5" } else { "qwen3-coder" };
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = sandbox.gated(&[Reviewer::new("peer", dialect, &peer, model)], "");
        standard(&repo, "let last = 1;\n");
        judge(&repo).0.expect(0);
        let prompts: Vec<String> = peer.reviews().iter().map(Request::prompt).collect();
        let shared = prompts.iter().fold(prompts[0].as_str(), |shared, prompt| common_prefix(shared, prompt));
        assert!(shared.contains("+let last = 1;"), "{}: the change is in the shared part", dialect.word());
        assert!(prompts.iter().all(|p| p[shared.len()..].contains("nonce: ")), "{}: nonce and question come last", dialect.word());
        let mut nonces: Vec<String> = peer.questions().iter().map(Request::nonce).collect();
        nonces.sort();
        nonces.dedup();
        assert_eq!(nonces.len(), 3, "a nonce a call");
        assert!(nonces.iter().all(|n| n.len() == 32 && n.bytes().all(|b| b.is_ascii_hexdigit())));
    }
}

#[test]
fn a_refuter_is_asked_only_about_what_would_block() {
    for (severity, asked, status) in [("MEDIUM", 0, 0), ("LOW", 0, 0), ("HIGH", 1, 1), ("CRITICAL", 1, 1), ("P1", 1, 1), ("unheard-of", 1, 1)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::claims("severity", severity)));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("run.rs", EVIL).commit("run");
        judge(&repo).0.expect(status);
        assert_eq!(peer.refuters().len(), asked, "{severity}");
    }
}

#[test]
fn a_refuted_claim_falls_only_with_evidence_that_is_found() {
    for (found, status, standing) in [(true, 0, "refuted"), (false, 1, "blocking")] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Refutes { found }));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("run.rs", EVIL).commit("run");
        let (run, report) = judge(&repo);
        run.expect(status);
        assert_eq!(report["findings"][0]["status"], standing);
    }
}

#[test]
fn without_a_refuters_answer_an_anchored_claim_stands() {
    let script = |r: &Request| if r.is_refuter() { Behaviour::Status(500, "out") } else { Behaviour::Honest };
    let (sandbox, peer) = (Sandbox::new(), Peer::scripted(script));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 10\n");
    repo.write("run.rs", EVIL).commit("run");
    judge(&repo).0.expect(1);
}

/// A claim whose evidence is nowhere, in a file that is in the change.
fn unanchored(refuter: Behaviour) -> (Run, Value) {
    let invented = Behaviour::claims("evidence", "this line was never written by anyone");
    let script = move |r: &Request| if r.is_refuter() { refuter.clone() } else { invented.clone() };
    let (sandbox, peer) = (Sandbox::new(), Peer::scripted(script));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 10\n");
    repo.write("run.rs", EVIL).commit("run");
    judge(&repo)
}

#[test]
fn an_unanchored_claim_blocks_only_when_it_is_confirmed() {
    unanchored(Behaviour::Clean).0.expect(1);
    let (run, report) = unanchored(Behaviour::Refutes { found: true });
    run.expect(0);
    assert_ne!(report["findings"][0]["status"], "blocking");
}

#[test]
fn an_unanchored_claim_that_no_refuter_judged_needs_a_human() {
    unanchored(Behaviour::Status(500, "out")).0.expect(3);
}

#[test]
fn a_claim_that_names_another_file_stands_where_its_evidence_is() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::claims("file", "elsewhere.rs")));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    let (run, report) = judge(&repo);
    run.expect(1);
    assert_eq!((&report["findings"][0]["status"], &report["findings"][0]["file"]), (&"blocking".into(), &"run.rs".into()));
}

#[test]
fn the_line_is_taken_from_the_evidence_and_not_from_the_claim() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::claims("line", 999)));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", format!("{GOOD}{EVIL}")).commit("run");
    let (run, report) = judge(&repo);
    run.expect(1);
    assert_eq!(report["findings"][0]["line"], 2);
}

#[test]
fn the_same_claim_of_several_passes_is_one_finding() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    standard(&repo, EVIL);
    let (run, report) = judge(&repo);
    run.expect(1);
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(report["findings"][0]["sources"].as_array().unwrap().len(), 3);
    assert_eq!(peer.refuters().len(), 1, "one finding, one refuter");
}

#[test]
fn a_reviewers_call_for_a_human_is_heard() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::edit(|reply, _| reply["human"] = json!("sends mail to every customer"))));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    judge(&repo).0.expect(3).says("sends mail to every customer");
}

#[test]
fn the_deadline_ends_the_run_and_not_the_reviewer() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Hang));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 2\n");
    standard(&repo, GOOD);
    let started = Instant::now();
    let (run, report) = judge(&repo);
    assert!(started.elapsed() < Duration::from_secs(4), "{run}");
    assert_eq!(report["subjects"][0]["passes"][0]["outcome"], "timed-out");
    run.expect(9);
    peer.wait_until_idle();
}

#[test]
fn the_prompt_command_prints_what_is_sent_and_sends_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).add();
    let printed = repo.gate(&["prompt", "--staged", "--pass", "general"]).run().expect(0).stdout;
    assert!(printed.contains(&format!("+{GOOD}")) && printed.contains("nonce: "), "{printed}");
    assert!(peer.requests().is_empty());
}

/// Terminal escapes and invisible characters of change and reviewer reach no terminal as they are.
#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::claims("title", "a\u{1b}[2Jb\u{202e}c")));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", format!("\u{1b}[2J{EVIL}")).commit("run");
    judge(&repo).0.expect_refused().never_says("\u{1b}[2J").never_says("\u{202e}");
    assert!(!peer.received("\u{1b}[2J"));
}

fn common_prefix<'a>(a: &'a str, b: &str) -> &'a str {
    let end = a.char_indices().zip(b.chars()).find(|((_, x), y)| x != y).map_or(a.len().min(b.len()), |((at, _), _)| at);
    &a[..end]
}
