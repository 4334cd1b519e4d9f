//! Receipts: which content was passed before under exactly the same policy, so that a repeated push is free.
//!
//! What goes into the key is the caller's business (trees are recorded, not keyed). What may leave a receipt is decided here: a real review that passed, nothing less.

use super::history::History;
use super::record::{Basis, SubjectRecord, VerdictWord};
use crate::clock::Timestamp;
use crate::digest::Digest;
use serde::{Deserialize, Serialize};

/// What a pass may be reused for: a digest over content, policy, tier, authors, roster, prompts, rubrics, spec and new blobs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReceiptKey(String);

impl From<Digest> for ReceiptKey {
    fn from(digest: Digest) -> ReceiptKey {
        ReceiptKey(digest.hex())
    }
}

impl ReceiptKey {
    /// Returns the start of the key, for the name of a file.
    pub(super) fn short(&self) -> &str {
        self.0.get(..32).unwrap_or(&self.0)
    }
}

/// A stored pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The record that holds the review.
    pub seq: u64,
    /// The run that it was.
    pub run_id: String,
    /// When.
    pub time: Timestamp,
}

/// What a record says about a key.
enum Word {
    Passed,
    Refused,
    Nothing,
}

impl History {
    /// Returns the receipt for a key. The newest record that judged this very content decides: a refusal takes an earlier receipt away. A receipt does not age,
    /// because content and policy do not; but a pass that is dated after `now` is of another clock, and whatever else is wrong there, it is no evidence here.
    pub fn receipt(&self, key: &ReceiptKey, now: Timestamp) -> Option<Receipt> {
        self.runs_newest_first().find_map(|(record, run)| {
            let words = run.subjects.iter().filter(|subject| subject.receipt_key.as_ref() == Some(key)).map(word);
            match worst(words) {
                Word::Passed if record.time > now => None,
                Word::Passed => Some(Some(Receipt { seq: record.seq, run_id: run.run_id.clone(), time: record.time })),
                Word::Refused => Some(None),
                Word::Nothing => None,
            }
        })?
    }
}

/// Tells what a subject's verdict is worth as evidence. Only a pass after a full review by another family is a receipt; what could not be judged says nothing.
fn word(subject: &SubjectRecord) -> Word {
    match (subject.verdict, &subject.basis) {
        (VerdictWord::Pass, Basis::Reviewed) => Word::Passed,
        (VerdictWord::Fail | VerdictWord::NeedsHuman, _) => Word::Refused,
        (
            VerdictWord::Pass,
            Basis::Degraded | Basis::Unreviewed | Basis::Advisory | Basis::Override(_) | Basis::Receipt(_) | Basis::Nothing | Basis::Checked,
        )
        | (VerdictWord::Unavailable | VerdictWord::Error, _) => Word::Nothing,
    }
}

fn worst(words: impl Iterator<Item = Word>) -> Word {
    words.fold(Word::Nothing, |so_far, next| match (so_far, next) {
        (Word::Refused, _) | (_, Word::Refused) => Word::Refused,
        (Word::Passed, _) | (_, Word::Passed) => Word::Passed,
        (Word::Nothing, Word::Nothing) => Word::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::super::history::samples::history;
    use super::super::record::{Event, samples};
    use super::*;

    fn key(name: &str) -> ReceiptKey {
        ReceiptKey::from(Digest::of(name))
    }

    fn now() -> Timestamp {
        "2027-03-01T10:00:00Z".parse().expect("a time")
    }

    fn run(id: &str, subjects: &[(&str, VerdictWord, Basis)]) -> Event {
        let mut run = samples::run(id);
        run.subjects = subjects
            .iter()
            .map(|(name, verdict, basis)| SubjectRecord {
                receipt_key: Some(key(name)),
                verdict: *verdict,
                basis: basis.clone(),
                ..samples::subject(name)
            })
            .collect();
        Event::Run(run)
    }

    #[test]
    fn only_a_reviewed_pass_leaves_a_receipt() {
        use VerdictWord::{Error, Fail, NeedsHuman, Pass, Unavailable};
        let all = [
            Basis::Reviewed,
            Basis::Degraded,
            Basis::Unreviewed,
            Basis::Advisory,
            Basis::Override("0123456789ab".to_owned()),
            Basis::Receipt(1),
            Basis::Nothing,
            Basis::Checked,
        ];
        for verdict in [Pass, Fail, NeedsHuman, Unavailable, Error] {
            for basis in &all {
                let found = history(&[run("r1", &[("a", verdict, basis.clone())])]).receipt(&key("a"), now());
                assert_eq!(found.is_some(), verdict == Pass && *basis == Basis::Reviewed, "{verdict:?} {basis:?}");
            }
        }
    }

    #[test]
    fn a_receipt_says_which_run_it_was() {
        let history = history(&[run("r1", &[("b", VerdictWord::Fail, Basis::Reviewed), ("a", VerdictWord::Pass, Basis::Reviewed)])]);
        let receipt = history.receipt(&key("a"), now()).expect("a receipt");
        assert_eq!((receipt.seq, receipt.run_id.as_str(), receipt.time.to_string().as_str()), (1, "r1", "2026-03-01T10:00:00Z"));
        assert_eq!(history.receipt(&key("b"), now()), None);
        assert_eq!(history.receipt(&key("c"), now()), None);
    }

    #[test]
    fn the_newest_judgement_of_the_same_content_decides() {
        let of = |words: &[(VerdictWord, Basis)]| {
            let events: Vec<Event> = words.iter().enumerate().map(|(i, (v, b))| run(&format!("r{i}"), &[("a", *v, b.clone())])).collect();
            history(&events).receipt(&key("a"), now()).map(|receipt| receipt.seq)
        };
        let pass = (VerdictWord::Pass, Basis::Reviewed);
        let fail = (VerdictWord::Fail, Basis::Reviewed);
        let out = (VerdictWord::Unavailable, Basis::Unreviewed);
        let hit = (VerdictWord::Pass, Basis::Receipt(1));
        assert_eq!(of(&[pass.clone(), fail.clone()]), None);
        assert_eq!(of(&[fail.clone(), pass.clone()]), Some(2));
        assert_eq!(of(&[pass.clone(), out]), Some(1), "an outage says nothing about the content");
        assert_eq!(of(&[pass.clone(), hit.clone()]), Some(1));
        assert_eq!(of(&[pass, fail, hit]), None);
    }

    #[test]
    fn two_subjects_of_one_run_under_one_key_pass_only_together() {
        let pair = [("a", VerdictWord::Pass, Basis::Reviewed), ("a", VerdictWord::NeedsHuman, Basis::Reviewed)];
        assert_eq!(history(&[run("r1", &pair)]).receipt(&key("a"), now()), None);
    }

    #[test]
    fn a_receipt_never_ages_and_one_from_the_future_is_of_another_clock() {
        let pass = || run("r1", &[("a", VerdictWord::Pass, Basis::Reviewed)]);
        let at = |events: &[Event], now: &str| history(events).receipt(&key("a"), now.parse().expect("a time")).map(|receipt| receipt.seq);
        let once = [pass()];
        for (now, found) in [("2026-03-01T09:59:59Z", None), ("2026-03-01T10:00:00Z", Some(1)), ("2036-03-01T10:00:00Z", Some(1))] {
            assert_eq!(at(&once, now), found, "{now}");
        }
        let refused = [pass(), run("r2", &[("a", VerdictWord::Fail, Basis::Reviewed)])];
        assert_eq!(at(&refused, "2026-03-01T09:59:59Z"), None, "a refusal counts whatever its date");
    }
}
