//! The process environment as one snapshot, and the names this program reads. The only file that reads variables.
//!
//! No variable lowers scrutiny (product contract, "Never fail open"): `REVIEW_TIER` can only raise, kill switches of other tools are ignored.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The tier that the run is at least held at; never lowers (ruling on T02).
pub const REVIEW_TIER: &str = "REVIEW_TIER";
/// Set in every child that the gate starts. A gate that finds it refuses: a nested run must not pass (case P61).
pub const NESTED: &str = "REVIEW_GATE_NESTED";
/// How git's own variables for the heads of a merge begin; the rest is the commit's id.
pub const MERGED_HEAD: &str = "GITHEAD_";
/// Set by pre-commit and prek in every hook process.
pub const PRE_COMMIT: &str = "PRE_COMMIT";
/// The older end of the pushed range, user text, absent on a first push (pre-commit).
pub const PRE_COMMIT_FROM_REF: &str = "PRE_COMMIT_FROM_REF";
/// The newer end of the pushed range (pre-commit).
pub const PRE_COMMIT_TO_REF: &str = "PRE_COMMIT_TO_REF";
/// The local ref being pushed (pre-commit).
pub const PRE_COMMIT_LOCAL_BRANCH: &str = "PRE_COMMIT_LOCAL_BRANCH";
/// The remote ref being pushed to (pre-commit).
pub const PRE_COMMIT_REMOTE_BRANCH: &str = "PRE_COMMIT_REMOTE_BRANCH";
/// The remote's name (pre-commit).
pub const PRE_COMMIT_REMOTE_NAME: &str = "PRE_COMMIT_REMOTE_NAME";
/// The remote's URL (pre-commit).
pub const PRE_COMMIT_REMOTE_URL: &str = "PRE_COMMIT_REMOTE_URL";

/// A snapshot of the environment. Tests build one from pairs.
#[derive(Debug, Clone, Default)]
pub struct Env(BTreeMap<OsString, OsString>);

impl Env {
    /// Takes the snapshot of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn of_process() -> Env {
        Env(std::env::vars_os().collect())
    }

    /// Builds a snapshot from pairs.
    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (K, V)>) -> Env {
        Env(pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }

    /// Returns a variable as it is; `None` where it is unset or empty.
    pub fn os(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns a variable that is set, not empty and valid UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.os(name).and_then(OsStr::to_str)
    }

    /// Returns a variable as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.os(name).map(PathBuf::from)
    }

    /// Iterates over all variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(k, v)| (k.as_os_str(), v.as_os_str()))
    }

    /// Returns the user's configuration file: `$XDG_CONFIG_HOME/review-gate/config.yaml`, else below `$HOME/.config`. `None` where neither is set.
    pub fn user_config(&self) -> Option<PathBuf> {
        let dir = self.path("XDG_CONFIG_HOME").filter(|p| p.is_absolute()).or_else(|| self.path("HOME").map(|home| home.join(".config")))?;
        Some(dir.join("review-gate").join("config.yaml"))
    }
}
