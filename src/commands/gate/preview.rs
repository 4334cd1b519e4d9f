//! What a run would do, without doing it: who would be asked what, under which tier. Asks nobody and writes nothing.

use super::{Request, Run, ask, case};
use crate::change::subject::Subject;
use crate::clock;
use crate::commands::Context;
use crate::config::User;
use crate::error::GateError;
use crate::exit::{Code, ExitStatus, Told};
use crate::git::Repo;
use crate::plan::PassName;
use crate::prompts::Mark;
use crate::random;
use crate::report::text;
use crate::tier::Sizing;
use crate::verdict::Reason;

/// Says what would be asked of whom; asks nobody and writes nothing (requirement D09).
///
/// # Errors
/// As [`gate`], but for the ledger.
pub(in crate::commands) fn dry_run(context: &Context, repo: &Repo, user: &User, request: Request) -> Result<Told, GateError> {
    let run = Run::begin(context, repo, user, request)?;
    let mut said = String::new();
    for case in run.cases()? {
        let (added, deleted) = case.subject.change.counts();
        said += &format!("{}: {} ({} changed, +{added} -{deleted})\n", case.subject.label(), case.sizing, case.subject.change.files.len());
        let refusal = |reason: &Reason| format!("  would refuse ({}): {}\n", ExitStatus::refuse(reason.ground.into()), reason.text);
        said += &case.reasons.iter().map(refusal).collect::<String>();
        said += &case.notes.iter().map(|note| format!("  note: {note}\n")).collect::<String>();
        for pass in case.plan.iter().filter(|_| case.reasons.is_empty()).flat_map(|plan| &plan.passes) {
            let chain: Vec<String> = pass.chain.iter().map(|link| run.specs[link.reviewer].name.clone()).collect();
            said += &format!("  {}: {}\n", pass.name, chain.join(", then "));
        }
    }
    context.printer.result(text::lines(&said).as_bytes());
    Ok(Told)
}

/// Sizes a subject under the policies that speak for it, for the verb `tier`.
///
/// # Errors
/// A policy that cannot be read.
pub(in crate::commands) fn sizing(context: &Context, repo: &Repo, subject: &Subject) -> Result<Sizing, GateError> {
    case::sizing(context, repo, subject, clock::now_utc())
}

/// Returns exactly what would be sent, for the verb `prompt`: the standing instructions, then each part with the brief of each pass. The nonce is made anew for
/// every call, so here it is another than in a run.
///
/// # Errors
/// As [`gate`], but for the ledger; status 2 where no pass is of the name.
pub(in crate::commands) fn prompts(context: &Context, repo: &Repo, user: &User, request: Request, only: Option<&str>) -> Result<String, GateError> {
    let run = Run::begin(context, repo, user, request)?;
    let mut text = String::new();
    for case in run.cases()? {
        let refused = |reason: &Reason| GateError::new(Code::from(reason.ground), anyhow::anyhow!("{}", reason.text));
        let Some(plan) = &case.plan else { return Err(case.reasons.first().map_or_else(|| GateError::internal("no plan and no reason"), refused)) };
        let names: Vec<PassName> = plan.passes.iter().map(|pass| pass.name).filter(|name| only.is_none_or(|only| only == name.as_str())).collect();
        if let (Some(only), true) = (only, names.is_empty()) {
            let known: Vec<&str> = plan.passes.iter().map(|pass| pass.name.as_str()).collect();
            return Err(GateError::usage(format!("--pass {only}: no such pass at tier {}", case.sizing.name))
                .hinted(format!("there are: {}", known.join(", "))));
        }
        case.reasons.iter().for_each(|reason| context.printer.error(&text::clean(&format!("nothing of this would be sent: {}", reason.text))));
        let briefing = ask::briefing(&case, ask::capacity(plan, &run.specs), &run.redactor).map_err(|reason| refused(&reason))?;
        for batch in &briefing.batches {
            for name in &names {
                let nonce = Mark::new(random::bits128());
                let brief = (briefing.script.brief)(*name, &batch.slices, &nonce);
                let parts = [("system", &briefing.script.system), ("shared", &batch.shared), ("brief", &brief)];
                text += &parts.iter().map(|(part, words)| format!("===== {name}: {part}\n{}\n", words.as_str())).collect::<String>();
            }
        }
    }
    Ok(text)
}
