//! Coverage: what becomes of every changed path. Each is reviewed or listed with the reason why it is not; none is in neither list, and none in both.
//!
//! Leaves to others: which file is to be shown (`paths`, the command) and how it is cut (`change::slice`). Pure.

use crate::change::{Body, BytePath, Change, FileChange};
use crate::outcome::{PassOutcome, PassResult};
use std::collections::{BTreeMap, BTreeSet};

/// Why a path was not reviewed. Ordered: of two reasons for one path the later one is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unreviewed {
    /// Its entry at the tip is one that the remote already has.
    AlreadyPublished,
    /// A NUL byte near the start of a side.
    Binary,
    /// A pointer to content that git does not hold.
    Lfs,
    /// A lock file: a summary of the difference was reviewed in place of its lines.
    Lockfile,
    /// The policy at the base calls it generated.
    Generated,
    /// The policy at the base calls it data.
    Data,
    /// The policy at the base excludes it.
    Excluded,
    /// It should have been reviewed, and is too large to be read as text.
    TooLarge,
    /// It should have been reviewed, and nobody was asked: something else had decided already.
    NotSent,
    /// It was sent, and a mandatory pass has no answer about it.
    NoAnswer,
}

impl Unreviewed {
    /// Returns the word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Unreviewed::AlreadyPublished => "already-published",
            Unreviewed::Binary => "binary",
            Unreviewed::Lfs => "lfs",
            Unreviewed::Lockfile => "lockfile",
            Unreviewed::Generated => "generated",
            Unreviewed::Data => "data",
            Unreviewed::Excluded => "excluded",
            Unreviewed::TooLarge => "too-large",
            Unreviewed::NotSent => "not-sent",
            Unreviewed::NoAnswer => "no-answer",
        }
    }

    /// Tells whether the path should have been reviewed: what is out of review by its nature or by the policy is listed and lacks nothing.
    pub fn is_missing(self) -> bool {
        match self {
            Unreviewed::TooLarge | Unreviewed::NotSent | Unreviewed::NoAnswer => true,
            Unreviewed::AlreadyPublished
            | Unreviewed::Binary
            | Unreviewed::Lfs
            | Unreviewed::Lockfile
            | Unreviewed::Generated
            | Unreviewed::Data
            | Unreviewed::Excluded => false,
        }
    }
}

/// What is to be done with a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is put to the reviewers.
    Sent,
    /// It is only listed.
    Listed(Unreviewed),
}

/// The changed files, sorted into those that are sent and those that are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    sent: Vec<FileChange>,
    listed: Vec<(BytePath, Unreviewed)>,
}

/// Who looked at what was to be sent.
#[derive(Debug, Clone, Copy)]
pub enum Asked<'a> {
    /// Nobody.
    Nobody,
    /// Those of an earlier run that passed with exactly this content: a receipt.
    Before,
    /// The mandatory passes, with what became of them.
    Now(&'a [PassResult]),
}

impl Coverage {
    /// Sorts every file of the change. `fate` must decide about each, so that none falls out; a file is listed under both of its names.
    pub fn of(change: &Change, fate: impl Fn(&FileChange) -> Fate) -> Coverage {
        let (mut sent, mut listed) = (Vec::new(), Vec::new());
        for file in &change.files {
            match fate(file) {
                Fate::Sent => sent.push(file.clone()),
                Fate::Listed(why) => listed.extend(file.paths().map(|path| (path.clone(), why))),
            }
        }
        listed.extend(change.already_published.iter().map(|path| (path.clone(), Unreviewed::AlreadyPublished)));
        Coverage { sent, listed }
    }

    /// Returns the files that are put to the reviewers.
    pub fn sent(&self) -> &[FileChange] {
        &self.sent
    }

    /// Returns the paths of `change` that are in no list. There are none unless the gate is wrong; whoever asks refuses then.
    pub fn lost(&self, change: &Change) -> Vec<BytePath> {
        let known = self.account(Asked::Nobody);
        let changed = change.files.iter().flat_map(FileChange::paths).chain(&change.already_published);
        changed.filter(|path| !known.contains_key(path)).cloned().collect()
    }

    /// Returns the files that are to be sent and are in none of the slices.
    pub fn unsliced<'a>(&self, shown: impl IntoIterator<Item = &'a BytePath>) -> Vec<BytePath> {
        let shown: BTreeSet<&BytePath> = shown.into_iter().collect();
        self.sent.iter().map(FileChange::path).filter(|path| !shown.contains(path)).cloned().collect()
    }

    /// Accounts for every changed path, both names of a renamed file: `None` for one that was reviewed, else why it was not. Reviewed is only what every
    /// mandatory pass has confirmed in full. Where a path stands for two entries (a file became a link) it is reviewed only if both were.
    pub fn account(&self, asked: Asked<'_>) -> BTreeMap<BytePath, Option<Unreviewed>> {
        let unread: BTreeSet<&BytePath> = match asked {
            Asked::Nobody | Asked::Before => BTreeSet::new(),
            Asked::Now(passes) => passes.iter().flat_map(|pass| &pass.unread).collect(),
        };
        let fate = |file: &FileChange| match (&file.body, asked) {
            (Body::Oversize, _) => Some(Unreviewed::TooLarge),
            (_, Asked::Nobody | Asked::Now([])) => Some(Unreviewed::NotSent),
            (_, Asked::Now(passes)) if unread.contains(file.path()) || passes.iter().any(answers_nothing) => Some(Unreviewed::NoAnswer),
            (Body::Summary { .. }, Asked::Before | Asked::Now(_)) => Some(Unreviewed::Lockfile),
            (Body::Text(_) | Body::LineEnds(_) | Body::Utf16(_) | Body::Binary, Asked::Before | Asked::Now(_)) => None,
        };
        let sent = self.sent.iter().flat_map(|file| file.paths().map(move |path| (path, fate(file))));
        let mut all = BTreeMap::new();
        for (path, why) in self.listed.iter().map(|(path, why)| (path, Some(*why))).chain(sent) {
            let known = all.entry(path.clone()).or_insert(why);
            *known = why.max(*known);
        }
        all
    }
}

/// A pass without an answer that does not say which files it lacks has confirmed none.
fn answers_nothing(pass: &PassResult) -> bool {
    !matches!(pass.outcome, PassOutcome::Reviewed(_)) && pass.unread.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Hunk, Mode, Oid, Side, Status};
    use crate::outcome::PassOutcome;
    use crate::reviewer::{Class, Fault, Usage};
    use std::time::Duration;

    fn side(path: &str, mode: Mode) -> Option<Side> {
        Some(Side { path: path.into(), mode, oid: Oid::from_bytes(&[1; 20]).expect("an id"), size: 1 })
    }

    fn missing(unread: &[&str]) -> PassResult {
        let outcome = PassOutcome::of_fault(Fault::new(Class::Unreachable, "down"));
        PassResult {
            name: "general".to_owned(),
            reviewer: None,
            outcome,
            claims: Vec::new(),
            human: None,
            unread: unread.iter().map(|path| (*path).into()).collect(),
            degraded: false,
            attempts: Vec::new(),
            model_reported: None,
            took: Duration::ZERO,
            usage: Usage::default(),
        }
    }

    /// Every shape of change with a number of its own.
    fn file(shape: u64, number: usize) -> FileChange {
        use Mode::{Executable, Gitlink, Regular, Symlink};
        let name = ["a b", "n\nl", "t\tb", "q\"u", "é", "\\", "-rf"][number % 7];
        let (old, new) = (format!("old/{name}{number}"), format!("new/{name}{number}"));
        let text = || Body::Text(vec![Hunk { old_start: 0, old_lines: 0, new_start: 1, new_lines: 1, section: vec![], text: b"+x\n".to_vec() }]);
        let empty = || Body::Text(Vec::new());
        let (status, old, new, body) = match shape {
            0 => (Status::Added, None, side(&new, Regular), text()),
            1 => (Status::Deleted, side(&old, Regular), None, text()),
            2 => (Status::Modified, side(&new, Regular), side(&new, Executable), empty()),
            3 => (Status::Renamed { similarity: 100 }, side(&old, Regular), side(&new, Regular), empty()),
            4 => (Status::Renamed { similarity: 70 }, side(&old, Regular), side(&new, Regular), text()),
            5 => (Status::Modified, side(&new, Regular), side(&new, Regular), Body::Binary),
            6 => (Status::Modified, side(&new, Gitlink), side(&new, Gitlink), text()),
            7 => (Status::Added, None, side(&new, Symlink), text()),
            8 => (Status::Added, None, side(&new, Regular), empty()),
            9 => (Status::Modified, side(&new, Regular), side(&new, Regular), Body::Oversize),
            10 => {
                let Body::Text(hunks) = text() else { unreachable!() };
                (Status::Modified, side(&new, Regular), side(&new, Regular), Body::Summary { text: "s\n".to_owned(), hunks })
            }
            _ => (Status::Deleted, side(&new, Symlink), None, text()),
        };
        FileChange { status, old, new, body }
    }

    /// The paths of a change, read off its sides and not by the code under test.
    fn paths(change: &Change) -> BTreeSet<BytePath> {
        let sides = change.files.iter().flat_map(|file| [&file.old, &file.new]).flatten().map(|side| side.path.clone());
        sides.chain(change.already_published.iter().cloned()).collect()
    }

    #[test]
    fn every_changed_path_is_in_one_list_whatever_its_shape_and_fate() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let files: Vec<FileChange> = (0..next(12) as usize).map(|number| file(next(12), number)).collect();
            let already_published = (0..next(3)).map(|n| BytePath::from(format!("theirs/{n}").as_str())).collect();
            let change = Change { files, already_published };
            let choice = next(9);
            let fates = [Unreviewed::Binary, Unreviewed::Lfs, Unreviewed::Generated, Unreviewed::Data, Unreviewed::Excluded];
            let fate = |file: &FileChange| match (file.path().as_bytes().len() as u64 + choice) % 9 {
                n @ 0..=4 => Fate::Listed(fates[n as usize]),
                _ => Fate::Sent,
            };
            let coverage = Coverage::of(&change, fate);
            let unread: Vec<String> =
                coverage.sent().iter().take(1).map(|file| String::from_utf8_lossy(file.path().as_bytes()).into_owned()).collect();
            let passes = [missing(&unread.iter().map(String::as_str).collect::<Vec<_>>())];
            for asked in [Asked::Nobody, Asked::Before, Asked::Now(&passes), Asked::Now(&[])] {
                let account = coverage.account(asked);
                assert_eq!(account.keys().cloned().collect::<BTreeSet<_>>(), paths(&change), "{change:?}");
                let reviewed = |file: &FileChange| fate(file) == Fate::Sent && matches!(file.body, Body::Text(_) | Body::Binary);
                for (path, why) in &account {
                    let all_sent = change.files.iter().filter(|file| file.paths().any(|one| one == path)).all(reviewed);
                    assert!(why.is_some() || all_sent && !matches!(asked, Asked::Nobody | Asked::Now([])), "{path} {asked:?} {change:?}");
                }
            }
            assert_eq!(coverage.lost(&change), []);
        }
    }

    #[test]
    fn a_path_that_was_dropped_on_the_way_is_noticed() {
        let whole = Change { files: vec![file(0, 0), file(4, 1)], already_published: vec!["p".into()] };
        let less = Change { files: whole.files[..1].to_vec(), already_published: Vec::new() };
        let lost = Coverage::of(&less, |_| Fate::Sent).lost(&whole);
        assert_eq!(lost.iter().map(ToString::to_string).collect::<Vec<_>>(), ["\"old/n\\nl1\"", "\"new/n\\nl1\"", "p"]);
        let coverage = Coverage::of(&whole, |_| Fate::Sent);
        assert_eq!(coverage.unsliced([whole.files[0].path()]), [whole.files[1].path().clone()]);
    }

    #[test]
    fn only_what_every_pass_confirmed_was_reviewed() {
        let change = Change { files: vec![file(0, 0), file(3, 4), file(10, 5), file(9, 6)], already_published: Vec::new() };
        let coverage = Coverage::of(&change, |_| Fate::Sent);
        let told = |asked: Asked<'_>| coverage.account(asked).into_values().map(|why| why.map_or("reviewed", Unreviewed::as_str)).collect::<Vec<_>>();
        // In path order: the new names of four files, then the old name of the renamed one.
        assert_eq!(told(Asked::Before), ["too-large", "lockfile", "reviewed", "reviewed", "reviewed"].map(str::to_owned));
        assert_eq!(told(Asked::Nobody), ["too-large", "not-sent", "not-sent", "not-sent", "not-sent"].map(str::to_owned));
        assert_eq!(told(Asked::Now(&[missing(&["new/é4"])])), ["too-large", "lockfile", "reviewed", "no-answer", "no-answer"].map(str::to_owned));
        assert_eq!(told(Asked::Now(&[missing(&[])]))[1..], ["no-answer"; 4].map(str::to_owned));
    }

    #[test]
    fn a_file_that_became_a_link_is_reviewed_only_if_both_were() {
        let change = Change {
            files: vec![
                FileChange { status: Status::Deleted, old: side("a", Mode::Regular), new: None, body: Body::Text(Vec::new()) },
                FileChange { status: Status::Added, old: None, new: side("a", Mode::Symlink), body: Body::Text(Vec::new()) },
            ],
            already_published: Vec::new(),
        };
        let coverage = Coverage::of(&change, |file| if file.new.is_none() { Fate::Listed(Unreviewed::Data) } else { Fate::Sent });
        assert_eq!(coverage.account(Asked::Before).into_iter().collect::<Vec<_>>(), [("a".into(), Some(Unreviewed::Data))]);
    }
}
