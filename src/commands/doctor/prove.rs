//! The proof: real pushes between throw-away repositories through the hook that git would run here. A clean change must go through; a bad one must not,
//! whether it is a branch between clean ones, an update or a tag, because of what the reviewer said; what only deletes must be shown to the reviewer; and
//! with nobody to ask nothing must go through.
//!
//! The clean push is the control: where it is refused as well, the refusal of the bad one proves nothing about the gate. All pushes are made from a branch
//! with an upstream that has nothing to push, so that a hook that looks at `HEAD` sees nothing of them.

use super::ask::Effective;
use super::hookfile::Kind;
use super::stage::{Change, Push, Stage};
use crate::commands::install::{Hook, is_current};
use crate::env::Env;
use crate::error::GateError;
use crate::git::Repo;
use std::time::Duration;

/// What the pushes showed.
#[derive(Debug)]
pub(super) enum Proof {
    /// The clean change went through, every bad one was refused with the reviewer's finding, and without a reviewer a clean one as well.
    Blocks {
        /// The hook that runs before the gate was left out, because it refuses the clean change; what it said.
        without_chain: Option<String>,
    },
    /// A bad ref alone is refused, between other ones it is not.
    SomeRefs,
    /// A bad branch is refused, but a push of another kind goes past the reviewer.
    Gap {
        /// Which, and what became of it.
        what: &'static str,
        /// What the hook said.
        said: String,
    },
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
            Proof::SomeRefs
            | Proof::Gap { .. }
            | Proof::LetThrough { .. }
            | Proof::Unasked { .. }
            | Proof::CleanRefused { .. }
            | Proof::TooLong { .. } => false,
        }
    }

    /// Returns what the hook said.
    pub(super) fn said(&self) -> &str {
        match self {
            Proof::Blocks { without_chain } => without_chain.as_deref().unwrap_or_default(),
            Proof::SomeRefs => "",
            Proof::Gap { said, .. }
            | Proof::LetThrough { said }
            | Proof::Unasked { said }
            | Proof::CleanRefused { said }
            | Proof::TooLong { said } => said,
        }
    }

    /// Returns what was seen, line by line.
    pub(super) fn seen(&self) -> Vec<String> {
        let mut seen: Vec<String> = Vec::new();
        let mut line = |line: &str| seen.push(line.to_owned());
        match self {
            Proof::Blocks { without_chain } => {
                let without = if without_chain.is_some() { "without it " } else { "" };
                if without_chain.is_some() {
                    line("✓ the hook that runs before the gate refuses a change in a throw-away repository already, and its refusal stands");
                }
                line(&format!("✓ {without}a clean change went through"));
                line(&format!("✓ {without}a bad change between clean ones was refused with the reviewer's finding, and nothing arrived"));
                line(&format!("✓ {without}a bad update of a branch was refused, and a tag on a bad change"));
                line(&format!("✓ {without}a change that only deletes a file was shown to the reviewer"));
                line(&format!("✓ {without}a clean change was refused while no reviewer answered"));
            }
            Proof::SomeRefs => {
                line("✓ a bad change alone was refused");
                line("✗ a bad change between clean ones went through");
            }
            Proof::Gap { what, .. } => {
                line("✓ a bad change between clean ones was refused with the reviewer's finding, and nothing arrived");
                line(&format!("✗ {what}"));
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
        Proof::CleanRefused { said } => said.clone(),
        Proof::Blocks { .. } | Proof::SomeRefs | Proof::Gap { .. } | Proof::LetThrough { .. } | Proof::Unasked { .. } | Proof::TooLong { .. } => {
            return Ok(proof);
        }
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
        Proof::SomeRefs
        | Proof::Gap { .. }
        | Proof::LetThrough { .. }
        | Proof::Unasked { .. }
        | Proof::CleanRefused { .. }
        | Proof::TooLong { .. } => Ok(proof),
    }
}

fn try_out(stage: &Stage) -> anyhow::Result<Proof> {
    stage.answer(true)?;
    let branch = stage.branch("clean", Change::Clean)?;
    match stage.push(std::slice::from_ref(&branch))? {
        Push::TooLong { said } => return Ok(Proof::TooLong { said }),
        Push::Refused { said, .. } => return Ok(Proof::CleanRefused { said }),
        Push::Arrived { .. } => {}
    }
    let three = [stage.branch("first", Change::Clean)?, stage.branch("second", Change::Bad)?, stage.branch("third", Change::Clean)?];
    match stage.push(&three)? {
        Push::Refused { by_finding: true, .. } => {}
        Push::TooLong { said } => return Ok(Proof::TooLong { said }),
        Push::Refused { said, by_finding: false } => return Ok(Proof::Unasked { said }),
        Push::Arrived { .. } => return alone(stage),
    }
    if let Some(gap) = refused(stage, &stage.update(&branch)?, "a bad update of a branch went through, or was not refused by the gate")? {
        return Ok(gap);
    }
    if let Some(gap) = refused(stage, &stage.tag("tagged")?, "a tag on a bad change went through, or was not refused by the gate")? {
        return Ok(gap);
    }
    match stage.push(&[stage.branch("less", Change::Deletion)?])? {
        Push::Arrived { asked: true, .. } => {}
        Push::TooLong { said } => return Ok(Proof::TooLong { said }),
        Push::Arrived { said, asked: false } => {
            return Ok(Proof::Gap { what: "a change that only deletes a file went through, and no reviewer was asked", said });
        }
        Push::Refused { said, .. } => return Ok(Proof::Gap { what: "a change that only deletes a file was refused", said }),
    }
    stage.answer(false)?;
    match stage.push(&[stage.branch("unseen", Change::Clean)?])? {
        Push::Refused { .. } => Ok(Proof::Blocks { without_chain: None }),
        Push::TooLong { said } => Ok(Proof::TooLong { said }),
        Push::Arrived { said, .. } => Ok(Proof::Gap { what: "while no reviewer answered, a change went through", said }),
    }
}

/// Tells what a bad ref on its own meets, where it came through among others.
fn alone(stage: &Stage) -> anyhow::Result<Proof> {
    match stage.push(&[stage.branch("alone", Change::Bad)?])? {
        Push::Refused { by_finding: true, .. } => Ok(Proof::SomeRefs),
        Push::Refused { said, by_finding: false } => Ok(Proof::Unasked { said }),
        Push::Arrived { said, .. } => Ok(Proof::LetThrough { said }),
        Push::TooLong { said } => Ok(Proof::TooLong { said }),
    }
}

/// Pushes a bad ref; `None` where it is refused with the reviewer's finding.
fn refused(stage: &Stage, name: &str, what: &'static str) -> anyhow::Result<Option<Proof>> {
    match stage.push(&[name.to_owned()])? {
        Push::Refused { by_finding: true, .. } => Ok(None),
        Push::TooLong { said } => Ok(Some(Proof::TooLong { said })),
        Push::Refused { said, by_finding: false } | Push::Arrived { said, .. } => Ok(Some(Proof::Gap { what, said })),
    }
}
