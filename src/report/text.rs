//! The report for people: banner, findings by severity, one `GATE:` line, what to do next.
//!
//! A reviewer's words are data: control characters are shown as escapes, and what it suggests stands in a frame that says whose words they are (threat T11).

use super::v1::{Attempt, Coverage, Finding, Pass, Report, Subject};
use crate::change::slice::is_hidden;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many lines of evidence are shown.
const QUOTED: usize = 6;

/// Renders the report. Lines are wrapped by the terminal, not here, so that a path or a command can be copied whole.
pub fn render(report: &Report, color: bool) -> String {
    let ink = Ink(color);
    let mut out = String::new();
    for subject in &report.subjects {
        banner(&mut out, report, subject, ink);
    }
    for deletion in &report.deletions {
        line(&mut out, &format!("  deletes {deletion} (not reviewed)"));
    }
    for why in &report.ineligible {
        line(&mut out, &format!("  not asked: {}", clean(why)));
    }
    if report.subjects.is_empty() && report.exit_code == 0 {
        line(&mut out, &format!("review-gate · nothing to publish{}", if report.deletions.is_empty() { "" } else { " but deletions" }));
    }
    for note in &report.notes {
        line(&mut out, &format!("  note: {}", clean(note)));
    }
    let (shown, rest): (Vec<&Finding>, Vec<&Finding>) = report.findings.iter().partition(|finding| finding.status == "blocking");
    for finding in shown.into_iter().chain(rest) {
        show(&mut out, finding, ink);
    }
    gate_line(&mut out, report, ink);
    next(&mut out, report);
    out
}

/// Shows several lines safely, each as [`clean`] does.
pub fn lines(text: &str) -> String {
    text.lines().map(|line| clean(line) + "\n").collect()
}

/// Shows a reviewer's or a server's words safely: no control character but the space reaches a terminal or a log (requirement P19).
pub fn clean(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '\n' | '\t' | '\r' => out.push(' '),
            c if is_hidden(c) => {
                let _ = write!(out, "⟨U+{:04X}⟩", c as u32);
            }
            c => out.push(c),
        }
        out
    })
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn banner(out: &mut String, report: &Report, subject: &Subject, ink: Ink) {
    let refs: Vec<&str> = subject.refs.iter().map(|r| if r.remote_ref.is_empty() { r.local_ref.as_str() } else { r.remote_ref.as_str() }).collect();
    let change = &subject.change;
    let plural = if change.files == 1 { "file" } else { "files" };
    let named: Vec<&str> = refs.into_iter().filter(|name| !name.is_empty()).collect();
    let place = if named.is_empty() { "uncommitted change".to_owned() } else { clean(&named.join(", ")) };
    line(out, &ink.bold(&format!("review-gate · {place} · {} {plural}, +{} -{}", change.files, change.added, change.deleted)));
    let source = subject.refs.first().map(|r| r.base_source).unwrap_or_default();
    let forced = if subject.refs.iter().any(|r| r.force) { ", rewritten" } else { "" };
    let floors = if subject.tier.floors.is_empty() { String::new() } else { format!(", floor: {}", subject.tier.floors.join(", ")) };
    line(out, &format!("  tier    {} ({}){floors}; base: {source}{forced}", subject.tier.name, clean(&subject.tier.reason)));
    let evidence = if report.author.evidence.is_empty() { String::new() } else { format!(" ({})", report.author.evidence.join(", ")) };
    line(out, &format!("  author  {}{}", report.author.families.join(", "), clean(&evidence)));
    for pass in &subject.passes {
        show_pass(out, pass, ink);
    }
    if subject.receipt.hit {
        line(out, "  passed before with this content under this policy; no call was made");
    } else if change.files == 0 {
        line(out, "  nothing new to review; no call was made");
    }
    if let Some(made) = &subject.overridden {
        line(out, &ink.yellow(&format!("  OVERRIDDEN until {} by override {}; nothing was sent to a reviewer", made.expires, made.id)));
        line(out, &format!("  its reason: {}", clean(&made.reason)));
    }
    not_reviewed(out, &subject.coverage);
}

/// Lists what was not reviewed by its reason: some paths of each, and how many more there are. Of what went unreviewed as a whole only the number is news.
fn not_reviewed(out: &mut String, coverage: &Coverage) {
    const SHOWN: usize = 10;
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    coverage.not_reviewed.iter().for_each(|one| by_reason.entry(one.reason).or_default().push(&one.path));
    for (reason, paths) in by_reason {
        let (shown, words) = match reason {
            "not-sent" | "no-answer" => (0, reason),
            "lockfile" => (SHOWN, "lockfile; a summary of it was reviewed"),
            other => (SHOWN, other),
        };
        paths.iter().take(shown).for_each(|path| line(out, &format!("  not reviewed: {} ({words})", clean(path))));
        let more = paths.len().saturating_sub(shown);
        if more > 0 {
            let more = if shown > 0 { format!("{more} more") } else { format!("{more} {}", if more == 1 { "path" } else { "paths" }) };
            line(out, &format!("  not reviewed: {more} ({words}; the JSON report names each)"));
        }
    }
}

fn show_pass(out: &mut String, pass: &Pass, ink: Ink) {
    let who = if pass.reviewer.is_empty() {
        "nobody".to_owned()
    } else {
        format!("{} {}/{} ({})", pass.reviewer, pass.provider, clean(&pass.model), pass.family)
    };
    let seconds = pass.ms as f64 / 1000.0;
    let degraded = if pass.degraded { ink.yellow(" DEGRADED: the author's own family") } else { String::new() };
    let outcome = if pass.outcome == "reviewed" { pass.outcome.clone() } else { ink.red(&pass.outcome) };
    line(out, &format!("  pass    {:<13} {who}: {outcome}, {seconds:.1} s{degraded}", pass.name));
    if let Some(message) = &pass.message {
        line(out, &format!("          {}", clean(message)));
    }
    for (attempt, times) in tried_before(pass) {
        let class = attempt.class.as_deref().unwrap_or_default();
        let often = if times > 1 { format!(" ({times} times)") } else { String::new() };
        line(out, &format!("          before that {}: {class}{often}: {}", attempt.reviewer, clean(&attempt.message)));
    }
}

/// Returns what was tried before the answer or the last fault, equal attempts once with how often. The last one is the pass's own message.
fn tried_before(pass: &Pass) -> Vec<(&Attempt, usize)> {
    let mut tried: Vec<(&Attempt, usize)> = Vec::new();
    for attempt in pass.attempts.iter().filter(|attempt| attempt.class.is_some()) {
        match tried.iter_mut().find(|(known, _)| known.reviewer == attempt.reviewer && known.message == attempt.message) {
            Some((_, times)) => *times += 1,
            None => tried.push((attempt, 1)),
        }
    }
    tried.retain(|(attempt, _)| pass.message.as_ref().is_none_or(|message| attempt.message.is_empty() || !message.contains(&attempt.message)));
    tried
}

fn show(out: &mut String, finding: &Finding, ink: Ink) {
    let place = if finding.line > 0 { format!("{}:{}", clean(&finding.file), finding.line) } else { clean(&finding.file) };
    let severity = if finding.status == "blocking" { ink.red(&finding.severity) } else { finding.severity.clone() };
    let rule = if finding.rule.is_empty() { String::new() } else { format!(" [{}]", clean(&finding.rule)) };
    line(out, "");
    line(out, &format!("{severity} {place}: {}{rule}", clean(&finding.title)));
    line(out, &format!("  {} · {} · said by {}", finding.status, finding.id, finding.sources.join(", ")));
    if let Some(note) = &finding.note {
        line(out, &format!("  {}", clean(note)));
    }
    for quoted in finding.evidence.lines().take(QUOTED) {
        line(out, &format!("  > {}", clean(quoted)));
    }
    if let more @ 1.. = finding.evidence.lines().count().saturating_sub(QUOTED) {
        line(out, &format!("  > … {more} more lines, whole in `--format json`"));
    }
    for (name, text) in [("issue", &finding.issue), ("case", &finding.failing_case), ("reviewer suggests", &finding.fix)] {
        if !text.trim().is_empty() {
            line(out, &format!("  {name}: {}", clean(text)));
        }
    }
}

fn gate_line(out: &mut String, report: &Report, ink: Ink) {
    let word = report.verdict.to_uppercase();
    let skipped = if report.verdict == "unavailable" && report.exit_code == 0 {
        " — SKIPPED: the review could not be had and policy says warn; this counts as unreviewed"
    } else {
        ""
    };
    let advisory = if report.verdict == "fail" && report.exit_code == 0 { " — ADVISORY: shown and recorded, not refused" } else { "" };
    let text = format!("GATE: {word} (exit {}; {}){skipped}{advisory}", report.exit_code, report.reasons.join(", "));
    line(out, "");
    for explanation in &report.explanations {
        line(out, &format!("  {}", clean(explanation)));
    }
    line(out, &if report.exit_code == 0 { ink.green(&text) } else { ink.red(&text) });
}

/// Says what to do; the override comes last, because it is a person's to give.
fn next(out: &mut String, report: &Report) {
    if report.exit_code == 0 {
        return;
    }
    let advice: &[&str] = match report.exit_code {
        1 => &["Fix what blocks and try again."],
        3 => &["A person must look at this."],
        4 => &["Check the reviewer's `model` in your configuration against what its host serves."],
        6 => &["Start the reviewer, or set its `host` in your configuration."],
        7 => &["Set the key that the reviewer's entry names, or mend it."],
        9 if report.reasons.iter().any(|reason| reason == "RG307") => &[
            "Nothing was decided about the change, and trying again will not help. Split the push, or name what is large in the policy at the base.",
        ],
        9 => &["Nothing was decided about the change. Try again, or add a second reviewer of another family."],
        11 => &["Every reviewer declined. Add one of another family, or have a person look."],
        16 => &[
            "Nothing was sent. Take the secret out of every commit that is pushed, and revoke it if it ever left this machine.",
            "A value that is known not to be secret goes into `allow_secrets` by its sha256.",
        ],
        _ => &[],
    };
    for sentence in advice {
        line(out, &format!("  {sentence}"));
    }
    if matches!(report.exit_code, 1 | 3 | 9 | 11 | 13 | 16) {
        for subject in report.subjects.iter().filter(|subject| subject.verdict != "pass") {
            line(
                out,
                &format!("  A person may let it through, and it is written down: review-gate override --subject {} --reason \"…\"", subject.id),
            );
        }
    }
}

/// Colour, or none.
#[derive(Clone, Copy)]
struct Ink(bool);

impl Ink {
    fn paint(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
    fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }
    fn green(self, text: &str) -> String {
        self.paint("32", text)
    }
    fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_of_a_reviewer_reaches_the_terminal() {
        let hostile = "a\x1b[2Jb\u{9b}31m\u{202e}c\u{e0041}\x07\x00\r\nd\u{200b}";
        let finding = Finding {
            title: hostile.to_owned(),
            file: hostile.to_owned(),
            evidence: hostile.to_owned(),
            issue: hostile.to_owned(),
            ..Finding::default()
        };
        let report = Report { findings: vec![finding], notes: vec![hostile.to_owned()], ..Report::default() };
        let text = render(&report, false);
        assert!(text.chars().all(|c| c == '\n' || !(c.is_control() || is_hidden(c))), "{text:?}");
        assert!(text.contains("⟨U+001B⟩[2Jb⟨U+009B⟩"), "{text}");
    }

    #[test]
    fn no_path_is_left_out_without_being_counted() {
        let path = |reason, n: usize| super::super::v1::NotReviewed { path: format!("p{n}\u{1b}"), reason };
        let many = (0..25).map(|n| path("data", n)).chain((0..3).map(|n| path("not-sent", n))).chain([path("lockfile", 0)]);
        let coverage = Coverage { not_reviewed: many.collect(), ..Coverage::default() };
        let text = render(&Report { subjects: vec![Subject { coverage, ..Subject::default() }], ..Report::default() }, false);
        assert_eq!(text.matches("(data)").count(), 10, "{text}");
        for line in [
            "  not reviewed: 15 more (data; the JSON report names each)\n",
            "  not reviewed: 3 paths (not-sent; the JSON report names each)\n",
            "  not reviewed: p0⟨U+001B⟩ (lockfile; a summary of it was reviewed)\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn the_override_is_named_last_and_only_where_it_would_help() {
        let subject = Subject { id: "0123456789abcdef".to_owned(), verdict: "fail".to_owned(), ..Subject::default() };
        let at = |exit_code| render(&Report { exit_code, subjects: vec![subject.clone()], ..Report::default() }, false);
        assert!(at(1).lines().last().is_some_and(|line| line.contains("override --subject 0123456789abcdef")));
        for code in [2, 4, 7, 14, 15, 17] {
            assert!(!at(code).contains("override --subject"), "{code}");
        }
    }
}
