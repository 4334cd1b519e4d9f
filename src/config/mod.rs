//! Layers of configuration → what the stages need: the user's settings, and the policy of the repository joined to the strictest of its layers.
//!
//! Raw files become values that cannot be wrong, or a [`ConfigError`] that names every problem with its place. Only commands import this module; stages get
//! the values. Leaves to others: reading the policy's bytes from git, starting key commands, and matching globs.

mod defaults;
mod effective;
mod fields;
mod force;
mod glob;
mod host;
mod key;
mod policy;
mod problem;
mod reviewers;
mod schema;
mod section;
mod show;
mod user;
mod values;

pub use effective::{Policy, Row, effective, lowered};
pub use force::not_in_force;
pub use key::{KeySource, RunCommand};
pub use policy::{POLICY_FILE, PolicyLayer, policy_layer};
pub use problem::{ConfigError, Problem};
pub use reviewers::Entry;
pub use schema::schema;
pub use show::{policy_rows, user_rows};
pub use user::{Budget, Lens, User, author_hint};
pub use values::{Mode, OnUnavailable, Refute, Stage, Verify, WhenUnavailable};

use crate::env::Env;
use crate::yaml::MAX_BYTES;
use std::io::Read;
use std::path::Path;

/// The commented file that `init --policy` writes.
pub const POLICY_TEMPLATE: &str = include_str!("policy-template.yaml");

/// Reads the user's configuration: the file named by `--config`, else the one below `$XDG_CONFIG_HOME` or `$HOME`. Where the latter is not there, the
/// defaults hold, with no reviewers.
///
/// # Errors
/// A file that was named and is not there, one that cannot be read, and every problem of its contents at once.
pub fn load_user(flag: Option<&Path>, env: &Env) -> Result<User, ConfigError> {
    let Some(path) = flag.map(Path::to_owned).or_else(|| env.user_config()) else { return Ok(defaults::default_user().clone()) };
    match read_file(&path) {
        Ok(bytes) => user::read(&bytes, Some(&path), env, defaults::default_user()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && flag.is_none() => Ok(defaults::default_user().clone()),
        Err(error) => {
            Err(ConfigError::of_file(&path.display().to_string(), format!("cannot be read: {error}"), "run `review-gate init` to write one"))
        }
    }
}

/// Reads the policy as it lies in a worktree, where it is not in force yet; `None` where there is none.
///
/// # Errors
/// A file that cannot be read, or that is none: a commit of it would be refused.
pub fn read_draft(work_dir: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let path = work_dir.join(POLICY_FILE);
    let failed = |why: String| ConfigError::of_file(&path.display().to_string(), why, "make it a small file");
    match std::fs::symlink_metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(format!("cannot be read: {error}"))),
        Ok(meta) if !meta.is_file() => Err(failed("is not a regular file".to_owned())),
        Ok(_) => read_file(&path).map(Some).map_err(|error| failed(format!("cannot be read: {error}"))),
    }
}

/// Reads one byte more than a file may have, so that the reader sees that it is too large.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_the_defaults_and_a_named_one_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().as_os_str())]);
        assert!(load_user(None, &env).unwrap().reviewers.is_empty());
        assert!(load_user(None, &Env::default()).unwrap().path.is_none());
        let error = load_user(Some(&dir.path().join("absent.yaml")), &env).unwrap_err();
        assert!(error.to_string().contains("absent.yaml: cannot be read"), "{error}");
        assert!(load_user(Some(dir.path()), &env).is_err());
    }

    #[test]
    fn the_users_file_is_found_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("XDG_CONFIG_HOME", dir.path().as_os_str())]);
        let path = env.user_config().unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "deadline: 7\n").unwrap();
        assert_eq!(load_user(None, &env).unwrap().deadline.as_secs(), 7);
        std::fs::write(&path, "").unwrap();
        assert!(load_user(None, &env).unwrap_err().to_string().contains("holds no settings"));
        std::fs::write(&path, format!("#{}\ndeadline: 7\n", "x".repeat(MAX_BYTES))).unwrap();
        assert!(load_user(None, &env).unwrap_err().to_string().contains("at most 65536"));
    }

    #[test]
    fn a_broken_policy_names_the_file_and_where_it_was_read() {
        for origin in ["tip", "base 273d1f2"] {
            let error = policy_layer(b"block: HIGH\nblok: HIGH\n", origin).unwrap_err().to_string();
            assert_eq!(error, format!(".review-gate.yaml at {origin}:2:1: unknown key `blok`\n  did you mean `block`?"));
        }
    }

    #[test]
    fn a_draft_is_a_file_or_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_draft(dir.path()), Ok(None));
        std::fs::write(dir.path().join(POLICY_FILE), "{}\n").unwrap();
        assert_eq!(read_draft(dir.path()), Ok(Some(b"{}\n".to_vec())));
        std::fs::remove_file(dir.path().join(POLICY_FILE)).unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.path().join(POLICY_FILE)).unwrap();
        assert!(read_draft(dir.path()).unwrap_err().to_string().contains("is not a regular file"));
    }

    #[test]
    fn the_policy_template_is_the_defaults_and_so_are_its_comments() {
        let today = "2026-12-01T00:00:00Z".parse().unwrap();
        let policy = |text: &str| effective(&[policy_layer(text.as_bytes(), "base").unwrap()], None, today);
        assert_eq!(policy(POLICY_TEMPLATE).digest(), effective(&[], None, today).digest());
        let is_setting = |line: &&str| line.split_once(": ").is_some_and(|(key, _)| policy::KEYS.contains(&key));
        let commented: String =
            POLICY_TEMPLATE.lines().filter_map(|line| line.strip_prefix("# ")).filter(is_setting).map(|line| format!("{line}\n")).collect();
        assert_eq!(commented.lines().count() + 3, policy::KEYS.len());
        assert_eq!(policy(&commented).exclude.len(), 1);
    }
}
