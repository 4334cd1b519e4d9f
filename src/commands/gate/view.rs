//! What came of the run → the report. Nothing is decided here.

use super::{Case, Run};
use crate::author::Kind;
use crate::clock;
use crate::config::Stage;
use crate::error::GateError;
use crate::exit::{Code, ExitStatus};
use crate::finding::{Finding, Severity, Status};
use crate::outcome::{Attempt, PassOutcome, PassResult};
use crate::random;
use crate::report::v1;
use crate::reviewer::{Class, Price, Usage};
use crate::verdict::{self, About, Basis, Ground, Reason, Word};
use std::time::Duration;

/// Builds the report. `code` is `None` where the run is accepted; `waited` is the time that reviewers took.
pub(super) fn report(run: &Run<'_>, cases: &[Case], word: Word, code: Option<Code>, waited: Duration) -> v1::Report {
    let verdicts: Vec<_> = cases.iter().map(Case::verdict).collect();
    let mut reasons: Vec<_> = verdicts.iter().flat_map(|verdict| verdict.reasons()).collect();
    reasons.sort();
    reasons.dedup();
    let codes: Vec<String> = reasons.iter().map(|reason| reason.ground.reason().to_owned()).collect();
    let findings: Vec<v1::Finding> = cases.iter().flat_map(|case| case.findings.iter().map(|one| finding(run, one))).collect();
    let total = run.started.elapsed();
    v1::Report {
        schema: v1::SCHEMA,
        gate: env!("CARGO_PKG_VERSION"),
        run_id: run.id.clone(),
        started: run.now.to_string(),
        verdict: word.to_string(),
        exit_code: code.map_or(0, |code| ExitStatus::refuse(code).code()),
        reasons: if codes.is_empty() || is_interrupt(code) { vec![settled(cases, code)] } else { dedup(codes) },
        explanations: explanations(&reasons, &findings).iter().map(|text| run.redactor.clean(text)).collect(),
        author: author(run),
        subjects: cases.iter().zip(&verdicts).map(|(case, verdict)| subject(run, case, verdict.word())).collect(),
        deletions: run.request.selected.deletions.iter().map(ToString::to_string).collect(),
        notes: notes(run, cases),
        ineligible: ineligible(run, cases),
        counts: counts(cases, &findings),
        findings,
        timing: v1::Timing { total_ms: millis(total), overhead_ms: millis(total.saturating_sub(waited)) },
        usd: cases.iter().flat_map(|case| &case.passes).fold(0.0, |sum, pass| sum + usd(run, pass)),
    }
}

/// Builds the report of a run that an error ended before there was anything to judge.
pub(super) fn of_error(error: &GateError) -> v1::Report {
    let code = error.code();
    v1::Report {
        schema: v1::SCHEMA,
        gate: env!("CARGO_PKG_VERSION"),
        run_id: random::hex128(),
        started: clock::now_utc().to_string(),
        verdict: if code == Code::NeedsHuman { Word::NeedsHuman } else { Word::Error }.to_string(),
        exit_code: ExitStatus::refuse(code).code(),
        reasons: vec![reason_of(code).to_owned()],
        explanations: vec![error.to_string()],
        ..v1::Report::default()
    }
}

/// Returns the reason code of an error by its status.
fn reason_of(code: Code) -> &'static str {
    match code {
        Code::Fail => Ground::Finding.reason(),
        Code::Usage => Ground::Config.reason(),
        Code::NeedsHuman => Ground::NeedsHuman.reason(),
        Code::NotServed => Ground::NotServed.reason(),
        Code::DefaultHost => Ground::DefaultHost.reason(),
        Code::Auth => Ground::Auth.reason(),
        Code::Unavailable => Ground::Unavailable.reason(),
        Code::Declined => Ground::Declined.reason(),
        Code::Budget => Ground::Budget.reason(),
        Code::Ledger => Ground::Ledger.reason(),
        Code::Integrity => Ground::Integrity.reason(),
        Code::Secret => Ground::Secret.reason(),
        Code::Override => Ground::Override.reason(),
        Code::Internal => Ground::Internal.reason(),
        Code::Interrupted | Code::Terminated => verdict::INTERRUPTED,
    }
}

/// The reasons in words. Passes and findings are shown in full elsewhere, so here they are only counted.
fn explanations(reasons: &[&Reason], findings: &[v1::Finding]) -> Vec<String> {
    let count = |number: usize, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    };
    let blocking = findings.iter().filter(|finding| finding.status == Status::Blocking.as_str()).count();
    let missing = reasons.iter().filter(|reason| reason.about == About::Pass).count();
    let counted =
        [count(blocking, "finding blocks", "findings block"), count(missing, "mandatory pass has no answer", "mandatory passes have no answer")];
    let rest = reasons.iter().filter(|reason| reason.about == About::Subject).map(|reason| reason.text.clone());
    counted.into_iter().flatten().chain(rest).collect()
}

/// The reason code of a run that nothing speaks against.
fn settled(cases: &[Case], code: Option<Code>) -> String {
    let all = |is: fn(&Basis) -> bool| !cases.is_empty() && cases.iter().all(|case| case.basis.as_ref().is_some_and(is));
    let word = match code {
        Some(_) => verdict::INTERRUPTED,
        None if cases.is_empty() || all(|basis| matches!(basis, Basis::Nothing)) => verdict::NOTHING,
        None if cases.iter().any(|case| matches!(case.basis, Some(Basis::Overridden(_)))) => verdict::OVERRIDDEN,
        None => verdict::CLEAN,
    };
    word.to_owned()
}

fn is_interrupt(code: Option<Code>) -> bool {
    matches!(code, Some(Code::Interrupted | Code::Terminated))
}

fn dedup(mut codes: Vec<String>) -> Vec<String> {
    codes.dedup();
    codes
}

fn author(run: &Run<'_>) -> v1::Author {
    let families = match run.author.kind() {
        Kind::Known => run.author.families().iter().map(ToString::to_string).collect(),
        Kind::Human => vec!["human".to_owned()],
        Kind::Unknown => vec!["unknown".to_owned()],
    };
    v1::Author { families, evidence: run.author.evidence().to_vec() }
}

fn notes(run: &Run<'_>, cases: &[Case]) -> Vec<String> {
    let mut notes = run.request.selected.notes.clone();
    cases.iter().for_each(|case| notes.extend(case.notes.iter().cloned()));
    if run.author.kind() == Kind::Unknown && cases.iter().any(|case| case.plan.is_some()) {
        notes.push("the author is unknown; set `author` in your configuration if you know".to_owned());
    }
    if run.request.narrowed {
        notes.push("only what `--file` names was looked at; the review of anything else is still to come, and no receipt is left".to_owned());
    }
    notes.sort();
    notes.dedup();
    notes.iter().map(|note| run.redactor.clean(note)).collect()
}

fn ineligible(run: &Run<'_>, cases: &[Case]) -> Vec<String> {
    let mut all = run.unusable.clone();
    for plan in cases.iter().filter_map(|case| case.plan.as_ref()) {
        all.extend(plan.ineligible.iter().map(|one| one.why.clone()));
    }
    all.sort();
    all.dedup();
    all
}

fn subject(run: &Run<'_>, case: &Case, word: Word) -> v1::Subject {
    let change = &case.subject.change;
    let (added, deleted) = change.counts();
    let optional = |oid: Option<crate::change::Oid>| oid.map(|oid| oid.to_string()).unwrap_or_default();
    let refs = case.subject.refs.iter().map(|r| v1::Ref {
        local_ref: r.local_ref.to_string(),
        remote_ref: r.remote_ref.to_string(),
        tip: optional(r.tip),
        base: optional(r.base),
        base_source: r.base_source.as_str(),
        force: r.force,
    });
    v1::Subject {
        id: case.id.0.clone(),
        refs: refs.collect(),
        verdict: word.to_string(),
        tier: v1::Tier {
            name: case.sizing.name.to_string(),
            reason: case.sizing.reason.clone(),
            floors: case.sizing.floors.iter().map(ToString::to_string).collect(),
        },
        change: v1::Change { files: change.files.len(), added, deleted, digest: format!("sha256:{}", change.digest()) },
        coverage: coverage(run, case),
        passes: case.passes.iter().map(|result| pass(run, case, result)).collect(),
        verifier: "SKIPPED",
        criteria: Vec::new(),
        assumptions: Vec::new(),
        receipt: v1::Receipt { hit: matches!(case.basis, Some(Basis::Receipt(_))) },
        overridden: case.overridden.as_ref().map(|made| v1::Override {
            id: made.id.clone(),
            reason: made.reason.clone(),
            expires: made.expires.to_string(),
        }),
    }
}

/// Puts every changed path into one of the two lists.
fn coverage(run: &Run<'_>, case: &Case) -> v1::Coverage {
    let mut coverage = v1::Coverage { complete: true, ..v1::Coverage::default() };
    for (path, why) in case.coverage.account(case.asked()) {
        let path = run.redactor.clean(&path.to_string());
        match why {
            None => coverage.reviewed.push(path),
            Some(why) => {
                coverage.complete &= !why.is_missing();
                coverage.not_reviewed.push(v1::NotReviewed { path, reason: why.as_str() });
            }
        }
    }
    coverage
}

fn pass(run: &Run<'_>, case: &Case, result: &PassResult) -> v1::Pass {
    let spec = result.reviewer.map(|index| &run.specs[index]);
    let text = |of: fn(&crate::reviewer::Spec) -> String| spec.map(of).unwrap_or_default();
    let fault = result.outcome.fault();
    v1::Pass {
        name: result.name.clone(),
        reviewer: text(|spec| spec.name.clone()),
        provider: text(|spec| spec.provider.as_str().to_owned()),
        family: text(|spec| spec.family.to_string()),
        model: text(|spec| spec.model.clone()),
        model_reported: result.model_reported.as_ref().map(|model| run.redactor.clean(model)),
        outcome: result.outcome.as_str().to_owned(),
        class: fault.map(|fault| fault.class.to_string()),
        message: fault.map(|fault| run.redactor.clean(&message(run, &result.outcome, fault.class, &fault.detail)) + &kept(case, result)),
        degraded: result.degraded,
        cached_slices: 0,
        attempts: result.attempts.iter().map(|one| attempt(run, one)).collect(),
        ms: millis(result.took),
        tokens: v1::Tokens { input: result.usage.input, cached: result.usage.cached, output: result.usage.output },
        usd: usd(run, result),
    }
}

/// Names the file that holds the reply of a pass, where one was kept.
fn kept(case: &Case, result: &PassResult) -> String {
    let file = case.raw.iter().find(|(pass, _)| *pass == result.name);
    file.map(|(_, path)| format!("; the reply is kept at {}", path.display())).unwrap_or_default()
}

/// Says what a pass without an answer means, and what would mend it.
fn message(run: &Run<'_>, outcome: &PassOutcome, class: Class, detail: &str) -> String {
    if class == Class::Deadline
        && let Some(remedy) = ahead_of_the_push(run)
    {
        return format!("{}: {detail}; {remedy}", outcome.as_str());
    }
    let remedy = match class {
        Class::Unreachable | Class::CutStream => "is the reviewer's host up?",
        Class::RateLimited => "wait, or add a second reviewer",
        Class::Quota => "the account has no quota left: top it up, or use another reviewer",
        Class::Auth => "set or mend the key that the entry names",
        Class::NotServed => "check `model` against what the host serves",
        Class::AuthorFamily => "the host serves a model of the author's family under this name",
        Class::BadConfig => "the host rejects the request: check the entry",
        Class::TooLarge => "split the push, or add a reviewer with a larger window",
        Class::Truncated => "raise `max_tokens`, or split the push",
        Class::Malformed | Class::Contradiction => "the model does not keep the reply contract: use a stronger one",
        Class::Declined => "the model declined: add a reviewer of another family",
        Class::Deadline => "raise the deadline, split the push, or use a faster reviewer",
    };
    format!("{}: {detail}; {remedy}", outcome.as_str())
}

/// Names the way to a longer deadline: a push cannot wait long, because the connection to the remote idles meanwhile (case P44), and a review ahead of it can.
fn ahead_of_the_push(run: &Run<'_>) -> Option<String> {
    let is_longer = run.request.stage == Stage::Push && run.user.deadline > run.user.push_deadline;
    let seconds = run.user.deadline.as_secs();
    is_longer.then(|| format!("run `review-gate run --push` first, which may take {seconds} s, then push: it asks nobody again"))
}

fn attempt(run: &Run<'_>, attempt: &Attempt) -> v1::Attempt {
    v1::Attempt {
        reviewer: run.specs[attempt.reviewer].name.clone(),
        class: attempt.class.map(|class| class.to_string()),
        message: run.redactor.clean(&attempt.detail),
        ms: millis(attempt.took),
    }
}

/// Every word of a reviewer or a server goes through the redactor, string by string: masking a rendered report could cut through its form.
fn finding(run: &Run<'_>, finding: &Finding) -> v1::Finding {
    let claim = &finding.claim;
    let clean = |text: &String| run.redactor.clean(text);
    v1::Finding {
        id: finding.id.clone(),
        subject: finding.subject.0.clone(),
        severity: claim.severity.to_string(),
        rule: clean(&claim.rule),
        file: finding.path.as_ref().map_or_else(|| clean(&claim.file), ToString::to_string),
        line: finding.line,
        title: clean(&claim.title),
        issue: clean(&claim.issue),
        cause: clean(&claim.cause),
        failing_case: clean(&claim.failing_case),
        evidence: clip(&clean(&claim.evidence)),
        provenance: claim.provenance.as_str(),
        confidence: clean(&claim.confidence),
        fix: clean(&claim.fix),
        proof: clean(&claim.proof),
        sources: finding.sources.clone(),
        status: finding.status.as_str(),
        note: finding.note.as_ref().map(clean),
    }
}

/// Evidence is kept whole to be found again; a report shows so much of it, and says so.
fn clip(text: &str) -> String {
    const MOST: usize = 4096;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}\n… [{} more bytes]", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

fn counts(cases: &[Case], findings: &[v1::Finding]) -> v1::Counts {
    let severe = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity.as_str()).count();
    let status = |status: Status| findings.iter().filter(|finding| finding.status == status.as_str()).count();
    v1::Counts {
        critical: severe(Severity::Critical),
        high: severe(Severity::High),
        medium: severe(Severity::Medium),
        low: severe(Severity::Low),
        deduped: cases.iter().map(|case| case.deduped).sum(),
        refuted: status(Status::Refuted),
        waived: status(Status::Waived),
    }
}

fn usd(run: &Run<'_>, pass: &PassResult) -> f64 {
    pass.attempts.iter().fold(0.0, |sum, attempt| sum + price(run.specs[attempt.reviewer].price, attempt.usage))
}

/// Cached prompt tokens are part of the prompt tokens and cost their own price.
fn price(price: Price, usage: Usage) -> f64 {
    let fresh = usage.input.saturating_sub(usage.cached);
    (fresh as f64 * price.input + usage.cached as f64 * price.cached + usage.output as f64 * price.output) / 1e6
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns how long the run has taken so far, in milliseconds.
pub(super) fn elapsed_ms(run: &Run<'_>) -> u64 {
    millis(clock::instant().saturating_duration_since(run.started))
}
