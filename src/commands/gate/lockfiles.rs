//! Lock files: where both sides can be read to the end as what their name says, a summary of the difference is shown in place of the lines.

use super::checks;
use crate::change::lfs::Pointer;
use crate::change::subject::{Subject, SubjectId};
use crate::change::{Body, BytePath, FileChange};
use crate::finding::{Finding, Severity};
use crate::git::error::Extent;
use crate::git::{GitError, Repo};
use crate::lockfile::{self, Alarm, Kind};
use crate::paths::{PathRules, Treatment};

/// A subject whose lock files are summed up.
pub(super) struct Summed {
    pub subject: Subject,
    /// What the gate itself finds in them.
    pub alarms: Vec<(BytePath, Vec<Alarm>)>,
    /// Which of them are shown as text, and why.
    pub notes: Vec<String>,
}

/// Sums up what can be. A file of which a side was not read is left as it is.
pub(super) fn summed_up(repo: &Repo, subject: &Subject, rules: &PathRules) -> Result<Summed, GitError> {
    let mut summed = Summed { subject: subject.clone(), alarms: Vec::new(), notes: Vec::new() };
    for file in &mut summed.subject.change.files {
        if rules.treatment(file) != Treatment::Lockfile || !has_lines(file) {
            continue;
        }
        let [old, new] = match repo.contents(file) {
            // A partial clone left a side at the remote: the other is shown as the text that it is.
            Err(GitError::Missing { extent: Extent::Partial, .. }) => continue,
            contents => contents?,
        };
        // A pointer is no lock file, and none was expected to be read here.
        if [&old, &new].into_iter().flatten().any(|content| Pointer::parse(content).is_some()) {
            continue;
        }
        if (old.is_some(), new.is_some()) != (file.old.is_some(), file.new.is_some()) {
            continue;
        }
        match lockfile::summary(file.path(), old.as_deref(), new.as_deref()) {
            None => {}
            Some(Err(odd)) => summed.notes.push(format!("{} is reviewed as text and not as a lock file: {odd}", file.path())),
            Some(Ok(summary)) => {
                let hunks = file.hunks().to_vec();
                file.body = Body::Summary { text: summary.text, hunks };
                summed.alarms.push((file.path().clone(), summary.alarms));
            }
        }
    }
    Ok(summed)
}

/// Only what differs in its lines, and under names of one format on both sides, has a difference to sum up.
fn has_lines(file: &FileChange) -> bool {
    let names: Vec<&[u8]> = file.paths().map(BytePath::file_name).collect();
    !file.hunks().is_empty() && names.windows(2).all(|pair| pair[0].eq_ignore_ascii_case(pair[1]))
}

/// Makes findings of the alarms: one for each kind and file.
pub(super) fn findings(subject: &SubjectId, alarms: &[(BytePath, Vec<Alarm>)], bar: Severity) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, alarms) in alarms {
        for kind in [Kind::Integrity, Kind::Host, Kind::Insecure, Kind::Address] {
            let what: Vec<&str> = alarms.iter().filter(|alarm| alarm.kind == kind).map(|alarm| alarm.what.as_str()).collect();
            if what.is_empty() {
                continue;
            }
            let (rule, severity, says) = words(kind);
            findings.push(checks::finding(subject, path.clone(), rule, severity, bar, format!("{says}: {}", some(&what))));
        }
    }
    findings
}

/// A new host is MEDIUM (product contract). An exchanged archive is worse: registries do not change what they have published.
fn words(kind: Kind) -> (&'static str, Severity, &'static str) {
    match kind {
        Kind::Integrity => ("lockfile-integrity", Severity::High, "the same version has another hash than before"),
        Kind::Host => ("lockfile-host", Severity::Medium, "packages come from a host that was not there before"),
        Kind::Insecure => ("lockfile-insecure", Severity::Medium, "packages come over a connection that others can change"),
        Kind::Address => ("lockfile-address", Severity::Medium, "the archive is not at the package's own address of a registry"),
    }
}

/// Names some, of each so much as a line holds, and says how many more there are.
fn some(what: &[&str]) -> String {
    const SHOWN: usize = 5;
    const LONGEST: usize = 200;
    let brief = |text: &&str| match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => (*text).to_owned(),
    };
    let more = what.len().saturating_sub(SHOWN);
    let shown = what.iter().take(SHOWN).map(brief).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_some_and_counts_the_rest() {
        let long = "x".repeat(300);
        let alarms: Vec<Alarm> =
            (0..7).map(|n| Alarm { kind: Kind::Host, what: if n == 0 { long.clone() } else { format!("h{n}.example") } }).collect();
        let one = [Alarm { kind: Kind::Integrity, what: "a 1.0".to_owned() }];
        let found = findings(&SubjectId("s".to_owned()), &[("a/Cargo.lock".into(), alarms), ("Cargo.lock".into(), one.to_vec())], Severity::High);
        let told: Vec<(&str, Severity, String)> =
            found.iter().map(|one| (one.claim.rule.as_str(), one.claim.severity, one.claim.title.replace(&"x".repeat(200), "<200>"))).collect();
        assert_eq!(
            told,
            [
                (
                    "lockfile-host",
                    Severity::Medium,
                    "packages come from a host that was not there before: <200>…, h1.example, h2.example, h3.example, h4.example and 2 more"
                        .to_owned()
                ),
                ("lockfile-integrity", Severity::High, "the same version has another hash than before: a 1.0".to_owned()),
            ]
        );
    }
}
