//! Pass 0: what the gate itself sees in the change, without a model. So far: edits of the policy, and source that cannot be read as text.

use super::case::Layers;
use crate::change::subject::SubjectId;
use crate::change::{BytePath, Change, FileChange, Mode};
use crate::config::{self, POLICY_FILE, PolicyLayer};
use crate::digest::Fields;
use crate::finding::{Claim, Finding, Provenance, Severity, Status};
use crate::git::{GitError, Repo};
use crate::paths::Kind;

/// Finds edits of the policy: HIGH where a protective key would be lowered, else MEDIUM (ruling on edits to policy).
pub(super) fn policy_edits(subject: &SubjectId, change: &Change, layers: &Layers, bar: Severity) -> Vec<Finding> {
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
    vec![finding(subject, path, "policy-edit", severity, bar, title)]
}

/// Finds program text that hides behind a NUL byte: git calls it binary, no reviewer could read it, and it runs all the same. What is source by its name, or begins
/// like a script, must be text; so must what may be executed, unless it begins as a known binary format does.
pub(super) fn unreadable_source(repo: &Repo, subject: &SubjectId, binary: &[&FileChange]) -> Result<Vec<Finding>, GitError> {
    let mut findings = Vec::new();
    for file in binary {
        let Some(side) = &file.new else { continue };
        let start = repo.first_bytes(side, 16)?;
        // Of what pins dependencies only one kind is meant to be binary.
        let pins = Kind::Lockfile.is(&side.path) && !side.path.file_name().eq_ignore_ascii_case(b"bun.lockb");
        let named = is_source(&side.path) || pins;
        let may_run = Kind::is_governance(&side.path) || side.mode == Mode::Executable && !start.is_empty();
        let path = file.path();
        let title = if named || start.starts_with(b"#!") {
            format!(
                "{path} is program text, and NUL bytes in it keep reviewers from reading it; save it as UTF-8, or name it as `generated` in the policy at the base"
            )
        } else if may_run && !is_known_binary(&start) {
            format!(
                "{path} is executable or steers tools, and is neither text nor of a known binary format; save it as UTF-8, or clear its executable bit"
            )
        } else {
            continue;
        };
        findings.push(unreadable(subject, path, title));
    }
    Ok(findings)
}

/// Makes the finding about program text that no reviewer could read. It blocks whatever the policy's bar is.
pub(super) fn unreadable(subject: &SubjectId, path: &BytePath, title: String) -> Finding {
    finding(subject, path.clone(), "unreadable-source", Severity::High, Severity::High, title)
}

/// Tells whether the new side may be run, or steers what is: by its name, or because its mode says so.
pub(super) fn is_program(file: &FileChange) -> bool {
    file.new.as_ref().is_some_and(|side| is_program_by_name(&side.path) || side.mode == Mode::Executable)
}

/// Tells whether a path is that of program text, or steers tools.
pub(super) fn is_program_by_name(path: &BytePath) -> bool {
    is_source(path) || Kind::is_governance(path)
}

fn is_source(path: &BytePath) -> bool {
    Kind::Source.is(path) || Kind::Manifest.is(path)
}

/// How programs, archives, pictures and fonts begin: ELF, Windows, Mach-O (32 and 64 bit in both byte orders, universal), WebAssembly, zip, gzip, PNG, JPEG, GIF, WOFF,
/// TrueType.
const FORMATS: [&[u8]; 16] = [
    b"\x7fELF",
    b"MZ",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\0asm",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\xff\xd8\xff",
    b"GIF8",
    b"wOFF",
    b"wOF2",
    b"\0\x01\0\0",
    b"OTTO",
];

/// Tells whether content begins as a known binary format does. A line of text behind the same letters is for a shell to run, so a NUL must come before it ends.
fn is_known_binary(start: &[u8]) -> bool {
    let first_line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    start.starts_with(b"\x89PNG\r\n\x1a\n") || FORMATS.iter().any(|magic| start.starts_with(magic)) && first_line.contains(&0)
}

/// A check's finding needs no anchor and no refuter: it is a fact.
pub(super) fn finding(subject: &SubjectId, path: BytePath, rule: &str, severity: Severity, bar: Severity, title: String) -> Finding {
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
    let status = if severity >= bar { Status::Blocking } else { Status::Open };
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
