//! What differs between two trees: verified trees are walked side by side and only unequal subtrees are opened. Content is `capture`'s business.

use super::{GitError, object};
use crate::change::{BytePath, Mode, Oid};
use gix::Repository;
use gix::bstr::ByteSlice as _;
use gix::objs::tree::name_order;
use std::cmp::Ordering;

/// How many directories may lie inside each other: the least that git allows anywhere (`core.maxTreeDepth` on Windows). The walk goes down by recursion, and
/// must end with a message before it ends for want of stack.
const MAX_DEPTH: usize = 512;

/// A file, link or submodule as a tree or the index names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Its mode.
    pub(crate) mode: Mode,
    /// Its blob; for a gitlink, its commit.
    pub(crate) oid: Oid,
}

/// One path whose entry differs. The sides are never equal and never both absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The path from the root of the repository.
    pub(crate) path: BytePath,
    /// What the old tree has there.
    pub(crate) old: Option<Leaf>,
    /// What the new tree has there.
    pub(crate) new: Option<Leaf>,
}

/// Lists what differs between two trees, in git's order; `None` is the empty tree.
pub(crate) fn between(repo: &Repository, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<Entry>, GitError> {
    let mut walk = Walk::new(repo);
    walk.trees(old, new)?;
    Ok(walk.found)
}

/// Finds the file, link or submodule that a tree has at a path.
pub(crate) fn lookup(repo: &Repository, root: Oid, path: &BytePath) -> Result<Option<Leaf>, GitError> {
    let mut target = Target::Tree(root);
    for name in path.as_bytes().split(|byte| *byte == b'/') {
        let Target::Tree(oid) = target else { return Ok(None) };
        let content = object::tree(repo, oid)?;
        let Some(item) = items(repo, oid, &content)?.into_iter().find(|item| item.name == name) else { return Ok(None) };
        target = item.target;
    }
    Ok(target.leaf())
}

/// What a name in a tree stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// A directory.
    Tree(Oid),
    /// Anything else.
    Leaf(Leaf),
}

impl Target {
    fn leaf(self) -> Option<Leaf> {
        match self {
            Target::Tree(_) => None,
            Target::Leaf(leaf) => Some(leaf),
        }
    }

    pub(super) fn tree(self) -> Option<Oid> {
        match self {
            Target::Tree(oid) => Some(oid),
            Target::Leaf(_) => None,
        }
    }
}

/// One name in a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) name: &'a [u8],
    pub(super) target: Target,
}

impl Named for Item<'_> {
    fn name(&self) -> (&[u8], bool) {
        (self.name, self.target.tree().is_some())
    }
}

/// Something with a place in git's order: a name, and whether it is a directory (then it counts as if it ended in a slash).
pub(super) trait Named {
    fn name(&self) -> (&[u8], bool);
}

fn order(a: &impl Named, b: &impl Named) -> Ordering {
    let ((a, a_is_tree), (b, b_is_tree)) = (a.name(), b.name());
    name_order(a, a_is_tree, b, b_is_tree)
}

/// Goes through two lists in git's order side by side. A file and a directory of one name are two different things.
pub(super) fn side_by_side<'a, A: Named, B: Named>(old: &'a [A], new: &'a [B]) -> impl Iterator<Item = (Option<&'a A>, Option<&'a B>)> {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    std::iter::from_fn(move || match (old.peek(), new.peek()) {
        (None, None) => None,
        (Some(_), None) => Some((old.next(), None)),
        (None, Some(_)) => Some((None, new.next())),
        (Some(a), Some(b)) => Some(match order(*a, *b) {
            Ordering::Less => (old.next(), None),
            Ordering::Equal => (old.next(), new.next()),
            Ordering::Greater => (None, new.next()),
        }),
    })
}

/// A walk in progress: where it stands and what it has found.
pub(super) struct Walk<'r> {
    pub(super) repo: &'r Repository,
    pub(super) found: Vec<Entry>,
    prefix: Vec<u8>,
    depth: usize,
}

impl<'r> Walk<'r> {
    pub(super) fn new(repo: &'r Repository) -> Walk<'r> {
        Walk { repo, found: Vec::new(), prefix: Vec::new(), depth: 0 }
    }

    /// Compares the trees of one directory.
    pub(super) fn trees(&mut self, old: Option<Oid>, new: Option<Oid>) -> Result<(), GitError> {
        if old == new {
            return Ok(());
        }
        let (old_content, new_content) = (self.content(old)?, self.content(new)?);
        let old = old.map_or(Ok(Vec::new()), |oid| items(self.repo, oid, &old_content))?;
        let new = new.map_or(Ok(Vec::new()), |oid| items(self.repo, oid, &new_content))?;
        side_by_side(&old, &new).try_for_each(|(old, new)| self.pair(old, new))
    }

    /// Compares what two trees have under one name.
    pub(super) fn pair(&mut self, old: Option<&Item<'_>>, new: Option<&Item<'_>>) -> Result<(), GitError> {
        let name = old.or(new).map_or(&b""[..], |item| item.name);
        let (old, new) = (old.map(|item| item.target), new.map(|item| item.target));
        if [old, new].into_iter().flatten().any(|target| target.tree().is_some()) {
            let (old, new) = (old.and_then(Target::tree), new.and_then(Target::tree));
            return self.inside(name, |walk| walk.trees(old, new));
        }
        self.leaf(name, old.and_then(Target::leaf), new.and_then(Target::leaf));
        Ok(())
    }

    /// Notes a file of the current directory, if its sides differ.
    pub(super) fn leaf(&mut self, name: &[u8], old: Option<Leaf>, new: Option<Leaf>) {
        if old != new {
            let path = BytePath::new([&self.prefix, name].concat());
            self.found.push(Entry { path, old, new });
        }
    }

    /// Reads a tree; nothing for none.
    pub(super) fn content(&self, tree: Option<Oid>) -> Result<Vec<u8>, GitError> {
        tree.map_or(Ok(Vec::new()), |oid| object::tree(self.repo, oid))
    }

    /// Returns the path of the current directory with its final slash; empty for the root.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Notes that the walk goes one directory down; [`Walk::leave`] undoes it.
    pub(super) fn enter(&mut self, name: &[u8]) -> Result<(), GitError> {
        self.prefix.extend_from_slice(name);
        self.prefix.push(b'/');
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let what = format!("more than {MAX_DEPTH} directories inside each other");
            return Err(GitError::Unsupported { what, remedy: "remove the nesting".to_owned() });
        }
        Ok(())
    }

    /// Notes that the walk comes back from the directory `name`.
    pub(super) fn leave(&mut self, name: &[u8]) {
        self.prefix.truncate(self.prefix.len() - name.len() - 1);
        self.depth -= 1;
    }

    fn inside(&mut self, name: &[u8], work: impl FnOnce(&mut Self) -> Result<(), GitError>) -> Result<(), GitError> {
        self.enter(name)?;
        work(self)?;
        self.leave(name);
        Ok(())
    }
}

/// Reads the names of a tree. Names that could pass for another path, unknown modes and a wrong order are refused: git and the gate must not read two
/// different changes out of one object.
pub(super) fn items<'a>(repo: &Repository, tree: Oid, mut content: &'a [u8]) -> Result<Vec<Item<'a>>, GitError> {
    let malformed = |why: &str| GitError::Malformed { oid: tree, why: why.to_owned() };
    let mut items: Vec<Item<'a>> = Vec::with_capacity(content.len() / 40);
    while !content.is_empty() {
        let (item, rest) = item(content, repo.object_hash().len_in_bytes()).ok_or_else(|| malformed("a cut or unreadable tree entry"))?;
        if matches!(item.name, b"" | b"." | b"..") || item.name.contains(&b'/') {
            return Err(malformed("a tree entry whose name is no file name"));
        }
        if items.last().is_some_and(|last| order(last, &item) != Ordering::Less) {
            return Err(malformed("tree entries out of order"));
        }
        items.push(item);
        content = rest;
    }
    Ok(items)
}

/// Splits the first entry off: octal mode, space, name, NUL, id.
fn item(content: &[u8], hash_len: usize) -> Option<(Item<'_>, &[u8])> {
    let (mode, rest) = content.split_once_str(b" ")?;
    let (name, rest) = rest.split_once_str(b"\0")?;
    let (raw, rest) = rest.split_at_checked(hash_len)?;
    let oid = Oid::from_bytes(raw)?;
    let target = target(u32::from_str_radix(mode.to_str().ok()?, 8).ok()?, oid)?;
    Some((Item { name, target }, rest))
}

/// Reads a mode of a tree or of the index as git does: of a file's permissions only the owner's executable bit counts.
pub(super) fn target(mode: u32, oid: Oid) -> Option<Target> {
    let mode = match mode & 0o170_000 {
        0o040_000 => return Some(Target::Tree(oid)),
        0o100_000 if mode & 0o100 != 0 => Mode::Executable,
        0o100_000 => Mode::Regular,
        0o120_000 => Mode::Symlink,
        0o160_000 => Mode::Gitlink,
        _ => return None,
    };
    Some(Target::Leaf(Leaf { mode, oid }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sandbox;
    use super::*;

    fn oid(hex: &str) -> Oid {
        Oid::from_hex(hex.as_bytes()).expect("an id")
    }

    #[test]
    fn lookup_finds_files_and_only_files() {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("dir/policy.yaml", "x\n");
        sandbox.git(&["add", "."]);
        let (tree, repo) = (oid(&sandbox.commit()), sandbox.open());
        let blob = oid(&sandbox.line(&["rev-parse", "HEAD:dir/policy.yaml"]));
        let found = |path: &str| lookup(&repo, tree, &BytePath::from(path)).expect("an answer");
        assert_eq!(found("dir/policy.yaml"), Some(Leaf { mode: Mode::Regular, oid: blob }));
        for absent in ["dir", "policy.yaml", "dir/policy.yaml/x", "dir/", ""] {
            assert_eq!(found(absent), None, "{absent}");
        }
    }

    #[test]
    fn a_tree_that_git_would_not_write_is_refused() {
        let cases: [(&[u8], bool); 10] = [
            (b"100644 a\0HHHHHHHHHHHHHHHHHHHH100644 b\0HHHHHHHHHHHHHHHHHHHH", true),
            (b"100664 a\0HHHHHHHHHHHHHHHHHHHH", true),
            (b"100644 b\0HHHHHHHHHHHHHHHHHHHH100644 a\0HHHHHHHHHHHHHHHHHHHH", false),
            (b"100644 a\0HHHHHHHHHHHHHHHHHHHH100755 a\0HHHHHHHHHHHHHHHHHHHH", false),
            (b"100644 x/y\0HHHHHHHHHHHHHHHHHHHH", false),
            (b"100644 ..\0HHHHHHHHHHHHHHHHHHHH", false),
            (b"100644 \0HHHHHHHHHHHHHHHHHHHH", false),
            (b"140000 a\0HHHHHHHHHHHHHHHHHHHH", false),
            (b"100644 a\0HHH", false),
            (b"99 a\0HHHHHHHHHHHHHHHHHHHH", false),
        ];
        let sandbox = Sandbox::new(&[]);
        let repo = sandbox.open();
        for (content, good) in cases {
            let result = items(&repo, oid(&"0".repeat(40)), content);
            assert_eq!(result.is_ok(), good, "{}", content.escape_ascii());
        }
    }
}
