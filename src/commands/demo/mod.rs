//! `demo`: the whole thing in a throw-away repository. Real git, the real hook, real pushes; only the reviewer is scripted (`../peer.rs`). No key, no network.
//!
//! Each scene states what must happen and checks it; the verb succeeds only if every scene went as it should.

use super::peer::{Claim, Peer, Script};
use crate::clock::{Deadline, Limit};
use crate::env::Env;
use crate::error::GateError;
use crate::exit::Code;
use crate::report::printer::Printer;
use crate::report::text::clean;
use crate::transport::process::{self, Caps, Child, Ended, Environment, Stderr, find_on_path};
use anyhow::Context as _;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BAD: &str = "def find(db, name):\n    return db.run(\"SELECT * FROM users WHERE name = '\" + name + \"'\")\n";
const GOOD: &str = "def find(db, name):\n    return db.run(\"SELECT * FROM users WHERE name = ?\", [name])\n";
const LATER: &str = "def find(db, name):\n    return db.run(\"SELECT id FROM users WHERE name = ?\", [name])\n";
/// The model that the demo's reviewer says it serves.
const MODEL: &str = "qwen-demo";
/// The longest that one command of the demo may take.
const COMMAND: Duration = Duration::from_secs(60);

/// Plays the five scenes.
///
/// # Errors
/// Where git is not there, a command cannot be run, or a scene did not go as it should.
pub fn run(env: &Env, printer: Printer) -> Result<(), GateError> {
    let failed = |error: anyhow::Error| GateError::new(Code::Internal, error).while_doing("the demo did not go as it should");
    let stage = Stage::set(env, printer).map_err(failed)?;
    stage.play().map_err(failed)
}

/// A throw-away repository with two bare remotes, and a home of its own. Removed on drop.
struct Stage {
    folder: tempfile::TempDir,
    git: PathBuf,
    gate: PathBuf,
    env: Environment,
    printer: Printer,
    peer: Peer,
}

/// Reports an added line that builds SQL by putting a variable into the text.
fn script() -> Script {
    Script {
        model: MODEL,
        marks: vec!["SELECT".to_owned(), "\" + ".to_owned()],
        claim: Claim {
            title: "SQL built from a caller's text".to_owned(),
            issue: "the name is put into the query as it is",
            cause: "string concatenation instead of a parameter",
            failing_case: "when name is \"' OR '1'='1\", this line selects every user, so one login shows all accounts; expected only the named user",
            fix: "pass the name as a parameter of the query",
        },
    }
}

/// How a command of the demo ended.
struct Done {
    ended: Ended,
    text: String,
}

impl Stage {
    fn set(env: &Env, printer: Printer) -> anyhow::Result<Stage> {
        let git = find_on_path("git", env).context("git is not on the PATH; install it and run the demo again")?;
        let gate = std::env::current_exe().context("cannot find the path of this program")?;
        let folder = tempfile::Builder::new().prefix("review-gate-demo-").tempdir().context("cannot make a temporary folder")?;
        let home = folder.path().join("home");
        fs::create_dir_all(home.join(".config/review-gate"))?;
        // A person's own git settings, hooks and agent marks have no part in the demo.
        let env = Environment::outside_repository(&Env::from_pairs(env.os("PATH").map(|path| ("PATH", path))))
            .with("HOME", &home)
            .with("GIT_CONFIG_GLOBAL", "/dev/null")
            .with("GIT_CONFIG_SYSTEM", "/dev/null")
            .with("GIT_TERMINAL_PROMPT", "0");
        Ok(Stage { folder, git, gate, env, printer, peer: Peer::start(script()).context("cannot listen on the loopback interface")? })
    }

    fn play(&self) -> anyhow::Result<()> {
        self.prepare()?;
        self.scene("1. A bad change is refused, with its finding");
        self.commit("find.py", BAD)?;
        let refused = self.show(&["push", "origin", "main"])?;
        self.expect(!refused.passed() && refused.text.contains("SQL built from"), "the push is refused and the finding is shown")?;
        self.expect(self.head("origin") != self.head("."), "nothing arrived")?;

        self.scene("2. The clean change is let through");
        self.commit("find.py", GOOD)?;
        let passed = self.show(&["push", "origin", "main"])?;
        self.expect(passed.passed() && self.head("origin") == self.head("."), "the push arrived")?;

        self.scene("3. The same content goes to a second remote without a call");
        let calls = self.peer.calls();
        let again = self.show(&["push", "mirror", "main"])?;
        self.expect(again.passed() && self.head("mirror") == self.head("."), "the push arrived")?;
        self.expect(self.peer.calls() == calls, "no reviewer was asked")?;

        self.scene("4. With a dead reviewer the push is refused");
        self.configure("http://127.0.0.1:9/v1")?;
        self.commit("find.py", LATER)?;
        let dead = self.show(&["push", "origin", "main"])?;
        self.expect(!dead.passed() && dead.text.contains("GATE: UNAVAILABLE"), "an outage is not a yes")?;

        self.scene("5. A person lets it through, and it is written down");
        self.gate(&["override", "--reason", "demonstration: the reviewer is out and the change was read"])?;
        let over = self.show(&["push", "origin", "main"])?;
        self.expect(over.passed() && self.head("origin") == self.head("."), "the push arrived")?;
        let log = self.gate(&["log"])?;
        self.expect(log.text.contains("demonstration: the reviewer is out"), "the ledger holds the reason")?;
        self.expect(self.gate(&["log", "verify"])?.passed(), "its chain verifies")?;
        self.printer.result(b"\nAll five scenes went as they should.\n");
        Ok(())
    }

    /// Two bare remotes, a first commit in both, a configured reviewer, the hook.
    fn prepare(&self) -> anyhow::Result<()> {
        self.scene("0. A repository with two remotes, a reviewer and the hook");
        for remote in ["origin.git", "mirror.git"] {
            self.quiet(&["init", "--quiet", "--bare", "--initial-branch=main", remote], self.folder.path())?;
        }
        self.quiet(&["init", "--quiet", "--initial-branch=main", "work"], self.folder.path())?;
        for (key, value) in [("user.name", "Demo"), ("user.email", "demo@example.invalid")] {
            self.quiet(&["config", key, value], &self.work())?;
        }
        for remote in ["origin", "mirror"] {
            self.quiet(&["remote", "add", remote, &format!("../{remote}.git")], &self.work())?;
        }
        self.commit("README", "A demonstration.\n")?;
        for remote in ["origin", "mirror"] {
            self.quiet(&["push", "--quiet", remote, "main"], &self.work())?;
        }
        self.configure(&self.peer.host())?;
        let installed = self.gate(&["install"])?;
        self.expect(installed.passed(), "the hook is installed")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn configure(&self, host: &str) -> anyhow::Result<()> {
        let text = format!(
            "author: human\nreviewers:\n  - name: scripted\n    provider: openai\n    host: {host}\n    model: {MODEL}\n    family: qwen\npush_deadline: 20\n"
        );
        fs::write(self.folder.path().join("home/.config/review-gate/config.yaml"), text).context("cannot write the demo's configuration")
    }

    fn commit(&self, file: &str, text: &str) -> anyhow::Result<()> {
        fs::write(self.work().join(file), text)?;
        self.quiet(&["add", file], &self.work())?;
        self.quiet(&["commit", "--quiet", "-m", "demo"], &self.work())?;
        Ok(())
    }

    /// Returns the commit of `main` in the work tree (`.`) or a remote; empty where there is none.
    fn head(&self, place: &str) -> String {
        let folder = if place == "." { self.work() } else { self.folder.path().join(format!("{place}.git")) };
        self.start(&self.git, &["rev-parse", "main"], &folder).map(|done| done.text).unwrap_or_default()
    }

    fn quiet(&self, args: &[&str], folder: &Path) -> anyhow::Result<Done> {
        let done = self.start(&self.git, args, folder)?;
        anyhow::ensure!(done.passed(), "git {} failed: {}", args.join(" "), done.text);
        Ok(done)
    }

    fn show(&self, args: &[&str]) -> anyhow::Result<Done> {
        self.shown("git", &self.git, args)
    }

    fn gate(&self, args: &[&str]) -> anyhow::Result<Done> {
        self.shown("review-gate", &self.gate, args)
    }

    /// Runs a command and prints it with what it said.
    fn shown(&self, name: &str, program: &Path, args: &[&str]) -> anyhow::Result<Done> {
        self.printer.result(format!("\n$ {name} {}\n", args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ")).as_bytes());
        let done = self.start(program, args, &self.work())?;
        let status = match done.ended {
            Ended::Exited(status) => format!("[exit {status}]"),
            Ended::Signalled(signal) => format!("[signal {signal}]"),
        };
        let place = self.folder.path().display().to_string();
        let said: String = done.text.lines().map(|line| format!("  {}\n", clean(&line.replace(&place, "…")))).collect();
        self.printer.result(format!("{said}  {status}\n").as_bytes());
        Ok(done)
    }

    fn start(&self, program: &Path, args: &[&str], folder: &Path) -> anyhow::Result<Done> {
        let child = Child {
            program: program.to_owned(),
            args: args.iter().map(OsString::from).collect(),
            env: self.env.clone(),
            cwd: folder.to_owned(),
            stdin: Vec::new(),
            stderr: Stderr::Captured,
        };
        let output = process::run(child, Deadline::after(COMMAND, Limit::Run), Caps { stdout: 1 << 20, stderr: 1 << 20 })?;
        let text = [output.stdout, output.stderr].iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
        Ok(Done { ended: output.ended, text })
    }

    fn scene(&self, title: &str) {
        self.printer.result(format!("\n── {title}\n").as_bytes());
    }

    fn expect(&self, held: bool, what: &str) -> anyhow::Result<()> {
        self.printer.result(format!("  {} {what}\n", if held { "✓" } else { "✗" }).as_bytes());
        anyhow::ensure!(held, "expected: {what}");
        Ok(())
    }
}

impl Done {
    fn passed(&self) -> bool {
        self.ended == Ended::Exited(0)
    }
}

fn quoted(arg: &str) -> String {
    if arg.contains(' ') { format!("\"{arg}\"") } else { arg.to_owned() }
}
