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
    let chain =
        |fields: &mut Fields, chain: &[Link]| list(fields, chain.iter(), |fields, link| reviewer(fields, &specs[link.reviewer], link.degraded));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::author::{Stated, Who};
    use crate::change::{Body, BytePath, FileChange, Mode, Oid, Side, Status};
    use crate::env::Env;
    use crate::family::Family;
    use crate::plan::{PassName, PassPlan};
    use crate::reviewer::{Key, Price, Provider, Secret};
    use crate::tier::{Floor, Tier};
    use std::time::Duration;

    /// All that a key is made of, or could be, owned.
    #[derive(Clone)]
    struct World {
        change: Change,
        fresh: Digest,
        policy: Digest,
        sizing: Sizing,
        author: Author,
        specs: Vec<Spec>,
        plan: Plan,
        asked: Digest,
        gate: &'static str,
    }

    impl World {
        fn key(&self) -> ReceiptKey {
            let World { change, fresh, policy, sizing, author, specs, plan, asked, gate } = self;
            of(&Parts { change, fresh: *fresh, policy: *policy, sizing, author, specs, plan: Some(plan), asked: *asked, gate })
        }

        fn old_side(&mut self) -> &mut Side {
            self.change.files[0].old.as_mut().expect("an old side")
        }

        fn new_side(&mut self) -> &mut Side {
            self.change.files[0].new.as_mut().expect("a new side")
        }
    }

    fn oid(byte: u8) -> Oid {
        Oid::from_bytes(&[byte; 20]).expect("an id")
    }

    fn side(path: &str, byte: u8) -> Side {
        Side { path: BytePath::from(path), mode: Mode::Regular, oid: oid(byte), size: 10 }
    }

    fn file(path: &str) -> FileChange {
        FileChange { status: Status::Modified, old: Some(side(path, 1)), new: Some(side(path, 2)), body: Body::Text(Vec::new()) }
    }

    fn author(words: &[&str]) -> Author {
        let stated = |word: &&str| Stated { source: "--author", who: Who::parse(word, &[]).expect("a known word") };
        Author::detect(&words.iter().map(stated).collect::<Vec<_>>(), &Env::default(), &[])
    }

    fn spec(name: &str, family: &str) -> Spec {
        Spec {
            name: name.to_owned(),
            provider: Provider::OpenAi,
            host: "http://localhost:1/v1".to_owned(),
            host_is_default: false,
            model: format!("{family}-large"),
            family: Family::new(family),
            key: Key::None,
            timeout: None,
            first_byte_timeout: None,
            max_tokens: 16_000,
            window: 32_000,
            parallel: None,
            reasoning_off: false,
            reasoning_effort: None,
            extra: serde_json::Map::new(),
            price: Price { input: 0.0, output: 0.0, cached: 0.0 },
            ca_file: None,
            proxy: None,
            command: None,
        }
    }

    fn world() -> World {
        let link = |reviewer| Link { reviewer, degraded: false };
        let pass = |name| PassPlan { name, chain: vec![link(0), link(1)] };
        World {
            change: Change { files: vec![file("a.rs"), file("b.rs")], already_published: Vec::new() },
            fresh: Digest::of("fresh"),
            policy: Digest::of("policy"),
            sizing: Sizing { name: Tier::Standard, reason: "moderate diff".to_owned(), floors: Vec::new() },
            author: author(&["anthropic"]),
            specs: vec![spec("one", "qwen"), spec("two", "mistral"), spec("three", "google")],
            plan: Plan { passes: vec![pass(PassName::General), pass(PassName::Tests)], refuter: vec![link(0), link(1)], ineligible: Vec::new() },
            asked: Digest::of("prompts and rubrics"),
            gate: "0.1.0",
        }
    }

    type Edit = fn(&mut World);

    /// What changes with each edit, and whether the key must change with it.
    fn assert_keys(must_differ: bool, edits: &[(&str, Edit)]) {
        let mut seen = vec![("nothing", world().key())];
        for (what, edit) in edits {
            let mut changed = world();
            edit(&mut changed);
            let key = changed.key();
            let same: Vec<&str> = seen.iter().filter(|(_, other)| *other == key).map(|(what, _)| *what).collect();
            assert_eq!(same.is_empty(), must_differ, "{what} has the key of {same:?}");
            if must_differ {
                seen.push((what, key));
            }
        }
    }

    #[test]
    fn changing_any_one_part_misses_the_receipt() {
        let edits: [(&str, Edit); 39] = [
            ("the path of both sides", |w| (w.old_side().path, w.new_side().path) = (BytePath::from("c.rs"), BytePath::from("c.rs"))),
            ("the old path alone", |w| w.old_side().path = BytePath::from("c.rs")),
            ("the new path alone", |w| w.new_side().path = BytePath::from("c.rs")),
            ("the old mode", |w| w.old_side().mode = Mode::Executable),
            ("the new mode", |w| w.new_side().mode = Mode::Executable),
            ("a link for a file", |w| w.new_side().mode = Mode::Symlink),
            ("the old blob", |w| w.old_side().oid = oid(3)),
            ("the new blob", |w| w.new_side().oid = oid(3)),
            ("both blobs, swapped", |w| (w.old_side().oid, w.new_side().oid) = (oid(2), oid(1))),
            ("no old side", |w| w.change.files[0].old = None),
            ("no new side", |w| w.change.files[0].new = None),
            ("one file less", |w| w.change.files.truncate(1)),
            ("one file more", |w| w.change.files.push(file("c.rs"))),
            ("what is new in between", |w| w.fresh = Digest::of("other")),
            ("a value of the policy", |w| w.policy = Digest::of("other")),
            ("the tier", |w| w.sizing.name = Tier::Full),
            ("a floor", |w| w.sizing.floors.push(Floor::Security)),
            ("another author family", |w| w.author = author(&["google"])),
            ("one more author family", |w| w.author = author(&["anthropic", "openai"])),
            ("a human author", |w| w.author = author(&["human"])),
            ("an unknown author", |w| w.author = author(&[])),
            ("the reviewer's dialect", |w| w.specs[0].provider = Provider::Ollama),
            ("the reviewer's host", |w| w.specs[0].host = "http://localhost:2/v1".to_owned()),
            ("the reviewer's model", |w| w.specs[0].model = "other".to_owned()),
            ("the reviewer's family", |w| w.specs[0].family = Family::new("google")),
            ("the second reviewer's model", |w| w.specs[1].model = "other".to_owned()),
            ("how much it sees at once", |w| w.specs[0].window = 64_000),
            ("how much it may say", |w| w.specs[0].max_tokens = 8_000),
            ("whether it thinks", |w| w.specs[0].reasoning_off = true),
            ("how hard it thinks", |w| w.specs[0].reasoning_effort = Some("high".to_owned())),
            ("a further key of its request", |w| drop(w.specs[0].extra.insert("seed".to_owned(), 1.into()))),
            ("the order of a chain", |w| w.plan.passes[0].chain.reverse()),
            ("a shorter chain", |w| w.plan.passes[0].chain.truncate(1)),
            ("a longer chain", |w| w.plan.passes[0].chain.push(Link { reviewer: 2, degraded: false })),
            ("a reviewer of the author's own family", |w| w.plan.passes[0].chain[1].degraded = true),
            ("one pass less", |w| w.plan.passes.truncate(1)),
            ("who refutes", |w| w.plan.refuter.truncate(1)),
            ("the prompts or the rubrics", |w| w.asked = Digest::of("other")),
            ("the gate's version", |w| w.gate = "0.2.0"),
        ];
        assert_keys(true, &edits);
    }

    #[test]
    fn changing_what_shapes_no_answer_keeps_it() {
        let edits: [(&str, Edit); 10] = [
            ("the reason for the tier", |w| w.sizing.reason = "other".to_owned()),
            ("what others published", |w| w.change.already_published.push(BytePath::from("theirs.rs"))),
            ("a reviewer's name", |w| w.specs[0].name = "renamed".to_owned()),
            ("a reviewer's key", |w| w.specs[0].key = Key::Value(Secret::new("k"))),
            ("a reviewer's times", |w| w.specs[0].timeout = Some(Duration::from_secs(1))),
            ("a reviewer's first byte", |w| w.specs[0].first_byte_timeout = Some(Duration::from_secs(1))),
            ("a reviewer's price", |w| w.specs[0].price.input = 3.0),
            ("calls at once", |w| w.specs[0].parallel = Some(1)),
            ("a reviewer that the plan does not name", |w| w.specs[2].model = "other".to_owned()),
            ("the way to a reviewer", |w| w.specs[0].proxy = Some("http://localhost:3".to_owned())),
        ];
        assert_keys(false, &edits);
    }

    /// A family may be called as anything: without lengths it could pass for the pass that follows it.
    #[test]
    fn lists_do_not_run_into_each_other() {
        let mut moved = world();
        let link = moved.plan.passes[1].chain.remove(0);
        moved.plan.refuter.insert(0, link);
        let mut other = world();
        other.plan.passes[1].chain.remove(0);
        assert_ne!(moved.key(), other.key());
        assert_ne!(moved.key(), world().key());
    }
}
