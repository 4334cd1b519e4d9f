//! The refuter: each finding that would block is put to one fresh call before it may. Its word counts only with evidence that is found (`finding::merge`).

use super::{Finished, Interrupted, Job, Session, side_by_side};
use crate::change::Change;
use crate::clock::Deadline;
use crate::finding::anchor;
use crate::finding::merge::{Placed, Refuted};
use crate::finding::{Finding, Severity};
use crate::plan::Link;
use crate::reply::{self, Refutation};
use crate::reviewer::Question;

/// Calls that one run makes at most; claims beyond it stand unrefuted. The worst come first.
const MAX_CALLS: usize = 24;

/// Asks about each claim of the findings, side by side, and says what the refuter answered of each finding, in the same order.
///
/// # Errors
/// [`Interrupted`] where `stop` says so.
pub fn refute(
    session: &Session,
    change: &Change,
    chain: &[Link],
    findings: &[&Placed],
    bar: Severity,
    deadline: Deadline,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Refuted>, Interrupted> {
    let questions: Vec<(usize, Finding)> =
        findings.iter().enumerate().flat_map(|(index, placed)| claims_of(placed, bar).map(move |one| (index, one))).collect();
    let jobs = questions.iter().take(MAX_CALLS).map(|(_, finding)| job(session, chain, finding)).collect();
    let answers: Vec<Refuted> = side_by_side(session, jobs, deadline, stop)?.into_iter().map(|finished| judge(finished, change)).collect();
    let over = || Refuted::NoAnswer(format!("only {MAX_CALLS} claims are put to it in one run"));
    let mut by_finding: Vec<Vec<Refuted>> = findings.iter().map(|_| Vec::new()).collect();
    let mut answers = answers.into_iter();
    for (index, _) in questions {
        by_finding[index].push(answers.next().unwrap_or_else(over));
    }
    Ok(by_finding.into_iter().map(Refuted::join).collect())
}

/// Returns a finding once for each claim merged into it that is grave enough to block, with that claim's own words.
fn claims_of(placed: &Placed, bar: Severity) -> impl Iterator<Item = Finding> {
    placed.claims.iter().filter(move |claim| claim.severity >= bar).map(|claim| Finding { claim: claim.clone(), ..placed.finding.clone() })
}

fn job(session: &Session, chain: &[Link], finding: &Finding) -> Job<Refutation> {
    let (script, batches, finding) = (session.script.clone(), session.batches.clone(), finding.clone());
    let batch = batch_of(&batches, &finding);
    Job {
        pass: "refuter".to_owned(),
        chain: chain.to_vec(),
        question: Box::new(move |nonce| Question {
            system: script.system.clone(),
            shared: batches[batch].shared.clone(),
            brief: (script.refuter)(&finding, &batches[batch].slices, nonce),
            schema: script.refuter_schema,
            max_tokens: 0,
        }),
        read: Box::new(reply::refutation),
        salvage: Box::new(|_, _| Vec::new()),
    }
}

/// Finds the part of the change that shows what the finding is about: its evidence, else its file. A refuter that is shown another part would honestly say that
/// there is no such line.
fn batch_of(batches: &[super::Batch], finding: &Finding) -> usize {
    let holds_file = |batch: &super::Batch| finding.path.as_ref().is_none_or(|path| batch.files.contains(path));
    let lines: Vec<&str> = finding.claim.evidence.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown = |batch: &super::Batch| lines.iter().filter(|line| batch.shared.as_str().contains(**line)).count();
    let best = |candidates: Vec<usize>| candidates.into_iter().rev().max_by_key(|index| shown(&batches[*index]));
    best((0..batches.len()).filter(|index| holds_file(&batches[*index])).collect()).or_else(|| best((0..batches.len()).collect())).unwrap_or(0)
}

fn judge(finished: Finished<Refutation>, change: &Change) -> Refuted {
    match finished.result {
        Err(fault) => Refuted::NoAnswer(format!("{}: {}", fault.class, fault.detail)),
        Ok(answer) => {
            let found = anchor::is_found(&answer.file, &answer.evidence, change) && (!answer.refuted || anchor::is_weighty(&answer.evidence));
            if answer.refuted { Refuted::Yes { why: answer.why, found } } else { Refuted::No { why: answer.why, found } }
        }
    }
}
