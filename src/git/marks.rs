//! What a repository's attributes say of changed files that hold text all the same: that they are binary, generated, no matter for a diff or for an archive.
//! They have no say in what is reviewed (threat T4); what they hide from everybody who looks elsewhere is worth a word, and that word is the caller's. What is
//! set on this machine alone hides nothing from others and is not read.

use super::object::Content;
use super::tree::{Leaf, Target, items};
use super::{GitError, Repo, object};
use crate::change::subject::Subject;
use crate::change::{Body, BytePath, FileChange, Mode, Oid};
use gix::attrs::search::{MetadataCollection, Outcome};
use gix::attrs::{Search, StateRef};
use gix::bstr::ByteSlice as _;
use gix::glob::pattern::Case;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The attributes that mark a file, in the order in which they are told.
const MARKS: [&str; 6] = ["diff", "text", "linguist-generated", "linguist-vendored", "export-ignore", "binary"];
/// The drivers that git brings along (gitattributes(5)): they only choose the words behind a hunk's second `@@`.
const BUILT_IN: &str = " ada bash bibtex cpp csharp css dts elixir fortran fountain golang html java kotlin markdown matlab objc pascal perl php python ruby rust scheme tex ";
/// Where git reads attributes below a directory.
const FILE: &str = ".gitattributes";

/// A changed file that holds text, and what attributes say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The file.
    pub path: BytePath,
    /// The attribute as it is written: `binary`, `-diff`, `diff=x`, …
    pub attribute: String,
    /// `git diff` does not show the file line by line for it.
    pub hides: bool,
}

impl Repo {
    /// Returns the changed text files that attributes mark, each with the gravest mark. Read are the attributes of the tip; for what is not committed, HEAD's
    /// and those of the change.
    ///
    /// # Errors
    ///
    /// An altered object, or a missing directory.
    pub fn marked(&self, subject: &Subject) -> Result<Vec<Marked>, GitError> {
        let is_text = |file: &&FileChange| match &file.body {
            Body::Text(_) | Body::LineEnds(_) | Body::Utf16(_) => {
                file.new.as_ref().is_some_and(|side| matches!(side.mode, Mode::Regular | Mode::Executable))
            }
            // Of a lock file that is summed up nothing is read as text.
            Body::Binary | Body::Oversize | Body::Summary { .. } => false,
        };
        let paths: Vec<&BytePath> = subject.change.files.iter().filter(is_text).map(FileChange::path).collect();
        let mut attributes = Attributes::of_git()?;
        let mut trees = Trees::of(self, subject);
        // Neighbours share their directory, so that few paths are taken apart.
        let directories: BTreeSet<&[u8]> = paths.chunk_by(|a, b| parent(a) == parent(b)).flat_map(|paths| above(paths[0].as_bytes())).collect();
        for directory in directories {
            if let Some(oid) = trees.attributes_in(directory)? {
                attributes.add_tracked(directory, &trees.read(oid)?)?;
            }
        }
        if attributes.is_empty() {
            return Ok(Vec::new());
        }
        attributes.out.initialize_with_selection(&attributes.names, MARKS);
        Ok(paths.into_iter().filter_map(|path| attributes.mark(path)).collect())
    }
}

/// Returns the directory that a path is in.
fn parent(path: &BytePath) -> &[u8] {
    let bytes = path.as_bytes();
    &bytes[..bytes.len() - path.file_name().len()]
}

/// Returns the directories that a path is in, the root first, each without a slash at its end.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    std::iter::once(0).chain(slashes).map(|end| &path[..end])
}

/// The rules that hold, in the order in which later ones win.
struct Attributes {
    search: Search,
    names: MetadataCollection,
    out: Outcome,
}

impl Attributes {
    /// Begins with what git brings along.
    fn of_git() -> Result<Attributes, GitError> {
        let mut names = MetadataCollection::default();
        let search =
            Search::new_globals(std::iter::empty::<PathBuf>(), &mut Vec::new(), &mut names).map_err(GitError::other("read git's attributes"))?;
        Ok(Attributes { search, names, out: Outcome::default() })
    }

    /// Adds what a directory's own file says, below it only. Macros are for the root.
    fn add_tracked(&mut self, directory: &[u8], content: &[u8]) -> Result<(), GitError> {
        let root = Path::new("/");
        let source = root.join(OsStr::from_bytes(directory)).join(FILE);
        let added = self.search.add_patterns_buffer(content, source, Some(root), &mut self.names, directory.is_empty());
        added.map_err(GitError::other("read attributes"))
    }

    /// Tells whether there is nothing but what git brings along.
    fn is_empty(&self) -> bool {
        self.search.num_pattern_lists() == 1
    }

    fn mark(&mut self, path: &BytePath) -> Option<Marked> {
        self.out.reset();
        self.search.pattern_matching_relative_path(path.as_bytes().as_bstr(), Case::Sensitive, Some(false), &mut self.out);
        let found = || MARKS.into_iter().zip(self.out.iter_selected().map(|found| found.assignment.state));
        let (attribute, hides) = found().find_map(|(name, state)| told(name, state))?;
        // The macro stands for `-diff` and more; where a later rule says `diff` again, it hides nothing.
        let is_macro = hides && found().any(|(name, state)| name == "binary" && state == StateRef::Set);
        Some(Marked { path: path.clone(), attribute: if is_macro { "binary".to_owned() } else { attribute }, hides })
    }
}

/// Says whether an attribute marks a file, as it is written, and whether it hides its lines.
fn told(name: &str, state: StateRef<'_>) -> Option<(String, bool)> {
    let value = match state {
        StateRef::Value(value) => Some(value.as_bstr().to_string()),
        StateRef::Set | StateRef::Unset | StateRef::Unspecified => None,
    };
    let says_no = state == StateRef::Unset;
    let says_yes = state == StateRef::Set || value.as_deref() == Some("true");
    match (name, value) {
        ("diff", None) if says_no => Some(("-diff".to_owned(), true)),
        ("diff", Some(driver)) if !BUILT_IN.contains(&format!(" {driver} ")) => Some((format!("diff={driver}"), true)),
        ("text", None) if says_no => Some(("-text".to_owned(), false)),
        ("linguist-generated" | "linguist-vendored" | "export-ignore", _) if says_yes => Some((name.to_owned(), false)),
        _ => None,
    }
}

/// The directories of the tip, each looked up once.
struct Trees<'s> {
    repo: &'s Repo,
    root: Option<Oid>,
    /// The attribute files that an uncommitted change holds; `None` where it takes one away.
    changed: BTreeMap<&'s [u8], Option<Leaf>>,
    known: HashMap<Vec<u8>, Rc<Directory>>,
}

/// What matters of a directory: its attribute file, and the directories below it.
#[derive(Default)]
struct Directory {
    attributes: Option<Oid>,
    below: HashMap<Vec<u8>, Oid>,
}

impl<'s> Trees<'s> {
    fn of(repo: &'s Repo, subject: &'s Subject) -> Trees<'s> {
        let mut changed = BTreeMap::new();
        if subject.tip_tree.is_none() {
            for file in &subject.change.files {
                for (side, is_new) in [(&file.old, false), (&file.new, true)] {
                    if let Some(side) = side.as_ref().filter(|side| side.path.file_name() == FILE.as_bytes()) {
                        changed.insert(side.path.as_bytes(), is_new.then_some(Leaf { mode: side.mode, oid: side.oid }));
                    }
                }
            }
        }
        Trees { repo, root: subject.tip_tree.or(subject.base_tree), changed, known: HashMap::new() }
    }

    /// Finds the attribute file of a directory. A link is not followed, as git does not.
    fn attributes_in(&mut self, directory: &[u8]) -> Result<Option<Oid>, GitError> {
        let path = if directory.is_empty() { FILE.as_bytes().to_vec() } else { [directory, b"/", FILE.as_bytes()].concat() };
        match self.changed.get(path.as_slice()) {
            Some(leaf) => Ok(leaf.and_then(regular)),
            None => Ok(self.directory(directory)?.attributes),
        }
    }

    fn directory(&mut self, path: &[u8]) -> Result<Rc<Directory>, GitError> {
        if let Some(known) = self.known.get(path) {
            return Ok(Rc::clone(known));
        }
        let tree = match path.iter().rposition(|byte| *byte == b'/') {
            None if path.is_empty() => self.root,
            None => self.directory(b"")?.below.get(path).copied(),
            Some(slash) => self.directory(&path[..slash])?.below.get(&path[slash + 1..]).copied(),
        };
        let found = Rc::new(tree.map_or(Ok(Directory::default()), |tree| self.read_directory(tree))?);
        self.known.insert(path.to_vec(), Rc::clone(&found));
        Ok(found)
    }

    fn read_directory(&self, tree: Oid) -> Result<Directory, GitError> {
        let content = object::tree(&self.repo.gix, tree)?;
        let mut found = Directory::default();
        for item in items(&self.repo.gix, tree, &content)? {
            match item.target {
                Target::Tree(oid) => _ = found.below.insert(item.name.to_vec(), oid),
                Target::Leaf(leaf) if item.name == FILE.as_bytes() => found.attributes = regular(leaf),
                Target::Leaf(_) => {}
            }
        }
        Ok(found)
    }

    /// Reads an attribute file. One that is only on disk, or that a partial clone has not fetched, says nothing.
    fn read(&self, oid: Oid) -> Result<Vec<u8>, GitError> {
        match object::content(&self.repo.gix, oid) {
            Ok(Content::Whole(bytes)) => Ok(bytes.into_owned()),
            Ok(Content::Oversize(_)) => Ok(Vec::new()),
            Err(GitError::Missing { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

fn regular(leaf: Leaf) -> Option<Oid> {
    matches!(leaf.mode, Mode::Regular | Mode::Executable).then_some(leaf.oid)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, only};
    use super::super::{Options, Selector};
    use super::*;

    fn staged(world: &World) -> Vec<(String, String)> {
        world.git(&["add", "-A"]);
        let repo = world.repo();
        let selected = repo.select(&Selector::Staged, &Options::default()).expect("the index");
        told_of(&repo.marked(only(&selected)).expect("attributes"))
    }

    fn told_of(marked: &[Marked]) -> Vec<(String, String)> {
        marked.iter().map(|marked| (marked.path.to_string(), marked.attribute.clone())).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(path, attribute)| ((*path).to_owned(), (*attribute).to_owned())).collect()
    }

    fn write(world: &World, path: &str, content: &str) {
        let path = world.work().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }

    #[test]
    fn every_mark_is_told_as_it_is_written() {
        let world = World::new();
        let rules = [
            ("a", "binary"),
            ("b", "-diff"),
            ("c", "diff=x"),
            ("d", "-text"),
            ("e", "linguist-generated"),
            ("f", "linguist-generated=true"),
            ("g", "export-ignore"),
            ("h", "diff=rust"),
            ("i", "text diff eol=lf linguist-generated=false"),
        ];
        write(&world, ".gitattributes", &rules.map(|(path, attribute)| format!("{path} {attribute}\n")).concat());
        rules.iter().for_each(|(path, _)| write(&world, path, "text\n"));
        write(&world, "bin", "\0");
        let expected = pairs(&[
            ("a", "binary"),
            ("b", "-diff"),
            ("c", "diff=x"),
            ("d", "-text"),
            ("e", "linguist-generated"),
            ("f", "linguist-generated"),
            ("g", "export-ignore"),
        ]);
        assert_eq!(staged(&world), expected);
    }

    #[test]
    fn attributes_are_read_where_git_reads_them() {
        let world = World::new();
        write(&world, ".gitattributes", "* -diff\n");
        write(&world, "x/.gitattributes", "*.rs diff\n*.c export-ignore\n");
        write(&world, "x/deep/.gitattributes", "*.md binary\n");
        // What is set on this machine says nothing.
        write(&world, ".git/info/attributes", "* export-ignore diff\n");
        world.git(&["add", "."]);
        world.git(&["commit", "-qm", "rules"]);
        ["a.rs", "x/a.rs", "x/deep/a.c", "x/deep/a.md", "y/.gitattributes"].iter().for_each(|path| write(&world, path, "# text\n"));
        let expected = pairs(&[("a.rs", "-diff"), ("x/deep/a.c", "-diff"), ("x/deep/a.md", "binary"), ("y/.gitattributes", "-diff")]);
        assert_eq!(staged(&world), expected);
        // The tip's, not the base's, and not the worktree's.
        world.git(&["commit", "-qm", "files"]);
        write(&world, ".gitattributes", "* binary\n");
        let marked = |world: &World| {
            told_of(&world.repo().marked(only(&world.push(&[["main", "main", "refs/heads/main", "origin/main"]]))).expect("attributes"))
        };
        assert_eq!(marked(&world)[1], ("a.rs".to_owned(), "-diff".to_owned()));
        // Staged away, they are gone.
        std::fs::remove_file(world.work().join(".gitattributes")).expect("removed");
        write(&world, "a.rs", "more\n");
        assert_eq!(staged(&world), []);
    }
}
