//! Who wrote it decides who may review it.

use crate::common::{Behaviour, GOOD, Gate, Peer, Repo, Reviewer, Sandbox};

fn changed<'s>(sandbox: &'s Sandbox, reviewers: &[Reviewer]) -> Repo<'s> {
    sandbox.configure(reviewers, "");
    let repo = sandbox.published();
    repo.write("run.rs", GOOD).commit("run");
    repo
}

#[test]
fn an_agents_own_family_does_not_review_it() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = changed(&sandbox, &[Reviewer::claude(&peer)]);
    Gate::pre_push(&repo, &repo.push_line("main")).env("CLAUDECODE", "1").run().expect(2).says("anthropic");
    assert!(peer.requests().is_empty());
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0);
}

#[test]
fn another_family_reviews_an_agents_work() {
    let (sandbox, claude, qwen) = (Sandbox::new(), Peer::new(Behaviour::Clean), Peer::new(Behaviour::Clean));
    let repo = changed(&sandbox, &[Reviewer::claude(&claude), Reviewer::qwen(&qwen)]);
    let (run, report) = Gate::pre_push(&repo, &repo.push_line("main")).env("CLAUDECODE", "1").report();
    run.expect(0);
    assert_eq!(report["author"]["families"], serde_json::json!(["anthropic"]));
    assert!(report["author"]["evidence"].to_string().contains("CLAUDECODE"));
    assert_eq!((claude.requests().len(), qwen.reviews().len()), (0, 1));
}

#[test]
fn a_trailer_says_who_wrote_it() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::claude(&peer)], "");
    let repo = sandbox.published();
    repo.write("run.rs", GOOD).commit("run\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(2).says("anthropic");
}

#[test]
fn what_is_stated_adds_to_what_is_seen() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::claude(&peer), Reviewer::qwen(&peer)], "author: qwen\n");
    let repo = sandbox.published();
    repo.write("run.rs", GOOD).commit("run");
    Gate::pre_push(&repo, &repo.push_line("main")).env("CLAUDECODE", "1").run().expect(2);
    repo.gate(&["run", "--push", "--author", "human"]).env("CLAUDECODE", "1").run().expect(2).says("qwen");
    assert!(peer.requests().is_empty());
}

#[test]
fn a_reply_of_a_model_of_the_authors_family_is_refused() {
    let reports = Behaviour::Reports("claude-opus-5", Box::new(Behaviour::Clean));
    let (sandbox, peer) = (Sandbox::new(), Peer::new(reports));
    let repo = changed(&sandbox, &[Reviewer::qwen(&peer)]);
    Gate::pre_push(&repo, &repo.push_line("main")).env("CLAUDECODE", "1").run().expect(4).says("claude-opus-5");
}

#[test]
fn an_alias_that_is_not_known_is_honest() {
    let reports = Behaviour::Reports("house-alias-7", Box::new(Behaviour::Clean));
    let (sandbox, peer) = (Sandbox::new(), Peer::new(reports));
    let repo = changed(&sandbox, &[Reviewer::qwen(&peer)]);
    Gate::pre_push(&repo, &repo.push_line("main")).env("CLAUDECODE", "1").run().expect(0);
}

#[test]
fn a_model_that_is_not_served_is_an_error_before_the_question() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    for dialect in [crate::common::Dialect::OpenAi, crate::common::Dialect::Ollama] {
        let sandbox_of_row = Sandbox::new();
        let repo = changed(&sandbox_of_row, &[Reviewer::new("absent", dialect, &peer, "qwen3-not-here")]);
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(4).says("qwen3-not-here");
    }
    assert!(peer.questions().is_empty());
    drop(sandbox);
}

#[test]
fn variables_that_turn_other_gates_off_are_ignored() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = changed(&sandbox, &[Reviewer::qwen(&peer)]);
    repo.write("run.rs", crate::common::EVIL).commit("evil");
    let mut gate = Gate::pre_push(&repo, &repo.push_line("main"));
    for (name, value) in [("GSD_REQUIRED", "0"), ("SKIP", "review-gate"), ("HUSKY", "0"), ("LEFTHOOK", "0"), ("REVIEW_TIER", "none"), ("CI", "true")]
    {
        gate = gate.env(name, value);
    }
    gate.run().expect(1);
}
