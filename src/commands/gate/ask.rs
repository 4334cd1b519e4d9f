//! Asking: the reviewers, the words that are put to them, the passes side by side, and the refuter.

use super::fit::{self, MAX_PARTS};
use super::{Case, Context, Interrupt, Run, case};
use crate::author::Author;
use crate::change::slice::{self, Slice};
use crate::clock::{self, Deadline, Limit};
use crate::config::User;
use crate::error::GateError;
use crate::finding::Status;
use crate::finding::merge::{self, Placed, Refuted};
use crate::outcome::{Event, PassOutcome, PassResult, Then};
use crate::plan::{Link, PassName, PassPlan, Plan};
use crate::prompts::{self, Mark, Pass, Skills};
use crate::provider;
use crate::random;
use crate::redact::Redactor;
use crate::report::printer::Printer;
use crate::report::progress::{Board, Progress};
use crate::report::text::clean;
use crate::review::{self, Batch, Interrupted, Pool, Script, Session};
use crate::reviewer::{Class, Provider, Spec};
use crate::transport::process::{self, Caps, Child, Ended, Environment, Stderr, find_on_path};
use crate::verdict::{self, Ground, Reason};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Text of one slice, in bytes. Small enough to pack well, large enough to keep a file in one piece.
const SLICE: usize = 24 << 10;
/// What system text, brief and fences take of a window, in bytes.
const OVERHEAD: usize = 16 << 10;
/// The least that is sent in one call, in bytes of change, whatever a window leaves.
const LEAST: usize = 1 << 10;
/// Subjects that are asked about at the same time.
const SUBJECTS: usize = 8;
/// The longest that a command which prints a key may take.
const KEY_COMMAND: Duration = Duration::from_secs(10);

/// The words about one subject: what all passes share, in parts, and what makes the rest.
pub(super) struct Briefing {
    /// The parts of the change.
    pub batches: Vec<Batch>,
    /// The questions.
    pub script: Script,
}

/// Those who are asked, and what every question shares. A part of the run that worker threads may hold.
struct Panel<'a> {
    pool: Pool,
    specs: &'a [Spec],
    redactor: &'a Redactor,
    author: &'a Author,
    deadline: Deadline,
    printer: Printer,
    interrupt: &'a Interrupt,
}

/// Whether the reviewers' keys are fetched. Where nothing is pushed nobody is asked, and a command that prints a key may ask its owner for a password.
#[derive(Clone, Copy)]
pub(super) enum Keys {
    /// They are, within the deadline.
    Needed(Deadline),
    /// They are not.
    Idle,
}

/// Resolves the configured reviewers: those that can be asked, in order, and why the others cannot.
pub(super) fn specs(context: &Context, user: &User, only: &[String], keys: Keys) -> Result<(Vec<Spec>, Vec<String>), GateError> {
    let mut unusable = Vec::new();
    let mut entries: Vec<_> = user.reviewers.iter().collect();
    if !only.is_empty() {
        let find = |name: &String| user.reviewers.iter().find(|entry| entry.spec.name == *name);
        let names = || user.reviewers.iter().map(|entry| entry.spec.name.as_str()).collect::<Vec<_>>().join(", ");
        entries = only
            .iter()
            .map(|name| {
                find(name).ok_or_else(|| GateError::usage(format!("--reviewer {name}: not configured")).hinted(format!("configured: {}", names())))
            })
            .collect::<Result<_, _>>()?;
    }
    let mut specs = Vec::new();
    for entry in entries {
        let spec = &entry.spec;
        if !entry.enabled {
            unusable.push(format!("{} is not enabled", spec.name));
        } else if spec.provider == Provider::Cli {
            unusable.push(format!("{} is a command-line reviewer, which this version does not ask yet", spec.name));
        } else {
            specs.push(match keys {
                Keys::Needed(deadline) => entry.with_key(entry.key.fetch(&context.env, &|argv| key_command(context, argv, deadline))),
                Keys::Idle => entry.spec.clone(),
            });
        }
    }
    Ok((specs, unusable))
}

/// Runs the user's command that prints a key.
fn key_command(context: &Context, argv: &[String], deadline: Deadline) -> Result<Vec<u8>, String> {
    let (name, args) = argv.split_first().ok_or("names no program")?;
    let child = Child {
        program: find_on_path(name, &context.env).ok_or_else(|| format!("names {name}, which is not on the PATH"))?,
        args: args.iter().map(Into::into).collect(),
        env: Environment::outside_repository(&context.env),
        cwd: std::env::temp_dir(),
        stdin: Vec::new(),
        stderr: Stderr::Captured,
    };
    let output = process::run(child, deadline.within(KEY_COMMAND, Limit::Reviewer), Caps { stdout: 64 << 10, stderr: 64 << 10 })
        .map_err(|error| error.to_string())?;
    match output.ended {
        Ended::Exited(0) => Ok(output.stdout),
        Ended::Exited(status) => Err(format!("ended with status {status}")),
        Ended::Signalled(signal) => Err(format!("was ended by signal {signal}")),
    }
}

/// Puts the words together. All that is sent goes through the redactor here; the rest of the program cannot make an [`crate::redact::Outbound`].
///
/// # Errors
/// A reason to refuse where the change does not fit into as many parts as one pass may have.
pub(super) fn briefing(case: &Case, room: Room, redactor: &Redactor) -> Result<Briefing, Reason> {
    let redactor = redactor.clone();
    let fence = Mark::new(random::bits128());
    let change = crate::change::Change { files: case.coverage.sent().to_vec(), already_published: Vec::new() };
    // Looked at before anything is cut: tens of megabytes must not cost the time that the deadline leaves.
    let least = slice::size(&change).div_ceil(room.call);
    if least > MAX_PARTS {
        return Err(fit::too_many_parts(&change, least));
    }
    let slices = slice::cut(&change, SLICE.min(room.call));
    if let Some(reason) = fit::too_long_a_line(&change, &slices, room.most).or_else(|| in_no_slice(case, &slices)) {
        return Err(reason);
    }
    let parts = pack(slices, room.call);
    if parts.len() > MAX_PARTS {
        return Err(fit::too_many_parts(&change, parts.len()));
    }
    let batches = parts
        .into_iter()
        .map(|slices| Batch {
            shared: redactor.seal(&prompts::shared(Skills::Notes, &[], &slices, &fence)),
            slices: slices.iter().map(|slice| slice.id.clone()).collect(),
            files: slices.iter().flat_map(|slice| slice.files.iter().cloned()).collect(),
        })
        .collect();
    let (tier, floors) = (case.sizing.name, case.sizing.floors.clone());
    let refuting = redactor.clone();
    let system = redactor.seal(prompts::SYSTEM);
    let script = Script {
        system,
        schema: prompts::REPLY_SCHEMA,
        brief: Box::new(move |name, slices, nonce| {
            let names: Vec<&str> = slices.iter().map(String::as_str).collect();
            redactor.seal(&prompts::brief(question(name), tier, &floors, &names, nonce))
        }),
        refuter_schema: prompts::REFUTER_SCHEMA,
        refuter: Box::new(move |finding, slices, nonce| {
            let names: Vec<&str> = slices.iter().map(String::as_str).collect();
            refuting.seal(&prompts::refuter(&finding.claim, &names, nonce, &fence))
        }),
    };
    Ok(Briefing { batches, script })
}

/// Returns the question of a pass; the second adversary is asked the same afresh.
fn question(name: PassName) -> Pass {
    match name {
        PassName::General => Pass::General,
        PassName::Adversarial | PassName::SecondAdversarial => Pass::Adversarial,
        PassName::Tests => Pass::Tests,
    }
}

/// A file that is to be sent and is in no slice would be taken for reviewed; whatever made it so is a fault of the gate.
fn in_no_slice(case: &Case, slices: &[Slice]) -> Option<Reason> {
    case::lost(&case.coverage.unsliced(slices.iter().flat_map(|slice| &slice.files)))
}

/// How many bytes of change fit.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Into one call to the preferred reviewer. A smaller one passes, and is asked in smaller parts where nobody else answers.
    call: usize,
    /// Into one call at all: the least, over the passes, of what the largest window of its chain takes.
    most: usize,
}

/// Returns the room that the reviewers of a plan have.
pub(super) fn capacity(plan: &Plan, specs: &[Spec]) -> Room {
    let first = plan.passes.first().and_then(|pass| pass.chain.first());
    let most = |pass: &PassPlan| pass.chain.iter().map(|link| usable(&specs[link.reviewer])).max().unwrap_or_default();
    Room { call: first.map_or(LEAST, |link| room(&specs[link.reviewer])), most: plan.passes.iter().map(most).min().unwrap_or_default() }
}

/// Returns the bytes of prompt that a reviewer takes, without room for an answer.
fn usable(spec: &Spec) -> usize {
    usize::try_from(spec.window * 9 / 10 * 3).unwrap_or(usize::MAX)
}

/// Returns the bytes of change that a reviewer takes in one call, with room left for the answer.
fn room(spec: &Spec) -> usize {
    let answer = u64::from(spec.max_tokens).min(spec.window / 4);
    let bytes = usize::try_from((spec.window * 9 / 10).saturating_sub(answer) * 3).unwrap_or(usize::MAX);
    bytes.saturating_sub(OVERHEAD).max(LEAST)
}

/// Puts a second round's results in the place of the first's, with the attempts of both.
fn joined(first: Vec<PassResult>, mut second: Vec<PassResult>) -> Vec<PassResult> {
    let again = |result: PassResult| match second.iter().position(|other| other.name == result.name) {
        None => result,
        Some(index) => {
            let mut other = second.swap_remove(index);
            other.attempts.splice(0..0, result.attempts);
            PassResult { took: result.took + other.took, human: result.human.or(other.human.clone()), ..other }
        }
    };
    first.into_iter().map(again).collect()
}

/// Packs slices in order into as few parts as hold them.
fn pack(slices: Vec<Slice>, capacity: usize) -> Vec<Vec<Slice>> {
    let mut parts: Vec<Vec<Slice>> = Vec::new();
    let mut room = 0;
    for slice in slices {
        let size = slice.text.len();
        match parts.last_mut() {
            Some(last) if size <= room => last.push(slice),
            Some(_) | None => {
                room = capacity;
                parts.push(vec![slice]);
            }
        }
        room = room.saturating_sub(size);
    }
    parts
}

impl Run<'_> {
    /// Asks about every case that is open and settles it. Returns how long reviewers were waited for.
    pub(super) fn ask(&self, cases: &mut [Case], interrupt: &Interrupt) -> Duration {
        let mut open: Vec<&mut Case> = cases.iter_mut().filter(|case| case.is_open()).collect();
        if open.is_empty() {
            return Duration::ZERO;
        }
        let started = clock::instant();
        let printer = self.context.printer;
        let progress = Progress::start(self.channel(), self.deadline.for_passes());
        let (specs, redactor, author, deadline) = (&self.specs, &self.redactor, &self.author, self.deadline);
        let connected = specs.iter().map(|spec| provider::connect(spec.clone())).collect::<Result<Vec<_>, _>>();
        let pool = match connected {
            Ok(reviewers) => Pool::new(reviewers),
            Err(error) => {
                open.iter_mut().for_each(|case| case.reasons.push(Reason::new(Ground::Config, error.to_string())));
                return Duration::ZERO;
            }
        };
        let panel = Panel { pool, specs, redactor, author, deadline, printer, interrupt };
        for chunk in open.chunks_mut(SUBJECTS) {
            // Each of these threads waits on channels under the one deadline, so joining them is bounded too.
            thread::scope(|scope| {
                for case in chunk.iter_mut() {
                    let (panel, board) = (&panel, progress.board());
                    scope.spawn(move || panel.judge(case, board));
                }
            });
        }
        started.elapsed()
    }
}

impl Panel<'_> {
    /// Puts every pass of a case to its chain, and settles what they claim.
    fn judge(&self, case: &mut Case, board: Board) {
        let Some(plan) = case.plan.clone() else { return };
        let briefing = match briefing(case, capacity(&plan, self.specs), self.redactor) {
            Ok(briefing) => briefing,
            Err(reason) => return case.reasons.push(reason),
        };
        if briefing.batches.is_empty() {
            // Only binaries and paths that the policy names: listed, and nothing that a reviewer could read.
            return;
        }
        let watch = self.watch(board);
        let session =
            |briefing: Briefing| Session::new(self.pool.clone(), briefing.script, briefing.batches, self.author.families().clone(), watch.clone());
        let first = session(briefing);
        let stop = || self.interrupt.code().is_some();
        // Nobody waits any more: not even the first question is worth its price.
        let begun = if stop() { Err(Interrupted) } else { review::run(&first, &plan, self.deadline.for_passes(), &stop) };
        let settled = begun.and_then(|passes| {
            case.passes = passes;
            if let Some((smaller, again)) = self.for_smaller(case, &plan) {
                let passes = review::run(&session(smaller), &again, self.deadline.for_passes(), &stop)?;
                case.passes = joined(std::mem::take(&mut case.passes), passes);
            }
            self.settle(case, &first, &plan, &stop)
        });
        if settled == Err(Interrupted) {
            case.reasons.push(Reason::new(Ground::Unavailable, "interrupted before every pass had its answer"));
        }
    }

    /// Cuts the change into more parts for the reviewers that passed because a part was too large for them, where nobody else answered (product contract, class
    /// table: "next, else cut into more slices").
    fn for_smaller(&self, case: &Case, plan: &Plan) -> Option<(Briefing, Plan)> {
        let unanswered = |pass: &&PassResult| !matches!(pass.outcome, PassOutcome::Reviewed(_)) && pass.claims.is_empty();
        let too_small =
            |pass: &PassResult| pass.attempts.iter().filter(|one| one.class == Some(Class::TooLarge)).map(|one| one.reviewer).collect::<Vec<_>>();
        let mut passes = Vec::new();
        for result in case.passes.iter().filter(unanswered) {
            let small = too_small(result);
            let planned = plan.passes.iter().find(|pass| pass.name.as_str() == result.name)?;
            let chain: Vec<Link> = planned.chain.iter().filter(|link| small.contains(&link.reviewer)).copied().collect();
            if !chain.is_empty() {
                passes.push(PassPlan { name: planned.name, chain });
            }
        }
        let links: Vec<Link> = passes.iter().flat_map(|pass| pass.chain.iter().copied()).collect();
        if links.is_empty() {
            return None;
        }
        let call = links.iter().map(|link| room(&self.specs[link.reviewer])).min().unwrap_or_default();
        let briefing = briefing(case, Room { call, most: usize::MAX }, self.redactor).ok()?;
        Some((briefing, Plan { passes, refuter: plan.refuter.clone(), ineligible: Vec::new() }))
    }

    /// Places, merges and refutes what was claimed, and collects what speaks against the case.
    fn settle(&self, case: &mut Case, session: &Session, plan: &Plan, stop: &dyn Fn() -> bool) -> Result<(), Interrupted> {
        let claims: Vec<_> = case.passes.iter().flat_map(|pass| pass.claims.iter().map(|claim| (pass.name.as_str(), claim))).collect();
        let claimed = claims.len();
        let mut placed = merge::merge(&case.id, &case.subject.change, claims);
        case.deduped = claimed - placed.len();
        let bar = case.policy.block;
        let disputed: Vec<&Placed> = placed.iter().filter(|placed| merge::would_block(placed, bar)).collect();
        let answers = if case.refutes() && !disputed.is_empty() {
            review::refute(session, &case.subject.change, &plan.refuter, &disputed, bar, self.deadline, stop)?
        } else {
            disputed.iter().map(|_| Refuted::NotAsked).collect()
        };
        let mut answers = answers.into_iter();
        let mut undecided = Vec::new();
        for placed in &mut placed {
            let refuted = if merge::would_block(placed, bar) { answers.next().unwrap_or(Refuted::NotAsked) } else { Refuted::NotAsked };
            if let Err(merge::Undecided(claim)) = merge::settle(placed, bar, &refuted) {
                undecided.push(claim);
            }
        }
        let findings: Vec<_> = placed.into_iter().map(|placed| placed.finding).collect();
        case.reasons.extend(verdict::reasons(&case.passes, &findings, &undecided));
        debug_assert!(findings.iter().all(|finding| finding.status != Status::Blocking) || !case.reasons.is_empty());
        case.findings.extend(findings);
        Ok(())
    }

    /// Tells the progress board and, with `-v`, the hop log what happens.
    fn watch(&self, board: Board) -> Arc<dyn Fn(Event) + Send + Sync> {
        let names: Vec<String> = self.specs.iter().map(|spec| spec.name.clone()).collect();
        let (printer, redactor) = (self.printer, self.redactor.clone());
        Arc::new(move |event| match event {
            Event::Asked { pass, reviewer } => board.waits(&pass, &names[reviewer]),
            Event::Finished { pass } => board.done(&pass),
            Event::Failed { pass, reviewer, class, detail, then } => {
                let then = match then {
                    Then::Again => "asking again",
                    Then::Next => "advancing",
                    Then::Exhausted => "exhausted",
                };
                printer.detail(&clean(&redactor.clean(&format!("[chain] {pass}: {} {class}: {detail} → {then}", names[reviewer]))));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_packed_in_order_and_never_over_the_room() {
        let slice = |size: usize| Slice { id: format!("c{size}"), text: "x".repeat(size), files: Vec::new() };
        let parts = pack(vec![slice(4), slice(5), slice(2), slice(20), slice(1)], 10);
        let sizes: Vec<Vec<usize>> = parts.iter().map(|part| part.iter().map(|slice| slice.text.len()).collect()).collect();
        assert_eq!(sizes, [vec![4, 5], vec![2], vec![20], vec![1]]);
    }
}
