//! Pass 0: what the gate itself sees in the change, without a model. So far: edits of the policy.

use super::case::Layers;
use crate::change::BytePath;
use crate::change::Change;
use crate::change::subject::SubjectId;
use crate::config::{self, POLICY_FILE, PolicyLayer};
use crate::digest::Fields;
use crate::finding::{Claim, Finding, Provenance, Severity, Status};

/// Finds edits of the policy: HIGH where a protective key would be lowered, else MEDIUM (ruling on edits to policy).
pub(super) fn policy_edits(subject: &SubjectId, change: &Change, layers: &Layers) -> Vec<Finding> {
    let path = BytePath::from(POLICY_FILE);
    let Some(file) = change.file(&path) else { return Vec::new() };
    let deleted = PolicyLayer::empty("tip");
    let tip = if file.new.is_some() { layers.tip.as_ref() } else { Some(&deleted) };
    let lowered = tip.map(|tip| config::lowered(&layers.base, tip)).unwrap_or_default();
    let (severity, title) = if lowered.is_empty() {
        (Severity::Medium, "the policy is edited; the edit holds once it has landed".to_owned())
    } else {
        (Severity::High, format!("the policy is weakened: {}", lowered.join(", ")))
    };
    vec![finding(subject, path, severity, title)]
}

/// A check's finding needs no anchor and no refuter: it is a fact.
fn finding(subject: &SubjectId, path: BytePath, severity: Severity, title: String) -> Finding {
    let mut id = Fields::new("review-gate check v1");
    id.add(path.as_bytes());
    id.add(&title);
    let none = String::new;
    let claim = Claim {
        severity,
        rule: "policy-edit".to_owned(),
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
