//! The built-in kinds of paths: tables of globs and words, compiled once.

use super::shapes::Shapes;
use super::{tables, words};
use crate::change::BytePath;
use std::sync::OnceLock;

/// What a path is, by its name alone. A path may be of several kinds. Case is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The gate's own policy file.
    Policy,
    /// Git hooks and the files of hook managers.
    Hook,
    /// Continuous integration, dependency bots, code owners.
    Ci,
    /// Files that instruct coding agents, or give them tools.
    AgentInstructions,
    /// Files that change how git reads the repository.
    GitMetadata,
    /// What declares dependencies, builds or package sources.
    Manifest,
    /// What pins dependencies.
    Lockfile,
    /// Program text, by extension or well-known name.
    Source,
    /// Program text of tests.
    Test,
    /// Database migrations, and any SQL (requirement T07).
    Migration,
    /// The words that make a change full (product contract, "Full").
    SecuritySurface,
    /// Wider words: they set the security floor, not the tier (ruling on T06).
    Sensitive,
    /// Tenancy, infrastructure and scheduled jobs.
    Infrastructure,
}

impl Kind {
    /// The kinds whose edit can weaken what protects the project: at least standard (requirement T17).
    pub const GOVERNANCE: [Kind; 5] = [Kind::Policy, Kind::Hook, Kind::Ci, Kind::AgentInstructions, Kind::GitMetadata];

    /// Tells whether a path is of this kind.
    pub fn is(self, path: &BytePath) -> bool {
        let Compiled { globs, words } = self.compiled();
        let by_glob = || globs.as_ref().is_some_and(|globs| globs.match_path(&path.as_bytes().to_ascii_lowercase()));
        let by_word = || words.as_ref().is_some_and(|words| words.match_path(&words::path_of_words(path.as_bytes())));
        (by_glob() || by_word()) && (self != Kind::Test || Kind::Source.is(path))
    }

    /// Tells whether a path is of one of the [`Kind::GOVERNANCE`] kinds.
    pub fn is_governance(path: &BytePath) -> bool {
        Kind::GOVERNANCE.iter().any(|kind| kind.is(path))
    }

    fn compiled(self) -> &'static Compiled {
        static COMPILED: [OnceLock<Compiled>; 13] = [const { OnceLock::new() }; 13];
        COMPILED[self as usize].get_or_init(|| {
            let Table { globs, words } = self.table();
            let words: String = words.split_whitespace().map(|word| format!("**/{word}/** ")).collect();
            let shapes = |table: &str| (!table.is_empty()).then(|| Shapes::of(table));
            Compiled { globs: shapes(globs), words: shapes(&words) }
        })
    }

    fn table(self) -> Table {
        match self {
            Kind::Policy => Table { globs: ".review-gate.{yaml,yml}", words: "" },
            Kind::Hook => Table { globs: tables::HOOK, words: "" },
            Kind::Ci => Table { globs: tables::CI, words: "" },
            Kind::AgentInstructions => Table { globs: tables::AGENT_INSTRUCTIONS, words: "" },
            Kind::GitMetadata => Table { globs: "**/.gitattributes **/.gitmodules **/.gitconfig **/.lfsconfig", words: "" },
            Kind::Manifest => Table { globs: tables::MANIFEST, words: "" },
            Kind::Lockfile => Table { globs: tables::LOCKFILE, words: "" },
            Kind::Source => Table { globs: tables::SOURCE, words: "" },
            Kind::Test => Table { globs: "", words: "test{,s} spec{,s} conftest e/2/e testdata" },
            Kind::Migration => Table { globs: "**/migration{,s}/** **/db/migrate/** **/alembic/versions/** **/*.sql", words: "" },
            Kind::SecuritySurface => Table { globs: "", words: tables::SECURITY_SURFACE },
            Kind::Sensitive => Table { globs: "", words: tables::SENSITIVE },
            Kind::Infrastructure => Table { globs: tables::INFRASTRUCTURE, words: tables::INFRASTRUCTURE_WORDS },
        }
    }
}

/// `globs` are matched against the lower-case path, `words` against its words (see `words.rs`).
struct Table {
    globs: &'static str,
    words: &'static str,
}

/// A table ready to be matched; `None` for what a kind has not.
struct Compiled {
    globs: Option<Shapes>,
    words: Option<Shapes>,
}

#[cfg(test)]
mod tests {
    use super::super::{builder, shapes};
    use super::*;
    use globset::GlobSetBuilder;

    const ALL: [Kind; 13] = [
        Kind::Policy,
        Kind::Hook,
        Kind::Ci,
        Kind::AgentInstructions,
        Kind::GitMetadata,
        Kind::Manifest,
        Kind::Lockfile,
        Kind::Source,
        Kind::Test,
        Kind::Migration,
        Kind::SecuritySurface,
        Kind::Sensitive,
        Kind::Infrastructure,
    ];

    #[test]
    fn every_table_compiles_and_is_lower_case() {
        for kind in ALL {
            assert!(!kind.is(&"zzz".into()), "{kind:?}");
            let Table { globs, words } = kind.table();
            assert!(!globs.is_empty() || !words.is_empty(), "{kind:?}");
            assert!([globs, words].iter().all(|table| **table == table.to_lowercase()), "{kind:?}: the path is lowered before it is matched");
        }
    }

    /// Paths that a glob matches, and neighbours of them.
    fn examples(glob: &str) -> Vec<String> {
        let mut paths = vec![glob.to_owned()];
        for (mark, choices) in [("**/", &["", "a/", "a/b/"][..]), ("/**", &["/x", "/x/y", ""]), ("*", &["", "x", "x.y", "-x_"])] {
            let fill = |path: String| -> Vec<String> {
                if path.contains(mark) { choices.iter().map(|choice| path.replace(mark, choice)).collect() } else { vec![path] }
            };
            paths = paths.into_iter().flat_map(fill).collect();
        }
        let near = |path: String| [format!("x{path}"), format!("{path}x"), format!("{path}/x"), format!("{path}.x"), path[1..].to_owned(), path];
        paths.into_iter().filter(|path| !path.is_empty()).flat_map(near).filter(|path| !path.is_empty() && !path.starts_with('/')).collect()
    }

    #[test]
    fn shapes_read_the_tables_as_globs_do() {
        let mut compared = 0;
        for kind in ALL {
            let Table { globs, words } = kind.table();
            let words: String = words.split_whitespace().map(|word| format!("**/{word}/** ")).collect();
            for table in [globs, &words] {
                let mut set = GlobSetBuilder::new();
                for glob in table.split_whitespace() {
                    set.add(builder(glob).build().expect("a glob"));
                }
                let (set, shapes) = (set.build().expect("a set"), Shapes::of(table));
                for path in table.split_whitespace().flat_map(shapes::expanded).flat_map(|glob| examples(&glob)) {
                    assert_eq!(shapes.match_path(path.as_bytes()), set.is_match(&path), "{kind:?}: {path}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 10_000, "{compared}");
    }

    #[test]
    fn kinds_and_their_neighbours() {
        for (kind, hits, misses) in [
            (Kind::Policy, &[".review-gate.yaml", ".Review-Gate.YML"][..], &["a/.review-gate.yaml", "review-gate.yaml"][..]),
            (
                Kind::Hook,
                &["hooks/pre-push", "a/.husky/pre-commit", "x/hooks/commit-msg.sh", "lefthook.yml"],
                &["src/hooks/useAuth.ts", "hooks/premium.ts"],
            ),
            (Kind::Ci, &[".github/workflows/ci.yml", "Jenkinsfile", ".ci/run", "CODEOWNERS"], &[".github/ISSUE_TEMPLATE.md", "ci.md"]),
            (
                Kind::AgentInstructions,
                &["AGENTS.md", "a/claude.local.md", ".claude/settings.json", "skills/a/SKILL.md", ".mcp.json"],
                &["docs/agents/x.md", "claude.rs"],
            ),
            (Kind::Manifest, &["requirements.txt", "dev-requirements.txt", "a/Cargo.toml", "App.csproj"], &["docs/requirements.md", "notes.txt"]),
            (Kind::Lockfile, &["Cargo.lock", "web/yarn.lock"], &["src/lock.rs", "Cargo.lock.md"]),
            (Kind::Source, &["a.rs", "A.SQL", "Dockerfile.prod", "x/Makefile"], &["a.md", "a.json", "x.yaml", "rs"]),
            (
                Kind::Test,
                &["tests/a.rs", "src/foo_test.go", "FooTest.java", "a.spec.ts", "conftest.py"],
                &["latest.rs", "specs/001/spec.md", "attestation.rs"],
            ),
            (Kind::Migration, &["db/migrations/1.py", "Migration/x", "db/migrate/1.rb", "A.SQL"], &["migrations.md", "docs/migration-guide.md"]),
            (
                Kind::Infrastructure,
                &["deploy/k8s-prod/a.yaml", "a.tf", "src/TenantScope.rs", "jobs/cron.py", "helm/x"],
                &["a.tfx", "chronic.rs", "helmet.ts"],
            ),
        ] {
            for path in hits {
                assert!(kind.is(&(*path).into()), "{kind:?} {path}");
            }
            for path in misses {
                assert!(!kind.is(&(*path).into()), "{kind:?} {path}");
            }
        }
    }

    /// The contract's word list, pinned: every word, its plural, and nothing that merely contains it.
    #[test]
    fn the_words_of_the_contract_are_these() {
        for word in [
            "auth",
            "rls",
            "row-level",
            "payment",
            "stripe",
            "crypto",
            "jwt",
            "jwks",
            "oauth",
            "owasp",
            "secret",
            "credential",
            "password",
            "row_level",
            "row level",
        ] {
            for path in [format!("src/{word}.rs"), format!("src/{}/x.rs", word.to_uppercase()), format!("src/my_{word}_2.rs")] {
                assert!(Kind::SecuritySurface.is(&path.as_str().into()), "{path}");
            }
        }
        for plural in ["payments", "secrets", "credentials", "passwords", "jwts", "auths"] {
            assert!(Kind::SecuritySurface.is(&plural.into()), "{plural}");
        }
        for other in ["authoring", "author", "oracle", "secretary", "authentication", "session", "token", "cryptography"] {
            assert!(!Kind::SecuritySurface.is(&format!("src/{other}.rs").as_str().into()), "{other}");
        }
    }
}
