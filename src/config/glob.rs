//! What a glob of the policy may say, judged by its text alone. The last word is with `paths.rs`, which never lets a glob take a protected path out.

/// What a glob is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Its files are not reviewed.
    Exclude,
    /// Its files are only listed.
    Reduce,
    /// Its files get more scrutiny.
    Raise,
}

/// Folders and files that decide what is checked or what agents do; no glob may take scrutiny from them.
const PROTECTED: [&str; 30] = [
    ".review-gate",
    ".github",
    ".gitlab",
    ".gitlab-ci",
    ".circleci",
    ".ci",
    ".woodpecker",
    ".buildkite",
    "jenkinsfile",
    "azure-pipelines",
    "bitbucket-pipelines",
    ".travis",
    ".drone",
    "hooks",
    ".githooks",
    ".husky",
    ".git",
    ".gitattributes",
    ".gitmodules",
    ".pre-commit-config",
    ".pre-commit-hooks",
    "lefthook",
    "agents",
    "claude",
    "gemini",
    ".claude",
    ".cursor",
    ".cursorrules",
    ".codex",
    "skills",
];

/// Endings of source files.
const SOURCE: [&str; 48] = [
    "rs", "go", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "java", "kt", "kts", "scala", "c", "h", "cc", "cpp", "cxx", "hpp",
    "hh", "cs", "fs", "rb", "php", "swift", "m", "mm", "sh", "bash", "zsh", "fish", "ps1", "pl", "pm", "lua", "ex", "exs", "erl", "hs", "ml", "clj",
    "dart", "sql", "tf", "vue",
];

/// Checks one glob.
///
/// # Errors
/// A lower-case fragment that says what is wrong.
pub(super) fn check(glob: &str, purpose: Use) -> Result<(), &'static str> {
    if !stays_inside(glob) {
        return Err("must be a pattern relative to the root of the repository");
    }
    match purpose {
        Use::Raise => Ok(()),
        Use::Exclude | Use::Reduce if covers_everything(glob) => Err("covers every path"),
        Use::Exclude | Use::Reduce if names_protected(glob) => Err("covers policy, hooks, CI or agent instructions, which are always reviewed"),
        Use::Exclude if names_source(glob) => Err("covers source files, which are always reviewed"),
        Use::Exclude | Use::Reduce => Ok(()),
    }
}

/// Tells whether a path or pattern is relative, without `..`, negation, backslashes or control characters.
pub(super) fn stays_inside(path: &str) -> bool {
    let bad_start = path.starts_with(['/', '!', '~']) || path.get(1..2) == Some(":");
    !path.trim().is_empty() && !bad_start && !path.contains('\\') && !path.chars().any(char::is_control) && path.split('/').all(|part| part != "..")
}

/// A pattern without one letter or digit outside its wildcards and character classes leaves nothing that narrows it.
fn covers_everything(glob: &str) -> bool {
    let mut in_class = false;
    !glob.chars().any(|c| {
        in_class = (in_class || c == '[') && c != ']';
        c.is_alphanumeric() && !in_class
    })
}

fn names_protected(glob: &str) -> bool {
    let is_protected = |part: &str| {
        let lower = part.to_ascii_lowercase();
        let stem = lower.strip_suffix(".md").or_else(|| lower.strip_suffix(".yml")).or_else(|| lower.strip_suffix(".yaml")).unwrap_or(&lower);
        PROTECTED.contains(&stem.trim_matches(['*', '?']))
    };
    glob.split(['/', '{', '}', ',']).any(is_protected)
}

fn names_source(glob: &str) -> bool {
    let last = glob.rsplit('/').next().unwrap_or(glob).to_ascii_lowercase();
    let mut words = last.rsplit_once('.').map_or("", |(_, ending)| ending).split(['{', '}', ',', '*', '?', '[', ']']);
    words.any(|word| SOURCE.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_excluded() {
        for glob in [".planning/**", "spike-results/**", "docs/**/*.svg", "fixtures/**", "*.snap", "assets/*.{png,jpg}", "*.{png,svg}"] {
            assert_eq!(check(glob, Use::Exclude), Ok(()), "{glob}");
        }
    }

    #[test]
    fn what_may_never_be_excluded() {
        let all = ["**", "*", "**/*", "*/**", "?*", "**/*.*", "./**", "[a-z]*", "[!x]*/**", "{*,**}"];
        let outside = ["", " ", "/etc", "../x", "a/../../b", "!keep", "a\\b", "C:/x", "~/x"];
        let protected =
            [".review-gate.yaml", "**/.review-gate.yaml", ".github/**", ".github/workflows/*.yml", ".gitlab-ci.yml", "AGENTS.md", "**/CLAUDE.md"];
        let hooks = [".husky/**", "hooks/*", ".pre-commit-config.yaml", "**/.claude/**", "{docs,.github}/**", "Jenkinsfile", ".git*"];
        let source = ["*.rs", "src/**/*.ts", "**/*.{rs,go}", "lib/*.PY", "**/*.{py}", "a/*.sql", "**/*.c*"];
        for glob in all.into_iter().chain(outside).chain(protected).chain(hooks).chain(source) {
            assert!(check(glob, Use::Exclude).is_err(), "{glob:?}");
        }
    }

    #[test]
    fn generated_may_hold_source_and_full_may_hold_everything() {
        assert_eq!(check("gen/**/*.rs", Use::Reduce), Ok(()));
        assert!(check(".github/**", Use::Reduce).is_err());
        assert_eq!(check("**", Use::Raise), Ok(()));
        assert!(check("../x", Use::Raise).is_err());
    }
}
