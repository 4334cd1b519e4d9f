//! What the gate costs beside a reviewer's time, as ratios to git taken in the same run: `cargo bench`, or `cargo bench --bench gate -- --files 57000 --runs 20`.
//!
//! Prints Markdown. Two commands are compared by running them in turn and taking medians, since a machine is never quiet. Peak memory is the kernel's high-water
//! mark, read while the process runs: it can miss the last instant of a short run.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods, reason = "a benchmark prints, starts children and reads the clock")]

#[path = "../tests/integration/common/mod.rs"]
mod common;

use common::{Behaviour, Gate, Peer, Repo, Reviewer, Run, Sandbox, child};
use std::process::Command;
use std::time::Duration;

/// What can be chosen on the command line.
struct Size {
    files: usize,
    runs: usize,
}

fn main() {
    let size = Size { files: option("--files").unwrap_or(5000), runs: option("--runs").unwrap_or(10).max(1) };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("Medians of {} interleaved runs, {cores} cores.\n", size.runs);
    overhead(&size);
    side_by_side(&size);
    against_git(&size);
}

fn option(name: &str) -> Option<usize> {
    let mut args = std::env::args().skip_while(|arg| arg != name).skip(1);
    args.next().map(|value| value.parse().unwrap_or_else(|_| panic!("{name} takes a number, not {value:?}")))
}

/// The whole gate with a reviewer that answers at once, beside the capture alone.
fn overhead(size: &Size) {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = generated(&sandbox, 40);
    let (mut gate, mut capture, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..size.runs {
        // New content each time: a receipt would answer for the old one.
        stage(&repo, 3, &format!("let run = {n};\n"));
        let (run, report) = repo.gate(&["run", "--staged"]).report();
        gate.push(run.expect(0).took);
        own.push(Duration::from_millis(report["timing"]["overhead_ms"].as_u64().expect("a report has its overhead")));
        capture.push(repo.gate(&["diff", "--staged"]).run().expect(0).took);
    }
    let (gate, capture, own) = (median(gate), median(capture), median(own));
    println!("| 40 files, 3 staged, a reviewer that answers at once | ms |\n|---|---|");
    println!("| whole gate, from outside | {} |", ms(gate));
    println!("| capture alone (`review-gate diff --staged`) | {} |", ms(capture));
    println!("| above the capture | {} |", ms(gate.saturating_sub(capture)));
    println!("| `timing.overhead_ms` of the report | {} |\n", ms(own));
}

/// Passes beside each other, each of which takes as long as the reviewer does. Two branches in one push are two subjects.
fn side_by_side(size: &Size) {
    const SLOW: Duration = Duration::from_millis(500);
    println!("| passes at once | subjects | a pass, ms | all, ms | above the slowest, ms |\n|---|---|---|---|---|");
    for (names, subjects) in [(&["a"][..], 1), (&["a", "b", "c", "d", "e"], 1), (&["auth"], 1), (&["a", "b", "c", "d", "e"], 2), (&["auth"], 2)] {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean.after(SLOW)));
        sandbox.configure(&[Reviewer::qwen(&peer)], "author: anthropic\n");
        let repo = sandbox.published();
        let mut took = Vec::new();
        let mut passes = 0;
        for n in 0..size.runs.min(5) {
            let lines = branches(&repo, names, subjects, n);
            let before = peer.reviews().len();
            took.push(Gate::pre_push(&repo, &lines).run().expect(0).took);
            passes = peer.reviews().len() - before;
        }
        let all = median(took);
        println!("| {passes} | {subjects} | {} | {} | {} |", ms(SLOW), ms(all), ms(all.saturating_sub(SLOW)));
    }
    println!();
}

/// Makes branches of new content and returns the lines that a push of them would have.
fn branches(repo: &Repo<'_>, names: &[&str], count: usize, round: usize) -> String {
    let one = |subject: usize| {
        let branch = format!("s{subject}-{round}");
        repo.branch(&branch, "main");
        for name in names {
            repo.write(&format!("src/{name}.rs"), format!("let subject = {subject}; let round = {round};\n"));
        }
        repo.commit(&branch);
        repo.push_line(&branch)
    };
    (0..count).map(one).collect()
}

/// A stored receipt and the change's text, beside what git takes for the same.
fn against_git(size: &Size) {
    let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Clean));
    sandbox.configure(&[Reviewer::qwen(&peer)], "");
    let repo = generated(&sandbox, size.files);
    println!("| {} files | gate, ms | git, ms | ratio | gate, MiB | git, MiB |\n|---|---|---|---|---|---|", size.files);

    stage(&repo, 1, "let staged = 1;\n");
    repo.gate(&["run", "--staged"]).run().expect(0);
    let calls = peer.questions().len();
    row(
        size,
        "whole gate with a receipt : `git diff --cached --quiet`",
        || command(&repo, &["run", "--staged"]),
        || repo.git_command(&["diff", "--cached", "--quiet"]),
    );
    assert_eq!(peer.questions().len(), calls, "the receipt must have answered");

    for staged in [1, 100, size.files / 10, size.files * 9 / 10] {
        stage(&repo, staged, &format!("let staged = {staged};\n"));
        let what = format!("{staged} staged, text : `git diff --cached`");
        row(
            size,
            &what,
            || command(&repo, &["diff", "--staged", "--no-renames"]),
            || repo.git_command(&["diff", "--cached", "--no-renames", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color"]),
        );
    }
    let total = 200;
    for n in 0..total {
        repo.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", &n.to_string()]);
        repo.write(&file(n), format!("let commit = {n};\n")).git(&["add", &file(n)]);
    }
    let range = format!("HEAD~{}...HEAD", total - 1);
    let ours = range.replace("...", "..");
    row(
        size,
        &format!("a range of {} commits, text : `git diff A...B`", total - 1),
        || command(&repo, &["diff", "--range", &ours, "--no-renames"]),
        || repo.git_command(&["diff", "--no-renames", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", &range]),
    );
}

/// Runs two commands in turn and prints a row.
fn row(size: &Size, what: &str, gate: impl Fn() -> Command, git: impl Fn() -> Command) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..size.runs {
        ours.push(measured(gate()));
        theirs.push(child::run(git(), b"").took);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("| {what} | {} | {} | {ratio:.2} | {} | {} |", ms(ours), ms(theirs), mib(gate()), mib(git()));
}

fn measured(command: Command) -> Duration {
    child::run(command, b"").expect(0).took
}

fn command(repo: &Repo<'_>, args: &[&str]) -> Command {
    let mut command = repo.sandbox().command(common::GATE);
    command.args(args).current_dir(repo.path());
    command
}

/// Makes a repository of many small files, a hundred a folder.
fn generated<'s>(sandbox: &'s Sandbox, files: usize) -> Repo<'s> {
    let repo = sandbox.unborn("generated");
    for n in 0..files {
        repo.write(&file(n), format!("let file = {n};\n").repeat(20));
    }
    repo.commit("generated");
    repo
}

fn file(n: usize) -> String {
    format!("src/m{}/f{n}.rs", n / 100)
}

/// Stages a line more in the first files, on top of what is committed.
fn stage(repo: &Repo<'_>, count: usize, line: &str) {
    repo.git(&["reset", "-q", "--hard"]);
    for n in 0..count {
        let path = file(n);
        let text = std::fs::read_to_string(repo.path().join(&path)).unwrap();
        repo.write(&path, text + line);
    }
    repo.add();
}

/// Returns the largest high-water mark that was seen while the command ran.
fn mib(command: Command) -> String {
    let running = child::start(command, b"");
    let file = format!("/proc/{}/status", running.pid());
    let watcher = std::thread::spawn(move || {
        let mark = || {
            std::fs::read_to_string(&file).ok()?.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        };
        let mut peak = 0;
        while let Some(now) = mark() {
            peak = peak.max(now);
            std::thread::sleep(Duration::from_micros(100));
        }
        peak
    });
    let _: Run = running.finish();
    format!("{:.0}", watcher.join().unwrap() as f64 / 1024.0)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1000.0)
}
