//! One line of text for each record, for `log show`. Whatever a record holds, the line is one line and moves no cursor. Times are in seconds, ids as short as a
//! person needs them; the record has the rest.
//!
//! Where it is printed, and in which colour, is `report/`'s business.

use super::record::{Basis, Event, OverrideRecord, Record, RunRecord, SubjectRecord, VerdictWord};
use crate::change::slice::visible;

/// How many digits of a run's or a commit's id are shown.
const SHORT: usize = 8;

/// Describes a record on one line, without a line end.
pub fn describe(record: &Record) -> String {
    let said = match &record.event {
        Event::Run(run) => describe_run(run),
        Event::Override(made) => describe_override(made),
        Event::Repair(repair) => format!("repair: a cut line of {} was moved to {}", counted(repair.bytes, "byte"), repair.file),
        Event::Note(note) => format!("note: {}", note.text),
    };
    one_line(&format!("{} {:.0} {said}", record.seq, record.time))
}

fn describe_override(made: &OverrideRecord) -> String {
    let place = made.place.as_ref().map(|place| format!(" to {place}")).unwrap_or_default();
    format!("override {} lets {}{place} through until {:.0}: {}", made.id, made.subject, made.expires, made.reason)
}

fn describe_run(run: &RunRecord) -> String {
    let mut parts = vec![format!("{} {} {}", short(&run.run_id), run.stage, describe_end(run))];
    parts.extend(run.subjects.iter().map(|subject| describe_subject(subject, run)));
    if !run.ignored_env.is_empty() {
        parts.push(format!("ignored {}", run.ignored_env.join(", ")));
    }
    parts.push(describe_cost(run));
    parts.join("; ")
}

/// A pass needs no status and no reason code: its basis says why.
fn describe_end(run: &RunRecord) -> String {
    match (run.verdict, run.exit_code) {
        (VerdictWord::Pass, 0) => "pass".to_owned(),
        (verdict, code) => {
            let why: Vec<String> = std::iter::once(code.to_string()).chain(run.reasons.iter().cloned()).collect();
            format!("{} ({})", verdict.as_str(), why.join(" "))
        }
    }
}

fn describe_cost(run: &RunRecord) -> String {
    let seconds = format!("{:.1} s", run.ms as f64 / 1000.0);
    let usd = format!("{:.4}", run.usd);
    if usd == "0.0000" { seconds } else { format!("{seconds}, ${usd}") }
}

fn describe_subject(subject: &SubjectRecord, run: &RunRecord) -> String {
    let label = subject.label();
    let mut words = vec![label.strip_prefix("refs/heads/").unwrap_or(&label)];
    words.extend(subject.tip.as_deref().map(short));
    words.push(&subject.tier);
    // One subject has the run's own verdict.
    words.extend((run.subjects.len() > 1).then(|| subject.verdict.as_str()));
    format!("{} [{}] {}{}", words.join(" "), subject.id, describe_basis(subject), describe_findings(subject))
}

fn describe_findings(subject: &SubjectRecord) -> String {
    let blocking = subject.findings.iter().filter(|finding| finding.status == "blocking").count();
    match (subject.findings.len(), blocking) {
        (0, _) => String::new(),
        (all, 0) => format!(", {}", counted(all as u64, "finding")),
        (all, blocking) => format!(", {} ({blocking} blocking)", counted(all as u64, "finding")),
    }
}

fn describe_basis(subject: &SubjectRecord) -> String {
    match &subject.basis {
        Basis::Reviewed => format!("by {}", models(subject)),
        Basis::Degraded => format!("DEGRADED, by the author's family: {}", models(subject)),
        Basis::Unreviewed => "UNREVIEWED".to_owned(),
        Basis::Advisory => format!("advisory, by {}", models(subject)),
        Basis::Override(id) => format!("OVERRIDE {id}"),
        Basis::Receipt(seq) => format!("receipt of record {seq}"),
        Basis::Nothing => "nothing to review".to_owned(),
        Basis::Checked => "decided without a reviewer".to_owned(),
    }
}

fn models(subject: &SubjectRecord) -> String {
    let mut names: Vec<String> = subject.reviewers.iter().map(|reviewer| format!("{}/{}", reviewer.provider, reviewer.model)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { "no one".to_owned() } else { names.join(", ") }
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Rewrites what a terminal would obey or hide as a visible escape, and so the line ends and tabs that a text of several lines may keep.
fn one_line(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { format!("⟨U+{:04X}⟩", u32::from(c)) } else { c.to_string() };
    visible(text.as_bytes()).chars().map(escaped).collect()
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
        let mut passed = run("0a1b2c3d4e5f60718293a4b5c6d7e8f9");
        assert_eq!(
            line(Event::Run(passed.clone())),
            "1 2026-03-01T10:00:00Z 0a1b2c3d pre-push pass; main e83c5163 light [5b1ec75b1ec75b1e] by openai/gpt; 1.8 s, $0.0125"
        );
        passed.usd = 0.00001;
        assert!(line(Event::Run(passed)).ends_with("; 1.8 s"), "what rounds to nothing is not shown as a cost");
        let mut refused = run("r2");
        (refused.verdict, refused.exit_code, refused.reasons) = (VerdictWord::Fail, 1, vec!["RG100".to_owned()]);
        refused.ignored_env = vec!["GSD_REQUIRED".to_owned()];
        for (findings, expected) in [
            (vec![], "by openai/gpt; ignored GSD_REQUIRED;"),
            (vec![finding("open", "a")], "by openai/gpt, 1 finding; ignored GSD_REQUIRED;"),
            (vec![finding("blocking", "a"), finding("open", "b")], "by openai/gpt, 2 findings (1 blocking); ignored GSD_REQUIRED;"),
        ] {
            refused.subjects[0].findings = findings;
            let text = line(Event::Run(refused.clone()));
            assert!(text.contains("r2 pre-push fail (1 RG100); main") && text.contains(expected), "{text}");
        }
    }

    #[test]
    fn each_of_several_subjects_has_its_own_verdict() {
        let mut two = run("r1");
        (two.verdict, two.exit_code) = (VerdictWord::Unavailable, 9);
        two.subjects.push(two.subjects[0].clone());
        two.subjects[1].verdict = VerdictWord::Unavailable;
        (two.subjects[1].basis, two.subjects[1].refs) = (Basis::Unreviewed, vec![place("origin", "refs/tags/v1")]);
        let text = line(Event::Run(two));
        assert!(text.contains("; main e83c5163 light pass [") && text.contains("; refs/tags/v1 e83c5163 light unavailable ["), "{text}");
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
        let time = "2026-03-01T10:00:00.987654Z".parse().expect("a time");
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
        let repair = RepairRecord { file: "ledger.torn.2".to_owned(), bytes: 1, sha256: "00".to_owned() };
        assert!(line(Event::Repair(repair)).contains("a cut line of 1 byte was"));
    }

    #[test]
    fn nothing_in_a_record_reaches_the_terminal_as_a_command() {
        let text = line(Event::Note(NoteRecord { text: "a\u{1b}[2Jb\nc\rd\u{202e}e\u{9b}f\u{200b}g\u{3164} é 日".to_owned() }));
        assert!(text.ends_with("note: a⟨U+001B⟩[2Jb⟨U+000A⟩c⟨U+000D⟩d⟨U+202E⟩e⟨U+009B⟩f⟨U+200B⟩g⟨U+3164⟩ é 日"), "{text}");
    }
}
