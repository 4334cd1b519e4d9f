//! A record as one line of text, and back: canonical JSON, and the hash that chains it.
//!
//! The hash is taken over the text of the line itself, not over a second rendering of what was read, so no byte of it can change unseen. Whether a line follows
//! from the one before is `history.rs`'s business.

use super::error::LedgerError;
use super::record::{Detail, Event, NoteRecord, OverrideRecord, Record, RepairRecord, RunRecord, VERSION};
use crate::clock::Timestamp;
use crate::digest::Digest;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The longest line, without its end (threats 3.3).
pub(super) const MAX_LINE: usize = 64 * 1024;

/// The `prev` of the first record.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What every record of every version has. The borrowed `hash` also tells where in the line it stands.
#[derive(Deserialize)]
struct Head<'a> {
    v: u32,
    seq: u64,
    #[serde(borrow)]
    prev: &'a str,
    time: &'a str,
    kind: &'a str,
    #[serde(rename = "h")]
    hash: &'a str,
}

/// A line that was made here and read back: what was written, and what a reader will make of it.
pub(super) struct Line {
    /// The text, with its line end.
    pub text: String,
    /// The record.
    pub record: Record,
}

/// Writes a record as a line. A run that is too wordy loses its findings first (they are counted); its verdict, refs and reviewers are never dropped.
pub(super) fn encode(seq: u64, prev: &str, time: Timestamp, event: &Event) -> Result<Line, LedgerError> {
    let text = match event {
        Event::Run(run) => encode_run(seq, prev, time, run)?,
        Event::Override(body) => render(seq, prev, time, "override", to_value(body)?)?,
        Event::Repair(body) => render(seq, prev, time, "repair", to_value(body)?)?,
        Event::Note(body) => render(seq, prev, time, "note", to_value(body)?)?,
    };
    if text.len() > MAX_LINE {
        return Err(LedgerError::TooLarge { bytes: text.len(), limit: MAX_LINE });
    }
    // A line that could not be read back would lock everyone out of the ledger, so it is read back before it is written.
    let record = decode(Path::new("new record"), seq, &text).map_err(|error| LedgerError::Unwritable { why: error.to_string() })?;
    Ok(Line { text: text + "\n", record })
}

fn encode_run(seq: u64, prev: &str, time: Timestamp, run: &RunRecord) -> Result<String, LedgerError> {
    let mut text = String::new();
    for detail in [Detail::All, Detail::Blocking, Detail::Count] {
        text = render(seq, prev, time, "run", to_value(&run.clone().with(detail))?)?;
        if text.len() <= MAX_LINE {
            break;
        }
    }
    Ok(text)
}

fn render(seq: u64, prev: &str, time: Timestamp, kind: &str, mut body: Value) -> Result<String, LedgerError> {
    body["v"] = VERSION.into();
    body["seq"] = seq.into();
    body["prev"] = prev.into();
    body["time"] = time.to_string().into();
    body["kind"] = kind.into();
    // Sorted already, unless some dependency turns serde_json's `preserve_order` on.
    body.sort_all_objects();
    let hash = Digest::of(to_text(&body)?).hex();
    body["h"] = hash.into();
    body.sort_all_objects();
    to_text(&body)
}

fn to_value(body: &impl serde::Serialize) -> Result<Value, LedgerError> {
    serde_json::to_value(body).map_err(|error| LedgerError::Unwritable { why: error.to_string() })
}

fn to_text(value: &Value) -> Result<String, LedgerError> {
    serde_json::to_string(value).map_err(|error| LedgerError::Unwritable { why: error.to_string() })
}

/// Reads line number `line` of `path`, without its end, and checks its hash.
pub(super) fn decode(path: &Path, line: u64, text: &str) -> Result<Record, LedgerError> {
    let broken = |why: String| LedgerError::Broken { path: path.to_owned(), line, why };
    if text.len() > MAX_LINE {
        return Err(broken(format!("{} bytes, more than the {MAX_LINE} that a line may have", text.len())));
    }
    let head: Head<'_> = serde_json::from_str(text).map_err(|error| broken(format!("not a record: {error}")))?;
    if hash_without_member(text, head.hash).as_deref() != Some(head.hash) {
        return Err(broken("its hash does not match its content".to_owned()));
    }
    // Only now, with the content proven to be what was written, can an unknown word mean a newer writer.
    let newer = |what: String| LedgerError::Newer { path: path.to_owned(), line, what };
    if head.v != VERSION {
        return Err(newer(format!("a record of version {}", head.v)));
    }
    let body = |error: serde_json::Error| broken(format!("not a record of kind `{}`: {error}", head.kind));
    let event = match head.kind {
        "run" => serde_json::from_str::<RunRecord>(text).map(Event::Run).map_err(body)?,
        "override" => serde_json::from_str::<OverrideRecord>(text).map(Event::Override).map_err(body)?,
        "repair" => serde_json::from_str::<RepairRecord>(text).map(Event::Repair).map_err(body)?,
        "note" => serde_json::from_str::<NoteRecord>(text).map(Event::Note).map_err(body)?,
        kind => return Err(newer(format!("a record of kind `{kind}`"))),
    };
    let time = head.time.parse().map_err(|error| broken(format!("`time` is not a point in time: {error}")))?;
    Ok(Record { seq: head.seq, time, hash: head.hash.to_owned(), prev: head.prev.to_owned(), event })
}

/// Hashes the line without its `"h":"…",` member. `hash` is borrowed from `text`; where it starts there is where the member is. `None` where the text around it
/// is not what [`render`] writes.
fn hash_without_member(text: &str, hash: &str) -> Option<String> {
    const OPEN: &str = "\"h\":\"";
    const CLOSE: &str = "\",";
    let at = (hash.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let before = text.get(..at)?.strip_suffix(OPEN)?;
    let after = text.get(at + hash.len()..)?.strip_prefix(CLOSE)?;
    Some(Digest::of([before, after].concat()).hex())
}

#[cfg(test)]
mod tests {
    use super::super::record::samples::{finding, place, run, subject};
    use super::*;
    use std::collections::BTreeMap;

    fn time() -> Timestamp {
        "2026-03-01T10:00:00Z".parse().expect("a time")
    }

    fn events() -> Vec<Event> {
        vec![
            Event::Run(run("r1")),
            Event::Override(OverrideRecord {
                id: "0123456789ab".to_owned(),
                subject: "5b1ec7".to_owned(),
                place: Some(place("origin", "refs/heads/ü")),
                reason: "a \"quoted\" reason \\ with an \"h\":\"…\", inside".to_owned(),
                created: time(),
                expires: time(),
            }),
            Event::Repair(RepairRecord { file: "ledger.torn.2".to_owned(), bytes: 17, sha256: "00".to_owned() }),
            Event::Note(NoteRecord { text: "\u{1b}[2J\n\u{202e}".to_owned() }),
        ]
    }

    #[test]
    fn every_kind_is_read_back_as_it_was_written() {
        for event in events() {
            let line = encode(3, GENESIS, time(), &event).expect("a line");
            assert_eq!(line.record.event, event);
            assert_eq!((line.record.seq, line.record.prev.as_str(), line.record.time), (3, GENESIS, time()));
            assert_eq!(line.text.matches('\n').count(), 1, "one record, one line");
        }
    }

    #[test]
    fn keys_are_sorted_and_the_hash_can_be_checked_with_sed_and_sha256sum() {
        for event in events() {
            let line = encode(1, GENESIS, time(), &event).expect("a line");
            let member = format!("\"h\":\"{}\",", line.record.hash);
            assert_eq!(line.text.matches(&member).count(), 1);
            assert_eq!(Digest::of(line.text.trim_end().replace(&member, "")).hex(), line.record.hash);
            let sorted: BTreeMap<String, Value> = serde_json::from_str(&line.text).expect("JSON");
            assert_eq!(serde_json::to_string(&sorted).expect("JSON") + "\n", line.text);
        }
    }

    /// The shape on disk is a public promise: change it only with a new version.
    #[test]
    fn version_1_looks_like_this() {
        let note = Event::Note(NoteRecord { text: "hello".to_owned() });
        let line = encode(1, GENESIS, time(), &note).expect("a line");
        let bare = format!(r#"{{"kind":"note","prev":"{GENESIS}","seq":1,"text":"hello","time":"2026-03-01T10:00:00Z","v":1}}"#);
        assert_eq!(line.text, format!("{{\"h\":\"{}\",{}\n", Digest::of(&bare), &bare[1..]));
    }

    #[test]
    fn a_wordy_run_loses_findings_before_it_is_refused() {
        let mut wordy = run("r1");
        wordy.subjects[0].findings = (0..600).map(|_| finding("open", &"w".repeat(500))).chain([finding("blocking", "b")]).collect();
        let line = encode(1, GENESIS, time(), &Event::Run(wordy)).expect("a line");
        let Event::Run(kept) = line.record.event else { panic!("a run") };
        assert_eq!((kept.subjects[0].findings.len(), kept.omitted_findings), (1, 600));

        let mut wide = run("r1");
        wide.subjects = (0..500).map(|i| subject(&format!("{i:016x}"))).collect();
        assert!(matches!(encode(1, GENESIS, time(), &Event::Run(wide)), Err(LedgerError::TooLarge { .. })));
    }

    #[test]
    fn a_number_that_json_does_not_have_is_never_written() {
        let record = RunRecord { usd: f64::NAN, ..run("r1") };
        assert!(matches!(encode(1, GENESIS, time(), &Event::Run(record)), Err(LedgerError::Unwritable { .. })));
    }

    #[test]
    fn a_newer_record_is_told_from_a_broken_one() {
        let reader = |bare: &str| {
            let text = bare.replacen('{', &format!("{{\"h\":\"{}\",", Digest::of(bare)), 1);
            decode(Path::new("l"), 1, &text)
        };
        let good = format!(r#"{{"kind":"note","prev":"{GENESIS}","seq":1,"text":"t","time":"2026-03-01T10:00:00Z","v":1}}"#);
        assert!(reader(&good).is_ok());
        assert!(reader(&good.replace("\"seq\"", "\"later\":{\"x\":[1]},\"seq\"")).is_ok(), "a key added later is no reason to refuse");
        for newer in [good.replace("\"v\":1", "\"v\":2"), good.replace("\"note\"", "\"publish\"")] {
            assert!(matches!(reader(&newer), Err(LedgerError::Newer { .. })), "{newer}");
        }
        for broken in [good.replace("\"text\"", "\"texts\""), good.replace("10:00", "25:00"), good.replace("\"seq\":1,", ""), good.replace('}', "")] {
            assert!(matches!(reader(&broken), Err(LedgerError::Broken { .. })), "{broken}");
        }
    }
}
