//! What the gate must leave alone: worktree, index, HEAD and refs, by content, kind and time.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The state of a repository at one moment, to compare with another.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept(BTreeMap<PathBuf, Entry>);

#[derive(PartialEq, Eq)]
struct Entry {
    mode: u32,
    size: u64,
    modified: (i64, i64),
    content: Vec<u8>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:o}, {} bytes, modified {:?}", self.mode, self.size, self.modified)
    }
}

/// Above this many bytes size and time stand for the content.
const READ: u64 = 1 << 20;

impl Kept {
    /// Takes the worktree, the index, HEAD and all refs.
    pub fn everything(top: &Path) -> Kept {
        Kept::take(top, &["index", "HEAD", "packed-refs", "refs"])
    }

    /// Takes the worktree and the index.
    pub fn index_and_worktree(top: &Path) -> Kept {
        Kept::take(top, &["index"])
    }

    /// Takes the worktree.
    pub fn worktree(top: &Path) -> Kept {
        Kept::take(top, &[])
    }

    fn take(top: &Path, of_git: &[&str]) -> Kept {
        let mut kept = Kept(BTreeMap::new());
        let git = git_dir(top);
        // A bare repository is its own git directory and has no worktree.
        if git != top {
            kept.add(top, &|path| path.file_name().is_some_and(|name| name == ".git"));
        }
        of_git.iter().for_each(|name| kept.add(&git.join(name), &|_| false));
        kept
    }

    fn add(&mut self, path: &Path, skip: &dyn Fn(&Path) -> bool) {
        let Ok(meta) = fs::symlink_metadata(path) else { return };
        if meta.is_dir() {
            // A folder of a test without the right to read it stays as it is, or the removal of its files fails.
            for entry in fs::read_dir(path).into_iter().flatten().flatten().filter(|entry| !skip(&entry.path())) {
                self.add(&entry.path(), skip);
            }
            return;
        }
        let content = match (meta.is_file(), meta.is_symlink()) {
            (true, _) if meta.len() <= READ => fs::read(path).unwrap_or_default(),
            (_, true) => fs::read_link(path).map(|to| to.into_os_string().into_encoded_bytes()).unwrap_or_default(),
            _ => Vec::new(),
        };
        self.0.insert(path.to_owned(), Entry { mode: meta.mode(), size: meta.len(), modified: (meta.mtime(), meta.mtime_nsec()), content });
    }
}

/// Returns where git keeps this worktree's own files: `.git`, what a `.git` file leads to, or the folder itself.
fn git_dir(top: &Path) -> PathBuf {
    let dot = top.join(".git");
    match fs::read_to_string(&dot) {
        Ok(text) => top.join(text.trim_start_matches("gitdir:").trim()),
        Err(_) if dot.is_dir() => dot,
        Err(_) => top.to_owned(),
    }
}
