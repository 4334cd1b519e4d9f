//! What lies where git looks for a hook, and what git would do with it. Reads, never runs.

use crate::commands::install::{Baked, Hook, baked, framework, is_ours};
use crate::env::Env;
use crate::transport::process::find_on_path;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What git would do with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is there: git goes on without a word.
    Missing,
    /// A link to nothing: git goes on without a word.
    Dangling(PathBuf),
    /// A folder, a socket: git fails, and `git push` hangs.
    NotAFile,
    /// git passes over it with a hint.
    NotExecutable(Kind),
    /// The first line names a program that is not there: git fails, and `git push` hangs.
    NoInterpreter(String),
    /// The first line ends with a carriage return, which belongs to the program's name then.
    CarriageReturn,
    /// git runs it.
    Runs(Kind),
}

/// Whose hook it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// The gate's own script.
    Ours(Baked),
    /// pre-commit or prek, with the gate's own script beneath, where it is.
    Framework {
        /// `pre-commit` or `prek`.
        name: &'static str,
        /// Ours, which it runs first.
        beneath: Option<Baked>,
    },
    /// lefthook.
    Lefthook,
    /// husky.
    Husky,
    /// Another tool's, by its name.
    Tool(&'static str),
    /// Someone's own script or program.
    Foreign {
        /// In a few words.
        what: String,
        /// Its text names the gate.
        names_gate: bool,
    },
    /// No file; hooks that stand in the configuration.
    Configured,
}

impl Kind {
    /// Says whose it is, in a few words.
    pub(super) fn name(&self) -> String {
        match self {
            Kind::Ours(baked) => format!("the gate's own, which runs {}", baked.gate.display()),
            Kind::Framework { name, beneath: Some(_) } => format!("{name}'s, with the gate's own beneath it"),
            Kind::Framework { name, beneath: None } => format!("{name}'s"),
            Kind::Lefthook => "lefthook's".to_owned(),
            Kind::Husky => "husky's".to_owned(),
            Kind::Tool(name) => format!("{name}'s"),
            Kind::Foreign { what, .. } => what.clone(),
            Kind::Configured => "hooks of git's configuration".to_owned(),
        }
    }

    /// Returns the gate's own script, where this is it or runs it first.
    pub(super) fn ours(&self) -> Option<&Baked> {
        match self {
            Kind::Ours(baked) => Some(baked),
            Kind::Framework { beneath, .. } => beneath.as_ref(),
            Kind::Lefthook | Kind::Husky | Kind::Tool(_) | Kind::Foreign { .. } | Kind::Configured => None,
        }
    }
}

/// Tools that are told by a word of their hook, in this order.
const TOOLS: &[(&[u8], &str)] =
    &[(b"git lfs ", "git-lfs"), (b"git-lfs", "git-lfs"), (b"ggshield", "ggshield"), (b"hk run", "hk"), (b"overcommit", "overcommit")];

/// Looks at a hook file as git would.
pub(super) fn inspect(path: &Path, hook: Hook, env: &Env) -> State {
    let Ok(own) = fs::symlink_metadata(path) else { return State::Missing };
    let Ok(meta) = fs::metadata(path) else { return State::Dangling(fs::read_link(path).unwrap_or_default()) };
    if !meta.is_file() {
        return State::NotAFile;
    }
    let content = fs::read(path).unwrap_or_default();
    let kind = kind(path, hook, &content, own.is_symlink());
    if meta.permissions().mode() & 0o111 == 0 {
        return State::NotExecutable(kind);
    }
    match interpreter(&content, env) {
        Interpreter::Fine => State::Runs(kind),
        Interpreter::CarriageReturn => State::CarriageReturn,
        Interpreter::Missing(name) => State::NoInterpreter(name),
    }
}

fn kind(path: &Path, hook: Hook, content: &[u8], link: bool) -> Kind {
    let holds = |word: &[u8]| content.windows(word.len()).any(|part| part == word);
    if let Some(baked) = baked(content) {
        return Kind::Ours(baked);
    }
    if let Some(name) = framework(content) {
        let beneath = path.with_file_name(format!("{}.legacy", hook.name()));
        let runs = fs::metadata(&beneath).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
        let beneath = fs::read(beneath).ok().filter(|_| runs).as_deref().and_then(baked);
        return Kind::Framework { name, beneath };
    }
    if holds(b"call_lefthook") {
        return Kind::Lefthook;
    }
    if path.parent().is_some_and(|dir| dir.ends_with("_") && dir.join("h").is_file()) {
        return Kind::Husky;
    }
    if let Some((_, tool)) = TOOLS.iter().find(|(word, _)| holds(word))
        && !holds(b"review-gate")
    {
        return Kind::Tool(tool);
    }
    let what = match (link, fs::read_link(path)) {
        (true, Ok(target)) => format!("a link to {}", target.display()),
        (true | false, _) if content.starts_with(b"#!") => format!("a script ({})", String::from_utf8_lossy(first_line(content))),
        (true | false, _) if content.contains(&0) => "a program".to_owned(),
        (true | false, _) => "a script without a first line that says what runs it".to_owned(),
    };
    Kind::Foreign { what, names_gate: holds(b"review-gate") }
}

enum Interpreter {
    Fine,
    CarriageReturn,
    Missing(String),
}

fn interpreter(content: &[u8], env: &Env) -> Interpreter {
    let Some(rest) = first_line(content).strip_prefix(b"#!") else { return Interpreter::Fine };
    if rest.ends_with(b"\r") {
        return Interpreter::CarriageReturn;
    }
    let text = String::from_utf8_lossy(rest).into_owned();
    let mut words = text.split_whitespace();
    let Some(program) = words.next() else { return Interpreter::Fine };
    if !runs(Path::new(program)) {
        return Interpreter::Missing(program.to_owned());
    }
    if !program.ends_with("/env") {
        return Interpreter::Fine;
    }
    match words.find(|word| !word.starts_with('-') && !word.contains('=')) {
        Some(name) if name.contains('/') && !runs(Path::new(name)) => Interpreter::Missing(name.to_owned()),
        Some(name) if !name.contains('/') && find_on_path(name, env).is_none() => Interpreter::Missing(format!("{name} (looked for on the PATH)")),
        Some(_) | None => Interpreter::Fine,
    }
}

fn first_line(content: &[u8]) -> &[u8] {
    content.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

fn runs(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Tells whether a file is the gate's own script.
pub(super) fn is_gate_script(path: &Path) -> bool {
    fs::read(path).is_ok_and(|content| is_ours(&content))
}

/// Tells whether a file's text names the gate.
pub(super) fn names_gate(path: &Path) -> bool {
    fs::read(path).is_ok_and(|content| content.windows(11).any(|part| part == b"review-gate"))
}
