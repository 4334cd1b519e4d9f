//! The runner against reviewers that are played by closures: who is asked, in which order, and when the wait is over.

use super::*;
use crate::clock::Limit;
use crate::finding::Severity;
use crate::plan::PassPlan;
use crate::redact::Redactor;
use crate::reviewer::{Finish, RawReply, Spec, test_spec};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a played reviewer does with a brief.
type Play = dyn Fn(&str) -> Result<RawReply, Fault> + Send + Sync;

struct Played {
    spec: Spec,
    play: Box<Play>,
    calls: AtomicUsize,
}

impl Reviewer for Played {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn ask(&self, question: &Question, _deadline: Deadline) -> Result<CompleteReply, Fault> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        (self.play)(question.brief.as_str()).and_then(CompleteReply::accept)
    }
    fn cancel(&self) {}
}

fn played(family: &str, play: impl Fn(&str) -> Result<RawReply, Fault> + Send + Sync + 'static) -> Arc<Played> {
    Arc::new(Played { spec: test_spec(family, family), play: Box::new(play), calls: AtomicUsize::new(0) })
}

fn reply(text: String) -> Result<RawReply, Fault> {
    Ok(RawReply { text, finish: Some(Finish::Stop), ..RawReply::default() })
}

/// A clean review of all slices; the brief of these tests is `nonce slice slice…`.
fn clean(brief: &str) -> Result<RawReply, Fault> {
    with_findings(brief, "[]")
}

fn with_findings(brief: &str, findings: &str) -> Result<RawReply, Fault> {
    let (nonce, slices) = brief.split_once(' ').expect("a nonce and slices");
    let slices = slices.split(' ').map(|id| format!("{id:?}")).collect::<Vec<_>>().join(",");
    reply(format!(r#"{{"nonce":"{nonce}","reviewed":[{slices}],"findings":{findings},"human":null,"complete":"{nonce}"}}"#))
}

fn fault(class: Class) -> impl Fn(&str) -> Result<RawReply, Fault> + Send + Sync {
    move |_| Err(Fault::new(class, "played").permanent())
}

fn session(reviewers: &[Arc<Played>], parts: usize, author: &str) -> Session {
    let redactor = Redactor::default();
    let seal = move |slices: &[String], nonce: &Mark| redactor.seal(&format!("{} {}", nonce.as_str(), slices.join(" ")));
    let again = seal.clone();
    let script = Script {
        system: Outbound::for_test("system"),
        brief: Box::new(move |_, slices, nonce| seal(slices, nonce)),
        schema: "{}",
        refuter: Box::new(move |_, slices, nonce| again(slices, nonce)),
        refuter_schema: "{}",
    };
    let batch = |number: usize| Batch { shared: Outbound::for_test("shared"), slices: vec![format!("c{number}")], files: Vec::new() };
    let reviewers = reviewers.iter().map(|reviewer| reviewer.clone() as Arc<dyn Reviewer>).collect();
    Session::new(Pool::new(reviewers), script, (1..=parts).map(batch).collect(), [Family::new(author)].into(), Arc::new(|_| {}))
}

fn plan(chain: &[(usize, bool)]) -> Plan {
    let chain: Vec<Link> = chain.iter().map(|(reviewer, degraded)| Link { reviewer: *reviewer, degraded: *degraded }).collect();
    Plan { passes: vec![PassPlan { name: PassName::General, chain: chain.clone() }], refuter: chain, ineligible: Vec::new() }
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5), Limit::Run)
}

fn one(session: &Session, plan: &Plan, deadline: Deadline) -> PassResult {
    run(session, plan, deadline, &|| false).expect("nobody interrupts").remove(0)
}

fn calls(reviewers: &[Arc<Played>]) -> Vec<usize> {
    reviewers.iter().map(|reviewer| reviewer.calls.load(Ordering::SeqCst)).collect()
}

#[test]
fn a_chain_advances_only_where_there_was_no_verdict() {
    let finding = r#"[{"severity":"HIGH","title":"t"}]"#;
    type Case = (&'static str, fn(Class) -> Arc<Played>, Class, [usize; 2]);
    let cases: [Case; 5] = [
        ("an outage moves on", |class| played("one", fault(class)), Class::Unreachable, [1, 1]),
        ("a refusal moves on", |class| played("one", fault(class)), Class::Declined, [1, 1]),
        ("a broken key moves on", |class| played("one", fault(class)), Class::Auth, [1, 1]),
        ("two different answers end it", |class| played("one", fault(class)), Class::Contradiction, [1, 0]),
        ("prose moves on", |_| played("one", |_| reply("PASS".to_owned())), Class::Malformed, [1, 1]),
    ];
    for (name, first, class, expected) in cases {
        let reviewers = [first(class), played("two", clean)];
        let result = one(&session(&reviewers, 1, "author"), &plan(&[(0, false), (1, false)]), soon());
        assert_eq!(calls(&reviewers), expected, "{name}");
        assert_eq!(result.attempts[0].class, Some(class), "{name}");
    }
    let reviewers = [played("one", move |brief| with_findings(brief, finding)), played("two", clean)];
    let result = one(&session(&reviewers, 1, "author"), &plan(&[(0, false), (1, false)]), soon());
    assert_eq!(calls(&reviewers), [1, 0], "a verdict is a verdict");
    assert_eq!(result.claims[0].severity, Severity::High);
}

#[test]
fn a_pass_is_reviewed_only_where_every_part_was() {
    let half = played(
        "one",
        |brief| if brief.ends_with("c2") { Err(Fault::new(Class::Declined, "no")) } else { with_findings(brief, r#"[{"title":"t"}]"#) },
    );
    let result = one(&session(&[half], 2, "author"), &plan(&[(0, false)]), soon());
    assert_eq!(result.outcome.as_str(), "declined");
    assert_eq!(result.claims.len(), 1, "what the other part found counts");
    let result = one(&session(&[played("one", clean)], 3, "author"), &plan(&[(0, false)]), soon());
    assert!(matches!(result.outcome, PassOutcome::Reviewed(_)));
    let result = one(&session(&[played("one", clean)], 0, "author"), &plan(&[(0, false)]), soon());
    assert!(!matches!(result.outcome, PassOutcome::Reviewed(_)), "no part, no review");
}

#[test]
fn a_panic_in_an_adapter_is_that_passs_failure() {
    let result = one(&session(&[played("one", |_| panic!("played"))], 1, "author"), &plan(&[(0, false)]), soon());
    assert_eq!(result.outcome.as_str(), "unavailable");
}

#[test]
fn the_authors_family_is_a_last_resort_for_outages_only() {
    for (class, expected) in
        [(Class::Unreachable, [1, 1]), (Class::RateLimited, [1, 1]), (Class::Declined, [1, 0]), (Class::Auth, [1, 0]), (Class::Malformed, [1, 0])]
    {
        let reviewers = [played("other", fault(class)), played("author", clean)];
        let result = one(&session(&reviewers, 1, "author"), &plan(&[(0, false), (1, true)]), soon());
        assert_eq!(calls(&reviewers), expected, "{class}");
        assert_eq!(result.degraded, expected[1] == 1, "{class}");
    }
}

#[test]
fn a_reply_that_names_a_model_of_the_authors_family_is_not_used() {
    let named = |model: &'static str| played("proxy", move |brief| clean(brief).map(|raw| RawReply { model: Some(model.to_owned()), ..raw }));
    let outcome = |model| one(&session(&[named(model)], 1, "anthropic"), &plan(&[(0, false)]), soon()).attempts[0].class;
    assert_eq!(outcome("claude-opus-5"), Some(Class::AuthorFamily));
    assert_eq!(outcome("some-alias"), None);
    assert_eq!(outcome("gpt-5.6-sol"), None);
}

#[test]
fn a_cut_reply_is_asked_again_with_twice_the_tokens_and_its_findings_count() {
    let cut = |text: &'static str| {
        played("one", move |brief| {
            let nonce = brief.split_once(' ').expect("a nonce").0;
            Ok(RawReply { text: format!(r#"{{"nonce":"{nonce}","findings":[{text}"#), finish: Some(Finish::Length), ..RawReply::default() })
        })
    };
    let reviewers = [cut(r#"{"severity":"HIGH"},"#), played("two", clean)];
    let result = one(&session(&reviewers, 1, "author"), &plan(&[(0, false), (1, false)]), soon());
    assert_eq!((result.outcome.as_str(), result.claims.len(), calls(&reviewers)), ("truncated", 2, vec![2, 0]), "of both attempts");
    let reviewers = [cut(""), played("two", clean)];
    let result = one(&session(&reviewers, 1, "author"), &plan(&[(0, false), (1, false)]), soon());
    assert_eq!((result.outcome.as_str(), calls(&reviewers)), ("reviewed", vec![2, 1]), "an empty list means nothing");
}

#[test]
fn what_a_cut_reply_claimed_survives_any_second_attempt() {
    for second in [Class::BadConfig, Class::Unreachable, Class::Declined] {
        let first = AtomicUsize::new(0);
        let cut = played("one", move |brief| {
            if first.fetch_add(1, Ordering::SeqCst) > 0 {
                return Err(Fault::new(second, "played").permanent());
            }
            let nonce = brief.split_once(' ').expect("a nonce").0;
            let text = format!(r#"{{"nonce":"{nonce}","findings":[{{"severity":"HIGH"}},"#);
            Ok(RawReply { text, finish: Some(Finish::Length), ..RawReply::default() })
        });
        let reviewers = [cut, played("two", clean)];
        let result = one(&session(&reviewers, 1, "author"), &plan(&[(0, false), (1, false)]), soon());
        assert_eq!((result.claims.len(), calls(&reviewers)), (1, vec![2, 0]), "{second}: nobody else is asked for a kinder word");
    }
}

#[test]
fn what_does_not_fit_the_window_is_not_sent() {
    let small = Arc::new(Played { spec: Spec { window: 10, ..test_spec("small", "small") }, play: Box::new(clean), calls: AtomicUsize::new(0) });
    let reviewers = [small, played("large", clean)];
    let result = one(&session(&reviewers, 1, "author"), &plan(&[(0, false), (1, false)]), soon());
    assert_eq!((calls(&reviewers), result.attempts[0].class), (vec![0, 1], Some(Class::TooLarge)));
}

#[test]
fn the_deadline_ends_the_wait_whatever_a_reviewer_does() {
    let stuck = played("one", |_| {
        std::thread::sleep(Duration::from_secs(2));
        Err(Fault::new(Class::Unreachable, "late"))
    });
    let started = clock::instant();
    let result = one(&session(&[stuck], 1, "author"), &plan(&[(0, false)]), Deadline::after(Duration::from_millis(200), Limit::Run));
    assert_eq!(result.outcome.as_str(), "timed-out");
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
}

#[test]
fn an_interrupt_ends_the_wait() {
    let stuck = played("one", |_| {
        std::thread::sleep(Duration::from_secs(2));
        Err(Fault::new(Class::Unreachable, "late"))
    });
    let started = clock::instant();
    assert_eq!(run(&session(&[stuck], 1, "author"), &plan(&[(0, false)]), soon(), &|| true).err(), Some(Interrupted));
    assert!(started.elapsed() < Duration::from_secs(1));
}
