//! review-gate: a blocking git hook that has each change reviewed by a model of a different family than the one that wrote it.
//!
//! # The house
//!
//! ```text
//!  argv, hook arguments, stdin                                   main  cli  commands/*
//!       │   clap structs ── config/ (defaults < policy at base < user < flags; protective values: strictest) ──► policies
//!       ▼
//!  git/ ──► change/ ──► redact ──► tier ──► plan ──► review/ ──► finding/ ──► verdict ──► report/ ──► stdout, stderr, file
//!  refs,    files,      secrets    + why    passes   chains,     anchored,    + proof
//!  bytes    hunks,                 floors   author   deadline    merged          │
//!           slices                          family   prompts                     └──► ledger/ (git's common directory)
//!                                   trait Reviewer:  implemented by provider/, called by review/; takes redact::Outbound only
//!  provider/{openai,anthropic,ollama} ──► transport/{http,sse,ndjson,process}
//!  exit: PassProof = verdict::Accepted + ledger::Recorded ──► status 0, and nothing else does
//! ```
//!
//! Layers, imports go down or sideways, never up:
//!
//! ```text
//!  edge      main lib cli commands config error exit
//!  show      report
//!  run       review
//!  adapters  git transport provider ledger                      effects; each owns its third-party crate
//!  model     change lockfile coverage tier paths author family plan prompts rubrics redact reviewer reply finding outcome verdict
//!  ground    clock env digest random json yaml
//! ```
//!
//! One arrow between adapters: `git/plumbing`, the fallback for what gix cannot open, starts git through `transport/process`.
//!
//! The model is plain functions over values: no file, socket, clock, environment or printing. That is the part that decides.

pub mod author;
pub mod change;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod config;
pub mod coverage;
pub mod digest;
pub mod env;
pub mod error;
pub mod exit;
pub mod family;
pub mod finding;
pub mod git;
pub mod json;
pub mod ledger;
pub mod lockfile;
pub mod outcome;
pub mod paths;
pub mod plan;
pub mod prompts;
pub mod provider;
pub mod random;
pub mod redact;
pub mod reply;
pub mod report;
pub mod review;
pub mod reviewer;
pub mod rubrics;
pub mod tier;
pub mod transport;
pub mod verdict;
pub mod yaml;

use clap::Parser;
use error::GateError;
use exit::{Code, ExitStatus, Told};
use report::printer::{Color, Place, Printer, Volume};
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

/// Where the last panic happened. The hook only notes it: a panic in a worker is that pass's failure and no text for people.
static PANICKED_AT: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program and returns its status. Never panics: what goes wrong inside ends as 70.
pub fn run(args: impl IntoIterator<Item = OsString>, env: env::Env) -> ExitStatus {
    panic::set_hook(Box::new(|info| {
        if let Ok(mut place) = PANICKED_AT.lock() {
            *place = info.location().map(ToString::to_string);
        }
    }));
    let cli = match cli::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let printer = Printer::new(Place::Stdout, cli.common.volume(), cli.common.color.into(), env.os("NO_COLOR").is_some());
    let end = panic::catch_unwind(AssertUnwindSafe(|| commands::run(cli, &env, printer))).unwrap_or_else(|_| Err(panicked()));
    match end {
        Ok(status) => status,
        Err(error) => {
            printer.error(&error.to_string());
            ExitStatus::refuse(error.code())
        }
    }
}

fn panicked() -> GateError {
    let place = PANICKED_AT.lock().ok().and_then(|place| place.clone()).unwrap_or_else(|| "an unknown place".to_owned());
    GateError::internal(format!("review-gate failed at {place}"))
}

/// Ends what clap could not or need not parse: help and version are told, everything else is a usage error (status 2).
fn usage(error: &clap::Error) -> ExitStatus {
    let text = error.to_string();
    let printer = Printer::new(Place::Stdout, Volume::Normal, Color::Never, true);
    if error.use_stderr() {
        printer.error(text.trim_end());
        return ExitStatus::refuse(Code::Usage);
    }
    printer.result(text.as_bytes());
    ExitStatus::told(Told)
}
