//! The proof: real pushes between throw-away repositories through the hook that git would run here. A clean change must go through and a bad one behind it
//! must not, because of what the reviewer said.
//!
//! The clean push is the control: where it is refused as well, the refusal of the bad one proves nothing about the gate.

use super::ask::Effective;
use super::hookfile::Kind;
use super::stage::{Push, Stage};
use crate::commands::install::{Hook, is_current};
use crate::env::Env;
use crate::error::GateError;
use crate::git::Repo;
use std::time::Duration;

/// What the pushes showed.
#[derive(Debug)]
pub(super) enum Proof {
    /// The clean change went through, and a bad one behind a clean one was refused with the reviewer's finding; nothing arrived.
    Blocks {
        /// The hook that runs before the gate was left out, because it refuses the clean change; what it said.
        without_chain: Option<String>,
    },
    /// A bad ref alone is refused, behind another one it is not.
    FirstRefOnly,
    /// A bad change arrived.
    LetThrough {
        /// What the hook said.
        said: String,
    },
    /// The bad change was refused, but not with the reviewer's finding.
    Unasked {
        /// What the hook said.
        said: String,
    },
    /// The clean change was refused.
    CleanRefused {
        /// What the hook said.
        said: String,
    },
    /// A push did not end in time.
    TooLong {
        /// What the hook said.
        said: String,
    },
}

impl Proof {
    /// Tells whether every bad push is refused by the gate.
    pub(super) fn proves(&self) -> bool {
        match self {
            Proof::Blocks { .. } => true,
            Proof::FirstRefOnly | Proof::LetThrough { .. } | Proof::Unasked { .. } | Proof::CleanRefused { .. } | Proof::TooLong { .. } => false,
        }
    }

    /// Returns what the hook said.
    pub(super) fn said(&self) -> &str {
        match self {
            Proof::Blocks { without_chain } => without_chain.as_deref().unwrap_or_default(),
            Proof::FirstRefOnly => "",
            Proof::LetThrough { said } | Proof::Unasked { said } | Proof::CleanRefused { said } | Proof::TooLong { said } => said,
        }
    }

    /// Returns what was seen, line by line.
    pub(super) fn seen(&self) -> Vec<String> {
        let mut seen: Vec<String> = Vec::new();
        let mut line = |line: &str| seen.push(line.to_owned());
        match self {
            Proof::Blocks { without_chain: None } => {
                line("✓ a clean change went through");
                line("✓ a bad change behind a clean one was refused with the reviewer's finding, and nothing arrived");
            }
            Proof::Blocks { without_chain: Some(_) } => {
                line("✓ the hook that runs before the gate refuses a change in a throw-away repository already, and its refusal stands");
                line("✓ without it a clean change went through");
                line("✓ without it a bad change behind a clean one was refused with the reviewer's finding, and nothing arrived");
            }
            Proof::FirstRefOnly => {
                line("✓ a bad change alone was refused");
                line("✗ a bad change behind a clean one went through");
            }
            Proof::LetThrough { .. } => line("✗ a bad change went through"),
            Proof::Unasked { .. } => line("✗ a bad change was refused, but no reviewer was asked"),
            Proof::CleanRefused { .. } => line("✗ a clean change was refused"),
            Proof::TooLong { .. } => line("✗ a push did not end in time"),
        }
        seen.extend(tail(self.said()).map(|line| format!("| {line}")));
        seen
    }
}

/// The last lines of what a hook said.
fn tail(said: &str) -> impl Iterator<Item = &str> {
    const LINES: usize = 12;
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let skip = lines.len().saturating_sub(LINES);
    lines.into_iter().skip(skip)
}

/// Pushes, and says what came of it.
///
/// # Errors
/// Where the throw-away repositories cannot be made.
pub(super) fn prove(effective: &Effective, repo: &Repo, env: &Env, kind: &Kind, limit: Duration) -> Result<Proof, GateError> {
    let failed = |error: anyhow::Error| GateError::usage(format!("{error:#}")).while_doing("cannot set up the throw-away repositories");
    let stage = Stage::set(effective, repo.work_dir(), env, limit).map_err(failed)?;
    let proof = try_out(&stage).map_err(failed)?;
    let stuck = match &proof {
        Proof::CleanRefused { said } | Proof::TooLong { said } => said.clone(),
        Proof::Blocks { .. } | Proof::FirstRefOnly | Proof::LetThrough { .. } | Proof::Unasked { .. } => return Ok(proof),
    };
    // Ours, with a hook before it that cannot be content in a throw-away repository. By our own script it refuses, or the gate is asked: so the gate is
    // tried without it.
    let Kind::Ours(baked) = kind else { return Ok(proof) };
    let Some(chained) = &baked.chained else { return Ok(proof) };
    if !std::fs::read(effective.push_hook()).is_ok_and(|script| is_current(&script, Hook::PrePush)) {
        return Ok(proof);
    }
    stage.stand_in(&effective.push_hook(), Hook::PrePush.name(), chained).map_err(failed)?;
    match try_out(&stage).map_err(failed)? {
        Proof::Blocks { .. } => Ok(Proof::Blocks { without_chain: Some(stuck) }),
        Proof::FirstRefOnly | Proof::LetThrough { .. } | Proof::Unasked { .. } | Proof::CleanRefused { .. } | Proof::TooLong { .. } => Ok(proof),
    }
}

fn try_out(stage: &Stage) -> anyhow::Result<Proof> {
    let clean = stage.push(&[stage.change("clean", false)?])?;
    match clean {
        Push::TooLong { said } => return Ok(Proof::TooLong { said }),
        Push::Refused { said, .. } => return Ok(Proof::CleanRefused { said }),
        Push::Arrived { .. } => {}
    }
    match stage.push(&[stage.change("first", false)?, stage.change("second", true)?])? {
        Push::Refused { by_finding: true, .. } => return Ok(Proof::Blocks { without_chain: None }),
        Push::TooLong { said } => return Ok(Proof::TooLong { said }),
        Push::Refused { said, by_finding: false } => return Ok(Proof::Unasked { said }),
        Push::Arrived { .. } => {}
    }
    match stage.push(&[stage.change("alone", true)?])? {
        Push::Refused { by_finding: true, .. } => Ok(Proof::FirstRefOnly),
        Push::Refused { said, by_finding: false } => Ok(Proof::Unasked { said }),
        Push::Arrived { said } => Ok(Proof::LetThrough { said }),
        Push::TooLong { said } => Ok(Proof::TooLong { said }),
    }
}
