//! Several at once: identical pushes share one review, every run has its entry, and whatever happens to the repository during a review, what was recorded is what was
//! pushed.

use crate::common::child::{self, Running};
use crate::common::{Behaviour, EVIL, GOOD, Gate, Latch, Peer, Repo, Request, Reviewer, Sandbox, ZERO};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

const WAITS: &str = "waiting for another run that reviews the same change";

/// A peer that says nothing before the door is open.
fn behind(door: &Latch) -> Peer {
    let door = door.clone();
    Peer::scripted(move |_| {
        door.wait();
        Behaviour::Honest
    })
}

fn hook(repo: &Repo<'_>, branch: &str) -> Running {
    Gate::pre_push(repo, &repo.push_line(branch)).start()
}

/// Files that runs leave beside the ledger while they have the turn.
fn turns(repo: &Repo<'_>) -> Vec<String> {
    let names = fs::read_dir(repo.state()).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("turn-")).collect()
}

#[test]
fn two_identical_pushes_at_once_share_one_review() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let first = hook(&repo, "main");
    peer.wait_for_question();
    let second = hook(&repo, "main");
    second.wait_to_say(WAITS);
    door.open();
    first.finish().expect(0);
    second.finish().expect(0).says("passed before with this content");
    assert_eq!(peer.questions().len(), 1);
    assert_eq!(turns(&repo), Vec::<String>::new(), "nothing is left behind");
}

#[test]
fn of_eight_at_once_one_asks_and_the_others_wait() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    for name in ["a", "b", "c", "d", "e"] {
        repo.write(&format!("src/{name}.rs"), GOOD);
    }
    repo.commit("standard");
    let first = hook(&repo, "main");
    peer.wait_for_questions(3);
    let others: Vec<Running> = (0..7).map(|_| hook(&repo, "main")).collect();
    others.iter().for_each(|run| run.wait_to_say(WAITS));
    door.open();
    first.finish().expect(0);
    for other in others {
        other.finish().expect(0).says("no call was made");
    }
    assert_eq!(peer.questions().len(), 3, "one set of three passes");
    let records = repo.records();
    let bases: Vec<&Value> = records.iter().map(|record| &record["subjects"][0]["basis"]).collect();
    assert_eq!(bases.iter().filter(|basis| **basis == "reviewed").count(), 1, "{bases:?}");
    assert_eq!(bases.iter().filter(|basis| basis["receipt"] == 1).count(), 7, "{bases:?}");
}

/// A refusal is no receipt: it is not handed on, and whoever waited for it asks for itself.
#[test]
fn whoever_waited_for_a_refusal_does_its_own_review() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", EVIL).commit("run");
    let first = hook(&repo, "main");
    peer.wait_for_question();
    let second = hook(&repo, "main");
    second.wait_to_say(WAITS);
    door.open();
    first.finish().expect(1);
    second.finish().expect(1).says("run.rs:1");
    assert_eq!(peer.reviews().len(), 2);
}

#[test]
fn whoever_waited_for_a_run_that_dies_does_its_own_review() {
    for signal in [Signal::KILL, Signal::TERM] {
        let (sandbox, door) = (Sandbox::new(), Latch::closed());
        let peer = behind(&door);
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("run.rs", GOOD).commit("run");
        let first = hook(&repo, "main");
        peer.wait_for_question();
        let second = hook(&repo, "main");
        second.wait_to_say(WAITS);
        first.signal(signal);
        first.finish().expect_refused();
        peer.wait_for_questions(2);
        door.open();
        second.finish().expect(0).never_says("passed before");
        assert_eq!(peer.questions().len(), 2, "{signal:?}");
        assert_eq!(turns(&repo), Vec::<String>::new());
    }
}

#[test]
fn a_run_that_waits_for_another_can_be_interrupted() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (sandbox, door) = (Sandbox::new(), Latch::closed());
        let peer = behind(&door);
        let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
        repo.write("run.rs", GOOD).commit("run");
        let first = hook(&repo, "main");
        peer.wait_for_question();
        let second = hook(&repo, "main");
        second.wait_to_say(WAITS);
        second.signal(signal);
        second.finish().expect(status);
        let record = repo.records().remove(0);
        assert_eq!((&record["exit_code"], &record["subjects"][0]["verdict"]), (&Value::from(status), &Value::from("unavailable")), "{record}");
        door.open();
        first.finish().expect(0);
        assert_eq!(peer.questions().len(), 1);
    }
}

#[test]
fn a_wait_for_another_run_ends_with_the_deadline() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 2\ndeadline: 50\n");
    repo.write("run.rs", GOOD).commit("run");
    let first = repo.gate(&["run", "--push"]).start();
    peer.wait_for_question();
    let second = hook(&repo, "main").finish().expect(9).says("another run of the gate was still reviewing this very change");
    assert!(second.took < Duration::from_secs(4), "{second}");
    assert_eq!(peer.questions().len(), 1, "no time was left to ask anybody");
    door.open();
    first.finish().expect(0);
    hook(&repo, "main").finish().expect(0).says("passed before with this content");
}

/// Each has what the other wants, whatever the order of their lines.
#[test]
fn runs_over_the_same_subjects_in_another_order_never_block_each_other() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 40\n");
    let names = ["one", "two", "three", "four"];
    for name in names {
        repo.branch(name, "main").write(&format!("{name}.rs"), GOOD).commit(name);
    }
    let lines = |order: &[usize]| order.iter().map(|at| repo.push_line(names[*at])).collect::<String>();
    let orders: [&[usize]; 6] = [&[0, 1, 2, 3], &[3, 2, 1, 0], &[1, 3], &[2, 0], &[2, 3, 0], &[3]];
    let running: Vec<Running> = orders.iter().map(|order| Gate::pre_push(&repo, &lines(order)).start()).collect();
    peer.wait_for_question();
    door.open();
    for run in running {
        let run = run.finish().expect(0);
        assert!(run.took < Duration::from_secs(20), "{run}");
    }
    assert_eq!(peer.questions().len(), names.len(), "each subject once");
}

/// The same push through the framework and through git's own hook (case P53).
#[test]
fn p53_the_framework_and_the_native_hook_share_one_review() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let variables = [
        ("PRE_COMMIT", "1".to_owned()),
        ("PRE_COMMIT_FROM_REF", repo.oid("origin/main")),
        ("PRE_COMMIT_TO_REF", repo.oid("main")),
        ("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/main".to_owned()),
        ("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/main".to_owned()),
        ("PRE_COMMIT_REMOTE_NAME", "origin".to_owned()),
        ("PRE_COMMIT_REMOTE_URL", repo.git(&["remote", "get-url", "origin"])),
    ];
    let mut framed = repo.gate(&["hook", "pre-push"]);
    for (name, value) in &variables {
        framed = framed.env(name, value);
    }
    let framed = framed.start();
    peer.wait_for_question();
    let native = hook(&repo, "main");
    native.wait_to_say(WAITS);
    door.open();
    framed.finish().expect(0);
    native.finish().expect(0).says("passed before with this content");
    assert_eq!(peer.questions().len(), 1);
}

/// Git runs the hook once for each push URL (case P53). By then its tracking ref says that the remote has it.
#[test]
fn p53_two_push_urls_cost_one_review() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    sandbox.clone(&sandbox.path().join("origin.git"), "colleague").git(&["push", "-q", &sandbox.bare("second.git").to_string_lossy(), "main"]);
    for bare in ["../origin.git", "../second.git"] {
        repo.git(&["remote", "set-url", "--add", "--push", "origin", bare]);
    }
    repo.write("run.rs", GOOD).commit("run");
    repo.push(&["origin", "main"]).expect(0).says("no call was made");
    assert_eq!((peer.questions().len(), repo.records().len()), (1, 2), "two hooks, one review");
    for bare in ["../origin.git", "../second.git"] {
        assert_eq!(repo.remote_oid(bare, "refs/heads/main"), Some(repo.oid("HEAD")), "{bare}");
    }
}

#[test]
fn a_turn_that_is_a_link_is_refused_and_not_followed() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    let first = hook(&repo, "main");
    peer.wait_for_question();
    let names = turns(&repo);
    first.signal(Signal::KILL);
    first.finish().expect(137);
    let (turn, elsewhere) = (repo.state().join(&names[0]), sandbox.path().join("elsewhere"));
    fs::remove_file(&turn).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &turn).unwrap();
    hook(&repo, "main").finish().expect(14).says("is a link");
    assert!(!elsewhere.exists());
    fs::remove_file(&turn).unwrap();
    door.open();
    hook(&repo, "main").finish().expect(0);
}

/// So many pushes of each of eight processes (threat T19); `REVIEW_GATE_TEST_PUSHES` asks for more.
#[test]
fn t19_eight_processes_that_push_side_by_side_leave_one_chain() {
    const PROCESSES: usize = 8;
    let pushes = asked("REVIEW_GATE_TEST_PUSHES", 5);
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    // One commit for each round, the same for all processes; every fifth is refused.
    let evil = |round: usize| round % 5 == 4;
    let commits: Vec<String> = (0..pushes)
        .map(|round| {
            repo.git(&["reset", "-q", "--hard", "origin/main"]);
            let line = if evil(round) { EVIL } else { GOOD };
            repo.write("run.rs", format!("let round = {round};\n{line}")).commit("round")
        })
        .collect();
    let accepted: Vec<String> = std::thread::scope(|scope| {
        let (repo, commits) = (&repo, &commits);
        let process = |process: usize| {
            move || {
                let one = |(round, commit): (usize, &String)| {
                    let name = format!("refs/heads/p{process}/r{round}");
                    let run = repo.push(&["-q", "origin", &format!("{commit}:{name}")]);
                    assert_eq!(run.status == 0, !evil(round), "{run}");
                    (run.status == 0).then_some(name)
                };
                commits.iter().enumerate().filter_map(one).collect::<Vec<_>>()
            }
        };
        let running: Vec<_> = (0..PROCESSES).map(|number| scope.spawn(process(number))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let records = repo.records();
    assert_eq!(records.len(), PROCESSES * pushes);
    for (number, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], number + 1);
        let before = number.checked_sub(1).map_or("0".repeat(64).into(), |before| records[before]["h"].clone());
        assert_eq!(record["prev"], before, "record {}", number + 1);
    }
    let entry = |record: &Value| (record["exit_code"] == 0).then(|| record["subjects"][0]["refs"][0]["remote_ref"].as_str().unwrap().to_owned());
    let entries: Vec<String> = records.iter().filter_map(entry).collect();
    assert_eq!(entries.iter().collect::<BTreeSet<_>>().len(), entries.len(), "no two for one push");
    assert_eq!(entries.iter().collect::<BTreeSet<_>>(), accepted.iter().collect::<BTreeSet<_>>(), "each push that passed has its own entry");
    let good: usize = (0..pushes).filter(|round| !evil(*round)).count();
    let asked = peer.reviews().iter().filter(|request| !request.holds("EVIL")).count();
    assert_eq!(asked, good, "each content that passes is asked about once");
    repo.gate(&["log", "verify"]).run().expect(0);
}

/// Returns how many times a story is told: so many, or as a variable of the tests says.
fn asked(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

/// Numbers that are the same for the same seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }
}

type Meddle = fn(&Repo<'_>);

/// What somebody does to the repository while a push waits for its review. None of it may fail the test by failing itself.
const MEDDLING: [(&str, Meddle); 22] = [
    ("amend", |repo| {
        repo.write("run.rs", EVIL);
        repo.try_git(&["commit", "-q", "-a", "--no-verify", "--amend", "-m", "amended"]);
    }),
    ("commit on top", |repo| {
        repo.write("top.rs", EVIL);
        repo.try_git(&["add", "-A"]);
        repo.try_git(&["commit", "-q", "--no-verify", "-m", "top"]);
    }),
    ("add", |repo| {
        repo.write("added.rs", EVIL);
        repo.try_git(&["add", "-A"]);
    }),
    ("checkout of another branch", |repo| drop(repo.try_git(&["checkout", "-q", "-f", "evil"]))),
    ("checkout back", |repo| drop(repo.try_git(&["checkout", "-q", "-f", "main"]))),
    ("gc", |repo| drop(repo.try_git(&["gc", "-q"]))),
    ("gc that prunes", |repo| {
        repo.try_git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
        repo.try_git(&["gc", "-q", "--prune=now"]);
    }),
    ("repack", |repo| drop(repo.try_git(&["repack", "-q", "-a", "-d", "-f"]))),
    ("unpacking", |repo| drop(repo.try_git(&["pack-refs", "--all"]))),
    ("fetch", |repo| drop(repo.try_git(&["fetch", "-q", "--prune", "origin"]))),
    ("set-url", |repo| drop(repo.try_git(&["remote", "set-url", "origin", "../second.git"]))),
    ("set-url for pushes", |repo| drop(repo.try_git(&["remote", "set-url", "--push", "origin", "../second.git"]))),
    ("a mapping of URLs", |repo| drop(repo.try_git(&["config", "url.../second.git.insteadOf", "../origin.git"]))),
    ("a push specification", |repo| drop(repo.try_git(&["config", "--add", "remote.origin.push", "refs/heads/evil:refs/heads/main"]))),
    ("other hooks", |repo| drop(repo.try_git(&["config", "core.hooksPath", "/nonexistent"]))),
    ("a ref that goes", |repo| drop(repo.try_git(&["update-ref", "-d", "refs/heads/main"]))),
    ("a ref that moves", |repo| drop(repo.try_git(&["update-ref", "refs/heads/main", "refs/heads/evil"]))),
    ("a forged tracking ref", |repo| drop(repo.try_git(&["update-ref", "refs/remotes/origin/main", "refs/heads/evil"]))),
    ("a rewritten index", |repo| drop(repo.try_git(&["read-tree", "evil"]))),
    ("a replaced object", |repo| drop(repo.try_git(&["replace", "-f", "refs/heads/main", "refs/heads/evil"]))),
    ("a policy", |repo| {
        repo.write(".review-gate.yaml", "mode: { advisory_until: 2999-01-01 }\n");
    }),
    ("the gate's configuration", |repo| repo.sandbox().configure_raw("author: human\nreviewers: []\n")),
];

/// Git captures ids and URL before it runs the hook, and the gate reads objects by their ids alone (threat T18). So many seeds; `REVIEW_GATE_TEST_SEEDS` asks for
/// more.
#[test]
fn t18_whatever_happens_during_a_review_what_was_recorded_is_what_was_pushed() {
    let mut pushed = 0;
    let seeds = asked("REVIEW_GATE_TEST_SEEDS", 20);
    for seed in 0..seeds {
        pushed += usize::from(meddled(seed as u64));
    }
    assert!(pushed > seeds / 4, "of {seeds} pushes only {pushed} arrived, so little was shown");
}

/// Pushes while somebody meddles. Returns whether the push arrived.
fn meddled(seed: u64) -> bool {
    let mut random = Random(seed);
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "push_deadline: 40\n");
    repo.git(&["remote", "set-url", "origin", "../origin.git"]);
    sandbox.bare("second.git");
    repo.branch("evil", "main").write("run.rs", EVIL).commit("evil");
    repo.branch("side", "main").write("side.rs", GOOD).commit("side");
    repo.git(&["switch", "-q", "main"]);
    let bad = random.below(4) == 0;
    let tip = repo.write("run.rs", if bad { EVIL } else { GOOD }).commit("run");
    let side = repo.oid("side");
    let both = random.below(2) == 0;
    let refs: &[(&str, &str)] = if both { &[("refs/heads/main", &tip), ("refs/heads/side", &side)] } else { &[("refs/heads/main", &tip)] };
    let names: Vec<&str> = refs.iter().map(|(name, _)| *name).collect();
    // Read where they are: what is done to the repository's own settings must not tell the test another remote.
    let there = |name: &str| Repo::at(&sandbox, sandbox.path().join(name)).git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    let before = there("origin.git");

    let push = child::start(repo.git_command(&[&["push", "origin"], names.as_slice()].concat()), b"");
    peer.wait_for_questions(refs.len());
    let mut story = vec![format!("seed {seed}: bad {bad}, refs {names:?}")];
    for _ in 0..1 + random.below(5) {
        let (what, meddle) = MEDDLING[random.below(MEDDLING.len())];
        story.push(what.to_owned());
        meddle(&repo);
    }
    door.open();
    let run = push.finish();
    let story = story.join("; ");

    // The ledger's own record of this run, and every ref that it says was judged.
    let records = repo.records();
    assert_eq!(records.len(), 1, "{story}; {run}");
    let judged: Vec<(String, String)> = records[0]["subjects"].as_array().unwrap().iter().map(recorded).collect();
    let wanted: Vec<(String, String)> = refs.iter().map(|(name, oid)| ((*name).to_owned(), (*oid).to_owned())).collect();
    assert_eq!(judged, wanted, "what was judged is what git had captured; {story}; {run}");
    assert_eq!(records[0]["exit_code"] == 0, !bad, "{story}; {run}");
    assert_eq!(there("second.git"), "", "{story}; {run}");
    if run.status == 0 {
        assert!(!bad, "{story}; {run}");
        for (name, oid) in &judged {
            assert!(there("origin.git").lines().any(|line| line == format!("{name} {oid}")), "{story}; {run}");
        }
    } else {
        assert_eq!(there("origin.git"), before, "{story}; {run}");
    }
    run.status == 0
}

fn recorded(subject: &Value) -> (String, String) {
    (subject["refs"][0]["remote_ref"].as_str().unwrap().to_owned(), subject["tip"].as_str().unwrap().to_owned())
}

/// Git reads the index again after the hook, so what is added meanwhile enters the commit (threat T18). The push sees it.
#[test]
fn t18_what_is_added_while_a_commit_is_reviewed_is_seen_by_the_push() {
    let (sandbox, door) = (Sandbox::new(), Latch::closed());
    let peer = behind(&door);
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.gate(&["install", "--hook", "pre-commit"]).run().expect(0);
    repo.write("run.rs", GOOD).add();
    let commit = child::start(repo.git_command(&["commit", "-m", "run"]), b"");
    peer.wait_for_question();
    repo.write("late.rs", EVIL).add();
    door.open();
    commit.finish().expect(0);
    assert_eq!(repo.git(&["show", "--format=", "--name-only", "HEAD"]), "late.rs\nrun.rs", "git itself takes it in");
    let preview = repo.records().remove(0);
    assert_eq!((&preview["stage"], &preview["exit_code"]), (&Value::from("pre-commit"), &Value::from(0)));
    assert!(!peer.received("late.rs"), "the preview was of what was staged then");
    repo.push(&["origin", "main"]).expect_refused().says("late.rs:1");
    assert_ne!(repo.remote_oid("origin", "refs/heads/main"), Some(repo.oid("HEAD")));
    assert_eq!(repo.records()[1]["stage"], "pre-push");
}

/// Nothing known of the other side, nothing of the first run in the second: the same content from another clone is reviewed there.
#[test]
fn another_clone_shares_nothing() {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
    let repo = sandbox.gated(&[Reviewer::qwen(&peer)], "");
    repo.write("run.rs", GOOD).commit("run");
    hook(&repo, "main").finish().expect(0);
    let other = sandbox.clone(repo.path(), "other");
    let line = format!("refs/heads/main {} refs/heads/x {ZERO}\n", other.oid("main"));
    other.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    other.git(&["symbolic-ref", "-d", "refs/remotes/origin/HEAD"]);
    Gate::pre_push(&other, &line).run().expect(0);
    assert_eq!(peer.questions().iter().filter(|request: &&Request| request.holds("run.rs")).count(), 2);
}
