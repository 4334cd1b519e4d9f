//! What came of the run → the ledger's record. Exactly one a run.

use super::{Case, Run, view};
use crate::env::Env;
use crate::exit::{self, Code, ExitStatus};
use crate::ledger::{self, FindingRecord, RefName, ReviewerRecord, RunRecord, SubjectRecord, VerdictWord};
use crate::outcome::PassOutcome;
use crate::report::text::clean;
use crate::report::v1::Report;
use crate::verdict::{Basis, Word};

/// Variables by which other tools are switched off or weakened. They do nothing here; that they were set is recorded (threat T2).
const IGNORED: [&str; 8] =
    ["SKIP", "HUSKY", "LEFTHOOK", "PRE_COMMIT_ALLOW_NO_CONFIG", "GSD_REQUIRED", "REVIEW_GATE_SKIP", "NO_VERIFY", "SKIP_REVIEW"];

/// Builds the record.
pub(super) fn of(run: &Run<'_>, cases: &[Case], word: Word, code: Option<Code>, report: &Report) -> RunRecord {
    RunRecord {
        run_id: run.id.clone(),
        gate: env!("CARGO_PKG_VERSION").to_owned(),
        stage: run.request.name.to_owned(),
        verdict: exit::word(word),
        exit_code: code.map_or(0, |code| ExitStatus::refuse(code).code()),
        reasons: report.reasons.clone(),
        subjects: cases.iter().map(|case| subject(run, case, code, report)).collect(),
        usd: report.usd,
        ms: view::elapsed_ms(run),
        ignored_env: ignored(&run.context.env),
        omitted_findings: 0,
    }
}

fn ignored(env: &Env) -> Vec<String> {
    IGNORED.iter().filter(|name| env.os(name).is_some()).map(ToString::to_string).collect()
}

fn subject(run: &Run<'_>, case: &Case, code: Option<Code>, report: &Report) -> SubjectRecord {
    let tip = case.subject.refs.first();
    let verdict = exit::word(case.verdict().word());
    // What a run that was cut off says for a subject is no evidence; what it says against it is.
    let cut_off = matches!(code, Some(Code::Interrupted | Code::Terminated)) && verdict == VerdictWord::Pass;
    let text = |oid: Option<crate::change::Oid>| oid.map(|oid| oid.to_string());
    SubjectRecord {
        id: case.id.0.clone(),
        refs: refs(case),
        tier: case.sizing.name.to_string(),
        verdict,
        basis: basis(case),
        receipt_key: case.key.clone().filter(|_| !cut_off),
        change_digest: case.subject.change.digest().hex(),
        base_tree: text(case.subject.base_tree),
        tip_tree: text(case.subject.tip_tree),
        base: tip.and_then(|r| text(r.base)),
        tip: tip.and_then(|r| text(r.tip)),
        author: report.author.families.clone(),
        reviewers: case.passes.iter().map(|pass| reviewer(run, pass)).collect(),
        findings: case.findings.iter().map(|finding| finding_record(run, finding)).collect(),
    }
}

/// Lists the refs, of very many only the first: a line of the ledger has its limit, and an override is for one ref in any case.
fn refs(case: &Case) -> Vec<RefName> {
    const MOST: usize = 100;
    let mut refs: Vec<RefName> = case.refs.iter().take(MOST).cloned().collect();
    if case.refs.len() > MOST {
        refs.push(RefName { remote: String::new(), remote_ref: format!("and {} more", case.refs.len() - MOST) });
    }
    refs
}

/// Says what the verdict rests on. Only `Reviewed` leaves a receipt, so everything less must say so.
fn basis(case: &Case) -> ledger::Basis {
    match &case.basis {
        Some(Basis::Nothing) => ledger::Basis::Nothing,
        Some(Basis::Overridden(id)) => ledger::Basis::Override(id.clone()),
        Some(Basis::Receipt(seq)) => ledger::Basis::Receipt(*seq),
        Some(Basis::Judged(_)) | None if case.passes.is_empty() && case.verdict().word() == Word::Unavailable => ledger::Basis::Unreviewed,
        Some(Basis::Judged(_)) | None if case.passes.is_empty() => ledger::Basis::Checked,
        Some(Basis::Judged(_)) | None => {
            let answered = case.passes.iter().all(|pass| matches!(pass.outcome, PassOutcome::Reviewed(_)));
            if case.is_advisory() {
                ledger::Basis::Advisory
            } else if !answered {
                ledger::Basis::Unreviewed
            } else if case.passes.iter().any(|pass| pass.degraded) {
                ledger::Basis::Degraded
            } else {
                ledger::Basis::Reviewed
            }
        }
    }
}

fn reviewer(run: &Run<'_>, pass: &crate::outcome::PassResult) -> ReviewerRecord {
    let spec = pass.reviewer.map(|index| &run.specs[index]);
    let text = |of: fn(&crate::reviewer::Spec) -> String| spec.map(of).unwrap_or_default();
    ReviewerRecord {
        pass: pass.name.clone(),
        provider: text(|spec| spec.provider.as_str().to_owned()),
        model: text(|spec| spec.model.clone()),
        family: text(|spec| spec.family.to_string()),
        outcome: pass.outcome.as_str().to_owned(),
        class: pass.outcome.fault().map(|fault| fault.class.to_string()),
    }
}

fn finding_record(run: &Run<'_>, finding: &crate::finding::Finding) -> FindingRecord {
    FindingRecord {
        id: finding.id.clone(),
        severity: finding.claim.severity.to_string(),
        rule: clean(&run.redactor.clean(&finding.claim.rule)),
        path: finding.path.as_ref().map(ToString::to_string).unwrap_or_default(),
        line: finding.line,
        title: clean(&run.redactor.clean(&finding.claim.title)),
        status: finding.status.as_str().to_owned(),
    }
}
