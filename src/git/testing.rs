//! A throw-away repository with a real git beside it, and changes made at random from a seed.

use gix::Repository;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Returns a command for the real git, with nothing of this process's environment but the PATH.
pub(super) fn git() -> std::process::Command {
    real::git()
}

/// A repository without any configuration from outside.
pub(super) struct Sandbox {
    dir: tempfile::TempDir,
}

impl Sandbox {
    pub(super) fn new(init: &[&str]) -> Sandbox {
        let sandbox = Sandbox { dir: tempfile::tempdir().expect("a temporary directory") };
        sandbox.git(&[&["init", "-q", "-b", "main"], init].concat());
        sandbox
    }

    /// Runs git and returns what it prints.
    pub(super) fn git(&self, arguments: &[&str]) -> Vec<u8> {
        self.run(Stdio::null(), arguments)
    }

    /// Runs git with a file as its input.
    pub(super) fn git_from(&self, input: &Path, arguments: &[&str]) -> Vec<u8> {
        self.run(std::fs::File::open(input).expect("a file").into(), arguments)
    }

    fn run(&self, input: Stdio, arguments: &[&str]) -> Vec<u8> {
        let settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "gc.auto=0", "-c", "commit.gpgSign=false"];
        let mut command = git();
        command.current_dir(self.dir.path()).env("HOME", self.dir.path().join("home"));
        let output = command.stdin(input).args(settings).args(arguments).output().expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// Commits the index and returns the commit's tree.
    pub(super) fn commit(&self) -> String {
        self.git(&["commit", "-q", "--allow-empty", "-m", "m"]);
        self.line(&["rev-parse", "HEAD^{tree}"])
    }

    /// Runs git and returns its only line.
    pub(super) fn line(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git(arguments)).expect("UTF-8").trim_end().to_owned()
    }

    pub(super) fn open(&self) -> Repository {
        gix::open_opts(self.dir.path(), gix::open::Options::isolated()).expect("a repository")
    }

    pub(super) fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.dir.path().join(OsStr::from_bytes(path.as_ref()))
    }

    pub(super) fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let full = self.path(path);
        std::fs::create_dir_all(full.parent().expect("a parent")).expect("a directory");
        std::fs::write(full, content).expect("a file");
    }
}

/// Numbers that follow from a seed (xorshift).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

const NAMES: [&[u8]; 26] = [
    b"a",
    b"a-b",
    b"a.c",
    b"a/b",
    b"a/c d",
    b"dir/x.rs",
    b"dir/y.rs",
    b"dir2/x.rs",
    b"n\nl",
    b"t\tb",
    b"q\"u",
    b"back\\slash",
    b"lat\xe9",
    "é".as_bytes(),
    b"a b/ b",
    b"-rf/--",
    b"deep/1/2/3/f",
    b"deep/1/2/g",
    b"deep.x",
    b"deep/1.x",
    b"z",
    b"\x7f",
    b"sp ace\xff",
    b"m/Makefile",
    b"m/n/Makefile",
    b"x.bin",
];

const LINES: [&str; 24] = [
    "fn one() {",
    "    let x = 1;",
    "",
    "}",
    "_under",
    "$dollar",
    "\tindented",
    "Text with a trailing blank  ",
    "9 digits",
    "\u{b}tab",
    "struct S;",
    "if x {",
    "  }",
    "é accent",
    "a very long line that goes on and on and on until it is longer than eighty bytes, which is where git cuts a section",
    "return",
    "{",
    "+++ b/x",
    "--- a/x",
    "@@ -1 +1 @@",
    "\\ No newline at end of file",
    "x\r",
    "end",
    "same",
];

/// Makes and changes files at random.
pub(super) struct Garden<'s> {
    pub(super) sandbox: &'s Sandbox,
    pub(super) random: Random,
}

impl Garden<'_> {
    /// Changes about as many files as asked for: content, mode, type, name, or there and gone.
    pub(super) fn change(&mut self, files: usize) {
        for _ in 0..files {
            let name = self.random.of(&NAMES);
            let full = self.sandbox.path(name);
            match self.random.below(10) {
                0 => self.remove(name),
                1 if full.is_file() => self.flip_mode(name),
                2 => self.link(name),
                3 if full.is_file() && !full.is_symlink() => self.rename(name),
                4 => self.plant(name, b""),
                5 => {
                    let binary = [self.content(), vec![0, 1, 2], self.content()].concat();
                    self.plant(name, &binary);
                }
                6 => {
                    let content = self.content();
                    self.plant(name, &content);
                }
                _ => self.edit(name),
            }
        }
    }

    fn content(&mut self) -> Vec<u8> {
        let lines = self.random.below(60);
        let mut content: Vec<u8> = (0..lines).flat_map(|_| format!("{}\n", self.random.of(&LINES)).into_bytes()).collect();
        if self.random.below(4) == 0 {
            content.pop();
        }
        content
    }

    fn edit(&mut self, name: &[u8]) {
        let full = self.sandbox.path(name);
        if full.is_symlink() || !full.is_file() {
            let content = self.content();
            return self.plant(name, &content);
        }
        let content = std::fs::read(&full).expect("a file");
        let mut lines: Vec<Vec<u8>> = content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..=self.random.below(4) {
            let at = self.random.below(lines.len() + 1);
            match self.random.below(3) {
                0 if at < lines.len() => drop(lines.remove(at)),
                1 if at < lines.len() => lines[at] = format!("{}\n", self.random.of(&LINES)).into_bytes(),
                _ => lines.insert(at, format!("{}\n", self.random.of(&LINES)).into_bytes()),
            }
        }
        std::fs::write(&full, lines.concat()).expect("a file");
    }

    /// Puts a file in place of whatever is at the name or above it.
    fn plant(&mut self, name: &[u8], content: &[u8]) {
        self.clear(name);
        self.sandbox.write(name, content);
    }

    fn link(&mut self, name: &[u8]) {
        self.clear(name);
        let full = self.sandbox.path(name);
        std::fs::create_dir_all(full.parent().expect("a parent")).expect("a directory");
        symlink(self.random.of(&["/etc/passwd", "a", "nowhere\nat all"]), full).expect("a link");
    }

    fn rename(&mut self, name: &[u8]) {
        let target = self.random.of(&NAMES);
        let content = std::fs::read(self.sandbox.path(name)).expect("a file");
        self.remove(name);
        self.plant(target, &content);
        if self.random.below(2) == 0 {
            self.edit(target);
        }
    }

    fn flip_mode(&mut self, name: &[u8]) {
        let full = self.sandbox.path(name);
        let mode = self.random.of(&[0o644, 0o755]);
        std::fs::set_permissions(full, std::fs::Permissions::from_mode(mode)).expect("permissions");
    }

    fn remove(&mut self, name: &[u8]) {
        let full = self.sandbox.path(name);
        let removed = if full.is_dir() && !full.is_symlink() { std::fs::remove_dir_all(full) } else { std::fs::remove_file(full) };
        drop(removed);
    }

    /// Makes room: removes what is at the name, and files or links that stand where its directories must be.
    fn clear(&mut self, name: &[u8]) {
        self.remove(name);
        for (at, _) in name.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let above = self.sandbox.path(&name[..at]);
            if above.is_symlink() || above.is_file() {
                self.remove(&name[..at]);
            }
        }
    }
}

#[cfg(test)]
mod real {
    use crate::env::Env;
    use std::process::Command;

    #[expect(clippy::disallowed_methods, reason = "the tests compare with the real git")]
    pub(super) fn git() -> Command {
        let path = Env::of_process().os("PATH").expect("a PATH, because git is found by it").to_owned();
        let mut command = Command::new("git");
        command.env_clear().env("PATH", path).env("LC_ALL", "C").env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command
    }
}
