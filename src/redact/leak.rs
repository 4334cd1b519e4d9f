//! Secrets in what would be published: in added text they refuse the push (status 16), because publishing is what leaks them.

use super::{Hit, Redactor};
use crate::change::{BytePath, Change, FileChange, Origin};
use crate::digest::Digest;
use std::collections::BTreeSet;

/// A secret that the change adds. Holds nothing of its value that a message could leak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The rule, by its name.
    pub rule: &'static str,
    /// The file.
    pub path: BytePath,
    /// The 1-based line in the new content.
    pub line: u32,
    /// SHA-256 of the value: what `allow_secrets` takes.
    pub digest: Digest,
}

impl Redactor {
    /// Finds the secrets that a change adds, by its hunks: certain, not allowed, and not on the old side of the same file.
    pub fn leaks(&self, change: &Change) -> Vec<Leak> {
        change.files.iter().flat_map(|file| self.leaks_in_file(file)).collect()
    }

    /// Finds the secrets that a new blob has and the one it replaces has not. Sees what hunks do not show: intermediate commits, and keys whose first
    /// line is out of sight.
    pub fn leaks_in_blob(&self, path: &BytePath, old: Option<&[u8]>, new: &[u8]) -> Vec<Leak> {
        let hits = self.certain(new);
        let known = if hits.is_empty() { BTreeSet::new() } else { old.map(|old| self.values(old)).unwrap_or_default() };
        let leaks = hits.into_iter().map(|hit| Leak { rule: hit.rule, path: path.clone(), line: hit.line, digest: hit.digest });
        leaks.filter(|leak| !known.contains(&leak.digest)).collect()
    }

    fn leaks_in_file(&self, file: &FileChange) -> Vec<Leak> {
        let old: BTreeSet<Digest> = file.hunks().iter().flat_map(|hunk| self.values(&view(hunk, Origin::Added).0)).collect();
        let mut leaks = Vec::new();
        for hunk in file.hunks() {
            let (new, numbers) = view(hunk, Origin::Removed);
            for hit in self.certain(&new) {
                let line = numbers.get(hit.line as usize - 1).copied().unwrap_or(0);
                leaks.push(Leak { rule: hit.rule, path: file.path().clone(), line, digest: hit.digest });
            }
        }
        leaks.retain(|leak| !old.contains(&leak.digest));
        leaks
    }

    fn certain(&self, text: &[u8]) -> Vec<Hit> {
        self.hits(text).into_iter().filter(|hit| hit.certain).collect()
    }

    fn values(&self, text: &[u8]) -> BTreeSet<Digest> {
        self.certain(text).into_iter().map(|hit| hit.digest).collect()
    }
}

/// One side of a hunk as text, and the new-side number of each of its lines: all lines but those that only the other side has.
fn view(hunk: &crate::change::Hunk, without: Origin) -> (Vec<u8>, Vec<u32>) {
    let lines = hunk.lines().filter(|line| line.origin != without);
    let mut text = Vec::new();
    let numbers = lines.map(|line| {
        text.extend_from_slice(line.bytes);
        text.push(b'\n');
        line.new
    });
    let numbers = numbers.collect();
    (text, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Body, Hunk, Mode, Oid, Side, Status};

    fn token(tail: &str) -> String {
        ["gh", "p_", "x7Qm2Lk9Vb4Nc8Wz1Rt6Yp3Hs5Jd0FgA", tail].concat()
    }

    fn change(hunks: &[&str]) -> Change {
        let hunk =
            |text: &&str| Hunk { old_start: 10, old_lines: 9, new_start: 20, new_lines: 9, section: Vec::new(), text: text.as_bytes().to_vec() };
        let side = || Some(Side { path: "src/a.rs".into(), mode: Mode::Regular, oid: Oid::from_bytes(&[1; 20]).expect("an id"), size: 1 });
        let file = FileChange { status: Status::Modified, old: side(), new: side(), body: Body::Text(hunks.iter().map(hunk).collect()) };
        Change { files: vec![file], already_published: Vec::new() }
    }

    fn lines(hunks: &[&str]) -> Vec<u32> {
        Redactor::default().leaks(&change(hunks)).iter().map(|leak| leak.line).collect()
    }

    #[test]
    fn only_added_secrets_refuse() {
        let (one, two) = (token("Ui2b"), token("Ui3c"));
        for (hunk, expected) in [
            (format!(" a\n+b {one}\n"), vec![21]),
            (format!(" a\n-b {one}\n"), vec![]),
            (format!(" {one}\n+x\n"), vec![]),
            (format!("-a {one}\n+a({one})\n"), vec![]),
            (format!("-a {one}\n+a {two}\n"), vec![20]),
            (format!("+postgres://app:{}@db/x\n", "h8!kqp2"), vec![]),
            ("+plain\n".to_owned(), vec![]),
        ] {
            assert_eq!(lines(&[&hunk]), expected, "{hunk}");
        }
        assert_eq!(lines(&[&format!("-{one}\n"), &format!("+{one}\n")]), [0; 0], "moved inside the file");
    }

    #[test]
    fn a_key_over_several_added_lines_is_one_leak() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let mark = |word: &str| format!("-----{word} {} {}-----", "PRIVATE", "KEY");
        let hunk = format!(" a\n+{}\n+{body}\n+{}\n", mark("BEGIN"), mark("END"));
        assert_eq!(lines(&[&hunk]), [21]);
        let rotated = format!(" {}\n-{}\n+{body}\n {}\n", mark("BEGIN"), body.replace('V', "W"), mark("END"));
        assert_eq!(lines(&[&rotated]), [20]);
        let added_only = format!("{}\n{body}\n{}\n", mark("BEGIN"), mark("END"));
        assert_eq!(Redactor::default().leaks_in_blob(&"k".into(), None, added_only.as_bytes()).len(), 1);
    }

    #[test]
    fn a_blob_is_compared_with_the_one_it_replaces() {
        let (one, two) = (token("Ui2b"), token("Ui3c"));
        let redactor = Redactor::default();
        let leaks = |old: Option<&str>, new: &str| redactor.leaks_in_blob(&"a".into(), old.map(str::as_bytes), new.as_bytes()).len();
        assert_eq!(leaks(None, &one), 1);
        assert_eq!(leaks(Some(&one), &format!("moved\n{one}")), 0);
        assert_eq!(leaks(Some(&one), &format!("{one}\n{two}")), 1);
    }

    #[test]
    fn the_digest_of_a_leak_is_what_the_allow_list_takes() {
        let hunk = format!("+{}\n", token("Ui2b"));
        let leak = Redactor::default().leaks(&change(&[&hunk])).remove(0);
        assert_eq!(Redactor::new(&[], &[leak.digest.hex()]).leaks(&change(&[&hunk])), []);
        assert!(!format!("{leak:?}").contains(&token("Ui2b")));
    }
}
