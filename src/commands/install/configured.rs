//! The hook as an entry of git's configuration (git 2.54 and newer): it needs no file of its own among the hooks, so nothing that owns that folder is in its way.
//!
//! The entry names a script of ours, because that is what refuses when the program behind it is gone. An older git passes over the entry without a word;
//! so the version is asked first, and afterwards git is asked whether it would run it.

use super::error::InstallError;
use super::hooks::{lock, write};
use super::shim::{Chain, Hook, quoted, render};
use crate::commands::asked::{Git, runs_config_hooks};
use crate::error::GateError;
use crate::transport::process::Ended;
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Which configuration, and where the scripts are.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    /// Who is asked and told.
    pub git: &'a Git,
    /// `--local` or `--global`.
    pub scope: &'static str,
    /// A folder of the gate's own.
    pub scripts: PathBuf,
}

impl Entries<'_> {
    /// Installs entries for hooks that run the program at `gate`.
    ///
    /// # Errors
    /// [`InstallError::TooOld`], or whatever git says.
    pub(super) fn install(&self, hooks: &[Hook], gate: &Path) -> Result<Vec<String>, InstallError> {
        let version = self.git.version().map_err(told)?;
        if !runs_config_hooks(&version) {
            return Err(InstallError::TooOld(version));
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.scripts);
        made.map_err(|source| InstallError::io("create", &self.scripts, source))?;
        let _lock = lock(&self.scripts)?;
        let mut said = Vec::new();
        for hook in hooks {
            said.push(self.install_one(*hook, gate)?);
        }
        said.push("another git on this machine that is older than 2.54 passes over it without a word; `review-gate doctor` tells".to_owned());
        Ok(said)
    }

    fn install_one(&self, hook: Hook, gate: &Path) -> Result<String, InstallError> {
        let script = self.scripts.join(hook.name());
        write(&script, &render(hook, gate, Chain::None))?;
        let command = String::from_utf8(quoted(script.as_os_str().as_bytes()))
            .map_err(|_| InstallError::Git(format!("{} is not plain text, which git's configuration needs", script.display())))?;
        let (section, name) = (section(hook), hook.name());
        let wanted = [("command", command.as_str()), ("event", name)];
        let known: Vec<Option<String>> = wanted.iter().map(|(key, _)| self.value(&format!("{section}.{key}"))).collect::<Result<_, _>>()?;
        if wanted.iter().zip(&known).all(|((_, value), known)| known.as_deref() == Some(*value)) {
            self.check_listed(hook)?;
            return Ok(format!("{name}: already installed as {section} in git's configuration ({})", self.scope));
        }
        // The event comes last: before it there is no hook, and never one without a command.
        for (key, value) in wanted {
            self.tell(&["config", self.scope, "--replace-all", &format!("{section}.{key}"), value])?;
        }
        self.check_listed(hook)?;
        Ok(format!("{name}: installed as {section} in git's configuration ({})", self.scope))
    }

    /// Sees that git would run the entry, whichever of its files has a say in it.
    fn check_listed(&self, hook: Hook) -> Result<(), InstallError> {
        let (section, name) = (section(hook), hook.name());
        let listed = self.git.ask(&["hook", "list", name]).map_err(told)?.unwrap_or_default();
        let enabled = self.git.ask(&["config", "--type=bool", "--get", &format!("{section}.enabled")]).map_err(told)?.unwrap_or_default();
        if String::from_utf8_lossy(&listed).lines().any(|line| line.contains(entry(hook).as_str())) && enabled.trim_ascii() != b"false" {
            return Ok(());
        }
        Err(InstallError::Git(format!(
            "git does not list {section} among its {name} hooks, so it would not run it; is it switched off \
             (`git config --show-origin --get-regexp '^hook\\.'`)? `review-gate uninstall` takes it out"
        )))
    }

    /// Takes entries and scripts out. Says nothing where there are none.
    ///
    /// # Errors
    /// Whatever git says.
    pub(super) fn uninstall(&self, hooks: &[Hook]) -> Result<Vec<String>, InstallError> {
        let mut said = Vec::new();
        for hook in hooks {
            let section = section(*hook);
            if ["command", "event"].iter().any(|key| self.value(&format!("{section}.{key}")).is_ok_and(|value| value.is_some())) {
                self.tell(&["config", self.scope, "--remove-section", &section])?;
                said.push(format!("{}: removed {section} from git's configuration ({})", hook.name(), self.scope));
            }
            match fs::remove_file(self.scripts.join(hook.name())) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(InstallError::io("remove", &self.scripts.join(hook.name()), error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        // Only where nothing else is in them.
        if fs::remove_dir(&self.scripts).is_ok() {
            let _ = self.scripts.parent().map(fs::remove_dir);
        }
        Ok(said)
    }

    fn value(&self, key: &str) -> Result<Option<String>, InstallError> {
        let answer = self.git.ask(&["config", self.scope, "-z", "--get", key]).map_err(told)?;
        Ok(answer.map(|value| String::from_utf8_lossy(&value).trim_end_matches('\0').to_owned()))
    }

    fn tell(&self, args: &[&str]) -> Result<(), InstallError> {
        let output = self.git.run(args).map_err(told)?;
        if output.ended == Ended::Exited(0) {
            return Ok(());
        }
        Err(InstallError::Git(format!("`git {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim())))
    }
}

/// Returns the name between the dots; git refuses one that is an event's own.
fn entry(hook: Hook) -> String {
    format!("review-gate-{}", hook.name())
}

fn section(hook: Hook) -> String {
    format!("hook.{}", entry(hook))
}

fn told(error: GateError) -> InstallError {
    InstallError::Git(error.to_string())
}
