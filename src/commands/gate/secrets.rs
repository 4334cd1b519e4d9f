//! The search for secrets in everything that would be published for the first time, commit by commit. It comes before any byte is sent.

use super::Run;
use crate::change::BytePath;
use crate::change::subject::Subject;
use crate::digest::{Digest, Fields};
use crate::error::GateError;
use crate::git::FreshFile;
use crate::redact::Leak;
use crate::verdict::{Ground, Reason};
use std::collections::BTreeSet;

/// What the search found.
pub(super) struct Fresh {
    /// The secrets.
    pub leaks: Vec<Leak>,
    /// The digest of all new text: two pushes that publish the same are the same for a receipt.
    pub digest: Digest,
    /// Files that are too large to be searched.
    pub too_large: Vec<BytePath>,
}

/// Searches the new text of a subject, as captured: whole new blobs beside the old sides, so that a key is seen whose armour was there before, and the hunks, so
/// that no added text is masked for the reviewer that is not refused here. What is published already and is shown whole is no news; it is only masked.
pub(super) fn search(run: &Run<'_>, subject: &Subject) -> Result<Fresh, GateError> {
    let redactor = &run.redactor;
    let mut leaks = redactor.leaks(&subject.change);
    let mut seen = BTreeSet::new();
    let too_large = run.repo.fresh_text(subject, &mut |file| {
        seen.insert(identity(file));
        let before: Vec<&[u8]> = file.before.iter().map(Vec::as_slice).collect();
        leaks.extend(redactor.leaks_in_blob(&file.path, &before, &file.content));
        leaks.extend(redactor.leak_in_path(&file.path));
    })?;
    let mut digest = Fields::new("review-gate fresh text v1");
    seen.iter().for_each(|identity| digest.add(identity.hex()));
    leaks.sort_by(|a: &Leak, b| (&a.path, a.digest, a.line).cmp(&(&b.path, b.digest, b.line)));
    leaks.dedup_by(|a, b| a.path == b.path && a.digest == b.digest);
    Ok(Fresh { leaks, digest: digest.finish(), too_large })
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

fn identity(file: &FreshFile) -> Digest {
    let mut fields = Fields::new("review-gate fresh file v1");
    fields.add(file.path.as_bytes());
    file.lines().for_each(|(_, line)| fields.add(line));
    fields.finish()
}
