//! What is being pushed, as the caller says it: the lines that git gives a pre-push hook, or the variables that the pre-commit framework sets instead.
//!
//! Pure and strict: a line that is not exactly of git's form stops the push and is named. What the lines mean is `range`'s business.

use crate::change::{BytePath, Oid};
use crate::env::{self, Env};

/// One line of a pre-push hook's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushLine {
    /// The local side as the user named it: a ref, `HEAD`, an id, `:/text with spaces`, or `(delete)`.
    pub local_ref: BytePath,
    /// The object that is pushed: a commit, but also a tag object, a blob or a tree; all zero for a deletion.
    pub local_oid: Oid,
    /// The ref at the remote.
    pub remote_ref: BytePath,
    /// What the remote has there now, by its own word; all zero where it has none.
    pub remote_oid: Oid,
}

/// A line that is not of git's form. It refuses the push (exit status 2): a line that cannot be read is a ref that would not be reviewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the ref list is not `local-ref local-id remote-ref remote-id` ({why}): {}", BytePath::new(text.as_slice()))]
pub struct LineError {
    /// The line's number, from 1.
    pub line: usize,
    /// The line's bytes.
    pub text: Vec<u8>,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Reads the whole input of a pre-push hook. No bytes are no lines: git runs the hook so when everything is up to date.
///
/// # Errors
///
/// The first line that is not exactly of git's form, the last one included if its newline is missing.
pub fn parse_lines(input: &[u8]) -> Result<Vec<PushLine>, LineError> {
    let lines = input.split_inclusive(|byte| *byte == b'\n').enumerate();
    lines.map(|(at, raw)| parse_line(raw).map_err(|why| LineError { line: at + 1, text: raw.to_vec(), why })).collect()
}

/// Splits from the right: a local ref such as `:/fix bug` holds spaces (case P9), the other three fields cannot.
fn parse_line(raw: &[u8]) -> Result<PushLine, &'static str> {
    let line = raw.strip_suffix(b"\n").ok_or("cut off before its end")?;
    let mut fields = line.rsplitn(4, |byte| *byte == b' ');
    let (Some(remote_oid), Some(remote_ref), Some(local_oid), Some(local_ref)) = (fields.next(), fields.next(), fields.next(), fields.next()) else {
        return Err("fewer than four fields");
    };
    if local_ref.is_empty() || remote_ref.is_empty() || line.contains(&0) {
        return Err("an empty name or a NUL byte");
    }
    let local_oid = Oid::from_hex(local_oid).ok_or("the local id is not 40 or 64 hex digits")?;
    let remote_oid = Oid::from_hex(remote_oid).ok_or("the remote id is not 40 or 64 hex digits")?;
    if local_oid.as_bytes().len() != remote_oid.as_bytes().len() {
        return Err("two ids of different length");
    }
    if (local_ref == b"(delete)") != local_oid.is_null() {
        return Err("a deletion has an all-zero local id, and nothing else has");
    }
    Ok(PushLine { local_ref: BytePath::new(local_ref), local_oid, remote_ref: BytePath::new(remote_ref), remote_oid })
}

/// What the pre-commit framework (or prek) says of a push. It shows a hook the first ref only, and nothing on stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameworkPush {
    /// The older end, user text; absent where the root commit is pushed for the first time.
    pub from: Option<String>,
    /// The newer end, user text: `PRE_COMMIT_TO_REF`, else the local branch.
    pub to: String,
    /// The local ref; empty where the framework was run by hand.
    pub local_branch: String,
    /// The ref at the remote; empty where the framework was run by hand.
    pub remote_branch: String,
    /// The remote's name, or its URL again; empty where the framework was run by hand.
    pub remote_name: String,
    /// The remote's URL.
    pub remote_url: String,
}

impl FrameworkPush {
    /// Reads the variables; `None` where they describe no push (a staged run, or a run by hand without ends).
    pub fn of(env: &Env) -> Option<FrameworkPush> {
        env.os(env::PRE_COMMIT)?;
        let text = |name| env.text(name).map(str::to_owned);
        Some(FrameworkPush {
            from: text(env::PRE_COMMIT_FROM_REF),
            to: text(env::PRE_COMMIT_TO_REF).or_else(|| text(env::PRE_COMMIT_LOCAL_BRANCH))?,
            local_branch: text(env::PRE_COMMIT_LOCAL_BRANCH).unwrap_or_default(),
            remote_branch: text(env::PRE_COMMIT_REMOTE_BRANCH).unwrap_or_default(),
            remote_name: text(env::PRE_COMMIT_REMOTE_NAME).unwrap_or_default(),
            remote_url: text(env::PRE_COMMIT_REMOTE_URL).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "e83c5163316f89bfbde7d9ab23ca2e25604af290";
    const Z: &str = "0000000000000000000000000000000000000000";

    fn one(line: &str) -> PushLine {
        let mut lines = parse_lines(format!("{line}\n").as_bytes()).expect("a line");
        assert_eq!(lines.len(), 1);
        lines.remove(0)
    }

    #[test]
    fn a_local_ref_may_hold_spaces() {
        for local in ["refs/heads/main", "HEAD", ":/fix bug", "HEAD^{/fix the bug}", "main@{5 seconds ago}", A] {
            let line = one(&format!("{local} {A} refs/heads/x {Z}"));
            assert_eq!(line.local_ref, BytePath::from(local));
            assert_eq!(line.remote_ref, BytePath::from("refs/heads/x"));
            assert!(line.remote_oid.is_null() && !line.local_oid.is_null());
        }
    }

    #[test]
    fn names_are_bytes() {
        let raw = [b"refs/heads/lat\xe9 ".as_slice(), A.as_bytes(), b" refs/heads/lat\xe9 ", Z.as_bytes(), b"\n"].concat();
        assert_eq!(parse_lines(&raw).expect("a line")[0].remote_ref, BytePath::new(b"refs/heads/lat\xe9".as_slice()));
    }

    #[test]
    fn a_deletion_has_no_object() {
        assert!(one(&format!("(delete) {Z} refs/heads/x {A}")).local_oid.is_null());
        let long = "0".repeat(64);
        assert!(one(&format!("(delete) {long} refs/heads/x {}", "a".repeat(64))).local_oid.is_null());
    }

    #[test]
    fn nothing_is_no_lines() {
        assert_eq!(parse_lines(b""), Ok(Vec::new()));
    }

    #[test]
    fn every_other_form_is_refused_by_line() {
        let good = format!("refs/heads/a {A} refs/heads/a {Z}\n");
        let bad = [
            "\n".to_owned(),
            " \n".to_owned(),
            format!("refs/heads/a {A} refs/heads/a\n"),
            format!("refs/heads/a {A} refs/heads/a {Z}"),
            format!("refs/heads/a {A} refs/heads/a {Z} \n"),
            format!("refs/heads/a {A} refs/heads/a {Z}\r\n"),
            format!("refs/heads/a {A}  {Z}\n"),
            format!(" {A} refs/heads/a {Z}\n"),
            format!("refs/heads/a {} refs/heads/a {Z}\n", &A[1..]),
            format!("refs/heads/a {A} refs/heads/a {}\n", "g".repeat(40)),
            format!("refs/heads/a {A} refs/heads/a {}\n", "0".repeat(64)),
            format!("refs/heads/a {Z} refs/heads/a {A}\n"),
            format!("(delete) {A} refs/heads/a {Z}\n"),
            format!("refs/heads/\0 {A} refs/heads/a {Z}\n"),
        ];
        for bad in bad {
            let error = parse_lines(format!("{good}{bad}").as_bytes()).expect_err(&bad);
            assert_eq!((error.line, error.text.as_slice()), (2, bad.as_bytes()));
            assert!(error.to_string().starts_with("line 2 of the ref list"), "{error}");
        }
    }

    #[test]
    fn the_framework_names_its_ends_or_none() {
        let push = |pairs: &[(&str, &str)]| FrameworkPush::of(&Env::from_pairs(pairs.iter().copied()));
        assert_eq!(push(&[("PRE_COMMIT_TO_REF", "x")]), None, "not without PRE_COMMIT");
        assert_eq!(push(&[("PRE_COMMIT", "1")]), None, "a staged run");
        let first = push(&[("PRE_COMMIT", "1"), ("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/main"), ("PRE_COMMIT_REMOTE_NAME", "o")]).expect("a push");
        assert_eq!((first.from, first.to.as_str()), (None, "refs/heads/main"));
        let hand = push(&[("PRE_COMMIT", "1"), ("PRE_COMMIT_FROM_REF", "HEAD~2"), ("PRE_COMMIT_TO_REF", "HEAD")]).expect("a push");
        assert_eq!((hand.from.as_deref(), hand.to.as_str(), hand.remote_name.as_str()), (Some("HEAD~2"), "HEAD", ""));
    }
}
