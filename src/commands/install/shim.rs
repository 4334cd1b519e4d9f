//! The hook script as it is installed: its text, and how one is recognised.
//!
//! Leaves to `hooks.rs` and `slot.rs`: where it goes and what becomes of a hook that is there. The templates in `hooks/` are what people read and what is installed.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const PRE_PUSH: &str = include_str!("../../../hooks/pre-push.sh");
const PRE_COMMIT: &str = include_str!("../../../hooks/pre-commit.sh");
/// The second line of every version of the script starts and ends so.
const MARKER: (&[u8], &[u8]) = (b"# review-gate hook v", b" (managed)");

/// A stage of git that the gate can stand at.
#[expect(clippy::enum_variant_names, reason = "git's own names")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Hook {
    /// Before anything leaves: the gate proper.
    PrePush,
    /// Before a commit is made. Many ways of committing do not run it.
    PreCommit,
    /// Before `git merge` makes its commit.
    PreMergeCommit,
}

impl Hook {
    /// Every hook that an installation may hold.
    pub(in crate::commands) const ALL: [Hook; 3] = [Hook::PrePush, Hook::PreCommit, Hook::PreMergeCommit];

    /// Returns git's name for it, which is also the file's.
    pub(in crate::commands) fn name(self) -> &'static str {
        match self {
            Hook::PrePush => "pre-push",
            Hook::PreCommit => "pre-commit",
            Hook::PreMergeCommit => "pre-merge-commit",
        }
    }

    /// Returns the name under which a hook that was there before is kept.
    pub(in crate::commands) fn kept_name(self) -> String {
        format!("{}.review-gate-legacy", self.name())
    }

    fn template(self) -> &'static str {
        match self {
            Hook::PrePush => PRE_PUSH,
            Hook::PreCommit | Hook::PreMergeCommit => PRE_COMMIT,
        }
    }
}

/// Whether the script runs a kept hook first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chain {
    /// It is alone.
    None,
    /// It runs [`Hook::kept_name`], which lies beside it, wherever both are moved to.
    Kept,
}

/// Renders the script of a hook for the program at `gate`, an absolute path.
pub(super) fn render(hook: Hook, gate: &Path, chain: Chain) -> Vec<u8> {
    let chained = match chain {
        Chain::None => OsString::new(),
        Chain::Kept => hook.kept_name().into(),
    };
    let mut script = Vec::new();
    // Line by line, so that a path that contains a hole's name is not taken for one.
    for line in hook.template().split_inclusive('\n') {
        if line == "gate=@GATE@\n" {
            script.extend([b"gate=", quoted(gate.as_os_str().as_bytes()).as_slice(), b"\n"].concat());
        } else if line == "chained=@CHAINED@\n" {
            script.extend([b"chained=", quoted(chained.as_bytes()).as_slice(), b"\n"].concat());
        } else {
            script.extend(line.replace("@HOOK@", hook.name()).into_bytes());
        }
    }
    script
}

/// Tells whether a file's content is one of our scripts, of this version or another, also where something has changed its line ends.
pub(in crate::commands) fn is_ours(content: &[u8]) -> bool {
    let second = content.split(|byte| *byte == b'\n').nth(1).unwrap_or_default();
    second.starts_with(MARKER.0) && plain(second).ends_with(MARKER.1)
}

/// What one of our scripts was written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Baked {
    /// The program that it runs.
    pub gate: PathBuf,
    /// The hook beside it that it runs first.
    pub chained: Option<String>,
}

/// Reads from one of our scripts what it was written for; `None` where it is not ours.
pub(in crate::commands) fn baked(content: &[u8]) -> Option<Baked> {
    if !is_ours(content) {
        return None;
    }
    let value = |name: &[u8]| content.split(|byte| *byte == b'\n').find_map(|line| plain(line).strip_prefix(name)).map(unquoted).unwrap_or_default();
    let chained = String::from_utf8_lossy(&value(b"chained=")).into_owned();
    Some(Baked { gate: OsString::from_vec(value(b"gate=")).into(), chained: Some(chained).filter(|name| !name.is_empty()) })
}

/// Tells whether a script is what this version writes for the same program and the same kept hook, byte for byte.
pub(in crate::commands) fn is_current(content: &[u8], hook: Hook) -> bool {
    baked(content).is_some_and(|baked| {
        let chain = if baked.chained.is_some() { Chain::Kept } else { Chain::None };
        render(hook, &baked.gate, chain) == content
    })
}

/// Returns a line without the carriage return of another system's line end.
fn plain(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Undoes [`quoted`].
fn unquoted(value: &[u8]) -> Vec<u8> {
    let (mut out, mut inside, mut escaped) = (Vec::new(), false, false);
    for byte in value {
        match byte {
            b'\'' if !escaped => inside = !inside,
            b'\\' if !inside && !escaped => {
                escaped = true;
                continue;
            }
            other => out.push(*other),
        }
        escaped = false;
    }
    out
}

/// Quotes for the shell: nothing is special between single quotes but the quote itself.
pub(super) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => out.extend(b"'\\''"),
            other => out.push(*other),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hole_is_left_and_the_text_is_plain_posix() {
        for hook in Hook::ALL {
            for chain in [Chain::None, Chain::Kept] {
                let script = String::from_utf8(render(hook, Path::new("/opt/bin/review-gate"), chain)).unwrap();
                assert!(script.starts_with("#!/bin/sh\n# review-gate hook v1 (managed)\n"), "{script}");
                assert!(script.contains("\ngate='/opt/bin/review-gate'\n"), "{script}");
                for unwanted in ["@GATE@", "@CHAINED@", "@HOOK@", "\r"] {
                    assert!(!script.contains(unwanted), "{unwanted:?} in {script}");
                }
                assert_eq!(script.contains(&hook.kept_name()), chain == Chain::Kept);
                assert!(script.contains(&format!(" hook {}", hook.name())));
            }
        }
    }

    #[test]
    fn only_the_marker_on_the_second_line_makes_it_ours() {
        let gate = Path::new("/g");
        let table: &[(&[u8], bool)] = &[
            (&render(Hook::PrePush, gate, Chain::None), true),
            (b"#!/bin/sh\n# review-gate hook v12 (managed)\n", true),
            (b"#!/bin/sh\r\n# review-gate hook v1 (managed)\r\n", true),
            (b"# review-gate hook v1 (managed)\n", false),
            (b"#!/bin/sh\n# calls: review-gate hook v1 (managed)\n", false),
            (b"#!/bin/sh\n# review-gate hook v1\n", false),
            (b"", false),
            (b"\x7fELF\n", false),
        ];
        for (content, ours) in table {
            assert_eq!(is_ours(content), *ours, "{}", String::from_utf8_lossy(content));
        }
    }

    #[test]
    fn what_a_script_was_written_for_can_be_read_back() {
        for (gate, chain) in [("/opt/bin/review-gate", Chain::None), ("/a b/it's $(x)\"\\n/review-gate", Chain::Kept)] {
            let read = baked(&render(Hook::PrePush, Path::new(gate), chain)).unwrap();
            assert_eq!(read.gate, Path::new(gate));
            assert_eq!(read.chained, (chain == Chain::Kept).then(|| Hook::PrePush.kept_name()));
        }
        assert_eq!(baked(b"#!/bin/sh\ngate='/x'\n"), None);
        let script = render(Hook::PrePush, Path::new("/g"), Chain::Kept);
        assert!(is_current(&script, Hook::PrePush) && !is_current(&script, Hook::PreCommit));
        assert!(!is_current(&[script.as_slice(), b"exit 0\n"].concat(), Hook::PrePush));
    }

    #[test]
    fn a_quote_in_the_path_stays_inside_the_quotes() {
        assert_eq!(quoted(b"/a b/it's $(x)"), b"'/a b/it'\\''s $(x)'");
    }
}
