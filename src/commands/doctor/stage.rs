//! The throw-away world of a proof: a repository with a remote, a configuration with a scripted reviewer, and the hooks that git would run in the real one.
//!
//! Nothing of the user's is written to: git's own settings are switched off but for the hooks, the gate reads its configuration here and keeps its ledger
//! here. What a foreign hook does on its own account is its own affair; the verb says beforehand what it runs.

use super::ask::Effective;
use super::manager;
use crate::clock::{Deadline, Limit};
use crate::commands::peer::{Claim, Peer, Script};
use crate::env::Env;
use crate::random::hex128;
use crate::transport::process::{self, Caps, Child, Ended, Environment, ProcessError, Stderr};
use anyhow::Context as _;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The model that the scripted reviewer says it serves.
const MODEL: &str = "review-gate-doctor";
/// Three families, so that there is somebody to ask whoever the environment says writes here, at every tier.
const FAMILIES: [&str; 3] = ["qwen", "mistral", "deepseek"];
/// How long git itself may take where no hook runs.
const SETUP: Duration = Duration::from_secs(30);

/// Two repositories, a configuration, a reviewer. Removed on drop.
pub(super) struct Stage {
    folder: tempfile::TempDir,
    git: PathBuf,
    env: Environment,
    /// What the bad change holds, and the finding's title with it: unguessable, so that no other refusal is taken for the gate's.
    mark: String,
    limit: Duration,
    peer: Peer,
}

/// What a commit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It adds a file that nobody minds.
    Clean,
    /// It adds the line that the reviewer refuses.
    Bad,
    /// It deletes a file, and no more.
    Deletion,
}

/// The file that is there to be deleted.
const DOOMED: &str = "doomed.txt";
/// Where nobody listens: a reserved port.
const NOWHERE: &str = "http://127.0.0.1:1/v1";

/// What became of a push.
#[derive(Debug)]
pub(super) enum Push {
    /// Every ref is there.
    Arrived {
        /// What was said.
        said: String,
        /// The reviewer was asked.
        asked: bool,
    },
    /// None is.
    Refused {
        /// What was said.
        said: String,
        /// The reviewer was asked, and its finding is in what was said.
        by_finding: bool,
    },
    /// It was ended.
    TooLong {
        /// What was said.
        said: String,
    },
}

impl Stage {
    /// Sets it up.
    pub(super) fn set(effective: &Effective, work_dir: Option<&Path>, env: &Env, limit: Duration) -> anyhow::Result<Stage> {
        let folder = tempfile::Builder::new().prefix("review-gate-doctor-").tempdir().context("cannot make a temporary folder")?;
        let mark = format!("doctor-{}", hex128());
        let peer = Peer::start(script(&mark)).context("cannot listen on the loopback interface")?;
        let config = folder.path().join("config");
        let child_env = Environment::outside_repository(env)
            .with("XDG_CONFIG_HOME", &config)
            .with("GIT_CONFIG_GLOBAL", "/dev/null")
            .with("GIT_CONFIG_SYSTEM", "/dev/null")
            .with("GIT_TERMINAL_PROMPT", "0");
        let stage = Stage { folder, git: effective.git.clone(), env: child_env, mark, limit, peer };
        stage.configure(&config, env)?;
        stage.answer(true)?;
        stage.repositories(effective, work_dir)?;
        Ok(stage)
    }

    /// A configuration folder that holds what the user's does, but for the gate's own.
    fn configure(&self, config: &Path, env: &Env) -> anyhow::Result<()> {
        fs::create_dir_all(config.join("review-gate"))?;
        let users = env.path("XDG_CONFIG_HOME").or_else(|| env.path("HOME").map(|home| home.join(".config")));
        for entry in users.iter().flat_map(fs::read_dir).flatten().flatten().filter(|entry| entry.file_name() != "review-gate") {
            symlink(entry.path(), config.join(entry.file_name()))?;
        }
        Ok(())
    }

    /// Has the reviewers answer, or nobody be there to ask.
    pub(super) fn answer(&self, answers: bool) -> anyhow::Result<()> {
        let host = if answers { self.peer.host() } else { NOWHERE.to_owned() };
        let reviewers: String = FAMILIES
            .iter()
            .map(|family| format!("  - {{name: scripted-{family}, provider: openai, host: \"{host}\", model: {MODEL}, family: {family}}}\n"))
            .collect();
        // Nobody is waited for in vain: two seconds hold the first try and a second.
        let deadline = if answers { self.limit.as_secs().clamp(1, 600) } else { 2 };
        let text = format!("author: human\nreviewers:\n{reviewers}push_deadline: {deadline}\n");
        fs::write(self.folder.path().join("config/review-gate/config.yaml"), text).context("cannot write the configuration")
    }

    fn repositories(&self, effective: &Effective, work_dir: Option<&Path>) -> anyhow::Result<()> {
        self.quiet(&["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "origin.git"], self.folder.path())?;
        self.quiet(&["init", "--quiet", "--template=", "--initial-branch=main", "work"], self.folder.path())?;
        for (key, value) in [("user.name", "doctor"), ("user.email", "doctor@example.invalid"), ("commit.gpgSign", "false")] {
            self.quiet(&["config", key, value], &self.work())?;
        }
        let origin = self.origin().to_string_lossy().into_owned();
        self.quiet(&["remote", "add", "origin", &origin], &self.work())?;
        fs::write(self.work().join("README"), "A throw-away repository of `review-gate doctor`.\n")?;
        fs::write(self.work().join(DOOMED), "This file is deleted by a change of its own.\n")?;
        if let Some(from) = work_dir {
            manager::copy(from, &self.work())?;
            fs::create_dir_all(self.work().join(".git/info"))?;
            fs::write(self.work().join(".git/info/exclude"), format!("/{}\n", manager::MODULES))?;
        }
        self.quiet(&["add", "--all"], &self.work())?;
        self.quiet(&["commit", "--quiet", "--no-verify", "-m", "base"], &self.work())?;
        self.quiet(&["push", "--quiet", "--no-verify", "--set-upstream", "origin", "main"], &self.work())?;
        // Last, so that nothing above runs a hook.
        self.quiet(&["config", "core.hooksPath", &effective.hooks_dir.to_string_lossy()], &self.work())?;
        for (key, value) in &effective.hook_keys {
            self.quiet(&["config", "--add", key, value], &self.work())?;
        }
        Ok(())
    }

    /// Makes a branch with one commit of its own and returns its name. `main` is checked out afterwards.
    pub(super) fn branch(&self, name: &str, change: Change) -> anyhow::Result<String> {
        let branch = format!("{name}-{}", &hex128()[..8]);
        self.quiet(&["checkout", "--quiet", "--no-track", "-b", &branch, "main"], &self.work())?;
        self.commit(&branch, change)?;
        Ok(branch)
    }

    /// Puts a bad commit onto a branch, and returns its name.
    pub(super) fn update(&self, branch: &str) -> anyhow::Result<String> {
        self.quiet(&["checkout", "--quiet", branch], &self.work())?;
        self.commit(&format!("{branch}-more"), Change::Bad)?;
        Ok(branch.to_owned())
    }

    /// Puts a tag onto a bad commit that no branch has, and returns its name.
    pub(super) fn tag(&self, name: &str) -> anyhow::Result<String> {
        let branch = self.branch(name, Change::Bad)?;
        let tag = format!("{branch}-tag");
        self.quiet(&["tag", &tag, &branch], &self.work())?;
        self.quiet(&["branch", "--quiet", "-D", &branch], &self.work())?;
        Ok(tag)
    }

    fn commit(&self, name: &str, change: Change) -> anyhow::Result<()> {
        let file = self.work().join(format!("{name}.txt"));
        match change {
            Change::Clean => fs::write(file, format!("{name} is fine\n"))?,
            Change::Bad => fs::write(file, format!("{}: this line is refused by the scripted reviewer\n", self.mark))?,
            Change::Deletion => fs::remove_file(self.work().join(DOOMED))?,
        }
        self.quiet(&["add", "--all"], &self.work())?;
        self.quiet(&["commit", "--quiet", "--no-verify", "-m", name], &self.work())?;
        self.quiet(&["checkout", "--quiet", "main"], &self.work())
    }

    /// Pushes branches or tags in one go, with hooks.
    pub(super) fn push(&self, names: &[String]) -> anyhow::Result<Push> {
        let calls = self.peer.calls();
        let args: Vec<&str> = ["push", "origin"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let (ended, said) = match self.start(&args, &self.work(), self.limit) {
            Ok(done) => done,
            Err(ProcessError::TimedOut { stderr, .. }) => return Ok(Push::TooLong { said: String::from_utf8_lossy(&stderr).into_owned() }),
            Err(error) => return Err(error.into()),
        };
        let asked = self.peer.calls() > calls;
        let there = names.iter().filter(|name| self.has_arrived(name)).count();
        if there == 0 && ended != Ended::Exited(0) {
            return Ok(Push::Refused { by_finding: asked && said.contains(&self.mark), said });
        }
        Ok(Push::Arrived { said, asked })
    }

    /// Puts a copy of our script in the hook's place, with nothing but a yes before it.
    pub(super) fn stand_in(&self, script: &Path, name: &str, chained: &str) -> anyhow::Result<()> {
        let hooks = self.folder.path().join("hooks");
        fs::create_dir_all(&hooks)?;
        fs::copy(script, hooks.join(name))?;
        let yes = hooks.join(chained);
        fs::write(&yes, "#!/bin/sh\nexit 0\n")?;
        fs::set_permissions(&yes, fs::Permissions::from_mode(0o755))?;
        self.quiet(&["config", "core.hooksPath", &hooks.to_string_lossy()], &self.work())
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn origin(&self) -> PathBuf {
        self.folder.path().join("origin.git")
    }

    fn has_arrived(&self, name: &str) -> bool {
        let tip = |folder: &Path| self.start(&["rev-parse", "--quiet", "--verify", name], folder, SETUP);
        match (tip(&self.work()), tip(&self.origin())) {
            (Ok((Ended::Exited(0), _)), Ok((Ended::Exited(1), _))) => false,
            (Ok((Ended::Exited(0), here)), Ok((Ended::Exited(0), there))) => here == there,
            // What cannot be told has arrived: then nothing is proven.
            (Ok(_) | Err(_), Ok(_) | Err(_)) => true,
        }
    }

    fn quiet(&self, args: &[&str], folder: &Path) -> anyhow::Result<()> {
        let (ended, said) = self.start(args, folder, SETUP)?;
        anyhow::ensure!(ended == Ended::Exited(0), "git {} failed: {said}", args.join(" "));
        Ok(())
    }

    fn start(&self, args: &[&str], folder: &Path, limit: Duration) -> Result<(Ended, String), ProcessError> {
        let child = Child {
            program: self.git.clone(),
            args: args.iter().map(OsString::from).collect(),
            env: self.env.clone(),
            cwd: folder.to_owned(),
            stdin: Vec::new(),
            stderr: Stderr::Captured,
        };
        let output = process::run(child, Deadline::after(limit, Limit::Run), Caps { stdout: 1 << 22, stderr: 1 << 22 })?;
        let said = [output.stdout, output.stderr].iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
        Ok((output.ended, said))
    }
}

fn script(mark: &str) -> Script {
    Script {
        model: MODEL,
        marks: vec![mark.to_owned()],
        claim: Claim {
            title: format!("the scripted reviewer of review-gate doctor refuses {mark}"),
            issue: "the line is the one that the doctor put there to be refused",
            cause: "a proof needs something to refuse",
            failing_case: "when this line is pushed, the push must be refused; expected a refusal with this finding",
            fix: "none is needed: the repository is thrown away",
        },
    }
}
