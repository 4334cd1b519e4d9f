//! `override`: a person lets one subject through, with a reason of substance, and it is written down before it holds.

use super::Context;
use crate::change::subject::SubjectId;
use crate::cli::OverrideArgs;
use crate::clock;
use crate::error::GateError;
use crate::exit::{Code, Told};
use crate::ledger::{Ledger, Lifetime, Reason};

/// Records an override. By default for the subject last refused.
///
/// # Errors
/// Status 17 for a reason without substance, a wrong lifetime or a subject that no run refused, 14 where it cannot be recorded.
pub fn run(context: &Context, args: &OverrideArgs) -> Result<Told, GateError> {
    let invalid = |error| GateError::new(Code::Override, error);
    let reason = Reason::parse(&args.reason).map_err(invalid)?;
    let lives = Lifetime::parse(&args.expires).map_err(invalid)?;
    let repo = context.repo()?;
    let failed = |error| GateError::new(Code::Ledger, error);
    let mut ledger = Ledger::open(repo.common_dir()).map_err(failed)?;
    let now = clock::now_utc();
    let refused = match &args.subject {
        Some(id) => ledger.history().refused(&SubjectId(id.trim().to_owned())),
        None => ledger.history().last_refused(now),
    };
    let refused = refused.ok_or_else(|| nothing_refused(args.subject.as_deref()))?;
    let made = ledger.add_override(&refused.subject, refused.place, &reason, lives, now).map_err(failed)?;
    let place = made.bound.as_ref().map_or_else(|| "the first ref that it is pushed to".to_owned(), ToString::to_string);
    context.printer.result(format!("override {} lets subject {} through to {place} until {}\n", made.id, made.subject, made.expires).as_bytes());
    Ok(Told)
}

fn nothing_refused(subject: Option<&str>) -> GateError {
    let what = subject.map_or_else(|| "no refused subject is waiting for an override".to_owned(), |id| format!("no run refused the subject {id}"));
    GateError::new(Code::Override, anyhow::anyhow!(what)).hinted("an override is for something that was refused; `review-gate log` shows the runs")
}
