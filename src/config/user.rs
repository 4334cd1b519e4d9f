//! The user's configuration: raw file → validated [`User`]. The only layer for reviewers, hosts, commands, keys, proxies, prices and lenses.

use super::fields::sha256;
use super::problem::{ConfigError, Problems, nearest};
use super::reviewers::{self, Entry};
use super::section::{Section, clip};
use crate::author::{Stated, Who};
use crate::env::Env;
use crate::family::Family;
use crate::plan::SameFamily;
use crate::tier::Tier;
use crate::yaml::{self, Node};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The keys of the file, in the order of the documentation.
pub(super) const KEYS: [&str; 9] =
    ["author", "reviewers", "deadline", "push_deadline", "commit_deadline", "same_family", "budget", "allow_secrets", "lenses"];

/// What may be spent, in USD.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// In one run.
    pub per_run: f64,
    /// In the last sixty minutes.
    pub per_hour: f64,
}

/// An extra check of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lens {
    /// Its name in report and record.
    pub name: String,
    /// What is started, as an argument list.
    pub command: Vec<String>,
    /// The tiers at which it runs.
    pub tiers: BTreeSet<Tier>,
}

/// The user's settings, validated, with defaults where nothing is set.
#[derive(Debug, Clone)]
pub struct User {
    /// The file; `None` where there is none.
    pub path: Option<PathBuf>,
    /// Whom the file names as the author; `None` for `auto`.
    pub author: Option<Who>,
    /// The reviewers in order of preference, the ones that are not enabled included.
    pub reviewers: Vec<Entry>,
    /// Total time of `run`.
    pub deadline: Duration,
    /// Total time in pre-push.
    pub push_deadline: Duration,
    /// Total time in pre-commit.
    pub commit_deadline: Duration,
    /// Whether the author's family may stand in.
    pub same_family: SameFamily,
    /// What may be spent.
    pub budget: Budget,
    /// SHA-256 values, in lower-case hex, of texts that are known not to be secret.
    pub allow_secrets: BTreeSet<String>,
    /// Extra checks.
    pub lenses: Vec<Lens>,
    /// The keys that the file sets.
    pub(super) set: BTreeSet<String>,
}

impl User {
    /// Returns the reviewers that may be asked, in order.
    pub fn enabled(&self) -> impl Iterator<Item = &Entry> {
        self.reviewers.iter().filter(|entry| entry.enabled)
    }

    /// Returns what the file states about the author; `None` for `auto`.
    pub fn stated(&self) -> Option<Stated> {
        self.author.clone().map(|who| Stated { source: "config author", who })
    }

    /// Returns every family that the file names, for [`Who::parse`].
    pub fn families(&self) -> Vec<Family> {
        self.reviewers.iter().map(|entry| entry.spec.family.clone()).collect()
    }
}

/// Reads a file of the user's. `defaults` fills what it does not set.
pub(super) fn read(bytes: &[u8], path: Option<&Path>, env: &Env, defaults: &User) -> Result<User, ConfigError> {
    let file = path.map_or_else(|| "defaults".to_owned(), |path| path.display().to_string());
    let mut problems = Problems::of(&file);
    let node = match yaml::tree(bytes) {
        Ok(node) => node,
        Err(error) => return Err(problems.unreadable(error)),
    };
    let user = from_node(&node, path, env, defaults, &mut problems);
    problems.finish(user)
}

pub(super) fn from_node(node: &Node, path: Option<&Path>, env: &Env, defaults: &User, problems: &mut Problems) -> User {
    let mut user = User { path: path.map(Path::to_owned), ..defaults.clone() };
    let Some(section) = Section::open("", node, &KEYS, problems) else { return user };
    let home = env.path("HOME");
    if let Some(items) = section.list("reviewers", problems) {
        user.reviewers = reviewers::read(items, home.as_deref(), problems);
    }
    user.author = author(&section, &user.families(), problems);
    user.deadline = section.seconds("deadline", problems).unwrap_or(user.deadline);
    user.push_deadline = section.seconds("push_deadline", problems).unwrap_or(user.push_deadline);
    user.commit_deadline = section.seconds("commit_deadline", problems).unwrap_or(user.commit_deadline);
    let words = [("refuse", SameFamily::Refuse), ("degraded", SameFamily::Degraded)];
    user.same_family = section.word("same_family", &words, problems).unwrap_or(user.same_family);
    user.budget = budget(&section, user.budget, problems);
    user.allow_secrets = allow_secrets(&section, problems);
    user.lenses = lenses(&section, problems);
    user.set = section.keys();
    user
}

fn author(section: &Section<'_>, declared: &[Family], problems: &mut Problems) -> Option<Who> {
    let word = section.text("author", problems)?;
    if word == "auto" {
        return None;
    }
    let who = Who::parse(&word, declared);
    if who.is_none() {
        problems.add(section.get("author")?, format!("unknown author `{}`", clip(&word)), author_hint(&word));
    }
    who
}

/// Says what to write instead of an author that is not known.
pub fn author_hint(word: &str) -> String {
    let words = Family::known().chain(["human", "auto"]);
    nearest(&word.to_ascii_lowercase(), words)
        .map_or_else(|| "a family such as anthropic or openai, `human`, or `auto`".to_owned(), |near| format!("did you mean `{near}`?"))
}

fn budget(section: &Section<'_>, default: Budget, problems: &mut Problems) -> Budget {
    let Some(section) = section.get("budget").and_then(|node| Section::open("budget", node, &["per_run_usd", "per_hour_usd"], problems)) else {
        return default;
    };
    Budget {
        per_run: section.usd("per_run_usd", problems).unwrap_or(default.per_run),
        per_hour: section.usd("per_hour_usd", problems).unwrap_or(default.per_hour),
    }
}

fn allow_secrets(section: &Section<'_>, problems: &mut Problems) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    for (node, text) in section.texts("allow_secrets", problems).unwrap_or_default() {
        match sha256(text) {
            Some(hex) => drop(allowed.insert(hex)),
            // The value is not shown: people paste the secret itself here.
            None => problems.add(node, "`allow_secrets` holds the SHA-256 of a value, 64 hex digits", "never the value itself"),
        }
    }
    allowed
}

fn lenses(section: &Section<'_>, problems: &mut Problems) -> Vec<Lens> {
    let items = section.list("lenses", problems).unwrap_or_default();
    items.iter().filter_map(|node| lens(node, problems)).collect()
}

fn lens(node: &Node, problems: &mut Problems) -> Option<Lens> {
    let section = Section::open("lens", node, &["name", "command", "tiers"], problems)?;
    let name = section.text("name", problems);
    let command: Vec<String> = section.texts("command", problems).unwrap_or_default().into_iter().map(|(_, text)| text.to_owned()).collect();
    if name.is_none() || command.is_empty() {
        problems.add(node, "a lens needs `name` and `command`", "for example `{name: semgrep, command: [semgrep, --error], tiers: [full]}`");
    }
    let mut tiers = BTreeSet::new();
    for (node, word) in section.texts("tiers", problems).unwrap_or_default() {
        match Tier::parse(word) {
            Some(tier) => drop(tiers.insert(tier)),
            None => problems.add(node, format!("unknown tier `{}`", clip(word)), "light, standard or full"),
        }
    }
    let tiers = if section.get("tiers").is_none() { [Tier::Light, Tier::Standard, Tier::Full].into() } else { tiers };
    Some(Lens { name: name?, command, tiers })
}

#[cfg(test)]
mod tests {
    use super::super::defaults::default_user;
    use super::super::reviewers::UNKNOWN_PRICE;
    use super::super::show::user_rows;
    use super::*;
    use crate::reviewer::{Key, Provider};

    const EXAMPLE: &str = "
author: auto
reviewers:
  - {name: codex, provider: cli, command: /usr/local/bin/codex, model: gpt-5.6-sol}
  - {name: opus, provider: anthropic, model: claude-opus-5, api_key_env: SOME_KEY}
  - {name: local, provider: ollama, host: 'http://localhost:11434', model: 'qwen3-coder:30b'}
  - {name: router, provider: openai, host: 'https://openrouter.ai/api/v1/', model: deepseek/deepseek-v3.2, api_key_file: ~/key, enabled: false}
deadline: 60
budget: {per_run_usd: 1}
";

    fn env() -> Env {
        Env::from_pairs([("HOME", "/home/someone"), ("SOME_KEY", "not-a-real-key")])
    }

    fn user(text: &str) -> Result<User, ConfigError> {
        read(text.as_bytes(), Some(Path::new("config.yaml")), &env(), default_user())
    }

    fn problems(text: &str) -> String {
        user(text).expect_err(text).to_string()
    }

    #[test]
    fn a_users_file_becomes_settings() {
        let user = user(EXAMPLE).unwrap();
        let rows: Vec<String> = user
            .reviewers
            .iter()
            .map(|entry| format!("{} {} {} {}", entry.spec.name, entry.spec.label(), entry.spec.family, entry.key.describe()))
            .collect();
        let want = [
            "codex cli/gpt-5.6-sol openai none",
            "opus anthropic/claude-opus-5 anthropic variable SOME_KEY",
            "local ollama/qwen3-coder:30b qwen none",
            "router openai/deepseek/deepseek-v3.2 deepseek file /home/someone/key",
        ];
        assert_eq!(rows, want);
        assert_eq!(user.enabled().count(), 3);
        assert_eq!((user.deadline, user.push_deadline), (Duration::from_secs(60), Duration::from_secs(240)));
        assert_eq!(user.budget, Budget { per_run: 1.0, per_hour: 10.0 });
    }

    #[test]
    fn an_entry_gets_the_defaults_of_its_provider() {
        let user = user(EXAMPLE).unwrap();
        let specs = user.reviewers.iter().map(|entry| &entry.spec);
        let facts: Vec<_> = specs.map(|spec| (spec.host.as_str(), spec.host_is_default, spec.window, spec.parallel, spec.price.output)).collect();
        let want = [
            ("", false, 128_000, None, 0.0),
            ("https://api.anthropic.com", true, 128_000, None, UNKNOWN_PRICE.output),
            ("http://localhost:11434", false, 32_000, Some(1), 0.0),
            ("https://openrouter.ai/api/v1", false, 128_000, None, UNKNOWN_PRICE.output),
        ];
        assert_eq!(facts, want);
        assert!(user.reviewers.iter().all(|entry| entry.spec.max_tokens == 16_000 && entry.spec.key == Key::None));
    }

    #[test]
    fn a_reviewer_is_asked_with_the_key_of_its_own_entry() {
        let user = user(EXAMPLE).unwrap();
        let specs: Vec<_> = user.reviewers.iter().map(|entry| entry.with_key(entry.key.fetch(&env(), &|_| Err("is not expected".into())))).collect();
        assert!(matches!(&specs[1].key, Key::Value(secret) if secret.expose() == "not-a-real-key") && specs[1].provider == Provider::Anthropic);
        assert_eq!(specs[2].key, Key::None);
        assert!(matches!(&specs[3].key, Key::Missing(why) if why.starts_with("file /home/someone/key cannot be read")));
    }

    #[test]
    fn an_unknown_key_is_shown_with_line_column_and_the_nearest() {
        assert_eq!(problems("deadline: 60\npush_deadlin: 5\n"), "config.yaml:2:1: unknown key `push_deadlin`\n  did you mean `push_deadline`?");
        let nested = "reviewers:\n  - name: a\n    provider: ollama\n    modle: qwen3\n    model: qwen3\n";
        assert_eq!(problems(nested), "config.yaml:4:5: unknown key `modle` in reviewer `a`\n  did you mean `model`?");
    }

    #[test]
    fn every_problem_is_said_at_once() {
        let reviewers = "reviewers:\n  - name: a\n    provider: openrouter\n    model: x\n  - provider: ollama\n";
        let error = problems(&format!("deadline: soon\ndeadline: 5\nbanana: 1\nsame_family: degrade\n{reviewers}"));
        let want = [
            "config.yaml:1:11: `deadline` must be a whole number from 1 to 3600, not `soon`",
            "config.yaml:2:1: key `deadline` is written twice\n  the first one is on line 1; keep one of them",
            "config.yaml:3:1: unknown key `banana`\n  known here: author, reviewers",
            "config.yaml:4:14: `same_family` must be refuse or degraded, not `degrade`\n  did you mean `degraded`?",
            "config.yaml:7:15: `provider` names an API dialect, and `openrouter` is none\n  write `provider: openai` with `host: https://openrouter.ai/api/v1`",
            "config.yaml:9:5: `name` is missing in reviewer 2",
            "config.yaml:9:5: `model` is missing in reviewer 2",
        ];
        want.into_iter().for_each(|part| assert!(error.contains(part), "{part}\nis not in\n{error}"));
    }

    #[test]
    fn what_is_wrong_with_a_reviewer() {
        let table = [
            ("provider: openai, model: gpt-5", "no key is named"),
            ("provider: openai, model: mystery, host: 'https://x.example/v1'", "does not tell its family"),
            ("provider: openai, model: mystery, host: 'https://x.example/v1', family: openrouter", "is no model family"),
            ("provider: openai, model: mystery, host: 'https://x.example/v1', family: anthropc", "did you mean `anthropic`?"),
            ("provider: ollama, model: qwen3, family: anthropic", "contradicts the model `qwen3`, which is qwen's"),
            ("provider: ollama, model: qwen3, host: 'http://192.168.1.5:11434'", "plain http"),
            ("provider: ollama, model: qwen3, host: 'https://user:word@x.example'", "without credentials"),
            ("provider: ollama, model: qwen3, command: /bin/x", "is for `provider: cli` only"),
            ("provider: cli, model: gpt-5", "`command` is missing"),
            ("provider: cli, model: gpt-5, command: ./codex", "absolute path or a bare name"),
            ("provider: cli, model: claude-opus-5, command: codex, family: openai", "contradicts"),
            ("provider: cli, model: gpt-5, command: codex, api_key_env: X", "is not for a CLI"),
            ("provider: cli, model: gpt-5, command: codex, pin_sha256: abc", "64 hex digits"),
            ("provider: ollama, model: qwen3, extra: {temperature: 1}", "unknown key `temperature` in extra"),
            ("provider: ollama, model: qwen3, reasoning_off: yes", "must be true or false"),
            ("provider: ollama, model: 3", "must be text, not `3`\n  put it in quotes"),
            ("provider: ollama, model: qwen3, price: {input: -1, output: 1}", "amount in USD"),
            ("provider: ollama, model: qwen3, ca_file: ca.pem", "absolute path or start with ~/"),
            ("provider: ollama, model: qwen3, api_key_env: A, api_key_file: /b", "more than one key"),
            ("provider: ollama, model: qwen3, timeout: 0", "whole number from 1"),
            ("provider: ollama, model: qwen3, host: 'ftp://x', max_tokens: 1", "from 256 to 1000000"),
        ];
        for (fields, want) in table {
            let error = problems(&format!("reviewers:\n  - {{name: r, {fields}}}\n")).replace(" in reviewer `r`", "");
            assert!(error.contains(want), "{fields}: {want:?} is not in {error:?}");
        }
        let one = "  - {name: r, provider: ollama, model: qwen3}\n";
        assert!(problems(&format!("reviewers:\n{one}{one}")).contains("config.yaml:3:5: reviewer `r` is there twice"));
    }

    #[test]
    fn a_value_that_may_be_a_secret_is_never_shown() {
        let secret = "sk-not-a-real-one-0123456789";
        let table = [("api_key", "never written"), ("key", "never written"), ("token", "never written"), ("api_key_env", "the name of a variable")];
        for (field, want) in table {
            let error = problems(&format!("reviewers:\n  - {{name: r, provider: ollama, model: qwen3, {field}: {secret}}}\n"));
            assert!(!error.contains(secret) && error.contains(want), "{field}: {error}");
        }
        let host = format!("reviewers:\n  - {{name: r, provider: ollama, model: qwen3, host: 'https://{secret}@x.example'}}\n");
        let error = problems(&format!("allow_secrets: [{secret}]\n{host}"));
        assert!(!error.contains(secret), "{error}");
    }

    #[test]
    fn a_declared_family_holds_where_the_model_tells_none() {
        let entry = |fields: &str| user(&format!("reviewers:\n  - {{name: r, provider: openai, host: 'https://x.example/v1', {fields}}}\n")).unwrap();
        assert_eq!(entry("model: mystery, family: Claude").families()[0].as_str(), "anthropic");
        assert_eq!(entry("model: mystery, family: acme").families()[0].as_str(), "acme");
        assert_eq!(entry("model: gpt-5, family: openai, reasoning_effort: xhigh").reviewers[0].spec.reasoning_effort.as_deref(), Some("high"));
    }

    #[test]
    fn the_author_is_a_family_a_human_or_an_error() {
        assert!(user("author: auto\n").unwrap().author.is_none());
        assert_eq!(user("author: claude\n").unwrap().author, Who::parse("anthropic", &[]));
        assert_eq!(problems("author: anthropik\n"), "config.yaml:1:9: unknown author `anthropik`\n  did you mean `anthropic`?");
    }

    #[test]
    fn show_names_layers_and_no_key() {
        let rows = user_rows(&user(EXAMPLE).unwrap());
        let find = |key: &str| rows.iter().find(|row| row.key == key).unwrap();
        assert_eq!((find("deadline").value.as_str(), find("deadline").layer.as_str()), ("60 s", "user (config.yaml)"));
        assert_eq!(find("push_deadline").layer, "default");
        let limits: Vec<&str> = rows.iter().filter(|row| row.key == "limits").map(|row| row.value.as_str()).collect();
        let slice = "max_tokens 16000, timeout slice, first_byte_timeout slice";
        let unit = "USD per million tokens";
        assert_eq!(limits[1], format!("opus: window 128000, {slice}, parallel any, price 15/75/15 {unit}"));
        assert_eq!(limits[2], format!("local: window 32000, {slice}, parallel 1, price 0/0/0 {unit}"));
        assert!(rows.iter().any(|row| row.value.ends_with("key variable SOME_KEY")) && !format!("{rows:?}").contains("not-a-real-key"));
    }
}
