//! Where a reviewer's key comes from, and fetching it. The configuration holds names, never a key; a key belongs to its entry's host (ruling on B02).

use crate::env::Env;
use crate::reviewer::{Key, Secret};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The greatest size of a key, in bytes.
const MAX_KEY: usize = 16 * 1024;

/// Starts a command and returns what it printed, or why it could not, as a fragment that follows the command's name.
pub type RunCommand<'a> = dyn Fn(&[String]) -> Result<Vec<u8>, String> + 'a;

/// Names the place of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The entry names none.
    None,
    /// A variable, by its name.
    Env(String),
    /// A file that only its owner can read.
    File(PathBuf),
    /// A command that prints the key, as its argument list.
    Command(Vec<String>),
}

impl KeySource {
    /// Names the source for messages and `config show`; never a key.
    pub fn describe(&self) -> String {
        match self {
            KeySource::None => "none".to_owned(),
            KeySource::Env(name) => format!("variable {name}"),
            KeySource::File(path) => format!("file {}", path.display()),
            // Arguments of a command may be confidential; its name is enough to find it.
            KeySource::Command(argv) => format!("command {}", argv.first().map_or("", String::as_str)),
        }
    }

    /// Fetches the key. `run` is the edge's, with its own time limit.
    ///
    /// A key that is not there, or a file that others can read, is [`Key::Missing`] with the reason: no call is made with it (requirement H10).
    pub fn fetch(&self, env: &Env, run: &RunCommand<'_>) -> Key {
        let found = match self {
            KeySource::None => return Key::None,
            KeySource::Env(name) => env.text(name).map(|value| value.as_bytes().to_vec()).ok_or_else(|| "is not set".to_owned()),
            KeySource::File(path) => read_private(path),
            KeySource::Command(argv) => run(argv),
        };
        match found.and_then(|bytes| as_key(&bytes)) {
            Ok(secret) => Key::Value(secret),
            Err(why) => Key::Missing(format!("{} {why}", self.describe())),
        }
    }
}

/// Takes one line of visible characters; anything else in a header would be refused or, worse, split it.
fn as_key(bytes: &[u8]) -> Result<Secret, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "holds bytes that are not UTF-8".to_owned())?.trim();
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    if text.len() > MAX_KEY || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("holds more than one word of visible ASCII characters".to_owned());
    }
    Ok(Secret::new(text))
}

fn read_private(path: &Path) -> Result<Vec<u8>, String> {
    let file = open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let meta = file.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !meta.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if is_open_to_others(&meta) {
        return Err("can be read or changed by others; run `chmod 600` on it".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MAX_KEY as u64 + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(bytes)
}

/// Opens without waiting: a pipe would keep the gate until somebody writes to it, and nobody may ever do.
#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::open(path)
}

#[cfg(unix)]
fn is_open_to_others(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    meta.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_command(_: &[String]) -> Result<Vec<u8>, String> {
        Err("was not expected".into())
    }

    fn missing(key: &Key) -> &str {
        match key {
            Key::Missing(why) => why,
            Key::None | Key::Value(_) => panic!("{key:?}"),
        }
    }

    #[test]
    fn a_variable_that_is_not_there_is_named() {
        let env = Env::from_pairs([("GOOD", " value\n"), ("EMPTY", ""), ("TWO", "a b")]);
        let fetch = |name: &str| KeySource::Env(name.into()).fetch(&env, &no_command);
        assert_eq!(fetch("GOOD"), Key::Value(Secret::new("value")));
        assert_eq!(missing(&fetch("EMPTY")), "variable EMPTY is not set");
        assert_eq!(missing(&fetch("ABSENT")), "variable ABSENT is not set");
        assert!(!missing(&fetch("TWO")).contains("a b"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_must_be_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        std::fs::write(&path, "value\n").unwrap();
        for (mode, is_read) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let key = KeySource::File(path.clone()).fetch(&Env::default(), &no_command);
            assert_eq!(key == Key::Value(Secret::new("value")), is_read, "{mode:o}: {key:?}");
        }
        assert!(missing(&KeySource::File(dir.path().into()).fetch(&Env::default(), &no_command)).contains("regular file"));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_at_once() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (found_in, found) = std::sync::mpsc::channel();
        std::thread::spawn(move || found_in.send(KeySource::File(path).fetch(&Env::default(), &no_command)));
        let key = found.recv_timeout(std::time::Duration::from_secs(10)).expect("the pipe is not waited for");
        assert!(missing(&key).contains("regular file"));
    }

    #[test]
    fn a_command_is_run_by_the_caller_and_its_arguments_are_not_shown() {
        let source = KeySource::Command(vec!["pass".into(), "show".into(), "confidential".into()]);
        let key = source.fetch(&Env::default(), &|argv| Ok(argv[1].clone().into_bytes()));
        assert_eq!(key, Key::Value(Secret::new("show")));
        assert_eq!(missing(&source.fetch(&Env::default(), &|_| Err("ended with status 1".into()))), "command pass ended with status 1");
    }
}
