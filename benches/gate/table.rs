//! Rows: two commands in turn, their medians, their ratio and their memory.

use crate::common::{self, Repo, Run, child};
use std::process::Command;
use std::time::Duration;

/// A command and what it reads.
pub struct Call {
    command: Command,
    stdin: String,
}

impl Call {
    /// The gate in a repository.
    pub fn gate(repo: &Repo<'_>, args: &[&str]) -> Call {
        let mut command = repo.sandbox().command(common::GATE);
        command.args(args).current_dir(repo.path());
        Call { command, stdin: String::new() }
    }

    /// Git in a repository.
    pub fn git(repo: &Repo<'_>, args: &[&str]) -> Call {
        Call { command: repo.git_command(args), stdin: String::new() }
    }

    /// `git diff` of these sides, with nothing in it that only settings decide.
    pub fn git_diff(repo: &Repo<'_>, sides: &[&str]) -> Call {
        Call::git(repo, &[&["diff"], sides, &["--full-index", "--no-ext-diff", "--no-textconv", "--no-color"]].concat())
    }

    /// Gives it input.
    pub fn stdin(self, text: &str) -> Call {
        Call { stdin: text.to_owned(), ..self }
    }

    /// Runs it to the end.
    pub fn run(self) -> Run {
        child::run(self.command, self.stdin.as_bytes())
    }

    /// Runs it and returns the largest high-water mark that was seen, in MiB.
    fn mib(self) -> f64 {
        let running = child::start(self.command, self.stdin.as_bytes());
        let file = format!("/proc/{}/status", running.pid());
        let watcher = std::thread::spawn(move || {
            let mark = || {
                std::fs::read_to_string(&file)
                    .ok()?
                    .lines()
                    .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
            };
            let mut peak = 0;
            while let Some(now) = mark() {
                peak = peak.max(now);
                std::thread::sleep(Duration::from_micros(100));
            }
            peak
        });
        let _: Run = running.finish();
        watcher.join().unwrap() as f64 / 1024.0
    }
}

/// What a row came to.
pub struct Row {
    /// The gate's median.
    pub gate: Duration,
    /// The gate's memory, in MiB.
    pub mib: f64,
}

/// Prints the head of a table of [`row`]s.
pub fn head(title: &str) {
    println!("| {title} | gate, ms | git, ms | ratio | gate, MiB | git, MiB |\n|---|---|---|---|---|---|");
}

/// Runs two commands in turn, the gate to `status`, and prints a row.
pub fn row(runs: usize, what: &str, status: i32, gate: impl Fn() -> Call, git: impl Fn() -> Call) -> Row {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        ours.push(gate().run().expect(status).took);
        theirs.push(git().run().took);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let (ours_mib, theirs_mib) = (gate().mib(), git().mib());
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("| {what} | {} | {} | {ratio:.2} | {ours_mib:.0} | {theirs_mib:.0} |", ms(ours), ms(theirs));
    Row { gate: ours, mib: ours_mib }
}

/// Returns the middle one.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Writes milliseconds.
pub fn ms(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1000.0)
}
