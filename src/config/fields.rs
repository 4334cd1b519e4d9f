//! The fields of one reviewer's entry: each is read, checked and defaulted by a method of its own, which notes what is wrong with it.

use super::host::base_url;
use super::key::KeySource;
use super::problem::{Problems, nearest};
use super::section::{Section, clip};
use crate::family::Family;
use crate::reviewer::{Price, Provider};
use crate::yaml::Value;
use std::path::{Path, PathBuf};

/// Body keys that an entry may add to a request (requirement H20); everything else is the gate's own.
pub(super) const EXTRA: [&str; 6] = ["reasoning", "thinking", "reasoning_effort", "chat_template_kwargs", "thinking_token_budget", "custom_params"];

const PROVIDERS: [(&str, Provider); 4] =
    [("openai", Provider::OpenAi), ("anthropic", Provider::Anthropic), ("ollama", Provider::Ollama), ("cli", Provider::Cli)];
/// What people write as a provider, and what it is here.
const ALIASES: [(&str, &str); 16] = [
    ("openrouter", "`provider: openai` with `host: https://openrouter.ai/api/v1`"),
    ("nvidia", "`provider: openai` with `host: https://integrate.api.nvidia.com/v1`"),
    ("deepseek", "`provider: openai` with `host: https://api.deepseek.com/v1`"),
    ("gemini", "`provider: openai` with `host: https://generativelanguage.googleapis.com/v1beta/openai`"),
    ("google", "`provider: openai` with `host: https://generativelanguage.googleapis.com/v1beta/openai`"),
    ("mistral", "`provider: openai` with `host: https://api.mistral.ai/v1`"),
    ("groq", "`provider: openai` with `host: https://api.groq.com/openai/v1`"),
    ("xai", "`provider: openai` with `host: https://api.x.ai/v1`"),
    ("together", "`provider: openai` with `host: https://api.together.xyz/v1`"),
    ("vllm", "`provider: openai` with `host: http://localhost:8000/v1`"),
    ("llamacpp", "`provider: openai` with `host: http://localhost:8080/v1`"),
    ("lmstudio", "`provider: openai` with `host: http://localhost:1234/v1`"),
    ("openai-compatible", "`provider: openai` with `host:`"),
    ("claude", "`provider: anthropic`, or `provider: cli` with `command: claude`"),
    ("codex", "`provider: cli` with `command: codex`"),
    ("chatgpt", "`provider: openai`"),
];
/// The fields of one entry, each read by a method of its own.
pub(super) struct Fields<'s, 'n> {
    pub(super) section: &'s Section<'n>,
    pub(super) home: Option<&'s Path>,
}

impl Fields<'_, '_> {
    pub(super) fn required(&self, key: &str, hint: &str, problems: &mut Problems) -> Option<String> {
        if self.section.get(key).is_none() {
            problems.add(self.section.node(), format!("`{key}` is missing{}", self.section.inside()), hint);
        }
        self.section.text(key, problems)
    }

    /// Notes that a key makes no sense beside another one.
    fn refuse(&self, keys: &[&str], why: &str, problems: &mut Problems) {
        for key in keys {
            if let Some(node) = self.section.get(key) {
                problems.add(node, format!("`{key}`{} {why}", self.section.inside()), "take it out");
            }
        }
    }

    pub(super) fn name(&self, problems: &mut Problems) -> Option<String> {
        let name = self.required("name", "a short word of your choice, for messages and reports", problems)?;
        let is_plain = name.len() <= 40 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !is_plain {
            problems.add(self.section.get("name")?, format!("`name` must be letters, digits, - _ . and at most 40 long, not `{}`", clip(&name)), "");
        }
        is_plain.then_some(name)
    }

    pub(super) fn provider(&self, problems: &mut Problems) -> Option<Provider> {
        let words = PROVIDERS.map(|(word, _)| word).join(", ");
        let word = self.required("provider", &format!("one of {words}"), problems)?;
        if let Some((_, help)) = ALIASES.iter().find(|(alias, _)| *alias == word.to_ascii_lowercase()) {
            problems.add(self.section.get("provider")?, format!("`provider` names an API dialect, and `{word}` is none"), format!("write {help}"));
            return None;
        }
        self.section.word("provider", &PROVIDERS, problems)
    }

    pub(super) fn host(&self, provider: Provider, problems: &mut Problems) -> Option<(String, bool)> {
        let default = match provider {
            Provider::OpenAi => "https://api.openai.com/v1",
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::Ollama => "http://localhost:11434",
            Provider::Cli => {
                self.refuse(&["host", "ca_file", "proxy", "extra"], "is not for a CLI", problems);
                return Some((String::new(), false));
            }
        };
        if self.section.get("host").is_none() {
            return Some((default.to_owned(), true));
        }
        let text = self.section.text("host", problems)?;
        let checked = base_url(&text);
        if let Err(why) = &checked {
            // The value is not shown: what is wrong with it may be the credentials in it.
            problems.add(self.section.get("host")?, format!("`host`{} {why}", self.section.inside()), "");
        }
        checked.ok().map(|url| (url, false))
    }

    pub(super) fn command(&self, provider: Provider, problems: &mut Problems) -> Option<Option<PathBuf>> {
        if provider != Provider::Cli {
            self.refuse(&["command", "pin_sha256"], "is for `provider: cli` only", problems);
            return Some(None);
        }
        let text = self.required("command", "the program's absolute path, or its name", problems)?;
        let path = PathBuf::from(&text);
        let is_fine = path.is_absolute() || !text.contains(['/', '\\']);
        if !is_fine {
            let node = self.section.get("command")?;
            problems.add(
                node,
                format!("`command`{} must be an absolute path or a bare name", self.section.inside()),
                "a relative path depends on where git runs",
            );
        }
        is_fine.then_some(Some(path))
    }

    /// The declared family, or the one that the model id tells, or the CLI. A declaration that contradicts what the id tells is refused: it would let a
    /// model review its own family's work.
    pub(super) fn family(&self, model: Option<&str>, command: Option<&Path>, problems: &mut Problems) -> Option<Family> {
        let model = model?;
        let by_cli = || Family::of_cli(&command?.to_string_lossy());
        let told = Family::of_model(model).or_else(by_cli);
        if self.section.get("family").is_none() {
            if told.is_none() {
                let hint = "declare who trained it with `family:`; a host or a proxy is no family";
                problems.add(self.section.node(), format!("the model `{}`{} does not tell its family", clip(model), self.section.inside()), hint);
            }
            return told;
        }
        let word = self.section.text("family", problems)?;
        let stated = self.stated_family(&word, problems)?;
        match told {
            Some(told) if told != stated => {
                let message =
                    format!("`family: {}`{} contradicts the model `{}`, which is {told}'s", clip(&word), self.section.inside(), clip(model));
                problems.add(self.section.get("family")?, message, "take `family` out");
                None
            }
            _ => Some(stated),
        }
    }

    /// A family that is known, or a new word. A word close to a known one is taken for a slip: it would count as a different family.
    fn stated_family(&self, word: &str, problems: &mut Problems) -> Option<Family> {
        if let Some(family) = Family::of_word(word) {
            return Some(family);
        }
        let family = Family::new(word);
        let node = self.section.get("family")?;
        if Family::is_host(family.as_str()) || matches!(family.as_str(), "auto" | "human" | "unknown" | "other" | "none") {
            problems.add(node, format!("`{}` is no model family", clip(word)), "name who trained the model");
            return None;
        }
        if let Some(near) = nearest(family.as_str(), Family::known()) {
            problems.add(node, format!("unknown family `{}`", clip(word)), format!("did you mean `{near}`?"));
            return None;
        }
        Some(family)
    }

    pub(super) fn key(&self, provider: Provider, problems: &mut Problems) -> Option<KeySource> {
        let named: Vec<&str> = ["api_key_env", "api_key_file", "api_key_command"].into_iter().filter(|key| self.section.get(key).is_some()).collect();
        match named[..] {
            [] => self.no_key(provider, problems),
            _ if provider == Provider::Cli => {
                self.refuse(&named, "is not for a CLI, which has its own login", problems);
                None
            }
            ["api_key_env"] => self.key_variable(problems),
            ["api_key_file"] => self.path("api_key_file", problems).map(KeySource::File),
            ["api_key_command"] => self.key_command(problems),
            _ => {
                problems.add(self.section.node(), format!("more than one key{}: {}", self.section.inside(), named.join(", ")), "keep one of them");
                None
            }
        }
    }

    /// The vendors' own hosts answer nobody without a key; a host of one's own may.
    fn no_key(&self, provider: Provider, problems: &mut Problems) -> Option<KeySource> {
        let example = match provider {
            Provider::OpenAi => "OPENAI_API_KEY",
            Provider::Anthropic => "ANTHROPIC_API_KEY",
            Provider::Ollama | Provider::Cli => return Some(KeySource::None),
        };
        if self.section.get("host").is_some() {
            return Some(KeySource::None);
        }
        let hint = format!("for example `api_key_env: {example}` (the variable's name), `api_key_file` or `api_key_command`");
        problems.add(self.section.node(), format!("no key is named{}", self.section.inside()), hint);
        None
    }

    fn key_variable(&self, problems: &mut Problems) -> Option<KeySource> {
        let name = self.section.text("api_key_env", problems)?;
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            // The value is not shown: people paste the key itself here.
            let hint = "the value is not the key; a key that was in a file should be replaced";
            problems.add(self.section.get("api_key_env")?, format!("`api_key_env`{} must be the name of a variable", self.section.inside()), hint);
        }
        is_name.then_some(KeySource::Env(name))
    }

    fn key_command(&self, problems: &mut Problems) -> Option<KeySource> {
        let argv: Vec<String> = self.section.texts("api_key_command", problems)?.into_iter().map(|(_, text)| text.to_owned()).collect();
        if argv.is_empty() {
            problems.add(self.section.get("api_key_command")?, "`api_key_command` is empty", "for example `[pass, show, openai]`");
        }
        (!argv.is_empty()).then_some(KeySource::Command(argv))
    }

    pub(super) fn path(&self, key: &str, problems: &mut Problems) -> Option<PathBuf> {
        let text = self.section.text(key, problems)?;
        let path = text.strip_prefix("~/").and_then(|rest| self.home.map(|home| home.join(rest))).unwrap_or_else(|| PathBuf::from(&text));
        if !path.is_absolute() {
            problems.add(self.section.get(key)?, format!("`{key}`{} must be an absolute path or start with ~/", self.section.inside()), "");
            return None;
        }
        Some(path)
    }

    pub(super) fn proxy(&self, problems: &mut Problems) -> Option<String> {
        let text = self.section.text("proxy", problems)?;
        let is_url = ["http://", "https://", "socks5://", "socks5h://", "socks4://"]
            .iter()
            .any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
        if !is_url {
            problems.add(self.section.get("proxy")?, format!("`proxy`{} must be a URL (http, https, socks5)", self.section.inside()), "");
        }
        is_url.then_some(text)
    }

    pub(super) fn parallel(&self, provider: Provider, problems: &mut Problems) -> Option<usize> {
        let default = (provider == Provider::Ollama).then_some(1);
        self.section.number("parallel", 1..=64, problems).and_then(|number| usize::try_from(number).ok()).or(default)
    }

    pub(super) fn effort(&self, problems: &mut Problems) -> Option<String> {
        let words = [("low", "low"), ("medium", "medium"), ("high", "high"), ("xhigh", "high"), ("max", "high")];
        self.section.word("reasoning_effort", &words, problems).map(str::to_owned)
    }

    pub(super) fn extra(&self, problems: &mut Problems) -> serde_json::Map<String, serde_json::Value> {
        let Some(section) = self.section.get("extra").and_then(|node| Section::open("extra", node, &EXTRA, problems)) else {
            return serde_json::Map::new();
        };
        section.entries().map(|(key, node)| (key.text.clone(), json(&node.value))).collect()
    }

    pub(super) fn price(&self, default: Price, problems: &mut Problems) -> Price {
        let Some(section) = self.section.get("price").and_then(|node| Section::open("price", node, &["input", "output", "cached"], problems)) else {
            return default;
        };
        let (input, output, cached) = (section.usd("input", problems), section.usd("output", problems), section.usd("cached", problems));
        if input.is_none() || output.is_none() {
            problems.add(section.node(), "`price` needs `input` and `output`", "in USD per million tokens");
        }
        let input = input.unwrap_or(default.input);
        Price { input, output: output.unwrap_or(default.output), cached: cached.unwrap_or(input) }
    }

    pub(super) fn pin(&self, provider: Provider, problems: &mut Problems) -> Option<String> {
        let text = (provider == Provider::Cli).then(|| self.section.text("pin_sha256", problems))??;
        sha256(&text).or_else(|| {
            problems.add(self.section.get("pin_sha256")?, "`pin_sha256` must be 64 hex digits, as `sha256sum` prints them", "");
            None
        })
    }
}

/// Reads a SHA-256 in hex, with or without `sha256:` before it.
pub(super) fn sha256(text: &str) -> Option<String> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
    (hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hex)
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Int(number) => i64::try_from(*number).map_or(serde_json::Value::Null, Into::into),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(|item| json(&item.value)).collect(),
        Value::Map(entries) => entries.iter().map(|(key, node)| (key.text.clone(), json(&node.value))).collect(),
    }
}
