//! Configuration is judged before anything is spent: each mistake has a place, a remedy and status 2.

use crate::common::{Behaviour, GOOD, Gate, Peer, Repo, Reviewer, Run, Sandbox};

/// Pushes a harmless change under a user configuration that is wrong.
fn push_under(sandbox: &Sandbox, yaml: &str) -> Run {
    let repo = sandbox.published();
    repo.write("run.rs", GOOD).commit("run");
    sandbox.configure_raw(yaml);
    let before = repo.snapshot();
    let run = Gate::pre_push(&repo, &repo.push_line("main")).run();
    assert_eq!(repo.snapshot(), before);
    run
}

#[test]
fn an_unknown_key_is_named_with_its_place_and_the_nearest_key() {
    let sandbox = Sandbox::new();
    push_under(&sandbox, "deadline: 100\n  \npush_dedline: 5\n").expect(2).says("config.yaml:3:1").says("push_dedline").says("push_deadline");
}

#[test]
fn every_mistake_is_refused_with_its_line() {
    let rows = [
        ("a duplicate key", "deadline: 1\ndeadline: 2\n", ":2:"),
        ("a wrong type", "deadline:\n  - soon\n", ":2:"),
        ("no YAML", "reviewers: [\n", "config.yaml"),
        ("a reviewer without a model", "reviewers:\n  - name: a\n    provider: openai\n", "model"),
        ("an unknown provider", "reviewers:\n  - name: a\n    provider: opnai\n    model: qwen3\n", "openai"),
        (
            "plain http beyond the loopback interface",
            "reviewers:\n  - name: a\n    provider: openai\n    host: http://example.com/v1\n    model: qwen3\n",
            "http",
        ),
        (
            "two reviewers of one name",
            "reviewers:\n  - {name: a, provider: ollama, model: qwen3}\n  - {name: a, provider: ollama, model: qwen3}\n",
            "a",
        ),
    ];
    for (what, yaml, text) in rows {
        let run = push_under(&Sandbox::new(), yaml);
        assert!(run.status == 2 && run.stderr.contains(text), "{what} must end with 2 and say {text:?}; {run}");
    }
}

#[test]
fn a_mistake_is_found_before_the_first_call() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    sandbox.configure(&[Reviewer::qwen(&peer)], "unheard_of: 1\n");
    repo.write("run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect_refused().says("unheard_of");
    assert!(peer.requests().is_empty());
}

#[test]
fn without_a_reviewer_nothing_is_let_through() {
    push_under(&Sandbox::new(), "reviewers: []\n").expect(2).says("review-gate init");
    let sandbox = Sandbox::new();
    let repo = sandbox.published();
    repo.write("run.rs", GOOD).commit("run");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(2).says("review-gate init");
}

#[test]
fn reviewers_of_the_authors_family_alone_are_none() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::claude(&peer)], "author: anthropic\n");
    let repo = sandbox.published();
    repo.write("run.rs", GOOD).commit("run");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(2).says("anthropic");
    assert!(peer.requests().is_empty());
}

#[test]
fn outside_a_repository_there_is_nothing_to_judge() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let nowhere = sandbox.path().join("nowhere");
    std::fs::create_dir(&nowhere).unwrap();
    let nowhere = Repo::at(&sandbox, nowhere);
    for args in [&["run", "--staged"][..], &["hook", "pre-commit"], &["tier"], &["install"]] {
        nowhere.gate(args).run().expect(2).says("repository");
    }
}

#[test]
fn usage_errors_are_2() {
    let sandbox = Sandbox::new();
    let repo = sandbox.published();
    for args in [&["rnu"][..], &["run", "--stagd"], &["run", "--range", "nowhere..HEAD"], &["run", "--tier", "huge"], &["hook"]] {
        repo.gate(args).run().expect(2);
    }
}

#[test]
fn p62_the_policy_of_the_base_holds_and_the_pushed_one_cannot_loosen_it() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::claims("severity", "MEDIUM")));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.published();
    repo.write(".review-gate.yaml", "block: MEDIUM\n").commit("policy");
    repo.publish("main");
    repo.write(".review-gate.yaml", "block: HIGH\n").write("run.rs", crate::common::EVIL).commit("loosen");
    repo.gate(&["run", "--push"]).run().expect(1).says("weakened").says("block");
    assert!(peer.requests().is_empty(), "what blocks without a reviewer costs no call");
    repo.write(".review-gate.yaml", "block: MEDIUM\n").commit("leave it");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says("run.rs:1");
}

#[test]
fn a_pushed_policy_that_cannot_be_read_is_refused() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".review-gate.yaml", "blok: HIGH\n").commit("policy");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(2).says(".review-gate.yaml at tip:1:1").says("`blok`").says("`block`");
}

#[test]
fn p61_a_nested_run_refuses() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.gate(&["run", "--staged"]).env("REVIEW_GATE_NESTED", "1").run().expect(2).says("nested");
}

#[test]
fn proxies_of_the_environment_are_not_used() {
    let (sandbox, peer, proxy) = (Sandbox::new(), Peer::new(Behaviour::Clean), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let mut gate = Gate::pre_push(&repo, &repo.push_line("main"));
    for name in ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"] {
        gate = gate.env(name, proxy.origin());
    }
    gate.run().expect(0);
    assert!(proxy.requests().is_empty());
}

fn check(repo: &Repo<'_>) -> Run {
    repo.gate(&["config", "check"]).run()
}

#[test]
fn check_says_all_well_only_where_it_is() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.published();
    check(&repo).expect(0).says(": 1 reviewer; policy: none, defaults").says("all well");
    sandbox.configure(&[Reviewer::claude(&peer)], "author: anthropic\n");
    check(&repo).expect(0).says("no reviewer is eligible: opus is of the family anthropic").never_says("all well");
    sandbox.configure(&[Reviewer::qwen(&peer)], "budget: {per_run_usd: 1}\n");
    check(&repo).expect(0).says("`budget` is set and not in force yet").never_says("all well");
    sandbox.configure_raw("reviewers: []\n");
    check(&repo).expect(0).says("no reviewer is configured, so every change would be refused").never_says("all well");
    assert!(peer.requests().is_empty());
}

#[test]
fn check_reads_the_policy_that_is_not_yet_in_force() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = sandbox.published();
    repo.write(".review-gate.yaml", "block: MEDIUM\nfull: [infra/**]\n");
    check(&repo).expect(0).says("changed in the worktree and not yet in force").never_says("lowers").never_says("all well");
    repo.commit("policy");
    check(&repo).expect(0).says("policy: HEAD ").says("all well");
    repo.write(".review-gate.yaml", "full: [infra/**]\n").add();
    check(&repo).expect(0).says("changed in the index and not yet in force; it lowers block, which refuses").never_says("worktree");
    repo.write(".review-gate.yaml", "blok: MEDIUM\n");
    check(&repo).expect(2).says(".review-gate.yaml at worktree:1:1: unknown key `blok`").says("it lowers block");
    repo.add();
    check(&repo).expect(2).says(".review-gate.yaml at index:1:1").never_says("worktree");
    repo.git(&["rm", "-q", "-f", ".review-gate.yaml"]);
    check(&repo).expect(0).says("deleted in the index and not yet in force; it lowers full, block");
}

#[test]
fn show_names_what_a_reviewer_may_use_and_what_has_no_effect_yet() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer).with("timeout: 30")], "budget: {per_run_usd: 1}\n");
    let shown = sandbox.published().gate(&["config", "show"]).run().expect(0).stdout;
    assert!(shown.contains("qwen: window 32000, max_tokens 16000, timeout 30 s, first_byte_timeout slice, parallel any, price 0/0/0"), "{shown}");
    let idle: Vec<&str> = shown.lines().filter(|line| line.ends_with("; not in force yet)")).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(idle, ["budget", "lenses", "verify", "spec", "rounds", "default_domain", "context"]);
}

#[test]
fn the_schema_is_one_text_with_one_line_end() {
    let shown = Sandbox::new().published().gate(&["config", "schema"]).run().expect(0).stdout;
    assert!(shown.ends_with("}\n") && !shown.ends_with("\n\n"), "{shown:?}");
}
