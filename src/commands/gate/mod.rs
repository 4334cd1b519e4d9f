//! The gate, top to bottom: subjects in, a proof or a refusal out.
//!
//! Everything that decides is in the model; this file does the introductions, and each step has a file of its own beside it.

mod ask;
mod case;
mod checks;
mod fit;
mod key;
mod lockfiles;
mod preview;
mod raw;
mod record;
mod secrets;
mod told;
mod turns;
mod view;

use case::Case;
pub(super) use preview::{dry_run, prompts, sizing};

use super::interrupt::Interrupt;
use super::{Context, Gated};
use crate::author::{Author, Stated, Who};
use crate::cli::Format;
use crate::clock::{self, Deadline, Limit, Timestamp};
use crate::config::{Stage, User};
use crate::error::GateError;
use crate::exit::{Code, PassProof, Refusal};
use crate::git::{Repo, Selected};
use crate::ledger::{Ledger, LedgerError, Reason as OverrideReason, RunRecord, Standing};
use crate::random;
use crate::redact::Redactor;
use crate::report::printer::Volume;
use crate::report::progress::Channel;
use crate::report::{json, text, v1::Report};
use crate::reviewer::Spec;
use crate::tier::Tier;
use crate::transport::process;
use crate::verdict::{self, Basis, Decision, Ground, Reason};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is to be judged, and how.
pub(super) struct Request {
    /// For the policy's `on_unavailable`.
    pub stage: Stage,
    /// For the ledger: `pre-push`, `pre-commit`, `pre-merge-commit`, `run`.
    pub name: &'static str,
    /// The change, captured once.
    pub selected: Selected,
    /// The remote that a push goes to.
    pub remote: Option<String>,
    /// Who wrote it, as stated on the command line.
    pub authors: Vec<Who>,
    /// The tier asked for.
    pub tier: Option<Tier>,
    /// Only these reviewers, in order; empty for all.
    pub reviewers: Vec<String>,
    /// For the whole run.
    pub deadline: Duration,
    /// Only some paths are looked at: no receipt.
    pub narrowed: bool,
    /// Let it through for this reason.
    pub override_reason: Option<String>,
    /// Where progress is shown.
    pub progress: Channel,
    /// Where the report goes.
    pub sink: Sink,
}

/// Where the report goes.
pub(super) struct Sink {
    /// In which form.
    pub format: Format,
    /// Into this file; people then see the text all the same.
    pub file: Option<PathBuf>,
}

impl Sink {
    /// Opens the file before anything is spent: a path that cannot be written must not cost a review.
    fn open(&self) -> Result<Option<File>, GateError> {
        let open = |path: &PathBuf| {
            let hint = "name a file in a folder that is there and can be written";
            File::create(path)
                .map_err(|error| GateError::usage(error).while_doing(format!("cannot write the report to {}", path.display())).hinted(hint))
        };
        self.file.as_ref().map(open).transpose()
    }

    fn render(&self, report: &Report) -> String {
        match self.format {
            Format::Text => text::render(report, false),
            Format::Json => json::render(report),
        }
    }
}

/// One run: what is known from the first moment.
pub(super) struct Run<'a> {
    context: &'a Context,
    repo: &'a Repo,
    user: &'a User,
    request: Request,
    id: String,
    started: Instant,
    now: Timestamp,
    deadline: Deadline,
    redactor: Redactor,
    specs: Vec<Spec>,
    /// Entries that are never asked, and why.
    unusable: Vec<String>,
    author: Author,
}

/// Judges the request.
///
/// # Errors
/// What keeps a verdict from being reached or recorded, with its status; an error is never a pass.
pub(super) fn gate(context: &Context, repo: &Repo, user: &User, request: Request) -> Result<Gated, GateError> {
    let file = request.sink.open()?;
    let mut ledger = Ledger::open(repo.common_dir()).map_err(of_ledger)?;
    let run = Run::begin(context, repo, user, request)?;
    let mut cases = run.cases()?;
    run.override_now(&cases, &mut ledger)?;
    for case in &mut cases {
        run.settle_without_asking(case, &ledger);
    }
    let interrupt = Interrupt::install((run.request.stage != Stage::Run).then_some(context.parent));
    // Held to the end of this function: another run over the same content looks for our record, not for our answer.
    let (_turns, waited) = run.take_turns(&mut cases, &mut ledger, &interrupt)?;
    let waited = waited + run.ask(&mut cases, &interrupt);
    raw::keep(&run, &mut cases);
    let verdicts: Vec<_> = cases.iter().map(Case::verdict).collect();
    let decision = match interrupt.code() {
        Some(code) => {
            // What this run started has groups of its own, which neither the terminal nor whoever killed git has reached.
            process::kill_running();
            Err(code)
        }
        None => Ok(verdict::decide(&run.id, &verdicts)),
    };
    run.finish(&cases, decision, waited, &mut ledger, file)
}

/// Puts an error that kept the run from a verdict into the report's form, for programs. People read it on stderr; the status says the same either way.
pub(super) fn tell_error(context: &Context, sink: &Sink, error: &GateError) {
    if sink.format != Format::Json {
        return;
    }
    let report = json::render(&view::of_error(error));
    match &sink.file {
        None => context.printer.result(report.as_bytes()),
        // That the file cannot be written is no news worth more than the error itself.
        Some(file) => drop(std::fs::write(file, report)),
    }
}

impl<'a> Run<'a> {
    fn begin(context: &'a Context, repo: &'a Repo, user: &'a User, request: Request) -> Result<Run<'a>, GateError> {
        let started = clock::instant();
        let deadline = Deadline::after(request.deadline, Limit::Run);
        let idle = request.selected.subjects.iter().all(|subject| subject.change.is_empty() && subject.commits.is_empty());
        let keys = if idle { ask::Keys::Idle } else { ask::Keys::Needed(deadline) };
        let (specs, unusable) = ask::specs(context, user, &request.reviewers, keys)?;
        let keys: Vec<_> = specs.iter().filter_map(Spec::secret).cloned().collect();
        let allowed: Vec<String> = user.allow_secrets.iter().cloned().collect();
        let mut stated: Vec<Stated> = user.stated().into_iter().collect();
        stated.extend(request.authors.iter().map(|who| Stated { source: "--author", who: who.clone() }));
        let mut signs = Vec::new();
        for subject in &request.selected.subjects {
            signs.extend(repo.trailers(subject)?);
        }
        let author = Author::detect(&stated, &context.env, &signs);
        let redactor = Redactor::new(&keys, &allowed);
        let (id, now) = (random::hex128(), clock::now_utc());
        Ok(Run { context, repo, user, request, id, started, now, deadline, redactor, specs, unusable, author })
    }

    /// Captures what each subject needs to be judged: policy, tier, plan, secrets, checks.
    fn cases(&self) -> Result<Vec<Case>, GateError> {
        self.request.selected.subjects.iter().map(|subject| Case::prepare(self, subject)).collect()
    }

    /// `run --override`: records it before anything is decided on its strength.
    fn override_now(&self, cases: &[Case], ledger: &mut Ledger) -> Result<(), GateError> {
        let Some(typed) = &self.request.override_reason else { return Ok(()) };
        let reason = OverrideReason::parse(&self.redactor.clean(typed)).map_err(|error| GateError::new(Code::Override, error))?;
        for case in cases.iter().filter(|case| case.nothing().is_none() && case.is_liftable()) {
            let place = case.refs.first().cloned();
            ledger.add_override(&case.id, place, &reason, Default::default(), self.now).map_err(of_ledger)?;
        }
        Ok(())
    }

    /// Nothing to review, an override, a receipt: no call is made. A secret refuses here unless an override lifts it, because then nothing is sent.
    fn settle_without_asking(&self, case: &mut Case, ledger: &Ledger) {
        if let Some(basis) = case.nothing() {
            case.basis = Some(basis);
            return;
        }
        match ledger.history().override_for(&case.id, &case.refs, self.now) {
            // An override lifts what was judged, never a set-up that is broken (product contract, exit table).
            Standing::Valid(_) if !case.is_liftable() => return,
            Standing::Valid(found) => {
                case.basis = Some(Basis::Overridden(found.id.clone()));
                case.overridden = Some(found);
                return;
            }
            Standing::Refused(found, why) => case.spent_override = Some(format!("override {} {why}", found.id)),
            Standing::None => {}
        }
        if case.reasons.is_empty()
            && let Some(receipt) = case.key.as_ref().and_then(|key| ledger.history().receipt(key, clock::now_utc()))
        {
            case.basis = Some(Basis::Receipt(receipt.seq));
        }
    }

    /// Records durably, shows the report, and only then hands out the proof.
    fn finish(
        &self,
        cases: &[Case],
        decision: Result<Decision, Code>,
        waited: Duration,
        ledger: &mut Ledger,
        file: Option<File>,
    ) -> Result<Gated, GateError> {
        let word = decision.as_ref().map_or(verdict::Word::Error, Decision::word);
        let code = match &decision {
            Ok(Decision::Accepted(_)) => None,
            Ok(Decision::Refused(ground)) => Some(Code::from(*ground)),
            Err(code) => Some(*code),
        };
        let report = view::report(self, cases, word, code, waited);
        let record: RunRecord = record::of(self, cases, word, code, &report);
        let recorded = ledger.append_run(record, self.now).map_err(of_ledger)?;
        self.show(&report, file);
        Ok(match (decision, code) {
            (Ok(Decision::Accepted(accepted)), None) => Ok(PassProof::new(accepted, &recorded)?),
            (_, code) => Err(Refusal(code.unwrap_or(Code::Internal))),
        })
    }

    /// Shows the report to people, or as JSON where no file was named for it, and writes the file.
    fn show(&self, report: &Report, file: Option<File>) {
        let printer = self.context.printer;
        match (self.request.sink.format, &file) {
            (Format::Json, None) => printer.result(json::render(report).as_bytes()),
            _ if printer.volume() == Volume::Quiet && report.exit_code == 0 => {}
            (Format::Json | Format::Text, _) => printer.result(text::render(report, printer.colored()).as_bytes()),
        }
        if let Some(mut file) = file
            && let Err(error) = file.write_all(self.request.sink.render(report).as_bytes())
        {
            printer.error(&format!("warning: the report could not be written to its file: {error}"));
        }
    }

    /// Returns where progress goes.
    fn channel(&self) -> Channel {
        if self.context.printer.volume() == Volume::Quiet { Channel::Off } else { self.request.progress }
    }

    fn remote_name(&self) -> String {
        self.request.remote.as_deref().map(without_credentials).unwrap_or_default()
    }
}

/// A URL may carry user and token; neither is for a log (case "remote given as URL").
fn without_credentials(remote: &str) -> String {
    match remote.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}/{path}")
        }
        None => remote.to_owned(),
    }
}

fn of_ledger(error: LedgerError) -> GateError {
    let code = match &error {
        LedgerError::OverrideSpent { .. } => Code::Override,
        LedgerError::Io { .. }
        | LedgerError::Unsafe { .. }
        | LedgerError::Locked { .. }
        | LedgerError::Broken { .. }
        | LedgerError::Newer { .. }
        | LedgerError::Replaced { .. }
        | LedgerError::TooLarge { .. }
        | LedgerError::Unwritable { .. } => Code::Ledger,
    };
    GateError::new(code, error).while_doing("cannot record this run, so it is refused")
}

/// Makes the reason for a subject that no reviewer may judge.
fn no_reviewer(text: String) -> Reason {
    Reason::new(Ground::Config, text)
}
