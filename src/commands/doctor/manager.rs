//! The files of other hook managers: which ones a throw-away repository needs so that a manager does there what it does here, and what can be told from their text.

use crate::commands::install::LEFTHOOK_FILES;
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders below the top of a worktree that managers read. Files only are copied, links are not followed.
const FILES: &[&str] = &[".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml", "hk.pkl", ".config/hk.pkl"];
/// Where husky's users keep their hooks, and lefthook's their scripts.
const FOLDERS: &[&str] = &[".husky", ".lefthook/pre-push", ".lefthook/pre-commit", ".lefthook/pre-merge-commit", ".lefthook-local/pre-push"];
/// Where tools of a Node project are; linked, not copied.
pub(super) const MODULES: &str = "node_modules";
/// A larger file is no manager's.
const MAX_FILE: u64 = 1 << 20;

/// Copies what managers read from one worktree to another.
pub(super) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut wanted: Vec<PathBuf> = FILES.iter().chain(LEFTHOOK_FILES).map(PathBuf::from).collect();
    for folder in FOLDERS {
        for entry in fs::read_dir(from.join(folder)).into_iter().flatten().flatten() {
            wanted.push(Path::new(folder).join(entry.file_name()));
        }
    }
    for file in wanted {
        let source = from.join(&file);
        if fs::symlink_metadata(&source).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_FILE) {
            let target = to.join(&file);
            fs::create_dir_all(target.parent().unwrap_or(to))?;
            fs::copy(&source, &target)?;
        }
    }
    if from.join(MODULES).is_dir() {
        std::os::unix::fs::symlink(from.join(MODULES), to.join(MODULES))?;
    }
    Ok(())
}

/// What is wrong with lefthook's files, as far as their text tells.
#[derive(Debug, Default)]
pub(super) struct Lefthook {
    /// Files that have the gate run without what git writes.
    pub without_stdin: Vec<&'static str>,
    /// Files that have it run as one of the `commands`.
    pub as_command: Vec<&'static str>,
    /// Files, each with the words in them that make a push differ from the proof's.
    pub unseen: Vec<(&'static str, Vec<&'static str>)>,
}

/// Words of lefthook that read other files, or leave a job out for what a push is and not for what it holds.
const UNSEEN: &[&str] =
    &["extends", "remotes", "remote", "skip", "only", "glob", "exclude", "exclude_tags", "rc", "root", "files", "source_dir", "source_dir_local"];

/// Reads lefthook's files.
pub(super) fn lefthook(work_dir: &Path) -> Lefthook {
    let mut found = Lefthook::default();
    let scripts = fs::read_dir(work_dir.join(".lefthook/pre-push")).into_iter().flatten().flatten();
    let by_script = scripts.filter_map(|entry| fs::read_to_string(entry.path()).ok()).any(|text| text.contains("review-gate"));
    for name in LEFTHOOK_FILES {
        let Ok(text) = fs::read_to_string(work_dir.join(name)) else { continue };
        let command = text.contains("review-gate hook pre-push");
        if command {
            found.as_command.push(name);
        }
        if (command || (by_script && text.contains("pre-push"))) && !text.contains("use_stdin") {
            found.without_stdin.push(name);
        }
        let words: Vec<&str> = UNSEEN.iter().copied().filter(|word| has_key(&of_a_push(name, &text), word)).collect();
        if !words.is_empty() {
            found.unseen.push((name, words));
        }
    }
    found
}

/// Leaves out of a YAML file what belongs to other hooks, whose names have a dash as no other key of the first level has; all of it stays where keys are merged.
fn of_a_push(name: &str, text: &str) -> String {
    let yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    let mut other = false;
    let lines = text.lines().filter(|line| {
        if line.starts_with(|first: char| first.is_ascii_alphabetic() || first == '"' || first == '\'') {
            let key = line.split(':').next().unwrap_or_default().trim_matches(['"', '\'', ' ']);
            other = key.contains('-') && key != "pre-push";
        }
        !(other && yaml && !text.contains("<<"))
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Tells whether a text in YAML, TOML or JSON has that key, as far as that can be told without reading all three: too often rather than too seldom.
fn has_key(text: &str, key: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    text.lines().filter(|line| !line.trim_start().starts_with('#')).any(|line| {
        line.match_indices(key).any(|(at, _)| {
            let before = line.as_bytes()[..at].last().is_none_or(|byte| !word(*byte));
            let after = line[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
            before && after.starts_with([':', '=', ']'])
        })
    })
}

/// Tells whether a worktree's framework configuration names the gate's hook for a push.
pub(super) fn framework_names_gate(work_dir: &Path) -> bool {
    FILES.iter().take(3).any(|name| fs::read_to_string(work_dir.join(name)).is_ok_and(|text| text.contains("review-gate")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_change_what_a_push_runs_are_found_where_they_belong_to_it() {
        let found = |name: &str, text: &str, word: &str| has_key(&of_a_push(name, text), word);
        let table = [
            ("a.yml", "pre-push:\n  skip: true\n", "skip", true),
            ("a.yml", "pre-push:\n  skip_empty: true\n  # skip: x\n", "skip", false),
            ("a.yml", "pre-commit:\n  commands:\n    lint: {glob: '*.js'}\nextends: [x.yml]\n", "glob", false),
            ("a.yml", "pre-commit:\n  commands:\n    lint: {glob: '*.js'}\nextends: [x.yml]\n", "extends", true),
            ("a.yml", "pre-commit: &x\n  skip: true\npre-push:\n  <<: *x\n", "skip", true),
            ("a.json", "{\"pre-push\": {\"only\": []}}", "only", true),
            ("a.toml", "rc = 'x'\n[[remotes]]\n", "rc", true),
            ("a.toml", "[[remotes]]\n", "remotes", true),
        ];
        for (name, text, word, expected) in table {
            assert_eq!(found(name, text, word), expected, "{word} in {text}");
        }
    }
}
