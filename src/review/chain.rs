//! One question on its chain: ordered, each reviewer with a share of the time that is left, advancing only where there was no verdict.

use super::retry::{self, Standing, Step};
use super::{Job, Session};
use crate::clock::{self, Deadline, Limit};
use crate::family::Family;
use crate::finding::Claim;
use crate::outcome::{Attempt, Event};
use crate::plan::Link;
use crate::prompts::Mark;
use crate::random;
use crate::reviewer::{Class, CompleteReply, Fault, Question, Reviewer, Spec, Usage};
use std::sync::{Mutex, PoisonError};

/// How a chain ended.
pub(super) struct Chained<T> {
    pub result: Result<T, Fault>,
    pub claims: Vec<Claim>,
    pub reviewer: Option<usize>,
    pub degraded: bool,
    pub model: Option<String>,
}

impl<T> Chained<T> {
    /// The end of a worker that panicked: that pass's failure, never more and never less.
    pub(super) fn broken() -> Chained<T> {
        let fault = Fault::new(Class::Unreachable, "the reviewer's adapter failed; this is a fault of review-gate");
        Chained { result: Err(fault), claims: Vec::new(), reviewer: None, degraded: false, model: None }
    }
}

/// A chain about to run.
pub(super) struct Chain<'a, T> {
    pub session: &'a Session,
    pub job: &'a Job<T>,
    pub deadline: Deadline,
    /// Every call is entered here at once, so that the waiting thread knows what was tried even where it abandons the worker.
    pub log: &'a Mutex<Vec<Attempt>>,
}

impl<T> Chain<'_, T> {
    /// Asks one reviewer after the other until one gives a usable answer.
    pub(super) fn run(&self) -> Chained<T> {
        let mut end = Chained {
            result: Err(Fault::new(Class::TooLarge, "nobody was asked")),
            claims: Vec::new(),
            reviewer: None,
            degraded: false,
            model: None,
        };
        for (position, link) in self.job.chain.iter().enumerate() {
            let untried = (self.job.chain.len() - position) as u32;
            let slice = self.deadline.within(self.deadline.left() / untried, Limit::Slice);
            if slice.passed() {
                end.result = Err(Fault::new(Class::Deadline, format!("no time was left of the {} s", self.deadline.allowed().as_secs())));
                break;
            }
            // The author's own family is a last resort for outages, never a second opinion on a refusal or a broken reply.
            if link.degraded && !self.only_outages() {
                break;
            }
            end.reviewer = Some(link.reviewer);
            match self.ask(*link, slice, untried == 1) {
                Ok((answer, model, claims)) => return Chained { result: Ok(answer), claims, degraded: link.degraded, model, ..end },
                Err(Failed { fault, claims, stop }) => {
                    end.model = fault.model.clone();
                    end.result = Err(fault);
                    if stop {
                        end.claims = claims;
                        break;
                    }
                }
            }
        }
        end
    }

    /// Asks one reviewer, again where that may help.
    fn ask(&self, link: Link, slice: Deadline, last: bool) -> Result<(T, Option<String>, Vec<Claim>), Failed> {
        let reviewer = &*self.session.pool.reviewers[link.reviewer];
        let spec = reviewer.spec();
        let (mut attempt, mut max_tokens, mut doubled) = (0, spec.max_tokens, false);
        let mut claims = Vec::new();
        loop {
            attempt += 1;
            let nonce = Mark::new(random::bits128());
            let fault = match self.call(link, reviewer, slice, max_tokens, &nonce) {
                // What an earlier, cut reply claimed counts beside the whole one.
                Ok((answer, model)) => return Ok((answer, model, claims)),
                Err(fault) => fault,
            };
            claims.extend(fault.partial.as_deref().map(|partial| (self.job.salvage)(partial, nonce.as_str())).unwrap_or_default());
            let standing = Standing { attempt, last, left: slice.left(), doubled, salvaged: !claims.is_empty() };
            let step = retry::step(&fault, standing);
            self.tell(Event::Failed {
                pass: self.job.pass.clone(),
                reviewer: link.reviewer,
                class: fault.class,
                detail: fault.detail.clone(),
                then: step.then(last),
            });
            match step {
                Step::Again { pause, more_tokens } => {
                    if more_tokens {
                        doubled = true;
                        max_tokens = max_tokens.saturating_mul(2);
                    }
                    std::thread::sleep(pause.min(slice.left()));
                }
                Step::Next => return Err(Failed { fault, claims, stop: false }),
                Step::Stop => return Err(Failed { fault, claims, stop: true }),
            }
        }
    }

    /// Makes one call and enters it in the log.
    fn call(&self, link: Link, reviewer: &dyn Reviewer, slice: Deadline, max_tokens: u32, nonce: &Mark) -> Result<(T, Option<String>), Fault> {
        let spec = reviewer.spec();
        let Some(_slot) = self.session.pool.slots[link.reviewer].take(slice) else {
            return Err(Fault::new(Class::Deadline, format!("no free place at {} within the {}", spec.name, slice.limit())));
        };
        let limit = spec.timeout.map_or(slice, |timeout| slice.within(timeout, Limit::Reviewer));
        self.tell(Event::Asked { pass: self.job.pass.clone(), reviewer: link.reviewer });
        let question = Question { max_tokens, ..(self.job.question)(nonce) };
        let started = clock::instant();
        let replied = fits(&question, spec).and_then(|()| reviewer.ask(&question, limit));
        let usage = replied.as_ref().map_or_else(|fault| fault.usage, CompleteReply::usage);
        let answer = replied.and_then(|reply| {
            self.check_family(link, &reply)?;
            Ok(((self.job.read)(&reply, nonce.as_str())?, reply.model().map(str::to_owned)))
        });
        let fault = answer.as_ref().err();
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(Attempt {
            reviewer: link.reviewer,
            class: fault.map(|fault| fault.class),
            detail: fault.map(|fault| fault.detail.clone()).unwrap_or_default(),
            default_host: spec.host_is_default,
            took: started.elapsed(),
            usage,
        });
        answer
    }

    /// Refuses a reply that names a model of the author's family; proxies and aliases that are not recognised are honest (ruling on plausibility).
    fn check_family(&self, link: Link, reply: &CompleteReply) -> Result<(), Fault> {
        let recognised = reply.model().and_then(Family::of_model).filter(|family| self.session.author.contains(family));
        match recognised {
            Some(family) if !link.degraded => {
                let model = reply.model().unwrap_or_default();
                let fault = Fault::new(Class::AuthorFamily, format!("the reply comes from {model}, of the family {family}, which wrote the change"));
                Err(Fault { model: Some(model.to_owned()), usage: Usage::default(), ..fault })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn only_outages(&self) -> bool {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter()
            .all(|attempt| matches!(attempt.class, Some(Class::Unreachable | Class::CutStream | Class::RateLimited | Class::Quota | Class::Deadline)))
    }

    fn tell(&self, event: Event) {
        (self.session.watch)(event);
    }
}

/// Refuses a question that the model's window would silently cut, before any byte is sent (requirement D11). Three bytes a token is on the safe side for code.
fn fits(question: &Question, spec: &Spec) -> Result<(), Fault> {
    let bytes = [&question.system, &question.shared, &question.brief].iter().map(|part| part.as_str().len()).sum::<usize>();
    let (tokens, usable) = (bytes.div_ceil(3) as u64, spec.window * 9 / 10);
    if tokens <= usable {
        return Ok(());
    }
    Err(Fault::new(Class::TooLarge, format!("about {tokens} tokens do not fit the {usable} that {} takes", spec.name)))
}

/// A reviewer without a usable answer.
struct Failed {
    fault: Fault,
    claims: Vec<Claim>,
    stop: bool,
}
