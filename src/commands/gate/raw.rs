//! Replies that could not be used are kept for a person to read: in git's common directory beside the ledger, secrets masked, a bounded number of bounded files
//! (requirement S19). Best effort: a reply that cannot be kept changes no decision.

use super::{Case, Run};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The most that is kept of one reply, in bytes.
const MAX_BYTES: usize = 256 << 10;
/// The most replies that are kept; the oldest go.
const MAX_FILES: usize = 100;

/// Keeps the unusable replies of all passes and enters the files in the cases.
pub(super) fn keep(run: &Run<'_>, cases: &mut [Case]) {
    let dir = run.repo.common_dir().join("review-gate").join("raw");
    for case in cases {
        for pass in &case.passes {
            let raw = pass.outcome.fault().and_then(|fault| fault.raw.as_deref());
            let Some(raw) = raw.filter(|raw| !raw.trim().is_empty()) else { continue };
            // The time comes first, so that names sort by age.
            let name = format!("{}-{}-{}-{}.txt", run.now.as_millisecond(), &run.id[..8], case.id.0, pass.name);
            if let Some(file) = write(&dir, &name, &run.redactor.clean(raw)) {
                case.raw.push((pass.name.clone(), file));
            }
        }
    }
}

fn write(dir: &Path, name: &str, text: &str) -> Option<PathBuf> {
    if !fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()) {
        DirBuilder::new().mode(0o700).create(dir).ok()?;
    }
    prune(dir);
    let path = dir.join(name);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
    file.write_all(bounded(text).as_bytes()).ok()?;
    Some(path)
}

/// Returns the text as far as it is kept, with a mark where that is not all.
fn bounded(text: &str) -> String {
    let kept = &text[..text.floor_char_boundary(MAX_BYTES)];
    let rest = text.len() - kept.len();
    if rest == 0 { kept.to_owned() } else { format!("{kept}\n… [{rest} bytes cut]\n") }
}

fn prune(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let surplus = (files.len() + 1).saturating_sub(MAX_FILES);
    // What cannot be removed stays; nothing hangs on it.
    files.iter().take(surplus).for_each(|file| drop(fs::remove_file(file)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_private_bounded_files_are_kept_and_no_link_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("raw");
        for number in 0..MAX_FILES + 5 {
            assert!(write(&dir, &format!("{number:04}.txt"), &"x".repeat(MAX_BYTES + 1)).is_some());
        }
        let mut names: Vec<_> = fs::read_dir(&dir).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
        names.sort();
        assert_eq!(names.len(), MAX_FILES);
        assert!(names[0].ends_with("0005.txt"));
        let kept = fs::read_to_string(&names[0]).expect("a file");
        assert!(kept.len() < MAX_BYTES + 40 && kept.ends_with("xx\n… [1 bytes cut]\n"), "a cut has its mark");
        assert_eq!(bounded("whole"), "whole");
        let linked = folder.path().join("linked");
        std::os::unix::fs::symlink(&dir, &linked).expect("a link");
        assert_eq!(write(&linked, "a.txt", "x"), None);
    }
}
