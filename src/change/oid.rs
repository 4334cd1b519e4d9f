//! Git object ids, SHA-1 or SHA-256, as plain bytes: what the model layer needs of them without git.

use std::fmt;

/// A git object id of 20 (SHA-1) or 32 (SHA-256) bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid {
    len: u8,
    bytes: [u8; 32],
}

impl Oid {
    /// Makes an id from raw bytes; `None` unless there are 20 or 32.
    pub fn from_bytes(raw: &[u8]) -> Option<Oid> {
        if raw.len() != 20 && raw.len() != 32 {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Oid { len: raw.len() as u8, bytes })
    }

    /// Reads 40 or 64 hex digits of either case.
    pub fn from_hex(hex: &[u8]) -> Option<Oid> {
        if hex.len() != 40 && hex.len() != 64 {
            return None;
        }
        let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
        let raw: Option<Vec<u8>> = hex.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
        Oid::from_bytes(&raw?)
    }

    /// Returns the raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }

    /// Tells whether this is the all-zero id, git's word for "no object".
    pub fn is_null(&self) -> bool {
        self.as_bytes().iter().all(|byte| *byte == 0)
    }

    /// Returns the all-zero id of the same length.
    pub fn to_null(self) -> Oid {
        Oid { len: self.len, bytes: [0; 32] }
    }

    /// Returns the first 12 hex digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In one piece and without an allocation: a change of thousands of files prints twice as many ids.
        let mut hex = [0; 64];
        let digits = &mut hex[..2 * self.len as usize];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.as_bytes()) {
            let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        f.write_str(&String::from_utf8_lossy(digits))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_odd_lengths_are_no_id() {
        for hex in ["e83c5163316f89bfbde7d9ab23ca2e25604af290", &"0f".repeat(32)] {
            assert_eq!(Oid::from_hex(hex.as_bytes()).expect("an id").to_string(), *hex);
        }
        for bad in ["", "e83c", &"g".repeat(40), &"0".repeat(41)] {
            assert_eq!(Oid::from_hex(bad.as_bytes()), None, "{bad}");
        }
        assert!(Oid::from_hex(&[b'0'; 64]).expect("an id").is_null());
    }
}
