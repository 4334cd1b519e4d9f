//! Overrides: what one lets through, folded from the log: one subject to one ref until it expires (threats 3.4).
//!
//! An override names no ref until it is used, unless it was made for one; its first use binds it. Uses are the run records that carry its id. What it takes to make
//! one is in `reason.rs`; which statuses an override lifts is `verdict`'s business.

use super::history::History;
use super::reason::{Lifetime, Reason};
use super::record::{Event, OverrideRecord, RefName, RunRecord, SubjectRecord, VerdictWord};
use crate::change::subject::SubjectId;
use crate::clock::Timestamp;
use crate::digest::Fields;
use std::fmt;

/// An override as the log has it by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// Its id.
    pub id: String,
    /// The one subject.
    pub subject: SubjectId,
    /// Why.
    pub reason: String,
    /// From when.
    pub created: Timestamp,
    /// Until when; at this very moment it is over.
    pub expires: Timestamp,
    /// The one ref; `None` until it is used.
    pub bound: Option<RefName>,
    /// How many runs it has let through.
    pub uses: u32,
}

/// Why an override that is there does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Its time is over.
    Expired {
        /// Since when.
        at: Timestamp,
    },
    /// It belongs to another ref.
    OtherRef {
        /// Which.
        bound: RefName,
    },
    /// The subject goes to several refs at once, and an override is for one.
    SeveralRefs {
        /// How many.
        count: usize,
    },
    /// The log has no override of that id for that subject.
    Unknown,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Expired { at } => write!(f, "expired at {at:.0}; make a new one if it is still needed"),
            Refusal::OtherRef { bound } => write!(f, "belongs to {bound}; another ref needs its own"),
            Refusal::SeveralRefs { count } => {
                write!(f, "is for one ref, and this change goes to {count}; push them one at a time, each with its own")
            }
            Refusal::Unknown => f.write_str("is not in the log for this subject"),
        }
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.remote.as_str(), self.remote_ref.as_str()) {
            ("", "") => f.write_str("the staged change"),
            ("", name) => f.write_str(name),
            (remote, name) => write!(f, "{name} at {remote}"),
        }
    }
}

/// What the log has to say about letting a subject through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody overrode it.
    None,
    /// This override lets it through; the run must carry its id.
    Valid(Override),
    /// There is one, but it does not hold here (status 17, where nothing worse applies).
    Refused(Override, Refusal),
}

/// A subject that was refused and that an override could let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its id.
    pub subject: SubjectId,
    /// The ref that it was refused for, where there was one only; the override is then for that ref.
    pub place: Option<RefName>,
}

/// What an override that names no subject is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// This was refused, and no override lets it through yet.
    For(Refused),
    /// Nothing: this override already covers what was refused last.
    Covered(Override),
    /// Nothing: no run refused anything that is still refused.
    Nothing,
}

impl Refused {
    fn of(subject: &SubjectRecord) -> Refused {
        let place = if let [only] = subject.refs.as_slice() { Some(only.clone()) } else { None };
        Refused { subject: SubjectId(subject.id.clone()), place }
    }
}

impl Override {
    /// Tells whether this override lets its subject through to `refs` at `now`.
    fn check(&self, refs: &[RefName], now: Timestamp) -> Result<(), Refusal> {
        if now >= self.expires {
            return Err(Refusal::Expired { at: self.expires });
        }
        let [place] = refs else {
            return Err(Refusal::SeveralRefs { count: refs.len() });
        };
        match &self.bound {
            Some(bound) if bound != place => Err(Refusal::OtherRef { bound: bound.clone() }),
            Some(_) | None => Ok(()),
        }
    }

    /// Counts a use; the first one binds the ref.
    fn used_by(&mut self, subject: &SubjectRecord) {
        self.uses += 1;
        if self.bound.is_none() {
            self.bound = subject.refs.first().cloned();
        }
    }
}

impl From<&OverrideRecord> for Override {
    fn from(record: &OverrideRecord) -> Override {
        Override {
            id: record.id.clone(),
            subject: SubjectId(record.subject.clone()),
            reason: record.reason.clone(),
            created: record.created,
            expires: record.expires,
            bound: record.place.clone(),
            uses: 0,
        }
    }
}

impl History {
    /// Returns every override, oldest first, with its uses.
    pub fn overrides(&self) -> Vec<Override> {
        let mut all: Vec<Override> = Vec::new();
        for record in self.records() {
            match &record.event {
                Event::Override(made) => all.push(Override::from(made)),
                Event::Run(run) => run.subjects.iter().for_each(|subject| count_use(&mut all, subject)),
                Event::Repair(_) | Event::Note(_) => {}
            }
        }
        all
    }

    /// Says whether an override lets `subject` through to `refs` at `now`: the newest that holds, else the newest that does not, with why.
    pub fn override_for(&self, subject: &SubjectId, refs: &[RefName], now: Timestamp) -> Standing {
        let mut refused = Standing::None;
        for found in self.overrides().into_iter().rev().filter(|found| found.subject == *subject) {
            match found.check(refs, now) {
                Ok(()) => return Standing::Valid(found),
                Err(why) if refused == Standing::None => refused = Standing::Refused(found, why),
                Err(_) => {}
            }
        }
        refused
    }

    /// Says what `override` is for by default: the first subject that the last refusing run refused and that no override lets through yet, to any of the refs
    /// that it was refused for. Subjects that ended in an error are not offered: no override lifts those.
    pub fn waiting(&self, now: Timestamp) -> Waiting {
        let Some(last) = self.runs_newest_first().map(|(_, run)| run).find(|run| refused_by(run).next().is_some()) else { return Waiting::Nothing };
        let overrides = self.overrides();
        let mut covered = None;
        for subject in self.newest_judgements(|subject| refused_by(last).any(|refused| refused.id == subject.id)) {
            match (covering(&overrides, subject.judged, now), subject.refused) {
                (None, true) => return Waiting::For(Refused::of(subject.judged)),
                (found, _) => covered = covered.or(found),
            }
        }
        covered.cloned().map_or(Waiting::Nothing, Waiting::Covered)
    }

    /// Returns what the newest run that refused a subject says of it, rather for a ref that no override covers yet; `None` where no run did.
    pub fn refused(&self, id: &SubjectId, now: Timestamp) -> Option<Refused> {
        let overrides = self.overrides();
        let refused: Vec<&SubjectRecord> =
            self.runs_newest_first().flat_map(|(_, run)| refused_by(run)).filter(|subject| subject.id == id.0).collect();
        let open = refused.iter().find(|subject| covering(&overrides, subject, now).is_none());
        open.or(refused.first()).map(|subject| Refused::of(subject))
    }

    /// Returns the last word on each subject and refs, newest first. An error is no word: it judged nothing.
    fn newest_judgements(&self, wanted: impl Fn(&SubjectRecord) -> bool) -> Vec<Judgement<'_>> {
        let mut newest: Vec<Judgement<'_>> = Vec::new();
        for (_, run) in self.runs_newest_first() {
            for judged in run.subjects.iter().filter(|subject| wanted(subject) && subject.verdict != VerdictWord::Error) {
                if !newest.iter().any(|known| known.judged.id == judged.id && known.judged.refs == judged.refs) {
                    newest.push(Judgement { judged, refused: run.exit_code != 0 && is_refused(judged) });
                }
            }
        }
        newest
    }

    /// Checks, at the moment of recording, that every override that a run relies on still holds.
    pub(super) fn check_overrides_of(&self, run: &RunRecord, now: Timestamp) -> Result<(), (String, Refusal)> {
        let overrides = self.overrides();
        for (subject, id) in run.subjects.iter().filter_map(|subject| Some((subject, subject.override_id()?))) {
            let found = overrides.iter().find(|made| made.id == id && made.subject.0 == subject.id).ok_or(Refusal::Unknown);
            found.and_then(|made| made.check(&subject.refs, now)).map_err(|why| (id.to_owned(), why))?;
        }
        Ok(())
    }
}

/// A subject as one run left it.
struct Judgement<'a> {
    judged: &'a SubjectRecord,
    refused: bool,
}

/// Returns what a run refused; nothing where policy let it through all the same.
fn refused_by(run: &RunRecord) -> impl Iterator<Item = &SubjectRecord> {
    run.subjects.iter().filter(|subject| run.exit_code != 0 && is_refused(subject))
}

/// Finds the newest override that lets a subject through to the refs that it went to. One for another ref covers nothing here.
fn covering<'a>(overrides: &'a [Override], subject: &SubjectRecord, now: Timestamp) -> Option<&'a Override> {
    overrides.iter().rev().find(|made| made.subject.0 == subject.id && made.check(&subject.refs, now).is_ok())
}

fn count_use(all: &mut [Override], subject: &SubjectRecord) {
    if let Some(used) = all.iter_mut().find(|made| Some(made.id.as_str()) == subject.override_id()) {
        used.used_by(subject);
    }
}

fn is_refused(subject: &SubjectRecord) -> bool {
    match subject.verdict {
        VerdictWord::Fail | VerdictWord::NeedsHuman | VerdictWord::Unavailable => true,
        VerdictWord::Pass | VerdictWord::Error => false,
    }
}

/// Writes the record of a new override. `seq` is the number that it will have, so that two of the same minute have two ids.
pub(super) fn new_record(seq: u64, subject: &SubjectId, place: Option<RefName>, reason: &Reason, lives: Lifetime, now: Timestamp) -> OverrideRecord {
    let mut fields = Fields::new("review-gate override v1");
    [seq.to_string(), subject.to_string(), now.to_string(), reason.as_str().to_owned()].iter().for_each(|field| fields.add(field));
    let created = whole_seconds(now);
    OverrideRecord {
        id: fields.finish().short(12),
        subject: subject.0.clone(),
        place,
        reason: reason.as_str().to_owned(),
        created,
        // The calendar ends in the year 9999; an override made there is over at once.
        expires: created.checked_add(lives.duration()).unwrap_or(created),
    }
}

/// A person reads these times, and nobody means a part of a second.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::super::history::samples::history;
    use super::super::record::{Basis, samples};
    use super::*;

    const WHY: &str = "vendor outage, reviewed by hand with Kim";

    fn at(time: &str) -> Timestamp {
        format!("2026-03-01T{time}Z").parse().expect("a time")
    }

    fn made(id: &str, subject: &str, place: Option<RefName>, expires: &str) -> Event {
        let created = at("10:00:00");
        Event::Override(OverrideRecord {
            id: id.to_owned(),
            subject: subject.to_owned(),
            place,
            reason: WHY.to_owned(),
            created,
            expires: at(expires),
        })
    }

    fn origin(name: &str) -> RefName {
        samples::place("origin", name)
    }

    fn used(id: &str, subject: &str, name: &str) -> Event {
        let subject = SubjectRecord { basis: Basis::Override(id.to_owned()), refs: vec![origin(name)], ..samples::subject(subject) };
        Event::Run(RunRecord { subjects: vec![subject], ..samples::run("r") })
    }

    /// What a push of subject `s` to `main` at 12:00 gets.
    fn standing(events: &[Event]) -> String {
        match history(events).override_for(&SubjectId("s".to_owned()), &[origin("main")], at("12:00:00")) {
            Standing::None => "none".to_owned(),
            Standing::Valid(found) => format!("{} used {}", found.id, found.uses),
            Standing::Refused(found, why) => format!("{} {why}", found.id),
        }
    }

    #[test]
    fn one_subject_to_one_ref_until_it_expires() {
        let other_remote = samples::place("fork", "main");
        let cases: [(&[Event], &str); 12] = [
            (&[], "none"),
            (&[made("a", "other", None, "20:00:00")], "none"),
            (&[made("a", "s", None, "20:00:00")], "a used 0"),
            (&[made("a", "s", None, "12:00:01")], "a used 0"),
            (&[made("a", "s", None, "12:00:00")], "a expired at 2026-03-01T12:00:00Z; make a new one if it is still needed"),
            (&[made("a", "s", None, "20:00:00"), used("a", "s", "main"), used("a", "s", "main")], "a used 2"),
            (&[made("a", "s", None, "20:00:00"), used("a", "s", "dev")], "a belongs to dev at origin; another ref needs its own"),
            (&[made("a", "s", Some(origin("main")), "20:00:00")], "a used 0"),
            (&[made("a", "s", Some(other_remote), "20:00:00")], "a belongs to main at fork; another ref needs its own"),
            (&[made("a", "s", None, "20:00:00"), used("a", "s", "dev"), made("b", "s", None, "20:00:00")], "b used 0"),
            (&[made("a", "s", None, "20:00:00"), made("b", "s", None, "11:00:00")], "a used 0"),
            (&[made("a", "s", None, "20:00:00"), used("unknown", "s", "dev")], "a used 0"),
        ];
        for (events, expected) in cases {
            assert_eq!(standing(events), expected);
        }
    }

    #[test]
    fn one_override_is_never_enough_for_two_refs_at_once() {
        let history = history(&[made("a", "s", None, "20:00:00")]);
        for refs in [vec![], vec![origin("main"), origin("dev")]] {
            let standing = history.override_for(&SubjectId("s".to_owned()), &refs, at("12:00:00"));
            assert!(matches!(standing, Standing::Refused(_, Refusal::SeveralRefs { count }) if count == refs.len()));
        }
    }

    #[test]
    fn a_run_may_only_be_recorded_with_an_override_that_holds_for_it() {
        let history = history(&[made("a", "s", None, "20:00:00"), used("a", "s", "main")]);
        let why = |event: Event, now: &str| match event {
            Event::Run(run) => history.check_overrides_of(&run, at(now)).map_err(|(_, why)| why),
            Event::Override(_) | Event::Repair(_) | Event::Note(_) => panic!("a run"),
        };
        assert_eq!(why(used("a", "s", "main"), "12:00:00"), Ok(()));
        assert_eq!(why(used("a", "s", "main"), "20:00:00"), Err(Refusal::Expired { at: at("20:00:00") }));
        assert_eq!(why(used("a", "s", "dev"), "12:00:00"), Err(Refusal::OtherRef { bound: origin("main") }));
        assert_eq!(why(used("a", "other", "main"), "12:00:00"), Err(Refusal::Unknown));
        assert_eq!(why(used("b", "s", "main"), "12:00:00"), Err(Refusal::Unknown));
        assert_eq!(why(Event::Run(samples::run("r")), "12:00:00"), Ok(()));
    }

    #[test]
    fn the_last_refused_subject_is_the_default() {
        let run = |exit_code: u8, subjects: &[(&str, VerdictWord)]| {
            let subjects = subjects.iter().map(|(id, verdict)| SubjectRecord { verdict: *verdict, ..samples::subject(id) }).collect();
            Event::Run(RunRecord { exit_code, subjects, ..samples::run("r") })
        };
        let last = |events: &[Event]| match history(events).waiting(at("12:00:00")) {
            Waiting::For(refused) => Some(refused.subject.0),
            Waiting::Covered(_) | Waiting::Nothing => None,
        };
        let refusing = run(1, &[("p", VerdictWord::Pass), ("e", VerdictWord::Error), ("f", VerdictWord::Fail), ("u", VerdictWord::Unavailable)]);
        assert_eq!(last(&[]), None);
        assert_eq!(last(&[run(0, &[("a", VerdictWord::Pass)])]), None);
        assert_eq!(last(&[run(0, &[("a", VerdictWord::Fail)])]), None, "advisory: nothing was refused");
        assert_eq!(last(&[run(7, &[("a", VerdictWord::Error)])]), None, "no override lifts an error");
        assert_eq!(last(std::slice::from_ref(&refusing)).as_deref(), Some("f"));
        assert_eq!(last(&[refusing.clone(), run(0, &[("a", VerdictWord::Pass)])]).as_deref(), Some("f"), "a later pass of something else");
        assert_eq!(last(&[refusing.clone(), made("x", "f", None, "20:00:00")]).as_deref(), Some("u"));
        assert_eq!(last(&[refusing.clone(), made("x", "f", None, "11:00:00")]).as_deref(), Some("f"), "that one is over");
        assert_eq!(last(&[refusing, made("x", "f", None, "20:00:00"), made("y", "u", None, "20:00:00")]), None);
        assert_eq!(last(&[run(1, &[("old", VerdictWord::Fail)]), run(9, &[("new", VerdictWord::Unavailable)])]).as_deref(), Some("new"));
    }

    /// What waits at 12:00, with the ref that it was refused for.
    fn waits(events: &[Event]) -> String {
        match history(events).waiting(at("12:00:00")) {
            Waiting::For(Refused { subject, place }) => format!("{subject} for {}", place.map(|place| place.remote_ref).unwrap_or_default()),
            Waiting::Covered(made) => format!("covered by {}", made.id),
            Waiting::Nothing => "nothing".to_owned(),
        }
    }

    fn judged(verdict: VerdictWord, id: &str, name: &str) -> Event {
        let subject = SubjectRecord { verdict, refs: vec![origin(name)], ..samples::subject(id) };
        Event::Run(RunRecord { exit_code: u8::from(verdict != VerdictWord::Pass), subjects: vec![subject], ..samples::run("r") })
    }

    #[test]
    fn an_override_for_one_ref_leaves_the_same_change_waiting_for_another() {
        let refused = |name: &str| judged(VerdictWord::Fail, "s", name);
        let on = |name: &str| made(name, "s", Some(origin(name)), "20:00:00");
        let cases: [(&[Event], &str); 9] = [
            (&[refused("main"), on("main"), refused("dev")], "s for dev"),
            (&[refused("main"), refused("dev")], "s for dev"),
            (&[refused("main"), refused("dev"), on("dev")], "s for main"),
            (&[refused("main"), refused("dev"), on("dev"), on("main")], "covered by dev"),
            (&[refused("main"), refused("dev"), on("dev"), used("dev", "s", "dev")], "s for main"),
            (&[refused("main"), judged(VerdictWord::Pass, "s", "main"), refused("dev"), on("dev")], "covered by dev"),
            (&[refused("main"), judged(VerdictWord::Pass, "s", "main")], "nothing"),
            (&[refused("main"), judged(VerdictWord::Error, "s", "main")], "s for main"),
            (&[judged(VerdictWord::Fail, "old", "main"), refused("main"), on("main")], "covered by main"),
        ];
        for (events, expected) in cases {
            assert_eq!(waits(events), expected, "{events:?}");
        }
        let both = history(&[refused("main"), refused("dev"), on("dev")]);
        let named = |id: &str| both.refused(&SubjectId(id.to_owned()), at("12:00:00")).map(|refused| refused.place);
        assert_eq!((named("s"), named("other")), (Some(Some(origin("main"))), None));
    }

    #[test]
    fn a_new_record_expires_when_it_was_told_to() {
        let reason = Reason::parse(WHY).expect("a reason");
        let subject = SubjectId("s".to_owned());
        let make = |seq| new_record(seq, &subject, None, &reason, Lifetime::default(), at("10:00:00"));
        assert_eq!(make(1).expires.to_string(), "2026-03-02T10:00:00Z");
        let odd = new_record(1, &subject, None, &reason, Lifetime::default(), "2026-03-01T10:00:00.123456Z".parse().expect("a time"));
        assert_eq!((odd.created.to_string().as_str(), odd.expires.to_string().as_str()), ("2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"));
        assert_eq!(make(1).id.len(), 12);
        assert_ne!(make(1).id, make(2).id);
    }
}
