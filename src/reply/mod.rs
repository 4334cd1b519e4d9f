//! The reply contract: text → claims, or a named fault. Pure; the only maker of [`Review`].
//!
//! A review exists only where exactly one JSON object carries the call's nonce, names every slice, and repeats the nonce as `complete`. Prose around it
//! is allowed, silence is not. What the claims are worth is `finding/`'s business.

mod strict;

use crate::finding::{Claim, Provenance, Severity};
use crate::json::Strict;
use crate::reviewer::{Class, CompleteReply, Fault};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use strict::objects;

/// Claims in one reply; more make it malformed (threat T10).
const MAX_CLAIMS: usize = 500;
/// Bytes of one text field; the rest is cut with a mark.
const MAX_FIELD: usize = 4096;
/// Bytes of quoted evidence: whole lines of minified code must be found again.
const MAX_EVIDENCE: usize = 64 << 10;
/// What ends a block of reasoning.
const CLOSINGS: [&str; 2] = ["</think>", "</thinking>"];
/// Words that say that no person is needed.
const NO_MARK: [&str; 7] = ["", "none", "no", "n/a", "null", "false", "nothing"];
/// How the mark begins that stands for what was cut off.
pub const CUT: &str = "… [";

/// What a reply must repeat.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The call's nonce: 32 hex digits.
    pub nonce: String,
    /// The slice ids that were sent.
    pub slices: Vec<String>,
}

/// A complete review: the reviewer read every slice and said what it found. Made only by [`review`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    claims: Vec<Claim>,
    human: Option<String>,
}

impl Review {
    /// Returns the claims.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Returns the reason for which the reviewer wants a person to look: an effect that a revert cannot undo.
    pub fn human(&self) -> Option<&str> {
        self.human.as_deref()
    }

    /// Joins the reviews of the parts of one pass.
    pub fn join(parts: impl IntoIterator<Item = Review>) -> Option<Review> {
        parts.into_iter().reduce(|mut all, part| {
            all.claims.extend(part.claims);
            all.human = all.human.or(part.human);
            all
        })
    }
}

/// A refuter's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refutation {
    /// The refuter says that the claim is wrong.
    pub refuted: bool,
    /// The path of its evidence, as it wrote it.
    pub file: String,
    /// The quoted line or lines.
    pub evidence: String,
    /// One sentence.
    pub why: String,
}

/// Reads a pass's reply.
///
/// # Errors
/// `malformed` (no object with the nonce, several, duplicate keys, a missing slice or end mark), `contradiction` for two different answers with the right
/// nonce, `declined` where nothing is left once a think block is removed.
pub fn review(reply: &CompleteReply, expected: &Expected) -> Result<Review, Fault> {
    let object = answer(reply, &expected.nonce)?;
    let malformed = |why: String| malformed(reply, why);
    let seen: BTreeSet<&str> = object.get("reviewed").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(missing) = expected.slices.iter().find(|id| !seen.contains(id.as_str())) {
        return Err(malformed(format!("the reply does not say that slice {missing} was read")));
    }
    let Some(list) = object.get("findings").and_then(Value::as_array) else {
        return Err(malformed("the reply has no list of findings".to_owned()));
    };
    if list.len() > MAX_CLAIMS {
        return Err(malformed(format!("the reply has {} findings; more than {MAX_CLAIMS} are not read", list.len())));
    }
    let claims = list.iter().map(|item| item.as_object().map(claim)).collect::<Option<Vec<_>>>();
    let claims = claims.ok_or_else(|| malformed("an entry of the list of findings is not an object".to_owned()))?;
    Ok(Review { claims, human: human(object.get("human")) })
}

/// Reads a refuter's reply.
///
/// # Errors
/// As [`review`]; `malformed` also where `refuted` is not a boolean.
pub fn refutation(reply: &CompleteReply, nonce: &str) -> Result<Refutation, Fault> {
    let object = answer(reply, nonce)?;
    let Some(refuted) = object.get("refuted").and_then(Value::as_bool) else {
        return Err(malformed(reply, "the reply does not say whether the claim is refuted".to_owned()));
    };
    let field = |name| text(&object, name).unwrap_or_default();
    Ok(Refutation { refuted, file: field("file"), evidence: field("evidence"), why: field("why") })
}

/// Returns the claims that arrived whole before a token limit cut the reply. They count; their absence means nothing.
pub fn salvage(partial: &str, expected: &Expected) -> Vec<Claim> {
    let body = without_thinking(partial);
    // The nonce may stand in prose before the answer; the first place with whole claims behind it counts.
    body.match_indices(&expected.nonce).map(|(at, _)| claims_behind(&body[at..])).find(|claims| !claims.is_empty()).unwrap_or_default()
}

fn claims_behind(text: &str) -> Vec<Claim> {
    let Some((_, mut rest)) = text.split_once("\"findings\"").and_then(|(_, rest)| rest.split_once('[')) else { return Vec::new() };
    let mut claims = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Strict>();
        match objects.next() {
            Some(Ok(Strict(Value::Object(object)))) if claims.len() < MAX_CLAIMS => claims.push(claim(&object)),
            _ => return claims,
        }
        rest = &rest[objects.byte_offset()..];
    }
}

/// Finds the one object that carries the nonce and ends with it. Some servers keep the opening of a think block to themselves: where the whole text is no answer, what
/// stands behind a lone closing mark may be one. The whole comes first, because a quoted line may hold such a mark.
fn answer(reply: &CompleteReply, nonce: &str) -> Result<Map<String, Value>, Fault> {
    let body = without_thinking(reply.text());
    if body.trim().is_empty() {
        let fault = Fault::new(Class::Declined, "the reply holds reasoning but no answer");
        return Err(Fault { usage: reply.usage(), model: reply.model().map(str::to_owned), raw: Some(reply.text().to_owned()), ..fault });
    }
    answer_in(body, reply, nonce).or_else(|fault| {
        let behind = CLOSINGS.iter().find_map(|closing| body.split_once(closing));
        behind.and_then(|(_, rest)| answer_in(rest, reply, nonce).ok()).ok_or(fault)
    })
}

fn answer_in(body: &str, reply: &CompleteReply, nonce: &str) -> Result<Map<String, Value>, Fault> {
    let objects = objects(body, nonce).map_err(|why| malformed(reply, why))?;
    let (mut right, wrong): (Vec<_>, Vec<_>) = objects.into_iter().partition(|object| object.get("nonce").and_then(Value::as_str) == Some(nonce));
    let Some(object) = right.pop() else {
        let named = wrong.iter().any(|object| object.contains_key("nonce"));
        let why = if named { "the reply has the wrong nonce" } else { "the reply has no JSON object with the nonce" };
        return Err(malformed(reply, why.to_owned()));
    };
    if let Some(other) = right.first() {
        let fault = malformed(reply, "the reply has several objects with the nonce".to_owned());
        let different =
            Fault { class: Class::Contradiction, detail: "the reply has two different answers with the right nonce".to_owned(), ..fault.clone() };
        return Err(if *other == object { fault } else { different });
    }
    if object.get("complete").and_then(Value::as_str) != Some(nonce) {
        return Err(malformed(reply, "the reply does not end with its completion mark".to_owned()));
    }
    Ok(object)
}

fn malformed(reply: &CompleteReply, why: String) -> Fault {
    let fault = Fault::new(Class::Malformed, why);
    Fault { usage: reply.usage(), model: reply.model().map(str::to_owned), raw: Some(reply.text().to_owned()), ..fault }
}

/// Strips one leading think block. One that is never closed leaves nothing (requirement H07).
fn without_thinking(text: &str) -> &str {
    let text = text.trim_start();
    match CLOSINGS.iter().find(|closing| text.starts_with(&closing.replace('/', ""))) {
        Some(closing) => text.split_once(closing).map_or("", |(_, rest)| rest),
        None => text,
    }
}

fn claim(object: &Map<String, Value>) -> Claim {
    let field = |name| text(object, name).unwrap_or_default();
    Claim {
        // A claim without a severity is HIGH: what a reviewer forgot to weigh must not pass unseen (requirement P14).
        severity: text(object, "severity").map_or(Severity::High, |word| Severity::from_reviewer(&word)),
        rule: field("rule"),
        file: field("file"),
        line: line(object.get("line")),
        title: field("title"),
        issue: field("issue"),
        cause: field("cause"),
        failing_case: field("failing_case"),
        evidence: field("evidence"),
        provenance: match field("provenance").as_str() {
            "pre-existing" | "preexisting" | "pre_existing" => Provenance::PreExisting,
            "exposed" => Provenance::Exposed,
            _ => Provenance::Introduced,
        },
        confidence: field("confidence"),
        fix: field("fix"),
        proof: field("proof"),
    }
}

/// Reads the mark for a person. Whatever is not plainly "no" counts: a mark in a shape that was not agreed must not be lost.
fn human(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::String(reason)) if NO_MARK.contains(&reason.trim().to_ascii_lowercase().as_str()) => None,
        Some(Value::String(reason)) => Some(cut(reason, MAX_FIELD)),
        Some(Value::Array(list)) if list.is_empty() => None,
        Some(Value::Object(map)) if map.is_empty() => None,
        Some(other @ (Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
            Some(cut(&format!("it says {other}"), MAX_FIELD))
        }
    }
}

/// Reads a line number given as a number, or as text such as `42` or `42-45`.
fn line(value: Option<&Value>) -> u32 {
    let number = match value {
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty()).and_then(|part| part.parse().ok()),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => None,
    };
    number.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

/// Returns a text field, cut to its limit. Numbers are taken as their text, a list of texts as its lines.
fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    match object.get(name)? {
        Value::String(text) => Some(cut(text, limit(name))),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(lines) => Some(cut(&lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"), limit(name))),
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

fn limit(name: &str) -> usize {
    if name == "evidence" { MAX_EVIDENCE } else { MAX_FIELD }
}

/// Cuts a text at white space, so that no half of a secret is left that masking would not know; the mark stands on a line of its own, so that what is before it
/// can still be found in the change.
fn cut(full: &str, most: usize) -> String {
    if full.len() <= most {
        return full.to_owned();
    }
    let limit = (0..=most).rev().find(|at| full.is_char_boundary(*at)).unwrap_or(0);
    let kept = &full[..full[..limit].rfind(char::is_whitespace).unwrap_or(0)];
    format!("{kept}\n{CUT}{} bytes cut]", full.len() - kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reviewer::{Finish, RawReply, Usage};

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn reply(text: &str) -> CompleteReply {
        CompleteReply::accept(RawReply { text: text.to_owned(), finish: Some(Finish::Stop), model: None, usage: Usage::default() })
            .expect("text and a normal end")
    }

    fn read(text: &str) -> Result<Review, Class> {
        let expected = Expected { nonce: NONCE.to_owned(), slices: vec!["c1".to_owned(), "c2".to_owned()] };
        review(&reply(&text.replace("NONCE", NONCE)), &expected).map_err(|fault| fault.class)
    }

    const CLEAN: &str = r#"{"nonce":"NONCE","reviewed":["c1","c2"],"findings":[],"human":null,"complete":"NONCE"}"#;

    #[test]
    fn a_clean_reply_is_a_review_with_or_without_wrapping() {
        for text in [
            CLEAN.to_owned(),
            format!("<think>maybe {{\"nonce\":\"x\"}}</think>\n{CLEAN}"),
            format!("<thinking>{}</thinking>\n{CLEAN}", CLEAN.replace("null", "\"draft\"")),
            format!("a draft: {}</think>\n{CLEAN}", CLEAN.replace("null", "\"draft\"")),
            format!("Here you are:\n```json\n{CLEAN}\n```\nDone. See fn f() {{ g() }}."),
            CLEAN.replace("\"human\"", "\"note\":1,\"human\""),
        ] {
            assert_eq!(read(&text).map(|review| review.claims().len()), Ok(0), "{text}");
        }
    }

    #[test]
    fn everything_less_than_complete_is_malformed() {
        let cases = [
            ("prose", "PASS: looks good, no findings".to_owned()),
            ("wrong nonce", CLEAN.replace("\"nonce\":\"NONCE\"", "\"nonce\":\"ffff\"")),
            ("no end mark", CLEAN.replace(",\"complete\":\"NONCE\"", "")),
            ("wrong end mark", CLEAN.replace("\"complete\":\"NONCE\"", "\"complete\":\"done\"")),
            ("missing slice", CLEAN.replace(",\"c2\"", "")),
            ("no list", CLEAN.replace("\"findings\":[],", "")),
            ("list of words", CLEAN.replace("\"findings\":[]", "\"findings\":[\"none\"]")),
            ("twice the same", format!("{CLEAN}{CLEAN}")),
            ("duplicate key", CLEAN.replace("\"human\"", "\"findings\":[],\"human\"")),
            ("duplicate key around an answer", format!("{{\"a\":{CLEAN},\"a\":1}}")),
            ("nested", format!("{{\"result\":{CLEAN}}}")),
            ("cut", CLEAN[..CLEAN.len() - 1].to_owned()),
            ("a broken answer whose nonce comes last", format!("{{\"findings\":[{{\"title\":\"a \\d path\"}}],\"nonce\":\"NONCE\"}}\n{CLEAN}")),
            ("a broken answer before a clean one", format!("{}\n{CLEAN}", CLEAN.replace("[]", r#"[{"severity":"CRITICAL","title":"m\'ore"}]"#))),
        ];
        for (name, text) in cases {
            assert_eq!(read(&text), Err(Class::Malformed), "{name}");
        }
    }

    #[test]
    fn two_different_answers_are_a_contradiction() {
        let other = CLEAN.replace("\"human\":null", "\"human\":\"drops a table\"");
        assert_eq!(read(&format!("{CLEAN}\n{other}")), Err(Class::Contradiction));
    }

    #[test]
    fn an_unclosed_think_block_is_no_answer() {
        assert_eq!(read(&format!("<think>{CLEAN}")), Err(Class::Declined));
    }

    #[test]
    fn claims_are_read_and_never_lowered_by_an_unknown_word() {
        let text = CLEAN.replace(
            "\"findings\":[]",
            r#""findings":[{"severity":"P1","line":"42-45","file":"a.rs"},{"severity":"??","provenance":"pre-existing"},{},{"severity":"minor","line":7}]"#,
        );
        let review = read(&text).expect("a review");
        let got: Vec<_> = review.claims().iter().map(|claim| (claim.severity, claim.line, claim.provenance)).collect();
        assert_eq!(
            got,
            [
                (Severity::High, 42, Provenance::Introduced),
                (Severity::High, 0, Provenance::PreExisting),
                (Severity::High, 0, Provenance::Introduced),
                (Severity::Medium, 7, Provenance::Introduced),
            ]
        );
    }

    #[test]
    fn a_quoted_end_of_thinking_is_no_end_of_thinking() {
        let quoting = CLEAN.replace("[]", r#"[{"severity":"CRITICAL","evidence":"exec(text.split(\"</think>\")[1])"}]"#);
        assert_eq!(read(&quoting).map(|review| review.claims().len()), Ok(1));
    }

    #[test]
    fn a_mark_for_a_person_counts_in_any_shape() {
        for (mark, counts) in [
            ("null", false),
            ("false", false),
            ("\" \"", false),
            ("\"drops a table\"", true),
            ("true", true),
            (r#"{"reason":"x"}"#, true),
            ("1", true),
        ] {
            let review = read(&CLEAN.replace("\"human\":null", &format!("\"human\":{mark}"))).expect("a review");
            assert_eq!(review.human().is_some(), counts, "{mark}");
        }
    }

    #[test]
    fn evidence_may_be_a_list_and_a_cut_stands_on_its_own_line() {
        let long = format!("{} {}", "x".repeat(MAX_EVIDENCE - 10), "y".repeat(20));
        let text = CLEAN.replace("[]", &format!(r#"[{{"evidence":["one","two"]}},{{"evidence":"{long}"}}]"#));
        let review = read(&text).expect("a review");
        assert_eq!(review.claims()[0].evidence, "one\ntwo");
        assert_eq!(review.claims()[1].evidence.lines().nth(1), Some("… [21 bytes cut]"), "no half word is left");
    }

    #[test]
    fn whole_claims_of_a_cut_reply_are_kept() {
        let expected = Expected { nonce: NONCE.to_owned(), slices: vec![] };
        let partial = format!(
            r#"{{"nonce":"{NONCE}","reviewed":[],"findings":[{{"severity":"HIGH","title":"one"}}, {{"severity":"LOW","title":"two"}}, {{"sev"#
        );
        assert_eq!(salvage(&partial, &expected).iter().map(|claim| claim.title.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        assert!(salvage(&partial.replace(NONCE, "other"), &expected).is_empty());
    }

    #[test]
    fn a_reply_of_braces_is_refused_in_linear_time() {
        let hostile = "{\"a\":[".repeat(1 << 14);
        assert_eq!(read(&hostile), Err(Class::Malformed));
        assert_eq!(read(&"{ ".repeat(1 << 15)), Err(Class::Malformed));
    }

    #[test]
    fn a_refutation_needs_its_word() {
        let text = format!(r#"{{"nonce":"{NONCE}","refuted":true,"file":"a","line":1,"evidence":"x","why":"y","complete":"{NONCE}"}}"#);
        assert!(refutation(&reply(&text), NONCE).expect("an answer").refuted);
        assert_eq!(refutation(&reply(&text.replace("true", "\"yes\"")), NONCE).map_err(|fault| fault.class), Err(Class::Malformed));
    }
}
