//! Other people's hook managers, the real ones. `.ci/run` puts them below `target/tools`.

use super::{GATE, Repo, Run, child};
use std::path::{Path, PathBuf};

/// Finds a tool: below `target/tools` first, then on `PATH`. A missing tool fails the test: a story that is not told proves nothing.
pub fn find(name: &str) -> PathBuf {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools");
    let pinned = [tools.join(name).join("bin").join(name), tools.join(name).join("node_modules/.bin").join(name)];
    let on_path = std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>()).map(|dir| dir.join(name));
    let found = pinned.into_iter().chain(on_path).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{name} is needed for this test; the first steps of .ci/run install it into target/tools"))
}

/// Returns a `PATH` on which a hook finds the gate and these tools, as it would on a developer's machine.
pub fn path(names: &[&str]) -> String {
    let gate = PathBuf::from(GATE);
    let own = names.iter().map(|name| find(name)).chain([gate]).map(|file| file.parent().unwrap().display().to_string());
    own.chain([std::env::var("PATH").unwrap()]).collect::<Vec<_>>().join(":")
}

/// Runs a program in a repository, with that `PATH`.
pub fn run(repo: &Repo<'_>, names: &[&str], program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Run {
    let mut command = repo.sandbox().command(program);
    command.args(args).env("PATH", path(names)).current_dir(repo.path());
    child::run(command, b"").never_says("panicked at")
}

/// Returns the fenced blocks of the README's section with this heading, up to the next heading.
pub fn readme(heading: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let section = text.split(&format!("\n### {heading}\n")).nth(1).unwrap_or_else(|| panic!("the README has no section {heading:?}"));
    let section = section.split("\n##").next().unwrap();
    section.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap().1.to_owned() + "\n").collect()
}
