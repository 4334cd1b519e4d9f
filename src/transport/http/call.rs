//! The calls under way and how long each is waited for. A limit that ends a call has a name, and the name decides the class of the fault.

use crate::clock::{Deadline, Limit};
use crate::reviewer::{Class, Fault};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ureq::Agent;

/// The calls under way, so that all can be ended at once.
#[derive(Default)]
pub(super) struct Calls(Mutex<Open>);

#[derive(Default)]
struct Open {
    cancelled: bool,
    next: u64,
    agents: BTreeMap<u64, Agent>,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call in, unless all were cancelled.
    pub(super) fn begin(calls: &Arc<Calls>, agent: Agent) -> Result<Call, Fault> {
        let mut open = calls.lock();
        if open.cancelled {
            return Err(cancelled());
        }
        open.next += 1;
        let id = open.next;
        open.agents.insert(id, agent);
        Ok(Call { id, calls: Arc::clone(calls) })
    }

    /// Ends every call and forbids later ones.
    pub(super) fn cancel(&self) {
        let agents = {
            let mut open = self.lock();
            open.cancelled = true;
            std::mem::take(&mut open.agents)
        };
        agents.into_values().for_each(Agent::shutdown);
    }
}

/// One call under way. Dropping it closes its connection, which also ends its thread.
pub(super) struct Call {
    id: u64,
    calls: Arc<Calls>,
}

impl Call {
    fn cancelled(&self) -> Option<Fault> {
        self.calls.lock().cancelled.then(cancelled)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let agent = self.calls.lock().agents.remove(&self.id);
        if let Some(agent) = agent {
            agent.shutdown();
        }
    }
}

/// The waiting side of a call.
pub(super) struct Wait {
    call: Call,
    deadline: Deadline,
    first: Deadline,
    idle: Duration,
    begun: bool,
}

impl Wait {
    /// Makes one. `first` ends the wait for the first piece of the body, `idle` the wait between two pieces, `deadline` the call.
    pub(super) fn new(call: Call, deadline: Deadline, first: Deadline, idle: Duration) -> Wait {
        Wait { call, deadline, first, idle, begun: false }
    }

    /// Notes that the body has begun.
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    /// Returns the end of the wait for the next piece of the body.
    pub(super) fn for_piece(&self) -> Deadline {
        if self.begun { self.deadline.within(self.idle, Limit::Idle) } else { self.first }
    }

    /// Waits for the next thing from the call's thread. A peer that always has something to send does not push the deadline out.
    pub(super) fn on<T>(&self, from: &Receiver<T>, until: Deadline) -> Result<T, Fault> {
        if self.deadline.passed() {
            return Err(late(self.deadline));
        }
        from.recv_timeout(until.left()).map_err(|error| match error {
            RecvTimeoutError::Timeout => self.call.cancelled().unwrap_or_else(|| late(until)),
            RecvTimeoutError::Disconnected => Fault::new(Class::Unreachable, "the thread of the call ended without a word"),
        })
    }

    /// Returns why the call is over on our side, if it is.
    pub(super) fn ended(&self) -> Option<Fault> {
        let limit = if self.begun { self.deadline } else { self.first };
        self.call.cancelled().or_else(|| limit.passed().then(|| late(limit)))
    }
}

/// Says that a limit was reached, and which. Only the limits of the run make the class `deadline`; the others say that this reviewer could not be had.
pub fn late(limit: Deadline) -> Fault {
    let detail = format!("no end of the reply within {:.1?} ({})", limit.allowed(), limit.limit());
    match limit.limit() {
        Limit::Run | Limit::Passes | Limit::Slice => Fault::new(Class::Deadline, detail),
        Limit::Reviewer | Limit::Idle | Limit::Connect | Limit::Preflight | Limit::Lock | Limit::Git => Fault::new(Class::Unreachable, detail),
        Limit::FirstByte => Fault::new(Class::Unreachable, format!("no first byte within {:.1?}", limit.allowed())).permanent(),
    }
}

fn cancelled() -> Fault {
    Fault::new(Class::Deadline, "the call was cancelled")
}
