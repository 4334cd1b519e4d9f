//! A case: one subject with everything that is known about it before anybody is asked, and what came of asking.

use super::{Context, Run, checks, fit, key, lockfiles, no_reviewer, secrets, told};
use crate::author::Kind;
use crate::change::subject::{Subject, SubjectId};
use crate::change::{Body, BytePath, Change, FileChange, line_ends};
use crate::clock::Timestamp;
use crate::config::{self, Mode, Policy, Refute, Verify, WhenUnavailable};
use crate::coverage::{Asked, Coverage, Fate, Unreviewed};
use crate::digest::{Digest, Fields};
use crate::env::REVIEW_TIER;
use crate::error::GateError;
use crate::finding::{Finding, Status};
use crate::git::{PolicyFile, Repo};
use crate::ledger::{Override, ReceiptKey, RefName};
use crate::outcome::PassResult;
use crate::paths::{PathRules, PolicyGlobs, Treatment};
use crate::plan::{self, NoReviewer, Plan};
use crate::prompts;
use crate::redact::Leak;
use crate::tier::{self, Sizing, Tier};
use crate::verdict::{Basis, Ground, Leniency, Reason, SubjectVerdict};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// One subject on its way to a verdict.
pub(in crate::commands) struct Case {
    pub subject: Subject,
    pub id: SubjectId,
    pub refs: Vec<RefName>,
    pub policy: Policy,
    pub sizing: Sizing,
    /// What becomes of every changed path.
    pub coverage: Coverage,
    pub leaks: Vec<Leak>,
    /// All that would be published could be searched for secrets.
    searched: bool,
    /// The key of its receipt; `None` where it must leave none.
    pub key: Option<ReceiptKey>,
    pub plan: Option<Plan>,
    /// Set where no call is needed.
    pub basis: Option<Basis>,
    /// What speaks against it.
    pub reasons: Vec<Reason>,
    /// The override that lets it through.
    pub overridden: Option<Override>,
    /// An override that is there and does not hold.
    pub spent_override: Option<String>,
    pub passes: Vec<PassResult>,
    pub findings: Vec<Finding>,
    pub deduped: usize,
    pub notes: Vec<String>,
    /// Files that hold replies which could not be used, by pass.
    pub raw: Vec<(String, PathBuf)>,
    leniency: Leniency,
}

impl Case {
    /// Gathers what is known about a subject.
    pub(super) fn prepare(run: &Run<'_>, subject: &Subject) -> Result<Case, GateError> {
        let layers = Layers::read(run.repo, subject, run.request.remote.as_deref(), run.now)?;
        let policy = config::effective(&layers.base, layers.tip.as_ref(), run.now);
        let rules = rules(&policy)?;
        let as_captured = subject;
        let summed = lockfiles::summed_up(run.repo, &revealed(run.repo, subject, &rules)?, &rules)?;
        let subject = &summed.subject;
        let computed = size(run.context, subject, &rules);
        let too_low = run.request.tier.filter(|asked| *asked < computed.name);
        let too_low = too_low.map(|asked| {
            format!("--tier {asked} is below the computed {} and was not applied; only an override lets a change through with less", computed.name)
        });
        let sizing = raised(computed, run.request.tier);
        let fresh = secrets::search(run, as_captured)?;
        let id = identity(subject, fresh.digest);
        let told = told::of(run.repo, &id, subject, &rules)?;
        let coverage = coverage(&subject.change, &rules, &told.lfs);
        let binary = subject.change.files.iter().filter(|file| file.body == Body::Binary && !rules.treatment(file).is_by_policy());
        let binary: Vec<&FileChange> = binary.collect();
        let findings = [
            checks::policy_edits(&id, &subject.change, &layers, policy.block),
            checks::unreadable_source(run.repo, &id, &binary)?,
            lockfiles::findings(&id, &summed.alarms, policy.block),
            told.findings,
        ]
        .concat();
        let (plan, mut reasons) = match plan_for(run, &sizing, &policy) {
            Ok(plan) => (Some(plan), Vec::new()),
            Err(reason) => (None, vec![reason]),
        };
        reasons.extend(layers.broken_tip.iter().map(|why| Reason::new(Ground::Config, format!("the policy that would land cannot be read: {why}"))));
        reasons.extend(fresh.reason());
        reasons.extend(findings.iter().filter(|finding| finding.status == Status::Blocking).map(Reason::of_finding));
        reasons.extend(too_large(coverage.sent()));
        reasons.extend(lost(&coverage.lost(&as_captured.change)));
        let unsearched = unsearched(&fresh.too_large, subject, &rules);
        let searched = unsearched.is_none();
        reasons.extend(unsearched);
        reasons.extend(asks_for_more(&policy, &sizing));
        let refs = subject.refs.iter().map(|r| RefName { remote: run.remote_name(), remote_ref: r.remote_ref.to_string() }).collect();
        let parts = key::Parts {
            change: &subject.change,
            fresh: fresh.digest,
            policy: policy.digest(),
            sizing: &sizing,
            author: &run.author,
            specs: &run.specs,
            plan: plan.as_ref(),
            asked: prompts::digest(),
            gate: env!("CARGO_PKG_VERSION"),
        };
        let key = (!run.request.narrowed).then(|| key::of(&parts));
        let leniency = leniency(run, &policy, sizing.name);
        let notes = [
            policy.notes.clone(),
            config::not_in_force(run.user, &policy),
            too_low.into_iter().collect(),
            unknown_tier(run.context),
            summed.notes,
            told.notes,
        ]
        .concat();
        Ok(Case {
            subject: subject.clone(),
            id,
            refs,
            policy,
            sizing,
            coverage,
            leaks: fresh.leaks,
            searched,
            key,
            plan,
            basis: None,
            reasons,
            overridden: None,
            spent_override: None,
            passes: Vec::new(),
            findings,
            deduped: 0,
            notes,
            raw: Vec::new(),
            leniency,
        })
    }

    /// Returns the basis of a subject that holds nothing to review: an empty change, and nothing new in between that must not leave.
    pub(super) fn nothing(&self) -> Option<Basis> {
        (self.subject.change.is_empty() && self.leaks.is_empty() && self.searched).then_some(Basis::Nothing)
    }

    /// Tells whether an override may let it through: nothing stands against it that an override does not lift.
    pub(super) fn is_liftable(&self) -> bool {
        self.reasons.iter().all(|reason| reason.ground.is_lifted_by_override())
    }

    /// Tells whether somebody must be asked.
    pub(super) fn is_open(&self) -> bool {
        self.basis.is_none() && self.reasons.is_empty() && self.plan.is_some()
    }

    /// Returns the verdict about the subject.
    pub(super) fn verdict(&self) -> SubjectVerdict {
        let judged = || {
            let mut reasons = self.reasons.clone();
            // A spent override matters only where something refuses that a valid one would have lifted.
            if let Some(why) = self.spent_override.as_ref().filter(|_| reasons.iter().any(|reason| reason.ground.is_lifted_by_override())) {
                reasons.push(Reason::new(Ground::Override, why.clone()));
            }
            Basis::Judged(reasons)
        };
        SubjectVerdict { subject: self.id.clone(), basis: self.basis.clone().unwrap_or_else(judged), leniency: self.leniency }
    }

    /// Says who has looked at what was to be sent.
    pub(super) fn asked(&self) -> Asked<'_> {
        match self.basis {
            // A receipt is left only where every mandatory pass had confirmed exactly this content.
            Some(Basis::Receipt(_)) => Asked::Before,
            Some(Basis::Nothing | Basis::Overridden(_)) => Asked::Nobody,
            Some(Basis::Judged(_)) | None => Asked::Now(&self.passes),
        }
    }

    /// Tells whether findings that would block are put to the refuter.
    pub(super) fn refutes(&self) -> bool {
        self.policy.refute == Refute::Blocking
    }

    /// Tells whether advisory mode holds.
    pub(super) fn is_advisory(&self) -> bool {
        self.leniency.advisory
    }
}

/// Returns the id that an override names. It is bound to the trees, the changed entries and all text that would be published on the way: what was added and
/// taken out again between the two ends leaves the machine as well.
fn identity(subject: &Subject, fresh: Digest) -> SubjectId {
    let mut fields = Fields::new("review-gate case v1");
    fields.add(subject.id().0);
    fields.add(fresh.hex());
    SubjectId(fields.finish().short(16))
}

/// What to do where the policy that is published cannot be read: it refuses everything, its own repair included.
const BROKEN_BASE: &str = "the policy that is published already is broken, and nothing passes until it is mended; a person pushes the repair once with `git push --no-verify`";

/// The policies that speak for a subject.
pub(super) struct Layers {
    /// Of its base and of the remote's default branch.
    pub base: Vec<config::PolicyLayer>,
    /// Of its tip: may only tighten.
    pub tip: Option<config::PolicyLayer>,
    /// Why the tip's file cannot be read. Once landed it would stop everybody, so it refuses here.
    pub broken_tip: Option<String>,
}

impl Layers {
    pub(super) fn read(repo: &Repo, subject: &Subject, remote: Option<&str>, now: Timestamp) -> Result<Layers, GateError> {
        let parse = |file: &PolicyFile| config::policy_layer(&file.bytes, &file.origin);
        let read = |base: Option<&str>| -> Result<Vec<config::PolicyLayer>, GateError> {
            let files = repo.policy_files(subject, remote, base)?;
            files.iter().map(parse).collect::<Result<_, _>>().map_err(|error| GateError::from(error).hinted(BROKEN_BASE))
        };
        // Where the remote has no default branch, the policy itself names the branch whose policy holds as well.
        let named = config::effective(&read(None)?, None, now).base;
        let base = read(named.as_deref())?;
        let tip = repo.tip_policy(subject)?;
        Ok(match tip.as_ref().map(parse) {
            None => Layers { base, tip: None, broken_tip: None },
            Some(Ok(tip)) => Layers { base, tip: Some(tip), broken_tip: None },
            Some(Err(error)) => Layers { base, tip: None, broken_tip: Some(error.to_string()) },
        })
    }
}

fn rules(policy: &Policy) -> Result<PathRules, GateError> {
    let list = |globs: &BTreeSet<String>| globs.iter().cloned().collect::<Vec<_>>();
    let (exclude, generated, data, full) = (list(&policy.exclude), list(&policy.generated), list(&policy.data), list(&policy.full));
    let globs = PolicyGlobs { exclude: &exclude, generated: &generated, data: &data, full: &full };
    PathRules::new(globs).map_err(|error| GateError::new(crate::exit::Code::Usage, error))
}

/// Sizes a subject under its policies.
pub(super) fn sizing(context: &Context, repo: &Repo, subject: &Subject, now: Timestamp) -> Result<Sizing, GateError> {
    let layers = Layers::read(repo, subject, None, now)?;
    let rules = rules(&config::effective(&layers.base, layers.tip.as_ref(), now))?;
    Ok(size(context, &revealed(repo, subject, &rules)?, &rules))
}

/// Sizes the change; the environment only raises.
fn size(context: &Context, subject: &Subject, rules: &PathRules) -> Sizing {
    let asked = context.env.text(REVIEW_TIER).and_then(Tier::parse).map(|tier| (tier, REVIEW_TIER));
    tier::tier(&subject.change, rules, asked)
}

/// A tier that nobody knows raises nothing, and whoever set it should hear so.
fn unknown_tier(context: &Context) -> Vec<String> {
    let word = context.env.text(REVIEW_TIER).filter(|word| Tier::parse(word).is_none());
    word.map(|word| format!("{REVIEW_TIER}={word} is not a tier and was not applied; use light, standard or full")).into_iter().collect()
}

/// Applies `--tier`, which raises.
fn raised(sizing: Sizing, asked: Option<Tier>) -> Sizing {
    match asked {
        Some(to) => sizing.raised(to, "--tier"),
        None => sizing,
    }
}

/// Shows content whole where nobody was shown it as what it is now: it was data or generated under its old name or mode, the old side is binary and the new one
/// is text, or its new name alone makes a program of it (case P16). Tells in a line what only changes line ends.
fn revealed(repo: &Repo, subject: &Subject, rules: &PathRules) -> Result<Subject, GateError> {
    let mut subject = subject.clone();
    for file in &mut subject.change.files {
        let (Some(old), Some(new)) = (&file.old, &file.new) else { continue };
        if let Some(ends) = line_ends::only(file) {
            file.body = Body::LineEnds(ends);
        }
        let becomes_program = checks::is_program_by_name(&new.path) && !checks::is_program_by_name(&old.path);
        let was_out_of_review = rules.of_side(old).is_by_policy() || file.body == Body::Binary || becomes_program;
        // The same content under another name or mode has no difference to show; it may be binary all the same.
        let moved = old.oid == new.oid;
        if !(was_out_of_review || moved) || new.mode == crate::change::Mode::Gitlink || rules.treatment(file).is_by_policy() {
            continue;
        }
        match repo.shown_whole(file)? {
            Some(Body::Text(_)) if !was_out_of_review => {}
            Some(whole) => file.body = whole,
            None => {}
        }
    }
    Ok(subject)
}

/// Sorts the changed files into what is sent and what is listed with its reason. A lock file is sent: as a summary where one could be made, else as the text it is.
fn coverage(change: &Change, rules: &PathRules, lfs: &BTreeSet<BytePath>) -> Coverage {
    Coverage::of(change, |file| match (rules.treatment(file), &file.body) {
        (Treatment::Generated, _) => Fate::Listed(Unreviewed::Generated),
        (Treatment::Data, _) => Fate::Listed(Unreviewed::Data),
        (Treatment::Excluded, _) => Fate::Listed(Unreviewed::Excluded),
        (Treatment::Review | Treatment::Lockfile, Body::Binary) => Fate::Listed(Unreviewed::Binary),
        (Treatment::Review | Treatment::Lockfile, Body::Text(_)) if lfs.contains(file.path()) => Fate::Listed(Unreviewed::Lfs),
        (Treatment::Review | Treatment::Lockfile, Body::Text(_) | Body::LineEnds(_) | Body::Utf16(_) | Body::Summary { .. } | Body::Oversize) => {
            Fate::Sent
        }
    })
}

/// A changed path that is neither sent nor listed is a fault of the gate, and nothing passes on the strength of a review that missed it.
pub(super) fn lost(paths: &[BytePath]) -> Option<Reason> {
    let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| Reason::new(Ground::Internal, format!("changed, and neither reviewed nor listed: {}", names.join(", "))))
}

/// A file that is too large to be read as text, and that no policy takes out of review, cannot be reviewed.
fn too_large(sent: &[FileChange]) -> Option<Reason> {
    let large: Vec<&FileChange> = sent.iter().filter(|file| file.body == Body::Oversize).collect();
    (!large.is_empty())
        .then(|| Reason::new(Ground::TooLarge, format!("too large to be reviewed: {}; {}", fit::named(&large, fit::blob), fit::REMEDY)))
}

/// A file that is too large to be searched for secrets refuses, unless the policy at the base calls it data: what nobody looked at must not leave in silence.
fn unsearched(large: &[BytePath], subject: &Subject, rules: &PathRules) -> Option<Reason> {
    let by_policy = |path: &BytePath| subject.change.file(path).is_some_and(|file| rules.treatment(file).is_by_policy());
    let names: Vec<String> = large.iter().filter(|path| !by_policy(path)).map(ToString::to_string).collect();
    let text = || format!("too large to be searched for secrets: {}; split it, or name it as `data` in the policy at the base", names.join(", "));
    (!names.is_empty()).then(|| Reason::new(Ground::TooLarge, text()))
}

/// What a policy asks for beyond reviews: a person at this tier, or what this version cannot do and therefore must not skip in silence.
fn asks_for_more(policy: &Policy, sizing: &Sizing) -> Vec<Reason> {
    let person = policy
        .checkpoint
        .contains(&sizing.name)
        .then(|| Reason::new(Ground::NeedsHuman, format!("the policy asks for a person at tier {}", sizing.name)));
    let verify = match policy.verify {
        Verify::Advisory => None,
        Verify::Enforce => Some(Reason::new(
            Ground::Config,
            "the policy says `verify: enforce`, and this version has no verifier; take the key out of the policy at the base",
        )),
    };
    person.into_iter().chain(verify).collect()
}

fn plan_for(run: &Run<'_>, sizing: &Sizing, policy: &Policy) -> Result<Plan, Reason> {
    if run.author.kind() == Kind::Unknown && policy.require_author.is_some_and(|from| sizing.name >= from) {
        return Err(no_reviewer(format!(
            "the author is unknown, and the policy asks for a known one at tier {}; set `author` in your configuration",
            sizing.name
        )));
    }
    plan::plan(sizing.name, run.author.kind(), run.author.families(), &run.specs, run.user.same_family).map_err(|error| {
        let remedy = match &error {
            NoReviewer::NoneConfigured if run.unusable.is_empty() => "run `review-gate init`, or add one to your configuration",
            NoReviewer::NoneConfigured => "add an API reviewer to your configuration",
            NoReviewer::NoneEligible(_) => "add one of another family; a local model costs nothing",
            NoReviewer::OneFamilyAtFull(_) => {
                "add a reviewer of a second family, or say who wrote it: `author: human` or a family in your configuration"
            }
        };
        no_reviewer([vec![error.to_string()], run.unusable.clone(), vec![remedy.to_owned()]].concat().join("; "))
    })
}

fn leniency(run: &Run<'_>, policy: &Policy, tier: Tier) -> Leniency {
    let warn_on_unavailable = match policy.on_unavailable.at(run.request.stage, tier) {
        WhenUnavailable::Block => false,
        WhenUnavailable::Warn => true,
    };
    let advisory = match policy.mode {
        Mode::Enforce => false,
        Mode::Advisory { .. } => true,
    };
    Leniency { warn_on_unavailable, advisory }
}
