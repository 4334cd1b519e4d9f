//! The built-in globs, matched by looking names up instead of by regular expressions: a hook that has nothing to ask must not spend its time compiling those.
//!
//! Knows the shapes that the tables are written in, and no others: `name`, `**/folder/name`, `**/folder/**`, with `{a,b}` anywhere and `*` in the last name.
//! The policy's own globs are globset's business; a test holds both readings of the tables against each other.

use std::collections::HashSet;

/// Globs, compiled.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    /// Whole paths.
    roots: Names,
    /// What a path may end in, from a slash or its start: `name` or `folder/name`.
    tails: Names,
    /// Folders, also several names long, that a path may lie in.
    folders: Names,
    /// What a name may end in from its last dot, the dot included.
    extensions: Names,
    /// Names with stars, and the folder before them.
    wild: Vec<Wild>,
}

/// A set that tells most strings apart by their length: a change has many paths, and hashing each part of each is what looking up costs.
#[derive(Debug, Default)]
struct Names {
    set: HashSet<String>,
    /// A bit for each length in bytes that is in the set; the last one for all that are longer.
    lengths: u64,
}

impl Names {
    fn insert(&mut self, name: String) {
        self.lengths |= Names::bit(&name);
        self.set.insert(name);
    }

    fn contains(&self, name: &str) -> bool {
        self.lengths & Names::bit(name) != 0 && self.set.contains(name)
    }

    fn is_empty(&self) -> bool {
        self.lengths == 0
    }

    fn bit(name: &str) -> u64 {
        1 << name.len().min(63)
    }
}

/// How many names a folder or a tail of the tables has at the most.
const DEEPEST: usize = 3;

impl Shapes {
    /// Compiles globs, separated by white space.
    pub(super) fn of(table: &str) -> Shapes {
        let mut shapes = Shapes::default();
        table.split_whitespace().flat_map(expanded).for_each(|glob| shapes.add(&glob));
        shapes
    }

    fn add(&mut self, glob: &str) {
        let Some(glob) = glob.strip_prefix("**/") else {
            self.roots.insert(glob.to_owned());
            return;
        };
        let (folder, name) = glob.rsplit_once('/').unwrap_or(("", glob));
        let extension = name.strip_prefix('*').filter(|rest| folder.is_empty() && rest.starts_with('.') && !rest[1..].contains(['.', '*']));
        if name == "**" {
            self.folders.insert(folder.to_owned());
        } else if let Some(extension) = extension {
            self.extensions.insert(extension.to_owned());
        } else if name.contains('*') {
            self.wild.push(Wild { folder: folder.to_owned(), pieces: name.split('*').map(str::to_owned).collect() });
        } else {
            self.tails.insert(glob.to_owned());
        }
    }

    /// Tells whether one of the globs matches a path, which has no empty name.
    pub(super) fn match_path(&self, path: &[u8]) -> bool {
        let Ok(path) = str::from_utf8(path) else { return self.match_text(&String::from_utf8_lossy(path)) };
        self.match_text(path)
    }

    fn match_text(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.roots.contains(path)
            || name.rfind('.').is_some_and(|dot| self.extensions.contains(&name[dot..]))
            || (!self.tails.is_empty() && tails(path).any(|tail| self.tails.contains(tail)))
            || (!self.folders.is_empty() && tails_of_all(folder).any(|tail| self.folders.contains(tail)))
            || self.wild.iter().any(|wild| wild.matches(folder, name))
    }
}

/// The last name of a path, the last two, and so on.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
    starts.take(DEEPEST).map(|start| &path[start..])
}

/// The tails of a folder and of every folder above it.
fn tails_of_all(folder: &str) -> impl Iterator<Item = &str> {
    let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
    ends.flat_map(|end| tails(&folder[..end]))
}

/// A name with stars, behind a folder where one is given.
#[derive(Debug)]
struct Wild {
    folder: String,
    /// What stands between the stars: at least two, and they may be empty.
    pieces: Vec<String>,
}

impl Wild {
    fn matches(&self, folder: &str, name: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else { return false };
        let Some(mut rest) = name.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str())) else { return false };
        let found = middle.iter().all(|piece| match rest.split_once(piece.as_str()) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        });
        found && (self.folder.is_empty() || folder.strip_suffix(self.folder.as_str()).is_some_and(|above| above.is_empty() || above.ends_with('/')))
    }
}

/// Writes a glob out: `a{,s}{b,c}` is `ab`, `ac`, `asb` and `asc`.
pub(super) fn expanded(glob: &str) -> Vec<String> {
    let Some((before, rest)) = glob.split_once('{') else { return vec![glob.to_owned()] };
    let (choices, after) = rest.split_once('}').expect("every brace of a table is closed, because a test compiles every table");
    let after = expanded(after);
    choices.split(',').flat_map(|choice| after.iter().map(move |after| format!("{before}{choice}{after}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_written_out() {
        assert_eq!(expanded("a{,s}/{b,c}"), ["a/b", "a/c", "as/b", "as/c"]);
    }

    #[test]
    fn shapes_match_whole_names_only() {
        let shapes = Shapes::of("root.yaml **/name **/f/g/** **/f/tail **/*.ext **/pre-*.*.in **/w/x*");
        let cases = [
            ("root.yaml", true),
            ("a/root.yaml", false),
            ("name", true),
            ("a/b/name", true),
            ("a/xname", false),
            ("name/a", false),
            ("f/g/x", true),
            ("a/f/g/b/x", true),
            ("f/g", false),
            ("xf/g/x", false),
            ("f/gx/x", false),
            ("f/tail", true),
            ("a/f/tail", true),
            ("xf/tail", false),
            ("tail", false),
            ("a/.ext", true),
            ("a.ext", true),
            ("a.ext/b", false),
            ("ext", false),
            ("pre-.a.in", true),
            ("pre-.in", false),
            ("w/x", true),
            ("a/w/xyz", true),
            ("xw/x", false),
            ("x", false),
        ];
        for (path, expected) in cases {
            assert_eq!(shapes.match_path(path.as_bytes()), expected, "{path}");
        }
        assert!(shapes.match_path(b"a/\xff/name") && shapes.match_path(b"\xff.ext") && !shapes.match_path(b"nam\xff"));
    }
}
