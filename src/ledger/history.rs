//! A verified chain in memory: every record from the first to the last, each following from the one before. All views are folds over it.
//!
//! There is no history of a broken ledger, so no view has to ask. Where the bytes come from is `store.rs`'s business.

use super::error::LedgerError;
use super::line::{GENESIS, decode};
use super::record::{Event, Record, RunRecord};
use std::path::{Path, PathBuf};

/// The records of a ledger, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    path: PathBuf,
    records: Vec<Record>,
    whole: u64,
    torn: u64,
}

/// What `log verify` says of an intact ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// How many records it has.
    pub records: u64,
    /// The last record's hash; `None` for an empty ledger.
    pub head: Option<String>,
    /// How many bytes follow the last whole line: a crash cut an append, nothing was let through on it, and the next append moves them aside.
    pub torn_bytes: u64,
}

impl History {
    /// Starts with no record.
    pub(super) fn empty(path: PathBuf) -> History {
        History { path, records: Vec::new(), whole: 0, torn: 0 }
    }

    /// Reads on: `bytes` are what the file has after the part that is known. Returns what follows the last line end.
    pub(super) fn absorb<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], LedgerError> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // Checked and cut as one text rather than line by line: a push waits for this, and std does both with wide loads.
        let lines = valid_lines(&bytes[..whole]);
        for line in lines.split_inclusive('\n') {
            let record = decode(&self.path, self.next_seq(), &line[..line.len() - 1])?;
            self.push(record, line.len())?;
        }
        if lines.len() < whole {
            return Err(LedgerError::Broken { path: self.path.clone(), line: self.next_seq(), why: "not UTF-8".to_owned() });
        }
        self.torn = (bytes.len() - whole) as u64;
        Ok(&bytes[whole..])
    }

    /// Adds a record that has `len` bytes in the file, if it follows from the last one.
    pub(super) fn push(&mut self, record: Record, len: usize) -> Result<(), LedgerError> {
        let line = self.next_seq();
        let broken = |why: String| Err(LedgerError::Broken { path: self.path.clone(), line, why });
        if record.seq != line {
            return broken(format!("its number is {} where {line} is due", record.seq));
        }
        if record.prev != self.head() {
            return broken("it does not follow from the record before it".to_owned());
        }
        self.whole += len as u64;
        self.torn = 0;
        self.records.push(record);
        Ok(())
    }

    /// Returns the number of the next record, which is also its 1-based line.
    pub(super) fn next_seq(&self) -> u64 {
        self.records.len() as u64 + 1
    }

    /// Returns the hash that the next record must name.
    pub(super) fn head(&self) -> &str {
        self.records.last().map_or(GENESIS, |record| &record.hash)
    }

    /// Returns how many bytes of the file the records take.
    pub(super) fn len_in_bytes(&self) -> u64 {
        self.whole
    }

    /// Returns the file's path, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all records, newest last.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Iterates over the runs, newest first, each with its record.
    pub(super) fn runs_newest_first(&self) -> impl Iterator<Item = (&Record, &RunRecord)> {
        self.records.iter().rev().filter_map(|record| match &record.event {
            Event::Run(run) => Some((record, run)),
            Event::Override(_) | Event::Repair(_) | Event::Note(_) => None,
        })
    }

    /// Sums the chain up for `log verify`.
    pub fn report(&self) -> Report {
        let head = self.records.last().map(|record| record.hash.clone());
        Report { path: self.path.clone(), records: self.records.len() as u64, head, torn_bytes: self.torn }
    }
}

/// Returns the whole lines before the first byte that is not UTF-8.
fn valid_lines(bytes: &[u8]) -> &str {
    let valid = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    &valid[..valid.rfind('\n').map_or(0, |at| at + 1)]
}

#[cfg(test)]
pub(super) mod samples {
    use super::super::line::encode;
    use super::*;
    use crate::clock::Timestamp;

    /// The bytes of a ledger that holds these events, one a minute from ten o'clock.
    pub(crate) fn bytes(events: &[Event]) -> Vec<u8> {
        let mut history = History::empty(PathBuf::from("l"));
        let mut text = String::new();
        for (minute, event) in events.iter().enumerate() {
            let time: Timestamp = format!("2026-03-01T10:{minute:02}:00Z").parse().expect("a time");
            let line = encode(history.next_seq(), history.head(), time, event).expect("a line");
            history.push(line.record, line.text.len()).expect("it follows");
            text.push_str(&line.text);
        }
        text.into_bytes()
    }

    /// The history of those events.
    pub(crate) fn history(events: &[Event]) -> History {
        let mut history = History::empty(PathBuf::from("l"));
        history.absorb(&bytes(events)).expect("intact");
        history
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{NoteRecord, samples::run};
    use super::*;

    fn ledger() -> Vec<u8> {
        let note = |text: &str| Event::Note(NoteRecord { text: text.to_owned() });
        samples::bytes(&[note("one"), Event::Run(run("r1")), note("three")])
    }

    fn read(bytes: &[u8]) -> Result<Report, LedgerError> {
        let mut history = History::empty(PathBuf::from("l"));
        history.absorb(bytes).map(|_| ())?;
        Ok(history.report())
    }

    #[test]
    fn an_intact_chain_is_reported_with_its_head() {
        let report = read(&ledger()).expect("intact");
        assert_eq!((report.records, report.torn_bytes), (3, 0));
        assert_eq!(report.head.expect("a head").len(), 64);
        assert_eq!(read(b"").expect("intact").head, None);
    }

    #[test]
    fn every_flipped_byte_names_its_record() {
        let good = ledger();
        for at in 0..good.len() {
            let line = 1 + good[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
            // The last one makes the byte a line end; where it is one already, there is nothing to see.
            for flip in [0x01, 0x20, 0x80, good[at] ^ b'\n'].into_iter().filter(|flip| *flip != 0) {
                let mut bad = good.clone();
                bad[at] ^= flip;
                match read(&bad) {
                    Err(LedgerError::Broken { line: named, .. }) => assert_eq!(named, line, "byte {at}"),
                    // The last line end gone: what precedes it is a torn line, and is said to be one.
                    Ok(report) if at == good.len() - 1 => assert!(report.records == 2 && report.torn_bytes > 0),
                    other => panic!("byte {at} flipped by {flip:#x}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn lines_that_are_missing_doubled_or_swapped_break_the_chain() {
        let good = ledger();
        let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
        let cases = [(vec![1, 2], 1), (vec![0, 2], 2), (vec![0, 0, 1], 2), (vec![0, 2, 1], 2), (vec![0, 1, 1], 3)];
        for (order, expected) in cases {
            let bytes: Vec<u8> = order.iter().flat_map(|i| lines[*i].to_vec()).collect();
            assert!(matches!(read(&bytes), Err(LedgerError::Broken { line, .. }) if line == expected), "{order:?}");
        }
        assert!(matches!(read(&[lines[0], b"\n"].concat()), Err(LedgerError::Broken { line: 2, .. })), "an empty line");
    }

    #[test]
    fn a_record_of_another_ledger_does_not_follow() {
        let other = samples::bytes(&[Event::Run(run("x")), Event::Run(run("y"))]);
        let first = ledger();
        let first = &first[..=first.iter().position(|byte| *byte == b'\n').expect("a line")];
        let second = &other[1 + other.iter().position(|byte| *byte == b'\n').expect("a line")..];
        assert!(matches!(read(&[first, second].concat()), Err(LedgerError::Broken { line: 2, .. })));
    }
}
