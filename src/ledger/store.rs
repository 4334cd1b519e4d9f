//! The ledger on disk: lock, catch up, append, sync. The only writer, and the only maker of a [`Recorded`].
//!
//! A handle stays open for a whole run, the lock is held for single moments only: while reading, and from catching up to the sync of an append. What the records
//! mean is `history.rs`'s and its views' business.

use super::error::LedgerError;
use super::history::History;
use super::line::{self, Line};
use super::lock::{Access, lock};
use super::overrides::{self, Override};
use super::place::Place;
use super::reason::{Lifetime, Reason};
use super::record::{Event, NoteRecord, RefName, RepairRecord, RunRecord, VerdictWord};
use super::turn::Turns;
use crate::change::subject::SubjectId;
use crate::clock::Timestamp;
use crate::digest::Digest;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

/// How long one run waits for another to finish its append (threat T19).
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How many torn lines may be kept for one and the same record number.
const TORN_NAMES: u32 = 100;

/// The ledger, open for appending.
#[derive(Debug)]
pub struct Ledger {
    place: Place,
    file: File,
    history: History,
    wait: Duration,
}

/// The proof that a run's record is on disk. Only [`Ledger::append_run`] makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Recorded {
    seq: u64,
    run_id: String,
    verdict: VerdictWord,
    exit_code: u8,
}

impl Recorded {
    /// Returns the record's number.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the run that was recorded.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns the verdict that was recorded.
    pub fn verdict(&self) -> VerdictWord {
        self.verdict
    }

    /// Returns the status that was recorded.
    pub fn exit_code(&self) -> u8 {
        self.exit_code
    }
}

impl Ledger {
    /// Opens the ledger below git's common directory, making it where it is missing, and verifies the whole chain. Call it before any review is paid for.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14.
    pub fn open(common_dir: &Path) -> Result<Ledger, LedgerError> {
        Ledger::open_within(common_dir, LOCK_WAIT)
    }

    fn open_within(common_dir: &Path, wait: Duration) -> Result<Ledger, LedgerError> {
        let place = Place::create(common_dir)?;
        let file = place.open_to_append()?;
        let history = read_all(&place, &file, wait)?;
        Ok(Ledger { place, file, history, wait })
    }

    /// Returns the records up to the last append of this handle, and their views.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the means to take turns with other runs over the same content.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14.
    pub fn turns(&self) -> Result<Turns, LedgerError> {
        self.place.again().map(Turns::none)
    }

    /// Reads what other runs have appended since.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14.
    pub fn refresh(&mut self) -> Result<(), LedgerError> {
        let _lock = lock(&self.file, Access::Read, self.wait, self.history.path())?;
        self.place.check_current(&self.file)?;
        catch_up(&self.file, &mut self.history).map(|_| ())
    }

    /// Appends the record of a run and syncs it. What other runs appended meanwhile is read first; an override that the run relies on must still hold then.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14. Nothing may be let through then.
    pub fn append_run(&mut self, run: RunRecord, now: Timestamp) -> Result<Recorded, LedgerError> {
        let (run_id, verdict, exit_code) = (run.run_id.clone(), run.verdict, run.exit_code);
        let seq = self.append(now, |history| {
            history.check_overrides_of(&run, now).map_err(|(id, why)| LedgerError::OverrideSpent { id, why })?;
            Ok(Event::Run(run))
        })?;
        Ok(Recorded { seq, run_id, verdict, exit_code })
    }

    /// Records that a person lets one subject through, to `place` alone where one is named, else to the ref of the first use.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14.
    pub fn add_override(
        &mut self,
        subject: &SubjectId,
        place: Option<RefName>,
        reason: &Reason,
        lives: Lifetime,
        now: Timestamp,
    ) -> Result<Override, LedgerError> {
        let mut made = None;
        self.append(now, |history| {
            let record = overrides::new_record(history.next_seq(), subject, place, reason, lives, now);
            made = Some(Override::from(&record));
            Ok(Event::Override(record))
        })?;
        Ok(made.expect("append calls the closure before it succeeds"))
    }

    /// Records a remark of the gate about itself.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14.
    pub fn note(&mut self, text: impl Into<String>, now: Timestamp) -> Result<(), LedgerError> {
        let text = text.into();
        self.append(now, |_| Ok(Event::Note(NoteRecord { text }))).map(|_| ())
    }

    /// Appends what `event` makes of the records as they are under the lock, and returns its number. All or nothing: what fails leaves no whole record behind.
    fn append(&mut self, now: Timestamp, event: impl FnOnce(&History) -> Result<Event, LedgerError>) -> Result<u64, LedgerError> {
        let _lock = lock(&self.file, Access::Append, self.wait, self.history.path())?;
        self.place.check_current(&self.file)?;
        let torn = catch_up(&self.file, &mut self.history)?;
        let event = event(&self.history)?;
        let mut batch = Batch::after(&self.history);
        if !torn.is_empty() {
            batch.add(now, &Event::Repair(set_aside(&self.place, batch.seq, &torn)?))?;
        }
        batch.add(now, &event)?;
        write(&self.file, &self.history, &batch)?;
        for line in batch.lines {
            self.history.push(line.record, line.text.len())?;
        }
        Ok(batch.seq - 1)
    }
}

/// Lines that are appended in one piece, each following from the one before.
struct Batch {
    lines: Vec<Line>,
    seq: u64,
    head: String,
}

impl Batch {
    fn after(history: &History) -> Batch {
        Batch { lines: Vec::new(), seq: history.next_seq(), head: history.head().to_owned() }
    }

    fn add(&mut self, now: Timestamp, event: &Event) -> Result<(), LedgerError> {
        let line = line::encode(self.seq, &self.head, now, event)?;
        self.seq += 1;
        self.head.clone_from(&line.record.hash);
        self.lines.push(line);
        Ok(())
    }
}

impl History {
    /// Reads and verifies the ledger below git's common directory. Makes nothing; where there is no ledger yet, the history is empty.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14.
    pub fn read(common_dir: &Path) -> Result<History, LedgerError> {
        let Some(place) = Place::find(common_dir)? else {
            return Ok(History::empty(Place::ledger_path_below(common_dir)));
        };
        match place.open_to_read()? {
            Some(file) => read_all(&place, &file, LOCK_WAIT),
            None => Ok(History::empty(place.ledger_path())),
        }
    }
}

fn read_all(place: &Place, file: &File, wait: Duration) -> Result<History, LedgerError> {
    let mut history = History::empty(place.ledger_path());
    let _lock = lock(file, Access::Read, wait, history.path())?;
    catch_up(file, &mut history)?;
    Ok(history)
}

/// Reads what the file has beyond `history` and returns the torn rest. Call it under the lock.
fn catch_up(mut file: &File, history: &mut History) -> Result<Vec<u8>, LedgerError> {
    let known = history.len_in_bytes();
    let failed = |error| LedgerError::io("read", history.path(), error);
    let len = file.metadata().map_err(failed)?.len();
    if len < known {
        let why = format!("the file has shrunk from {known} to {len} bytes while this run was under way");
        return Err(LedgerError::Broken { path: history.path().to_owned(), line: history.next_seq() - 1, why });
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(known)).map_err(failed)?;
    file.read_to_end(&mut bytes).map_err(failed)?;
    history.absorb(&bytes).map(<[u8]>::to_vec)
}

/// Writes the lines after the last whole one in one piece, and syncs them. On failure the file is cut back to where it was whole.
fn write(mut file: &File, history: &History, batch: &Batch) -> Result<(), LedgerError> {
    let whole = history.len_in_bytes();
    let text: String = batch.lines.iter().map(|line| line.text.as_str()).collect();
    let written = file.set_len(whole).and_then(|()| file.write_all(text.as_bytes())).and_then(|()| file.sync_data());
    written.map_err(|error| {
        // Best effort: what stays behind is a torn line, and the next append moves it aside.
        let _ = file.set_len(whole);
        LedgerError::io("append to", history.path(), error)
    })
}

/// Keeps the bytes of a line that a crash had cut in a file of their own, durable before the ledger is touched.
fn set_aside(place: &Place, seq: u64, torn: &[u8]) -> Result<RepairRecord, LedgerError> {
    let names = (0..TORN_NAMES).map(|n| if n == 0 { format!("ledger.torn.{seq}") } else { format!("ledger.torn.{seq}.{n}") });
    for name in names {
        let Some(mut kept) = place.create_new(&name)? else { continue };
        let failed = |error| LedgerError::io("write", &place.ledger_path().with_file_name(&name), error);
        kept.write_all(torn).map_err(failed)?;
        kept.sync_all().map_err(failed)?;
        place.sync()?;
        return Ok(RepairRecord { file: name, bytes: torn.len() as u64, sha256: Digest::of(torn).hex() });
    }
    let why = format!("lies beside {TORN_NAMES} files `ledger.torn.{seq}…`; move them away");
    Err(LedgerError::Unsafe { path: place.ledger_path(), why })
}

#[cfg(test)]
mod tests {
    use super::super::overrides::{Refusal, Standing};
    use super::super::record::samples::{place, run, subject};
    use super::super::record::{Basis, SubjectRecord};
    use super::*;
    use crate::clock::instant;
    use std::fs;
    use std::path::PathBuf;

    const SOON: Duration = Duration::from_millis(50);

    fn now() -> Timestamp {
        "2026-03-01T10:00:00Z".parse().expect("a time")
    }

    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    fn file(common: &tempfile::TempDir) -> PathBuf {
        common.path().join("review-gate").join("ledger.jsonl")
    }

    fn filled(common: &tempfile::TempDir, runs: u64) -> Ledger {
        let mut ledger = Ledger::open(common.path()).expect("a ledger");
        for i in 1..=runs {
            ledger.append_run(run(&format!("r{i}")), now()).expect("recorded");
        }
        ledger
    }

    #[test]
    fn what_was_appended_is_there_for_the_next_reader() {
        let common = scratch();
        let mut ledger = filled(&common, 2);
        let recorded = ledger.append_run(RunRecord { exit_code: 1, verdict: VerdictWord::Fail, ..run("r3") }, now()).expect("recorded");
        assert_eq!((recorded.seq(), recorded.run_id(), recorded.verdict(), recorded.exit_code()), (3, "r3", VerdictWord::Fail, 1));
        ledger.note("hooks installed", now()).expect("recorded");
        let read = History::read(common.path()).expect("intact");
        assert_eq!(&read, ledger.history());
        assert_eq!((read.report().records, read.report().torn_bytes), (4, 0));
    }

    #[test]
    fn what_others_appended_is_read_on_and_a_broken_or_replaced_file_is_no_news() {
        let common = scratch();
        let (mut first, mut second) = (filled(&common, 1), filled(&common, 1));
        first.append_run(run("r3"), now()).expect("recorded");
        assert_eq!(second.history().report().records, 2);
        second.refresh().expect("intact");
        assert_eq!(second.history(), first.history());
        let text = fs::read_to_string(file(&common)).expect("text");
        fs::write(file(&common), format!("{text}{{}}\n")).expect("written");
        assert!(matches!(second.refresh(), Err(LedgerError::Broken { .. })));
        fs::remove_file(file(&common)).expect("removed");
        assert!(matches!(first.refresh(), Err(LedgerError::Replaced { .. })));
    }

    #[test]
    fn reading_makes_nothing() {
        let common = scratch();
        assert_eq!(History::read(common.path()).expect("empty").records(), []);
        assert_eq!(fs::read_dir(common.path()).expect("readable").count(), 0);
    }

    #[test]
    fn many_writers_leave_one_chain_without_gaps() {
        const WRITERS: usize = 8;
        const APPENDS: usize = 25;
        let common = scratch();
        let mut seqs: Vec<u64> = std::thread::scope(|scope| {
            let work = |writer: usize| {
                let common = common.path();
                move || {
                    let mut ledger = Ledger::open(common).expect("a ledger");
                    let record = |i| ledger.append_run(run(&format!("w{writer}-{i}")), now()).expect("recorded").seq();
                    (0..APPENDS).map(record).collect::<Vec<u64>>()
                }
            };
            let workers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(work(writer))).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
        });
        seqs.sort_unstable();
        let all = (WRITERS * APPENDS) as u64;
        assert!(seqs.iter().copied().eq(1..=all), "every append had its own number");
        let read = History::read(common.path()).expect("intact");
        assert_eq!(read.report().records, all);
    }

    #[test]
    fn a_line_that_a_crash_cut_is_kept_aside_and_told_of() {
        for at in ["first byte", "middle", "line end"] {
            let common = scratch();
            drop(filled(&common, 3));
            let bytes = fs::read(file(&common)).expect("readable");
            let third = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("a line") + 1;
            let cut = match at {
                "first byte" => third + 1,
                "middle" => third + 100,
                _ => bytes.len() - 1,
            };
            fs::write(file(&common), &bytes[..cut]).expect("written");

            let before = History::read(common.path()).expect("the whole lines are intact");
            assert_eq!((before.report().records, before.report().torn_bytes), (2, (cut - third) as u64), "{at}");
            assert_eq!(fs::read(file(&common)).expect("readable").len(), cut, "reading repairs nothing");

            let recorded = Ledger::open(common.path()).expect("open").append_run(run("r4"), now()).expect("recorded");
            assert_eq!(recorded.seq(), 4);
            let kept = file(&common).with_file_name("ledger.torn.3");
            assert_eq!(fs::read(kept).expect("kept"), &bytes[third..cut]);
            let read = History::read(common.path()).expect("intact");
            let repair = RepairRecord { file: "ledger.torn.3".to_owned(), bytes: (cut - third) as u64, sha256: Digest::of(&bytes[third..cut]).hex() };
            assert_eq!(read.records()[2].event, Event::Repair(repair));
            assert_eq!(read.report().records, 4);
        }
    }

    #[test]
    fn a_second_torn_line_of_the_same_number_does_not_replace_the_first() {
        let common = scratch();
        drop(filled(&common, 1));
        let kept = file(&common).with_file_name("ledger.torn.2");
        fs::write(&kept, "from a repair that was itself cut short").expect("written");
        fs::OpenOptions::new().append(true).open(file(&common)).expect("open").write_all(b"{\"torn").expect("written");
        Ledger::open(common.path()).expect("open").append_run(run("r2"), now()).expect("recorded");
        assert_eq!(fs::read_to_string(&kept).expect("kept"), "from a repair that was itself cut short");
        assert_eq!(fs::read_to_string(file(&common).with_file_name("ledger.torn.2.1")).expect("kept"), "{\"torn");
    }

    #[test]
    fn a_broken_chain_cannot_be_opened_and_is_left_as_it_is() {
        let common = scratch();
        drop(filled(&common, 3));
        let bad = fs::read_to_string(file(&common)).expect("readable").replacen("\"r2\"", "\"rX\"", 1);
        fs::write(file(&common), &bad).expect("written");
        assert!(matches!(Ledger::open(common.path()), Err(LedgerError::Broken { line: 2, .. })));
        assert!(matches!(History::read(common.path()), Err(LedgerError::Broken { line: 2, .. })));
        assert_eq!(fs::read_to_string(file(&common)).expect("readable"), bad);
    }

    #[test]
    fn what_breaks_the_chain_during_a_run_is_seen_at_the_append() {
        type Harm = fn(&Path, &[u8]);
        let shrink: Harm = |path, good| fs::write(path, &good[..good.len() / 2]).expect("written");
        let garbage: Harm = |path, good| fs::write(path, [good, b"garbage\n"].concat()).expect("written");
        let double: Harm = |path, good| fs::write(path, [good, good].concat()).expect("written");
        for harm in [shrink, garbage, double] {
            let common = scratch();
            let mut ledger = filled(&common, 2);
            harm(&file(&common), &fs::read(file(&common)).expect("readable"));
            assert!(matches!(ledger.append_run(run("r3"), now()), Err(LedgerError::Broken { .. })));
        }
        let common = scratch();
        let mut ledger = filled(&common, 2);
        fs::remove_file(file(&common)).expect("removed");
        assert!(matches!(ledger.append_run(run("r3"), now()), Err(LedgerError::Replaced { .. })));
    }

    #[test]
    fn a_lock_that_is_held_is_waited_for_and_then_refused() {
        let common = scratch();
        let mut ledger = filled(&common, 1);
        ledger.wait = SOON;
        let other = File::open(file(&common)).expect("open");

        other.lock_shared().expect("locked");
        assert!(Ledger::open_within(common.path(), SOON).is_ok(), "readers do not keep readers out");
        assert!(matches!(ledger.append_run(run("r2"), now()), Err(LedgerError::Locked { waited: SOON, .. })));
        other.unlock().expect("unlocked");

        other.lock().expect("locked");
        let began = instant();
        assert!(matches!(Ledger::open_within(common.path(), SOON), Err(LedgerError::Locked { .. })));
        assert!(began.elapsed() >= SOON, "it was waited for");
        other.unlock().expect("unlocked");
        assert_eq!(ledger.append_run(run("r2"), now()).expect("recorded").seq(), 2);
    }

    #[test]
    fn an_append_that_fails_is_an_error_and_leaves_the_chain_as_it_was() {
        let common = scratch();
        let mut ledger = filled(&common, 1);
        let before = fs::read(file(&common)).expect("readable");
        let writable = std::mem::replace(&mut ledger.file, File::open(file(&common)).expect("open"));
        assert!(matches!(ledger.append_run(run("r2"), now()), Err(LedgerError::Io { .. })));
        let nan = RunRecord { usd: f64::NAN, ..run("r2") };
        ledger.file = writable;
        assert!(matches!(ledger.append_run(nan, now()), Err(LedgerError::Unwritable { .. })));
        assert_eq!(fs::read(file(&common)).expect("readable"), before);
        assert_eq!(ledger.append_run(run("r2"), now()).expect("recorded").seq(), 2);
    }

    fn overridden(id: &str, name: &str) -> RunRecord {
        let subject = SubjectRecord { basis: Basis::Override(id.to_owned()), refs: vec![place("origin", name)], ..subject("5b1ec7") };
        RunRecord { subjects: vec![subject], ..run("r") }
    }

    #[test]
    fn two_runs_cannot_use_one_override_for_two_refs_at_the_same_time() {
        let common = scratch();
        let subject = SubjectId("5b1ec7".to_owned());
        let reason = Reason::parse("vendor outage, reviewed by hand with Kim").expect("a reason");
        let mut first = Ledger::open(common.path()).expect("a ledger");
        let made = first.add_override(&subject, None, &reason, Lifetime::default(), now()).expect("recorded");
        let mut second = Ledger::open(common.path()).expect("a ledger");
        for (ledger, name) in [(&first, "main"), (&second, "dev")] {
            let standing = ledger.history().override_for(&subject, &[place("origin", name)], now());
            assert_eq!(standing, Standing::Valid(made.clone()), "both see it unused");
        }
        first.append_run(overridden(&made.id, "main"), now()).expect("the first use binds it");
        let refused = second.append_run(overridden(&made.id, "dev"), now());
        assert!(matches!(refused, Err(LedgerError::OverrideSpent { why: Refusal::OtherRef { .. }, .. })), "{refused:?}");
        second.append_run(overridden(&made.id, "main"), now()).expect("the same ref again");
        assert_eq!(second.history().report().records, 3);
    }
}
