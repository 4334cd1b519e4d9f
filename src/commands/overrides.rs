//! `override`: a person lets one subject through, with a reason of substance, and it is written down before it holds.

use super::Context;
use crate::change::subject::SubjectId;
use crate::cli::OverrideArgs;
use crate::clock::{self, Timestamp};
use crate::error::GateError;
use crate::exit::{Code, Told};
use crate::ledger::{History, Ledger, Lifetime, Override, Reason, Refused, Waiting};

/// Records an override. By default for the subject last refused.
///
/// # Errors
/// Status 17 for a reason without substance, a wrong lifetime or a subject that no run refused, 14 where it cannot be recorded.
pub(super) fn run(context: &Context, args: &OverrideArgs) -> Result<Told, GateError> {
    let invalid = |error| GateError::new(Code::Override, error);
    let reason = Reason::parse(&args.reason).map_err(invalid)?;
    let lives = Lifetime::parse(&args.expires).map_err(invalid)?;
    let repo = context.repo()?;
    let failed = |error| GateError::new(Code::Ledger, error);
    let mut ledger = Ledger::open(repo.common_dir()).map_err(failed)?;
    let now = clock::now_utc();
    let refused = match &args.subject {
        Some(id) => named(ledger.history(), id, now)?,
        None => waiting(ledger.history(), now)?,
    };
    let made = ledger.add_override(&refused.subject, refused.place, &reason, lives, now).map_err(failed)?;
    context.printer.result(format!("{}\n", sentence(&made)).as_bytes());
    Ok(Told)
}

fn named(history: &History, id: &str, now: Timestamp) -> Result<Refused, GateError> {
    history.refused(&SubjectId(id.trim().to_owned()), now).ok_or_else(|| {
        GateError::new(Code::Override, anyhow::anyhow!("no run refused the subject {id}"))
            .hinted("`review-gate log` shows each run with its subjects")
    })
}

fn waiting(history: &History, now: Timestamp) -> Result<Refused, GateError> {
    let nothing = "no refused subject is waiting for an override";
    match history.waiting(now) {
        Waiting::For(refused) => Ok(refused),
        Waiting::Covered(made) => Err(GateError::new(Code::Override, anyhow::anyhow!("{nothing}: {}", sentence(&made)))
            .hinted("for another subject, or another one for this, name it with `--subject ID`; `review-gate log` shows the ids")),
        Waiting::Nothing => Err(GateError::new(Code::Override, anyhow::anyhow!(nothing))
            .hinted("an override is for something that was refused; `review-gate log` shows the runs")),
    }
}

fn sentence(made: &Override) -> String {
    let place = made.bound.as_ref().map_or_else(|| "the first ref that it is pushed to".to_owned(), ToString::to_string);
    format!("override {} lets subject {} through to {place} until {:.0}", made.id, made.subject, made.expires)
}
