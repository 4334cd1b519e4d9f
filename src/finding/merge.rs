//! Merging: the same place and the same matter once, all sources kept, the highest severity, a stable order (requirements J03, J04).

use super::anchor::{self, Placement};
use super::{Claim, Finding, Severity, Status};
use crate::change::subject::SubjectId;
use crate::change::{BytePath, Change};
use crate::digest::Fields;
use std::collections::{BTreeSet, HashMap};

/// Words of a claim that are compared at the most.
const MAX_WORDS: usize = 200;

/// A merged finding together with what its blocking hangs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The finding; its status is settled by [`settle`].
    pub finding: Finding,
    /// Where it stands.
    pub placement: Placement,
    /// Every claim that was merged into it, each once: a refutation of one is none of another that differs in any word.
    pub claims: Vec<Claim>,
}

/// What two claims must share to be about one place: file, line, hunk, and whether the line is unchanged: a removed line has its number of the old side.
type Spot = (Option<BytePath>, u32, String, bool);

/// Places the claims of all passes and merges those that say the same of the same place.
pub fn merge<'a>(subject: &SubjectId, change: &Change, claims: impl IntoIterator<Item = (&'a str, &'a Claim)>) -> Vec<Placed> {
    let mut merged: Vec<Placed> = Vec::new();
    // By place first: only claims about one place are compared word by word, so that a wordy reviewer costs no quadratic time.
    let mut by_place: HashMap<Spot, Vec<(usize, BTreeSet<String>)>> = HashMap::new();
    for (source, claim) in claims {
        let placement = anchor::place(claim, change);
        let (words, here) = (words(claim), by_place.entry(place_of(claim, &placement)).or_default());
        match here.iter().find(|(_, known)| alike(known, &words)) {
            Some((index, _)) => absorb(&mut merged[*index], source, claim),
            None => {
                here.push((merged.len(), words));
                merged.push(Placed { finding: finding(subject, source, claim, &placement), placement, claims: vec![claim.clone()] });
            }
        }
    }
    merged.sort_by(|a, b| order(&a.finding).cmp(&order(&b.finding)));
    merged
}

/// What the refuter said of a finding that would block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refuted {
    /// It was not asked (`refute: off`).
    NotAsked,
    /// It gave no usable answer; the reason.
    NoAnswer(String),
    /// It says that the claim is wrong; its evidence was found or not.
    Yes {
        /// Its one sentence.
        why: String,
        /// Its quotation is in the change.
        found: bool,
    },
    /// It says that the claim holds; its evidence was found or not.
    No {
        /// Its one sentence.
        why: String,
        /// Its quotation is in the change.
        found: bool,
    },
}

impl Refuted {
    /// Joins the answers about the claims of one finding: the one that lets the least through decides, so that it falls only if every claim fell.
    pub fn join(answers: impl IntoIterator<Item = Refuted>) -> Refuted {
        let leniency = |answer: &Refuted| match answer {
            Refuted::No { found: true, .. } => 0,
            Refuted::NoAnswer(_) => 1,
            Refuted::NotAsked => 2,
            Refuted::No { found: false, .. } => 3,
            Refuted::Yes { found: false, .. } => 4,
            Refuted::Yes { found: true, .. } => 5,
        };
        answers.into_iter().min_by_key(leniency).unwrap_or(Refuted::NotAsked)
    }
}

/// Tells whether a finding would block if nobody refuted it, and so must be put to the refuter.
pub fn would_block(placed: &Placed, bar: Severity) -> bool {
    placed.finding.claim.severity >= bar
        && match &placed.placement {
            Placement::Anchored(anchor) => !anchor::is_pre_existing(&placed.finding.claim, anchor),
            // Nobody may drop a grave claim because its file was written in an odd way: the refuter is asked, and stands in for the anchor.
            Placement::InFile(_) | Placement::Elsewhere => true,
        }
}

/// Why a person must decide: an unanchored claim that no refuter could judge (status 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided(pub String);

/// Settles the status of a finding. An anchored claim falls only to a refutation whose evidence is found; an unanchored one stands only if the refuter confirms
/// it with evidence that is found (product contract; ruling on J07).
///
/// # Errors
/// [`Undecided`] where no refuter could judge an unanchored claim; the finding is then `unanchored`.
pub fn settle(placed: &mut Placed, bar: Severity, refuted: &Refuted) -> Result<(), Undecided> {
    let finding = &mut placed.finding;
    let (status, note) = match &placed.placement {
        _ if finding.claim.severity < bar => (Status::Open, None),
        Placement::Anchored(anchor) if anchor::is_pre_existing(&finding.claim, anchor) => {
            (Status::Open, Some("pre-existing: the line is unchanged and was there at the base".to_owned()))
        }
        Placement::Anchored(_) => match refuted {
            Refuted::Yes { why, found: true } => (Status::Refuted, Some(format!("refuted: {why}"))),
            Refuted::Yes { found: false, .. } => {
                (Status::Blocking, Some("a refutation was offered, but its evidence is not in the change".to_owned()))
            }
            Refuted::NoAnswer(why) => (Status::Blocking, Some(format!("the refuter gave no answer ({why}), so the finding stands"))),
            Refuted::NotAsked | Refuted::No { .. } => (Status::Blocking, None),
        },
        Placement::InFile(_) | Placement::Elsewhere => match refuted {
            Refuted::No { found: true, .. } => {
                (Status::Blocking, Some("its own evidence is not in the change; the refuter confirmed it with evidence that is".to_owned()))
            }
            Refuted::No { found: false, .. } => (Status::Unanchored, Some("neither its evidence nor the refuter's is in the change".to_owned())),
            Refuted::Yes { why, .. } => (Status::Refuted, Some(format!("refuted: {why}"))),
            Refuted::NotAsked | Refuted::NoAnswer(_) => {
                finding.status = Status::Unanchored;
                finding.note = Some("its evidence is not in the change, and no refuter could judge it".to_owned());
                return Err(Undecided(format!("{} {}", finding.id, finding.claim.title)));
            }
        },
    };
    finding.status = status;
    finding.note = note;
    Ok(())
}

fn order(finding: &Finding) -> (std::cmp::Reverse<Severity>, Option<&[u8]>, u32, &str) {
    (std::cmp::Reverse(finding.claim.severity), finding.path.as_ref().map(|path| path.as_bytes()), finding.line, &finding.id)
}

fn finding(subject: &SubjectId, source: &str, claim: &Claim, placement: &Placement) -> Finding {
    let (path, line, hunk) = match placement {
        Placement::Anchored(anchor) => (Some(anchor.path.clone()), anchor.line, anchor.hunk.clone()),
        Placement::InFile(path) => (Some(path.clone()), 0, String::new()),
        Placement::Elsewhere => (None, 0, claim.file.clone()),
    };
    let mut id = Fields::new("review-gate finding v1");
    id.add(path.as_ref().map(|path| path.as_bytes()).unwrap_or_default());
    id.add(hunk);
    // Without a rule two matters in one hunk would share an identity; the title stands in for it.
    id.add(if claim.rule.is_empty() { &claim.title } else { &claim.rule });
    Finding {
        id: id.finish().short(12),
        subject: subject.clone(),
        path,
        line,
        claim: claim.clone(),
        sources: vec![source.to_owned()],
        status: Status::Open,
        note: None,
    }
}

fn place_of(claim: &Claim, placement: &Placement) -> Spot {
    match placement {
        Placement::Anchored(anchor) => (Some(anchor.path.clone()), anchor.line, anchor.hunk.clone(), anchor.unchanged),
        Placement::InFile(path) => (Some(path.clone()), 0, String::new(), false),
        Placement::Elsewhere => (None, 0, claim.file.clone(), false),
    }
}

fn words(claim: &Claim) -> BTreeSet<String> {
    let text = format!("{} {}", claim.title, claim.issue).to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).take(MAX_WORDS).map(str::to_owned).collect()
}

/// Tells whether two claims share enough of the shorter one's words. Wording only merges duplicates inside one run (ruling on identity). Claims without words to
/// compare stay apart: merging is for reading, and must not make one disappear behind another.
fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shorter = a.len().min(b.len());
    shorter > 0 && a.intersection(b).count() * 2 >= shorter
}

fn absorb(placed: &mut Placed, source: &str, claim: &Claim) {
    if !placed.claims.contains(claim) {
        placed.claims.push(claim.clone());
    }
    let finding = &mut placed.finding;
    if !finding.sources.iter().any(|known| known == source) {
        finding.sources.push(source.to_owned());
    }
    // Whoever says that the change brought it in is not outvoted by whoever says that it was there.
    let provenance = finding.claim.provenance.min(claim.provenance);
    if claim.severity > finding.claim.severity {
        // The stronger claim comes with its own failing case.
        finding.claim = claim.clone();
    }
    finding.claim.provenance = provenance;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Body, FileChange, Hunk, Mode, Oid, Side, Status as Happened};
    use crate::finding::Provenance;

    fn change() -> Change {
        let side = Side { path: "a.rs".into(), mode: Mode::Regular, oid: Oid::from_bytes(&[1; 20]).expect("20 bytes"), size: 1 };
        let text = b" let before = old_value();\n+let after = new_value();\n".to_vec();
        let hunk = Hunk { old_start: 1, old_lines: 1, new_start: 1, new_lines: 2, section: vec![], text };
        let file = FileChange { status: Happened::Modified, old: Some(side.clone()), new: Some(side), body: Body::Text(vec![hunk]) };
        Change { files: vec![file], already_published: vec![] }
    }

    fn claim(severity: Severity, evidence: &str, title: &str) -> Claim {
        let text = String::new;
        Claim {
            severity,
            rule: text(),
            file: "a.rs".to_owned(),
            line: 2,
            title: title.to_owned(),
            issue: text(),
            cause: text(),
            failing_case: text(),
            evidence: evidence.to_owned(),
            provenance: Provenance::Introduced,
            confidence: text(),
            fix: text(),
            proof: text(),
        }
    }

    fn merged(claims: &[(&str, Claim)]) -> Vec<Placed> {
        merge(&SubjectId("s".to_owned()), &change(), claims.iter().map(|(source, claim)| (*source, claim)))
    }

    const NEW: &str = "let after = new_value();";

    #[test]
    fn the_same_matter_in_one_place_is_one_finding_with_the_highest_severity() {
        let both = merged(&[
            ("general", claim(Severity::Medium, NEW, "Value is never checked for zero")),
            ("adversarial", claim(Severity::High, NEW, "The value is not checked: zero divides")),
            ("tests", claim(Severity::Low, NEW, "Naming unclear")),
        ]);
        let got: Vec<_> = both.iter().map(|placed| (placed.finding.claim.severity, placed.finding.sources.join("+"))).collect();
        assert_eq!(got, [(Severity::High, "general+adversarial".to_owned()), (Severity::Low, "tests".to_owned())]);
    }

    #[test]
    fn a_claim_that_blocks_never_disappears_behind_one_that_does_not() {
        let old = "let before = old_value();";
        let was_there = |title: &str| Claim { provenance: Provenance::PreExisting, ..claim(Severity::Critical, old, title) };
        let brought = |title: &str| Claim { provenance: Provenance::Exposed, ..claim(Severity::High, old, title) };
        for (one, two) in [
            ("Value reaches the query", "The value reaches the query unchecked"),
            ("old", "SQL injection reachable by the new caller"),
            ("bad", "sad"),
        ] {
            let both = merged(&[("general", was_there(one)), ("adversarial", brought(two))]);
            assert!(both.iter().any(|placed| would_block(placed, Severity::High)), "{one} / {two}");
        }
    }

    #[test]
    fn what_blocks_follows_anchor_provenance_and_refuter() {
        let pre_existing = Claim { provenance: Provenance::PreExisting, ..claim(Severity::High, "let before = old_value();", "t") };
        let wrongly_pre_existing = Claim { provenance: Provenance::PreExisting, ..claim(Severity::High, NEW, "t") };
        let elsewhere = Claim { file: "other.rs".to_owned(), ..claim(Severity::Critical, "invented_call(everything)", "t") };
        let anchored = claim(Severity::High, NEW, "t");
        let unanchored = claim(Severity::High, "invented_call(everything)", "t");
        let yes = |found| Refuted::Yes { why: "w".to_owned(), found };
        let no = |found| Refuted::No { why: "w".to_owned(), found };
        let dead = || Refuted::NoAnswer("unreachable".to_owned());
        let cases = [
            ("below the bar", claim(Severity::Medium, NEW, "t"), Refuted::NotAsked, Ok(Status::Open)),
            ("anchored, nobody asked", anchored.clone(), Refuted::NotAsked, Ok(Status::Blocking)),
            ("anchored, refuter dead", anchored.clone(), dead(), Ok(Status::Blocking)),
            ("anchored, refuted with a line", anchored.clone(), yes(true), Ok(Status::Refuted)),
            ("anchored, refuted with an invented line", anchored.clone(), yes(false), Ok(Status::Blocking)),
            ("anchored, confirmed", anchored, no(false), Ok(Status::Blocking)),
            ("unanchored, confirmed with a line", unanchored.clone(), no(true), Ok(Status::Blocking)),
            ("unanchored, confirmed with an invented line", unanchored.clone(), no(false), Ok(Status::Unanchored)),
            ("unanchored, refuted", unanchored.clone(), yes(false), Ok(Status::Refuted)),
            ("unanchored, refuter dead", unanchored.clone(), dead(), Err(Status::Unanchored)),
            ("unanchored, nobody asked", unanchored, Refuted::NotAsked, Err(Status::Unanchored)),
            ("pre-existing on an unchanged line", pre_existing, Refuted::NotAsked, Ok(Status::Open)),
            ("called pre-existing on a new line", wrongly_pre_existing, Refuted::NotAsked, Ok(Status::Blocking)),
            ("a file that is not in the change, nobody asked", elsewhere.clone(), Refuted::NotAsked, Err(Status::Unanchored)),
            ("a file that is not in the change, not confirmed", elsewhere.clone(), no(false), Ok(Status::Unanchored)),
            ("a file that is not in the change, confirmed", elsewhere, no(true), Ok(Status::Blocking)),
        ];
        for (name, claim, refuted, expected) in cases {
            let mut placed = merged(&[("general", claim)]).remove(0);
            let settled = settle(&mut placed, Severity::High, &refuted);
            let status = placed.finding.status;
            assert_eq!(settled.map(|()| status).map_err(|_| status), expected, "{name}");
        }
    }

    #[test]
    fn claims_that_differ_in_their_case_alone_are_both_kept() {
        let other = Claim { failing_case: "the real one".to_owned(), ..claim(Severity::Critical, "let after = new_value();", "after is wrong here") };
        let placed = merged(&[("general", claim(Severity::High, "let after = new_value();", "after is wrong here")), ("tests", other)]);
        assert_eq!(placed.iter().map(|placed| placed.claims.len()).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_removed_line_and_the_context_of_the_same_number_are_two_places() {
        let mut change = change();
        let Body::Text(hunks) = &mut change.files[0].body else { panic!("text") };
        hunks[0].text = b"-let gone = check_permission(user);\n let stays = old_value_of_it();\n".to_vec();
        let pre = |evidence| Claim { provenance: Provenance::PreExisting, ..claim(Severity::High, evidence, "permission check lost") };
        let claims = [pre("let stays = old_value_of_it();"), pre("let gone = check_permission(user);")];
        let placed = merge(&SubjectId("s".to_owned()), &change, claims.iter().map(|claim| ("general", claim)));
        assert_eq!(placed.iter().filter(|placed| would_block(placed, Severity::High)).count(), 1, "{placed:?}");
    }

    #[test]
    fn a_refutation_of_one_claim_is_none_of_another() {
        let both = merged(&[
            ("general", claim(Severity::High, NEW, "injection through parameter user_query")),
            ("general", claim(Severity::Critical, NEW, "missing authentication before parameter user_query")),
        ]);
        assert_eq!((both.len(), both[0].claims.len()), (1, 2));
        let (yes, no) = (|| Refuted::Yes { why: String::new(), found: true }, || Refuted::No { why: String::new(), found: false });
        assert_eq!(Refuted::join([yes(), no()]), no());
        assert_eq!(Refuted::join([yes(), yes()]), yes());
        assert_eq!(Refuted::join([no(), Refuted::NoAnswer(String::new())]), Refuted::NoAnswer(String::new()));
        assert_eq!(Refuted::join([]), Refuted::NotAsked);
    }

    #[test]
    fn only_what_would_block_is_put_to_the_refuter() {
        let asked = |claim| would_block(&merged(&[("general", claim)])[0], Severity::High);
        assert!(asked(claim(Severity::High, NEW, "t")));
        assert!(asked(claim(Severity::High, "invented_call(everything)", "t")));
        assert!(!asked(claim(Severity::Medium, NEW, "t")));
        assert!(asked(Claim { file: "other.rs".to_owned(), ..claim(Severity::Critical, "invented_call(everything)", "t") }));
    }

    #[test]
    fn identity_does_not_hang_on_wording_where_a_rule_is_cited() {
        let id = |title: &str| merged(&[("general", Claim { rule: "G4".to_owned(), ..claim(Severity::High, NEW, title) })])[0].finding.id.clone();
        assert_eq!(id("one wording"), id("quite another"));
    }
}
