//! Random pairs of trees, compared by us, by git and by libgit2: the entries one by one, the text byte for byte.
//!
//! A few in everyday runs; `REVIEW_GATE_TREE_PAIRS=10000 cargo nextest run tree_pairs` for as many as that. One git makes all trees, one each compares them.

use super::capture::{Options, Unstored, capture};
use super::testing::{Random, Sandbox};
use super::tree::{self, Entry, Leaf};
use crate::change::patch::{self, Style};
use crate::change::{BytePath, Mode, Oid};
use crate::env::Env;
use std::collections::BTreeMap;

/// How many pairs are compared where nobody asks for more.
const EVERYDAY: usize = 150;
/// How many different contents there are.
const BLOBS: usize = 120;

/// Names that sort around `/`, that shells, terminals and parsers trip over, and some that are only names.
const NAMES: [&[u8]; 22] = [
    b"a",
    b"a-b",
    b"a.c",
    b"a0",
    b"A",
    b"-rf",
    b"--",
    b" ",
    b"n\nl",
    b"t\tb",
    b"q\"u",
    b"back\\slash",
    b"\x1b[2J",
    b"lat\xe9",
    b"\xff\xfe",
    "é".as_bytes(),
    "\u{202e}x".as_bytes(),
    b"\x7f",
    b"deep",
    b"diff --git a",
    b"z",
    b"0",
];

const LINES: [&[u8]; 14] = [
    b"fn one() {",
    b"    body",
    b"",
    b"}",
    b"x\r",
    b"lone\rreturn",
    b"lat\xe9",
    b"\xff\xfe\x80",
    b"--- a/x",
    b"+++ b/x",
    b"@@ -1 +1 @@",
    b"\\ No newline at end of file",
    b"tab\t",
    "é\u{202e}".as_bytes(),
];

/// A tree as paths with mode and number of content.
type Tree = BTreeMap<Vec<u8>, (Mode, usize)>;

/// Makes trees at random.
struct Nursery {
    random: Random,
}

impl Nursery {
    fn path(&mut self) -> Vec<u8> {
        let depth = if self.random.below(40) == 0 { 60 } else { 1 + self.random.below(4) };
        (0..depth).map(|_| self.random.of(&NAMES)).collect::<Vec<_>>().join(&b'/')
    }

    fn leaf(&mut self) -> (Mode, usize) {
        let mode = self.random.of(&[Mode::Regular, Mode::Regular, Mode::Regular, Mode::Executable, Mode::Symlink, Mode::Gitlink]);
        (mode, self.random.below(BLOBS))
    }

    /// Puts something at a path, in place of whatever is there, above it or below it.
    fn plant(&mut self, tree: &mut Tree, path: Vec<u8>) {
        let below = [&path[..], b"/"].concat();
        tree.retain(|other, _| !other.starts_with(&below) && !path.starts_with(&[&other[..], b"/"].concat()));
        let leaf = self.leaf();
        tree.insert(path, leaf);
    }

    fn pair(&mut self) -> [Tree; 2] {
        let mut old = Tree::new();
        for _ in 0..self.random.below(14) {
            let path = self.path();
            self.plant(&mut old, path);
        }
        let mut new = if self.random.below(12) == 0 { Tree::new() } else { old.clone() };
        for _ in 0..self.random.below(7) {
            self.change(&mut new);
        }
        [old, new]
    }

    /// Changes a tree in one place: gone, new, another mode or content, a file where a directory was or the other way about.
    fn change(&mut self, tree: &mut Tree) {
        let at = self.random.below(tree.len().max(1));
        let Some(path) = tree.keys().nth(at).cloned() else {
            let path = self.path();
            return self.plant(tree, path);
        };
        match self.random.below(6) {
            0 => drop(tree.remove(&path)),
            1 => {
                let above = path.iter().rposition(|byte| *byte == b'/').map_or(path.clone(), |slash| path[..slash].to_vec());
                self.plant(tree, above);
            }
            2 => {
                let below = [&path[..], b"/", self.random.of(&NAMES)].concat();
                self.plant(tree, below);
            }
            3 => {
                let fresh = self.path();
                self.plant(tree, fresh);
            }
            _ => self.plant(tree, path),
        }
    }

    fn blob(&mut self, number: usize) -> Vec<u8> {
        let lines = self.random.below(25);
        let mut text: Vec<u8> = (0..lines).flat_map(|_| [self.random.of(&LINES), b"\n"].concat()).collect();
        match number % 8 {
            0 => text.push(0),
            1 => drop(text.pop()),
            2 => text = String::from_utf8_lossy(&text).encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => {}
        }
        text
    }
}

/// Writes what `git fast-import` reads: all contents, then one commit for each tree.
fn stream(nursery: &mut Nursery, trees: &[&Tree]) -> Vec<u8> {
    let mut out = Vec::new();
    for number in 0..BLOBS {
        let blob = nursery.blob(number);
        out.extend(format!("blob\nmark :{}\ndata {}\n", number + 1, blob.len()).into_bytes());
        out.extend(blob);
        out.push(b'\n');
    }
    for (number, tree) in trees.iter().enumerate() {
        out.extend(format!("commit refs/heads/t\nmark :{}\ncommitter n <e> 1 +0000\ndata 0\ndeleteall\n", BLOBS + 1 + number).into_bytes());
        for (path, (mode, content)) in *tree {
            let what = if *mode == Mode::Gitlink { format!("{:0>40x}", content + 1) } else { format!(":{}", content + 1) };
            out.extend(format!("M {} {what} ", mode.octal()).into_bytes());
            out.extend(BytePath::new(path.clone()).quoted("", true));
            out.push(b'\n');
        }
        out.push(b'\n');
    }
    out
}

/// Makes the trees and returns their ids.
fn planted(sandbox: &Sandbox, stream: &[u8], trees: usize) -> Vec<String> {
    sandbox.write("stream", stream);
    sandbox.git_from(&sandbox.path("stream"), &["fast-import", "--quiet", "--force", "--export-marks=marks"]);
    let marks = std::fs::read_to_string(sandbox.path("marks")).expect("the marks");
    let ids: BTreeMap<usize, &str> =
        marks.lines().filter_map(|line| line.strip_prefix(':')?.split_once(' ')).map(|(mark, id)| (mark.parse().expect("a number"), id)).collect();
    let revisions: String = (0..trees).map(|number| format!("{}^{{tree}}\n", ids[&(BLOBS + 1 + number)])).collect();
    sandbox.write("revisions", revisions);
    let found = sandbox.git_from(&sandbox.path("revisions"), &["cat-file", "--batch-check=%(objectname)"]);
    String::from_utf8(found).expect("ASCII").lines().map(str::to_owned).collect()
}

/// Has git compare all pairs at once, and returns what it says of each.
fn by_git(sandbox: &Sandbox, pairs: &[(String, String)], arguments: &[&str]) -> Vec<Vec<u8>> {
    let heads: Vec<String> = pairs.iter().map(|(old, new)| format!("{old} {new}\n")).collect();
    sandbox.write("pairs", heads.concat());
    let said = sandbox.git_from(&sandbox.path("pairs"), &[&["diff-tree", "--stdin", "-r", "--no-renames"], arguments].concat());
    let mut rest = &said[..];
    let mut parts = Vec::new();
    for (at, head) in heads.iter().enumerate() {
        rest = rest.strip_prefix(head.as_bytes()).unwrap_or_else(|| panic!("pair {at}: git says {}", rest[..rest.len().min(200)].escape_ascii()));
        let end = heads.get(at + 1).map_or(rest.len(), |next| gix::bstr::ByteSlice::find(rest, next).expect("the next pair"));
        parts.push(rest[..end].to_vec());
        rest = &rest[end..];
    }
    parts
}

fn oid(hex: &str) -> Oid {
    Oid::from_hex(hex.as_bytes()).expect("an id")
}

/// Reads `git diff-tree -r --raw -z`.
fn raw_entries(raw: &[u8]) -> Vec<Entry> {
    let leaf = |mode: &str, id: &str| mode_of(u32::from_str_radix(mode, 8).expect("octal")).map(|mode| Leaf { mode, oid: oid(id) });
    let fields: Vec<&[u8]> = raw.split(|byte| *byte == 0).collect();
    let entry = |pair: &[&[u8]]| {
        let words: Vec<&str> = std::str::from_utf8(pair[0]).expect("ASCII").trim_start_matches(':').split(' ').collect();
        Entry { path: BytePath::new(pair[1]), old: leaf(words[0], words[2]), new: leaf(words[1], words[3]) }
    };
    fields.chunks_exact(2).map(entry).collect()
}

fn mode_of(bits: u32) -> Option<Mode> {
    [Mode::Regular, Mode::Executable, Mode::Symlink, Mode::Gitlink].into_iter().find(|mode| u32::from_str_radix(mode.octal(), 8) == Ok(bits))
}

fn by_libgit2(repo: &git2::Repository, old: &str, new: &str) -> Vec<Entry> {
    let tree = |hex: &str| repo.find_tree(git2::Oid::from_str(hex).expect("an id")).expect("a tree");
    let mut options = git2::DiffOptions::new();
    options.include_typechange(true);
    let diff = repo.diff_tree_to_tree(Some(&tree(old)), Some(&tree(new)), Some(&mut options)).expect("a diff");
    let leaf = |file: git2::DiffFile<'_>| mode_of(file.mode().into()).map(|mode| Leaf { mode, oid: oid(&file.id().to_string()) });
    let entry = |delta: git2::DiffDelta<'_>| {
        let path = BytePath::new(delta.new_file().path_bytes().expect("a path"));
        let exists = |leaf: Option<Leaf>| leaf.filter(|leaf| !leaf.oid.is_null());
        Entry { path, old: exists(leaf(delta.old_file())), new: exists(leaf(delta.new_file())) }
    };
    diff.deltas().map(entry).collect()
}

#[test]
fn tree_pairs_are_read_as_git_and_libgit2_read_them() {
    let count = Env::of_process().text("REVIEW_GATE_TREE_PAIRS").and_then(|count| count.parse().ok()).unwrap_or(EVERYDAY);
    let mut nursery = Nursery { random: Random::new(20) };
    let made: Vec<[Tree; 2]> = (0..count).map(|_| nursery.pair()).collect();
    let trees: Vec<&Tree> = made.iter().flatten().collect();
    let sandbox = Sandbox::new(&[]);
    let stream = stream(&mut nursery, &trees);
    let ids = planted(&sandbox, &stream, trees.len());
    let pairs: Vec<(String, String)> = ids.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let entries = by_git(&sandbox, &pairs, &["--raw", "-z"]);
    let texts = by_git(&sandbox, &pairs, &["-p", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none"]);

    let (repo, libgit2) = (sandbox.open(), git2::Repository::open(sandbox.path("")).expect("a repository"));
    let (mut seen, mut bytes) = (0, 0);
    for (at, (old, new)) in pairs.iter().enumerate() {
        let ours = tree::between(&repo, Some(oid(old)), Some(oid(new))).expect("entries");
        assert_eq!(ours, raw_entries(&entries[at]), "pair {at}: {old} {new}");
        let mut theirs = by_libgit2(&libgit2, old, new);
        theirs.sort_by(|a, b| a.path.cmp(&b.path));
        let mut sorted = ours.clone();
        sorted.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(sorted, theirs, "pair {at}: {old} {new}, by libgit2");
        seen += ours.len();
        let change = capture(&repo, ours, &Unstored::new(), &Options::default()).expect("a change");
        let mut text = Vec::new();
        patch::write(&change, Style::Git, &mut text);
        assert_eq!(text.escape_ascii().to_string(), texts[at].escape_ascii().to_string(), "pair {at}: {old} {new}");
        bytes += text.len();
    }
    assert!(seen > count && bytes > 100 * count, "{count} pairs with {seen} entries and {bytes} bytes of text prove little");
}

/// Trees that git reads and does not write any more: other permissions, and a directory without anything in it.
#[test]
fn tree_pairs_with_what_old_writers_left_are_read_as_git_reads_them() {
    let sandbox = Sandbox::new(&[]);
    let stored = |kind: &str, content: &[u8]| {
        sandbox.write("object", content);
        String::from_utf8(sandbox.git_from(&sandbox.path("object"), &["hash-object", "-t", kind, "-w", "--stdin", "--literally"]))
            .expect("ASCII")
            .trim()
            .to_owned()
    };
    let blobs = [stored("blob", b"one\n"), stored("blob", b"two\n")];
    let empty = stored("tree", b"");
    let tree = |items: &[(&str, &str, &str)]| {
        let item = |(mode, name, id): &(&str, &str, &str)| [format!("{mode} {name}\0").as_bytes(), oid(id).as_bytes()].concat();
        stored("tree", &items.iter().flat_map(item).collect::<Vec<u8>>())
    };
    let trees = [
        empty.clone(),
        tree(&[("100644", "a", &blobs[0])]),
        tree(&[("100664", "a", &blobs[0])]),
        tree(&[("100600", "a", &blobs[1])]),
        tree(&[("100775", "a", &blobs[0])]),
        tree(&[("40000", "a", &empty)]),
        tree(&[("40755", "a", &empty), ("100666", "b", &blobs[1])]),
        tree(&[("100644", "a", &blobs[0]), ("100644", "a.b", &blobs[1]), ("40000", "a", &tree(&[("100644", "x", &blobs[0])]))]),
        tree(&[("100644", "a-b", &blobs[0]), ("40000", "a", &tree(&[("120000", "x", &blobs[0])])), ("160000", "a0", &blobs[0])]),
    ];
    let pairs: Vec<(String, String)> = trees.iter().flat_map(|old| trees.iter().map(|new| (old.clone(), new.clone()))).collect();
    let expected = by_git(&sandbox, &pairs, &["--raw", "-z"]);
    let repo = sandbox.open();
    for ((old, new), expected) in pairs.iter().zip(expected) {
        let ours = tree::between(&repo, Some(oid(old)), Some(oid(new))).expect("entries");
        assert_eq!(ours, raw_entries(&expected), "{old} {new}");
    }
}
