//! Repositories whose size is the attack (threat T20): each ends within 30 seconds of a processor and 256 MiB, reviewed or refused by name, and never let through unseen.
//!
//! Everyday sizes keep the suite fast. The full ones: `REVIEW_GATE_SIZES=full cargo nextest run -E 'test(/t20_/)' --no-capture`, which also
//! prints what each took.

use crate::common::{Behaviour, EVIL, Gate, Peer, Repo, Reviewer, Run, Sandbox, ZERO, child};
use std::fmt::Write as _;
use std::fs;
use std::thread;
use std::time::Duration;

/// Of a processor: a busy machine must not fail the suite.
const MOST_TIME: f64 = 30.0;
const MOST_MEMORY: u64 = 256 << 10;

/// Returns the size of everyday, or the full one.
fn size(everyday: usize, full: usize) -> usize {
    if std::env::var_os("REVIEW_GATE_SIZES").is_some_and(|value| value == "full") { full } else { everyday }
}

/// No child runs longer.
fn patience() -> Duration {
    Duration::from_secs(size(60, 600) as u64)
}

struct Giant {
    sandbox: Sandbox,
    peer: Peer,
}

impl Giant {
    fn new() -> Giant {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        sandbox.configure(&[Reviewer::qwen(&peer), Reviewer::mistral(&peer)], "");
        Giant { sandbox, peer }
    }

    fn repo(&self) -> Repo<'_> {
        self.sandbox.published()
    }

    /// Pushes these lines, measures, and returns how it ended.
    #[track_caller]
    #[expect(clippy::print_stdout, reason = "the figures are what the full sizes are run for")]
    fn push(&self, repo: &Repo<'_>, name: &str, lines: &str) -> Run {
        let gate = Gate::new(repo, &["hook", "pre-push", "--from-git", "origin", "url"]).stdin(lines).start();
        let pid = gate.pid();
        let watch = thread::spawn(move || {
            let mut last = (0, 0.0);
            while let Some(seen) = used(pid) {
                last = seen;
                thread::sleep(Duration::from_millis(2));
            }
            last
        });
        let run = gate.finish_within(patience());
        let (peak, busy) = watch.join().unwrap();
        println!("{name}: status {}, {:.2} s, of a processor {busy:.2} s, {} MiB", run.status, run.took.as_secs_f64(), peak >> 10);
        assert!(!run.stderr.contains("panicked at") && run.status < 128, "{run}");
        assert!(busy < MOST_TIME, "{name} took {busy} s");
        assert!(peak < MOST_MEMORY, "{name} took {} MiB", peak >> 10);
        run
    }

    #[track_caller]
    fn push_tip(&self, repo: &Repo<'_>, name: &str, tip: &str) -> Run {
        self.push(repo, name, &format!("refs/heads/x {tip} refs/heads/x {ZERO}\n"))
    }
}

/// Returns the peak of a process's memory in KiB, and the processor's time that it used in seconds; `None` once it has ended.
fn used(pid: u32) -> Option<(u64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks: u64 = stat.rsplit(')').next()?.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((peak, ticks as f64 / 100.0))
}

/// Commits by the thousand in one process. `input` is what follows the header of the first commit.
fn import(repo: &Repo<'_>, input: &[u8]) {
    let command = repo.git_command(&["-c", "core.maxTreeDepth=10000", "-c", "core.bigFileThreshold=1g", "fast-import", "--quiet", "--depth=4095"]);
    child::start(command, input).finish_within(patience()).expect(0);
}

const COMMIT: &str = "committer a <a@b> 1700000000 +0000\ndata 1\nm\nfrom refs/heads/main^0\n";

/// Commits one file of this content on top of `main`.
fn file(repo: &Repo<'_>, name: &str, content: &[u8]) -> String {
    let mut input = format!("commit refs/heads/{name}\n{COMMIT}M 100644 inline {name}.rs\ndata {}\n", content.len()).into_bytes();
    input.extend_from_slice(content);
    input.push(b'\n');
    import(repo, &input);
    repo.oid(name)
}

#[test]
fn t20_01_a_blob_that_claims_ten_gigabytes_is_not_believed() {
    let giant = Giant::new();
    let repo = giant.repo();
    let id = "00112233445566778899aabbccddeeff00112233";
    let header = b"blob 10737418240\0";
    let stored = [&[0x78, 0x01, 0x00, header.len() as u8, 0, !(header.len() as u8), 0xff], &header[..], &[0, 0, 0, 0xff, 0xff].repeat(20)].concat();
    let folder = repo.path().join(".git/objects").join(&id[..2]);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(&id[2..]), stored).unwrap();
    let tree = child::run(repo.git_command(&["mktree", "--missing"]), format!("100644 blob {id}\tbig.rs\n").as_bytes()).expect(0).stdout;
    let tip = repo.git(&["commit-tree", "-p", "main", "-m", "m", tree.trim()]);
    giant.push_tip(&repo, "claimed blob", &tip).expect_refused().says("big.rs").says("too large");
    assert!(giant.peer.requests().is_empty());
}

#[test]
fn t20_02_a_blob_that_unpacks_to_a_thousand_times_its_size_is_refused() {
    let giant = Giant::new();
    let repo = giant.repo();
    // Just below what is still read, and far above.
    let sizes: &[usize] = if size(0, 1) == 0 { &[9 << 20] } else { &[60 << 20, 200 << 20] };
    for (name, byte) in [("zeros", 0), ("letters", b'a'), ("lines", b'\n'), ("noise", 0x9d)] {
        for bytes in sizes {
            let tip = file(&repo, &format!("{name}-{}", bytes >> 20), &vec![byte; *bytes]);
            giant.push_tip(&repo, &format!("bomb of {} MiB of {name}", bytes >> 20), &tip).expect_refused();
        }
    }
    assert!(giant.peer.requests().is_empty());
}

#[test]
fn t20_03_a_file_of_a_million_lines_of_one_byte_ends() {
    let giant = Giant::new();
    let repo = giant.repo();
    let content = "a\n".repeat(size(50_000, 1_000_000));
    let tip = file(&repo, "short", content.as_bytes());
    let run = giant.push_tip(&repo, "short lines", &tip);
    assert!(run.status == 0 || run.stderr.contains("split the push"), "{run}");
    let more = file(&repo, "shorter", (content + EVIL).as_bytes());
    giant.push_tip(&repo, "short lines and a bad one", &more).expect_refused();
}

#[test]
fn t20_04_a_file_whose_lines_are_all_elsewhere_ends() {
    let giant = Giant::new();
    let repo = giant.repo();
    let lines = size(20_000, 500_000);
    let text = |order: &mut dyn Iterator<Item = usize>| {
        order.fold(String::new(), |mut text, n| {
            writeln!(text, "{n}").unwrap();
            text
        })
    };
    // Both sides hold the same lines in an order that shares next to nothing.
    repo.write("long.rs", text(&mut (0..lines))).commit("long");
    repo.publish("main");
    repo.branch("x", "main").write("long.rs", text(&mut (0..lines).map(|n| (n * 7919 + 13) % lines).rev())).commit("shuffled");
    let line = format!("refs/heads/main {} refs/heads/main {}\n", repo.oid("x"), repo.oid("main"));
    let run = giant.push(&repo, "shuffled lines", &line);
    assert!(run.status == 0 || run.stderr.contains("split the push"), "{run}");
}

#[test]
fn t20_05_a_chain_of_four_thousand_deltas_is_followed() {
    let giant = Giant::new();
    let repo = giant.repo();
    let (states, mut input) = (size(300, 4000), Vec::new());
    let filler: String = (0..200).map(|n| format!("line {n} of a file that hardly changes\n")).collect();
    for n in 0..states {
        let content = format!("{filler}state {n}\n{}", if n + 1 == states { EVIL } else { "" });
        let from = if n == 0 { "from refs/heads/main^0\n" } else { "" };
        let head = format!("commit refs/heads/chain\ncommitter a <a@b> {} +0000\ndata 1\nm\n{from}", 1_700_000_000 + n);
        input.extend(format!("{head}M 100644 inline chain.rs\ndata {}\n{content}\n", content.len()).into_bytes());
    }
    import(&repo, &input);
    repo.git(&["-c", "pack.depth=4095", "repack", "-q", "-a", "-d", "-f", "--depth=4095", "--window=2"]);
    giant.push_tip(&repo, "delta chain", &repo.oid("chain")).expect(1).says("chain.rs:202");
}

#[test]
fn t20_06_a_tree_of_five_thousand_levels_is_refused() {
    let giant = Giant::new();
    let repo = giant.repo();
    let input = format!("commit refs/heads/deep\n{COMMIT}M 100644 inline {}x.rs\ndata 2\nx\n\n", "d/".repeat(5000));
    import(&repo, input.as_bytes());
    giant.push_tip(&repo, "deep tree", &repo.oid("deep")).expect_refused().says("directories inside each other");
}

#[test]
fn t20_07_a_tree_of_a_hundred_thousand_entries_ends() {
    let giant = Giant::new();
    let repo = giant.repo();
    let blob = repo.oid("main:README");
    let listing: String = (0..size(5_000, 100_000)).map(|n| format!("100644 blob {blob}\tfile-{n}.rs\n")).collect();
    let tree = child::run(repo.git_command(&["mktree"]), listing.as_bytes()).expect(0).stdout;
    repo.git(&["branch", "wide", &repo.git(&["commit-tree", "-p", "main", "-m", "m", tree.trim()])]);
    let run = giant.push_tip(&repo, "wide tree", &repo.oid("wide"));
    assert!(run.status == 0 || run.stderr.contains("split the push"), "{run}");
    // Beside it, one changed file is quickly found.
    repo.git(&["update-ref", "refs/heads/main", "wide"]);
    repo.publish("main");
    let one = file(&repo, "one", EVIL.as_bytes());
    giant.push(&repo, "one of a wide tree", &format!("x {one} refs/heads/main {}\n", repo.oid("main"))).expect(1).says("one.rs:1");
}

#[test]
fn t20_08_one_line_of_many_megabytes_is_refused_or_cut() {
    let giant = Giant::new();
    let repo = giant.repo();
    let tip = file(&repo, "line", "let x = [1, 2, 3];".repeat(size(100_000, 3_000_000)).as_bytes());
    giant.push_tip(&repo, "one long line", &tip).expect_refused();
}

#[test]
fn t20_09_thousands_of_refs_are_all_looked_at() {
    let giant = Giant::new();
    let repo = giant.repo();
    let (refs, mut input, mut lines) = (size(100, 3_000), String::new(), String::new());
    for n in 0..refs {
        let content = if n + 1 == refs { EVIL } else { "let x = 1;\n" };
        write!(input, "commit refs/heads/b{n}\n{COMMIT}M 100644 inline same.rs\ndata {}\n{content}\n", content.len()).unwrap();
    }
    import(&repo, input.as_bytes());
    for line in repo.git(&["for-each-ref", "--format=%(refname) %(objectname) %(refname)", "refs/heads/b*"]).lines() {
        writeln!(lines, "{line} {ZERO}").unwrap();
    }
    giant.push(&repo, "many refs", &lines).expect(1).says("same.rs:1");
}

#[test]
fn t20_10_thousands_of_commits_are_searched_for_secrets() {
    let secret = ["ghp", "_", "R7kQ2mZ9xT4vW8nB3cL6pS1dF5gH0jYaUeIo"].concat();
    let giant = Giant::new();
    let repo = giant.repo();
    let (commits, mut input) = (size(500, 20_000), String::new());
    for n in 0..commits {
        // In the middle a token comes, and goes with the next commit.
        let content = if n == commits / 2 { format!("token = {secret}\n") } else { format!("{n}\n") };
        let from = if n == 0 { "from refs/heads/main^0\n" } else { "" };
        let head = format!("commit refs/heads/long\ncommitter a <a@b> {} +0000\ndata 1\nm\n{from}", 1_700_000_000 + n);
        write!(input, "{head}M 100644 inline f{}.rs\ndata {}\n{content}\n", n % 50, content.len()).unwrap();
    }
    import(&repo, input.as_bytes());
    let run = giant.push_tip(&repo, "many commits", &repo.oid("long")).expect_refused();
    assert!(run.status == 16 && giant.peer.requests().is_empty(), "{run}");
}

#[test]
fn t20_11_thousands_of_files_that_moved_and_changed_are_compared_or_not() {
    let giant = Giant::new();
    let repo = giant.repo();
    let (files, mut old, mut new) = (size(200, 3_000), String::new(), String::new());
    for n in 0..files {
        let content = |tail: &str| format!("{}{n}\n{tail}", "the same in every file\n".repeat(40));
        let (before, after) = (content(""), content("more\n"));
        write!(old, "M 100644 inline old/{n}.rs\ndata {}\n{before}\n", before.len()).unwrap();
        write!(new, "M 100644 inline new/x{n}.rs\ndata {}\n{after}\n", after.len()).unwrap();
    }
    import(&repo, format!("commit refs/heads/main\n{COMMIT}{old}").as_bytes());
    repo.publish("main");
    import(&repo, format!("commit refs/heads/moved\n{COMMIT}D old\n{new}").as_bytes());
    let run = giant.push(&repo, "moved files", &format!("x {} refs/heads/main {}\n", repo.oid("moved"), repo.oid("main")));
    assert!(run.status == 0 || run.stderr.contains("split the push"), "{run}");
}

#[test]
fn t20_12_a_text_that_packs_to_nothing_is_refused() {
    let giant = Giant::new();
    let repo = giant.repo();
    let tip = file(&repo, "text", "let good = check(input);\n".repeat(size(300_000, 2_500_000)).as_bytes());
    giant.push_tip(&repo, "packed text", &tip).expect_refused();
    // Going away again, it costs no more.
    repo.git(&["update-ref", "refs/heads/main", &tip]);
    repo.publish("main");
    import(&repo, format!("commit refs/heads/less\n{COMMIT}D text.rs\n").as_bytes());
    let line = format!("x {} refs/heads/main {}\n", repo.oid("less"), repo.oid("main"));
    giant.push(&repo, "packed text, deleted", &line);
}
