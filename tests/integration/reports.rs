//! What people and programs are told: the same verdict in every form.

use crate::common::{Behaviour, EVIL, GOOD, Gate, Peer, Reviewer, Sandbox};

#[test]
fn the_status_does_not_depend_on_the_form() {
    let rows = [
        (Behaviour::Honest, GOOD, 0, "pass"),
        (Behaviour::Honest, EVIL, 1, "fail"),
        (Behaviour::Prose, GOOD, 9, "unavailable"),
        (Behaviour::Empty, GOOD, 11, "needs-human"),
        (Behaviour::Status(401, "no"), GOOD, 7, "error"),
    ];
    for (behaviour, content, status, verdict) in rows {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(behaviour));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("run.rs", content).add();
        repo.gate(&["run", "--staged"]).run().expect(status).says("GATE:");
        let json = repo.gate(&["run", "--staged", "--format", "json"]).run().expect(status);
        let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap_or_else(|e| panic!("stdout is no JSON: {e}; {json}"));
        assert_eq!(report["schema"], "review-gate/report/v1");
        assert_eq!((report["verdict"].as_str(), report["exit_code"].as_i64()), (Some(verdict), Some(status.into())));
        repo.commit("run");
        Gate::pre_push(&repo, &repo.push_line("main")).run().expect(status);
    }
}

#[test]
fn a_missing_review_is_neither_a_finding_nor_clean() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Status(500, "out")));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 5\n");
    repo.write("run.rs", GOOD).commit("run");
    let (run, report) = Gate::pre_push(&repo, &repo.push_line("main")).report();
    run.expect(9).never_says("HIGH");
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!(report["counts"]["high"], 0);
    assert_eq!(report["subjects"][0]["passes"][0]["outcome"], "unavailable");
}

#[test]
fn a_refusal_says_what_to_do_and_names_the_override_last() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    let (_, report) = Gate::pre_push(&repo, &repo.push_line("main")).report();
    let id = report["subjects"][0]["id"].as_str().unwrap();
    let run = Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1);
    let text = &run.stderr;
    let place = |needle: &str| text.rfind(needle).unwrap_or_else(|| panic!("nothing says {needle:?}; {run}"));
    assert!(text.contains(EVIL.trim()), "the line is quoted; {run}");
    assert!(place("run.rs:1") < place("GATE:") && place("GATE:") < place("review-gate override"), "{run}");
    assert!(text[place("review-gate override")..].contains(id), "the override names the subject; {run}");
}

#[test]
fn a_malformed_reply_is_kept_for_people_to_read() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Prose));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let run = Gate::pre_push(&repo, &repo.push_line("main")).run().expect(9);
    let file = run
        .stderr
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/'))
        .find(|word| std::path::Path::new(word).is_file());
    let file = file.unwrap_or_else(|| panic!("no file is named; {run}"));
    assert!(std::fs::read_to_string(file).unwrap().contains("looks good to me"));
}

#[test]
fn a_dry_run_calls_nobody_and_passes_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    repo.gate(&["run", "--push", "--dry-run"]).run().expect(0);
    assert!(peer.questions().is_empty());
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(1);
}

#[test]
fn what_was_not_reviewed_is_listed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("image.bin", b"\0\x01\x02\x03").write("run.rs", GOOD).commit("both");
    let (run, report) = Gate::pre_push(&repo, &repo.push_line("main")).report();
    run.expect(0);
    Gate::pre_push(&repo, &repo.push_line("main")).run().expect(0).says("image.bin");
    assert_eq!(report["subjects"][0]["coverage"]["not_reviewed"][0], serde_json::json!({"path": "image.bin", "reason": "binary"}));
}

/// Collects every key of a JSON value with its place: `subjects[].tier.name`.
fn keys(value: &serde_json::Value, place: &str, out: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => map.iter().for_each(|(key, value)| {
            let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
            out.insert(place.clone());
            keys(value, &place, out);
        }),
        serde_json::Value::Array(list) => list.iter().for_each(|value| keys(value, &format!("{place}[]"), out)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) | serde_json::Value::String(_) => {}
    }
}

#[test]
fn the_report_has_the_keys_that_were_agreed() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("image.bin", b"\0\x01").write("run.rs", EVIL).commit("both");
    let mut found = std::collections::BTreeSet::new();
    keys(&Gate::pre_push(&repo, &repo.push_line("main")).report().1, "", &mut found);
    repo.gate(&["override", "--reason", "the keys of an override are wanted too"]).run().expect(0);
    keys(&Gate::pre_push(&repo, &repo.push_line("main")).report().1, "", &mut found);
    let held = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/report-keys.txt")).unwrap_or_default();
    let found: String = found.iter().map(|key| format!("{key}\n")).collect();
    assert!(found == held, "fixtures/report-keys.txt should be:\n{found}");
}
