//! Where the ledger is, opened so that nobody else can have put something there: no link is followed below git's common directory, and what is opened must be ours
//! and writable by us alone (threat T21).
//!
//! Leaves to `store.rs` what is read and written, and when. That the common directory itself may be trusted is git's ownership check.

use super::error::LedgerError;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The directory inside git's common directory, shared by all worktrees.
const DIRECTORY: &str = "review-gate";
/// The ledger inside it.
const LEDGER: &str = "ledger.jsonl";

/// Never through a link, never into a child, never waiting for the other end of a pipe.
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// The ledger's directory, held open.
#[derive(Debug)]
pub(super) struct Place {
    dir: File,
    path: PathBuf,
}

impl Place {
    /// Opens the directory, making it where it is missing.
    pub(super) fn create(common_dir: &Path) -> Result<Place, LedgerError> {
        if let Some(place) = Place::find(common_dir)? {
            return Ok(place);
        }
        let common = open_common(common_dir)?;
        let path = common_dir.join(DIRECTORY);
        match mkdirat(&common, DIRECTORY, Mode::RWXU) {
            // Another run may have been first.
            Ok(()) | Err(Errno::EXIST) => sync_directory(&common, common_dir)?,
            Err(error) => return Err(LedgerError::io("create", &path, error)),
        }
        Place::find(common_dir)?.ok_or_else(|| LedgerError::io("open", &path, Errno::NOENT))
    }

    /// Opens the directory; `None` where there is none. Makes nothing.
    pub(super) fn find(common_dir: &Path) -> Result<Option<Place>, LedgerError> {
        let path = common_dir.join(DIRECTORY);
        let dir = match openat(open_common(common_dir)?, DIRECTORY, OFlags::RDONLY | OFlags::DIRECTORY | SAFE, Mode::empty()) {
            Ok(dir) => File::from(dir),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(not(&path, "directory")),
            Err(error) => return Err(LedgerError::io("open", &path, error)),
        };
        check_ours(&path, &metadata(&dir, &path)?)?;
        Ok(Some(Place { dir, path }))
    }

    /// Returns where the ledger of a common directory is, or would be, for messages.
    pub(super) fn ledger_path_below(common_dir: &Path) -> PathBuf {
        common_dir.join(DIRECTORY).join(LEDGER)
    }

    /// Returns the ledger's path, for messages.
    pub(super) fn ledger_path(&self) -> PathBuf {
        self.path.join(LEDGER)
    }

    /// Opens the ledger for reading; `None` where there is none.
    pub(super) fn open_to_read(&self) -> Result<Option<File>, LedgerError> {
        self.open(LEDGER, OFlags::RDONLY)
    }

    /// Opens the ledger for reading and appending, making it where it is missing.
    pub(super) fn open_to_append(&self) -> Result<File, LedgerError> {
        if let Some(file) = self.open(LEDGER, OFlags::RDWR | OFlags::APPEND)? {
            return Ok(file);
        }
        let made = self.open(LEDGER, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?;
        self.sync()?;
        made.ok_or_else(|| LedgerError::io("create", &self.ledger_path(), Errno::NOENT))
    }

    /// Makes a new file beside the ledger; `None` where the name is taken.
    pub(super) fn create_new(&self, name: &str) -> Result<Option<File>, LedgerError> {
        match openat(&self.dir, name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | SAFE, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(File::from(file))),
            Err(Errno::EXIST) => Ok(None),
            Err(error) => Err(LedgerError::io("create", &self.path.join(name), error)),
        }
    }

    /// Opens a file that a run locks, making it where it is missing.
    pub(super) fn open_lock(&self, name: &str) -> Result<File, LedgerError> {
        let file = self.open(name, OFlags::RDWR | OFlags::CREATE)?;
        file.ok_or_else(|| LedgerError::io("create", &self.path_of(name), Errno::NOENT))
    }

    /// Tells whether `file` is what `name` stands for.
    pub(super) fn is_current(&self, name: &str, file: &File) -> Result<bool, LedgerError> {
        let path = self.path_of(name);
        let Some(named) = self.open(name, OFlags::RDONLY)? else { return Ok(false) };
        let (named, held) = (metadata(&named, &path)?, metadata(file, &path)?);
        Ok((named.dev(), named.ino()) == (held.dev(), held.ino()))
    }

    /// Takes a file away, as far as that is possible.
    pub(super) fn remove(&self, name: &str) {
        let _ = unlinkat(&self.dir, name, AtFlags::empty());
    }

    /// Returns a file's path, for messages.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns a second handle to the same directory.
    pub(super) fn again(&self) -> Result<Place, LedgerError> {
        let dir = self.dir.try_clone().map_err(|error| LedgerError::io("open", &self.path, error))?;
        Ok(Place { dir, path: self.path.clone() })
    }

    /// Makes the directory's entries durable.
    pub(super) fn sync(&self) -> Result<(), LedgerError> {
        sync_directory(&self.dir, &self.path)
    }

    /// Checks that `file` is still what the ledger's name stands for.
    pub(super) fn check_current(&self, file: &File) -> Result<(), LedgerError> {
        if self.is_current(LEDGER, file)? { Ok(()) } else { Err(LedgerError::Replaced { path: self.ledger_path() }) }
    }

    fn open(&self, name: &str, flags: OFlags) -> Result<Option<File>, LedgerError> {
        let path = self.path.join(name);
        let file = match openat(&self.dir, name, flags | SAFE, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Err(not(&path, "regular file")),
            Err(error) => return Err(LedgerError::io("open", &path, error)),
        };
        let metadata = metadata(&file, &path)?;
        if !metadata.is_file() {
            return Err(not(&path, "regular file"));
        }
        check_ours(&path, &metadata)?;
        Ok(Some(file))
    }
}

fn open_common(common_dir: &Path) -> Result<File, LedgerError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(common_dir, flags, Mode::empty()).map(File::from).map_err(|error| LedgerError::io("open", common_dir, error))
}

fn metadata(file: &File, path: &Path) -> Result<Metadata, LedgerError> {
    file.metadata().map_err(|error| LedgerError::io("look at", path, error))
}

fn not(path: &Path, kind: &str) -> LedgerError {
    LedgerError::Unsafe { path: path.to_owned(), why: format!("is a link or no {kind}; move it away, the gate makes its own") }
}

fn check_ours(path: &Path, metadata: &Metadata) -> Result<(), LedgerError> {
    let mode = metadata.mode() & 0o7777;
    let (owner, me) = (metadata.uid(), geteuid().as_raw());
    let why = if owner != me {
        format!("belongs to user {owner}, not to you (user {me}); change its owner or move it away")
    } else if mode & 0o022 != 0 {
        format!("may be written by others (mode {mode:04o}); take that right away with `chmod go-w`")
    } else {
        return Ok(());
    };
    Err(LedgerError::Unsafe { path: path.to_owned(), why })
}

fn sync_directory(dir: &File, path: &Path) -> Result<(), LedgerError> {
    match dir.sync_all() {
        // Some file systems cannot sync a directory and say so; what they hold is as durable as they make it.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        other => other.map_err(|error| LedgerError::io("sync", path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    #[test]
    fn directory_and_file_are_made_for_us_alone() {
        let common = scratch();
        assert!(Place::find(common.path()).expect("readable").is_none());
        let place = Place::create(common.path()).expect("made");
        assert!(place.open_to_read().expect("readable").is_none(), "reading makes nothing");
        place.open_to_append().expect("made");
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o7777;
        assert_eq!(mode(&common.path().join("review-gate")), 0o700);
        assert_eq!(mode(&place.ledger_path()), 0o600);
    }

    #[test]
    fn a_directory_that_is_a_link_or_a_file_is_refused() {
        let elsewhere = scratch();
        for is_link in [true, false] {
            let common = scratch();
            let path = common.path().join("review-gate");
            if is_link {
                symlink(elsewhere.path(), &path).expect("a link")
            } else {
                fs::write(&path, "").expect("a file")
            }
            assert!(matches!(Place::create(common.path()), Err(LedgerError::Unsafe { .. })));
        }
        assert_eq!(fs::read_dir(elsewhere.path()).expect("readable").count(), 0, "nothing was written through the link");
    }

    #[test]
    fn a_ledger_that_is_a_link_a_pipe_or_a_directory_is_refused() {
        let target = scratch().path().join("target");
        let plant: [&dyn Fn(&Path); 3] = [
            &|path| symlink(&target, path).expect("a link"),
            &|path| rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe"),
            &|path| fs::create_dir(path).expect("a directory"),
        ];
        for plant in plant {
            let common = scratch();
            let place = Place::create(common.path()).expect("made");
            plant(&place.ledger_path());
            assert!(matches!(place.open_to_append(), Err(LedgerError::Unsafe { .. })));
            assert!(matches!(place.open_to_read(), Err(LedgerError::Unsafe { .. })));
        }
        assert!(!target.exists(), "nothing was made through the link");
    }

    #[test]
    fn what_others_may_write_is_refused_with_the_mode() {
        for (mode, refused) in [(0o700, false), (0o755, false), (0o720, true), (0o702, true), (0o777, true)] {
            let common = scratch();
            let place = Place::create(common.path()).expect("made");
            place.open_to_append().expect("made");
            fs::set_permissions(place.ledger_path(), Permissions::from_mode(mode)).expect("changed");
            assert_eq!(matches!(place.open_to_append(), Err(LedgerError::Unsafe { .. })), refused, "file {mode:o}");
            fs::set_permissions(common.path().join("review-gate"), Permissions::from_mode(mode)).expect("changed");
            assert_eq!(matches!(Place::create(common.path()), Err(LedgerError::Unsafe { .. })), refused, "directory {mode:o}");
        }
    }

    #[test]
    fn a_missing_or_unwritable_common_directory_is_an_io_error() {
        let common = scratch();
        assert!(matches!(Place::create(&common.path().join("absent")), Err(LedgerError::Io { .. })));
        fs::set_permissions(common.path(), Permissions::from_mode(0o500)).expect("changed");
        // Root may write anywhere; on Linux there are directories where even it may not.
        let unwritable = if geteuid().is_root() { Path::new("/proc/self") } else { common.path() };
        assert!(matches!(Place::create(unwritable), Err(LedgerError::Io { .. })));
    }

    #[test]
    fn a_file_that_no_longer_bears_the_name_is_not_current() {
        let common = scratch();
        let place = Place::create(common.path()).expect("made");
        let file = place.open_to_append().expect("made");
        assert!(place.check_current(&file).is_ok());
        fs::remove_file(place.ledger_path()).expect("removed");
        assert!(matches!(place.check_current(&file), Err(LedgerError::Replaced { .. })));
        place.open_to_append().expect("another one");
        assert!(matches!(place.check_current(&file), Err(LedgerError::Replaced { .. })));
    }
}
