//! The search for secrets in everything that would be published for the first time, commit by commit. It comes before any byte is sent.

use super::Run;
use crate::change::subject::Subject;
use crate::digest::{Digest, Fields};
use crate::error::GateError;
use crate::git::FreshFile;
use crate::redact::{Leak, Redactor};
use crate::verdict::{Ground, Reason};
use std::collections::BTreeSet;

/// What the search found.
pub(super) struct Fresh {
    /// The secrets.
    pub leaks: Vec<Leak>,
    /// The digest of all new text: two pushes that publish the same are the same for a receipt.
    pub digest: Digest,
    /// What could not be searched.
    pub notes: Vec<String>,
}

/// Searches the new text of a subject.
pub(super) fn search(run: &Run<'_>, subject: &Subject) -> Result<Fresh, GateError> {
    let mut leaks = Vec::new();
    let mut seen = BTreeSet::new();
    let large = run.repo.fresh_text(subject, &mut |file| {
        let text = file.lines.iter().flat_map(|(_, line)| [line.as_slice(), b"\n"]).collect::<Vec<_>>().concat();
        seen.insert(identity(file, &text));
        leaks.extend(in_file(&run.redactor, file, &text));
    })?;
    let mut digest = Fields::new("review-gate fresh text v1");
    seen.iter().for_each(|identity| digest.add(identity.hex()));
    leaks.sort_by(|a: &Leak, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    leaks.dedup();
    let notes = large.iter().map(|path| format!("{path} is too large to be searched for secrets")).collect();
    Ok(Fresh { leaks, digest: digest.finish(), notes })
}

impl Fresh {
    /// Returns the reason to refuse: the places, by rule, and the value's sha256 for `allow_secrets`; never the value.
    pub(super) fn reason(&self) -> Option<Reason> {
        const SHOWN: usize = 10;
        let place = |leak: &Leak| format!("{}:{} ({}, sha256 {})", leak.path, leak.line, leak.rule, leak.digest);
        let mut places: Vec<String> = self.leaks.iter().take(SHOWN).map(place).collect();
        if self.leaks.len() > SHOWN {
            places.push(format!("{} more", self.leaks.len() - SHOWN));
        }
        (!places.is_empty()).then(|| Reason::new(Ground::Secret, format!("a secret would leave: {}", places.join("; "))))
    }
}

fn identity(file: &FreshFile, text: &[u8]) -> Digest {
    let mut fields = Fields::new("review-gate fresh file v1");
    fields.add(file.path.as_bytes());
    fields.add(text);
    fields.finish()
}

/// Finds the secrets in the new lines of a file and gives them the numbers that they have in it.
fn in_file(redactor: &Redactor, file: &FreshFile, text: &[u8]) -> Vec<Leak> {
    let number = |line: u32| file.lines.get(line.saturating_sub(1) as usize).map_or(line, |(number, _)| *number);
    redactor.leaks_in_blob(&file.path, &[], text).into_iter().map(|leak| Leak { line: number(leak.line), ..leak }).collect()
}
