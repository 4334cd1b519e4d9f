//! Whose turn it is to review: one run at a time for one receipt key, so that identical pushes at once share one review (threat T19, case P53).
//!
//! A turn is an empty file beside the ledger that its holder has locked; the system lets go of the lock however the holder ends, and a file that is left behind
//! means nothing. A turn decides nothing either: whoever waited for it looks for the receipt, and reviews where there is none.

use super::error::LedgerError;
use super::place::Place;
use super::receipt::ReceiptKey;
use crate::clock::Deadline;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::time::Duration;

/// How often a taken turn is tried again. A review takes seconds at the least.
const POLL: Duration = Duration::from_millis(20);

/// The turns that this run has. Given back when dropped.
#[derive(Debug)]
pub struct Turns {
    place: Place,
    held: BTreeMap<String, File>,
}

impl Turns {
    /// Begins with none.
    pub(super) fn none(place: Place) -> Turns {
        Turns { place, held: BTreeMap::new() }
    }

    /// Takes the turn for a key, waiting for whoever has it. Two runs that want several must take them in the order of the keys, so that neither waits for the
    /// other. `waits` is called once, before the first wait. False where the deadline passed or `stop` said so.
    ///
    /// # Errors
    /// [`LedgerError`]; status 14: the file cannot be made, or somebody put something else in its place.
    pub fn take(&mut self, key: &ReceiptKey, deadline: Deadline, stop: &dyn Fn() -> bool, waits: &mut dyn FnMut()) -> Result<bool, LedgerError> {
        if self.try_take(key)? {
            return Ok(true);
        }
        waits();
        while !stop() && !deadline.passed() {
            std::thread::sleep(POLL.min(deadline.left()));
            if self.try_take(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives one back before the others.
    pub fn give_back(&mut self, key: &ReceiptKey) {
        let name = name(key);
        if let Some(file) = self.held.remove(&name) {
            release(&self.place, &name, &file);
        }
    }

    fn try_take(&mut self, key: &ReceiptKey) -> Result<bool, LedgerError> {
        let name = name(key);
        let file = self.place.open_lock(&name)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(LedgerError::io("lock", &self.place.path_of(&name), error)),
        }
        // Whoever had it took the file away between our opening and locking it: ours is no longer the one that others look at.
        if !self.place.is_current(&name, &file)? {
            return Ok(false);
        }
        self.held.insert(name, file);
        Ok(true)
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.held.iter().for_each(|(name, file)| release(&self.place, name, file));
    }
}

/// Takes the file away while it is still locked; closing it lets go of the lock. One that stays is taken over by the next run.
fn release(place: &Place, name: &str, file: &File) {
    if place.is_current(name, file).unwrap_or(false) {
        place.remove(name);
    }
}

fn name(key: &ReceiptKey) -> String {
    format!("turn-{}", key.short())
}

#[cfg(test)]
mod tests {
    use super::super::store::Ledger;
    use super::*;
    use crate::clock::Limit;
    use crate::digest::Digest;
    use std::fs;

    const LONG: Duration = Duration::from_secs(20);

    fn key(name: &str) -> ReceiptKey {
        ReceiptKey::from(Digest::of(name))
    }

    fn turns(common: &tempfile::TempDir) -> Turns {
        Ledger::open(common.path()).and_then(|ledger| ledger.turns()).expect("a ledger")
    }

    fn files(common: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(common.path().join("review-gate")).expect("readable");
        let mut names: Vec<String> = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn at_once(turns: &mut Turns, name: &str) -> bool {
        turns.take(&key(name), Deadline::after(Duration::ZERO, Limit::Run), &|| false, &mut || {}).expect("readable")
    }

    #[test]
    fn a_turn_is_one_runs_until_it_gives_it_back() {
        let common = tempfile::tempdir().expect("a directory");
        let (mut first, mut second) = (turns(&common), turns(&common));
        assert!(at_once(&mut first, "a") && at_once(&mut first, "b"));
        assert!(!at_once(&mut second, "a") && at_once(&mut second, "c"));
        first.give_back(&key("a"));
        assert!(at_once(&mut second, "a") && !at_once(&mut second, "b"));
        drop(first);
        assert!(at_once(&mut second, "b"));
        drop(second);
        assert_eq!(files(&common), ["ledger.jsonl"], "nothing is left behind");
    }

    #[test]
    fn a_file_that_a_dead_run_left_is_taken_over() {
        let common = tempfile::tempdir().expect("a directory");
        let mut first = turns(&common);
        assert!(at_once(&mut first, "a"));
        // The end of a process closes its files, and runs no destructor.
        let held = std::mem::take(&mut first.held);
        drop(held);
        assert_eq!(files(&common).len(), 2);
        assert!(at_once(&mut turns(&common), "a"));
    }

    #[test]
    fn a_wait_is_told_once_and_ends_with_the_deadline_or_when_it_is_stopped() {
        let common = tempfile::tempdir().expect("a directory");
        let (mut first, mut second) = (turns(&common), turns(&common));
        assert!(at_once(&mut first, "a"));
        let mut told = 0;
        let soon = Deadline::after(Duration::from_millis(100), Limit::Run);
        assert!(!second.take(&key("a"), soon, &|| false, &mut || told += 1).expect("readable"));
        assert!(!second.take(&key("a"), Deadline::after(LONG, Limit::Run), &|| true, &mut || told += 1).expect("readable"));
        assert_eq!(told, 2);
    }

    #[test]
    fn whoever_waits_for_a_file_that_is_taken_away_gets_the_next_one() {
        let common = tempfile::tempdir().expect("a directory");
        let (mut first, mut second) = (turns(&common), turns(&common));
        assert!(at_once(&mut first, "a"));
        let (told, waiting) = std::sync::mpsc::channel();
        let waiter = std::thread::spawn(move || {
            let taken = second.take(&key("a"), Deadline::after(LONG, Limit::Run), &|| false, &mut || told.send(()).expect("someone listens"));
            (taken.expect("readable"), second)
        });
        waiting.recv().expect("it waits");
        drop(first);
        let (taken, _second) = waiter.join().expect("no panic");
        assert!(taken && !at_once(&mut turns(&common), "a"), "the second has it, under the name that the third looks at");
    }

    #[test]
    fn a_link_in_its_place_is_refused() {
        let common = tempfile::tempdir().expect("a directory");
        let mut turns = turns(&common);
        let target = common.path().join("target");
        std::os::unix::fs::symlink(&target, common.path().join("review-gate").join(name(&key("a")))).expect("a link");
        let refused = turns.take(&key("a"), Deadline::after(LONG, Limit::Run), &|| false, &mut || {});
        assert!(matches!(refused, Err(LedgerError::Unsafe { .. })), "{refused:?}");
        assert!(!target.exists());
    }
}
