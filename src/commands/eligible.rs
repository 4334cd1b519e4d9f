//! Whether anybody could be asked about a change of the author that is seen here: what `install` refuses without, and what `config check` tells.
//!
//! Leaves to `gate/` the reviewers of a run, with their keys. Nobody is called.

use crate::author::{Author, Stated};
use crate::config::{Entry, User};
use crate::env::Env;
use crate::plan::{self, NoReviewer};
use crate::reviewer::{Provider, Spec};
use crate::tier::Tier;

/// Nobody could be asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Nobody {
    /// Why, as a lower-case fragment that names each reviewer.
    pub why: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// Tells whether the plan for the smallest change finds somebody to ask.
///
/// # Errors
/// [`Nobody`] where every change would be refused.
pub(super) fn somebody_may_answer(user: &User, env: &Env) -> Result<(), Nobody> {
    who_may_answer(user, env).map(drop)
}

/// Names who the plan for the smallest change would ask, in order.
///
/// # Errors
/// [`Nobody`] where every change would be refused.
pub(super) fn who_may_answer(user: &User, env: &Env) -> Result<Vec<String>, Nobody> {
    let specs: Vec<Spec> = user.reviewers.iter().filter(|entry| unasked(entry).is_none()).map(|entry| entry.spec.clone()).collect();
    let stated: Vec<Stated> = user.stated().into_iter().collect();
    let author = Author::detect(&stated, env, &[]);
    match plan::plan(Tier::Light, author.kind(), author.families(), &specs, user.same_family) {
        Ok(plan) => {
            let links = plan.passes.first().map(|pass| pass.chain.as_slice()).unwrap_or_default();
            Ok(links.iter().filter_map(|link| specs.get(link.reviewer)).map(|spec| format!("{} ({})", spec.name, spec.family)).collect())
        }
        Err(error) => Err(nobody(user, &error)),
    }
}

fn nobody(user: &User, error: &NoReviewer) -> Nobody {
    let unasked: Vec<String> = user.reviewers.iter().filter_map(unasked).collect();
    let (main, remedy) = match error {
        NoReviewer::NoneConfigured if unasked.is_empty() => (error.to_string(), "run `review-gate init`, or add one to your configuration"),
        NoReviewer::NoneConfigured => ("no configured reviewer can be asked".to_owned(), "add an API reviewer to your configuration"),
        NoReviewer::NoneEligible(_) | NoReviewer::OneFamilyAtFull(_) => {
            (error.to_string(), "add an API reviewer of another family to your configuration; a local model costs nothing")
        }
    };
    let why = if unasked.is_empty() { main } else { format!("{main} ({})", unasked.join("; ")) };
    Nobody { why, remedy }
}

/// Says why an entry is asked by no run; `None` where it may be.
fn unasked(entry: &Entry) -> Option<String> {
    let name = &entry.spec.name;
    if !entry.enabled {
        return Some(format!("{name} is not enabled"));
    }
    match entry.spec.provider {
        Provider::Cli => Some(format!("{name} is a command-line reviewer, which this version does not ask yet")),
        Provider::OpenAi | Provider::Anthropic | Provider::Ollama => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load_user;

    const CLI: &str = "{name: codex, provider: cli, command: /usr/bin/codex, model: gpt-5}";
    const OPUS: &str = "{name: opus, provider: anthropic, model: claude-opus-5, api_key_env: SOME_KEY}";
    const OFF: &str = "{name: local, provider: ollama, model: qwen3, enabled: false}";
    const LOCAL: &str = "{name: local, provider: ollama, model: qwen3}";

    #[test]
    fn who_is_missing_is_named_and_the_remedy_fits() {
        let dir = tempfile::tempdir().unwrap();
        type Expected = Option<(&'static str, &'static str)>;
        let table: [(&[&str], Expected); 6] = [
            (&[], Some(("no reviewer is configured", "review-gate init"))),
            (&[CLI], Some(("can be asked (codex is a command-line reviewer, which this version does not ask yet)", "add an API reviewer"))),
            (&[OFF, CLI], Some(("(local is not enabled; codex is a", "add an API reviewer"))),
            (&[OPUS], Some(("opus is of the family anthropic", "of another family"))),
            (&[OPUS, CLI], Some(("wrote the change (codex is a", "of another family"))),
            (&[OPUS, LOCAL], None),
        ];
        for (entries, expected) in table {
            let path = dir.path().join("config.yaml");
            std::fs::write(&path, format!("author: anthropic\nreviewers: [{}]\n", entries.join(", "))).unwrap();
            let user = load_user(Some(&path), &Env::default()).unwrap();
            match (somebody_may_answer(&user, &Env::default()), expected) {
                (Ok(()), None) => {}
                (Err(nobody), Some((why, remedy))) => {
                    assert!(nobody.why.contains(why) && nobody.remedy.contains(remedy), "{nobody:?}");
                    assert_eq!(nobody.remedy.contains("init"), entries.is_empty(), "{nobody:?}");
                }
                (got, expected) => panic!("{entries:?}: {got:?}, expected {expected:?}"),
            }
        }
    }
}
