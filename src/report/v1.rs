//! The report, version 1: the one view model that every format renders, and the public shape of the JSON (`review-gate/report/v1`).
//!
//! Plain text and numbers: whoever fills it in has already taken secrets out and turned paths into their display form.

use serde::Serialize;

/// The name of this shape.
pub const SCHEMA: &str = "review-gate/report/v1";

/// A whole run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The gate's version.
    pub gate: &'static str,
    /// Unguessable, 32 hex digits.
    pub run_id: String,
    /// When the run began, RFC 3339.
    pub started: String,
    /// `pass`, `fail`, `needs-human`, `unavailable`, `error`.
    pub verdict: String,
    /// The status of the process.
    pub exit_code: u8,
    /// Reason codes, `RG000` for a clean pass.
    pub reasons: Vec<String>,
    /// The same in words, the gravest first.
    pub explanations: Vec<String>,
    /// Who wrote the change.
    pub author: Author,
    /// What was judged.
    pub subjects: Vec<Subject>,
    /// Refs whose deletion is pushed; not reviewed.
    pub deletions: Vec<String>,
    /// Remarks about what could not be known or was ignored.
    pub notes: Vec<String>,
    /// Reviewers that were not eligible, and why.
    pub ineligible: Vec<String>,
    /// Everything that was found.
    pub findings: Vec<Finding>,
    /// Findings by severity and fate.
    pub counts: Counts,
    /// Milliseconds.
    pub timing: Timing,
    /// What the run cost.
    pub usd: f64,
}

/// Who wrote the change.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Author {
    /// Families, or `human`, or `unknown`.
    pub families: Vec<String>,
    /// What tells so.
    pub evidence: Vec<String>,
}

/// One subject.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Subject {
    /// What an override names.
    pub id: String,
    /// Where it would go.
    pub refs: Vec<Ref>,
    /// As for the run.
    pub verdict: String,
    /// How much scrutiny, and why.
    pub tier: Tier,
    /// Its size.
    pub change: Change,
    /// What was looked at.
    pub coverage: Coverage,
    /// The passes, in order.
    pub passes: Vec<Pass>,
    /// `SKIPPED` until a specification is given.
    pub verifier: &'static str,
    /// The verifier's criteria.
    pub criteria: Vec<String>,
    /// The verifier's assumptions.
    pub assumptions: Vec<String>,
    /// Whether a stored pass covered it.
    pub receipt: Receipt,
    /// The override that let it through.
    #[serde(rename = "override")]
    pub overridden: Option<Override>,
}

/// One ref of a subject.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Ref {
    /// As git or the user named it.
    pub local_ref: String,
    /// At the remote; empty where nothing is pushed.
    pub remote_ref: String,
    /// Commit id, or empty.
    pub tip: String,
    /// Commit id, or empty.
    pub base: String,
    /// `server`, `merge-base`, `tracking`, `empty`, `index`.
    pub base_source: &'static str,
    /// The remote's old tip is not an ancestor of the new one.
    pub force: bool,
}

/// How much scrutiny.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tier {
    /// `light`, `standard`, `full`.
    pub name: String,
    /// The rule that decided.
    pub reason: String,
    /// Scrutiny that no setting removes.
    pub floors: Vec<String>,
}

/// The size of a change.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Change {
    /// Changed files.
    pub files: usize,
    /// Added lines.
    pub added: usize,
    /// Deleted lines.
    pub deleted: usize,
    /// `sha256:…` over the changed entries.
    pub digest: String,
}

/// What was looked at.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Coverage {
    /// Nothing that should have been reviewed is among what was not.
    pub complete: bool,
    /// Paths that every mandatory pass has confirmed, both names of a renamed file.
    pub reviewed: Vec<String>,
    /// All other changed paths.
    pub not_reviewed: Vec<NotReviewed>,
}

/// A path that was not reviewed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NotReviewed {
    /// Display form.
    pub path: String,
    /// `binary`, `lfs`, `excluded`, `generated`, `data`, `lockfile`, `already-published`; where it should have been reviewed, `too-large`, `not-sent`, `no-answer`.
    pub reason: &'static str,
}

/// One pass.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Pass {
    /// `general`, `adversarial`, …
    pub name: String,
    /// The reviewer's configured name.
    pub reviewer: String,
    /// The API dialect, or `cli`.
    pub provider: String,
    /// Who trained the model.
    pub family: String,
    /// The model that was asked.
    pub model: String,
    /// The model that the reply named.
    pub model_reported: Option<String>,
    /// The outcome's word.
    pub outcome: String,
    /// The class of the fault, where there was no answer.
    pub class: Option<String>,
    /// The fault in words, with its remedy.
    pub message: Option<String>,
    /// Answered by the author's own family.
    pub degraded: bool,
    /// Slices whose stored result was used.
    pub cached_slices: usize,
    /// Every call.
    pub attempts: Vec<Attempt>,
    /// Milliseconds.
    pub ms: u64,
    /// Tokens.
    pub tokens: Tokens,
    /// What it cost.
    pub usd: f64,
}

/// One call.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Attempt {
    /// The reviewer's configured name.
    pub reviewer: String,
    /// The class of the fault; `None` for the answer that was used.
    pub class: Option<String>,
    /// In words.
    pub message: String,
    /// Milliseconds.
    pub ms: u64,
}

/// Tokens of a pass.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tokens {
    /// Prompt tokens, cached ones included.
    pub input: u64,
    /// Prompt tokens from the provider's cache.
    pub cached: u64,
    /// Completion tokens.
    pub output: u64,
}

/// Whether a stored pass covered the subject.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Receipt {
    /// It did.
    pub hit: bool,
}

/// A person's permission.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Override {
    /// Its id in the ledger.
    pub id: String,
    /// Why.
    pub reason: String,
    /// Until when, RFC 3339.
    pub expires: String,
}

/// One finding.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Finding {
    /// Path + hunk + rule.
    pub id: String,
    /// The subject's id.
    pub subject: String,
    /// `CRITICAL`, `HIGH`, `MEDIUM`, `LOW`.
    pub severity: String,
    /// The rubric's rule id, or empty.
    pub rule: String,
    /// Display form of the path, or what the reviewer wrote.
    pub file: String,
    /// 1-based; 0 where none was found.
    pub line: u32,
    /// One line.
    pub title: String,
    /// What is wrong.
    pub issue: String,
    /// Why.
    pub cause: String,
    /// `when …, line … does …, so …; expected …`.
    pub failing_case: String,
    /// The quoted lines.
    pub evidence: String,
    /// `introduced`, `exposed`, `pre-existing`.
    pub provenance: &'static str,
    /// `clear`, `likely`, `unknown`.
    pub confidence: String,
    /// How to mend it.
    pub fix: String,
    /// How to show it.
    pub proof: String,
    /// The passes that said so.
    pub sources: Vec<String>,
    /// The status's word.
    pub status: &'static str,
    /// Why it does not block, where its severity would.
    pub note: Option<String>,
}

/// Findings by severity and fate.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counts {
    /// Blocking or not.
    pub critical: usize,
    /// Blocking or not.
    pub high: usize,
    /// Blocking or not.
    pub medium: usize,
    /// Blocking or not.
    pub low: usize,
    /// Claims that said the same of the same place.
    pub deduped: usize,
    /// Shown to be wrong.
    pub refuted: usize,
    /// Excused by a person.
    pub waived: usize,
}

/// How long it took.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Timing {
    /// From start to report, in milliseconds.
    pub total_ms: u64,
    /// The same without the time that reviewers were waited for, in milliseconds.
    pub overhead_ms: u64,
}
