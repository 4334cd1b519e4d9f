//! Narrowing: from paths as they are typed to paths of the repository, and from those to the part of a change that they name.
//!
//! A path that names nothing is an error and never an empty change: a slip of the keyboard must not look like a pass.

use super::capture::Options;
use super::error::{GitError, PathFault};
use super::open::Repo;
use super::range::Selected;
use super::tree::Entry;
use crate::change::BytePath;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

impl Repo {
    /// Returns the path of the repository that was typed in `cwd`, read as git reads it: `.`, `..` and doubled slashes by their letter, so that a link inside
    /// the work tree is never followed. The top is the empty path. In a bare repository, where files have no place on disk, the path is taken as typed.
    ///
    /// # Errors
    ///
    /// [`GitError::BadPath`] where it is empty or leads out of the work tree.
    pub fn path_in_repo(&self, cwd: &Path, typed: &OsStr) -> Result<BytePath, GitError> {
        let bad = |why| GitError::BadPath { path: BytePath::new(typed.as_bytes()), why };
        if typed.is_empty() {
            return Err(bad(PathFault::Empty));
        }
        let Some(top) = self.work_dir() else { return Ok(BytePath::new(typed.as_bytes())) };
        let top = top.canonicalize().map_err(GitError::io("find", top))?;
        // Started outside the work tree (with GIT_WORK_TREE), git counts from its top.
        let from = if below(&top, cwd).is_some() { cwd } else { &top };
        let full = by_letter(&from.join(typed));
        let inside = below(&top, &full).ok_or_else(|| bad(PathFault::Outside { top: top.display().to_string() }))?;
        Ok(BytePath::new(inside.as_os_str().as_bytes()))
    }
}

/// Takes `.`, `..` and doubled slashes out of an absolute path without looking at the disk.
fn by_letter(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, component| {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
        plain
    })
}

/// Returns what of a path lies below `top`, a path without links; the way to `top` may lead over links. The outermost place counts, so that a link inside
/// the work tree that leads back to its top is a file like any other.
fn below<'p>(top: &Path, path: &'p Path) -> Option<&'p Path> {
    let is_top = |above: &&Path| above.canonicalize().is_ok_and(|above| above == top);
    path.strip_prefix(path.ancestors().filter(is_top).last()?).ok()
}

impl Options {
    /// Tells whether a path is wanted: all are where none is named.
    pub(super) fn wants(&self, path: &BytePath) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| names(only, path))
    }
}

/// Keeps the entries that are wanted.
pub(super) fn entries(mut entries: Vec<Entry>, options: &Options) -> Vec<Entry> {
    entries.retain(|entry| options.wants(&entry.path));
    entries
}

/// Keeps the paths that are wanted.
pub(super) fn paths(mut paths: Vec<BytePath>, options: &Options) -> Vec<BytePath> {
    paths.retain(|path| options.wants(path));
    paths
}

/// Refuses a selection that one of the named paths has no part in.
pub(super) fn matched(selected: Selected, options: &Options) -> Result<Selected, GitError> {
    match options.only.iter().find(|only| !is_matched(only, &selected)) {
        None => Ok(selected),
        Some(only) => Err(GitError::BadPath { path: only.clone(), why: PathFault::NoMatch }),
    }
}

/// Tells whether a named path has a part in a selection. The top has one in every change, the empty one too.
fn is_matched(only: &BytePath, selected: &Selected) -> bool {
    let changes = || selected.subjects.iter().map(|subject| &subject.change);
    let mut sides = changes().flat_map(|change| &change.files).flat_map(|file| [&file.old, &file.new]).flatten().map(|side| &side.path);
    let mut published = changes().flat_map(|change| &change.already_published);
    only.as_bytes().is_empty() || sides.any(|path| names(only, path)) || published.any(|path| names(only, path))
}

/// Tells whether a named path is the other one, or a directory above it.
fn names(only: &BytePath, path: &BytePath) -> bool {
    let only = only.as_bytes();
    let at_or_below = |rest: &[u8]| rest.is_empty() || rest[0] == b'/' || only.is_empty() || only.ends_with(b"/");
    path.as_bytes().strip_prefix(only).is_some_and(at_or_below)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, files, only, published};
    use super::super::{GitError, Selector};
    use super::*;
    use crate::env::Env;

    fn options(only: &[&str]) -> Options {
        Options { renames: false, only: only.iter().map(|path| BytePath::from(*path)).collect() }
    }

    #[test]
    fn a_path_is_read_from_where_it_is_typed() {
        let world = World::new();
        let (work, sub) = (world.work().canonicalize().expect("a directory"), world.work().join("sub"));
        std::fs::create_dir(&sub).expect("a directory");
        std::os::unix::fs::symlink(".", work.join("self")).expect("a link");
        std::os::unix::fs::symlink(&work, world.dir.path().join("alias")).expect("a link");
        let alias = world.dir.path().join("alias");
        let absolute = format!("{}/sub/a", alias.display());
        let cases: [(&Path, &str, Option<&str>); 18] = [
            (&work, "a", Some("a")),
            (&work, "./a", Some("a")),
            (&work, "sub//b/./c/../d", Some("sub/b/d")),
            (&work, "sub/", Some("sub")),
            (&work, ".", Some("")),
            (&work, "self", Some("self")),
            (&work, "self/a", Some("self/a")),
            (&work, "..", None),
            (&work, "../a", None),
            (&work, "../work/a", Some("a")),
            (&work, "/etc/passwd", None),
            (&work, "", None),
            (&sub, "a", Some("sub/a")),
            (&sub, "../a", Some("a")),
            (&sub, "../../a", None),
            (&work, &absolute, Some("sub/a")),
            (&alias, "sub/a", Some("sub/a")),
            (world.dir.path(), "sub/a", Some("sub/a")),
        ];
        for (cwd, typed, expected) in cases {
            let found = world.repo().path_in_repo(cwd, OsStr::new(typed));
            match expected {
                Some(path) => assert_eq!(found.unwrap_or_else(|error| panic!("{typed}: {error}")), BytePath::from(path), "{cwd:?} {typed}"),
                None => assert!(matches!(found, Err(GitError::BadPath { .. })), "{cwd:?} {typed}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_bare_repository_takes_paths_as_they_are_typed() {
        let world = World::new();
        let there = world.dir.path().join("remote.git");
        let repo = Repo::discover(&there, &Env::default()).expect("a repository");
        assert_eq!(repo.path_in_repo(&there, OsStr::new("src/a")).expect("a path"), BytePath::from("src/a"));
    }

    #[test]
    fn a_path_that_names_nothing_is_no_empty_change() {
        let world = World::new();
        std::fs::write(world.work().join("base"), "evil\n").expect("a file");
        let disk = |only: &[&str]| world.repo().select(&Selector::Worktree, &options(only));
        assert_eq!(files(only(&disk(&["base"]).expect("a change"))), ["base"]);
        world.git(&["add", "."]);
        let staged = |only: &[&str]| world.repo().select(&Selector::Staged, &options(only));
        assert_eq!(files(only(&staged(&["base"]).expect("a change"))), ["base"]);
        assert_eq!(files(only(&staged(&[""]).expect("a change"))), ["base"], "the top is everything");
        world.git(&["commit", "-q", "-m", "evil"]);
        let range = |only: &[&str]| world.repo().select(&Selector::Base("HEAD~1".to_owned()), &options(only));
        let lines = world.lines(&[["main", "main", "refs/heads/main", "origin/main"]]);
        let pushed = |only: &[&str]| world.repo().pushed(&lines, "origin", "../remote.git", &options(only));
        assert_eq!(files(only(&pushed(&["base"]).expect("a change"))), ["base"]);
        for only in [&["bas"][..], &["base/x"], &["base", "nosuch"]] {
            for found in [disk(only), staged(only), range(only), pushed(only)] {
                let error = found.expect_err("a refusal").to_string();
                assert!(error.contains("matches nothing in the change"), "{error}");
            }
        }
        assert!(staged(&[""]).expect("an empty change").subjects[0].change.is_empty());
    }

    #[test]
    fn what_is_published_already_is_narrowed_too() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        world.commit("mine", "1\n");
        world.git(&["push", "-q", "origin", "f"]);
        world.colleague("main", "main", "theirs", "x\n");
        world.git(&["fetch", "-q"]);
        world.git(&["merge", "-q", "--no-commit", "origin/main"]);
        std::fs::write(world.work().join("mine"), "2\n").expect("a file");
        world.git(&["add", "."]);
        let sets_aside = |selected: Result<Selected, GitError>| {
            let selected = selected.expect("a change");
            (files(only(&selected)), published(only(&selected)))
        };
        let (sent, aside) = (vec!["mine".to_owned()], vec!["theirs".to_owned()]);
        let staged = |only: &[&str]| world.repo().select(&Selector::Staged, &options(only));
        assert_eq!(sets_aside(staged(&["mine"])), (sent.clone(), vec![]));
        assert_eq!(sets_aside(staged(&["theirs"])), (vec![], aside.clone()));
        world.git(&["commit", "-q", "-m", "merge"]);
        let lines = world.lines(&[["f", "f", "refs/heads/f", "origin/f"]]);
        let pushed = |only: &[&str]| world.repo().pushed(&lines, "origin", "../remote.git", &options(only));
        assert_eq!(sets_aside(pushed(&["mine"])), (sent, vec![]));
        assert_eq!(sets_aside(pushed(&["theirs"])), (vec![], aside));
    }

    #[test]
    fn of_a_rename_both_paths_name_it() {
        let world = World::new();
        world.git(&["mv", "base", "moved"]);
        let staged = |only: &[&str]| world.repo().select(&Selector::Staged, &Options { renames: true, ..options(only) });
        assert_eq!(files(only(&staged(&["base", "moved"]).expect("a change"))), ["moved"]);
    }
}
