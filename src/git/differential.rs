//! Random repositories, read by us and by git (and by libgit2): the text must be equal byte for byte, the entries one by one.

use super::capture::{Options, Unstored, capture};
use super::testing::{Garden, Random, Sandbox};
use super::tree::{Entry, Leaf};
use super::{index, tree, worktree};
use crate::change::patch::{self, Style};
use crate::change::{BytePath, Mode, Oid};

/// How many random repositories are made.
const SEEDS: u64 = 12;
/// What takes git's settings out of its output.
const PLAIN: [&str; 5] = ["--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--ignore-submodules=none"];

fn git_diff(sandbox: &Sandbox, arguments: &[&str]) -> String {
    text(&sandbox.git(&[&["diff"], arguments, &PLAIN].concat()))
}

fn our_diff(sandbox: &Sandbox, entries: Vec<Entry>, unstored: &Unstored, renames: bool) -> String {
    let options = Options { renames, only: Vec::new() };
    let change = capture(&sandbox.open(), entries, unstored, &options).expect("a change");
    let mut out = Vec::new();
    patch::write(&change, Style::Git, &mut out);
    text(&out)
}

/// Makes bytes comparable in a readable way.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\n", "\n")
}

fn oid(hex: &str) -> Oid {
    Oid::from_hex(hex.as_bytes()).expect("an id")
}

/// Reads `git diff-tree -r --raw -z`: `:mode mode id id status NUL path NUL`.
fn raw_entries(raw: &[u8]) -> Vec<Entry> {
    let leaf = |mode: &str, id: &str| {
        let mode = [Mode::Regular, Mode::Executable, Mode::Symlink, Mode::Gitlink].into_iter().find(|known| known.octal() == mode);
        mode.map(|mode| Leaf { mode, oid: oid(id) })
    };
    let fields: Vec<&[u8]> = raw.split(|byte| *byte == 0).collect();
    fields
        .chunks_exact(2)
        .map(|pair| {
            let words: Vec<&str> = std::str::from_utf8(pair[0]).expect("ASCII").trim_start_matches(':').split(' ').collect();
            Entry { path: BytePath::new(pair[1]), old: leaf(words[0], words[2]), new: leaf(words[1], words[3]) }
        })
        .collect()
}

fn libgit2_paths(sandbox: &Sandbox, old: &str, new: &str) -> Vec<BytePath> {
    let repo = git2::Repository::open(sandbox.path("")).expect("a repository");
    let tree = |hex: &str| repo.find_tree(git2::Oid::from_str(hex).expect("an id")).expect("a tree");
    let mut options = git2::DiffOptions::new();
    options.include_typechange(true);
    let diff = repo.diff_tree_to_tree(Some(&tree(old)), Some(&tree(new)), Some(&mut options)).expect("a diff");
    let path = |delta: git2::DiffDelta<'_>| BytePath::new(delta.new_file().path_bytes().expect("a path"));
    diff.deltas().map(path).collect()
}

/// Makes a repository with one commit and staged changes.
fn random_repository(seed: u64, format: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::new(&[format]);
    let mut garden = Garden { sandbox: &sandbox, random: Random::new(seed) };
    garden.change(20);
    sandbox.git(&["add", "-A"]);
    gitlink(&sandbox, seed, "sub");
    let base = sandbox.commit();
    garden.change(14);
    sandbox.git(&["add", "-A"]);
    if !seed.is_multiple_of(3) {
        gitlink(&sandbox, seed + 1, "sub");
    }
    (sandbox, base)
}

fn gitlink(sandbox: &Sandbox, seed: u64, path: &str) {
    let digits = sandbox.line(&["rev-parse", "--show-object-format"]).replace("sha1", "40").replace("sha256", "64");
    let id = format!("{:0>1$}", seed + 1, digits.parse().expect("a number"));
    sandbox.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},{path}")]);
}

#[test]
fn what_is_staged_equals_git() {
    for seed in 0..SEEDS {
        let format = if seed % 4 == 0 { "--object-format=sha256" } else { "--object-format=sha1" };
        let (sandbox, base) = random_repository(seed, format);
        let entries = index::staged(&sandbox.open()).expect("entries");
        assert_eq!(entries, raw_entries(&sandbox.git(&["diff-index", "--cached", "-r", "--raw", "-z", "--no-renames", "HEAD"])), "seed {seed}");
        let expected = git_diff(&sandbox, &["--cached", "--no-renames"]);
        assert_same(&our_diff(&sandbox, entries, &Unstored::new(), false), &expected, seed);

        let tip = sandbox.commit();
        assert_eq!(index::staged(&sandbox.open()).expect("entries"), [], "seed {seed}");
        let entries = tree::between(&sandbox.open(), Some(oid(&base)), Some(oid(&tip))).expect("entries");
        assert_eq!(entries, raw_entries(&sandbox.git(&["diff-tree", "-r", "--raw", "-z", "--no-renames", &base, &tip])), "seed {seed}");
        let expected = git_diff(&sandbox, &["--no-renames", &base, &tip]);
        assert_same(&our_diff(&sandbox, entries.clone(), &Unstored::new(), false), &expected, seed);
        if !seed.is_multiple_of(4) {
            assert_eq!(entries.into_iter().map(|entry| entry.path).collect::<Vec<_>>(), libgit2_paths(&sandbox, &base, &tip), "seed {seed}");
        }
    }
}

#[test]
fn renames_equal_git() {
    for seed in 0..SEEDS {
        let (sandbox, base) = random_repository(seed + 1000, "--object-format=sha1");
        let tip = sandbox.commit();
        let entries = tree::between(&sandbox.open(), Some(oid(&base)), Some(oid(&tip))).expect("entries");
        let expected = git_diff(&sandbox, &["-M", &base, &tip]);
        assert_same(&our_diff(&sandbox, entries, &Unstored::new(), true), &expected, seed);
    }
}

#[test]
fn the_worktree_equals_git() {
    for seed in 0..SEEDS {
        let (sandbox, _) = random_repository(seed + 2000, "--object-format=sha1");
        let mut garden = Garden { sandbox: &sandbox, random: Random::new(seed + 3000) };
        garden.change(10);
        let (entries, unstored) = worktree::tracked(&sandbox.open()).expect("entries");
        let expected = git_diff(&sandbox, &["--no-renames", "HEAD"]);
        assert_same(&our_diff(&sandbox, entries, &unstored, false), &expected, seed);
    }
}

/// Compares two texts and shows the first lines that differ.
fn assert_same(ours: &str, expected: &str, seed: u64) {
    if ours != expected {
        let at = ours.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
        let around = |text: &str| text.lines().skip(at.saturating_sub(4)).take(10).collect::<Vec<_>>().join("\n");
        panic!("seed {seed}, line {at}: ours\n{}\n\ngit's\n{}", around(ours), around(expected));
    }
}

#[test]
fn neither_attributes_nor_settings_hide_a_line() {
    let (sandbox, _) = random_repository(5, "--object-format=sha1");
    let ours = || our_diff(&sandbox, index::staged(&sandbox.open()).expect("entries"), &Unstored::new(), false);
    let before = ours();
    sandbox.write(".git/info/attributes", "* -diff\n*.rs binary\n* filter=x export-ignore linguist-generated diff=y\n");
    let hostile = [
        ("diff.external", "true"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("diff.context", "0"),
        ("diff.orderFile", "none"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.algorithm", "histogram"),
        ("core.quotePath", "false"),
        ("diff.y.textconv", "true"),
        ("core.bigFileThreshold", "1"),
    ];
    for (key, value) in hostile {
        sandbox.git(&["config", key, value]);
    }
    assert!(before.contains("@@ "));
    assert_eq!(ours(), before);
}
