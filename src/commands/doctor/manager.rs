//! The files of other hook managers: which ones a throw-away repository needs so that a manager does there what it does here, and what can be told from their text.

use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders below the top of a worktree that managers read. Files only are copied, links are not followed.
const FILES: &[&str] = &[
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    "prek.toml",
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook-local.yml",
    "lefthook-local.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
    ".lefthook-local.yml",
    ".config/lefthook.yml",
    ".config/lefthook.yaml",
    "hk.pkl",
    ".config/hk.pkl",
];
/// Where husky's users keep their hooks.
const HUSKY: &str = ".husky";
/// Where tools of a Node project are; linked, not copied.
pub(super) const MODULES: &str = "node_modules";
/// A larger file is no manager's.
const MAX_FILE: u64 = 1 << 20;

/// Copies what managers read from one worktree to another.
pub(super) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut wanted: Vec<PathBuf> = FILES.iter().map(PathBuf::from).collect();
    for entry in fs::read_dir(from.join(HUSKY)).into_iter().flatten().flatten() {
        wanted.push(Path::new(HUSKY).join(entry.file_name()));
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

/// Returns the files of lefthook that call the gate without having its input passed on.
pub(super) fn lefthook_without_stdin(work_dir: &Path) -> Vec<&'static str> {
    let lefthook = FILES.iter().copied().filter(|name| name.contains("lefthook"));
    lefthook
        .filter(|name| {
            fs::read_to_string(work_dir.join(name)).is_ok_and(|text| text.contains("review-gate hook pre-push") && !text.contains("use_stdin"))
        })
        .collect()
}

/// Tells whether a worktree's framework configuration names the gate's hook for a push.
pub(super) fn framework_names_gate(work_dir: &Path) -> bool {
    FILES.iter().take(3).any(|name| fs::read_to_string(work_dir.join(name)).is_ok_and(|text| text.contains("review-gate")))
}
