//! What only looks like a secret: vendors' documented samples, placeholders, and text too regular to be random.

use crate::digest::Digest;

/// Digests of samples that vendors publish, where no word in them says so.
const DOCUMENTED: [&str; 2] = [
    // The account key of Azure's storage emulator.
    "0011cc25eb4320717494d2703e8cba85743e71b500283c21c8b88147992f9059",
    // The account key of Azure's database emulator.
    "aa6547439583c3a275d4542a0df6c1ad6a863971be9f2a2220f027cc02aef615",
];

/// Words that only a placeholder holds, in lower case.
const WORDS: [&str; 12] =
    ["example", "placeholder", "redacted", "changeme", "change_me", "your_", "your-", "yourkey", "yourtoken", "insert_", "dummy", "not_a_real"];

/// How strictly a text must look random, by how telling the rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The shape alone tells: only samples, placeholders and near-constant texts are let through.
    Shape,
    /// The shape is loose: also counted-up texts (`abcdef…`, `123456…`) are let through.
    Random,
    /// A password in a URL: templates and the usual words are let through.
    Password,
}

/// Tells whether a text that matched a rule is no secret.
pub(super) fn is_sample(value: &[u8], proof: Proof) -> bool {
    let lower = value.to_ascii_lowercase();
    let holds = |word: &str| lower.windows(word.len()).any(|part| part == word.as_bytes());
    if WORDS.iter().any(|word| holds(word)) || DOCUMENTED.contains(&Digest::of(value).hex().as_str()) {
        return true;
    }
    match proof {
        Proof::Shape => longest_run(value, 0) >= 8 || entropy(value) < 2.5,
        Proof::Random => longest_run(value, 0) >= 6 || entropy(value) < 3.0 || longest_run(value, 1) >= 8,
        Proof::Password => is_template(&lower),
    }
}

fn is_template(lower: &[u8]) -> bool {
    let words: [&[u8]; 14] =
        [b"password", b"passwd", b"pass", b"postgres", b"root", b"admin", b"secret", b"user", b"guest", b"test", b"mysql", b"redis", b"pw", b"pwd"];
    words.contains(&lower) || lower.iter().any(|byte| b"${}<>*%()[]".contains(byte)) || longest_run(lower, 0) == lower.len()
}

/// The longest run in which each byte is the one before plus `step`: 0 for repeats, 1 for counting up.
fn longest_run(value: &[u8], step: u8) -> usize {
    let mut best = usize::from(!value.is_empty());
    let mut run = 1;
    for pair in value.windows(2) {
        run = if pair[1] == pair[0].wrapping_add(step) { run + 1 } else { 1 };
        best = best.max(run);
    }
    best
}

/// Shannon entropy in bits for each byte.
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|byte| counts[*byte as usize] += 1);
    let length = value.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length).map(|part| -part * part.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_samples_and_random_text_is_not() {
        for (value, proof, sample) in [
            ("AKIAIOSFODNN7EXAMPLE", Proof::Shape, true),
            ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", Proof::Random, true),
            ("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", Proof::Shape, true),
            ("abababababababababab", Proof::Shape, true),
            ("your-api-key-goes-here", Proof::Shape, true),
            ("1234567890abcdef1234567890abcdef", Proof::Random, true),
            ("abcdefghijklmnopqrstuvwxyz0123456789", Proof::Random, true),
            ("abcdefghijklmnopqrstuvwxyz0123456789", Proof::Shape, false),
            ("x7Qm2Lk9Vb4Nc8Wz1Rt6Yp3Hs5Jd0FgAeUi2", Proof::Random, false),
            ("9f86d081884c7d659a2feaa0c55ad015", Proof::Random, false),
            ("${DB_PASSWORD}", Proof::Password, true),
            ("postgres", Proof::Password, true),
            ("****", Proof::Password, true),
            ("h8!kqp2", Proof::Password, false),
        ] {
            assert_eq!(is_sample(value.as_bytes(), proof), sample, "{value}");
        }
    }

    #[test]
    fn entropy_is_shannons() {
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abcd"), 2.0);
    }
}
