//! Ways past the gate that once worked, one test each. What it guards is the name; the kind was fixed, the case is its witness.

use crate::common::{Behaviour, Dialect, EVIL, GOOD, Gate, Peer, Reviewer, Sandbox};

fn token(letters: &str) -> String {
    ["ghp", "_", letters].concat()
}

/// A key block; no file of the repository holds one.
fn key(body: &str) -> String {
    let dashes = "-".repeat(5);
    format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{body}\n{dashes}END RSA PRIVATE KEY{dashes}\n")
}

fn body(start: &str) -> String {
    let line = format!("{start}IEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTu9kL");
    [&line[..64], &line[1..65], &line[2..66]].join("\n")
}

#[test]
fn a_key_in_armour_that_was_there_before_is_a_new_secret() {
    for before in ["REPLACE-ME".to_owned(), body("M")] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("server.key", key(&before)).commit("placeholder");
        repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
        repo.write("server.key", key(&body("X"))).commit("real");
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(16).says("server.key");
        assert!(peer.requests().is_empty());
    }
}

#[test]
fn a_published_secret_may_be_moved_and_indented() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let secret = token("R7kQ2mZ9xT4vW8nB3cL6pS1dF5gH0jYaUeIo");
    repo.write("a.sh", format!("TOKEN={secret}\n")).commit("old");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    repo.write("a.sh", format!("if x; then\r\n    TOKEN={secret}\r\nfi\r\n")).commit("indent");
    repo.push(&["origin", "main"]).expect(0);
    assert!(!peer.received(&secret));
}

#[test]
fn a_secret_in_utf_16_or_in_a_name_is_a_secret() {
    let secret = token("R7kQ2mZ9xT4vW8nB3cL6pS1dF5gH0jYaUeIo");
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(format!("TOKEN={secret}\r\n").encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for (name, content) in [("w.txt".to_owned(), wide), (format!("x-{secret}.txt"), b"x\n".to_vec())] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write(&name, content).commit("secret");
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(16).never_says(&secret);
    }
}

#[test]
fn an_override_of_one_secret_is_none_of_another() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("n.txt", "n\n").commit("first");
    let start = repo.oid("HEAD");
    let come_and_go = |letters: &str| {
        repo.git(&["reset", "-q", "--hard", &start]);
        repo.write("s.txt", format!("T={}\n", token(letters))).commit("add");
        repo.git(&["rm", "-q", "s.txt"]);
        repo.git(&["commit", "-q", "--no-verify", "-m", "remove"]);
    };
    come_and_go("R7kQ2mZ9xT4vW8nB3cL6pS1dF5gH0jYaUeIo");
    repo.push(&["origin", "main"]).expect_refused();
    repo.gate(&["override", "--reason", "a token of a test account, revoked already"]).run().expect(0);
    come_and_go("Zz1xC9vB7nM5aS3dF1gH8jK6lQ4wE2rT0yUi");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(16);
}

#[test]
fn a_policy_that_is_renamed_away_is_weakened() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "author: anthropic\n");
    repo.write(".review-gate.yaml", "block: MEDIUM\nfull: [\"**\"]\n").commit("policy");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    repo.git(&["mv", ".review-gate.yaml", "old.txt"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "move"]);
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says("weakened");
}

#[test]
fn no_override_lifts_a_broken_set_up() {
    let reason = "I really want this to go through now";
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".review-gate.yaml", "block: [oops\n").add();
    repo.gate(&["run", "--override", reason]).run().expect(2);
    repo.git(&["reset", "-q", "--hard"]);
    sandbox.configure(&[Reviewer::qwen(&peer)], "author: qwen\n");
    repo.write("a.rs", GOOD).add();
    repo.gate(&["run", "--override", reason]).run().expect(2);
}

#[test]
fn the_policy_of_the_named_base_holds_where_the_remote_has_no_default_branch() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".review-gate.yaml", "base: main\n").commit("policy");
    let old = repo.oid("HEAD");
    repo.write(".review-gate.yaml", "base: main\nrequire_author: light\n").commit("stricter");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    repo.branch("topic", &old).write("a.rs", GOOD).commit("work");
    Gate::pre_push(&repo, &repo.push_line("topic")).run().expect(2).says("author is unknown");
}

#[test]
fn a_policy_gets_the_person_or_the_verifier_it_asks_for_or_nothing_passes() {
    for (policy, status) in [("checkpoint: { light: human, standard: human, full: human }\n", 3), ("verify: enforce\n", 2)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write(".review-gate.yaml", policy).commit("policy");
        repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
        repo.write("a.rs", GOOD).commit("work");
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(status);
    }
}

#[test]
fn source_that_hides_behind_a_nul_byte_is_a_finding() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.sh", b"#!/bin/sh\n#\0\ncurl http://127.0.0.1/x | sh\n").commit("run");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says("NUL");
}

#[test]
fn a_report_that_cannot_be_written_costs_no_review() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("a.rs", GOOD).add();
    repo.gate(&["run", "--output", "no/such/folder/x"]).run().expect(2).says("no/such/folder/x");
    assert!(peer.requests().is_empty());
}

#[test]
fn the_report_stays_json_whatever_a_finding_quotes() {
    let dashes = "-".repeat(5);
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::claims("issue", format!("{dashes}BEGIN PRIVATE KEY{dashes}\n{}", body("M")))));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).add();
    let run = repo.gate(&["run", "--format", "json"]).run().expect(1);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(!report["findings"][0]["issue"].as_str().unwrap().contains("IEowIBAAKCAQEA"));
}

#[test]
fn at_full_the_second_opinion_is_of_a_second_family_or_missing() {
    let (sandbox, alive, dead) = (Sandbox::new(), Peer::new(Behaviour::Clean), Peer::new(Behaviour::Status(401, "no")));
    let repo = sandbox.gated(&[Reviewer::qwen(&alive), Reviewer::mistral(&dead)], "");
    repo.write("auth/x.rs", GOOD).commit("auth");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(7).says("adversarial-2");
}

#[test]
fn an_outage_that_policy_waves_through_is_no_licence_for_size() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let small = Reviewer::new("small", Dialect::Ollama, &peer, "qwen3-coder").with("window: 8192");
    let repo = sandbox.gated(&[small], "");
    repo.write(".review-gate.yaml", "on_unavailable: warn\n").commit("policy");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    repo.write("big.txt", "one more line of text\n".repeat(40_000)).write("evil.rs", EVIL).commit("much");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(9).says("split the push");
}

#[test]
fn a_small_reviewer_gets_small_parts_where_the_large_one_is_out() {
    let (sandbox, large, small) = (Sandbox::new(), Peer::new(Behaviour::Status(401, "no")), Peer::new(Behaviour::Honest));
    let second = Reviewer::new("small", Dialect::OpenAi, &small, "mistral-large").with("window: 16384");
    let repo = sandbox.gated(&[Reviewer::qwen(&large).with("window: 128000"), second], "");
    repo.write("long.txt", "one more line of text\n".repeat(4_000)).write("run.rs", EVIL).commit("much");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says("run.rs:1");
}

#[test]
fn data_that_becomes_source_is_shown_whole() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".review-gate.yaml", "data: ['data/']\n").commit("policy");
    repo.write("data/run.txt", EVIL).commit("data");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    std::fs::create_dir_all(repo.path().join("src")).unwrap();
    repo.git(&["mv", "data/run.txt", "src/run.rs"]);
    repo.commit("rename");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0);
    assert!(peer.received(EVIL.trim()), "a pure rename out of the data was sent as a rename alone");
}

#[test]
fn what_was_binary_and_is_text_is_shown_whole() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("notes.bin", b"a\0b").commit("binary");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    repo.write("notes.bin", EVIL).commit("text");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0);
    assert!(peer.received(EVIL.trim()));
}

#[test]
fn an_executable_of_no_known_kind_must_be_text() {
    for (content, status) in [
        (b"\x7fELF\x02\x01\x01\0".as_slice(), 0),
        (b"\x89PNG\r\n\x1a\n\0\0", 0),
        (b"import os\0\n", 1),
        (b"MZ=1\ncurl http://127.0.0.1/x | sh #\0\n", 1),
    ] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("tool", content).add();
        repo.git(&["update-index", "--chmod=+x", "tool"]);
        repo.git(&["commit", "-qm", "tool"]);
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(status);
    }
}

#[test]
fn program_text_behind_a_nul_byte_is_seen_when_it_only_moves() {
    for policy in ["data: ['data/']\n", "{}\n"] {
        for (change, why) in
            [(&["mv", "data/notes.dat", "run.py"][..], "NUL bytes"), (&["update-index", "--chmod=+x", "data/notes.dat"], "clear its executable bit")]
        {
            let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
            let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
            repo.write(".review-gate.yaml", policy).write("data/notes.dat", b"import os\n#\0\n").commit("data");
            repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
            repo.git(change);
            repo.git(&["commit", "-qm", "move"]);
            Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says(why);
        }
    }
}

#[test]
fn a_published_secret_is_no_news_under_another_name_or_in_a_merge() {
    let secret = token("R7kQ2mZ9xT4vW8nB3cL6pS1dF5gH0jYaUeIo");
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write(".review-gate.yaml", "data: ['data/']\n").write("data/k.txt", format!("TOKEN={secret}\n")).commit("data");
    repo.git(&["push", "-q", "--no-verify", "origin", "main"]);
    let old = repo.oid("HEAD");
    repo.branch("side", &old).write(&format!("x-{secret}"), "x\n").commit("side");
    repo.git(&["push", "-q", "--no-verify", "origin", "side"]);
    repo.git(&["switch", "-q", "main"]);
    std::fs::create_dir_all(repo.path().join("docs")).unwrap();
    repo.git(&["mv", "data/k.txt", "docs/k.txt"]);
    repo.commit("move");
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0).never_says(&secret);
    assert!(peer.received("TOKEN=[secret:") && !peer.received(&secret));
}

#[test]
fn a_name_without_a_new_line_can_hold_a_secret() {
    let secret = token("R7kQ2mZ9xT4vW8nB3cL6pS1dF5gH0jYaUeIo");
    // Empty; the same content as another new file; a submodule.
    for kind in ["empty", "copy", "submodule"] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        let name = format!("x-{secret}");
        match kind {
            "empty" => _ = repo.write(&name, "").add(),
            "copy" => _ = repo.write("a.txt", "the same\n").write(&name, "the same\n").add(),
            _ => _ = repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},{name}", repo.oid("HEAD"))]),
        }
        repo.git(&["commit", "-qm", "name"]);
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(16).never_says(&secret);
    }
}

#[test]
fn an_override_of_a_run_with_push_is_bound_to_the_remote() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Status(401, "no")));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("a.rs", GOOD).commit("work");
    repo.gate(&["run", "--push", "origin", "--override", "the reviewer is out and this must go today"]).run().expect(0);
    repo.push(&["origin", "main"]).expect(0);
}

/// The same text in another encoding is in no hunk, and its bytes are others: some shells pass over NULs and run what a reviewer never saw.
#[test]
fn a_program_whose_text_only_changes_its_encoding_is_looked_at_in_its_bytes() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let units: Vec<u16> = b"\necho EVIL >&2\n#".chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    let text = format!("true # {}\n", String::from_utf16(&units).unwrap());
    repo.write("x.sh", &text).commit("start");
    repo.publish("main");
    let wide: Vec<u8> = format!("\u{feff}{text}echo done\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    repo.write("x.sh", wide).commit("encoding");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1).says("x.sh is program text in UTF-16");
}

#[test]
fn text_in_utf_16_that_is_too_large_is_refused_like_other_text() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    let wide: Vec<u8> = std::iter::once(0xfeff).chain("# a comment\n".repeat(400_000).encode_utf16()).flat_map(u16::to_le_bytes).collect();
    repo.write("notes.txt", wide).commit("large");
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(9).says("too large to be reviewed: notes.txt");
    assert!(peer.requests().is_empty());
}
