//! Pointers of git-lfs: three lines of text that stand for an object kept elsewhere. What the pointer says is in the change; what the object holds is not.

use super::{FileChange, Mode, Origin, Side};

/// The most bytes that a pointer takes: its two fixed lines, and a size of twenty digits.
pub const MOST: u64 = 160;

const VERSION: &str = "version https://git-lfs.github.com/spec/v1\n";

/// What a pointer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// The object's SHA-256, in hex.
    pub oid: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Pointer {
    /// Reads the content of a file that is a pointer and nothing else. One with more in it, such as the lines of an extension, is text like any other.
    pub fn parse(content: &[u8]) -> Option<Pointer> {
        let rest = std::str::from_utf8(content).ok()?.strip_prefix(VERSION)?.strip_prefix("oid sha256:")?;
        let (oid, rest) = rest.split_once('\n')?;
        let size = rest.strip_prefix("size ")?.strip_suffix('\n')?;
        let is_hex = oid.len() == 64 && oid.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_number = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
        (is_hex && is_number).then(|| Some(Pointer { oid: oid.to_owned(), size: size.parse().ok()? }))?
    }
}

/// Reads the pointers of both sides out of the lines that changed; `None` for a side that is none, or that is not shown whole.
pub fn pointers(file: &FileChange) -> [Option<Pointer>; 2] {
    [(&file.old, Origin::Added), (&file.new, Origin::Removed)].map(|(side, other)| Pointer::parse(&whole(file, side.as_ref()?, other)?))
}

/// Puts one side together from the only hunk of a small file.
fn whole(file: &FileChange, side: &Side, other: Origin) -> Option<Vec<u8>> {
    let ([hunk], true) = (file.hunks(), side.size <= MOST && matches!(side.mode, Mode::Regular | Mode::Executable)) else { return None };
    let lines = hunk.lines().filter(|line| line.origin != other);
    let content: Vec<u8> = lines.flat_map(|line| [line.bytes, b"\n"]).flatten().copied().collect();
    (content.len() as u64 == side.size).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(digit: &str, size: &str) -> String {
        format!("{VERSION}oid sha256:{}\nsize {size}\n", digit.repeat(64))
    }

    #[test]
    fn a_pointer_is_read_and_anything_more_is_text() {
        let good = pointer("a", "12");
        assert_eq!(Pointer::parse(good.as_bytes()), Some(Pointer { oid: "a".repeat(64), size: 12 }));
        assert!(pointer("a", &u64::MAX.to_string()).len() as u64 <= MOST);
        let bad = [
            format!("{good}import os\n"),
            good.replace("size 12", "size 12 "),
            good.replace("size 12", "size "),
            good.replace("size 12", "size 99999999999999999999"),
            good.trim_end().to_owned(),
            good.replace('a', "A"),
            good.replace("\noid", "\next-0-x sha256:1\noid"),
            good.replace("sha256:a", "sha256:"),
            good.replace('\n', "\r\n"),
            String::new(),
        ];
        for content in bad {
            assert_eq!(Pointer::parse(content.as_bytes()), None, "{content}");
        }
    }
}
