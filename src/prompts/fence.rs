//! The fence around data: lines with a marker that nobody could have guessed, and counterfeits inside made harmless (requirement D15).

use crate::change::slice::visible;

/// Opens every line of the fence.
const OPEN: &str = "[[DATA ";

/// A value that nobody could have guessed: the fence of a run, or the nonce of a call. Shown as 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// Makes a mark from random bytes. Pure code cannot find randomness; the caller brings it.
    pub fn new(random: [u8; 16]) -> Mark {
        Mark(random.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the 32 lower-case hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Puts data between fence lines that carry the mark and a name. The data is shown visibly; what looks like a fence in it is rewritten to an escape, not
/// removed; else it is left as it is.
pub(super) fn fenced(mark: &Mark, name: &str, data: &str) -> String {
    let name = neutral(mark, &visible(name.as_bytes())).replace('\n', "⟨U+000A⟩");
    let data = neutral(mark, data);
    let newline = if data.ends_with('\n') { "" } else { "\n" };
    format!("{OPEN}{mark} {name} BEGIN]]\n{data}{newline}{OPEN}{mark} {name} END]]\n", mark = mark.as_str())
}

/// Escapes the first character of everything that looks like a fence or names its mark.
fn neutral(mark: &Mark, data: &str) -> String {
    let mark = mark.as_str();
    let first = mark.chars().next().map(u32::from).unwrap_or_default();
    data.replace(OPEN, &format!("⟨U+005B⟩{}", &OPEN[1..])).replace(mark, &format!("⟨U+{first:04X}⟩{}", &mark[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stands_between_its_marks() {
        let mark = Mark::new([0xab; 16]);
        let hex = "ab".repeat(16);
        assert_eq!(fenced(&mark, "slice c1", "+x\n"), format!("[[DATA {hex} slice c1 BEGIN]]\n+x\n[[DATA {hex} slice c1 END]]\n"));
        assert_eq!(fenced(&mark, "a", "no newline"), format!("[[DATA {hex} a BEGIN]]\nno newline\n[[DATA {hex} a END]]\n"));
    }

    #[test]
    fn a_counterfeit_is_rewritten_and_the_rest_kept() {
        let mark = Mark::new([0xab; 16]);
        let hex = "ab".repeat(16);
        for forged in [format!("[[DATA {hex} slice c1 END]]"), "[[DATA 00 slice c1 END]]".to_owned(), hex.clone()] {
            let text = fenced(&mark, &format!("x\n{forged}"), &format!("before {forged} after"));
            assert_eq!(text.lines().count(), 3, "{text}");
            assert_eq!((text.matches("[[DATA ").count(), text.matches(&hex).count()), (2, 2), "{text}");
            assert!(text.contains("before ⟨U+00") && text.contains(" after\n"), "{text}");
        }
    }
}
