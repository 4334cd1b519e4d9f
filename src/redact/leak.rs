//! Secrets in what would be published: in added text they refuse the push (status 16), because publishing is what leaks them.

use super::{Hit, Redactor};
use crate::change::{BytePath, Change, FileChange, Origin, utf16};
use crate::digest::Digest;
use std::collections::BTreeSet;

/// A secret that the change adds. Holds nothing of its value that a message could leak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The rule, by its name.
    pub rule: &'static str,
    /// The file; for a secret in a path, that path with the secret masked.
    pub path: BytePath,
    /// The 1-based line in the new content; 0 for a secret in a path.
    pub line: u32,
    /// SHA-256 of the value: what `allow_secrets` takes.
    pub digest: Digest,
}

impl Redactor {
    /// Finds the secrets that a change adds, by its hunks: the gate's own keys and what leaves no doubt, not allowed, and not on the old side of the same
    /// file.
    pub fn leaks(&self, change: &Change) -> Vec<Leak> {
        change.files.iter().flat_map(|file| self.leaks_in_file(file)).collect()
    }

    /// Finds the secrets that a new blob has and none of the old ones has: a value that is in one of them is published already, wherever it stands
    /// and however it is wrapped, indented or encoded. Takes whole blobs, also in UTF-16. Sees what hunks do not show: intermediate commits, and keys
    /// whose first line is out of sight.
    pub fn leaks_in_blob(&self, path: &BytePath, olds: &[&[u8]], new: &[u8]) -> Vec<Leak> {
        let mut hits = self.certain(new);
        if !hits.is_empty() {
            let known: BTreeSet<Digest> = olds.iter().flat_map(|old| self.values(old)).collect();
            hits.retain(|hit| !known.contains(&hit.digest));
        }
        hits.into_iter().map(|hit| Leak { rule: hit.rule, path: path.clone(), line: hit.line, digest: hit.digest }).collect()
    }

    /// Finds the first secret in the name of a path. The leak has line 0 and the path with its secrets masked.
    pub fn leak_in_path(&self, path: &BytePath) -> Option<Leak> {
        let hit = self.certain(path.as_bytes()).into_iter().next()?;
        Some(Leak { rule: hit.rule, path: BytePath::new(self.clean(&String::from_utf8_lossy(path.as_bytes()))), line: 0, digest: hit.digest })
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

    /// What refuses in a text: the gate's own keys and all that leaves no doubt, unless the user allows it.
    fn certain(&self, text: &[u8]) -> Vec<Hit> {
        self.all(text).into_iter().filter(|hit| hit.certain && !self.allows(hit)).collect()
    }

    fn values(&self, text: &[u8]) -> BTreeSet<Digest> {
        self.all(text).into_iter().map(|hit| hit.digest).collect()
    }

    /// Everything in a text, once for each value and line. The bytes are read as they are too: what only looks like UTF-16 hides nothing.
    fn all(&self, text: &[u8]) -> Vec<Hit> {
        let read = |text: &[u8]| self.own(text).into_iter().chain(self.hits(text)).collect::<Vec<_>>();
        let decoded = utf16::searchable(text).map(|text| read(text.as_bytes())).unwrap_or_default();
        let mut seen = BTreeSet::new();
        read(text).into_iter().chain(decoded).filter(|hit| seen.insert((hit.digest, hit.line))).collect()
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
    use crate::reviewer::Secret;

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
        assert_eq!(Redactor::default().leaks_in_blob(&"k".into(), &[], added_only.as_bytes()).len(), 1);
    }

    const BODY: [&str; 2] =
        ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu"];

    fn key(between: &str) -> String {
        let mark = |word: &str| format!("-----{word} {} {}-----", "PRIVATE", "KEY");
        [&mark("BEGIN"), BODY[0], BODY[1], &mark("END")].join(between)
    }

    fn in_blob(olds: &[&str], new: &str) -> Vec<u32> {
        let olds: Vec<&[u8]> = olds.iter().map(|old| old.as_bytes()).collect();
        Redactor::default().leaks_in_blob(&"a".into(), &olds, new.as_bytes()).iter().map(|leak| leak.line).collect()
    }

    #[test]
    fn a_value_on_any_old_side_is_no_leak() {
        let (one, two) = (token("Ui2b"), token("Ui3c"));
        assert_eq!(in_blob(&[], &one), [1]);
        assert_eq!(in_blob(&[&one], &format!("moved\n  {one}\r\n\t{one}")), [0; 0]);
        assert_eq!(in_blob(&[&one], &format!("{one}\n{two}")), [2]);
        assert_eq!(in_blob(&["", &two, &one], &format!("{one}\n{two}")), [0; 0]);
    }

    #[test]
    fn a_key_is_the_same_however_it_is_written() {
        let plain = key("\n");
        for other in [key("\r\n"), key("\n    "), key("\\n"), key("\\n\" +\n  \""), format!("{}\n", key("\n# ")), format!("x\n{plain}\n{plain}")] {
            assert_eq!(in_blob(&[], &other)[0], 1 + u32::from(other.starts_with('x')), "{other}");
            assert_eq!(in_blob(&[&plain], &other), [0; 0], "{other}");
            assert_eq!(in_blob(&[&other], &plain), [0; 0], "{other}");
        }
        assert_eq!(in_blob(&[&plain], &plain.replace("M2bS", "M2bT")), [1]);
    }

    #[test]
    fn the_gates_own_key_refuses_where_it_is_added() {
        let redactor = Redactor::new(&[Secret::new("local-key-1234"), Secret::new(token("Ui2b"))], &[]);
        let rules = |leaks: Vec<Leak>| leaks.iter().map(|leak| (leak.rule, leak.line)).collect::<Vec<_>>();
        let blob = |olds: &[&[u8]], new: &str| rules(redactor.leaks_in_blob(&"a".into(), olds, new.as_bytes()));
        assert_eq!(blob(&[], "x\nkey: local-key-1234"), [("own-key", 2)]);
        assert_eq!(blob(&[b"local-key-1234"], "x\nkey: local-key-1234"), []);
        assert_eq!(blob(&[], &token("Ui2b")), [("own-key", 1)], "once, though a rule knows it too");
        assert_eq!(rules(redactor.leaks(&change(&["+local-key-1234\n"]))), [("own-key", 20)]);
        assert_eq!(rules(redactor.leaks(&change(&["-local-key-1234\n"]))), []);
        let allowing = Redactor::new(&[Secret::new("local-key-1234")], &[Digest::of("local-key-1234").hex()]);
        assert_eq!(allowing.leaks_in_blob(&"a".into(), &[], b"local-key-1234"), []);
    }

    #[test]
    fn a_token_in_utf_16_is_a_leak_on_its_line() {
        let text = format!("\u{feff}a 上\r\nb {}\r\n", token("Ui2b"));
        for text in [&text[..], text.trim_start_matches('\u{feff}')] {
            for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                let new: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
                let leaks =
                    |olds: &[&[u8]]| Redactor::default().leaks_in_blob(&"a".into(), olds, &new).iter().map(|leak| leak.line).collect::<Vec<_>>();
                assert_eq!(leaks(&[]), [2]);
                assert_eq!(leaks(&[token("Ui2b").as_bytes()]), [0; 0], "only the encoding changed");
            }
        }
        assert_eq!(in_blob(&[], &format!("\0\0{}", token("Ui2b"))), [1]);
        let forged = [b"\xff\xfe", token("Ui2b").as_bytes()].concat();
        assert_eq!(Redactor::default().leaks_in_blob(&"a".into(), &[], &forged).len(), 1, "a mark alone hides nothing");
    }

    #[test]
    fn a_secret_in_a_path_is_a_leak_that_does_not_repeat_it() {
        let path = format!("dump/{}.txt", token("Ui2b"));
        let leak = Redactor::default().leak_in_path(&path.as_str().into()).expect("a leak");
        assert_eq!((leak.rule, leak.line, leak.path), ("github-token", 0, "dump/[secret:github-token].txt".into()));
        assert_eq!(leak.digest, Digest::of(token("Ui2b")));
        assert_eq!(Redactor::default().leak_in_path(&"src/a.rs".into()), None);
    }

    #[test]
    fn the_digest_of_a_leak_is_what_the_allow_list_takes() {
        let hunk = format!("+{}\n", token("Ui2b"));
        let leak = Redactor::default().leaks(&change(&[&hunk])).remove(0);
        assert_eq!(Redactor::new(&[], &[leak.digest.hex()]).leaks(&change(&[&hunk])), []);
        assert!(!format!("{leak:?}").contains(&token("Ui2b")));
    }
}
