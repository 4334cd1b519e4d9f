//! The key of a receipt: exactly this content, under exactly these rules (architecture decision 4). Trees and commits are recorded, not keyed, so that a rebase
//! that leaves the touched entries equal keeps its receipt.

use super::Run;
use crate::change::subject::Subject;
use crate::config::Policy;
use crate::digest::{Digest, Fields};
use crate::ledger::ReceiptKey;
use crate::plan::Plan;
use crate::prompts;
use crate::tier::Sizing;

/// Computes the key.
pub(super) fn of(run: &Run<'_>, subject: &Subject, policy: &Policy, sizing: &Sizing, plan: Option<&Plan>, fresh: Digest) -> ReceiptKey {
    let mut fields = Fields::new("review-gate receipt v1");
    fields.add(subject.change.digest().hex());
    fields.add(fresh.hex());
    fields.add(policy.digest().hex());
    fields.add(sizing.name.as_str());
    sizing.floors.iter().for_each(|floor| fields.add(floor.as_str()));
    fields.add(format!("{:?}", run.author.kind()));
    run.author.families().iter().for_each(|family| fields.add(family.as_str()));
    for pass in plan.map(|plan| plan.passes.as_slice()).unwrap_or_default() {
        fields.add(pass.name.as_str());
        for link in &pass.chain {
            let spec = &run.specs[link.reviewer];
            fields.add(format!("{} {} {} {}", spec.label(), spec.host, spec.family, link.degraded));
        }
    }
    fields.add(prompts::digest().hex());
    ReceiptKey::from(fields.finish())
}
