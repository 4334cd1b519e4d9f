//! The layer below all others: one commented file, compiled in, read once.

use super::policy::{self, PolicyLayer};
use super::problem::Problems;
use super::section::Section;
use super::user::{self, Budget, User};
use super::values::Plain;
use crate::env::Env;
use crate::plan::SameFamily;
use crate::yaml;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

const DEFAULTS: &str = include_str!("defaults.yaml");

static LAYERS: LazyLock<(User, PolicyLayer)> =
    LazyLock::new(|| read(DEFAULTS).expect("defaults.yaml is compiled in, and a test reads this same text"));

/// Returns the user's settings where no file sets any.
pub(super) fn default_user() -> &'static User {
    &LAYERS.0
}

/// Returns the policy where no file sets any; every key is set.
pub(super) fn default_layer() -> &'static PolicyLayer {
    &LAYERS.1
}

fn read(text: &str) -> Result<(User, PolicyLayer), super::ConfigError> {
    let mut problems = Problems::of("defaults");
    let node = match yaml::tree(text.as_bytes()) {
        Ok(node) => node,
        Err(error) => return Err(problems.unreadable(error)),
    };
    let section = Section::open("", &node, &["user", "policy"], &mut problems);
    let part = |key: &str| section.as_ref().and_then(|section| section.get(key));
    let user = part("user").map(|node| user::from_node(node, None, &Env::default(), &blank(), &mut problems));
    let layer = part("policy").map(|node| policy::from_node(node, "default", &mut problems));
    let (Some(user), Some(layer)) = (user, layer) else {
        return Err(super::ConfigError::of_file("defaults", "`user` or `policy` is missing", ""));
    };
    // "No branch" and "no spec" have no word of their own in the file.
    let layer = PolicyLayer { base: layer.base.or(Some(Plain(None))), spec: layer.spec.or(Some(Plain(None))), ..layer };
    problems.finish((User { set: BTreeSet::new(), ..user }, layer))
}

/// What the file is read over. No time, no money: a key that the file forgot could only refuse.
fn blank() -> User {
    User {
        path: None,
        author: None,
        reviewers: Vec::new(),
        deadline: Duration::ZERO,
        push_deadline: Duration::ZERO,
        commit_deadline: Duration::ZERO,
        same_family: SameFamily::Refuse,
        budget: Budget { per_run: 0.0, per_hour: 0.0 },
        allow_secrets: BTreeSet::new(),
        lenses: Vec::new(),
        set: BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_set_every_key() {
        read(DEFAULTS).unwrap();
        let node = yaml::tree(DEFAULTS.as_bytes()).unwrap();
        let mut problems = Problems::of("defaults");
        let section = Section::open("", &node, &["user", "policy"], &mut problems).unwrap();
        let written = |part: &str, keys: &[&str], problems: &mut Problems| {
            let section = Section::open("", section.get(part).unwrap(), keys, problems).unwrap();
            section.entries().map(|(key, _)| key.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(written("user", &user::KEYS, &mut problems), user::KEYS);
        assert_eq!(written("policy", &policy::KEYS, &mut problems), policy::KEYS);
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let user = default_user();
        let seconds = [user.deadline, user.push_deadline, user.commit_deadline].map(|time| time.as_secs());
        assert_eq!((seconds, user.same_family, user.budget), ([480, 240, 120], SameFamily::Refuse, Budget { per_run: 2.0, per_hour: 10.0 }));
        let policy = super::super::effective(&[], None, "2026-12-01T00:00:00Z".parse().unwrap());
        let rows: Vec<String> = policy.rows().iter().map(|row| format!("{}={}", row.key, row.value)).collect();
        let want = "base=none mode=enforce exclude=[] generated=[] data=[] full=[] on_unavailable=block block=HIGH refute=blocking verify=advisory \
                    spec=none require_author=none rounds=3 checkpoint=none default_domain=auto context=[]";
        assert_eq!(rows.join(" "), want);
    }
}
