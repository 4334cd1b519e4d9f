//! `diff`: the change as git would print it, with full ids. Reads, never judges; no network.

use super::Context;
use super::hook::read_lines;
use super::run::{options, selector};
use crate::change::patch::{self, Style};
use crate::cli::{DiffArgs, StageName};
use crate::error::GateError;
use crate::exit::Told;
use crate::git::{FrameworkPush, Selector, parse_lines};

/// How much text, in bytes, is put together before it is printed: the change is in memory once, not twice.
const PIECE: usize = 1 << 20;

/// Prints the change of every subject, one after the other.
///
/// # Errors
/// What cannot be read, with its status.
pub(super) fn run(context: &Context, args: &DiffArgs) -> Result<Told, GateError> {
    let repo = context.repo()?;
    let options = options(context, &repo, &args.selector.files, !args.no_renames)?;
    let text = |index: usize| args.remote.get(index).map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default();
    let selected = match args.stage {
        None => repo.select(&selector(&args.selector)?, &options)?,
        Some(StageName::PreCommit) => repo.select(&Selector::Staged, &options)?,
        Some(StageName::PrePush) => {
            let lines = parse_lines(&read_lines()?).map_err(GateError::usage)?;
            match FrameworkPush::of(&context.env).filter(|_| lines.is_empty()) {
                Some(push) => repo.framework(&push, &options)?,
                None => repo.pushed(&lines, &text(0), &text(1), &options)?,
            }
        }
    };
    selected.notes.iter().for_each(|note| context.printer.say(&format!("note: {note}")));
    let mut out = Vec::new();
    for file in selected.subjects.iter().flat_map(|subject| &subject.change.files) {
        patch::file(file, Style::Git, &mut out);
        if out.len() >= PIECE {
            context.printer.result(&out);
            out.clear();
        }
    }
    context.printer.result(&out);
    Ok(Told)
}
