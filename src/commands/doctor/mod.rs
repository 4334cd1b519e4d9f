//! `doctor`: whether a push from here is really blocked, and if not, by which hole it gets through, each with its remedy.
//!
//! `ask.rs` asks git what it would run, `hookfile.rs` looks at the file, `holes.rs` names what is wrong, `prove.rs` runs the effective hook in a throw-away
//! repository against a scripted reviewer. Only a run proves anything: without one the verb ends with 2.

mod ask;
mod holes;
mod hookfile;
mod manager;
mod policy;
mod prove;
mod stage;

use super::Context;
use super::eligible::who_may_answer;
use super::interrupt::Interrupt;
use crate::cli::DoctorArgs;
use crate::env::Env;
use crate::error::GateError;
use crate::exit::Told;
use crate::git::Repo;
use crate::report::text::clean;
use crate::transport::process;
use ask::Effective;
use holes::{Finding, Look, Weight};
use hookfile::Kind;
use prove::Proof;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often is looked for a signal.
const LOOK: Duration = Duration::from_millis(50);

/// Looks, runs, and says what was found.
///
/// # Errors
/// Status 2 unless a bad push was seen to be refused by the gate and no hole was found.
pub(super) fn run(context: &Context, args: &DoctorArgs) -> Result<Told, GateError> {
    context.not_nested()?;
    let repo = context.repo()?;
    let effective = Effective::ask(context, &repo)?;
    let mut look = holes::look(&effective, &repo, &context.env);
    head(context, &repo, &effective, &look);
    look.findings.extend(reviewers(context));
    look.findings.extend(policy::look(&repo));
    let proof = match &look.kind {
        Some(kind) if !args.no_run && look.may_run => {
            tell(context, &format!("  running    {}", holes::running(&effective, kind)));
            Some(watched(|| prove::prove(&effective, &repo, &context.env, kind, Duration::from_secs(args.deadline)))?)
        }
        Some(_) | None => None,
    };
    let proven = judge(context, &effective, &repo, &mut look, proof, args.no_run);
    for finding in &look.findings {
        tell(context, &finding.to_string());
    }
    let holes = look.findings.iter().filter(|finding| finding.weight == Weight::Hole).count();
    match (proven, holes) {
        (true, 0) => {
            tell(context, &format!("\n{}", claim(look.kind.as_ref())));
            Ok(Told)
        }
        (true, holes) => Err(GateError::usage(format!("this push is refused, but {} named above {}", count(holes), stand(holes)))),
        (false, 0) => Err(GateError::usage("not proven: no hook was seen to refuse a push")),
        (false, holes) => Err(GateError::usage(format!("not proven: no hook was seen to refuse a push; {} named above", count(holes)))),
    }
}

/// Does the work that runs hooks. A signal ends what it has started, and with it the work; what was made for it is taken away as ever.
fn watched<T>(work: impl FnOnce() -> Result<T, GateError>) -> Result<T, GateError> {
    let interrupt = Interrupt::install(None);
    let (done, over) = mpsc::channel::<()>();
    let result = thread::scope(|scope| {
        let interrupt = &interrupt;
        scope.spawn(move || {
            while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if interrupt.code().is_some() {
                    process::kill_running();
                }
            }
        });
        // Dropped at the end, also of a panic: the other thread ends then.
        let _done = done;
        work()
    });
    match interrupt.code() {
        Some(code) => Err(GateError::new(code, anyhow::anyhow!("interrupted, so nothing is proven"))),
        None => result,
    }
}

/// Says what is proven: of our own script, whose text is known, more than of a hook of which nothing is known but what it did.
fn claim(kind: Option<&Kind>) -> &'static str {
    match kind {
        Some(Kind::Ours(_)) => "PROVEN: a bad push is refused",
        Some(Kind::Framework { .. } | Kind::Lefthook | Kind::Husky | Kind::Tool(_) | Kind::Foreign { .. } | Kind::Configured) | None => {
            "PROVEN for what was tried: bad branches, a bad update, a bad tag, a deletion, and no reviewer to ask; what else this hook does is not known"
        }
    }
}

fn count(holes: usize) -> String {
    if holes == 1 { "1 hole is".to_owned() } else { format!("{holes} holes are") }
}

fn stand(holes: usize) -> &'static str {
    if holes == 1 { "and stands open" } else { "and stand open" }
}

fn head(context: &Context, repo: &Repo, effective: &Effective, look: &Look) {
    let at = repo.work_dir().unwrap_or(repo.git_dir());
    tell(context, &format!("review-gate doctor · {}", at.display()));
    tell(context, &format!("  git        {}", effective.version));
    for line in &look.facts {
        tell(context, &format!("  hook       {line}"));
    }
}

fn tell(context: &Context, line: &str) {
    let safe: String = line.lines().map(|line| clean(line) + "\n").collect();
    context.printer.result(if line.starts_with('\n') { format!("\n{}", safe.trim_start()) } else { safe }.as_bytes());
}

/// Says who could be asked. Whether they answer is not tried.
fn reviewers(context: &Context) -> Option<Finding> {
    let hole = |what: String, remedy: String| Some(Finding { weight: Weight::Hole, what, remedy });
    let user = match context.user() {
        Ok(user) => user,
        Err(error) => return hole(format!("the configuration cannot be used, so every push is refused: {error}"), "correct that file".to_owned()),
    };
    match who_may_answer(&user, &context.env) {
        Ok(names) => {
            tell(context, &format!("  reviewers  eligible for a change made here: {} (not asked)", names.join(", ")));
            None
        }
        Err(nobody) => hole(format!("{}, so every push is refused", nobody.why), nobody.remedy.to_owned()),
    }
}

/// Turns what the run showed into lines and holes; true where a bad push was refused by the gate.
fn judge(context: &Context, effective: &Effective, repo: &Repo, look: &mut Look, proof: Option<Proof>, no_run: bool) -> bool {
    let Some(proof) = proof else {
        if no_run {
            look.findings.push(Finding::note("nothing was run (--no-run)", "run `review-gate doctor` without it for a proof"));
            look.findings.append(&mut look.suspects);
        }
        return false;
    };
    for line in proof.seen() {
        tell(context, &format!("  {line}"));
    }
    let proven = proof.proves();
    if !proven {
        // What explains it comes before what was seen.
        look.findings.append(&mut look.suspects);
        look.findings.extend(holes::of_proof(&proof, look.kind.as_ref(), effective, repo.work_dir()));
    }
    proven
}

/// Finds a variable that is set here and weakens what other tools run; the gate itself obeys none of them.
fn is_set(env: &Env, name: &str, value: Option<&str>) -> bool {
    env.text(name).is_some_and(|found| value.is_none_or(|value| found == value))
}

/// Shows a path as people write it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
