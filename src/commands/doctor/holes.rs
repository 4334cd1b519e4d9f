//! Every way in which a push from here is not gated, each with its remedy in one line.
//!
//! What can be told by looking is a finding; what only might explain a missing proof is a suspect, shown where the proof is missing.

use super::ask::Effective;
use super::hookfile::{Kind, State, inspect, is_gate_script, names_gate};
use super::manager;
use super::prove::Proof;
use super::{is_set, shown};
use crate::commands::asked::HooksPath;
use crate::commands::install::{Baked, Hook, Manager, is_current, is_ours};
use crate::env::Env;
use crate::git::Repo;
use crate::transport::process::repository_variables;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// How much it weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// A push can get through, or none can.
    Hole,
    /// Good to know.
    Note,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// How much it weighs.
    pub weight: Weight,
    /// What it is.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// Makes one that a push can get through by, or that lets none through.
    pub(super) fn hole(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { weight: Weight::Hole, what: what.into(), remedy: remedy.into() }
    }

    /// Makes one that is good to know.
    pub(super) fn note(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { weight: Weight::Note, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.weight {
            Weight::Hole => "HOLE",
            Weight::Note => "note",
        };
        write!(f, "  {word}  {}\n        remedy: {}", self.what, self.remedy)
    }
}

/// What looking brought.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Whose hook git runs; `None` where it runs none.
    pub kind: Option<Kind>,
    /// Running it can end.
    pub may_run: bool,
    /// What is there.
    pub facts: Vec<String>,
    /// What is wrong, for certain.
    pub findings: Vec<Finding>,
    /// What would explain that a push was not refused.
    pub suspects: Vec<Finding>,
}

const INSTALL: &str = "run `review-gate install`";

/// Looks at all that needs no run.
pub(super) fn look(effective: &Effective, repo: &Repo, env: &Env) -> Look {
    let mut look = Look { may_run: true, ..Look::default() };
    let path = effective.push_hook();
    let at = effective.hooks_path.as_ref().map_or_else(String::new, |set| format!(" ({})", whence(set)));
    if repo.work_dir().is_none() {
        look.facts.push(format!("a bare repository: hooks are in {}", effective.hooks_dir.display()));
    }
    let state = inspect(&path, Hook::PrePush, env);
    if let State::Runs(kind) = &state {
        look.facts.push(format!("{}: {}{at}", path.display(), kind.name()));
        baked(kind.ours(), &path, Hook::PrePush, &mut look);
        kept(kind.ours(), &path, env, &mut look);
        suspect(kind, effective, repo.work_dir(), &mut look);
        look.kind = Some(kind.clone());
    } else {
        // What git passes over is no hole where the gate stands in its configuration.
        if state != State::Missing || !effective.gate_is_configured() {
            look.findings.push(unusable(&state, effective));
        }
        look.may_run = match state {
            State::Missing | State::Dangling(_) | State::NotExecutable(_) | State::Runs(_) => true,
            // git fails on these, and `git push` then waits for ever.
            State::NotAFile | State::NoInterpreter(_) | State::CarriageReturn => false,
        };
    }
    configured(effective, &mut look);
    commit_hooks(effective, env, &mut look);
    worktrees(effective, repo, env, &mut look);
    aliases(effective, &mut look);
    variables(env, &mut look);
    look
}

/// Says where `core.hooksPath` is set.
fn whence(set: &HooksPath) -> String {
    format!("core.hooksPath = {}, {}, {}", set.value.display(), set.scope, set.origin)
}

/// Names a hook file that git does not run.
fn unusable(state: &State, effective: &Effective) -> Finding {
    let path = effective.push_hook();
    let file = path.display();
    match state {
        State::Dangling(target) => Finding::hole(
            format!("{file} is a link to {}, which is not there: git passes over it without a word", target.display()),
            format!("remove it, then {INSTALL}"),
        ),
        State::NotAFile => Finding::hole(format!("{file} is no file: `git push` fails on it or hangs"), format!("remove it, then {INSTALL}")),
        State::NotExecutable(kind) => Finding::hole(
            format!("{file} is not executable, so git passes over it ({})", kind.name()),
            if kind.ours().is_some() { INSTALL.to_owned() } else { format!("`chmod +x {file}`, then {INSTALL}") },
        ),
        State::NoInterpreter(name) => Finding::hole(
            format!("the interpreter of {file} is not there: {name}; `git push` hangs on it"),
            format!("install it or correct the first line of {file}"),
        ),
        State::CarriageReturn => Finding::hole(
            format!("the first line of {file} ends with a carriage return (CRLF), so its interpreter is not found; `git push` hangs on it"),
            format!("write {file} with plain line ends (LF)"),
        ),
        State::Missing | State::Runs(_) => missing(effective),
    }
}

/// Names why nothing lies where git looks.
fn missing(effective: &Effective) -> Finding {
    let Some(set) = &effective.hooks_path else {
        return Finding::hole(format!("no pre-push hook is installed in {}", effective.hooks_dir.display()), INSTALL);
    };
    let own = effective.own_dir.join(Hook::PrePush.name());
    let dead = if is_gate_script(&own) { format!("; the gate's hook at {} is never run", own.display()) } else { String::new() };
    let husky = effective.hooks_dir.ends_with(".husky/_");
    if husky && !effective.hooks_dir.is_dir() {
        return Finding::hole(
            format!("{} is not there, so git runs no hook at all in this worktree ({}){dead}", effective.hooks_dir.display(), whence(set)),
            "run husky's own installer here (`npx husky`, or the package manager's install)",
        );
    }
    Finding::hole(
        format!("git takes hooks from {} ({}), where there is no pre-push{dead}", effective.hooks_dir.display(), whence(set)),
        format!("unset core.hooksPath ({} scope) and {INSTALL}, or install into that folder (--global where other repositories share it)", set.scope),
    )
}

/// Looks at the program that one of our scripts runs.
fn baked(ours: Option<&Baked>, path: &Path, hook: Hook, look: &mut Look) {
    let Some(baked) = ours else { return };
    if let Some(chained) = &baked.chained {
        look.facts.push(format!("{} runs first", path.with_file_name(chained).display()));
    }
    let runs = std::fs::metadata(&baked.gate).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    let here = std::env::current_exe().ok().and_then(|here| here.canonicalize().ok());
    if !std::fs::read(path).is_ok_and(|script| !is_ours(&script) || is_current(&script, hook)) {
        let what = format!("{} is not what this version of the gate writes", path.display());
        look.findings.push(Finding::note(what, INSTALL));
    }
    if !runs {
        look.findings.push(Finding::hole(
            format!("the hook runs {}, which is not there or cannot be run: every push is refused", baked.gate.display()),
            format!("install review-gate again and {INSTALL}"),
        ));
    } else if baked.gate.canonicalize().ok() != here {
        let what = format!("the hook runs {}, not the program that says this", baked.gate.display());
        look.findings.push(Finding::note(what, format!("if that is not meant, {INSTALL}")));
    }
}

/// Looks at the hook that ours runs first: where it cannot be run, ours refuses every push.
fn kept(ours: Option<&Baked>, path: &Path, env: &Env, look: &mut Look) {
    let Some(chained) = ours.and_then(|baked| baked.chained.as_ref()) else { return };
    let kept = path.with_file_name(chained);
    match inspect(&kept, Hook::PrePush, env) {
        State::Runs(_) => {}
        State::Missing | State::Dangling(_) | State::NotAFile | State::NotExecutable(_) | State::NoInterpreter(_) | State::CarriageReturn => {
            look.findings.push(Finding::hole(
                format!("{}, which the gate's hook runs first, cannot be run: every push is refused", kept.display()),
                format!("restore it with its permissions, its interpreter and plain line ends (LF), or {INSTALL} to go on without it"),
            ));
        }
    }
}

/// Characters that a shell does not take for themselves. lefthook hands a URL to one unquoted.
const OF_SHELLS: &[char] = &['&', ';', '|', ' ', '\t', '\n', '$', '(', ')', '<', '>', '\'', '"', '\\', '`', '*', '?', '[', '#'];

fn urls(effective: &Effective, look: &mut Look) {
    for (key, url) in effective.urls.iter().filter(|(_, url)| url.contains(OF_SHELLS)) {
        look.findings.push(Finding::hole(
            format!("{key} is {url}: lefthook hands it to a shell, which does not take all of its characters for themselves"),
            format!("give the remote an address without them, or {INSTALL} and leave pre-push out of lefthook"),
        ));
    }
}

/// Collects what the hook's own text says about a gate behind it.
fn suspect(kind: &Kind, effective: &Effective, work_dir: Option<&Path>, look: &mut Look) {
    let path = effective.push_hook();
    let file = path.display();
    let old = path.with_file_name("pre-push.old");
    let stanza = |file: &str| format!("add the gate's lines to {file} (README, \"With a hook manager\"), or {INSTALL}");
    match kind {
        // What a script that names the gate does with it, only a run tells.
        Kind::Ours(_) | Kind::Framework { beneath: Some(_), .. } | Kind::Foreign { names_gate: true, .. } | Kind::Configured => {}
        Kind::Framework { name, beneath: None } => {
            let named = work_dir.is_some_and(manager::framework_names_gate);
            let what = if named {
                format!("{file} is {name}'s alone: it shows the gate only the first ref of a push")
            } else {
                format!("{file} was replaced: it is {name}'s, and its configuration does not name the gate")
            };
            look.suspects.push(Finding::hole(what, format!("{INSTALL}: the gate's own hook goes beneath {name}'s and sees every ref")));
        }
        Kind::Lefthook => {
            if is_gate_script(&old) {
                look.suspects.push(Finding::hole(
                    format!("{file} was replaced: lefthook moved the gate's hook to {}, where nothing runs it", old.display()),
                    stanza("lefthook.yml"),
                ));
            }
            urls(effective, look);
            let files = work_dir.map(manager::lefthook).unwrap_or_default();
            for name in files.without_stdin {
                let what = format!("{name} calls the gate without `use_stdin: true`: lefthook drops what git writes, so no ref is seen");
                look.suspects.push(Finding::hole(what, format!("add `use_stdin: true` to that command or script in {name}")));
            }
            for name in files.as_command {
                look.findings.push(Finding::hole(
                    format!("{name} runs the gate as one of lefthook's commands: it is passed over where the branch that is checked out has nothing to push"),
                    format!("make it a script:\n{}", Manager::Lefthook.stanza(Hook::PrePush).trim_end()),
                ));
            }
            for (name, words) in files.unseen {
                look.findings.push(Finding::hole(
                    format!(
                        "{name} uses {}: by these lefthook leaves jobs out or reads other files, and the proof cannot see them",
                        words.join(", ")
                    ),
                    format!("take them out of {name}, or {INSTALL} and leave pre-push out of lefthook"),
                ));
            }
        }
        Kind::Husky => {
            let user = effective.hooks_dir.with_file_name("pre-push");
            if !names_gate(&user) {
                let what = format!("{file} is husky's, and {} does not call the gate", user.display());
                look.suspects.push(Finding::hole(what, stanza(".husky/pre-push")));
            }
        }
        Kind::Tool(name) => look.suspects.push(Finding::hole(format!("{file} was replaced: it is {name}'s and does not call the gate"), INSTALL)),
        Kind::Foreign { what, names_gate: false } => {
            look.suspects
                .push(Finding::hole(format!("{file} was replaced, or never was the gate's: it is {what} and does not name the gate"), INSTALL));
        }
    }
}

/// Looks at hooks that stand in git's configuration.
fn configured(effective: &Effective, look: &mut Look) {
    let off = effective.configured.iter().any(|hook| hook.name == "pre-push" && hook.disabled);
    if off {
        // An older git passes over it, until it is no longer the older one.
        let weight = if effective.runs_config_hooks() { Weight::Hole } else { Weight::Note };
        let what = "hook.pre-push.enabled is false: from 2.55 on git runs no pre-push hook at all".to_owned();
        let remedy = "`git config --show-origin --get hook.pre-push.enabled` tells where it is set; unset it there".to_owned();
        look.findings.push(Finding { weight, what, remedy });
    }
    for hook in effective.configured.iter().filter(|hook| hook.at_push()) {
        let (name, gate) = (&hook.name, hook.is_gate());
        if hook.disabled && gate {
            look.findings.push(Finding::hole(
                format!("the gate stands in git's configuration as hook.{name} and is switched off (hook.{name}.enabled is false)"),
                format!("`git config --show-origin --get hook.{name}.enabled` tells where; unset it there"),
            ));
        } else if !effective.runs_config_hooks() && gate {
            let what = format!("the gate stands in git's configuration as hook.{name}, which git {} does not run (2.54 does)", effective.version);
            look.findings.push(Finding::hole(what, "run `review-gate install --mode file`"));
        } else if !hook.disabled && effective.runs_config_hooks() {
            look.facts.push(format!("hook.{name} of git's configuration: {}", hook.command.as_deref().unwrap_or("no command")));
            if gate {
                look.kind.get_or_insert(Kind::Configured);
            }
        }
    }
}

/// The gate's other hooks, where one was installed and git passes over it.
fn commit_hooks(effective: &Effective, env: &Env, look: &mut Look) {
    for hook in [Hook::PreCommit, Hook::PreMergeCommit] {
        let path = effective.hooks_dir.join(hook.name());
        if !is_gate_script(&path) {
            continue;
        }
        match inspect(&path, hook, env) {
            State::Runs(kind) => baked(kind.ours(), &path, hook, look),
            State::NotExecutable(_) => {
                look.findings.push(Finding::hole(format!("{} is not executable, so git passes over it", path.display()), INSTALL));
            }
            State::Missing | State::Dangling(_) | State::NotAFile | State::NoInterpreter(_) | State::CarriageReturn => {}
        }
    }
}

/// A relative `core.hooksPath` is looked for in each worktree anew; one that has no such folder runs no hook.
fn worktrees(effective: &Effective, repo: &Repo, env: &Env, look: &mut Look) {
    let Some(set) = effective.hooks_path.as_ref().filter(|set| set.value.is_relative()) else { return };
    let here = repo.work_dir().and_then(|path| path.canonicalize().ok());
    for worktree in effective.worktrees.iter().filter(|path| path.canonicalize().ok() != here) {
        let path = worktree.join(&set.value).join("pre-push");
        if let State::Runs(_) = inspect(&path, Hook::PrePush, env) {
            continue;
        }
        let remedy = if effective.hooks_dir.ends_with(".husky/_") {
            "run husky's own installer in that worktree, or".to_owned()
        } else {
            "check that folder out there, or".to_owned()
        };
        look.findings.push(Finding::hole(
            format!("the worktree {} has no hooks: {} is not there ({})", worktree.display(), path.display(), whence(set)),
            format!("{remedy} set core.hooksPath to an absolute path"),
        ));
    }
}

fn aliases(effective: &Effective, look: &mut Look) {
    for (name, text) in &effective.aliases {
        let skips = text.contains("push") && ["--no-verify", "core.hooksPath", "send-pack"].iter().any(|word| text.contains(word));
        if skips {
            look.findings.push(Finding::note(
                format!("{name} pushes past every hook: {text}"),
                format!("`git config --show-origin --get {name}` tells where; remove it"),
            ));
        } else if name == "alias.push" {
            look.findings.push(Finding::note(format!("alias.push is set ({text}); git does not use it"), "remove it, so that nobody relies on it"));
        }
    }
}

/// Switches of managers that have them run nothing, with the value that does.
const SWITCHES: &[(&str, Option<&str>)] = &[
    ("HUSKY", Some("0")),
    ("LEFTHOOK", Some("0")),
    ("LEFTHOOK_EXCLUDE", None),
    ("SKIP", None),
    ("PREK_SKIP", None),
    ("PRE_COMMIT_ALLOW_NO_CONFIG", None),
];

fn variables(env: &Env, look: &mut Look) {
    let names = repository_variables(env);
    if !names.is_empty() {
        let what = format!("{} in this environment: git, and this report, act on what they name", set(&names));
        look.findings.push(Finding::note(what, "unset them and run `review-gate doctor` again"));
    }
    let switches: Vec<String> = SWITCHES.iter().filter(|(name, value)| is_set(env, name, *value)).map(|(name, _)| (*name).to_owned()).collect();
    if !switches.is_empty() {
        look.findings
            .push(Finding::note(format!("{} in this environment: a hook manager may run nothing because of it", set(&switches)), "unset it"));
    }
}

fn set(names: &[String]) -> String {
    format!("{} {} set", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

/// Says what a run will start, before it does.
pub(super) fn running(effective: &Effective, kind: &Kind) -> String {
    let what = match kind {
        Kind::Configured => "the hooks of git's configuration".to_owned(),
        Kind::Ours(_) | Kind::Framework { .. } | Kind::Lefthook | Kind::Husky | Kind::Tool(_) | Kind::Foreign { .. } => shown(&effective.push_hook()),
    };
    format!(
        "{what} and whatever it calls, at pushes between two throw-away repositories, with a scripted reviewer on the loopback interface (--no-run skips this)"
    )
}

/// Names what a run without a proof has shown.
pub(super) fn of_proof(proof: &Proof, kind: Option<&Kind>, effective: &Effective, work_dir: Option<&Path>) -> Vec<Finding> {
    let file = effective.push_hook();
    let file = file.display();
    let said = proof.said();
    let manager = work_dir.into_iter().flat_map(Manager::of).next();
    match proof {
        Proof::Blocks { .. } => Vec::new(),
        Proof::Gap { what, .. } => vec![Finding::hole(
            format!("{file}: {what}"),
            format!("end it with `exec review-gate hook pre-push --from-git -- \"$@\"`, whose status is 0 only for what may go, or {INSTALL}"),
        )],
        Proof::SomeRefs => {
            vec![Finding::hole(
                "not every ref of a push is gated: a bad one between clean ones went through",
                format!("{INSTALL}: the gate's own hook sees every ref"),
            )]
        }
        Proof::LetThrough { said } if said.contains("Can't find lefthook") => {
            vec![Finding::hole(
                "lefthook is not found, and its hook lets everything through then",
                format!("install lefthook where its hook looks for it, or {INSTALL}"),
            )]
        }
        Proof::LetThrough { .. } if matches!(kind, Some(Kind::Foreign { names_gate: true, .. })) => vec![Finding::hole(
            format!("{file} names the gate, but does not hand it git's lines or does not return its status: a bad change went through"),
            format!("end it with `exec review-gate hook pre-push --from-git -- \"$@\"`, or remove that line and {INSTALL}"),
        )],
        Proof::LetThrough { .. } => vec![Finding::hole(format!("{file} let a bad change through"), format!("see what follows; else {INSTALL}"))],
        Proof::Unasked { .. } | Proof::CleanRefused { .. } if said.contains("no ref list on stdin") => {
            let stanza = manager.map(|manager| manager.stanza(Hook::PrePush)).filter(|stanza| !stanza.is_empty());
            let remedy = stanza.map_or_else(
                || "hand git's lines on: `review-gate hook pre-push --from-git -- \"$@\"` before anything that reads stdin".to_owned(),
                |stanza| format!("have it handed on:\n{}", stanza.trim_end()),
            );
            vec![Finding::hole(format!("{file} drops stdin: the gate behind it sees no ref and refuses every push"), remedy)]
        }
        Proof::Unasked { .. } => {
            vec![Finding::hole(format!("{file} refuses, but not because of the gate: no reviewer was asked"), "see what it said above")]
        }
        Proof::CleanRefused { .. } => vec![Finding::hole(
            format!("{file} refuses a clean change too, so that nothing can be told about the gate behind it"),
            "see what it said above; a manager's other hooks can be left out for this (`SKIP=…`, `LEFTHOOK_EXCLUDE=…`)",
        )],
        Proof::TooLong { .. } => {
            vec![Finding::hole(format!("{file} did not end in time"), "give it more with --deadline, or find out what it waits for")]
        }
    }
}
