//! The parts of a request that a server may refuse and a call can do without. What was refused once is left out for the reviewer's life.

use std::sync::atomic::{AtomicU8, Ordering};

/// One such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Knob {
    /// The schema of the reply; the prompt asks for the same in words.
    Schema = 1,
    /// The sampling temperature.
    Temperature = 2,
    /// `max_tokens`, which newer models want under the name `max_completion_tokens`.
    MaxTokens = 4,
    /// The wish for a usage report at the end of a stream.
    StreamOptions = 8,
    /// The wish that the model does not think.
    Think = 16,
}

/// A set of knobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Knobs(u8);

impl Knobs {
    /// Tells whether the set holds a knob.
    pub(super) fn has(self, knob: Knob) -> bool {
        self.0 & knob as u8 != 0
    }
}

/// A set that parallel calls add to.
#[derive(Debug, Default)]
pub(super) struct SharedKnobs(AtomicU8);

impl SharedKnobs {
    /// Returns the set as it is now.
    pub(super) fn get(&self) -> Knobs {
        Knobs(self.0.load(Ordering::SeqCst))
    }

    /// Adds a knob.
    pub(super) fn add(&self, knob: Knob) {
        self.0.fetch_or(knob as u8, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_independent_of_each_other() {
        let shared = SharedKnobs::default();
        shared.add(Knob::Schema);
        shared.add(Knob::Think);
        let all = [Knob::Schema, Knob::Temperature, Knob::MaxTokens, Knob::StreamOptions, Knob::Think];
        assert_eq!(all.map(|knob| shared.get().has(knob)), [true, false, false, false, true]);
    }
}
