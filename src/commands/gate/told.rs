//! What a reader of the report must be told of the content: text that attributes would have hidden, text in UTF-16, and objects of git-lfs, whose content no
//! reviewer sees. None of it takes anything out of review but the lines of a pointer, which say nothing.

use super::checks;
use crate::change::lfs::{self, Pointer};
use crate::change::subject::{Subject, SubjectId};
use crate::change::{Body, BytePath, FileChange, Origin, utf16};
use crate::finding::{Finding, Severity};
use crate::git::{GitError, Marked, Repo};
use crate::paths::{Kind, PathRules};
use std::collections::BTreeSet;

/// How many paths a remark names.
const SHOWN: usize = 5;

/// What is to be told of a subject.
#[derive(Default)]
pub(super) struct Told {
    /// Files that stand for an object of git-lfs on every side; listed, not sent.
    pub lfs: BTreeSet<BytePath>,
    /// Remarks for the report.
    pub notes: Vec<String>,
    /// Program text that was not, or cannot be, read as what it is.
    pub findings: Vec<Finding>,
}

/// Looks at every file that the policy leaves in review.
pub(super) fn of(repo: &Repo, id: &SubjectId, subject: &Subject, rules: &PathRules) -> Result<Told, GitError> {
    let mut told = Told::default();
    let in_review: Vec<&FileChange> = subject.change.files.iter().filter(|file| !rules.treatment(file).is_by_policy()).collect();
    told.pointers(repo, id, &in_review)?;
    told.decoded(repo, id, &in_review)?;
    let in_review: BTreeSet<&BytePath> = in_review.into_iter().map(FileChange::path).filter(|path| !told.lfs.contains(*path)).collect();
    let marked = repo.marked(subject)?;
    told.marked(id, marked.into_iter().filter(|marked| in_review.contains(&marked.path)).collect());
    Ok(told)
}

impl Told {
    /// Pointers are listed with what they say. Behind one that is program text by its name may stand a program that nobody has read.
    fn pointers(&mut self, repo: &Repo, id: &SubjectId, files: &[&FileChange]) -> Result<(), GitError> {
        let mut objects = Vec::new();
        for file in files {
            let [old, new] = pointers(repo, file)?;
            let Some(new) = new else { continue };
            let path = file.path();
            if let Some(what) = must_be_read(file) {
                let title = format!("{path} is {what} in git-lfs, and what it holds is not in the change; keep it in git");
                self.findings.push(checks::unreadable(id, path, title));
            }
            if old.is_some() || file.old.is_none() {
                objects.push(object(path, old.as_ref(), &new));
                self.lfs.insert(path.clone());
            }
        }
        if !objects.is_empty() {
            self.notes.push(format!("in git-lfs, and not reviewed but as a pointer: {}", some(&objects, "; ")));
        }
        Ok(())
    }

    /// UTF-16 is reviewed as the text it is, and a change of line ends alone is told in a line. A program may read its bytes as something else than a reviewer is shown.
    fn decoded(&mut self, repo: &Repo, id: &SubjectId, files: &[&FileChange]) -> Result<(), GitError> {
        let decoded: Vec<&&FileChange> = files.iter().filter(|file| matches!(file.body, Body::Utf16(_))).collect();
        for file in decoded.iter().filter(|file| checks::is_program(file)) {
            // All of it: a line that is the same text in another encoding is no changed line, and other bytes all the same.
            if !repo.shown_whole(file)?.is_some_and(|body| reads_otherwise(&FileChange { body, ..(**file).clone() })) {
                continue;
            }
            let path = file.path();
            let title =
                format!("{path} is program text in UTF-16, and other programs read more in its bytes than the text that is shown; save it as UTF-8");
            self.findings.push(checks::unreadable(id, path, title));
        }
        let ends = files.iter().filter(|file| matches!(file.body, Body::LineEnds(_)));
        let ended: Vec<String> = ends.map(|file| format!("{} ({} lines)", file.path(), file.counts().0)).collect();
        if !ended.is_empty() {
            self.notes.push(format!("only line ends change, told to reviewers and not shown line by line: {}", some(&ended, ", ")));
        }
        let paths: Vec<String> = decoded.iter().map(|file| file.path().to_string()).collect();
        if !paths.is_empty() {
            self.notes.push(format!("UTF-16, binary to git and reviewed as the text it is: {}", some(&paths, ", ")));
        }
        Ok(())
    }

    /// What attributes mark is reviewed all the same and told; program text that they hide from `git diff` is a finding, because people who look there miss it.
    fn marked(&mut self, id: &SubjectId, marked: Vec<Marked>) {
        let name = |marked: &Marked| format!("{} ({})", marked.path, marked.attribute);
        let hidden: Vec<&Marked> = marked.iter().filter(|marked| marked.hides && checks::is_program_by_name(&marked.path)).collect();
        if let Some(first) = hidden.first() {
            let names: Vec<String> = hidden.iter().copied().map(name).collect();
            let title = format!("attributes hide program text from `git diff`; it was reviewed all the same: {}", some(&names, ", "));
            self.findings.push(checks::finding(id, first.path.clone(), "hidden-by-attributes", Severity::Low, Severity::High, title));
        }
        let names: Vec<String> = marked.iter().map(name).collect();
        if !names.is_empty() {
            self.notes.push(format!("reviewed as text, whatever attributes say of it: {}", some(&names, ", ")));
        }
    }
}

/// Says what a file is that somebody must read before it leaves: what runs, what pins dependencies, what sets machines up.
fn must_be_read(file: &FileChange) -> Option<&'static str> {
    match file.path() {
        _ if checks::is_program(file) => Some("program text"),
        path if Kind::Lockfile.is(path) => Some("a lock file"),
        path if Kind::Infrastructure.is(path) => Some("infrastructure"),
        _ => None,
    }
}

/// The pointers of both sides. A file that only moved has no lines to read them from.
fn pointers(repo: &Repo, file: &FileChange) -> Result<[Option<Pointer>; 2], GitError> {
    match (&file.old, &file.new) {
        (Some(old), Some(new)) if old.oid == new.oid && old.mode.same_type(new.mode) && new.size <= lfs::MOST => {
            let pointer = Pointer::parse(&repo.first_bytes(new, lfs::MOST as usize)?);
            Ok([pointer.clone(), pointer])
        }
        (Some(_) | None, Some(_) | None) => Ok(lfs::pointers(file)),
    }
}

fn object(path: &BytePath, old: Option<&Pointer>, new: &Pointer) -> String {
    match old {
        Some(old) if old == new => format!("{path} (sha256 {}, {} bytes, unchanged)", new.oid, new.size),
        Some(old) => format!("{path} (sha256 {} of {} bytes, before that {} of {} bytes)", new.oid, new.size, old.oid, old.size),
        None => format!("{path} (sha256 {} of {} bytes)", new.oid, new.size),
    }
}

fn reads_otherwise(file: &FileChange) -> bool {
    let mut added = file.hunks().iter().flat_map(|hunk| hunk.lines()).filter(|line| line.origin == Origin::Added);
    added.any(|line| String::from_utf8_lossy(line.bytes).chars().any(utf16::reads_otherwise))
}

/// Names the first few, and says how many more there are.
fn some(names: &[String], between: &str) -> String {
    let mut shown = names[..names.len().min(SHOWN)].to_vec();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    shown.join(between)
}
