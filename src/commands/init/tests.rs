//! What `init` chooses from what it finds, and what it does to files.

use super::choice::{Choice, choose};
use super::known::{APIS, CLIS};
use super::look::{Found, Ollama};
use super::write::{Existing, InitError, write};
use crate::config::load_user;
use crate::env::Env;
use crate::family::Family;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn family_of(model: &str) -> Option<Family> {
    [("qwen", "qwen"), ("llama", "meta"), ("gpt-oss", "openai")]
        .into_iter()
        .find(|(start, _)| model.starts_with(start))
        .map(|(_, family)| Family::new(family))
}

fn found(apis: &[&str], models: &[&str]) -> Found {
    Found {
        clis: Vec::new(),
        apis: APIS.iter().filter(|api| apis.contains(&api.name)).map(|api| (api, api.key_variables[0])).collect(),
        ollama: (!models.is_empty())
            .then(|| Ollama { host: "http://127.0.0.1:11434".to_owned(), models: models.iter().map(|&model| model.to_owned()).collect() }),
    }
}

/// Returns the reviewers of a choice's text as (name, model), read back as YAML.
fn reviewers(choice: &Choice) -> Vec<(String, String)> {
    let Some(text) = &choice.config_text else { return Vec::new() };
    let value: serde_json::Value = serde_yaml::from_str(text).unwrap();
    let word = |reviewer: &serde_json::Value, key: &str| reviewer[key].as_str().unwrap().to_owned();
    value["reviewers"].as_array().unwrap().iter().map(|reviewer| (word(reviewer, "name"), word(reviewer, "model"))).collect()
}

#[test]
fn another_family_than_the_authors_comes_first() {
    type Words = &'static [&'static str];
    let table: &[(Words, Words, Words, Words)] = &[
        (&["openai", "anthropic"], &[], &["anthropic"], &["openai", "anthropic"]),
        (&["openai", "anthropic"], &[], &["openai"], &["anthropic", "openai"]),
        (&["openai", "anthropic"], &[], &[], &["openai", "anthropic"]),
        (&["openai", "anthropic", "gemini"], &[], &["openai", "anthropic"], &["gemini", "openai", "anthropic"]),
        (&["anthropic"], &["llama3:8b"], &["anthropic"], &["local", "anthropic"]),
        (&["anthropic"], &["llama3:8b"], &["openai"], &["anthropic", "local"]),
        (&[], &["unheard-of:1b"], &[], &[]),
    ];
    for (apis, models, authors, expected) in table {
        let authors: Vec<Family> = authors.iter().map(|word| Family::new(word)).collect();
        let choice = choose(&found(apis, models), &authors, &family_of);
        let names: Vec<String> = reviewers(&choice).into_iter().map(|(name, _)| name).collect();
        assert_eq!(&names, expected, "{apis:?} {models:?} {authors:?}");
    }
}

#[test]
fn one_local_model_is_chosen_and_odd_names_stay_text() {
    let table: &[(&[&str], &[&str], Option<&str>)] = &[
        (&["llama3:8b", "qwen3-coder:30b"], &[], Some("qwen3-coder:30b")),
        (&["llama3:8b", "qwen3-coder:30b"], &["qwen"], Some("llama3:8b")),
        (&["qwen-embed", "unheard-of", "llama3"], &[], Some("llama3")),
        (&["llama: {x}\n# \"y"], &[], Some("llama: {x}\n# \"y")),
        (&["qwen-embed"], &[], None),
    ];
    for (models, authors, expected) in table {
        let authors: Vec<Family> = authors.iter().map(|word| Family::new(word)).collect();
        let choice = choose(&found(&[], models), &authors, &family_of);
        assert_eq!(reviewers(&choice).first().map(|(_, model)| model.as_str()), *expected, "{models:?}");
    }
}

#[test]
fn what_is_missing_is_said_with_the_remedy() {
    let anthropic = [Family::new("anthropic")];
    let table: &[(&[&str], &[Family], &str)] = &[
        (&[], &[], "no reviewer was found"),
        (&["anthropic"], &anthropic, "no reviewer of another family than anthropic"),
        (&["openai"], &anthropic, "one other family"),
        (&["openai", "gemini"], &anthropic, "starting points"),
    ];
    for (apis, authors, expected) in table {
        let said = choose(&found(apis, &[]), authors, &family_of).explanation.join("\n");
        assert!(said.contains(expected), "{apis:?}: {said}");
        assert_eq!(said.contains("OPENROUTER_API_KEY"), expected.starts_with("no reviewer"), "{said}");
    }
    let said = choose(&found(&[], &["unheard-of:1b"]), &[], &family_of).explanation.join("\n");
    assert!(said.contains("unheard-of:1b") && said.contains("`family:`"), "{said}");
}

#[test]
fn command_line_reviewers_are_comments_for_now() {
    let mut machine = found(&["openai"], &[]);
    machine.clis = CLIS.iter().map(|cli| (cli, PathBuf::from(format!("/opt/a b/{}", cli.name)))).collect();
    let choice = choose(&machine, &[], &family_of);
    assert_eq!(reviewers(&choice).len(), 1);
    assert!(choice.config_text.unwrap().contains("  #   command: \"/opt/a b/codex\"\n"));
    machine.apis.clear();
    assert_eq!(choose(&machine, &[], &family_of).config_text, None);
}

#[test]
fn the_reader_accepts_the_text_and_every_default_in_its_comments() {
    let all: Vec<&str> = APIS.iter().map(|api| api.name).collect();
    let text = choose(&found(&all, &["qwen3"]), &[], &family_of).config_text.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        let path = dir.path().join("config.yaml");
        fs::write(&path, text).unwrap();
        load_user(Some(&path), &Env::default()).unwrap()
    };
    let written = read(&text);
    assert_eq!(written.reviewers.len(), APIS.len() + 1);
    let start = text.find("# deadline:").unwrap();
    let defaults = read(&text[start..].lines().map(|line| format!("{}\n", line.trim_start_matches("# "))).collect::<String>());
    assert_eq!((defaults.deadline, defaults.push_deadline, defaults.budget), (written.deadline, written.push_deadline, written.budget));
    assert_eq!((defaults.commit_deadline, defaults.same_family), (written.commit_deadline, written.same_family));
}

#[test]
fn a_new_file_is_private_and_an_old_one_is_never_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config/review-gate/config.yaml");
    let write = |text: &str, existing| {
        let choice = Choice { config_text: Some(text.to_owned()), explanation: vec!["chosen".to_owned()] };
        super::write::write(choice, Some(&path), existing).unwrap().join("\n")
    };
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(write("one", Existing::Keep).starts_with("chosen\nwrote "));
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert!(write("two", Existing::Keep).contains("stays as it is"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    write("three", Existing::BackUp);
    write("four", Existing::BackUp);
    for (suffix, text) in [("", "four"), (".bak", "one"), (".bak.1", "three")] {
        assert_eq!(fs::read_to_string(dir.path().join(format!("config/review-gate/config.yaml{suffix}"))).unwrap(), text);
    }
}

#[test]
fn nothing_is_written_without_a_reviewer_or_a_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.yaml");
    let empty = || choose(&found(&[], &[]), &[], &family_of);
    assert!(!write(empty(), Some(&path), Existing::Keep).unwrap().is_empty());
    assert!(!path.exists());
    assert!(matches!(write(empty(), None, Existing::Keep), Err(InitError::NoPlace)));
}
