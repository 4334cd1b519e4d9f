//! What git would run at a push from here, in git's own words: the folder, the hooks that stand in the configuration, aliases and worktrees.
//!
//! Asked with the caller's whole environment, because a variable can move all of it. Nothing is changed.

use crate::commands::Context;
use crate::commands::asked::{Git, Hooks, HooksPath, pairs, runs_config_hooks};
use crate::error::GateError;
use crate::git::Repo;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What git would run.
#[derive(Debug)]
pub(super) struct Effective {
    /// git itself.
    pub git: PathBuf,
    /// Its version, as it says it.
    pub version: String,
    /// The folder that git takes hooks from, absolute.
    pub hooks_dir: PathBuf,
    /// The folder that it takes them from where nothing is configured.
    pub own_dir: PathBuf,
    /// Who says that it is another folder.
    pub hooks_path: Option<HooksPath>,
    /// Hooks that stand in the configuration, of any event, in order of name.
    pub configured: Vec<ConfigHook>,
    /// Everything below `hook.` in the configuration, as it is.
    pub hook_keys: Vec<(String, String)>,
    /// Aliases: name and text.
    pub aliases: Vec<(String, String)>,
    /// Where remotes are: key and URL.
    pub urls: Vec<(String, String)>,
    /// Every worktree that is there, this one included.
    pub worktrees: Vec<PathBuf>,
}

/// `hook.<name>.*`.
#[derive(Debug, Clone, Default)]
pub(super) struct ConfigHook {
    /// The name between the dots.
    pub name: String,
    /// What it runs.
    pub command: Option<String>,
    /// At which events.
    pub events: Vec<String>,
    /// Switched off.
    pub disabled: bool,
}

impl ConfigHook {
    /// Tells whether it belongs to a push, switched on or off.
    pub(super) fn at_push(&self) -> bool {
        self.events.iter().any(|event| event == "pre-push")
    }

    /// Tells whether its command names the gate.
    pub(super) fn is_gate(&self) -> bool {
        self.command.as_ref().is_some_and(|command| command.contains("review-gate"))
    }
}

impl Effective {
    /// Asks git.
    pub(super) fn ask(context: &Context, repo: &Repo) -> Result<Effective, GateError> {
        let git = Git::find(context)?;
        let asked = |args: &[&str]| git.ask(args);
        let version = git.version()?;
        let Hooks { own_dir, set: hooks_path, dir: hooks_dir } = git.hooks(repo)?;
        let hook_keys = pairs(&asked(&["config", "-z", "--get-regexp", "^hook\\."])?.unwrap_or_default());
        let aliases = pairs(&asked(&["config", "-z", "--get-regexp", "^alias\\."])?.unwrap_or_default());
        let urls = pairs(&asked(&["config", "-z", "--get-regexp", r"^remote\..*\.(push)?url$"])?.unwrap_or_default());
        let worktrees = worktrees(&asked(&["worktree", "list", "--porcelain"])?.unwrap_or_default());
        Ok(Effective {
            git: git.program,
            version,
            hooks_dir,
            own_dir,
            hooks_path,
            configured: config_hooks(&hook_keys),
            hook_keys,
            aliases,
            urls,
            worktrees,
        })
    }

    /// Tells whether this git runs hooks that stand in its configuration; older ones pass over the keys without a word.
    pub(super) fn runs_config_hooks(&self) -> bool {
        runs_config_hooks(&self.version)
    }

    /// Tells whether git runs the gate from its configuration.
    pub(super) fn gate_is_configured(&self) -> bool {
        self.runs_config_hooks() && self.configured.iter().any(|hook| hook.at_push() && hook.is_gate() && !hook.disabled)
    }

    /// Returns the file that git runs at a push.
    pub(super) fn push_hook(&self) -> PathBuf {
        self.hooks_dir.join("pre-push")
    }
}

fn config_hooks(keys: &[(String, String)]) -> Vec<ConfigHook> {
    let mut hooks: BTreeMap<&str, ConfigHook> = BTreeMap::new();
    for (key, value) in keys {
        let Some((name, variable)) = key.strip_prefix("hook.").and_then(|rest| rest.rsplit_once('.')) else { continue };
        let hook = hooks.entry(name).or_default();
        hook.name = name.to_owned();
        match variable {
            "command" => hook.command = Some(value.clone()),
            "event" if value.is_empty() => hook.events.clear(),
            "event" => hook.events.push(value.clone()),
            "enabled" => hook.disabled = ["false", "no", "off", "0"].contains(&value.to_ascii_lowercase().as_str()),
            _ => {}
        }
    }
    hooks.into_values().collect()
}

/// Worktrees whose folder is there; a bare repository and what is left of a removed one are none.
fn worktrees(answer: &[u8]) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(answer);
    let blocks = text.split("\n\n").filter(|block| !block.lines().any(|line| line == "bare"));
    blocks.filter_map(|block| block.lines().find_map(|line| line.strip_prefix("worktree "))).map(PathBuf::from).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_of_the_configuration_are_read_as_git_reads_them() {
        let answer = b"hook.a.b.command\nrun it\0hook.a.b.event\npre-commit\0hook.a.b.event\n\0hook.a.b.event\npre-push\0hook.pre-push.enabled\nfalse\0hook.jobs\n2\0";
        let hooks = config_hooks(&pairs(answer));
        assert_eq!(hooks.len(), 2, "{hooks:?}");
        assert!(hooks[0].at_push() && hooks[0].events.len() == 1 && hooks[0].command.as_deref() == Some("run it") && !hooks[0].disabled);
        assert!(hooks[1].name == "pre-push" && hooks[1].disabled && !hooks[1].at_push());
    }
}
