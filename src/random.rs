//! Unguessable values: nonces, fences, run ids. From the operating system's generator.

/// Returns 128 random bits. A generator that does not answer is a fault of the machine and ends the run as an internal error.
pub fn bits128() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system's random generator answers, because nothing runs without it");
    bytes
}

/// Returns 128 random bits as 32 hex digits.
pub fn hex128() -> String {
    bits128().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_are_long_and_differ() {
        let (a, b) = (super::hex128(), super::hex128());
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
    }
}
