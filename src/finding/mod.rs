//! A finding: one claim about the change, how bad it is, where it stands, and whether it may block. Pure.

pub mod anchor;
pub mod merge;

use crate::change::BytePath;
use crate::change::subject::SubjectId;
use std::fmt;

/// How bad a finding is. Ordered: `Critical` is the greatest, so that a bar is a plain comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Maintainability, naming, style, documentation, hardening.
    Low,
    /// Real but limited.
    Medium,
    /// A wrong result, lost work, a broken caller or a removed protection, on a path that ordinary use reaches.
    High,
    /// Lets someone in, runs their code, leaks or destroys data.
    Critical,
}

impl Severity {
    /// Returns the word of reply and report.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Low => "LOW",
            Severity::Medium => "MEDIUM",
            Severity::High => "HIGH",
            Severity::Critical => "CRITICAL",
        }
    }

    /// Reads a reviewer's word. Other scales are mapped; a word that is not known is HIGH, so that a new word never lowers anything (requirement P15).
    pub fn from_reviewer(word: &str) -> Severity {
        match word.trim().to_ascii_lowercase().as_str() {
            "critical" | "p0" | "fatal" => Severity::Critical,
            "medium" | "moderate" | "minor" | "warning" | "p2" => Severity::Medium,
            "low" | "observation" | "info" | "informational" | "nit" | "note" | "trivial" | "style" | "p3" | "p4" => Severity::Low,
            _ => Severity::High,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the change made the fault. Ordered: the first blocks the soonest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provenance {
    /// The change brings it in.
    Introduced,
    /// It was there; the change makes it reachable.
    Exposed,
    /// It was there before and is not made worse.
    PreExisting,
}

impl Provenance {
    /// Returns the word of reply and report.
    pub fn as_str(self) -> &'static str {
        match self {
            Provenance::Introduced => "introduced",
            Provenance::Exposed => "exposed",
            Provenance::PreExisting => "pre-existing",
        }
    }
}

/// One claim as a reviewer made it, before anything was checked. Text is the reviewer's: show it only through the report's escaping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// How bad the reviewer says it is, mapped.
    pub severity: Severity,
    /// The rubric's rule id, or empty.
    pub rule: String,
    /// The path as the reviewer wrote it.
    pub file: String,
    /// The 1-based new-side line that the reviewer gave; 0 where it gave none.
    pub line: u32,
    /// One line.
    pub title: String,
    /// What is wrong.
    pub issue: String,
    /// Why.
    pub cause: String,
    /// `when …, line … does …, so …; expected …`.
    pub failing_case: String,
    /// The quoted line or lines.
    pub evidence: String,
    /// Whether the change made it.
    pub provenance: Provenance,
    /// `clear`, `likely` or `unknown`.
    pub confidence: String,
    /// How to mend it.
    pub fix: String,
    /// How to show it.
    pub proof: String,
}

/// Where a finding stands. Only `Blocking` refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// At or above the bar, and it held.
    Blocking,
    /// Below the bar.
    Open,
    /// Its evidence is not in what was sent.
    Unanchored,
    /// The refuter showed, with evidence that was found, that it is wrong.
    Refuted,
    /// Excused by a person, with a reason.
    Waived,
    /// Shown, never blocks.
    Advisory,
}

impl Status {
    /// Returns the word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Blocking => "blocking",
            Status::Open => "open",
            Status::Unanchored => "unanchored",
            Status::Refuted => "refuted",
            Status::Waived => "waived",
            Status::Advisory => "advisory",
        }
    }
}

/// A claim after it was placed, merged and judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Path + hunk content + rule, hashed: 12 hex digits. Not wording, not line number.
    pub id: String,
    /// The subject it is about.
    pub subject: SubjectId,
    /// The changed file, where the claim names one.
    pub path: Option<BytePath>,
    /// The 1-based line taken from the evidence; 0 where none was found.
    pub line: u32,
    /// What was claimed; severity as lowered or kept.
    pub claim: Claim,
    /// Which passes (or checks) made the claim, in order.
    pub sources: Vec<String>,
    /// Where it stands.
    pub status: Status,
    /// Why it is not blocking although its severity would say so; shown with it.
    pub note: Option<String>,
}
