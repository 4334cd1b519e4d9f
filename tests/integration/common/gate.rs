//! The gate as a child process. No verb but those that install or initialise writes to the repository's index, worktree or refs, and every run is held to it.

use super::GATE;
use super::child::{self, Run, Running};
use super::kept::Kept;
use super::repo::Repo;
use std::path::PathBuf;
use std::process::Command;

/// The verbs that write a hook, a hook manager's file or a policy.
const WRITES: [&str; 3] = ["init", "install", "uninstall"];

/// A call of the gate, being put together.
pub struct Gate {
    command: Command,
    stdin: Vec<u8>,
    /// The repository that must stay as it is.
    kept: Option<PathBuf>,
}

impl Gate {
    /// Prepares `review-gate ARGS` in a repository.
    pub fn new(repo: &Repo<'_>, args: &[&str]) -> Gate {
        let mut command = repo.sandbox().hostile_command(GATE);
        command.args(args).current_dir(repo.path());
        let writes = args.first().is_some_and(|verb| WRITES.contains(verb));
        Gate { command, stdin: Vec::new(), kept: (!writes).then(|| repo.path().to_owned()) }
    }

    /// Prepares the pre-push hook as the gate's own shim calls it, for `origin`.
    pub fn pre_push(repo: &Repo<'_>, lines: &str) -> Gate {
        let url = repo.git(&["remote", "get-url", "origin"]);
        Gate::new(repo, &["hook", "pre-push", "--from-git", "origin", &url]).stdin(lines)
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Gate {
        self.command.arg(arg);
        self
    }

    /// Adds a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Gate {
        self.command.env(name, value);
        self
    }

    /// Moves to another folder.
    pub fn in_dir(mut self, dir: &std::path::Path) -> Gate {
        self.command.current_dir(dir);
        self
    }

    /// Gives it input.
    pub fn stdin(mut self, text: &str) -> Gate {
        self.stdin = text.into();
        self
    }

    /// Runs it to the end. A panic is a failure of the test, whatever the status, and so is a write to index, worktree or refs.
    #[track_caller]
    pub fn run(self) -> Run {
        let before = self.kept.as_deref().map(Kept::everything);
        let run = child::run(self.command, &self.stdin);
        assert_eq!(self.kept.as_deref().map(Kept::everything), before, "the gate wrote to the repository; {run}");
        assert!(!run.stderr.contains("panicked at"), "the gate panicked; {run}");
        run
    }

    /// Runs it with `--format json` to a file and returns the report beside the run; stdout stays what it is without.
    #[track_caller]
    pub fn report(self) -> (Run, serde_json::Value) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("report.json");
        let run = self.arg("--format=json").arg(format!("--output={}", file.display())).run();
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("no report was written: {e}; {run}"));
        let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("the report is no JSON: {e}\n{text}"));
        assert_eq!(report["exit_code"], run.status, "report and status must agree; {run}");
        (run, report)
    }

    /// Starts it and returns at once.
    pub fn start(self) -> Running {
        child::start(self.command, &self.stdin)
    }
}
