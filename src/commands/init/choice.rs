//! Which reviewers to set up, in which order, and why: the deciding half of `init`. Pure.

use super::known::APIS;
use super::look::{Found, Ollama};
use super::render::{Entry, render};
use crate::family::Family;

/// What `init` would write, and what it tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The configuration; `None` where nothing usable was found: an empty one would only stand in the way of the next `init`.
    pub config_text: Option<String>,
    /// Sentences for people: what was chosen and why, and what to do where something is missing.
    pub explanation: Vec<String>,
}

/// Chooses the user configuration. `authors` are the families seen writing code here, none where that is unknown; `family_of` tells who trained a model.
pub(super) fn choose(found: &Found, authors: &[Family], family_of: &dyn Fn(&str) -> Option<Family>) -> Choice {
    let mut entries: Vec<Entry> = found.apis.iter().map(|(api, variable)| Entry::of_api(api, variable)).collect();
    entries.extend(found.ollama.as_ref().and_then(|ollama| local_entry(ollama, authors, family_of)));
    // Stable: the author's families go last, the rest keeps its order.
    entries.sort_by_key(|entry| authors.contains(&entry.family));
    let mut explanation = vec![author_sentence(authors)];
    explanation.extend(entries.iter().map(|entry| entry_sentence(entry, authors)));
    explanation.extend(found.clis.iter().map(|(cli, path)| {
        format!("found {} at {}: command-line reviewers are supported from a later release; it is listed as a comment", cli.name, path.display())
    }));
    explanation.extend(unusable_ollama(found, &entries));
    explanation.extend(advice(&entries, authors));
    Choice { config_text: (!entries.is_empty()).then(|| render(&entries, &found.clis)), explanation }
}

/// Chooses one local model: of a family that is known, rather not the author's, rather one made for code, else the first that is listed.
fn local_entry(ollama: &Ollama, authors: &[Family], family_of: &dyn Fn(&str) -> Option<Family>) -> Option<Entry> {
    let known = ollama.models.iter().filter(|model| !model.contains("embed")).filter_map(|model| Some((model, family_of(model)?)));
    let (model, family) = known.min_by_key(|(model, family)| (authors.contains(family), !model.contains("code")))?;
    Some(Entry::local(&ollama.host, model, family))
}

fn author_sentence(authors: &[Family]) -> String {
    if authors.is_empty() {
        return "author: not recognised; each change is looked at by itself, and every reviewer is eligible while its author is unknown".to_owned();
    }
    format!("author: {}, by the environment; reviewers of other families come first, since a family never reviews itself", list(authors))
}

fn entry_sentence(entry: &Entry, authors: &[Family]) -> String {
    let why = if authors.contains(&entry.family) { "the author's own family, last: it is used for changes of others" } else { "a reviewer" };
    let key = match &entry.key_variable {
        Some(variable) => format!("{variable} is set"),
        None => format!("it runs at {}", entry.host.as_deref().unwrap_or_default()),
    };
    format!("{}: {:?} (family {}), {why}; {key}", entry.name, entry.model, entry.family)
}

fn unusable_ollama(found: &Found, entries: &[Entry]) -> Option<String> {
    let ollama = found.ollama.as_ref()?;
    let used = entries.iter().any(|entry| entry.key_variable.is_none());
    (!used).then(|| {
        format!("ollama runs at {} with models whose family is not known ({:?}); to use one, add it with `family:` set", ollama.host, ollama.models)
    })
}

fn advice(entries: &[Entry], authors: &[Family]) -> Vec<String> {
    let mut others: Vec<&Family> = entries.iter().map(|entry| &entry.family).filter(|family| !authors.contains(family)).collect();
    others.sort();
    others.dedup();
    let keys: Vec<&str> = APIS.iter().flat_map(|api| api.key_variables).copied().collect();
    let remedy = format!("set one of {} or start ollama with a model, then run `review-gate init` again", keys.join(", "));
    match others.len() {
        0 if entries.is_empty() => vec![format!("no reviewer was found, so nothing is written and every review would be refused: {remedy}")],
        0 => vec![format!("no reviewer of another family than {} was found, so its changes would be refused: {remedy} with --force", list(authors))],
        1 => vec![
            "one other family: at tier full the second adversarial pass is a second call to it; a reviewer of one more family would be better"
                .to_owned(),
            MODELS_AGE.to_owned(),
        ],
        _ => vec![MODELS_AGE.to_owned()],
    }
}

const MODELS_AGE: &str =
    "the model ids are starting points: edit them to what your account offers; changes are sent to the first reviewer that is eligible and answers";

fn list(families: &[Family]) -> String {
    families.iter().map(Family::as_str).collect::<Vec<_>>().join(", ")
}
