//! The key of a receipt: exactly this content, under exactly these rules (architecture decision 4). Trees and commits are recorded, not keyed, so that a rebase
//! that leaves the touched entries equal keeps its receipt.

use crate::author::Author;
use crate::change::Change;
use crate::digest::{Digest, Fields};
use crate::ledger::ReceiptKey;
use crate::plan::{Link, Plan};
use crate::reviewer::Spec;
use crate::tier::Sizing;

/// What a receipt holds for.
pub(super) struct Parts<'a> {
    /// The changed entries: path, modes and blob ids.
    pub change: &'a Change,
    /// All text that is published for the first time, between the ends too.
    pub fresh: Digest,
    /// The values of the policy, the name of a specification among them.
    pub policy: Digest,
    pub sizing: &'a Sizing,
    pub author: &'a Author,
    /// The configured reviewers, which the plan names by their place.
    pub specs: &'a [Spec],
    /// The roster: which passes, answered by whom.
    pub plan: Option<&'a Plan>,
    /// The prompts and the rubrics.
    pub asked: Digest,
    /// The gate's version: another one may size, cut, check or anchor differently (threat T16).
    pub gate: &'static str,
}

/// Computes the key. Every list is preceded by its length, so that no two different lists give the same bytes.
pub(super) fn of(parts: &Parts<'_>) -> ReceiptKey {
    let Parts { change, fresh, policy, sizing, author, specs, plan, asked, gate } = parts;
    let mut fields = Fields::new("review-gate receipt v2");
    fields.add(gate);
    for digest in [&change.digest(), fresh, policy, asked] {
        fields.add(digest.hex());
    }
    fields.add(sizing.name.as_str());
    list(&mut fields, sizing.floors.iter(), |fields, floor| fields.add(floor.as_str()));
    fields.add(format!("{:?}", author.kind()));
    list(&mut fields, author.families().iter(), |fields, family| fields.add(family.as_str()));
    let chain = |fields: &mut Fields, chain: &[Link]| list(fields, chain.iter(), |fields, link| reviewer(fields, &specs[link.reviewer], link.degraded));
    list(&mut fields, plan.iter().flat_map(|plan| &plan.passes), |fields, pass| {
        fields.add(pass.name.as_str());
        chain(fields, &pass.chain);
    });
    chain(&mut fields, plan.map_or(&[], |plan| &plan.refuter));
    ReceiptKey::from(fields.finish())
}

/// Adds what of a reviewer shapes its answer: who it is, how hard it thinks, and how much it sees and says at once. Times, prices, keys and its name here do not.
fn reviewer(fields: &mut Fields, spec: &Spec, degraded: bool) {
    fields.add(spec.provider.as_str());
    fields.add(&spec.host);
    fields.add(&spec.model);
    fields.add(spec.family.as_str());
    fields.add(spec.window.to_string());
    fields.add(spec.max_tokens.to_string());
    fields.add(spec.reasoning_off.to_string());
    fields.add(format!("{:?}", spec.reasoning_effort));
    list(fields, spec.extra.iter(), |fields, (name, value)| {
        fields.add(name);
        fields.add(value.to_string());
    });
    fields.add(degraded.to_string());
}

fn list<T>(fields: &mut Fields, items: impl Iterator<Item = T>, add: impl Fn(&mut Fields, T)) {
    let items: Vec<T> = items.collect();
    fields.add(items.len().to_string());
    items.into_iter().for_each(|item| add(fields, item));
}
