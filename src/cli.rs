//! What can be typed. Parsing validates, never acts; no clap type goes further than the command files.

use crate::report::printer::{Color, Volume};
use clap::builder::styling::Styles;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// A blocking git hook that has each change reviewed by a model of a different family than the one that wrote it.
#[derive(Debug, Parser)]
#[command(name = "review-gate", version, styles = Styles::plain(), arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Flags that every verb takes.
    #[command(flatten)]
    pub common: Common,
}

/// The heading of the flags that every verb takes.
const EVERYWHERE: &str = "Everywhere";

/// Flags that every verb takes.
#[derive(Debug, Args)]
pub struct Common {
    /// User configuration file [default: $XDG_CONFIG_HOME/review-gate/config.yaml]
    #[arg(long, global = true, value_name = "FILE", help_heading = EVERYWHERE)]
    pub config: Option<PathBuf>,
    /// Say less: only refusals
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = EVERYWHERE)]
    pub quiet: bool,
    /// Say more: every hop of every chain
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    pub verbose: bool,
    /// Colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", help_heading = EVERYWHERE)]
    pub color: When,
}

impl Common {
    /// Returns how much is to be said.
    pub fn volume(&self) -> Volume {
        match (self.quiet, self.verbose) {
            (true, _) => Volume::Quiet,
            (_, true) => Volume::Verbose,
            (false, false) => Volume::Normal,
        }
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<When> for Color {
    fn from(when: When) -> Color {
        match when {
            When::Auto => Color::Auto,
            When::Always => Color::Always,
            When::Never => Color::Never,
        }
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Review a change now
    Run(RunArgs),
    /// Be a git hook
    #[command(subcommand)]
    Hook(HookVerb),
    /// Print the change as git would, with full ids; no network
    Diff(DiffArgs),
    /// Print exactly what would be sent, after redaction; no network
    Prompt(PromptArgs),
    /// Print the tier and why, on one line
    Tier(SelectorArgs),
    /// Find reviewers on this machine and write the user configuration
    Init(InitArgs),
    /// Install the hook beside whatever is there
    Install(InstallArgs),
    /// Remove the hook and restore what was there
    Uninstall(UninstallArgs),
    /// Prove that the installed hook blocks, and name each hole with its remedy
    Doctor(DoctorArgs),
    /// Show or check the configuration
    Config(ConfigArgs),
    /// Let one subject through, with a reason that is written down
    Override(OverrideArgs),
    /// Show or verify the ledger
    Log(LogArgs),
    /// See the whole thing in a throw-away repository; no key, no network
    Demo,
}

/// The hooks. They have no `--help`: git passes names that somebody else chose (a remote may be called `--help`), and a hook that answers such a name with a
/// help text and 0 has let a push through. `review-gate help hook pre-push` is there for people.
#[derive(Debug, Subcommand)]
pub enum HookVerb {
    /// Review what a push would publish; ref lines on stdin
    #[command(disable_help_flag = true)]
    PrePush(PrePushArgs),
    /// Review what a commit would record
    #[command(disable_help_flag = true)]
    PreCommit(HookArgs),
    /// Review what a merge commit would record
    #[command(disable_help_flag = true)]
    PreMergeCommit(HookArgs),
}

/// `hook pre-push`.
#[derive(Debug, Args)]
pub struct PrePushArgs {
    /// Only stdin counts, and no lines mean "up to date"; the gate's own shim passes this
    #[arg(long)]
    pub from_git: bool,
    /// The remote's name, as git passes it
    pub remote: Option<OsString>,
    /// The remote's URL, as git passes it
    pub url: Option<OsString>,
    /// Where the report goes.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `hook pre-commit`, `hook pre-merge-commit`.
#[derive(Debug, Args)]
pub struct HookArgs {
    /// Where the report goes.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Arguments that a hook manager adds; ignored
    #[arg(hide = true, trailing_var_arg = true)]
    pub ignored: Vec<OsString>,
}

/// Where the report goes.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Write the report to a file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs: review-gate/report/v1
    Json,
}

/// Which change.
#[derive(Debug, Args)]
pub struct SelectorArgs {
    /// HEAD → index (the default)
    #[arg(long, group = "selector")]
    pub staged: bool,
    /// HEAD → tracked files on disk
    #[arg(long, group = "selector")]
    pub worktree: bool,
    /// Merge base with the base branch → HEAD
    #[arg(long, group = "selector")]
    pub all: bool,
    /// Merge base with REF → HEAD
    #[arg(long, value_name = "REF", group = "selector")]
    pub base: Option<String>,
    /// Merge base → B
    #[arg(long, value_name = "A..B", group = "selector")]
    pub range: Option<String>,
    /// What pushing the current branch to its push destination would send
    #[arg(long, value_name = "REMOTE", num_args = 0..=1, group = "selector")]
    pub push: Option<Option<String>>,
    /// Only these paths; may be given more than once
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<OsString>,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Which change.
    #[command(flatten)]
    pub selector: SelectorArgs,
    /// Where the report goes.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Raise the tier to at least this one; a lower one than the computed is not applied
    #[arg(long, value_name = "TIER")]
    pub tier: Option<String>,
    /// Say what would be asked, ask nobody, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Who wrote the change: a family, or human; adds to what is seen
    #[arg(long, value_name = "FAMILY")]
    pub author: Vec<String>,
    /// Only this reviewer; may be given more than once, in order
    #[arg(long, value_name = "NAME")]
    pub reviewer: Vec<String>,
    /// Seconds for the whole run, at most 3600
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub deadline: Option<u64>,
    /// Let this change through for this reason, and write it down
    #[arg(long = "override", value_name = "REASON")]
    pub override_reason: Option<String>,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Which change.
    #[command(flatten)]
    pub selector: SelectorArgs,
    /// The change that a hook would see; pre-push reads ref lines on stdin
    #[arg(long, value_enum, conflicts_with = "selector")]
    pub stage: Option<StageName>,
    /// The remote's name and URL, for --stage pre-push
    #[arg(requires = "stage", num_args = 2, value_names = ["REMOTE", "URL"])]
    pub remote: Vec<OsString>,
    /// Show a rename as a deletion and an addition
    #[arg(long)]
    pub no_renames: bool,
}

/// The stages of `diff --stage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StageName {
    /// What a commit would record
    PreCommit,
    /// What a push would publish
    PrePush,
}

/// `prompt`.
#[derive(Debug, Args)]
pub struct PromptArgs {
    /// Which change.
    #[command(flatten)]
    pub selector: SelectorArgs,
    /// Only this pass
    #[arg(long, value_name = "NAME")]
    pub pass: Option<String>,
}

/// `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Write the repository policy instead
    #[arg(long)]
    pub policy: bool,
    /// Replace what is there; the old file is kept beside it
    #[arg(long)]
    pub force: bool,
}

/// The hooks that can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookName {
    /// Before a push
    PrePush,
    /// Before a commit
    PreCommit,
    /// Before a merge commit
    PreMergeCommit,
}

/// Where the hook goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// A file; git's configuration where the folder is not this repository's own and git is 2.54 or newer
    Auto,
    /// git's configuration (2.54 or newer)
    Config,
    /// A file in the folder that git takes hooks from
    File,
}

/// `install`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Which hook; may be given more than once
    #[arg(long = "hook", value_enum, value_name = "HOOK", default_values = ["pre-push"])]
    pub hooks: Vec<HookName>,
    /// Install into a hooks directory that several repositories share
    #[arg(long)]
    pub global: bool,
    /// Where the hook goes
    #[arg(long, value_enum, value_name = "MODE", default_value = "auto")]
    pub mode: ModeName,
    /// Install although no reviewer is eligible
    #[arg(long)]
    pub force: bool,
}

/// `uninstall`.
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Which hook [default: all of the gate's]
    #[arg(long = "hook", value_enum, value_name = "HOOK")]
    pub hooks: Vec<HookName>,
    /// Uninstall from a hooks directory that several repositories share
    #[arg(long)]
    pub global: bool,
}

/// `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Only look: run no hook; then nothing is proven
    #[arg(long)]
    pub no_run: bool,
    /// Seconds for each push that is tried, at most 600
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub deadline: u64,
}

/// `config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<ConfigVerb>,
}

/// The verbs of `config`.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigVerb {
    /// Effective values and the layer each came from (the default)
    Show,
    /// Check every layer
    Check,
    /// The JSON schema of both files
    Schema,
}

/// `override`.
#[derive(Debug, Args)]
pub struct OverrideArgs {
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// How long it holds: 90m, 24h, 3d; at most 72h
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub expires: String,
    /// Which subject [default: the last one refused]
    #[arg(long, value_name = "ID")]
    pub subject: Option<String>,
}

/// `log`.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<LogVerb>,
}

/// The verbs of `log`.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum LogVerb {
    /// Show the records, the newest last (the default)
    Show,
    /// Verify the chain
    Verify,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_name_that_git_passes_makes_a_hook_answer_with_help() {
        for hook in ["pre-push", "pre-commit", "pre-merge-commit"] {
            for name in ["--help", "-h", "--version", "-V"] {
                let error = Cli::try_parse_from(["review-gate", "hook", hook, "--from-git", name]).err();
                assert!(error.is_none_or(|error| error.use_stderr()), "{hook} {name}");
            }
        }
        let parsed = Cli::try_parse_from(["review-gate", "hook", "pre-push", "--from-git", "--", "--config=x", "--help"]).expect("names are names");
        let Verb::Hook(HookVerb::PrePush(args)) = parsed.verb else { panic!("a hook") };
        assert_eq!((args.remote, args.url, parsed.common.config), (Some("--config=x".into()), Some("--help".into()), None));
    }

    #[test]
    fn two_selectors_are_refused() {
        assert!(Cli::try_parse_from(["review-gate", "run", "--staged", "--all"]).is_err());
        assert!(Cli::try_parse_from(["review-gate", "run", "--push"]).is_ok());
    }
}
