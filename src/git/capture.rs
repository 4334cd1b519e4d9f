//! From changed entries to the change: renames paired, content read and verified, lines compared. What is captured here is what every later step uses.

use super::error::Extent;
use super::object::Content;
use super::rename::{self, Pair, Place};
use super::text::{self, MAX_LINED};
use super::tree::{Entry, Leaf};
use super::{GitError, Repo, narrow, object, worktree};
use crate::change::{Body, BytePath, Change, FileChange, Mode, Oid, Side, utf16};
use gix::Repository;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What of the entries is captured, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Pair deleted and added files that are alike.
    pub renames: bool,
    /// Files, or directories with all below them, from the top ([`super::Repo::path_in_repo`]); empty for everything.
    pub only: Vec<BytePath>,
}

impl Repo {
    /// Returns the new side of a changed file as the body it would have if the file were added: for content that nobody was shown because it was data, or
    /// because the old side is binary and there is no difference in lines. `None` where there is no new side.
    ///
    /// # Errors
    ///
    /// A missing or altered object.
    pub fn shown_whole(&self, file: &FileChange) -> Result<Option<Body>, GitError> {
        let Some(new) = &file.new else { return Ok(None) };
        let leaf = Leaf { mode: new.mode, oid: new.oid };
        match self.body_of(leaf, &Unstored::new()) {
            // What is only on disk is read again. By its id it is what was captured, or it is missing.
            Err(GitError::Missing { oid, .. }) if oid == leaf.oid && self.work_dir().is_some() => {
                self.body_of(leaf, &worktree::tracked(&self.gix)?.1)
            }
            body => body,
        }
        .map(Some)
    }

    /// Returns the content of both sides, verified: `None` for a side that is not there, is a submodule or is too large to be read.
    ///
    /// # Errors
    ///
    /// A missing or altered object.
    pub fn contents(&self, file: &FileChange) -> Result<[Option<Vec<u8>>; 2], GitError> {
        let read = |leaf: Leaf, unstored: &Unstored| match (Source { repo: &self.gix, unstored }).content(leaf)? {
            Content::Whole(bytes) if leaf.mode != Mode::Gitlink => Ok(Some(bytes.into_owned())),
            Content::Whole(_) | Content::Oversize(_) => Ok(None),
        };
        let of = |side: &Option<Side>| {
            let Some(side) = side else { return Ok(None) };
            let leaf = Leaf { mode: side.mode, oid: side.oid };
            match read(leaf, &Unstored::new()) {
                // As above: what is only on disk.
                Err(GitError::Missing { oid, .. }) if oid == leaf.oid && self.work_dir().is_some() => read(leaf, &worktree::tracked(&self.gix)?.1),
                content => content,
            }
        };
        Ok([of(&file.old)?, of(&file.new)?])
    }

    fn body_of(&self, leaf: Leaf, unstored: &Unstored) -> Result<Body, GitError> {
        Ok(Source { repo: &self.gix, unstored }.body(None, Some(leaf))?.0)
    }
}

/// Content that is in no object yet: what the worktree holds.
pub(crate) type Unstored = HashMap<Oid, Content<'static>>;

/// Captures the change that the entries describe. Content comes from `unstored`, else from the object database, verified.
pub(crate) fn capture(repo: &Repository, entries: Vec<Entry>, unstored: &Unstored, options: &Options) -> Result<Change, GitError> {
    let entries = narrow::entries(entries, options);
    let source = Source { repo, unstored };
    let pairs = if options.renames { rename::pairs(&source, entries)? } else { entries.into_iter().flat_map(rename::unpaired).collect() };
    Ok(Change { files: files(&source, &pairs)?, already_published: Vec::new() })
}

/// How many files make a second thread worth its start.
const SHARED_FROM: usize = 64;

/// Compares the content of each pair, on two threads where there are many.
fn files(source: &Source<'_>, pairs: &[Pair]) -> Result<Vec<FileChange>, GitError> {
    let next = AtomicUsize::new(0);
    if pairs.len() < SHARED_FROM {
        return work(source, pairs, &next).into_iter().map(|(_, file)| file).collect();
    }
    let (repo, unstored) = (source.repo.clone(), source.unstored);
    let mut done = std::thread::scope(|scope| {
        let next = &next;
        let second = scope.spawn(move || work(&Source { repo: &repo, unstored }, pairs, next));
        let mut done = work(source, pairs, next);
        done.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, file)| file).collect()
}

/// Takes one pair after the other until none is left. The result of each keeps its place.
fn work(source: &Source<'_>, pairs: &[Pair], next: &AtomicUsize) -> Vec<(usize, Result<FileChange, GitError>)> {
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < pairs.len());
    std::iter::from_fn(take).map(|at| (at, source.file(&pairs[at]))).collect()
}

/// Where content comes from.
pub(super) struct Source<'a> {
    pub(super) repo: &'a Repository,
    pub(super) unstored: &'a Unstored,
}

impl Source<'_> {
    /// Reads one side.
    pub(super) fn content(&self, leaf: Leaf) -> Result<Content<'_>, GitError> {
        if leaf.mode == Mode::Gitlink {
            return Ok(Content::Whole(format!("Subproject commit {}\n", leaf.oid).into_bytes().into()));
        }
        match self.unstored.get(&leaf.oid) {
            Some(Content::Whole(bytes)) => Ok(Content::Whole(Cow::Borrowed(bytes))),
            Some(Content::Oversize(size)) => Ok(Content::Oversize(*size)),
            None => object::content(self.repo, leaf.oid),
        }
    }

    /// Returns the size in bytes without reading the content; 0 for a gitlink.
    pub(super) fn size(&self, leaf: Leaf) -> Result<u64, GitError> {
        match (leaf.mode, self.unstored.get(&leaf.oid)) {
            (Mode::Gitlink, _) => Ok(0),
            (_, Some(content)) => Ok(content.size()),
            (_, None) => object::blob_size(self.repo, leaf.oid),
        }
    }

    fn file(&self, pair: &Pair) -> Result<FileChange, GitError> {
        let leaf = |place: &Option<Place>| place.as_ref().map(|place| place.leaf);
        let (old, new) = (leaf(&pair.old), leaf(&pair.new));
        let (body, sizes) = match (old, new) {
            (Some(old), Some(new)) if old.oid == new.oid => (Body::Text(Vec::new()), [self.size(old)?; 2]),
            (old, new) => self.body(old, new)?,
        };
        let [old, new] = [(&pair.old, sizes[0]), (&pair.new, sizes[1])].map(|(place, size)| place.as_ref().map(|place| side(place, size)));
        Ok(FileChange { status: pair.status, old, new, body })
    }

    /// Reads and compares two sides; also tells their sizes.
    fn body(&self, old: Option<Leaf>, new: Option<Leaf>) -> Result<(Body, [u64; 2]), GitError> {
        let read = |leaf: Option<Leaf>| leaf.map_or(Ok(Content::Whole(Cow::Borrowed(&[]))), |leaf| self.content(leaf));
        let old = match read(old) {
            // A partial clone left it at the remote. The new side stands alone, and `partial` says so.
            Err(GitError::Missing { extent: Extent::Partial, .. }) => Content::Whole(Cow::Borrowed(&[][..])),
            content => content?,
        };
        let new = read(new)?;
        let body = match (&old, &new) {
            (_, Content::Oversize(_)) => Body::Oversize,
            // Like what was binary: it is published, and what takes its place can be shown whole.
            (Content::Oversize(_), Content::Whole(_)) => Body::Binary,
            (Content::Whole(old), Content::Whole(new)) if text::is_binary(old) || text::is_binary(new) => decoded(old, new),
            (_, Content::Whole(new)) if new.len() as u64 > MAX_LINED => Body::Oversize,
            (Content::Whole(old), _) if old.len() as u64 > MAX_LINED => Body::Binary,
            (Content::Whole(old), Content::Whole(new)) => Body::Text(text::hunks(old, new)),
        };
        Ok((body, [old.size(), new.size()]))
    }
}

/// Compares content that git takes for binary: as text where both sides are text, one at least in UTF-16. Where only the encoding changed there is no line
/// to show, and it stays binary. What is too large to be cut into lines is what other text of that size is.
fn decoded(old: &[u8], new: &[u8]) -> Body {
    let read = |bytes: &[u8]| utf16::text(bytes).map(String::into_bytes).or_else(|| (!text::is_binary(bytes)).then(|| bytes.to_vec()));
    let sizes = [old, new].map(|bytes| bytes.len() as u64);
    let (Some(old), Some(new)) = (read(old), read(new)) else { return Body::Binary };
    match sizes.map(|size| size > MAX_LINED) {
        [_, true] => return Body::Oversize,
        [true, false] => return Body::Binary,
        [false, false] => {}
    }
    match text::hunks(&old, &new) {
        hunks if hunks.is_empty() => Body::Binary,
        hunks => Body::Utf16(hunks),
    }
}

fn side(place: &Place, size: u64) -> Side {
    let size = if place.leaf.mode == Mode::Gitlink { 0 } else { size };
    Side { path: place.path.clone(), mode: place.leaf.mode, oid: place.leaf.oid, size }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sandbox;
    use super::super::{index, tree};
    use super::*;
    use crate::env::Env;

    fn staged(sandbox: &Sandbox, options: &Options) -> Change {
        let repo = sandbox.open();
        capture(&repo, index::staged(&repo).expect("entries"), &Unstored::new(), options).expect("a change")
    }

    #[test]
    fn only_the_named_files_are_captured() {
        let sandbox = Sandbox::new(&[]);
        for path in ["src/a.rs", "src/b/c.rs", "src.rs", "docs/x"] {
            sandbox.write(path, "x\n");
        }
        sandbox.git(&["add", "."]);
        let cases: [(&[&str], &[&str]); 4] = [
            (&["src"], &["src/a.rs", "src/b/c.rs"]),
            (&["src/"], &["src/a.rs", "src/b/c.rs"]),
            (&["src/a.rs", "docs/x"], &["docs/x", "src/a.rs"]),
            (&["src/a"], &[]),
        ];
        for (only, expected) in cases {
            let options = Options { renames: false, only: only.iter().map(|path| BytePath::from(*path)).collect() };
            let paths: Vec<String> = staged(&sandbox, &options).files.iter().map(|file| file.path().to_string()).collect();
            assert_eq!(paths, expected, "{only:?}");
        }
    }

    #[test]
    fn a_moved_file_is_listed_even_without_a_hunk() {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("n.txt", "import os\n");
        sandbox.git(&["add", "."]);
        sandbox.commit();
        sandbox.git(&["mv", "n.txt", "n.py"]);
        let change = staged(&sandbox, &Options { renames: true, only: Vec::new() });
        assert_eq!(change.files.len(), 1);
        assert_eq!(change.files[0].status, crate::change::Status::Renamed { similarity: 100 });
        assert_eq!(change.files[0].new.as_ref().map(|side| side.size), Some(10));
    }

    #[test]
    fn what_was_never_shown_can_be_shown_whole() {
        let sandbox = Sandbox::new(&[]);
        for (path, content) in [("data/moved", &b"import os\n"[..]), ("mode", b"run\n"), ("binary", b"\0\n"), ("gone", b"x\n"), ("disk", b"\0")] {
            sandbox.write(path, content);
        }
        sandbox.git(&["add", "."]);
        sandbox.commit();
        sandbox.git(&["mv", "data/moved", "moved"]);
        sandbox.git(&["rm", "-q", "gone"]);
        sandbox.git(&["update-index", "--chmod=+x", "mode"]);
        sandbox.write("binary", "text\n");
        sandbox.write("still", "\0");
        sandbox.git(&["add", "binary", "still"]);
        let repo = Repo::discover(&sandbox.path(""), &Env::default()).expect("a repository");
        let whole = |file: &FileChange| {
            let body = repo.shown_whole(file).expect("a readable object")?;
            let shown = FileChange { body, ..file.clone() };
            Some(shown.hunks().iter().map(|hunk| String::from_utf8_lossy(&hunk.text)).collect::<String>())
        };
        let staged = staged(&sandbox, &Options { renames: true, only: Vec::new() });
        let shown: Vec<_> = staged.files.iter().map(|file| (file.path().to_string(), whole(file))).collect();
        let expected = [("binary", Some("+text\n")), ("gone", None), ("mode", Some("+run\n")), ("moved", Some("+import os\n")), ("still", Some(""))];
        assert_eq!(shown, expected.map(|(path, text)| (path.to_owned(), text.map(str::to_owned))));
        // What is in no object yet.
        sandbox.write("disk", "on disk\n");
        let (entries, unstored) = worktree::tracked(&repo.gix).expect("entries");
        let change = capture(&repo.gix, entries, &unstored, &Options::default()).expect("a change");
        let file = change.file(&BytePath::from("disk")).expect("the file");
        assert_eq!((&file.body, whole(file)), (&Body::Binary, Some("+on disk\n".to_owned())));
        sandbox.write("disk", "changed since\n");
        assert!(matches!(repo.shown_whole(file), Err(GitError::Missing { .. })));
    }

    #[test]
    fn utf_16_is_read_as_text_beside_text_of_any_kind() {
        let sandbox = Sandbox::new(&[]);
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        for (path, content) in
            [("same", wide("a\nb\n")), ("from-text", b"a\nb\n".to_vec()), ("encoding", b"a\nb\n".to_vec()), ("binary", b"\0".to_vec())]
        {
            sandbox.write(path, content);
        }
        sandbox.git(&["add", "."]);
        sandbox.commit();
        for (path, text) in [("same", "a\nB\n"), ("from-text", "a\nB\n"), ("encoding", "a\nb\n"), ("binary", "a\n"), ("new", "\u{feff}a\n")] {
            sandbox.write(path, wide(text));
        }
        sandbox.git(&["add", "."]);
        let hunk = |file: &FileChange| file.hunks().first().map(|hunk| String::from_utf8_lossy(&hunk.text).into_owned());
        let change = staged(&sandbox, &Options::default());
        let shown: Vec<_> = change.files.iter().map(|file| (file.path().to_string(), matches!(file.body, Body::Utf16(_)), hunk(file))).collect();
        let lines = |text: &str| Some(text.to_owned());
        let expected = [
            ("binary", false, None),
            ("encoding", false, None),
            ("from-text", true, lines(" a\n-b\n+B\n")),
            ("new", true, lines("+\u{feff}a\n")),
            ("same", true, lines(" a\n-b\n+B\n")),
        ];
        assert_eq!(shown, expected.map(|(path, decoded, text)| (path.to_owned(), decoded, text)));
    }

    #[test]
    fn many_files_keep_their_order_on_two_threads() {
        let sandbox = Sandbox::new(&[]);
        for n in 0..3 * SHARED_FROM {
            sandbox.write(format!("f{n:04}"), format!("{n}\n"));
        }
        sandbox.git(&["add", "."]);
        let change = staged(&sandbox, &Options::default());
        assert_eq!(change.files.len(), 3 * SHARED_FROM);
        assert!(change.files.is_sorted_by_key(|file| file.path().clone()));
        assert_eq!(change.files[7].hunks()[0].text, b"+7\n");
    }

    /// A loose object whose header states 700 MB and whose content is not there: reading it would fail.
    #[test]
    fn a_huge_blob_is_never_read() {
        let sandbox = Sandbox::new(&[]);
        let id = "00112233445566778899aabbccddeeff00112233";
        let header = b"blob 700000000\0";
        let stored =
            [&[0x78, 0x01, 0x00, header.len() as u8, 0, !(header.len() as u8), 0xff], &header[..], &[0, 0, 0, 0xff, 0xff].repeat(20)].concat();
        sandbox.write(format!(".git/objects/{}/{}", &id[..2], &id[2..]), stored);
        let leaf = Leaf { mode: Mode::Regular, oid: Oid::from_hex(id.as_bytes()).expect("an id") };
        let entry = Entry { path: BytePath::from("z"), old: None, new: Some(leaf) };
        let repo = Repo::discover(&sandbox.path(""), &Env::default()).expect("a repository");
        let change = repo.capture(vec![entry], &Options::default()).expect("a change");
        assert_eq!(change.files[0].body, Body::Oversize);
        assert_eq!(change.files[0].new.as_ref().map(|side| side.size), Some(700_000_000));
        let refused = object::blob(&repo.gix, leaf.oid).expect_err("a refusal");
        assert!(format!("{refused:?}").contains("allocation limit"), "refused by its header, not by what is missing: {refused:?}");
    }

    #[test]
    fn an_altered_or_absent_object_refuses() {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("good", "good\n");
        sandbox.write("evil", "evil\n");
        sandbox.git(&["add", "."]);
        let tree = sandbox.commit();
        let object = |path: &str| {
            let id = sandbox.line(&["rev-parse", &format!("HEAD:{path}")]);
            sandbox.path(format!(".git/objects/{}/{}", &id[..2], &id[2..]))
        };
        let read = || {
            let (repo, tree) = (sandbox.open(), Oid::from_hex(tree.as_bytes()).expect("an id"));
            let entries = tree::between(&repo, None, Some(tree))?;
            capture(&repo, entries, &Unstored::new(), &Options::default())
        };
        assert!(read().is_ok());
        std::fs::remove_file(object("evil")).expect("removed");
        std::fs::copy(object("good"), object("evil")).expect("copied");
        assert!(matches!(read(), Err(GitError::Integrity { .. })));
        std::fs::remove_file(object("evil")).expect("removed");
        assert!(matches!(read(), Err(GitError::Missing { .. })));
    }

    #[test]
    fn a_replacement_does_not_change_what_is_read() {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("f", "good\n");
        sandbox.git(&["add", "."]);
        sandbox.commit();
        sandbox.write("f", "evil\n");
        sandbox.git(&["add", "."]);
        sandbox.git(&["replace", &sandbox.line(&["rev-parse", ":f"]), &sandbox.line(&["rev-parse", "HEAD:f"])]);
        let repo = sandbox.open();
        let change = capture(&repo, index::staged(&repo).expect("entries"), &Unstored::new(), &Options::default());
        assert!(matches!(change, Err(GitError::Integrity { .. })), "replace refs are on in this repository handle, so the hash must tell");
    }
}
