//! A review ahead of the push: `run --push` looks at what the push would send, may take longer than a push can wait, and makes that push free.

use crate::common::{Behaviour, EVIL, GOOD, Latch, Peer, Reviewer, Sandbox};
use std::time::Duration;

/// The connection to the remote idles while the hook runs, and a host drops it (case P44): a push does not wait longer, a review ahead of it may.
#[test]
fn a_review_that_a_push_has_no_time_for_is_had_ahead_of_it() {
    let (sandbox, release) = (Sandbox::new(), Latch::closed());
    let door = release.clone();
    let peer = Peer::scripted(move |_| {
        door.wait();
        Behaviour::Honest
    });
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 2\ndeadline: 50\n");
    repo.write("run.rs", GOOD).commit("run");
    let refused = repo.push(&["origin", "main"]).expect_refused().says("GATE: UNAVAILABLE (exit 9;");
    assert!(refused.took < Duration::from_secs(10), "{refused}");
    let advice = "run `review-gate run --push` first, which may take 50 s, then push";
    refused.says(advice);
    let ahead = repo.gate(&["run", "--push"]).start();
    let asked = peer.questions().len() + 1;
    peer.wait_for_questions(asked);
    release.open();
    ahead.finish().expect(0);
    let calls = peer.questions().len();
    repo.push(&["origin", "main"]).expect(0).says("passed before with this content");
    assert_eq!(peer.questions().len(), calls);
    assert_eq!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
}

/// Where `run` has no longer deadline, it is no way out.
#[test]
fn run_push_is_not_named_where_it_has_no_more_time() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Hang));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 2\ndeadline: 2\n");
    repo.write("run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect_refused().says("raise the deadline").never_says("run --push");
    repo.gate(&["run", "--push"]).run().expect(9).never_says("run --push");
}

#[test]
fn what_run_push_earns_is_what_the_push_needs() {
    type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str], (&'a str, &'a str));
    let rows: [Row<'_>; 13] = [
        ("a branch that the remote has", &[], &[], &["origin", "main"], ("origin", "refs/heads/main")),
        ("no arguments", &[], &[], &[], ("origin", "refs/heads/main")),
        ("a new branch", &["switch -q -c topic"], &[], &["-u", "origin", "topic"], ("origin", "refs/heads/topic")),
        ("a tag on it", &["tag -a -m one v1"], &[], &["--follow-tags", "origin", "main"], ("origin", "refs/tags/v1")),
        (
            "a rewritten branch",
            &["push -q --no-verify origin main", "mv run.rs ran.rs", "commit -q --no-verify --amend -m again"],
            &[],
            &["--force", "origin", "main"],
            ("origin", "refs/heads/main"),
        ),
        ("push.default current", &["switch -q -c topic", "config push.default current"], &[], &[], ("origin", "refs/heads/topic")),
        (
            "push.default upstream",
            &["switch -q -c topic", "branch -q -u origin/main", "config push.default upstream"],
            &[],
            &[],
            ("origin", "refs/heads/main"),
        ),
        ("pushRemote", &["config branch.main.pushRemote second"], &[], &[], ("second", "refs/heads/main")),
        ("pushDefault", &["config remote.pushDefault second"], &[], &[], ("second", "refs/heads/main")),
        ("another remote by name", &[], &["second"], &["second", "main"], ("second", "refs/heads/main")),
        ("a push specification", &["config remote.origin.push HEAD:refs/for/main"], &[], &[], ("origin", "refs/for/main")),
        ("a push URL", &["remote set-url --push origin ../second.git"], &[], &["origin", "main"], ("../second.git", "refs/heads/main")),
        (
            "two push URLs",
            &["remote set-url --add --push origin ../second.git", "remote set-url --add --push origin ../origin.git"],
            &[],
            &["origin", "main"],
            ("../second.git", "refs/heads/main"),
        ),
    ];
    for (what, settings, ahead, push, (remote, name)) in rows {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.remote("second", &sandbox.bare("second.git"));
        repo.git(&["push", "-q", "--no-verify", "second", "main"]);
        repo.write("run.rs", GOOD).commit("run");
        for setting in settings {
            repo.git(&setting.split(' ').collect::<Vec<_>>());
        }
        let (run, report) = repo.gate(&[&["run", "--push"], ahead].concat()).report();
        run.expect(0);
        assert_eq!(
            report["notes"].as_array().unwrap().iter().filter(|note| note.as_str().unwrap().contains("git push")).count(),
            0,
            "{what}: {report}"
        );
        let calls = peer.questions().len();
        repo.push(push).expect(0);
        assert_eq!((calls, peer.questions().len()), (1, 1), "{what}");
        assert_eq!(repo.remote_oid(remote, name), Some(repo.oid(if name.contains("tags") { "v1" } else { "HEAD" })), "{what}");
    }
}

#[test]
fn where_the_push_would_send_more_run_push_says_so_and_the_hook_sees_it() {
    for setting in ["push.default=matching", "remote.origin.push=refs/heads/*"] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.publish("main:side");
        repo.branch("side", "main").write("side.rs", EVIL).commit("side");
        repo.git(&["switch", "-q", "main"]);
        repo.write("run.rs", GOOD).commit("run");
        let (key, value) = setting.split_once('=').unwrap();
        repo.git(&["config", key, value]);
        let said = "`git push` alone may also send refs/heads/side";
        repo.gate(&["run", "--push"]).run().expect(0).says(said).says("`git push origin main` sends this branch only");
        assert!(!peer.received("side.rs"));
        repo.push(&[]).expect_refused().says("side.rs:1");
        let calls = peer.questions().len();
        repo.push(&["origin", "main"]).expect(0);
        assert_eq!(peer.questions().len(), calls, "{setting}: the branch alone is free");
    }
}

#[test]
fn where_the_push_would_send_nothing_run_push_says_so() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    repo.git(&["config", "push.default", "nothing"]);
    let said = "measured is what `git push origin main` would send";
    repo.gate(&["run", "--push"]).run().expect(0).says("push.default is `nothing`").says(said);
    repo.push(&[]).expect_refused();
    repo.push(&["origin", "main"]).expect(0).says("passed before with this content");
}
