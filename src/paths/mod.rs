//! Path rules: what a path is (built-in kinds), and what the policy says is to be done with it. The only user of globset.
//!
//! Leaves to others: what a kind means for scrutiny (`tier`), and what is told about files that are not reviewed (`report`).
//! Built-in kinds ignore case; the policy's `exclude`, `generated` and `data` do not (they take scrutiny away, so the narrow reading holds), `full` does.

mod kind;
mod shapes;
mod tables;
mod words;

pub use kind::Kind;

use crate::change::{BytePath, FileChange, Mode, Side};
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

/// What is done with a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Reviewed in full.
    Review,
    /// A lock file: a structural summary stands for it.
    Lockfile,
    /// The policy calls it generated: listed, counted, not shown line by line.
    Generated,
    /// The policy calls it data: listed and counted.
    Data,
    /// The policy excludes it: listed and counted.
    Excluded,
}

impl Treatment {
    /// Tells whether the policy takes the file out of review; such a change is at least standard (product contract, "not_reviewed").
    pub fn is_by_policy(self) -> bool {
        match self {
            Treatment::Generated | Treatment::Data | Treatment::Excluded => true,
            Treatment::Review | Treatment::Lockfile => false,
        }
    }
}

/// The policy's four lists of globs, as written. A glob without a `/` matches at any depth, a leading `/` anchors at the root, a trailing `/` means all below.
#[derive(Debug, Clone, Copy, Default)]
pub struct PolicyGlobs<'a> {
    /// Never source, manifests, hooks, CI, agent instructions or the policy itself.
    pub exclude: &'a [String],
    /// May name source (that is what generators write), nothing else that is protected.
    pub generated: &'a [String],
    /// Protected like `exclude`.
    pub data: &'a [String],
    /// Paths that make the tier full.
    pub full: &'a [String],
}

/// A glob of the policy that cannot be used. The caller adds the file and line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: the glob {glob:?} cannot be used: {reason}")]
pub struct GlobError {
    /// The policy key: `exclude`, `generated`, `data` or `full`.
    pub key: &'static str,
    /// The glob as written.
    pub glob: String,
    /// What is wrong with it, and what to write instead where that is known.
    pub reason: String,
}

/// The policy's path rules, compiled. The default has none, so that everything but lock files is reviewed.
#[derive(Debug, Clone, Default)]
pub struct PathRules {
    exclude: GlobSet,
    generated: GlobSet,
    data: GlobSet,
    full: GlobSet,
}

impl PathRules {
    /// Compiles the policy's globs.
    ///
    /// # Errors
    /// Names the first glob that is empty, negated or malformed, and its key.
    pub fn new(globs: PolicyGlobs<'_>) -> Result<PathRules, GlobError> {
        Ok(PathRules {
            exclude: compile("exclude", globs.exclude, Case::Exact)?,
            generated: compile("generated", globs.generated, Case::Exact)?,
            data: compile("data", globs.data, Case::Exact)?,
            full: compile("full", globs.full, Case::Ignored)?,
        })
    }

    /// Tells what is done with a changed file. Both names of a rename must agree, and only an ordinary file can be taken out of review: a link, a
    /// submodule or a program never is.
    pub fn treatment(&self, file: &FileChange) -> Treatment {
        let mut sides = [&file.new, &file.old].into_iter().flatten().map(|side| self.of_side(side));
        let first = sides.next().unwrap_or(Treatment::Review);
        if sides.all(|other| other == first) { first } else { Treatment::Review }
    }

    /// Tells whether the policy's `full` globs name the path.
    pub fn is_full(&self, path: &BytePath) -> bool {
        matches(&self.full, path)
    }

    /// Tells what is done with one side of a file.
    pub fn of_side(&self, side: &Side) -> Treatment {
        match side.mode {
            Mode::Regular => self.of_path(&side.path),
            Mode::Executable | Mode::Symlink | Mode::Gitlink => Treatment::Review,
        }
    }

    fn of_path(&self, path: &BytePath) -> Treatment {
        let source = Kind::Source.is(path);
        if Kind::Lockfile.is(path) {
            Treatment::Lockfile
        } else if Kind::Manifest.is(path) || Kind::is_governance(path) {
            Treatment::Review
        } else if matches(&self.generated, path) {
            Treatment::Generated
        } else if !source && matches(&self.data, path) {
            Treatment::Data
        } else if !source && matches(&self.exclude, path) {
            Treatment::Excluded
        } else {
            Treatment::Review
        }
    }
}

/// Returns the key of the policy that could take a file out of review; `None` where none may, whatever its globs are.
pub fn policy_key(file: &FileChange) -> Option<&'static str> {
    let every = ["**".to_owned()];
    // Data first: program text may be generated, never data.
    let data = PolicyGlobs { data: &every, ..PolicyGlobs::default() };
    let generated = PolicyGlobs { generated: &every, ..PolicyGlobs::default() };
    let takes = |globs| PathRules::new(globs).is_ok_and(|rules| rules.treatment(file).is_by_policy());
    [("data", data), ("generated", generated)].into_iter().find(|(_, globs)| takes(*globs)).map(|(key, _)| key)
}

#[derive(Clone, Copy, PartialEq)]
enum Case {
    Exact,
    Ignored,
}

fn matches(set: &GlobSet, path: &BytePath) -> bool {
    !set.is_empty() && set.is_match_candidate(&Candidate::from_bytes(path.as_bytes()))
}

fn compile(key: &'static str, globs: &[String], case: Case) -> Result<GlobSet, GlobError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let bad = |reason: String| GlobError { key, glob: glob.clone(), reason };
        let pattern = anchored(glob).map_err(|reason| bad(reason.to_owned()))?;
        let built = builder(&pattern).case_insensitive(case == Case::Ignored).build();
        set.add(built.map_err(|error| bad(error.kind().to_string()))?);
    }
    set.build().map_err(|error| GlobError { key, glob: error.glob().unwrap_or_default().to_owned(), reason: error.kind().to_string() })
}

/// Rewrites a glob as people know it from ignore files into one that globset matches against the whole path.
fn anchored(glob: &str) -> Result<String, &'static str> {
    if glob.trim().is_empty() || glob == "/" {
        return Err("it is empty; name a path, for example \"gen/**\"");
    }
    if glob.starts_with('!') {
        return Err("a negated glob is not supported; name what is meant");
    }
    let below = if glob.ends_with('/') { "**" } else { "" };
    Ok(match glob.strip_prefix('/') {
        Some(rest) => format!("{rest}{below}"),
        None if glob.trim_end_matches('/').contains('/') => format!("{glob}{below}"),
        None => format!("**/{glob}{below}"),
    })
}

fn builder(pattern: &str) -> GlobBuilder<'_> {
    let mut builder = GlobBuilder::new(pattern);
    builder.literal_separator(true).backslash_escape(true).empty_alternates(true);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Body, Oid, Status};

    fn rules(globs: &[&str]) -> PathRules {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        PathRules::new(PolicyGlobs { exclude: &globs, ..PolicyGlobs::default() }).expect("good globs")
    }

    fn side(path: &[u8], mode: Mode) -> Option<Side> {
        Some(Side { path: BytePath::new(path), mode, oid: Oid::from_bytes(&[1; 20]).expect("an id"), size: 1 })
    }

    fn file(old: Option<Side>, new: Option<Side>) -> FileChange {
        FileChange { status: Status::Modified, old, new, body: Body::Text(Vec::new()) }
    }

    fn treat(rules: &PathRules, path: &str) -> Treatment {
        rules.treatment(&file(None, side(path.as_bytes(), Mode::Regular)))
    }

    #[test]
    fn globs_read_as_in_ignore_files() {
        for (glob, hit, miss) in [
            ("*.snap", "a/b/x.snap", "a/x.snapshot"),
            ("/notes.txt", "notes.txt", "a/notes.txt"),
            ("/top/", "top/a/b.txt", "a/top/b.txt"),
            ("log/", "a/log/x.txt", "a/log"),
            ("doc/*.txt", "doc/x.txt", "doc/a/x.txt"),
            ("doc/**", "doc/a/x.txt", "a/doc/x.txt"),
            ("**/doc/**", "a/doc/x.txt", "a/docs/x.txt"),
            ("a/{b,c}/*.txt", "a/c/x.txt", "a/d/x.txt"),
            ("Doc/**", "Doc/x.txt", "doc/x.txt"),
        ] {
            assert_eq!(treat(&rules(&[glob]), hit), Treatment::Excluded, "{glob} {hit}");
            assert_eq!(treat(&rules(&[glob]), miss), Treatment::Review, "{glob} {miss}");
        }
    }

    #[test]
    fn what_protects_the_project_is_never_excluded() {
        let all = rules(&["**"]);
        for path in [
            "src/main.rs",
            "a/B.PY",
            "deploy/run.sh",
            "db/schema.sql",
            "Dockerfile",
            "infra/main.tf",
            ".review-gate.yaml",
            ".github/workflows/x.yml",
            ".gitlab-ci.yml",
            ".husky/pre-push",
            ".pre-commit-config.yaml",
            "AGENTS.md",
            "pkg/agents.MD",
            "CLAUDE.md",
            ".cursor/rules/a.mdc",
            ".mcp.json",
            "skills/x/SKILL.md",
            "package.json",
            "Cargo.toml",
            "requirements-dev.txt",
            ".gitattributes",
            ".gitmodules",
        ] {
            assert_eq!(treat(&all, path), Treatment::Review, "{path}");
        }
        for path in ["notes.md", "a/b.json", "fixtures/x.yaml", ".planning/x", "img.svg"] {
            assert_eq!(treat(&all, path), Treatment::Excluded, "{path}");
        }
        assert_eq!(treat(&all, "Cargo.lock"), Treatment::Lockfile);
    }

    #[test]
    fn generated_may_be_source_and_data_may_not() {
        let gen_globs = ["gen/**".to_owned()];
        let data = ["fixtures/**".to_owned()];
        let rules = PathRules::new(PolicyGlobs { generated: &gen_globs, data: &data, ..PolicyGlobs::default() }).expect("good globs");
        for (path, treatment) in [
            ("gen/api.pb.go", Treatment::Generated),
            ("gen/CLAUDE.md", Treatment::Review),
            ("gen/package.json", Treatment::Review),
            ("fixtures/a.json", Treatment::Data),
            ("fixtures/a.py", Treatment::Review),
            ("src/api.go", Treatment::Review),
        ] {
            assert_eq!(treat(&rules, path), treatment, "{path}");
        }
    }

    #[test]
    fn a_rename_a_link_and_a_program_stay_in_review() {
        let all = rules(&["doc/**", "old/**"]);
        let regular = |path: &str| side(path.as_bytes(), Mode::Regular);
        for (old, new, treatment) in [
            (regular("doc/a"), regular("doc/b"), Treatment::Excluded),
            (regular("old/a"), regular("doc/b"), Treatment::Excluded),
            (regular("etc/a"), regular("doc/a"), Treatment::Review),
            (regular("src/a.rs"), regular("doc/a.txt"), Treatment::Review),
            (None, side(b"doc/a", Mode::Symlink), Treatment::Review),
            (None, side(b"doc/a", Mode::Executable), Treatment::Review),
            (None, side(b"doc/a", Mode::Gitlink), Treatment::Review),
            (regular("doc/a"), side(b"doc/a", Mode::Executable), Treatment::Review),
            (regular("doc/a"), None, Treatment::Excluded),
        ] {
            assert_eq!(all.treatment(&file(old.clone(), new.clone())), treatment, "{old:?} {new:?}");
        }
    }

    #[test]
    fn paths_are_bytes() {
        let file = file(None, side(b"doc/lat\xe9\nin.txt", Mode::Regular));
        assert_eq!(rules(&["doc/*.txt"]).treatment(&file), Treatment::Excluded);
        assert!(Kind::Migration.is(&BytePath::new(&b"db/\xff/MIGRATIONS/x"[..])));
    }

    #[test]
    fn a_bad_glob_is_named_with_its_key() {
        for bad in ["", " ", "/", "!src/**", "a/[b", "a/{b"] {
            let globs = ["ok/**".to_owned(), bad.to_owned()];
            let error = PathRules::new(PolicyGlobs { full: &globs, ..PolicyGlobs::default() }).expect_err(bad);
            assert_eq!((error.key, error.glob.as_str()), ("full", bad));
        }
    }

    #[test]
    fn full_globs_ignore_case() {
        let globs = ["Infra/**".to_owned()];
        let rules = PathRules::new(PolicyGlobs { full: &globs, ..PolicyGlobs::default() }).expect("good globs");
        assert!(rules.is_full(&"infra/a".into()) && !rules.is_full(&"a/infra/b".into()));
    }
}
