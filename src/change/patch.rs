//! The change as git prints it: unified diff text, byte for byte what `git diff --full-index` writes with its default settings.

use super::{Body, BytePath, Change, FileChange, Hunk, Mode, Oid, Side, Status};

/// How paths are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As `git diff` does: behind `a/` and `b/`, every byte above 0x7f escaped.
    Git,
    /// For a reviewer: as git does, but with text that is UTF-8 left as it is, so that the reviewer names files as the report does.
    Prompt,
}

impl Style {
    fn name(self, prefix: &str, path: &BytePath) -> Vec<u8> {
        match self {
            Style::Git => path.quoted(prefix, true),
            Style::Prompt => path.quoted(prefix, false),
        }
    }

    /// Tells whether the content is written line by line. Git takes UTF-16 for binary; a reviewer reads it.
    fn shows_lines(self, body: &Body) -> bool {
        match body {
            Body::Text(_) | Body::Summary { .. } => true,
            Body::Utf16(_) => self == Style::Prompt,
            Body::LineEnds(_) | Body::Binary | Body::Oversize => false,
        }
    }

    /// Writes a path without prefix, as the lines about renames have it.
    fn bare(self, path: &BytePath) -> Vec<u8> {
        path.quoted("", self == Style::Git)
    }
}

/// Writes the whole change.
pub fn write(change: &Change, style: Style, out: &mut Vec<u8>) {
    change.files.iter().for_each(|changed| file(changed, style, out));
}

/// Writes one file.
pub fn file(changed: &FileChange, style: Style, out: &mut Vec<u8>) {
    header(changed, style, out);
    if style.shows_lines(&changed.body) {
        changed.hunks().iter().for_each(|part| hunk(part, out));
    }
}

/// Writes what stands before the hunks of a file; all there is where it has none.
pub fn header(changed: &FileChange, style: Style, out: &mut Vec<u8>) {
    let (old_path, new_path) = paths(changed);
    line(out, &[b"diff --git ", &style.name("a/", old_path), b" ", &style.name("b/", new_path)]);
    modes(changed, out);
    if let Status::Renamed { similarity } = changed.status {
        line(out, &[b"similarity index ", format!("{similarity}%").as_bytes()]);
        line(out, &[b"rename from ", &style.bare(old_path)]);
        line(out, &[b"rename to ", &style.bare(new_path)]);
    }
    index(changed, out);
    let name = |prefix, side: &Option<Side>| side.as_ref().map_or(b"/dev/null".to_vec(), |side| style.name(prefix, &side.path));
    let (old_name, new_name) = (name("a/", &changed.old), name("b/", &changed.new));
    match &changed.body {
        Body::Text(hunks) if hunks.is_empty() => {}
        // Its own first line says what it is; there are no lines of the file for these names to stand over.
        Body::Summary { .. } => {}
        body if style.shows_lines(body) => {
            if matches!(body, Body::Utf16(_)) {
                line(out, &[b"encoding UTF-16, shown decoded"]);
            }
            line(out, &[b"--- ", &old_name, blank_mark(&old_name)]);
            line(out, &[b"+++ ", &new_name, blank_mark(&new_name)]);
        }
        Body::LineEnds(ends) => line(out, &[ends.to_string().as_bytes()]),
        Body::Text(_) | Body::Utf16(_) | Body::Binary | Body::Oversize => line(out, &[b"Binary files ", &old_name, b" and ", &new_name, b" differ"]),
    }
}

/// Writes one hunk: its `@@` line and its body.
pub fn hunk(part: &Hunk, out: &mut Vec<u8>) {
    let range = |start: u32, lines: u32| if lines == 1 { start.to_string() } else { format!("{start},{lines}") };
    let (old, new) = (range(part.old_start, part.old_lines), range(part.new_start, part.new_lines));
    let gap: &[u8] = if part.section.is_empty() { b"" } else { b" " };
    line(out, &[b"@@ -", old.as_bytes(), b" +", new.as_bytes(), b" @@", gap, &part.section]);
    out.extend_from_slice(&part.text);
}

/// Returns the paths of both sides; the one there is where a side is missing.
fn paths(changed: &FileChange) -> (&BytePath, &BytePath) {
    let old = changed.old.as_ref().map_or(changed.path(), |side| &side.path);
    (old, changed.path())
}

fn modes(changed: &FileChange, out: &mut Vec<u8>) {
    let mode_line = |out: &mut Vec<u8>, what: &str, mode: Mode| line(out, &[what.as_bytes(), b" ", mode.octal().as_bytes()]);
    match (&changed.old, &changed.new) {
        (None, Some(new)) => mode_line(out, "new file mode", new.mode),
        (Some(old), None) => mode_line(out, "deleted file mode", old.mode),
        (Some(old), Some(new)) if old.mode != new.mode => {
            mode_line(out, "old mode", old.mode);
            mode_line(out, "new mode", new.mode);
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
}

/// Writes the line with both ids, unless they are equal; the mode stands behind them where it is the same on both sides.
fn index(changed: &FileChange, out: &mut Vec<u8>) {
    let (old, new) = (&changed.old, &changed.new);
    let oid = |side: &Option<Side>, other: &Option<Side>| side.as_ref().map(|side| side.oid).or(other.as_ref().map(|other| other.oid.to_null()));
    let (Some(old_oid), Some(new_oid)) = (oid(old, new), oid(new, old)) else { return };
    let same_mode = match (old, new) {
        (Some(old), Some(new)) if old.mode == new.mode => format!(" {}", new.mode.octal()),
        (Some(_) | None, Some(_) | None) => String::new(),
    };
    if old_oid != new_oid {
        let ids = |a: Oid, b: Oid| format!("index {a}..{b}{same_mode}");
        line(out, &[ids(old_oid, new_oid).as_bytes()]);
    }
}

/// Git ends a name that holds a blank with a tab, so that patch readers do not take the rest for a date.
fn blank_mark(name: &[u8]) -> &'static [u8] {
    if name.contains(&b' ') { b"\t" } else { b"" }
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(path: &str, mode: Mode, digit: &str) -> Option<Side> {
        Some(Side { path: BytePath::from(path), mode, oid: Oid::from_hex(digit.repeat(40).as_bytes()).expect("an id"), size: 2 })
    }

    fn printed(status: Status, old: Option<Side>, new: Option<Side>, body: Body, style: Style) -> String {
        let mut out = Vec::new();
        file(&FileChange { status, old, new, body }, style, &mut out);
        String::from_utf8(out).expect("UTF-8").replace(&"1".repeat(40), "<1>").replace(&"2".repeat(40), "<2>").replace(&"0".repeat(40), "<0>")
    }

    fn text() -> Body {
        Body::Text(lines())
    }

    fn lines() -> Vec<Hunk> {
        vec![Hunk { old_start: 0, old_lines: 0, new_start: 1, new_lines: 1, section: b"fn x".to_vec(), text: b"+x\n".to_vec() }]
    }

    #[test]
    fn each_kind_of_change_has_gits_header() {
        use Mode::{Executable, Regular};
        let empty = || Body::Text(Vec::new());
        let utf16 = || Body::Utf16(lines());
        let cases = [
            (
                printed(Status::Added, None, side("a b", Regular, "1"), text(), Style::Git),
                "diff --git a/a b b/a b\nnew file mode 100644\nindex <0>..<1>\n--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@ fn x\n+x\n",
            ),
            (
                printed(Status::Deleted, side("e", Regular, "1"), None, empty(), Style::Git),
                "diff --git a/e b/e\ndeleted file mode 100644\nindex <1>..<0>\n",
            ),
            (
                printed(Status::Modified, side("é", Regular, "1"), side("é", Executable, "1"), empty(), Style::Git),
                "diff --git \"a/\\303\\251\" \"b/\\303\\251\"\nold mode 100644\nnew mode 100755\n",
            ),
            (
                printed(Status::Modified, side("x", Regular, "1"), side("x", Regular, "2"), Body::Binary, Style::Git),
                "diff --git a/x b/x\nindex <1>..<2> 100644\nBinary files a/x and b/x differ\n",
            ),
            (
                printed(Status::Added, None, side("x", Regular, "1"), utf16(), Style::Git),
                "diff --git a/x b/x\nnew file mode 100644\nindex <0>..<1>\nBinary files /dev/null and b/x differ\n",
            ),
            (
                printed(Status::Added, None, side("x", Regular, "1"), utf16(), Style::Prompt),
                "diff --git a/x b/x\nnew file mode 100644\nindex <0>..<1>\nencoding UTF-16, shown decoded\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@ fn x\n+x\n",
            ),
            (
                printed(Status::Renamed { similarity: 70 }, side("x", Regular, "1"), side("é", Regular, "2"), text(), Style::Prompt),
                "diff --git a/x b/é\nsimilarity index 70%\nrename from x\nrename to é\nindex <1>..<2> 100644\n--- a/x\n+++ b/é\n@@ -0,0 +1 @@ fn x\n+x\n",
            ),
        ];
        for (printed, expected) in cases {
            assert_eq!(printed, expected);
        }
    }

    #[test]
    fn a_newline_in_a_name_forges_no_line() {
        for style in [Style::Git, Style::Prompt] {
            let text = printed(Status::Added, None, side("x\n+++ b/y", Mode::Regular, "1"), text(), style);
            assert_eq!(text.lines().count(), 7, "{text}");
            assert!(!text.contains("\n+++ b/y"), "{text}");
        }
    }
}
