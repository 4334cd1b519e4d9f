//! SHA-256, the one hash of records, receipts and ids (checkable with `sha256sum`). Git's own object ids are in `change::oid`.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes one byte string.
    pub fn of(bytes: impl AsRef<[u8]>) -> Digest {
        Digest(Sha256::digest(bytes.as_ref()).into())
    }

    /// Returns the 64 lower-case hex digits.
    pub fn hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.0.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]).map(char::from).collect()
    }

    /// Returns the first `digits` hex digits, for ids that a person types.
    pub fn short(&self, digits: usize) -> String {
        let mut hex = self.hex();
        hex.truncate(digits);
        hex
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.short(12))
    }
}

/// Hashes a list of fields so that no two different lists give the same bytes: each field is preceded by its length.
#[derive(Clone, Default)]
pub struct Fields(Sha256);

impl Fields {
    /// Starts a hash for one purpose; the purpose separates it from every other use.
    pub fn new(purpose: &str) -> Fields {
        let mut fields = Fields::default();
        fields.add(purpose);
        fields
    }

    /// Adds one field.
    pub fn add(&mut self, field: impl AsRef<[u8]>) {
        let field = field.as_ref();
        self.0.update((field.len() as u64).to_be_bytes());
        self.0.update(field);
    }

    /// Finishes the hash.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_together() {
        let hash = |parts: &[&str]| {
            let mut fields = Fields::new("test");
            parts.iter().for_each(|part| fields.add(part));
            fields.finish()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_eq!(Digest::of("").short(12), "e3b0c44298fc");
    }
}
