//! Findings, outcomes and policy → verdict with its grounds. Pure; the only maker of [`Accepted`], one of the two halves of a proof that the status may be 0.

mod ground;

pub use ground::{CLEAN, Ground, INTERRUPTED, NOTHING, OVERRIDDEN, Word};

use crate::change::subject::SubjectId;
use crate::finding::{Finding, Status};
use crate::outcome::{Attempt, PassOutcome, PassResult};
use crate::reviewer::Class;
use std::collections::BTreeSet;

/// What a reason is about, so that a report says each thing once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// The subject or the run as a whole.
    Subject,
    /// A pass, which the report lists with its own message.
    Pass,
    /// A finding, which the report shows in full.
    Finding,
}

/// One reason to refuse, with a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// What kind.
    pub ground: Ground,
    /// What it is about.
    pub about: About,
    /// What happened, and where it is known what to do.
    pub text: String,
}

impl Reason {
    /// Makes a reason about the subject as a whole.
    pub fn new(ground: Ground, text: impl Into<String>) -> Reason {
        Reason { ground, about: About::Subject, text: text.into() }
    }

    /// Makes the reason that a finding is.
    pub fn of_finding(finding: &Finding) -> Reason {
        let text = format!("{} {} {}", finding.id, finding.claim.severity, finding.claim.title);
        Reason { ground: Ground::Finding, about: About::Finding, text }
    }
}

/// What the policy lets through, recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Leniency {
    /// `on_unavailable: warn` for this tier and stage.
    pub warn_on_unavailable: bool,
    /// Advisory mode, not yet expired.
    pub advisory: bool,
}

impl Leniency {
    fn lifts(self, ground: Ground) -> bool {
        // Advisory mode shows and records judgements. It is no licence to send a secret or to run on a broken set-up.
        (self.advisory && ground.is_lifted_by_override() && ground != Ground::Secret) || (self.warn_on_unavailable && ground == Ground::Unavailable)
    }
}

/// On what grounds a subject was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// There was nothing to review.
    Nothing,
    /// A recorded override covers it; its id. Nothing was sent.
    Overridden(String),
    /// A receipt covers it; the ledger's sequence number of the run that earned it.
    Receipt(u64),
    /// It was judged now; empty where nothing speaks against it.
    Judged(Vec<Reason>),
}

/// The verdict about one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectVerdict {
    /// Which subject.
    pub subject: SubjectId,
    /// On what grounds.
    pub basis: Basis,
    /// What the policy of this subject lets through.
    pub leniency: Leniency,
}

impl SubjectVerdict {
    /// Returns the reasons against it, the gravest first; also those that the policy lets through.
    pub fn reasons(&self) -> Vec<&Reason> {
        let mut reasons: Vec<&Reason> = match &self.basis {
            Basis::Judged(reasons) => reasons.iter().collect(),
            Basis::Nothing | Basis::Overridden(_) | Basis::Receipt(_) => Vec::new(),
        };
        reasons.sort();
        reasons
    }

    /// Returns the gravest ground that refuses; `None` where the subject may pass.
    pub fn refused(&self) -> Option<Ground> {
        self.reasons().into_iter().map(|reason| reason.ground).find(|ground| !self.leniency.lifts(*ground))
    }

    /// Returns the word: what was judged, not what the policy made of it.
    pub fn word(&self) -> Word {
        self.refused().or_else(|| self.reasons().first().map(|reason| reason.ground)).map_or(Word::Pass, Ground::word)
    }
}

/// A run that may end with status 0, once its record is durable. Made only by [`decide`].
#[derive(Debug)]
pub struct Accepted {
    run_id: String,
    word: Word,
}

impl Accepted {
    /// Returns the run that was accepted.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns the word that the record must carry.
    pub fn word(&self) -> Word {
        self.word
    }
}

/// What becomes of the run.
#[derive(Debug)]
pub enum Decision {
    /// Every subject may pass.
    Accepted(Accepted),
    /// The gravest ground over all subjects.
    Refused(Ground),
}

impl Decision {
    /// Returns the word for report and ledger.
    pub fn word(&self) -> Word {
        match self {
            Decision::Accepted(accepted) => accepted.word,
            Decision::Refused(ground) => ground.word(),
        }
    }
}

/// Decides a run: the worst subject decides the push. No subject at all means that there was nothing to review.
pub fn decide(run_id: &str, subjects: &[SubjectVerdict]) -> Decision {
    match subjects.iter().filter_map(SubjectVerdict::refused).min() {
        Some(ground) => Decision::Refused(ground),
        None => {
            let word = subjects.iter().flat_map(SubjectVerdict::reasons).min().map_or(Word::Pass, |reason| reason.ground.word());
            Decision::Accepted(Accepted { run_id: run_id.to_owned(), word })
        }
    }
}

/// Collects what speaks against a subject after its passes: blocking findings, missing mandatory passes, wishes for a person.
pub fn reasons(passes: &[PassResult], findings: &[Finding], undecided: &[String]) -> Vec<Reason> {
    let mut reasons = BTreeSet::new();
    reasons.extend(findings.iter().filter(|finding| finding.status == Status::Blocking).map(Reason::of_finding));
    reasons.extend(undecided.iter().map(|claim| Reason::new(Ground::NeedsHuman, format!("nobody could judge the claim {claim}"))));
    for pass in passes {
        if let Some(why) = &pass.human {
            reasons.insert(Reason::new(Ground::NeedsHuman, format!("{} asks for a person: {why}", pass.name)));
        }
        if let Some(ground) = missing(pass) {
            let fault = pass.outcome.fault().map(|fault| format!("{}: {}", fault.class, fault.detail)).unwrap_or_default();
            reasons.insert(Reason { ground, about: About::Pass, text: format!("the mandatory pass {} has no answer ({fault})", pass.name) });
        }
    }
    reasons.into_iter().collect()
}

/// Returns the ground on which a pass without an answer refuses. In one chain the first of 2, 4, 6, 7, 11 in order beats 9: a fault that someone must mend is not
/// hidden by an outage behind it.
fn missing(pass: &PassResult) -> Option<Ground> {
    let last = match &pass.outcome {
        PassOutcome::Reviewed(_) => return None,
        // The wait for the whole run ended: what an earlier element of the chain said still counts.
        PassOutcome::TimedOut(_) => None,
        PassOutcome::Unavailable(fault)
        | PassOutcome::Truncated(fault)
        | PassOutcome::Malformed(fault)
        | PassOutcome::Declined(fault)
        | PassOutcome::Skipped(fault) => Some(fault.class),
    };
    // Of several parts of a pass one may have contradicted itself while another merely failed.
    if last == Some(Class::Contradiction) || pass.attempts.iter().any(|attempt| attempt.class == Some(Class::Contradiction)) {
        return Some(Ground::Integrity);
    }
    let finals = final_classes(&pass.attempts);
    let too_large = last == Some(Class::TooLarge) && finals.iter().all(|(class, _)| *class == Class::TooLarge);
    let otherwise = if too_large { Ground::TooLarge } else { Ground::Unavailable };
    Some(finals.into_iter().find_map(|(class, default_host)| to_mend(class, default_host)).unwrap_or(otherwise))
}

/// Returns the last class of each element of the chain, in chain order.
fn final_classes(attempts: &[Attempt]) -> Vec<(Class, bool)> {
    let mut finals: Vec<(usize, Class, bool)> = Vec::new();
    for attempt in attempts {
        let Some(class) = attempt.class else { continue };
        match finals.iter_mut().find(|(reviewer, ..)| *reviewer == attempt.reviewer) {
            Some(last) => last.1 = class,
            None => finals.push((attempt.reviewer, class, attempt.default_host)),
        }
    }
    finals.into_iter().map(|(_, class, default_host)| (class, default_host)).collect()
}

fn to_mend(class: Class, default_host: bool) -> Option<Ground> {
    match class {
        Class::BadConfig => Some(Ground::Config),
        Class::NotServed | Class::AuthorFamily => Some(Ground::NotServed),
        Class::Auth => Some(Ground::Auth),
        Class::Declined => Some(Ground::Declined),
        Class::Unreachable if default_host => Some(Ground::DefaultHost),
        Class::Unreachable
        | Class::CutStream
        | Class::RateLimited
        | Class::Quota
        | Class::TooLarge
        | Class::Truncated
        | Class::Malformed
        | Class::Contradiction
        | Class::Deadline => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::PassOutcome;
    use crate::reviewer::{Fault, Usage};
    use std::time::Duration;

    fn pass(chain: &[(usize, Class, bool)]) -> PassResult {
        let attempt = |(reviewer, class, default_host): &(usize, Class, bool)| Attempt {
            reviewer: *reviewer,
            class: Some(*class),
            detail: String::new(),
            default_host: *default_host,
            took: Duration::ZERO,
            usage: Usage::default(),
        };
        let last = chain.last().expect("a chain").1;
        PassResult {
            name: "general".to_owned(),
            reviewer: Some(0),
            outcome: PassOutcome::of_fault(Fault::new(last, "x")),
            claims: vec![],
            human: None,
            unread: vec![],
            degraded: false,
            attempts: chain.iter().map(attempt).collect(),
            model_reported: None,
            took: Duration::ZERO,
            usage: Usage::default(),
        }
    }

    fn subject(basis: Basis, leniency: Leniency) -> SubjectVerdict {
        SubjectVerdict { subject: SubjectId("s".to_owned()), basis, leniency }
    }

    #[test]
    fn a_fault_that_someone_must_mend_is_not_hidden_by_an_outage() {
        use Class::*;
        type Chain<'a> = &'a [(usize, Class, bool)];
        let cases: &[(Chain<'_>, Ground)] = &[
            (&[(0, Unreachable, false)], Ground::Unavailable),
            (&[(0, Unreachable, true)], Ground::DefaultHost),
            (&[(0, CutStream, false)], Ground::Unavailable),
            (&[(0, RateLimited, false)], Ground::Unavailable),
            (&[(0, Quota, false)], Ground::Unavailable),
            (&[(0, Auth, false)], Ground::Auth),
            (&[(0, NotServed, false)], Ground::NotServed),
            (&[(0, AuthorFamily, false)], Ground::NotServed),
            (&[(0, BadConfig, false)], Ground::Config),
            (&[(0, TooLarge, false)], Ground::TooLarge),
            (&[(0, TooLarge, false), (1, Unreachable, false)], Ground::Unavailable),
            (&[(0, Contradiction, false), (1, Malformed, false)], Ground::Integrity),
            (&[(0, Truncated, false)], Ground::Unavailable),
            (&[(0, Malformed, false)], Ground::Unavailable),
            (&[(0, Contradiction, false)], Ground::Integrity),
            (&[(0, Declined, false)], Ground::Declined),
            (&[(0, Deadline, false)], Ground::Unavailable),
            (&[(0, Auth, false), (1, Unreachable, false)], Ground::Auth),
            (&[(0, Declined, false), (1, Auth, false)], Ground::Declined),
            (&[(0, Unreachable, false), (1, NotServed, false)], Ground::NotServed),
            (&[(0, Auth, false), (1, Deadline, false)], Ground::Auth),
            (&[(0, Unreachable, true), (0, Auth, true)], Ground::Auth),
        ];
        for (chain, expected) in cases {
            let reasons = reasons(&[pass(chain)], &[], &[]);
            assert_eq!(reasons.iter().map(|reason| reason.ground).collect::<Vec<_>>(), [*expected], "{chain:?}");
        }
    }

    #[test]
    fn the_first_ground_in_the_contracts_order_decides() {
        let order = [
            Ground::Internal,
            Ground::Integrity,
            Ground::Ledger,
            Ground::Secret,
            Ground::Config,
            Ground::Auth,
            Ground::NotServed,
            Ground::DefaultHost,
            Ground::Finding,
            Ground::NeedsHuman,
            Ground::Declined,
            Ground::Override,
            Ground::Budget,
            Ground::TooLarge,
            Ground::Unavailable,
        ];
        for pair in order.windows(2) {
            let two = [pair[1], pair[0]].map(|ground| subject(Basis::Judged(vec![Reason::new(ground, "")]), Leniency::default()));
            assert!(matches!(decide("r", &two), Decision::Refused(ground) if ground == pair[0]), "{pair:?}");
        }
    }

    #[test]
    fn only_a_clean_or_covered_subject_is_accepted() {
        let judged = |ground| Basis::Judged(vec![Reason::new(ground, "")]);
        let warn = Leniency { warn_on_unavailable: true, advisory: false };
        let advisory = Leniency { warn_on_unavailable: false, advisory: true };
        let strict = Leniency::default();
        let cases = [
            ("nothing", Basis::Nothing, strict, Ok(Word::Pass)),
            ("override", Basis::Overridden("o".to_owned()), strict, Ok(Word::Pass)),
            ("receipt", Basis::Receipt(1), strict, Ok(Word::Pass)),
            ("clean", Basis::Judged(vec![]), strict, Ok(Word::Pass)),
            ("finding", judged(Ground::Finding), strict, Err(Ground::Finding)),
            ("outage", judged(Ground::Unavailable), strict, Err(Ground::Unavailable)),
            ("outage, warn", judged(Ground::Unavailable), warn, Ok(Word::Unavailable)),
            ("finding, warn", judged(Ground::Finding), warn, Err(Ground::Finding)),
            ("too large, warn", judged(Ground::TooLarge), warn, Err(Ground::TooLarge)),
            ("finding, advisory", judged(Ground::Finding), advisory, Ok(Word::Fail)),
            ("secret, advisory", judged(Ground::Secret), advisory, Err(Ground::Secret)),
            ("broken set-up, advisory", judged(Ground::Auth), advisory, Err(Ground::Auth)),
        ];
        for (name, basis, leniency, expected) in cases {
            let got = match decide("r", &[subject(Basis::Nothing, strict), subject(basis, leniency)]) {
                Decision::Accepted(accepted) => Ok(accepted.word()),
                Decision::Refused(ground) => Err(ground),
            };
            assert_eq!(got, expected, "{name}");
        }
    }
}
