//! The question before the first question: does the host serve the model? Asked once for a reviewer; calls that start meanwhile wait for that one answer.

use crate::clock::Deadline;
use crate::reviewer::{Class, Fault};
use crate::transport::http;
use std::sync::{Condvar, Mutex, PoisonError};

const SHOWN: usize = 5;

/// The state of the question, shared by parallel calls.
#[derive(Default)]
pub(super) struct Preflight {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    asking: bool,
    /// How often it was asked: a waiting call takes the answer of the round it waited for, even one that will not be kept.
    round: u64,
    last: Option<Result<(), Fault>>,
}

impl State {
    /// Returns the answer, where asking again would bring the same. An outage or a full queue may have passed by the next attempt.
    fn settled(&self) -> Option<Result<(), Fault>> {
        self.last.clone().filter(|last| match last {
            Ok(()) => true,
            Err(fault) => !(fault.class.is_transient() || matches!(fault.class, Class::RateLimited | Class::Deadline)),
        })
    }
}

impl Preflight {
    /// Returns the answer, from `ask` where there is none yet.
    ///
    /// # Errors
    /// The fault that `ask` gave, to this call or to the one it waited for; the deadline's where that comes first.
    pub(super) fn once(&self, deadline: Deadline, ask: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(settled) = state.settled() {
            return settled;
        }
        if state.asking {
            let round = state.round;
            let waited = self.changed.wait_timeout_while(state, deadline.left(), |state| state.round == round);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            return state.last.clone().filter(|_| state.round != round).unwrap_or_else(|| Err(http::late(deadline)));
        }
        state.asking = true;
        drop(state);
        let answer = ask();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State { asking: false, round: state.round + 1, last: Some(answer.clone()) };
        self.changed.notify_all();
        answer
    }
}

/// Says that the model is not in the list, and what is.
pub(super) fn not_served(model: &str, authority: &str, listed: &[String]) -> Fault {
    let detail = match listed {
        [] => format!("{authority} serves no model at all; {model:?} was asked for"),
        _ => {
            let more = if listed.len() > SHOWN { format!(" and {} more", listed.len() - SHOWN) } else { String::new() };
            let shown = &listed[..listed.len().min(SHOWN)];
            format!("{authority} does not serve {model:?}; it serves {}{more}", shown.join(", "))
        }
    };
    Fault::new(Class::NotServed, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Limit;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(5), Limit::Run)
    }

    #[test]
    fn parallel_calls_share_one_question() {
        let (preflight, asked) = (Preflight::default(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let answer = preflight.once(soon(), || {
                        asked.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(50));
                        Err(Fault::new(Class::NotServed, "no"))
                    });
                    assert_eq!(answer.unwrap_err().class, Class::NotServed);
                });
            }
        });
        assert_eq!(asked.into_inner(), 1);
    }

    #[test]
    fn only_what_will_not_pass_is_kept() {
        for (class, kept) in [(Class::Auth, true), (Class::NotServed, true), (Class::Unreachable, false), (Class::RateLimited, false)] {
            let preflight = Preflight::default();
            assert!(preflight.once(soon(), || Err(Fault::new(class, ""))).is_err());
            assert_eq!(preflight.once(soon(), || Ok(())).is_err(), kept, "{class}");
        }
    }

    #[test]
    fn a_call_does_not_wait_past_its_own_deadline() {
        let preflight = &Preflight::default();
        let (asking_in, asking) = mpsc::channel();
        let (over_in, over) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                preflight.once(soon(), || {
                    asking_in.send(()).unwrap();
                    over.recv().unwrap();
                    Ok(())
                })
            });
            asking.recv().unwrap();
            let brief = Deadline::after(Duration::from_millis(50), Limit::Run);
            let answer = preflight.once(brief, || Ok(()));
            over_in.send(()).unwrap();
            assert_eq!(answer.unwrap_err().class, Class::Deadline);
        });
    }

    #[test]
    fn the_message_names_what_is_served() {
        let listed: Vec<String> = (1..=7).map(|n| format!("m{n}")).collect();
        assert_eq!(not_served("x", "h:1", &listed).detail, "h:1 does not serve \"x\"; it serves m1, m2, m3, m4, m5 and 2 more");
    }
}
