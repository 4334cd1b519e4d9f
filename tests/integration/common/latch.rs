//! A door that a test opens: what a peer answers waits for it, not for a time.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Whoever waits longer than this goes on; the test then fails by what it asserts.
const LIMIT: Duration = Duration::from_secs(50);

/// Closed until opened. Clones are the same door.
#[derive(Clone, Default)]
pub struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Latch {
    /// Makes a closed one.
    pub fn closed() -> Latch {
        Latch::default()
    }

    /// Lets everyone through, from now on.
    pub fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open.
    pub fn wait(&self) {
        let open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_timeout_while(open, LIMIT, |open| !*open).unwrap());
    }
}
