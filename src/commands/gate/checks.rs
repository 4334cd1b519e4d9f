//! Pass 0: what the gate itself sees in the change, without a model. So far: edits of the policy, and source that cannot be read as text.

use super::case::Layers;
use crate::change::Change;
use crate::change::subject::SubjectId;
use crate::change::{Body, BytePath, FileChange};
use crate::config::{self, POLICY_FILE, PolicyLayer};
use crate::digest::Fields;
use crate::finding::{Claim, Finding, Provenance, Severity, Status};
use crate::paths::Kind;

/// Finds edits of the policy: HIGH where a protective key would be lowered, else MEDIUM (ruling on edits to policy).
pub(super) fn policy_edits(subject: &SubjectId, change: &Change, layers: &Layers) -> Vec<Finding> {
    let path = BytePath::from(POLICY_FILE);
    let Some(file) = change.file(&path) else { return Vec::new() };
    let deleted = PolicyLayer::empty("tip");
    // Renamed away is as gone as deleted.
    let stays = file.new.as_ref().is_some_and(|side| side.path == path);
    let tip = if stays { layers.tip.as_ref() } else { Some(&deleted) };
    let lowered = tip.map(|tip| config::lowered(&layers.base, tip)).unwrap_or_default();
    let (severity, title) = if lowered.is_empty() {
        (Severity::Medium, "the policy is edited; the edit holds once it has landed".to_owned())
    } else {
        (Severity::High, format!("the policy is weakened: {}", lowered.join(", ")))
    };
    vec![finding(subject, path, "policy-edit", severity, title)]
}

/// Finds program text that hides behind a NUL byte: git calls it binary, no reviewer could read it, and it runs all the same.
pub(super) fn unreadable_source(subject: &SubjectId, files: &[FileChange]) -> Vec<Finding> {
    let runs = |file: &&FileChange| {
        let new = file.new.as_ref().filter(|_| file.body == Body::Binary);
        new.is_some_and(|side| Kind::Source.is(&side.path) || Kind::Manifest.is(&side.path) || Kind::is_governance(&side.path))
    };
    let title = |file: &FileChange| format!("{} is source, and NUL bytes in it keep reviewers from reading it as text", file.path());
    files.iter().filter(runs).map(|file| finding(subject, file.path().clone(), "unreadable-source", Severity::High, title(file))).collect()
}

/// A check's finding needs no anchor and no refuter: it is a fact.
fn finding(subject: &SubjectId, path: BytePath, rule: &str, severity: Severity, title: String) -> Finding {
    let mut id = Fields::new("review-gate check v1");
    id.add(path.as_bytes());
    id.add(&title);
    let none = String::new;
    let claim = Claim {
        severity,
        rule: rule.to_owned(),
        file: path.to_string(),
        line: 0,
        title,
        issue: none(),
        cause: none(),
        failing_case: none(),
        evidence: none(),
        provenance: Provenance::Introduced,
        confidence: "clear".to_owned(),
        fix: none(),
        proof: none(),
    };
    let status = if severity >= Severity::High { Status::Blocking } else { Status::Open };
    Finding {
        id: id.finish().short(12),
        subject: subject.clone(),
        path: Some(path),
        line: 0,
        claim,
        sources: vec!["check".to_owned()],
        status,
        note: None,
    }
}
