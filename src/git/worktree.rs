//! What the tracked files hold on disk, for `--worktree`: HEAD beside the worktree. Symbolic links are taken as links and never followed. What git would
//! store of a file's content is `clean`'s business; untracked files are nobody's.

use super::capture::Unstored;
use super::clean::Clean;
use super::object::Content;
use super::text::MAX_TEXT;
use super::tree::{Entry, Leaf, Target, target};
use super::{GitError, index, object};
use crate::change::{BytePath, Mode, Oid};
use gix::Repository;
use gix::bstr::{BStr, ByteSlice as _};
use gix::index::entry::{Flags, Stat};
use gix::index::{State, fs::Metadata};
use gix::objs::Kind;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Lists what differs between HEAD and the tracked files on disk, in git's order, with the content that is in no object yet.
pub(crate) fn tracked(repo: &Repository) -> Result<(Vec<Entry>, Unstored), GitError> {
    let index = index::read(repo)?;
    let staged = index::against_head(repo, &index)?;
    let mut changed: BTreeMap<BytePath, Entry> = staged.into_iter().map(|entry| (entry.path.clone(), entry)).collect();
    let mut disk = Disk::new(repo, &index)?;
    for entry in index.entries().iter().filter(|entry| !entry.mode.is_sparse()) {
        let path = BytePath::new(entry.path(&index).to_vec());
        let indexed = indexed(&path, entry)?;
        let new = disk.leaf(entry.path(&index), entry, indexed)?;
        let staged = changed.remove(&path);
        let intended = entry.flags.contains(Flags::INTENT_TO_ADD);
        let old = staged.map_or((!intended).then_some(indexed), |staged| staged.old);
        if old != new {
            changed.insert(path.clone(), Entry { path, old, new });
        }
    }
    Ok((changed.into_values().collect(), disk.unstored))
}

/// Reads the content that a tracked file had on disk when [`tracked`] found it.
///
/// # Errors
///
/// [`GitError::Changed`] where it has another now, [`GitError::Missing`] where it is the index that names content which is nowhere.
pub(crate) fn content(repo: &Repository, path: &BytePath, found: Leaf) -> Result<Content<'static>, GitError> {
    let index = index::read(repo)?;
    let mut disk = Disk::new(repo, &index)?;
    let name = path.as_bytes().as_bstr();
    let entry = index.entry_by_path(name).ok_or_else(|| GitError::Changed { path: path.clone() })?;
    let indexed = indexed(path, entry)?;
    disk.leaf(name, entry, indexed)?;
    match disk.unstored.remove(&found.oid) {
        Some(content) => Ok(content),
        None if indexed.oid == found.oid => Err(object::missing(repo, found.oid)),
        None => Err(GitError::Changed { path: path.clone() }),
    }
}

fn indexed(path: &BytePath, entry: &gix::index::Entry) -> Result<Leaf, GitError> {
    match target(entry.mode.bits(), object::oid(&entry.id)) {
        Some(Target::Leaf(leaf)) => Ok(leaf),
        Some(Target::Tree(_)) | None => Err(GitError::Index { path: path.clone(), why: "an unknown mode".to_owned() }),
    }
}

/// The worktree, and what was read from it.
struct Disk<'r> {
    repo: &'r Repository,
    index: &'r State,
    root: PathBuf,
    capabilities: gix::fs::Capabilities,
    clean: Clean<'r>,
    directories: HashMap<PathBuf, bool>,
    unstored: Unstored,
}

impl<'r> Disk<'r> {
    fn new(repo: &'r Repository, index: &'r State) -> Result<Disk<'r>, GitError> {
        let root = repo.workdir().ok_or(GitError::Bare)?;
        let capabilities = repo.filesystem_options().map_err(GitError::other("read the settings of the file system"))?;
        let (root, clean) = (root.to_owned(), Clean::new(repo, index)?);
        Ok(Disk { repo, index, root, capabilities, clean, directories: HashMap::new(), unstored: HashMap::new() })
    }

    /// Returns what is on disk where the index has an entry; `None` where that is nothing that git tracks.
    fn leaf(&mut self, path: &BStr, entry: &gix::index::Entry, indexed: Leaf) -> Result<Option<Leaf>, GitError> {
        let relative = gix::path::from_bstr(path).map_err(GitError::other(format!("use the path {path}")))?;
        let full = self.root.join(&relative);
        let metadata = if self.below_real_directories(&relative)? { metadata(&full)? } else { None };
        let Some(metadata) = metadata else {
            // A sparse checkout leaves files out on purpose: they are as the index has them.
            return Ok(entry.flags.contains(Flags::SKIP_WORKTREE).then_some(indexed));
        };
        if indexed.mode == Mode::Gitlink {
            return metadata.is_dir().then(|| self.submodule(&full, indexed)).transpose();
        }
        match self.mode(&metadata, indexed) {
            None => Ok(None),
            Some(mode) if mode == indexed.mode && self.unchanged(&metadata, entry) => Ok(Some(indexed)),
            Some(mode) => self.content(path, &relative, &full, &metadata).map(|oid| Some(Leaf { mode, oid })),
        }
    }

    /// Tells whether each directory above the path is one, not a link to somewhere else.
    fn below_real_directories(&mut self, relative: &Path) -> Result<bool, GitError> {
        let Some(parent) = relative.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(true) };
        if let Some(known) = self.directories.get(parent) {
            return Ok(*known);
        }
        let real = self.below_real_directories(parent)? && metadata(&self.root.join(parent))?.is_some_and(|found| found.is_dir());
        self.directories.insert(parent.to_owned(), real);
        Ok(real)
    }

    /// Returns the mode on disk, the index's where the file system cannot tell; `None` for a directory, a pipe and the like.
    fn mode(&self, found: &Metadata, indexed: Leaf) -> Option<Mode> {
        if found.is_symlink() {
            return Some(Mode::Symlink);
        }
        let on_disk = if found.is_executable() { Mode::Executable } else { Mode::Regular };
        found.is_file().then_some(match indexed.mode {
            Mode::Symlink if !self.capabilities.symlink => Mode::Symlink,
            Mode::Regular | Mode::Executable if !self.capabilities.executable_bit => indexed.mode,
            Mode::Symlink | Mode::Gitlink if !self.capabilities.executable_bit => Mode::Regular,
            Mode::Regular | Mode::Executable | Mode::Symlink | Mode::Gitlink => on_disk,
        })
    }

    /// Tells by size and times whether the file is the one that the index knows, more strictly than git does: to the nanosecond, and never where the file was
    /// touched in the second in which the index was written. Anybody can set a file back to an old time of content, not to one of its status.
    fn unchanged(&self, found: &Metadata, entry: &gix::index::Entry) -> bool {
        let (coarse, written) = (gix::index::entry::stat::Options::default(), self.index.timestamp());
        let Ok(found) = Stat::from_fs(found) else { return false };
        let is_racy = entry.stat.is_racy(written, coarse) || i64::from(entry.stat.ctime.secs) >= written.unix_seconds();
        !is_racy && entry.stat.matches(&found, gix::index::entry::stat::Options { use_nsec: true, ..coarse })
    }

    /// Returns the commit that a submodule has checked out; the index's where none is. One that is and that cannot be read is never taken for unchanged.
    fn submodule(&self, full: &Path, indexed: Leaf) -> Result<Leaf, GitError> {
        if metadata(&full.join(".git"))?.is_none() {
            return Ok(indexed);
        }
        let opened = gix::open_opts(full, self.repo.open_options().clone()).ok();
        let head = opened.and_then(|repo| repo.head_id().ok().map(|head| object::oid(&head)));
        let remedy = || "stage the submodule and review with --staged".to_owned();
        let oid = head
            .ok_or_else(|| GitError::Unsupported { what: format!("a submodule whose HEAD cannot be read ({})", full.display()), remedy: remedy() })?;
        Ok(Leaf { oid, ..indexed })
    }

    /// Reads a file or link, keeps its content and returns the id that git would give it.
    fn content(&mut self, path: &BStr, relative: &Path, full: &Path, found: &Metadata) -> Result<Oid, GitError> {
        let (oid, content) = if found.is_symlink() {
            self.hashed(path, link(full)?)?
        } else if found.len() > MAX_TEXT {
            (self.hashed_unread(full, found.len())?, Content::Oversize(found.len()))
        } else {
            let content = self.clean.stored_form(path, relative, std::fs::read(full).map_err(GitError::io("read", full))?)?;
            self.hashed(path, content)?
        };
        self.unstored.insert(oid, content);
        Ok(oid)
    }

    fn hashed(&self, path: &BStr, content: Vec<u8>) -> Result<(Oid, Content<'static>), GitError> {
        let oid = object::hash(self.repo, Kind::Blob, &content);
        let oid = oid.ok_or_else(|| GitError::Unsupported { what: format!("a SHA-1 collision in {path}"), remedy: "remove the file".to_owned() })?;
        Ok((oid, Content::Whole(Cow::Owned(content))))
    }

    /// Hashes a file that is too large to be held.
    fn hashed_unread(&self, full: &Path, size: u64) -> Result<Oid, GitError> {
        let mut file = File::open(full).map_err(GitError::io("read", full))?;
        let (mut silent, never) = (gix::utils::progress::Discard, Default::default());
        let id = gix::objs::compute_stream_hash(self.repo.object_hash(), Kind::Blob, &mut file, size, &mut silent, &never);
        id.map(|id| object::oid(&id)).map_err(GitError::other(format!("hash {}", full.display())))
    }
}

/// Returns what is at a path, a link as a link; `None` where there is nothing.
fn metadata(full: &Path) -> Result<Option<Metadata>, GitError> {
    match Metadata::from_path_no_follow(full) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(GitError::io("look at", full)(error)),
    }
}

fn link(full: &Path) -> Result<Vec<u8>, GitError> {
    let link = std::fs::read_link(full).map_err(GitError::io("read the link", full))?;
    let target = gix::path::into_bstr(link).map_err(GitError::other(format!("read the link {}", full.display())))?;
    Ok(target.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sandbox;
    use super::*;

    /// Returns each changed path with the text of its new side, where that is in no object.
    fn changed(sandbox: &Sandbox) -> Vec<(String, String)> {
        let (entries, unstored) = tracked(&sandbox.open()).expect("entries");
        let text = |leaf: Option<Leaf>| match leaf.and_then(|leaf| unstored.get(&leaf.oid)) {
            Some(Content::Whole(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(Content::Oversize(_)) | None => String::new(),
        };
        entries.iter().map(|entry| (entry.path.to_string(), text(entry.new))).collect()
    }

    fn committed() -> Sandbox {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("f", "a\nb\n");
        sandbox.git(&["add", "."]);
        sandbox.commit();
        sandbox
    }

    #[test]
    fn line_ends_are_stored_as_git_would() {
        let sandbox = committed();
        sandbox.git(&["config", "core.autocrlf", "true"]);
        sandbox.write("f", "a\r\nB\r\n");
        assert_eq!(changed(&sandbox), [("f".to_owned(), "a\nB\n".to_owned())]);
        sandbox.write("f", "a\r\nb\r\n");
        assert_eq!(changed(&sandbox), []);
    }

    #[test]
    fn a_filter_driver_is_never_run() {
        let sandbox = committed();
        sandbox.write(".git/info/attributes", "* filter=x\n");
        for key in ["clean", "smudge", "process"] {
            sandbox.git(&["config", &format!("filter.x.{key}"), &format!("touch {}", sandbox.path("ran").display())]);
        }
        sandbox.git(&["config", "filter.x.required", "true"]);
        sandbox.write("f", "new\n");
        assert_eq!(changed(&sandbox), [("f".to_owned(), "new\n".to_owned())]);
        assert!(!sandbox.path("ran").exists());
    }

    #[test]
    fn a_link_is_its_target_and_leads_nowhere() {
        let sandbox = committed();
        sandbox.write("secret/f", "not in the repository\n");
        std::fs::remove_file(sandbox.path("f")).expect("removed");
        std::os::unix::fs::symlink("secret/f", sandbox.path("f")).expect("a link");
        assert_eq!(changed(&sandbox), [("f".to_owned(), "secret/f".to_owned())]);
    }

    #[test]
    fn files_that_a_sparse_checkout_leaves_out_are_not_deleted() {
        let sandbox = committed();
        sandbox.git(&["update-index", "--skip-worktree", "f"]);
        std::fs::remove_file(sandbox.path("f")).expect("removed");
        assert_eq!(changed(&sandbox), []);
        sandbox.git(&["update-index", "--no-skip-worktree", "f"]);
        assert_eq!(changed(&sandbox), [("f".to_owned(), String::new())]);
    }

    #[test]
    fn a_submodule_that_cannot_be_read_is_not_unchanged() {
        let sandbox = committed();
        let (head, inside) = (sandbox.line(&["rev-parse", "HEAD"]), sandbox.path("sm"));
        std::fs::create_dir(&inside).expect("a directory");
        sandbox.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sm")]);
        sandbox.git(&["commit", "-q", "-m", "with a submodule"]);
        assert_eq!(changed(&sandbox), [], "nothing is checked out");
        sandbox.git(&["init", "-q", "--ref-format=reftable", "sm"]);
        let error = tracked(&sandbox.open()).expect_err("a refusal").to_string();
        assert!(error.contains("a submodule whose HEAD cannot be read") && error.contains("sm"), "{error}");
    }

    #[test]
    fn a_bare_repository_has_no_worktree() {
        let sandbox = Sandbox::new(&["--bare"]);
        assert!(matches!(tracked(&sandbox.open()), Err(GitError::Bare)));
    }
}
