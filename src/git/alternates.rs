//! Object directories that only a variable names (`GIT_ALTERNATE_OBJECT_DIRECTORIES`), which the library does not read. Those that `info/alternates` names, it does.
//!
//! The library finds objects through one directory and what that one's `info/alternates` lists. So it is given a private one that lists the repository's own
//! directory and the others. Whose objects they are does not matter: each is hashed again when it is read.

use super::GitError;
use super::text::MAX_TEXT;
use crate::env::Env;
use gix::odb::store::init::Options;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const VARIABLE: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// Has the repository read the variable's directories too, where it is set. The folder that comes back must live as long as the repository.
pub(super) fn add(repo: gix::Repository, cwd: &Path, env: &Env) -> Result<(gix::Repository, Option<tempfile::TempDir>), GitError> {
    let more = named(cwd, env)?;
    if more.is_empty() {
        return Ok((repo, None));
    }
    let folder = tempfile::Builder::new().prefix("review-gate-objects-").tempdir();
    let folder = folder.map_err(GitError::other("make a temporary folder for a list of object directories"))?;
    let own = cwd.join(repo.common_dir()).join("objects");
    let listed = listed(&own)?;
    let list: Vec<&[u8]> = [&own].into_iter().chain(&listed).chain(&more).flat_map(|path| [path.as_os_str().as_bytes(), b"\n"]).collect();
    let info = folder.path().join("info");
    fs::create_dir(&info).and_then(|()| fs::write(info.join("alternates"), list.concat())).map_err(GitError::io("write to", &info))?;
    let options = Options { alloc_limit_bytes: usize::try_from(MAX_TEXT).ok(), current_dir: Some(cwd.to_owned()), ..Options::default() };
    let store = gix::odb::Store::at_opts(folder.path().to_owned(), repo.object_hash(), &mut std::iter::empty(), options);
    let mut shared = repo.into_sync();
    shared.objects = Arc::new(store.map_err(GitError::other(format!("read the object directories of {VARIABLE}")))?);
    Ok((shared.to_thread_local(), Some(folder)))
}

/// Lists the directories that the repository's own `info/alternates` names relative to it; the library would look for these beside the private list.
fn listed(own: &Path) -> Result<Vec<PathBuf>, GitError> {
    let path = own.join("info/alternates");
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(GitError::io("read", &path)(error)),
    };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !matches!(line[0], b'#' | b'"' | b'/'));
    Ok(lines.map(|line| own.join(std::ffi::OsString::from_vec(line.to_vec()))).filter(|path| path.is_dir()).collect())
}

/// Lists the directories that the variable names, as git reads it: relative to where it was started, and those that are not there are passed over.
fn named(cwd: &Path, env: &Env) -> Result<Vec<PathBuf>, GitError> {
    let mut found = Vec::new();
    for path in env.os(VARIABLE).map(|value| value.as_bytes().split(|byte| *byte == b':')).into_iter().flatten().filter(|path| !path.is_empty()) {
        if path[0] == b'"' || path.contains(&b'\n') {
            let remedy = "list the directory in objects/info/alternates instead".to_owned();
            return Err(GitError::Unsupported { what: format!("a quoted path in {VARIABLE}"), remedy });
        }
        found.push(cwd.join(std::ffi::OsString::from_vec(path.to_vec())));
    }
    found.retain(|path| path.is_dir());
    Ok(found)
}
