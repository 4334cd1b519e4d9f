//! Runs the plan: every pass side by side, each on its chain, under one deadline held by the calling thread.
//!
//! The workers are detached and report over a channel, because a joined thread cannot be abandoned and a hard deadline must be able to abandon it. What a
//! client's own time limit does is a courtesy; the channel is the law. Knows reviewers only through their port; judges nothing.

mod chain;
mod parallel;
mod refute;
mod retry;
#[cfg(test)]
mod tests;

pub use refute::refute;

use crate::change::BytePath;
use crate::clock::{self, Deadline};
use crate::family::Family;
use crate::finding::{Claim, Finding};
use crate::outcome::{Attempt, Event, PassOutcome, PassResult};
use crate::plan::{Link, PassName, Plan};
use crate::prompts::Mark;
use crate::redact::Outbound;
use crate::reply::{self, Expected, Review};
use crate::reviewer::{Class, CompleteReply, Fault, Question, Reviewer, Usage};
use chain::{Chain, Chained};
use parallel::Slots;
use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long past its limit a worker may still hand in what it has. Part of "ends within 250 ms of the deadline".
const GRACE: Duration = Duration::from_millis(100);
/// How often the waiting thread looks for an interrupt.
const TICK: Duration = Duration::from_millis(50);

/// A part of the change that one call carries.
#[derive(Clone)]
pub struct Batch {
    /// Context and slices: byte-identical in all passes.
    pub shared: Outbound,
    /// The ids of the slices in it.
    pub slices: Vec<String>,
    /// The files in it.
    pub files: Vec<BytePath>,
}

/// Makes the last part of a pass's prompt from the question, the slice ids and the nonce.
pub type PassBrief = dyn Fn(PassName, &[String], &Mark) -> Outbound + Send + Sync;
/// Makes the last part of a refuter's prompt from the finding, the slice ids and the nonce.
pub type RefuterBrief = dyn Fn(&Finding, &[String], &Mark) -> Outbound + Send + Sync;

/// The words that are put to the reviewers.
pub struct Script {
    /// Standing instructions.
    pub system: Outbound,
    /// The pass's question.
    pub brief: Box<PassBrief>,
    /// The reply schema of a pass.
    pub schema: &'static str,
    /// The refuter's question.
    pub refuter: Box<RefuterBrief>,
    /// The reply schema of a refuter.
    pub refuter_schema: &'static str,
}

/// The reviewers of a run, in the order of the configuration, with how many calls each takes at once: one for all subjects, so that the limit holds for the run.
#[derive(Clone)]
pub struct Pool {
    reviewers: Arc<Vec<Arc<dyn Reviewer>>>,
    slots: Arc<Vec<Slots>>,
}

impl Pool {
    /// Makes the pool.
    pub fn new(reviewers: Vec<Arc<dyn Reviewer>>) -> Pool {
        let slots = reviewers.iter().map(|reviewer| Slots::new(reviewer.spec().parallel)).collect();
        Pool { reviewers: Arc::new(reviewers), slots: Arc::new(slots) }
    }
}

/// What a run needs besides the plan.
#[derive(Clone)]
pub struct Session {
    /// Who can be asked; the plan's links point into it.
    pub pool: Pool,
    /// The words.
    pub script: Arc<Script>,
    /// The parts of the change.
    pub batches: Arc<Vec<Batch>>,
    /// The author's families: a reply that names one of their models is not used.
    pub author: Arc<BTreeSet<Family>>,
    /// Told of what happens; called from worker threads.
    pub watch: Arc<dyn Fn(Event) + Send + Sync>,
}

impl Session {
    /// Prepares a session.
    pub fn new(pool: Pool, script: Script, batches: Vec<Batch>, author: BTreeSet<Family>, watch: Arc<dyn Fn(Event) + Send + Sync>) -> Session {
        Session { pool, script: Arc::new(script), batches: Arc::new(batches), author: Arc::new(author), watch }
    }
}

/// The wait was ended from outside (Ctrl-C, a signal).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// Asks every pass of the plan and returns when all have an outcome or the deadline is reached.
///
/// # Errors
/// [`Interrupted`] where `stop` says so; all calls under way are cancelled.
pub fn run(session: &Session, plan: &Plan, deadline: Deadline, stop: &dyn Fn() -> bool) -> Result<Vec<PassResult>, Interrupted> {
    let started = clock::instant();
    let jobs: Vec<Job<Review>> =
        plan.passes.iter().flat_map(|pass| (0..session.batches.len()).map(|batch| pass_job(session, pass.name, &pass.chain, batch))).collect();
    let finished = side_by_side(session, jobs, deadline, stop)?;
    let mut parts = finished.into_iter();
    Ok(plan.passes.iter().map(|pass| join(pass.name, &session.batches, parts.by_ref().take(session.batches.len()).collect(), started)).collect())
}

/// Builds the question for a nonce.
type Ask = dyn Fn(&Mark) -> Question + Send;
/// Reads a complete reply to the call with the nonce.
type Read<T> = dyn Fn(&CompleteReply, &str) -> Result<T, Fault> + Send;
/// Takes the whole claims out of a cut reply to the call with the nonce.
type Salvage = dyn Fn(&str, &str) -> Vec<Claim> + Send;

/// One question on one chain, to be run by a worker.
struct Job<T> {
    pass: String,
    chain: Vec<Link>,
    question: Box<Ask>,
    read: Box<Read<T>>,
    salvage: Box<Salvage>,
}

fn pass_job(session: &Session, name: PassName, chain: &[Link], batch: usize) -> Job<Review> {
    let (script, batches) = (session.script.clone(), session.batches.clone());
    let ids = batches[batch].slices.clone();
    let expected = move |nonce: &str| Expected { nonce: nonce.to_owned(), slices: ids.clone() };
    let salvaging = expected.clone();
    Job {
        pass: name.as_str().to_owned(),
        chain: chain.to_vec(),
        question: Box::new(move |nonce| Question {
            system: script.system.clone(),
            shared: batches[batch].shared.clone(),
            brief: (script.brief)(name, &batches[batch].slices, nonce),
            schema: script.schema,
            max_tokens: 0,
        }),
        read: Box::new(move |reply, nonce| reply::review(reply, &expected(nonce))),
        salvage: Box::new(move |partial, nonce| reply::salvage(partial, &salvaging(nonce))),
    }
}

/// A job's end as the waiting thread sees it.
struct Finished<T> {
    result: Result<T, Fault>,
    claims: Vec<Claim>,
    reviewer: Option<usize>,
    degraded: bool,
    model: Option<String>,
    attempts: Vec<Attempt>,
    took: Duration,
}

/// Starts a worker for each job and waits for all of them, but never past the deadline.
fn side_by_side<T: Send + 'static>(
    session: &Session,
    jobs: Vec<Job<T>>,
    deadline: Deadline,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Finished<T>>, Interrupted> {
    let started = clock::instant();
    let (sender, receiver) = mpsc::channel();
    let logs: Vec<Arc<Mutex<Vec<Attempt>>>> = jobs.iter().map(|_| Arc::default()).collect();
    let mut results: Vec<Option<(Chained<T>, Duration)>> = jobs.iter().map(|_| None).collect();
    for (index, job) in jobs.into_iter().enumerate() {
        let (session, log, sender) = (session.clone(), logs[index].clone(), sender.clone());
        // A thread that cannot be started leaves its pass without an outcome: it is then missing, and refuses.
        let _ = std::thread::Builder::new().name(format!("review-{}", job.pass)).spawn(move || {
            let chain = Chain { session: &session, job: &job, deadline, log: &log };
            let end = panic::catch_unwind(AssertUnwindSafe(|| chain.run())).unwrap_or_else(|_| Chained::broken());
            (session.watch)(Event::Finished { pass: job.pass.clone() });
            // The receiver is gone once the deadline was reached; nobody waits for this result any more.
            let _ = sender.send((index, end));
        });
    }
    drop(sender);
    let mut missing = results.len();
    while missing > 0 {
        if stop() {
            session.pool.reviewers.iter().for_each(|reviewer| reviewer.cancel());
            return Err(Interrupted);
        }
        match receiver.recv_timeout(TICK) {
            Ok((index, end)) => {
                results[index] = Some((end, started.elapsed()));
                missing -= 1;
            }
            Err(RecvTimeoutError::Timeout) if deadline.over_by() < GRACE => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    if missing > 0 {
        session.pool.reviewers.iter().for_each(|reviewer| reviewer.cancel());
    }
    Ok(results.into_iter().zip(logs).map(|(result, log)| finished(result, &log, deadline, started)).collect())
}

fn finished<T>(result: Option<(Chained<T>, Duration)>, log: &Mutex<Vec<Attempt>>, deadline: Deadline, started: Instant) -> Finished<T> {
    let attempts = log.lock().map(|log| log.clone()).unwrap_or_else(|poisoned| poisoned.into_inner().clone());
    match result {
        Some((end, took)) => {
            Finished { result: end.result, claims: end.claims, reviewer: end.reviewer, degraded: end.degraded, model: end.model, attempts, took }
        }
        None => {
            let reviewer = attempts.last().map(|attempt| attempt.reviewer);
            let fault = Fault::new(Class::Deadline, format!("no answer within the {} of {} s", deadline.limit(), deadline.allowed().as_secs()));
            Finished { result: Err(fault), claims: Vec::new(), reviewer, degraded: false, model: None, attempts, took: started.elapsed() }
        }
    }
}

/// Joins the parts of one pass: reviewed only where every part was.
fn join(name: PassName, batches: &[Batch], parts: Vec<Finished<Review>>, started: Instant) -> PassResult {
    let (mut usage, mut unread) = (Usage::default(), Vec::new());
    let (mut reviews, mut claims, mut attempts, mut failed) = (Vec::new(), Vec::new(), Vec::new(), None);
    let (mut reviewer, mut model, mut human, mut degraded, mut took) = (None, None, None, false, Duration::ZERO);
    for (part, batch) in parts.into_iter().zip(batches) {
        part.attempts.iter().for_each(|attempt| usage += attempt.usage);
        attempts.extend(part.attempts);
        reviewer = part.reviewer.or(reviewer);
        model = part.model.or(model);
        degraded |= part.degraded;
        took = took.max(part.took);
        claims.extend(part.claims);
        match part.result {
            Ok(review) => {
                claims.extend(review.claims().iter().cloned());
                human = human.or_else(|| review.human().map(str::to_owned));
                reviews.push(review);
            }
            Err(fault) => {
                failed = failed.or(Some(fault));
                unread.extend(batch.files.iter().cloned());
            }
        }
    }
    let outcome = match (failed, Review::join(reviews)) {
        (None, Some(review)) => PassOutcome::Reviewed(review),
        (Some(fault), _) => PassOutcome::of_fault(fault),
        (None, None) => PassOutcome::of_fault(Fault::new(Class::TooLarge, "the change has no part that could be sent")),
    };
    let took = if took.is_zero() { started.elapsed() } else { took };
    PassResult { name: name.as_str().to_owned(), reviewer, outcome, claims, human, unread, degraded, attempts, model_reported: model, took, usage }
}
