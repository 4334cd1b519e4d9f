//! Who trained a model: model id, CLI name, agent variable, commit trailer → family, from `families.yaml`. Pure; the data is compiled in and read once.
//!
//! A proxy or a runtime is no family. A model's own words decide; the vendor's part of a `vendor/model` id tells where they do not (requirement F08), so
//! that a re-hosted `nvidia/deepseek-r1` stays DeepSeek's. An id that names two makers belongs to the one that is built on the other (a distilled
//! `deepseek-r1-distill-llama` is DeepSeek's), and otherwise to nobody. What cannot be told is `None`, and the caller must not take it for "different".

use crate::yaml;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

/// A model family: `anthropic`, `openai`, `google`, `meta`, `qwen`, `deepseek`, `mistral`, …
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family(String);

/// What a commit trailer tells about who wrote the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// An agent or a model of this family.
    Family(Family),
    /// An agent that runs any model, by its name: someone's model was at work, whose is not told.
    AnyModel(&'static str),
}

impl Family {
    /// Makes a family from a word of the configuration or the data file; lower case.
    pub fn new(word: &str) -> Family {
        Family(word.trim().to_ascii_lowercase())
    }

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the names of all families of the data file.
    pub fn known() -> impl Iterator<Item = &'static str> {
        DATA.families.iter().map(|entry| entry.name.as_str())
    }

    /// Tells whether the word names a host, a proxy or a runtime, which is never a family.
    pub fn is_host(word: &str) -> bool {
        DATA.hosts.iter().any(|host| host == word)
    }

    /// Reads a family as a person writes it: its name, its maker's or its CLI's (`claude` and `anthropic` are one). `None` for every other word.
    pub fn of_word(word: &str) -> Option<Family> {
        let word = word.trim().to_ascii_lowercase();
        let is_word = |entry: &&Entry| entry.name == word || [&entry.vendors, &entry.clis, &entry.models].iter().any(|list| list.contains(&word));
        DATA.families.iter().find(is_word).map(Entry::family)
    }

    /// Tells the family of a model id, in any of the forms that providers use: `gpt-5.6`, `anthropic/claude-opus-5`, `us.anthropic.claude-…-v1:0`,
    /// `models/gemini-…`, `qwen3-coder:30b`.
    pub fn of_model(id: &str) -> Option<Family> {
        let id = id.trim().to_ascii_lowercase();
        let (path, model) = id.rsplit_once('/').unwrap_or(("", &id));
        let named: Vec<&Entry> = DATA.families.iter().filter(|entry| words(model).any(|word| entry.names(word))).collect();
        let vendor = DATA.families.iter().find(|entry| path.split('/').chain(dotted_heads(model)).any(|part| entry.is_vendor(part)));
        maker(&named, vendor).map(Entry::family)
    }

    /// Tells the family of a CLI that runs one family's models only, by its path or name.
    pub fn of_cli(command: &str) -> Option<Family> {
        let name = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
        let name = name.trim_end_matches(".exe");
        DATA.families.iter().find(|entry| entry.clis.iter().any(|cli| cli == name)).map(Entry::family)
    }

    /// Tells the family of a coding agent by its id in the crate `is-ai-agent`.
    pub fn of_agent(id: &str) -> Option<Family> {
        DATA.families.iter().find(|entry| entry.agents.iter().any(|agent| agent == id)).map(Entry::family)
    }

    /// Returns the variables that agents of one family set in the commands they run.
    pub fn env_marks() -> impl Iterator<Item = (&'static str, Family)> {
        DATA.families.iter().flat_map(|entry| entry.env.iter().map(|name| (name.as_str(), entry.family())))
    }
}

impl Trace {
    /// Reads a trailer such as `Co-Authored-By: Claude <noreply@anthropic.com>`, `Assisted-by: Codex:gpt-5.6` or a "Generated with …" line, with or
    /// without its key. `None` where a person is named: every word must be a model's, an agent's or a filler, so that Claude Monet is no model.
    pub fn of_trailer(text: &str) -> Option<Trace> {
        let text = text.trim().to_ascii_lowercase();
        let value = without_key(&text);
        let (name, mail) = value.split_once('<').map_or((value, ""), |(name, rest)| (name, rest.trim_end_matches('>').trim()));
        let named = DATA.families.iter().find(|entry| entry.mails.iter().any(|pattern| is_mail(mail, pattern))).map(Entry::family);
        let named = named.or_else(|| family_of_name(name));
        named.map(Trace::Family).or_else(|| any_model(name, mail).map(Trace::AnyModel))
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

static DATA: LazyLock<Data> =
    LazyLock::new(|| yaml::data(include_str!("families.yaml")).expect("families.yaml is compiled in, and a test reads this same text"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    families: Vec<Entry>,
    any_model: Vec<AnyModel>,
    filler: BTreeSet<String>,
    hosts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    built_on: Vec<String>,
    #[serde(default)]
    vendors: Vec<String>,
    #[serde(default)]
    clis: Vec<String>,
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    mails: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnyModel {
    name: String,
    words: Vec<String>,
    #[serde(default)]
    mails: Vec<String>,
}

impl Entry {
    fn family(&self) -> Family {
        Family(self.name.clone())
    }

    /// Tells whether one word of a model id is this family's: the letters before its first digit, or `o#` for a letter with a number.
    fn names(&self, word: &str) -> bool {
        let letters = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let (stem, rest) = word.split_at(word.len() - letters.len());
        self.models.iter().any(|pattern| match pattern.strip_suffix('#') {
            Some(letter) => stem == letter && !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()),
            None => stem == pattern,
        })
    }

    fn is_vendor(&self, part: &str) -> bool {
        !part.is_empty() && (self.name == part || self.vendors.iter().any(|vendor| vendor == part))
    }
}

/// Splits at everything that is neither letter nor digit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the parts before the last dot, where a cloud puts region and vendor: `us.anthropic.claude-…`.
fn dotted_heads(model: &str) -> impl Iterator<Item = &str> {
    model.rsplit_once('.').map_or("", |(heads, _)| heads).split('.')
}

/// Chooses among the families that an id names: the only one, the one built on all others, the vendor where it is one of them; the vendor where none is named.
fn maker<'a>(named: &[&'a Entry], vendor: Option<&'a Entry>) -> Option<&'a Entry> {
    match named {
        [] => vendor,
        [one] => Some(one),
        several => {
            let on_all = |entry: &&&Entry| several.iter().all(|other| other.name == entry.name || entry.built_on.contains(&other.name));
            let by_vendor = || vendor.filter(|vendor| several.iter().any(|entry| entry.name == vendor.name));
            several.iter().find(on_all).copied().or_else(by_vendor)
        }
    }
}

/// Drops `Co-authored-by:` and its like. A colon inside the value (`Codex:gpt-5.6`) stays: keys end in `-by`, `-with` or are one of git's own words.
fn without_key(text: &str) -> &str {
    match text.split_once(':') {
        Some((key, value)) if key.ends_with("-by") || key.ends_with("-with") || key == "agent" || key == "model" => value.trim(),
        _ => text.find("generated with").or_else(|| text.find("generated by")).map_or(text, |at| text[at + "generated with".len()..].trim()),
    }
}

fn is_mail(mail: &str, pattern: &str) -> bool {
    mail == pattern || (pattern.starts_with(['+', '@']) && mail.ends_with(pattern)) || pattern.strip_prefix('+').is_some_and(|rest| mail == rest)
}

/// Reads a display name: told only where no word is a stranger's. A link behind it (`[Claude Code](https://…)`) is left out.
fn family_of_name(name: &str) -> Option<Family> {
    let name = name.split_once("](").map_or(name, |(label, _)| label);
    let is_agent = |word: &str| DATA.any_model.iter().any(|agent| agent.words.iter().any(|own| own == word));
    let is_model = |word: &str| DATA.families.iter().any(|entry| entry.names(word) || entry.is_vendor(word));
    let is_told = |word: &str| word.bytes().any(|b| b.is_ascii_digit()) || DATA.filler.contains(word) || is_agent(word) || is_model(word);
    if !words(name).all(is_told) {
        return None;
    }
    let named: Vec<&Entry> = DATA.families.iter().filter(|entry| words(name).any(|word| entry.names(word))).collect();
    maker(&named, None).map(Entry::family)
}

fn any_model(name: &str, mail: &str) -> Option<&'static str> {
    let name = name.split_once("](").map_or(name, |(label, _)| label);
    let is_filler = |word: &str| DATA.filler.contains(word) || word.bytes().any(|b| b.is_ascii_digit());
    let by_name = |agent: &AnyModel| {
        let is_own = |word: &str| agent.words.iter().any(|own| own == word);
        words(name).any(is_own) && words(name).all(|word| is_own(word) || is_filler(word))
    };
    DATA.any_model.iter().find(|agent| agent.mails.iter().any(|pattern| is_mail(mail, pattern)) || by_name(agent)).map(|agent| agent.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_model(id: &str) -> Option<String> {
        Family::of_model(id).map(|family| family.0)
    }

    #[test]
    fn the_family_of_a_model_id() {
        let table = [
            (
                "anthropic",
                "claude-opus-5 claude-3-5-haiku-20241022 anthropic/claude-sonnet-4.5 us.anthropic.claude-sonnet-4-20250514-v1:0 opus sonnet",
            ),
            ("anthropic", "anthropic.claude-v2 publishers/anthropic/models/claude-opus-5 Claude-Fable-5"),
            ("openai", "gpt-5.6-sol gpt-4o chatgpt-4o-latest o1 o3-mini o4-mini-2025-04-16 o9 codex-mini-latest openai/gpt-oss-120b gpt-oss:20b"),
            ("openai", "openai.gpt-oss-120b-1:0 openai/o3-pro openai/whisper-1 openai/gpt-5:free"),
            ("google", "gemini-2.5-pro models/gemini-2.5-flash google/gemini-3-pro gemma3:27b google/gemma-3-27b-it google/flan-t5-xl"),
            (
                "meta",
                "llama3.1:70b meta/llama-3.3-70b-instruct meta-llama/Llama-4-Maverick codellama:34b meta.llama3-1-70b-instruct-v1:0 @cf/meta/llama-3",
            ),
            ("meta", "accounts/fireworks/models/llama-v3p1-405b-instruct nvidia/Llama-3.1-405B-Instruct-FP8"),
            (
                "mistral",
                "mistral-large-latest mixtral:8x22b codestral-2501 devstral:24b magistral-medium mistralai/ministral-8b dolphin-mixtral:8x7b",
            ),
            (
                "qwen",
                "qwen3-coder:30b qwen2.5-coder qwen/qwen3-235b-a22b qwq:32b Qwen/QwQ-32B hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M alibaba/tongyi-deepresearch",
            ),
            ("deepseek", "deepseek-chat deepseek-ai/DeepSeek-V3.2 deepseek-r1:70b deepseek/deepseek-r1:free deepseek.r1-v1:0"),
            (
                "deepseek",
                "deepseek-r1-distill-llama-70b deepseek-ai/DeepSeek-R1-Distill-Qwen-32B deepseek-r1:8b-llama-distill-q4_K_M nvidia/DeepSeek-R1-FP4",
            ),
            ("moonshot", "kimi-k2 moonshotai/kimi-k2-instruct moonshot-v1-128k"),
            ("zhipu", "glm-4.6 z-ai/glm-4.5 zai-org/GLM-4.5 chatglm3"),
            ("xai", "grok-4 x-ai/grok-code-fast-1"),
            ("cohere", "command-r-plus command-a-03-2025 cohere/command-r cohere.command-r-v1:0"),
            ("microsoft", "phi4:14b phi-4 microsoft/phi-4 microsoft/mai-ds-r1"),
            ("nvidia", "nemotron-mini nvidia/llama-3.1-nemotron-ultra-253b-v1 llama-3.3-nemotron-super-49b nvidia/nv-embed"),
            ("ibm", "granite3.3:8b ibm/granite-34b-code-instruct"),
            ("amazon", "amazon.nova-pro-v1:0 amazon/nova-lite-v1"),
        ];
        for (family, ids) in table {
            ids.split(' ').for_each(|id| assert_eq!(of_model(id).as_deref(), Some(family), "{id}"));
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        for id in [
            "",
            "/",
            "openrouter/auto",
            "my-model",
            "default",
            "opusculum",
            "omni-1",
            "phil",
            "big-o3x",
            "claude-or-gpt",
            "qwen3-claude-distill",
            "vllm/served",
        ] {
            assert_eq!(of_model(id), None, "{id:?}");
        }
    }

    #[test]
    fn the_family_of_a_cli_and_of_a_word() {
        let table =
            [("codex", Some("openai")), ("/usr/local/bin/claude", Some("anthropic")), ("C:\\bin\\gemini.exe", Some("google")), ("opencode", None)];
        for (cli, family) in table {
            assert_eq!(Family::of_cli(cli).as_ref().map(Family::as_str), family, "{cli}");
        }
        for (word, family) in
            [("Claude", Some("anthropic")), ("gpt", Some("openai")), ("alibaba", Some("qwen")), ("anthropc", None), ("ollama", None)]
        {
            assert_eq!(Family::of_word(word).as_ref().map(Family::as_str), family, "{word}");
        }
        assert!(Family::is_host("openrouter") && !Family::is_host("anthropic"));
    }

    #[test]
    fn what_a_trailer_tells() {
        let family = |name: &str| Some(Trace::Family(Family::new(name)));
        let table = [
            ("Co-Authored-By: Claude <noreply@anthropic.com>", family("anthropic")),
            ("Claude Opus 4.5 (1M context) <someone@example.org>", family("anthropic")),
            ("Co-authored-by: claude[bot] <209825114+claude[bot]@users.noreply.github.com>", family("anthropic")),
            ("🤖 Generated with [Claude Code](https://claude.com/claude-code)", family("anthropic")),
            ("Co-authored-by: Codex <noreply@openai.com>", family("openai")),
            ("Assisted-by: Codex:gpt-5.6", family("openai")),
            ("Co-authored-by: aider (gpt-4o) <noreply@aider.chat>", family("openai")),
            ("Co-authored-by: Gemini 2.5 Pro <x@example.org>", family("google")),
            ("google-labs-jules[bot] <161369871+google-labs-jules[bot]@users.noreply.github.com>", family("google")),
            ("Co-authored-by: Qwen-Coder <qwen-coder@alibabacloud.com>", family("qwen")),
            ("Co-authored-by: Copilot <198982749+Copilot@users.noreply.github.com>", Some(Trace::AnyModel("Copilot"))),
            ("Co-authored-by: Cursor Agent <cursoragent@cursor.com>", Some(Trace::AnyModel("Cursor"))),
            ("Generated with opencode", Some(Trace::AnyModel("OpenCode"))),
            ("Co-authored-by: Claude Luna <luna@example.org>", None),
            ("Co-authored-by: Yi Ling <yi@example.org>", None),
            ("Co-authored-by: Copilot (claude-sonnet-4) <copilot@github.com>", family("anthropic")),
            ("Co-authored-by: Claude Monet <claude.monet@example.org>", None),
            ("Co-authored-by: Jane Doe <jane@anthropic.com>", None),
            ("Reviewed-by: Gemma Arterton <gemma@example.org>", None),
            ("Signed-off-by: Ada Lovelace <ada@example.org>", None),
            ("", None),
        ];
        for (text, want) in table {
            assert_eq!(Trace::of_trailer(text), want, "{text}");
        }
    }

    #[test]
    fn the_data_file_holds_lower_case_words_and_each_once() {
        let data: Data = yaml::data(include_str!("families.yaml")).unwrap();
        let unique = |kind: &str, pick: fn(&Entry) -> &Vec<String>| {
            let mut seen = BTreeSet::new();
            for word in data.families.iter().flat_map(pick) {
                assert!(seen.insert(word.clone()), "{kind}: {word} twice");
                assert!(kind == "env" || *word == word.to_lowercase(), "{kind}: {word}");
            }
        };
        unique("models", |e| &e.models);
        unique("vendors", |e| &e.vendors);
        unique("clis", |e| &e.clis);
        unique("agents", |e| &e.agents);
        unique("env", |e| &e.env);
        unique("mails", |e| &e.mails);
        let names: BTreeSet<&str> = data.families.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names.len(), data.families.len());
        assert!(data.families.iter().flat_map(|e| &e.built_on).all(|name| names.contains(name.as_str())));
        assert!(data.hosts.iter().all(|host| !names.contains(host.as_str())));
    }
}
