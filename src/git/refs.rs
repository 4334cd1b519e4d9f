//! The refs of a repository that keeps them in a format that gix does not read (`reftable`): a copy in the format that it does.
//!
//! Git is asked once, when the repository is opened; from then on every reader of refs sees one consistent state and need not know of it. The copy lies in a
//! private temporary folder and is gone with the value. Reflogs are not in it: `main@{1}` is an unknown revision there.

use super::GitError;
use super::plumbing::{Git, Target};
use crate::change::BytePath;
use gix::refs::FullName;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A copy of the refs.
pub(super) struct Copied {
    dir: tempfile::TempDir,
}

impl Copied {
    /// Copies what git says.
    pub(super) fn from(git: &Git) -> Result<Copied, GitError> {
        let dir = tempfile::Builder::new().prefix("review-gate-refs-").tempdir();
        let copied = Copied { dir: dir.map_err(GitError::other("make a temporary folder for a copy of the refs"))? };
        let mut packed = Vec::new();
        for (name, target) in git.refs()? {
            match target {
                Target::Object(oid) => packed.extend([oid.to_string().as_bytes(), b" ", checked(&name)?, b"\n"].concat()),
                Target::Ref(to) => copied.write(checked(&name)?, &[b"ref: ", checked(&to)?, b"\n"].concat())?,
            }
        }
        copied.write(b"packed-refs", &packed)?;
        let head = match git.head()? {
            Target::Object(oid) => oid.to_string().into_bytes(),
            Target::Ref(branch) => [b"ref: ", checked(&branch)?].concat(),
        };
        copied.write(b"HEAD", &[&head[..], b"\n"].concat())?;
        Ok(copied)
    }

    /// Has a repository read its refs from here. The library takes the place of the refs for the git folder, so the other files that it reads there are linked.
    pub(super) fn serve(&self, repo: &mut gix::Repository) -> Result<(), GitError> {
        for name in ["info", "shallow"] {
            let link = self.dir.path().join(name);
            std::os::unix::fs::symlink(repo.current_dir().join(repo.common_dir()).join(name), &link).map_err(GitError::io("make the link", &link))?;
        }
        repo.refs = gix::refs::file::Store::at(self.dir.path().to_owned(), repo.object_hash());
        Ok(())
    }

    /// Returns where the copy lies.
    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, name: &[u8], content: &[u8]) -> Result<(), GitError> {
        let path = self.dir.path().join(OsStr::from_bytes(name));
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).and_then(|()| fs::write(&path, content)).map_err(GitError::io("write a copy of the refs to", &path))
    }
}

/// Names become paths here, so only what is a ref's full name will do: it has no `..` and begins with `refs/`.
fn checked(name: &BytePath) -> Result<&[u8], GitError> {
    let full = FullName::try_from(gix::bstr::BStr::new(name.as_bytes())).is_ok();
    if full && name.as_bytes().starts_with(b"refs/") {
        return Ok(name.as_bytes());
    }
    Err(GitError::Unsupported { what: format!("the ref name {name}"), remedy: "rename the ref".to_owned() })
}
