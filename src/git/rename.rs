//! Renames: which added file a deleted one became. Written from git's description of its own rules (gitdiffcore(7), `diff.renameLimit`): the same content
//! first, then the same base name where it is unambiguous, then the most alike. Nothing that decides depends on the pairing: an unpaired file is shown whole.

use super::GitError;
use super::capture::Source;
use super::error::Extent;
use super::object::Content;
use super::text;
use super::tree::{Entry, Leaf};
use crate::change::{BytePath, Mode, Oid, Status};
use gix::bstr::ByteSlice as _;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

/// The similarity of equal content; it is counted in parts per million so that the most alike is found among those of one percentage.
const SAME: u32 = 1_000_000;
/// From this similarity on, two files may be one that moved.
const MIN_SIMILARITY: u32 = SAME / 2;
/// From this similarity on, an unambiguous base name decides.
const MIN_BASE_NAME: u32 = SAME / 4 * 3;
/// The most comparisons that are made of each file with each: git's default limit of 1,000 files, squared.
const MAX_COMPARISONS: usize = 1000 * 1000;
/// How many candidates are remembered for an added file.
const CANDIDATES: usize = 4;

/// One side of a file that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path on this side.
    pub(crate) path: BytePath,
    /// What is there.
    pub(crate) leaf: Leaf,
}

/// A file that changed: what is on each side, and what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    /// What happened.
    pub(crate) status: Status,
    /// The old side; at least one side exists.
    pub(crate) old: Option<Place>,
    /// The new side.
    pub(crate) new: Option<Place>,
}

/// Makes pairs of one path: a change of type is a deletion and an addition.
pub(super) fn unpaired(entry: Entry) -> Vec<Pair> {
    let Entry { path, old, new } = entry;
    let place = |leaf: Option<Leaf>| leaf.map(|leaf| Place { path: path.clone(), leaf });
    let pair = |status, old, new| Pair { status, old: place(old), new: place(new) };
    match (old, new) {
        (Some(a), Some(b)) if a.mode.same_type(b.mode) => vec![pair(Status::Modified, old, new)],
        (Some(_), Some(_)) => vec![pair(Status::Deleted, old, None), pair(Status::Added, None, new)],
        (Some(_), None) => vec![pair(Status::Deleted, old, None)],
        (None, _) => vec![pair(Status::Added, None, new)],
    }
}

/// Makes pairs with renames; a renamed file stands where its new path does.
pub(super) fn pairs(source: &Source<'_>, entries: Vec<Entry>) -> Result<Vec<Pair>, GitError> {
    let renames = Matching::new(&entries).run(source)?;
    let mut moved: HashMap<usize, Pair> = HashMap::new();
    let mut gone = vec![false; entries.len()];
    for Rename { from, to, similarity } in renames {
        let place = |at: usize, leaf: Option<Leaf>| leaf.map(|leaf| Place { path: entries[at].path.clone(), leaf });
        let status = Status::Renamed { similarity: (similarity / (SAME / 100)) as u8 };
        moved.insert(to, Pair { status, old: place(from, entries[from].old), new: place(to, entries[to].new) });
        gone[from] = true;
    }
    let pairs = entries.into_iter().enumerate().filter(|(at, _)| !gone[*at]);
    Ok(pairs.flat_map(|(at, entry)| moved.remove(&at).map_or_else(|| unpaired(entry), |pair| vec![pair])).collect())
}

/// A deleted and an added entry, by their places in the list, that are one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rename {
    from: usize,
    to: usize,
    similarity: u32,
}

/// The files that are still to be matched.
struct Matching<'e> {
    entries: &'e [Entry],
    deleted: Vec<usize>,
    added: Vec<usize>,
    found: Vec<Rename>,
}

impl<'e> Matching<'e> {
    fn new(entries: &'e [Entry]) -> Matching<'e> {
        let places = |wanted: fn(&Entry) -> bool| entries.iter().enumerate().filter(|(_, entry)| wanted(entry)).map(|(at, _)| at).collect();
        let (deleted, added) = (places(|entry| entry.new.is_none()), places(|entry| entry.old.is_none()));
        Matching { entries, deleted, added, found: Vec::new() }
    }

    fn run(mut self, source: &Source<'_>) -> Result<Vec<Rename>, GitError> {
        self.same_content();
        let mut prints = Fingerprints { source, known: HashMap::new() };
        self.same_base_name(&mut prints)?;
        self.most_alike(&mut prints)?;
        Ok(self.found)
    }

    /// Pairs files with the same content; of several deleted ones, the first with the same base name, else the first.
    fn same_content(&mut self) {
        let mut same = SameContent::default();
        for from in &self.deleted {
            same.add(*from, self.old(*from), self.name(*from));
        }
        for to in &self.added {
            if let Some(from) = same.take(self.new_side(*to), self.name(*to)) {
                self.found.push(Rename { from, to: *to, similarity: SAME });
            }
        }
        self.drop_found();
    }

    /// Pairs files whose base name is there once among the deleted and once among the added.
    fn same_base_name(&mut self, prints: &mut Fingerprints<'_>) -> Result<(), GitError> {
        let deleted = self.unique_names(&self.deleted);
        let added = self.unique_names(&self.added);
        for from in self.deleted.clone() {
            let name = self.name(from);
            let (Some(Some(_)), Some(Some(to))) = (deleted.get(name), added.get(name)) else { continue };
            let to = *to;
            let similarity = prints.similarity(self.old(from), self.new_side(to))?;
            if similarity >= MIN_BASE_NAME {
                self.found.push(Rename { from, to, similarity });
            }
        }
        self.drop_found();
        Ok(())
    }

    /// Pairs the rest by similarity, the most alike first. Above the limit nothing is compared.
    fn most_alike(&mut self, prints: &mut Fingerprints<'_>) -> Result<(), GitError> {
        if self.deleted.len() * self.added.len() > MAX_COMPARISONS {
            return Ok(());
        }
        let mut candidates = Vec::new();
        for to in &self.added {
            candidates.extend(self.candidates(*to, prints)?);
        }
        candidates.sort_by_key(|(rename, same_name)| std::cmp::Reverse((rename.similarity, *same_name)));
        let mut taken = vec![false; self.entries.len()];
        for (rename, _) in candidates {
            if !taken[rename.from] && !taken[rename.to] {
                (taken[rename.from], taken[rename.to]) = (true, true);
                self.found.push(rename);
            }
        }
        Ok(())
    }

    /// Returns the deleted files that are most like an added one, each with whether it has the same base name.
    fn candidates(&self, to: usize, prints: &mut Fingerprints<'_>) -> Result<Vec<(Rename, bool)>, GitError> {
        let mut best = Vec::new();
        for from in &self.deleted {
            let similarity = prints.similarity(self.old(*from), self.new_side(to))?;
            if similarity >= MIN_SIMILARITY {
                best.push((Rename { from: *from, to, similarity }, self.name(*from) == self.name(to)));
            }
        }
        best.sort_by_key(|(rename, same_name)| std::cmp::Reverse((rename.similarity, *same_name)));
        best.truncate(CANDIDATES);
        Ok(best)
    }

    fn drop_found(&mut self) {
        let mut paired = vec![false; self.entries.len()];
        self.found.iter().for_each(|rename| (paired[rename.from], paired[rename.to]) = (true, true));
        self.deleted.retain(|at| !paired[*at]);
        self.added.retain(|at| !paired[*at]);
    }

    /// Maps each base name to its only file; to none where there are several.
    fn unique_names(&self, files: &[usize]) -> HashMap<&'e [u8], Option<usize>> {
        let mut names = HashMap::new();
        for at in files {
            names.entry(self.name(*at)).and_modify(|only| *only = None).or_insert(Some(*at));
        }
        names
    }

    fn name(&self, at: usize) -> &'e [u8] {
        self.entries[at].path.file_name()
    }

    fn old(&self, at: usize) -> Leaf {
        self.entries[at].old.expect("an old side, because only deleted entries are asked for it")
    }

    fn new_side(&self, at: usize) -> Leaf {
        self.entries[at].new.expect("a new side, because only added entries are asked for it")
    }
}

/// Deleted files by what they held, in order, so that thousands of equal ones are no trouble.
#[derive(Default)]
struct SameContent<'e> {
    all: HashMap<(Oid, Mode), VecDeque<usize>>,
    by_name: HashMap<(Oid, Mode, &'e [u8]), VecDeque<usize>>,
    taken: HashSet<usize>,
}

impl<'e> SameContent<'e> {
    fn add(&mut self, at: usize, leaf: Leaf, name: &'e [u8]) {
        let (oid, mode) = SameContent::key(leaf);
        self.all.entry((oid, mode)).or_default().push_back(at);
        self.by_name.entry((oid, mode, name)).or_default().push_back(at);
    }

    /// Takes the best file with this content that is still there.
    fn take(&mut self, leaf: Leaf, name: &'e [u8]) -> Option<usize> {
        let (oid, mode) = SameContent::key(leaf);
        let queues = [self.by_name.get_mut(&(oid, mode, name)), self.all.get_mut(&(oid, mode))];
        let taken = &mut self.taken;
        queues.into_iter().flatten().find_map(|queue| std::iter::from_fn(|| queue.pop_front()).find(|at| taken.insert(*at)))
    }

    /// A file that became executable is still the same file; one that became a link is not.
    fn key(leaf: Leaf) -> (Oid, Mode) {
        let mode = if leaf.mode.same_type(Mode::Regular) { Mode::Regular } else { leaf.mode };
        (leaf.oid, mode)
    }
}

/// What a file is made of: how many bytes of which piece, sorted by piece.
struct Fingerprint {
    size: u64,
    pieces: Vec<(u64, u64)>,
}

/// Fingerprints of the files that were looked at, so that each is read once.
struct Fingerprints<'s> {
    source: &'s Source<'s>,
    known: HashMap<Oid, Option<Fingerprint>>,
}

impl Fingerprints<'_> {
    /// Returns how much of the larger file is in both. Only ordinary files with content are compared.
    fn similarity(&mut self, old: Leaf, new: Leaf) -> Result<u32, GitError> {
        let regular = |leaf: Leaf| leaf.mode.same_type(Mode::Regular);
        if !regular(old) || !regular(new) {
            return Ok(0);
        }
        self.learn(old)?;
        self.learn(new)?;
        Ok(match (&self.known[&old.oid], &self.known[&new.oid]) {
            (Some(old), Some(new)) => old.similarity(new),
            (None, _) | (_, None) => 0,
        })
    }

    fn learn(&mut self, leaf: Leaf) -> Result<(), GitError> {
        if !self.known.contains_key(&leaf.oid) {
            let print = match self.source.content(leaf) {
                Ok(Content::Whole(bytes)) if !bytes.is_empty() => Some(Fingerprint::of(&bytes)),
                // What a partial clone left at the remote is like nothing; on the new side it is an error as soon as it is to be shown.
                Ok(Content::Whole(_) | Content::Oversize(_)) | Err(GitError::Missing { extent: Extent::Partial, .. }) => None,
                Err(error) => return Err(error),
            };
            self.known.insert(leaf.oid, print);
        }
        Ok(())
    }
}

impl Fingerprint {
    /// Cuts the content into lines, long ones into pieces of 64 bytes, and counts the bytes of each different piece. In a text, both kinds of line end are
    /// one, as for git.
    fn of(content: &[u8]) -> Fingerprint {
        let cut = if text::is_binary(content) { Cow::Borrowed(content) } else { Cow::Owned(content.replace("\r\n", "\n")) };
        let lines = cut.split_inclusive(|byte| *byte == b'\n');
        let mut pieces: Vec<(u64, u64)> = lines.flat_map(|line| line.chunks(64)).map(|piece| (hash(piece), piece.len() as u64)).collect();
        pieces.sort_unstable();
        pieces.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        Fingerprint { size: content.len() as u64, pieces }
    }

    fn similarity(&self, other: &Fingerprint) -> u32 {
        let (small, large) = (self.size.min(other.size), self.size.max(other.size));
        if small * 2 < large {
            return 0;
        }
        (self.common(other) * u64::from(SAME) / large) as u32
    }

    /// Counts the bytes of pieces that are in both.
    fn common(&self, other: &Fingerprint) -> u64 {
        let mut rest = other.pieces.iter().peekable();
        let mut common = 0;
        for (piece, bytes) in &self.pieces {
            while rest.next_if(|(theirs, _)| theirs < piece).is_some() {}
            common += rest.next_if(|(theirs, _)| theirs == piece).map_or(0, |(_, theirs)| *bytes.min(theirs));
        }
        common
    }
}

/// Hashes a piece (FNV-1a from zero: like git's, it does not see NULs at the start). Two pieces taken for one change a percentage, nothing else.
fn hash(piece: &[u8]) -> u64 {
    piece.iter().fold(0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
