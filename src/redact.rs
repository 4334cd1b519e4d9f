//! Secrets: refused in what is new, masked in what is old. The only maker of [`Outbound`], the only type that a reviewer is ever sent.

/// Text that may leave the machine: secrets masked. Nothing else can be handed to a [`crate::reviewer::Reviewer`].
#[derive(Clone, PartialEq, Eq)]
pub struct Outbound(String);

impl Outbound {
    /// Takes text as it is, for tests of what comes after redaction.
    #[cfg(test)]
    pub(crate) fn for_test(text: &str) -> Outbound {
        Outbound(text.to_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
