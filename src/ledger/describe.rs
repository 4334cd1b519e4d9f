//! One line of text for each record, for `log show`. Whatever a record holds, the line is one line and moves no cursor.
//!
//! Where it is printed, and in which colour, is `report/`'s business.

use super::record::{Basis, Event, Record, RunRecord, SubjectRecord};

/// Describes a record on one line, without a line end.
pub fn describe(record: &Record) -> String {
    let said = match &record.event {
        Event::Run(run) => describe_run(run),
        Event::Override(made) => {
            let place = made.place.as_ref().map(|place| format!(" to {place}")).unwrap_or_default();
            format!("override {} lets {}{place} through until {}: {}", made.id, made.subject, made.expires, made.reason)
        }
        Event::Repair(repair) => format!("repair: a cut line of {} bytes was moved to {}", repair.bytes, repair.file),
        Event::Note(note) => format!("note: {}", note.text),
    };
    visible(&format!("{} {} {said}", record.seq, record.time))
}

fn describe_run(run: &RunRecord) -> String {
    let mut line = format!("{} {} {} (exit {})", run.stage, run.run_id, run.verdict.as_str(), run.exit_code);
    for reason in &run.reasons {
        line += &format!(" {reason}");
    }
    for subject in &run.subjects {
        line += &format!("; {}", describe_subject(subject));
    }
    if !run.ignored_env.is_empty() {
        line += &format!("; ignored {}", run.ignored_env.join(", "));
    }
    line + &format!("; {:.1} s, ${:.4}", run.ms as f64 / 1000.0, run.usd)
}

fn describe_subject(subject: &SubjectRecord) -> String {
    let tip = subject.tip.as_deref().map(|tip| format!(" {}", tip.get(..12).unwrap_or(tip))).unwrap_or_default();
    let blocking = subject.findings.iter().filter(|finding| finding.status == "blocking").count();
    let findings = match (subject.findings.len(), blocking) {
        (0, _) => String::new(),
        (all, blocking) => format!(", {all} findings ({blocking} blocking)"),
    };
    let (tier, verdict, basis) = (&subject.tier, subject.verdict.as_str(), describe_basis(subject));
    format!("{}{tip} [{}] {tier} {verdict}, {basis}{findings}", subject.label(), subject.id)
}

fn describe_basis(subject: &SubjectRecord) -> String {
    match &subject.basis {
        Basis::Reviewed => format!("reviewed by {}", models(subject)),
        Basis::Degraded => format!("DEGRADED, reviewed by the author's family: {}", models(subject)),
        Basis::Unreviewed => "UNREVIEWED".to_owned(),
        Basis::Advisory => format!("advisory, reviewed by {}", models(subject)),
        Basis::Override(id) => format!("OVERRIDE {id}"),
        Basis::Receipt(seq) => format!("receipt of record {seq}"),
        Basis::Nothing => "nothing to review".to_owned(),
        Basis::Checked => "decided by the gate's own checks".to_owned(),
    }
}

fn models(subject: &SubjectRecord) -> String {
    let mut names: Vec<String> = subject.reviewers.iter().map(|reviewer| format!("{}/{}", reviewer.provider, reviewer.model)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { "no one".to_owned() } else { names.join(", ") }
}

/// Rewrites what a terminal would obey or hide as a visible escape.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// Tells whether a character is not shown as itself: controls, separators of lines and paragraphs, zero-width, direction and tag characters.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::super::history::samples::history;
    use super::super::record::samples::{finding, place, run};
    use super::super::record::{NoteRecord, OverrideRecord, RepairRecord, VerdictWord};
    use super::*;

    fn line(event: Event) -> String {
        describe(&history(&[event]).records()[0])
    }

    #[test]
    fn a_run_says_what_was_judged_by_whom_with_what_result() {
        assert_eq!(
            line(Event::Run(run("r1"))),
            "1 2026-03-01T10:00:00Z pre-push r1 pass (exit 0) RG000; \
             refs/heads/main e83c5163316f [5b1ec75b1ec75b1e] light pass, reviewed by openai/gpt; 1.8 s, $0.0125"
        );
        let mut refused = run("r2");
        (refused.verdict, refused.exit_code, refused.ignored_env) = (VerdictWord::Fail, 1, vec!["GSD_REQUIRED".to_owned()]);
        refused.subjects[0].verdict = VerdictWord::Fail;
        refused.subjects[0].findings = vec![finding("blocking", "a"), finding("open", "b")];
        let text = line(Event::Run(refused));
        assert!(text.contains("light fail, reviewed by openai/gpt, 2 findings (1 blocking); ignored GSD_REQUIRED;"), "{text}");
    }

    #[test]
    fn what_is_less_than_a_review_is_said_aloud() {
        for (basis, word) in [
            (Basis::Degraded, "DEGRADED"),
            (Basis::Unreviewed, "UNREVIEWED"),
            (Basis::Override("0123456789ab".to_owned()), "OVERRIDE 0123456789ab"),
            (Basis::Receipt(4), "receipt of record 4"),
        ] {
            let mut record = run("r1");
            record.subjects[0].basis = basis;
            assert!(line(Event::Run(record)).contains(word), "{word}");
        }
    }

    #[test]
    fn overrides_and_repairs_are_described() {
        let time = "2026-03-01T10:00:00Z".parse().expect("a time");
        let made = OverrideRecord {
            id: "0123456789ab".to_owned(),
            subject: "5b1ec7".to_owned(),
            place: Some(place("origin", "refs/heads/main")),
            reason: "because of that".to_owned(),
            created: time,
            expires: time,
        };
        assert_eq!(
            line(Event::Override(made)),
            "1 2026-03-01T10:00:00Z override 0123456789ab lets 5b1ec7 to refs/heads/main at origin through until 2026-03-01T10:00:00Z: because of that"
        );
        let repair = RepairRecord { file: "ledger.torn.2".to_owned(), bytes: 17, sha256: "00".to_owned() };
        assert!(line(Event::Repair(repair)).ends_with("repair: a cut line of 17 bytes was moved to ledger.torn.2"));
    }

    #[test]
    fn nothing_in_a_record_reaches_the_terminal_as_a_command() {
        let text = line(Event::Note(NoteRecord { text: "a\u{1b}[2Jb\nc\rd\u{202e}e\u{9b}f\u{200b}g é 日".to_owned() }));
        assert!(text.ends_with(r"note: a\u{1b}[2Jb\u{a}c\u{d}d\u{202e}e\u{9b}f\u{200b}g é 日"), "{text}");
    }
}
