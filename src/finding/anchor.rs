//! Anchoring: is what a reviewer quotes really there? A claim whose evidence is not in what was sent may not block by itself (product contract, "Before a
//! reviewer's claim may block").

use super::{Claim, Provenance};
use crate::change::slice::{is_hidden, visible};
use crate::change::{BytePath, Change, FileChange, Hunk, Line, Origin};

/// Where the evidence of a claim was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The changed file.
    pub path: BytePath,
    /// 1-based line: on the new side, or on the old side where the evidence was removed.
    pub line: u32,
    /// The line is only context: unchanged, and there at the base.
    pub unchanged: bool,
    /// Digest of the hunk, for the identity of the finding.
    pub hunk: String,
}

/// The result of looking for a claim's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// The file is in the change and the evidence in one of its hunks.
    Anchored(Anchor),
    /// The file is in the change; the evidence is not.
    InFile(BytePath),
    /// The file is not in the change.
    Elsewhere,
}

/// Finds the place of a claim.
pub fn place(claim: &Claim, change: &Change) -> Placement {
    let Some(file) = named_file(&claim.file, change) else { return Placement::Elsewhere };
    match find(&claim.evidence, claim.line, file) {
        Some(anchor) => Placement::Anchored(anchor),
        None => Placement::InFile(file.path().clone()),
    }
}

/// Tells whether a quotation is found in the named file of the change; what a refuter's evidence must pass.
pub fn is_found(file: &str, evidence: &str, change: &Change) -> bool {
    named_file(file, change).is_some_and(|file| find(evidence, 0, file).is_some())
}

/// Lowers nothing but a claim that calls itself pre-existing and stands on a line that is unchanged and was there at the base.
pub fn is_pre_existing(claim: &Claim, anchor: &Anchor) -> bool {
    claim.provenance == Provenance::PreExisting && anchor.unchanged
}

/// Finds the changed file that a reviewer means: the exact path (plain or quoted, with or without `a/` or `b/`), else the only one it is a suffix of. Never by
/// the base name alone where that is ambiguous (requirement D14).
fn named_file<'a>(named: &str, change: &'a Change) -> Option<&'a FileChange> {
    let path = BytePath::parse(named.trim())?;
    let exact = |bytes: &[u8]| change.file(&BytePath::new(bytes));
    let bytes = path.as_bytes();
    let stripped = [&b"a/"[..], b"b/", b"./"].into_iter().find_map(|prefix| bytes.strip_prefix(prefix));
    exact(bytes).or_else(|| stripped.and_then(exact)).or_else(|| {
        let tail = [b"/", bytes].concat();
        let mut hits = change.files.iter().filter(|file| !bytes.is_empty() && file.path().as_bytes().ends_with(&tail));
        hits.next().filter(|_| hits.next().is_none())
    })
}

/// Looks for the quoted lines in a row of one hunk, on the new side first. Among several places the one nearest to the claimed line wins.
fn find(evidence: &str, claimed: u32, file: &FileChange) -> Option<Anchor> {
    let wanted: Vec<String> = evidence.lines().map(|line| normal(&with_escapes(line))).filter(|line| !line.is_empty()).collect();
    if wanted.is_empty() {
        return None;
    }
    [Origin::Added, Origin::Removed].into_iter().find_map(|side| {
        let hits = file.hunks().iter().flat_map(|hunk| hits(&wanted, hunk, side).map(move |line| (hunk, line)));
        let (hunk, line) = hits.min_by_key(|(_, line)| number(line, side).abs_diff(claimed))?;
        Some(Anchor { path: file.path().clone(), line: number(&line, side), unchanged: line.origin == Origin::Context, hunk: hunk.digest().hex() })
    })
}

fn number(line: &Line<'_>, side: Origin) -> u32 {
    if side == Origin::Removed { line.old } else { line.new }
}

/// Returns the first changed line of each run that matches (else the first line), so that a quotation of context and change counts as changed.
fn hits<'a>(wanted: &'a [String], hunk: &'a Hunk, side: Origin) -> impl Iterator<Item = Line<'a>> {
    let lines: Vec<(Line<'a>, String)> = hunk
        .lines()
        .filter(|line| line.origin == side || line.origin == Origin::Context)
        .map(|line| (line, normal(&visible(line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes)))))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let starts = lines.len().checked_sub(wanted.len()).map_or(0, |last| last + 1);
    (0..starts).filter_map(move |start| {
        let run = &lines[start..start + wanted.len()];
        let matches = run.iter().zip(wanted).all(|((_, text), want)| quotes(text, want));
        matches.then(|| run.iter().find(|(line, _)| line.origin != Origin::Context).unwrap_or(&run[0]).0)
    })
}

/// Compares a line with a quotation of it: equal, or a part of it of some length, with an ellipsis standing for anything.
fn quotes(line: &str, quoted: &str) -> bool {
    if line == quoted {
        return true;
    }
    let parts: Vec<&str> = quoted.split("...").flat_map(|part| part.split('…')).filter(|part| !part.is_empty()).collect();
    // A quotation of a few characters would be found almost anywhere and proves nothing.
    if parts.iter().map(|part| part.chars().count()).sum::<usize>() < 8 {
        return false;
    }
    let mut rest = line;
    parts.iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Brings a line of the change (as the slices show it) and a quotation of it to one form: no white space, no leading diff mark, an ellipsis for what redaction
/// masked.
fn normal(line: &str) -> String {
    let text = line.trim();
    let unmarked = text.strip_prefix(['+', '-']).unwrap_or(text);
    without_masks(&unmarked.chars().filter(|c| !c.is_whitespace()).collect::<String>())
}

/// Shows the hidden characters of a quotation as the slices do. A reviewer may quote either form, so escapes that are there stay.
fn with_escapes(quoted: &str) -> String {
    quoted.chars().map(|c| if is_hidden(c) { visible(c.to_string().as_bytes()) } else { c.to_string() }).collect()
}

/// Puts an ellipsis in place of each `[secret:…]` that redaction wrote into what the reviewer saw.
fn without_masks(text: &str) -> String {
    let mut parts = text.split("[secret:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + "…" + part.split_once(']').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Body, Mode, Oid, Side, Status};
    use crate::finding::Severity;

    fn change(path: &str, text: &str) -> Change {
        let oid = Oid::from_bytes(&[1; 20]).expect("20 bytes");
        let side = Side { path: path.into(), mode: Mode::Regular, oid, size: 1 };
        let hunk = Hunk { old_start: 10, old_lines: 3, new_start: 20, new_lines: 3, section: vec![], text: text.as_bytes().to_vec() };
        let file = FileChange { status: Status::Modified, old: Some(side.clone()), new: Some(side), body: Body::Text(vec![hunk]) };
        Change { files: vec![file], already_published: vec![] }
    }

    fn claim(file: &str, evidence: &str) -> Claim {
        let text = String::new;
        Claim {
            severity: Severity::High,
            rule: text(),
            file: file.to_owned(),
            line: 0,
            title: text(),
            issue: text(),
            cause: text(),
            failing_case: text(),
            evidence: evidence.to_owned(),
            provenance: Provenance::PreExisting,
            confidence: text(),
            fix: text(),
            proof: text(),
        }
    }

    const TEXT: &str = " fn pay() {\n-    check(user)?;\n+    charge(user, amount);\n }\n";

    #[test]
    fn evidence_is_found_in_every_form_a_reviewer_quotes_it() {
        let change = change("src/pay.rs", TEXT);
        let cases = [
            ("the line", "src/pay.rs", "    charge(user, amount);", Some((21, false))),
            ("with its mark", "b/src/pay.rs", "+    charge(user, amount);", Some((21, false))),
            ("other white space", "pay.rs", "charge( user,amount );", Some((21, false))),
            ("an ellipsis", "src/pay.rs", "charge(… amount);", Some((21, false))),
            ("a removed line", "src/pay.rs", "- check(user)?;", Some((11, false))),
            ("context", "src/pay.rs", "fn pay() {", Some((20, true))),
            ("context and change", "src/pay.rs", "fn pay() {\ncharge(user, amount);", Some((21, false))),
            ("invented", "src/pay.rs", "delete_everything();", None),
            ("too short to prove anything", "src/pay.rs", "charge", None),
            ("nothing", "src/pay.rs", "", None),
        ];
        for (name, file, evidence, expected) in cases {
            let got = match place(&claim(file, evidence), &change) {
                Placement::Anchored(anchor) => Some((anchor.line, anchor.unchanged)),
                Placement::InFile(_) => None,
                Placement::Elsewhere => panic!("{name}: {file} is in the change"),
            };
            assert_eq!(got, expected, "{name}");
        }
        assert_eq!(place(&claim("src/other.rs", "charge(user, amount);"), &change), Placement::Elsewhere);
    }

    #[test]
    fn only_an_unchanged_line_can_be_pre_existing() {
        let change = change("a.rs", TEXT);
        let lowered = |evidence: &str| match place(&claim("a.rs", evidence), &change) {
            Placement::Anchored(anchor) => is_pre_existing(&claim("a.rs", evidence), &anchor),
            Placement::InFile(_) | Placement::Elsewhere => panic!("{evidence} is there"),
        };
        assert!(lowered("fn pay() {"));
        assert!(!lowered("charge(user, amount);"));
        assert!(!lowered("check(user)?;"));
    }

    #[test]
    fn invisible_characters_do_not_hide_the_evidence() {
        let change = change("a.rs", "+let is_admin\u{202e} = check(user);\n");
        assert!(is_found("a.rs", "let is_admin⟨U+202E⟩ = check(user);", &change));
        assert!(is_found("a.rs", "let is_admin\u{202e} = check(user);", &change));
    }

    #[test]
    fn what_redaction_masked_is_no_hindrance() {
        let change = change("a.rs", "-connect(\"postgres://user:hunter2@db\", pool);\n");
        assert!(is_found("a.rs", "connect(\"postgres://user:[secret:url-password]@db\", pool);", &change));
        assert!(!is_found("a.rs", "connect(\"mysql://user:[secret:url-password]@db\", pool);", &change));
    }

    #[test]
    fn a_base_name_alone_does_not_choose_between_two_files() {
        let mut both = change("x/mod.rs", TEXT);
        both.files.extend(change("y/mod.rs", TEXT).files);
        assert_eq!(place(&claim("mod.rs", "charge(user, amount);"), &both), Placement::Elsewhere);
    }
}
