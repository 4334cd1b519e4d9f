//! Other hook managers of a repository: how each is recognised, how it treats our hook, and the stanza that calls the gate from it instead.

use super::shim::Hook;
use std::path::Path;

/// Every file of a repository that lefthook may take its configuration from, with the local ones beside them.
pub(in crate::commands) const LEFTHOOK_FILES: &[&str] = &[
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook.jsonc",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
    ".lefthook.jsonc",
    ".config/lefthook.yml",
    ".config/lefthook.yaml",
    ".config/lefthook.toml",
    ".config/lefthook.json",
    ".config/lefthook.jsonc",
    "lefthook-local.yml",
    "lefthook-local.yaml",
    "lefthook-local.toml",
    "lefthook-local.json",
    "lefthook-local.jsonc",
    ".lefthook-local.yml",
    ".lefthook-local.yaml",
    ".lefthook-local.toml",
    ".lefthook-local.json",
    ".lefthook-local.jsonc",
    ".config/lefthook-local.yml",
    ".config/lefthook-local.yaml",
    ".config/lefthook-local.toml",
    ".config/lefthook-local.json",
    ".config/lefthook-local.jsonc",
];

/// A hook manager that a repository is set up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Manager {
    /// pre-commit, and prek with the same file.
    PreCommit,
    /// lefthook.
    Lefthook,
    /// husky.
    Husky,
    /// hk.
    Hk,
}

impl Manager {
    const ALL: [Manager; 4] = [Manager::PreCommit, Manager::Lefthook, Manager::Husky, Manager::Hk];

    /// Finds the managers that a working tree is set up for.
    pub(in crate::commands) fn of(work_dir: &Path) -> Vec<Manager> {
        Manager::ALL.into_iter().filter(|manager| manager.marks().iter().any(|mark| work_dir.join(mark).exists())).collect()
    }

    /// Says what it does to our hook, and how to have it call the gate itself.
    pub(in crate::commands) fn note(self, hook: Hook) -> String {
        let (name, stanza) = (hook.name(), self.stanza(hook));
        match self {
            Manager::PreCommit => format!(
                "pre-commit is set up here too. Its installer keeps this hook and runs it first, unless it is given -f. As a plugin the gate would \
                 see only the first ref of a push; if that is wanted, add to .pre-commit-config.yaml:\n{stanza}"
            ),
            Manager::Lefthook => format!(
                "lefthook is set up here too. When it installs or syncs its hooks it renames this one to {name}.old and does not run it: run \
                 `review-gate install` again after that, or rather add to lefthook.yml:\n{stanza}"
            ),
            Manager::Husky => format!(
                "husky is set up here too. Once it is active (core.hooksPath), git does not look at this hook any more: add to .husky/{name}, before \
                 anything that reads its input:\n{stanza}"
            ),
            Manager::Hk => {
                "hk is set up here too. Where git is older than 2.54 its installer may replace this hook: run `review-gate install` again \
                            after it."
                    .to_owned()
            }
        }
    }

    /// Returns the lines that call the gate from this manager's own file, indented; empty where the manager cannot pass on what git writes.
    pub(in crate::commands) fn stanza(self, hook: Hook) -> String {
        let text = match (self, hook) {
            (Manager::PreCommit, Hook::PrePush) => include_str!("../../../hooks/stanzas/pre-commit-push.yaml"),
            (Manager::PreCommit, Hook::PreCommit | Hook::PreMergeCommit) => include_str!("../../../hooks/stanzas/pre-commit.yaml"),
            (Manager::Lefthook, Hook::PrePush) => include_str!("../../../hooks/stanzas/lefthook-push.yaml"),
            (Manager::Lefthook, Hook::PreCommit | Hook::PreMergeCommit) => include_str!("../../../hooks/stanzas/lefthook.yaml"),
            (Manager::Husky, Hook::PrePush) => include_str!("../../../hooks/stanzas/husky-push.sh"),
            (Manager::Husky, Hook::PreCommit | Hook::PreMergeCommit) => include_str!("../../../hooks/stanzas/husky.sh"),
            (Manager::Hk, Hook::PrePush | Hook::PreCommit | Hook::PreMergeCommit) => "",
        };
        let indented = |text: &str| -> String { text.lines().map(|line| format!("    {}\n", line.replace("@HOOK@", hook.name()))).collect() };
        match self {
            Manager::Lefthook => format!("{}and to .lefthook/{}/gate.sh:\n{}", indented(text), hook.name(), indented(lefthook_script(hook))),
            Manager::PreCommit | Manager::Husky | Manager::Hk => indented(text),
        }
    }

    fn marks(self) -> &'static [&'static str] {
        match self {
            Manager::PreCommit => &[".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"],
            Manager::Lefthook => LEFTHOOK_FILES,
            Manager::Husky => &[".husky"],
            Manager::Hk => &["hk.pkl", ".config/hk.pkl"],
        }
    }
}

/// The script that lefthook runs. As one of its `commands` the gate would be passed over wherever lefthook, which looks at `HEAD` and the index and not at
/// what git pushes, finds no file for it.
fn lefthook_script(hook: Hook) -> &'static str {
    match hook {
        Hook::PrePush => include_str!("../../../hooks/stanzas/lefthook-push.sh"),
        Hook::PreCommit | Hook::PreMergeCommit => include_str!("../../../hooks/stanzas/lefthook.sh"),
    }
}
