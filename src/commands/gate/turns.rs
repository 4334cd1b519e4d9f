//! Taking turns: runs over the same content at the same time share one review (threat T19, case P53). Whoever comes second waits, finds the receipt and asks nobody.
//!
//! Only a receipt is shared. Where the first run refuses, fails or dies, the second does its own review in its own time.

use super::{Case, Interrupt, Run, of_ledger};
use crate::clock;
use crate::error::GateError;
use crate::ledger::{Ledger, Turns};
use crate::report::progress::Progress;
use crate::verdict::{Ground, Reason};
use std::collections::BTreeSet;
use std::time::Duration;

/// The most turns that a run takes. Each is an open file; what is beyond them is reviewed without being shared.
const MOST: usize = 64;

/// Another run had the turn to the end: no review was had, and nothing says that it would have passed.
const STILL_REVIEWED: &str = "another run of the gate was still reviewing this very change; when it has passed, the same push is free";
/// This run was ended while it waited.
const INTERRUPTED: &str = "interrupted while another run was reviewing this change";

impl Run<'_> {
    /// Waits until no other run reviews what is open here, and looks again for what settles it without a call. The turns are to be held until this run is
    /// recorded. Also returns how long others were waited for.
    pub(super) fn take_turns(&self, cases: &mut [Case], ledger: &mut Ledger, interrupt: &Interrupt) -> Result<(Turns, Duration), GateError> {
        let mut turns = ledger.turns().map_err(of_ledger)?;
        let keys: BTreeSet<_> = cases.iter().filter(|case| case.is_open()).filter_map(|case| case.key.clone()).collect();
        if keys.is_empty() {
            return Ok((turns, Duration::ZERO));
        }
        let started = clock::instant();
        let mut progress = None;
        let mut waits = || {
            progress.get_or_insert_with(|| Progress::of_another_run(self.channel(), self.deadline));
        };
        // In the order of the keys: two runs never wait for each other.
        for key in keys.iter().take(MOST) {
            if !turns.take(key, self.deadline, &|| interrupt.code().is_some(), &mut waits).map_err(of_ledger)? {
                let why = if interrupt.code().is_some() { INTERRUPTED } else { STILL_REVIEWED };
                let same = cases.iter_mut().filter(|case| case.is_open() && case.key.as_ref() == Some(key));
                same.for_each(|case| case.reasons.push(Reason::new(Ground::Unavailable, why)));
            }
        }
        drop(progress);
        let waited = started.elapsed();
        ledger.refresh().map_err(of_ledger)?;
        for case in cases.iter_mut().filter(|case| case.is_open()) {
            self.settle_without_asking(case, ledger);
        }
        // What is settled by now is nobody's turn any more.
        let open: BTreeSet<_> = cases.iter().filter(|case| case.is_open()).filter_map(|case| case.key.clone()).collect();
        keys.difference(&open).for_each(|key| turns.give_back(key));
        Ok((turns, waited))
    }
}
