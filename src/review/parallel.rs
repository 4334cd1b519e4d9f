//! How many calls a reviewer takes at once (`parallel`; a local model: one). Waiting for a place is bounded by the caller's deadline.

use crate::clock::Deadline;
use std::sync::{Condvar, Mutex, PoisonError};

/// The places of one reviewer.
pub(super) struct Slots {
    free: Option<Mutex<usize>>,
    freed: Condvar,
}

/// A taken place; given back on drop.
pub(super) struct Slot<'a>(&'a Slots);

impl Slots {
    /// Makes `limit` places; `None` is no limit.
    pub(super) fn new(limit: Option<usize>) -> Slots {
        Slots { free: limit.map(|limit| Mutex::new(limit.max(1))), freed: Condvar::new() }
    }

    /// Waits for a place; `None` where the deadline came first.
    pub(super) fn take(&self, deadline: Deadline) -> Option<Slot<'_>> {
        let Some(free) = &self.free else { return Some(Slot(self)) };
        let guard = free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut guard, waited) = self.freed.wait_timeout_while(guard, deadline.left(), |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && *guard == 0 {
            return None;
        }
        *guard -= 1;
        Some(Slot(self))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(free) = &self.0.free {
            *free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            self.0.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Limit;
    use std::time::Duration;

    #[test]
    fn a_taken_place_is_free_again_after_use_and_waiting_ends() {
        let slots = Slots::new(Some(1));
        let soon = || Deadline::after(Duration::from_millis(20), Limit::Slice);
        let taken = slots.take(soon());
        assert!(taken.is_some());
        assert!(slots.take(soon()).is_none());
        drop(taken);
        assert!(slots.take(soon()).is_some());
    }
}
