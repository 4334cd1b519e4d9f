//! What a record says: frozen structs of version 1, plain values for `commands/run.rs` to fill in.
//!
//! They are copies, not the program's own types, so that those may change without changing what was written years ago. A reader ignores keys that it does not
//! know; a later field is added with `#[serde(default)]`; a meaning is never changed without a new `v`. How a record becomes a line is `line.rs`'s business.

use super::receipt::ReceiptKey;
use crate::clock::Timestamp;
use serde::{Deserialize, Serialize};

/// The version of every record that is written.
pub(super) const VERSION: u32 = 1;

/// The longest title or path that is kept, in characters; the report has the whole.
const CLIP: usize = 200;

/// A verified record.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number: 1, 2, 3, … without gaps.
    pub seq: u64,
    /// When it was appended, by this machine's clock.
    pub time: Timestamp,
    /// Its own SHA-256, 64 hex digits.
    pub hash: String,
    /// The hash of the record before it; zeros for the first.
    pub prev: String,
    /// What happened.
    pub event: Event,
}

/// What a record tells; the line's `kind` and its other keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// `run`: a run came to a verdict.
    Run(RunRecord),
    /// `override`: a person let one subject through.
    Override(OverrideRecord),
    /// `repair`: a line that a crash had cut was moved aside.
    Repair(RepairRecord),
    /// `note`: something else that must not be forgotten.
    Note(NoteRecord),
}

/// The verdict of a run or of a subject, in the words of the public contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictWord {
    /// Accepted.
    Pass,
    /// A finding blocks.
    Fail,
    /// A person must decide.
    NeedsHuman,
    /// A mandatory pass has no answer.
    Unavailable,
    /// Usage, configuration, authentication, integrity and the like.
    Error,
}

impl VerdictWord {
    /// Returns the word of record and report.
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictWord::Pass => "pass",
            VerdictWord::Fail => "fail",
            VerdictWord::NeedsHuman => "needs-human",
            VerdictWord::Unavailable => "unavailable",
            VerdictWord::Error => "error",
        }
    }
}

/// What a subject's verdict rests on. Only a pass that is `Reviewed` leaves a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Every mandatory pass was answered by another family, and the verdict follows from the answers.
    Reviewed,
    /// The author's own family reviewed it, because policy allows that and no other could be had.
    Degraded,
    /// A mandatory pass has no answer; it refused, or `on_unavailable: warn` let it through.
    Unreviewed,
    /// The verdict is shown and recorded, but policy is advisory.
    Advisory,
    /// An override let it through; holds the override's id. Nothing was sent.
    Override(String),
    /// An earlier pass for exactly this content under exactly this policy; holds that record's number.
    Receipt(u64),
    /// There was nothing to review.
    Nothing,
    /// The gate's own checks decided before any call.
    Checked,
}

/// One run: what was judged, by whom, with what result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run's id, as in the report.
    pub run_id: String,
    /// The gate's version.
    pub gate: String,
    /// `pre-push`, `pre-commit`, `pre-merge-commit` or `run`.
    pub stage: String,
    /// The verdict over all subjects.
    pub verdict: VerdictWord,
    /// The status that the process ends with if this append succeeds.
    pub exit_code: u8,
    /// Reason codes, as in the report.
    pub reasons: Vec<String>,
    /// What was judged.
    pub subjects: Vec<SubjectRecord>,
    /// What the run cost, in USD.
    pub usd: f64,
    /// How long the run took, in milliseconds.
    pub ms: u64,
    /// The names of variables that would have lowered scrutiny elsewhere and were ignored; never their values.
    pub ignored_env: Vec<String>,
    /// How many findings were left out of the record because the line would have been too long. The caller writes 0.
    pub omitted_findings: u32,
}

/// One subject of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectRecord {
    /// The subject's id.
    pub id: String,
    /// Where it would have gone.
    pub refs: Vec<RefName>,
    /// The tier's word.
    pub tier: String,
    /// The subject's verdict.
    pub verdict: VerdictWord,
    /// What the verdict rests on.
    pub basis: Basis,
    /// The key under which a pass may be reused; `None` for a run that must not be (a dry run, a narrowed one).
    pub receipt_key: Option<ReceiptKey>,
    /// The digest of the changed entries.
    pub change_digest: String,
    /// The base's tree; `None` for the empty tree.
    pub base_tree: Option<String>,
    /// The tip's tree; `None` where it has no tree object.
    pub tip_tree: Option<String>,
    /// The base's commit.
    pub base: Option<String>,
    /// The tip's commit.
    pub tip: Option<String>,
    /// The families that wrote it, or `human`, or `unknown`.
    pub author: Vec<String>,
    /// Who was asked, and how that ended.
    pub reviewers: Vec<ReviewerRecord>,
    /// What was found.
    pub findings: Vec<FindingRecord>,
}

/// A ref at a remote. Both are empty for a change that goes nowhere yet (a staged one).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RefName {
    /// The remote's name, or its URL without user and password.
    pub remote: String,
    /// The full name of the ref there.
    pub remote_ref: String,
}

/// One pass and who answered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewerRecord {
    /// The pass.
    pub pass: String,
    /// The API dialect.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// Its family.
    pub family: String,
    /// The outcome's word.
    pub outcome: String,
    /// The class of the fault, where there was no answer.
    pub class: Option<String>,
}

/// One finding, short. The report has the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecord {
    /// The finding's id.
    pub id: String,
    /// The severity's word.
    pub severity: String,
    /// The rubric's rule, or empty.
    pub rule: String,
    /// The file in its display form, or empty.
    pub path: String,
    /// The 1-based line, or 0.
    pub line: u32,
    /// One line.
    pub title: String,
    /// The status's word.
    pub status: String,
}

/// A permission for one subject, given by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverrideRecord {
    /// The override's id, 12 hex digits.
    pub id: String,
    /// The subject that it lets through.
    pub subject: String,
    /// The ref that it is for, where that was said when it was made; else the first use decides.
    #[serde(rename = "ref")]
    pub place: Option<RefName>,
    /// Why.
    pub reason: String,
    /// From when.
    #[serde(with = "utc")]
    pub created: Timestamp,
    /// Until when.
    #[serde(with = "utc")]
    pub expires: Timestamp,
}

/// A line that a crash had cut: moved aside, never dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairRecord {
    /// The file beside the ledger that holds the bytes.
    pub file: String,
    /// How many.
    pub bytes: u64,
    /// Their SHA-256.
    pub sha256: String,
}

/// A remark of the gate about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteRecord {
    /// What happened.
    pub text: String,
}

impl SubjectRecord {
    /// Returns the id of the override that let the subject through, if one did.
    pub fn override_id(&self) -> Option<&str> {
        match &self.basis {
            Basis::Override(id) => Some(id),
            Basis::Reviewed | Basis::Degraded | Basis::Unreviewed | Basis::Advisory | Basis::Receipt(_) | Basis::Nothing | Basis::Checked => None,
        }
    }

    /// Returns the name for messages: the refs, else "staged change".
    pub fn label(&self) -> String {
        let names: Vec<&str> = self.refs.iter().map(|place| place.remote_ref.as_str()).filter(|name| !name.is_empty()).collect();
        if names.is_empty() { "staged change".to_owned() } else { names.join(", ") }
    }
}

/// How much of a run's findings a record keeps. A reviewer's wordiness must not be able to make a run unrecordable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// All, with long titles and paths cut.
    All,
    /// Those that block.
    Blocking,
    /// None; how many there were.
    Count,
}

impl RunRecord {
    /// Returns the record with as much detail as asked for.
    pub(super) fn with(mut self, detail: Detail) -> RunRecord {
        let mut omitted = 0;
        for subject in &mut self.subjects {
            let before = subject.findings.len();
            subject.findings.retain(|finding| match detail {
                Detail::All => true,
                Detail::Blocking => finding.status == "blocking",
                Detail::Count => false,
            });
            omitted += before - subject.findings.len();
            subject.findings.iter_mut().for_each(FindingRecord::clip);
        }
        self.omitted_findings += u32::try_from(omitted).unwrap_or(u32::MAX);
        self
    }
}

impl FindingRecord {
    fn clip(&mut self) {
        for text in [&mut self.title, &mut self.path, &mut self.rule] {
            if let Some((cut, _)) = text.char_indices().nth(CLIP) {
                text.truncate(cut);
                text.push('…');
            }
        }
    }
}

/// A point in time as RFC 3339 text in UTC.
mod utc {
    use crate::clock::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;

    /// A run over one subject that passed after a real review.
    pub(crate) fn run(run_id: &str) -> RunRecord {
        RunRecord {
            run_id: run_id.to_owned(),
            gate: "0.1.0".to_owned(),
            stage: "pre-push".to_owned(),
            verdict: VerdictWord::Pass,
            exit_code: 0,
            reasons: vec!["RG000".to_owned()],
            subjects: vec![subject("5b1ec75b1ec75b1e")],
            usd: 0.0125,
            ms: 1840,
            ignored_env: vec![],
            omitted_findings: 0,
        }
    }

    /// A subject that passed after a real review.
    pub(crate) fn subject(id: &str) -> SubjectRecord {
        SubjectRecord {
            id: id.to_owned(),
            refs: vec![place("origin", "refs/heads/main")],
            tier: "light".to_owned(),
            verdict: VerdictWord::Pass,
            basis: Basis::Reviewed,
            receipt_key: None,
            change_digest: "sha256:00".to_owned(),
            base_tree: None,
            tip_tree: Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned()),
            base: None,
            tip: Some("e83c5163316f89bfbde7d9ab23ca2e25604af290".to_owned()),
            author: vec!["anthropic".to_owned()],
            reviewers: vec![ReviewerRecord {
                pass: "general".to_owned(),
                provider: "openai".to_owned(),
                model: "gpt".to_owned(),
                family: "openai".to_owned(),
                outcome: "reviewed".to_owned(),
                class: None,
            }],
            findings: vec![],
        }
    }

    /// A ref at a remote.
    pub(crate) fn place(remote: &str, remote_ref: &str) -> RefName {
        RefName { remote: remote.to_owned(), remote_ref: remote_ref.to_owned() }
    }

    /// A finding with a status and a title.
    pub(crate) fn finding(status: &str, title: &str) -> FindingRecord {
        FindingRecord {
            id: "0123456789ab".to_owned(),
            severity: "HIGH".to_owned(),
            rule: "WS7".to_owned(),
            path: "src/a.rs".to_owned(),
            line: 42,
            title: title.to_owned(),
            status: status.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{finding, place, run, subject};
    use super::*;

    #[test]
    fn less_detail_keeps_the_blocking_findings_and_says_how_many_are_gone() {
        let mut record = run("r1");
        record.subjects[0].findings = vec![finding("open", "a"), finding("blocking", "b"), finding("refuted", "c")];
        for (detail, kept, omitted) in [(Detail::All, 3, 0), (Detail::Blocking, 1, 2), (Detail::Count, 0, 3)] {
            let less = record.clone().with(detail);
            assert_eq!((less.subjects[0].findings.len(), less.omitted_findings), (kept, omitted), "{detail:?}");
        }
        assert_eq!(record.with(Detail::Blocking).subjects[0].findings[0].title, "b");
    }

    #[test]
    fn long_titles_are_cut_between_characters() {
        let mut record = run("r1");
        record.subjects[0].findings = vec![finding("open", &"é".repeat(1000)), finding("open", "short")];
        let findings = &record.with(Detail::All).subjects[0].findings;
        assert_eq!(findings[0].title.chars().count(), CLIP + 1);
        assert_eq!(findings[1].title, "short");
    }

    #[test]
    fn a_label_names_the_refs_or_says_that_the_change_is_staged() {
        let mut staged = subject("s1");
        assert_eq!(staged.label(), "refs/heads/main");
        staged.refs = vec![place("", "")];
        assert_eq!(staged.label(), "staged change");
    }
}
