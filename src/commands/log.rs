//! `log show`, `log verify`: the ledger for people.

use super::Context;
use crate::cli::{LogArgs, LogVerb};
use crate::error::GateError;
use crate::exit::{Code, Told};
use crate::ledger::{self, History};

/// Shows or verifies the ledger. Reading it verifies the whole chain either way.
///
/// # Errors
/// Status 14 where a record is not what was written.
pub(super) fn run(context: &Context, args: &LogArgs) -> Result<Told, GateError> {
    let repo = context.repo()?;
    let history = History::read(repo.common_dir()).map_err(|error| GateError::new(Code::Ledger, error))?;
    let text = match args.verb.unwrap_or(LogVerb::Show) {
        LogVerb::Show => history.records().iter().map(|record| format!("{}\n", ledger::describe(record))).collect(),
        LogVerb::Verify => {
            let report = history.report();
            let head = report.head.map(|head| format!(", head {}", &head[..12])).unwrap_or_default();
            let records = if report.records == 1 { "record" } else { "records" };
            format!("{}: {} {records}, the chain is whole{head}\n", report.path.display(), report.records)
        }
    };
    context.printer.result(text.as_bytes());
    Ok(Told)
}
