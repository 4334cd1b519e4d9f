//! What a child process may know: its environment, and where its program is.
//!
//! Leaves to `process.rs`: starting and ending it. A reviewer gets an allow-list (requirement C05); only git itself sees git's own variables.

use crate::env::{Env, NESTED};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a foreign tool is allowed to see: enough to start, log in, speak the user's language and reach the network as the user does.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];
const ALLOWED_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Variables that tie a process to one repository, its index, its objects or its way of printing a diff. In a linked worktree git exports `GIT_DIR`
/// without `GIT_WORK_TREE`: a child that runs git elsewhere would act on the user's repository.
const REPOSITORY: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];
const REPOSITORY_PREFIXES: &[&str] = &["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_PUSH_OPTION_"];

/// The whole environment of a child: nothing else is inherited.
#[derive(Debug, Clone, Default)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// Makes the environment of a reviewer: the allow-list and `own`, the names of that client's own key variables. Marks everything below it as
    /// nested, so that a reviewer that pushes is refused and not reviewed (case P61).
    pub fn for_reviewer(env: &Env, own: &[&str]) -> Environment {
        let allowed = |name: &OsStr| matches(name, ALLOWED, ALLOWED_PREFIXES) || matches(name, own, &[]);
        Environment::keeping(env, allowed).with("TERM", "dumb").with(NESTED, "1")
    }

    /// Makes an environment of these variables alone.
    pub fn only(env: &Env, names: &[&str]) -> Environment {
        Environment::keeping(env, |name| matches(name, names, &[]))
    }

    /// Makes the environment of git itself, which must see the repository, the index and the configuration that the caller's git named.
    pub fn for_git(env: &Env) -> Environment {
        Environment::keeping(env, |_| true)
    }

    /// Makes the environment of a program that works in another repository, or in none: everything but git's repository variables.
    pub fn outside_repository(env: &Env) -> Environment {
        Environment::keeping(env, |name| !matches(name, REPOSITORY, REPOSITORY_PREFIXES))
    }

    /// Returns this environment with one variable set.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Environment {
        let name = name.into();
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
        self
    }

    /// Iterates over the variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    fn keeping(env: &Env, keep: impl Fn(&OsStr) -> bool) -> Environment {
        Environment(env.iter().filter(|(name, _)| keep(name)).map(|(name, value)| (name.into(), value.into())).collect())
    }
}

fn matches(name: &OsStr, names: &[&str], prefixes: &[&str]) -> bool {
    names.iter().any(|known| name == *known) || prefixes.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
}

/// Names the variables that are set and tie a process to one repository or to one configuration of it.
pub fn repository_variables(env: &Env) -> Vec<String> {
    let set = env.iter().filter(|(name, value)| !value.is_empty() && matches(name, REPOSITORY, REPOSITORY_PREFIXES));
    set.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
}

/// Finds an executable file of that name on `PATH`. Relative entries are skipped: they would name a file of the repository under review.
pub fn find_on_path(name: &str, env: &Env) -> Option<PathBuf> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    std::env::split_paths(env.os("PATH")?).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOK: &[(&str, &str)] = &[
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/u"),
        ("LC_ALL", "C.UTF-8"),
        ("XDG_CACHE_HOME", "/home/u/.cache"),
        ("https_proxy", "http://127.0.0.1:1"),
        ("TERM", "xterm"),
        ("OPENAI_API_KEY", "k1"),
        ("ANTHROPIC_API_KEY", "k2"),
        ("OPENAI_BASE_URL", "http://elsewhere"),
        ("AWS_SECRET_ACCESS_KEY", "k3"),
        ("LD_PRELOAD", "/x.so"),
        ("GIT_DIR", "/r/.git"),
        ("GIT_INDEX_FILE", "/r/.git/index.lock"),
        ("GIT_CONFIG_KEY_0", "core.hooksPath"),
        ("GIT_AUTHOR_NAME", "someone"),
    ];

    fn names(environment: &Environment) -> Vec<&str> {
        environment.iter().map(|(name, _)| name.to_str().unwrap()).collect()
    }

    #[test]
    fn a_reviewer_sees_the_allow_list_and_its_own_key_only() {
        let seen = Environment::for_reviewer(&Env::from_pairs(HOOK.iter().copied()), &["OPENAI_API_KEY"]);
        assert_eq!(names(&seen), ["HOME", "LC_ALL", "OPENAI_API_KEY", "PATH", "XDG_CACHE_HOME", "https_proxy", "TERM", NESTED]);
        assert!(seen.iter().any(|pair| pair == (OsStr::new("TERM"), OsStr::new("dumb"))));
    }

    #[test]
    fn git_sees_all_and_another_repository_sees_nothing_of_this_one() {
        let env = Env::from_pairs(HOOK.iter().copied());
        assert_eq!(names(&Environment::for_git(&env)).len(), HOOK.len());
        let outside = Environment::outside_repository(&env);
        let git: Vec<&str> = names(&outside).into_iter().filter(|name| name.starts_with("GIT_")).collect();
        assert_eq!(git, ["GIT_AUTHOR_NAME"]);
        assert_eq!(names(&outside).len(), HOOK.len() - 3);
    }

    #[test]
    fn a_program_is_found_at_absolute_places_only() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in [("tool", 0o755), ("notes", 0o644)] {
            std::fs::write(dir.path().join(name), "").unwrap();
            std::fs::set_permissions(dir.path().join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        let path = |value: &str| Env::from_pairs([("PATH", value.to_owned())]);
        let here = path(&format!("/nonexistent::.:{}", dir.path().display()));
        assert_eq!(find_on_path("tool", &here), Some(dir.path().join("tool")));
        for name in ["notes", "folder", "", "./tool", "absent"] {
            assert_eq!(find_on_path(name, &here), None, "{name:?}");
        }
        assert_eq!(find_on_path("Cargo.toml", &path(".::src")), None);
        assert_eq!(find_on_path("tool", &Env::default()), None);
    }
}
