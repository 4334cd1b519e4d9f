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
/// Status 17 for a reason without substance or a wrong lifetime, 2 where there is no subject to override, 14 where it cannot be recorded.
pub fn run(context: &Context, args: &OverrideArgs) -> Result<Told, GateError> {
    let invalid = |error| GateError::new(Code::Override, error);
    let reason = Reason::parse(&args.reason).map_err(invalid)?;
    let lives = Lifetime::parse(&args.expires).map_err(invalid)?;
    let repo = context.repo()?;
    let failed = |error| GateError::new(Code::Ledger, error);
    let mut ledger = Ledger::open(repo.common_dir()).map_err(failed)?;
    let now = clock::now_utc();
    let (subject, label) = match &args.subject {
        Some(id) => (SubjectId(id.trim().to_owned()), String::new()),
        None => {
            let refused = ledger.history().last_refused(now);
            let none = || {
                GateError::usage("no refused subject is waiting for an override").hinted("name one with --subject; `review-gate log` shows the runs")
            };
            refused.map(|refused| (refused.subject, format!(" ({})", refused.label))).ok_or_else(none)?
        }
    };
    let made = ledger.add_override(&subject, None, &reason, lives, now).map_err(failed)?;
    context.printer.result(
        format!("override {} lets subject {subject}{label} through to the first ref it is pushed to, until {}\n", made.id, made.expires).as_bytes(),
    );
    Ok(Told)
}
