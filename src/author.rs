//! Who wrote the change, with evidence: the union of what is stated (flag, configuration) and what is seen (marks of coding agents in the environment,
//! commit trailers). Pure. What is stated adds to what is seen and never removes it; nothing seen and nothing stated is `unknown` (ruling on F05).
//!
//! Leaves to others: reading the commits, and what an unknown author means for the plan. Evidence names variables and agents, never values.

use crate::env::Env;
use crate::family::{Family, Trace};
use is_ai_agent::{Agent, AgentId, Signal};
use std::collections::BTreeSet;

/// How many agents may be found inside one another.
const NESTING: usize = 64;

/// Whom someone names as the author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// A model of this family.
    Family(Family),
    /// A person without a model.
    Human,
}

impl Who {
    /// Reads `human`, a family (its name, or a word for it such as `claude`), or a family that some reviewer declares. `None` for every other word: a
    /// usage error, not a guess (requirement F01).
    pub fn parse(word: &str, declared: &[Family]) -> Option<Who> {
        let stated = Family::new(word);
        if stated.as_str() == "human" {
            return Some(Who::Human);
        }
        Family::of_word(word).or_else(|| declared.contains(&stated).then_some(stated)).map(Who::Family)
    }
}

/// One statement about the author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// Where it was said, for the evidence: `--author` or `config author`.
    pub source: &'static str,
    /// Who it names.
    pub who: Who,
}

/// What is known about the author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// At least one family is.
    Known,
    /// Someone says that no model took part, and none was seen.
    Human,
    /// Nothing is, or only that an agent took part which runs any model.
    Unknown,
}

/// The families that wrote the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    families: BTreeSet<Family>,
    human: bool,
    any_model: bool,
    evidence: Vec<String>,
}

impl Author {
    /// Puts together what is stated and what is seen (requirements F01, F02, F04, F05). `trailers` are lines of the messages of the commits to be published.
    pub fn detect(stated: &[Stated], env: &Env, trailers: &[String]) -> Author {
        let mut author = Author::default();
        stated.iter().for_each(|statement| author.add_stated(statement));
        Family::env_marks().filter(|(name, _)| env.os(name).is_some()).for_each(|(name, family)| author.add(family, format!("env {name}")));
        agents(env).iter().for_each(|agent| author.add_agent(agent));
        trailers.iter().filter_map(|text| Trace::of_trailer(text)).for_each(|trace| author.add_trace(trace));
        author
    }

    /// Returns the families, in order.
    pub fn families(&self) -> &BTreeSet<Family> {
        &self.families
    }

    /// Returns what the families were taken from, each once, in the order found.
    pub fn evidence(&self) -> &[String] {
        &self.evidence
    }

    /// Returns what is known. A family that was seen outweighs the statement that a person wrote it.
    pub fn kind(&self) -> Kind {
        match (self.families.is_empty(), self.human && !self.any_model) {
            (false, _) => Kind::Known,
            (true, true) => Kind::Human,
            (true, false) => Kind::Unknown,
        }
    }

    /// Tells whether a model of this family may review: it is none of the author's. With an unknown or human author every family may.
    pub fn eligible(&self, family: &Family) -> bool {
        !self.families.contains(family)
    }

    fn add(&mut self, family: Family, evidence: String) {
        self.families.insert(family);
        self.note(evidence);
    }

    fn note(&mut self, evidence: String) {
        if !self.evidence.contains(&evidence) {
            self.evidence.push(evidence);
        }
    }

    fn add_stated(&mut self, statement: &Stated) {
        match &statement.who {
            Who::Family(family) => self.add(family.clone(), format!("{} {family}", statement.source)),
            Who::Human => {
                self.human = true;
                self.note(format!("{} human", statement.source));
            }
        }
    }

    fn add_agent(&mut self, agent: &Agent) {
        let evidence = match &agent.signal {
            Signal::EnvVar { name, .. } => format!("env {name}"),
            Signal::File { path } => format!("file {path}"),
            // The crate may grow signals; an agent is an agent by any of them.
            _ => "is-ai-agent".to_owned(),
        };
        match Family::of_agent(agent.id.as_str()) {
            Some(family) => self.add(family, evidence),
            None => self.add_any_model(if agent.id == AgentId::Unknown { "an agent" } else { agent.name }, &evidence),
        }
    }

    fn add_trace(&mut self, trace: Trace) {
        match trace {
            Trace::Family(family) => {
                let evidence = format!("trailer {family}");
                self.add(family, evidence);
            }
            Trace::AnyModel(name) => self.add_any_model(name, "trailer"),
        }
    }

    fn add_any_model(&mut self, name: &str, evidence: &str) {
        self.any_model = true;
        self.note(format!("{evidence} ({name} tells no family)"));
    }
}

/// Finds every agent that the environment shows. The crate names one, by its order of precedence; an agent that runs inside another one leaves the marks of
/// both, so each mark found is hidden and the crate is asked again. Agents that copy another's mark count as both: a family too many only narrows the choice.
fn agents(env: &Env) -> Vec<Agent> {
    let mut hidden: BTreeSet<&'static str> = BTreeSet::new();
    let mut found = Vec::new();
    while found.len() < NESTING {
        let read = |name: &str| env.os(name).filter(|_| !hidden.contains(name)).map(|value| value.to_string_lossy().into_owned());
        let Some(agent) = is_ai_agent::detect_with(read, |_| false) else { break };
        let Signal::EnvVar { name, .. } = &agent.signal else { break };
        hidden.insert(name);
        found.push(agent);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(stated: &[(&'static str, &str)], env: &[(&str, &str)], trailers: &[&str]) -> Author {
        let stated: Vec<Stated> = stated.iter().map(|(source, word)| Stated { source, who: Who::parse(word, &[]).unwrap() }).collect();
        let trailers: Vec<String> = trailers.iter().map(ToString::to_string).collect();
        Author::detect(&stated, &Env::from_pairs(env.iter().copied()), &trailers)
    }

    fn families(author: &Author) -> Vec<&str> {
        author.families().iter().map(Family::as_str).collect()
    }

    #[test]
    fn marks_of_agents_tell_their_family() {
        type Marks = &'static [(&'static str, &'static str)];
        let table: [(Marks, &[&str]); 12] = [
            (&[("CLAUDECODE", "1")], &["anthropic"]),
            (&[("CLAUDE_CODE_CHILD_SESSION", "1")], &["anthropic"]),
            (&[("CODEX_THREAD_ID", "x")], &["openai"]),
            (&[("CODEX_AGENT", "x")], &["openai"]),
            (&[("CODEX_SANDBOX", "seatbelt")], &["openai"]),
            (&[("GEMINI_CLI", "1")], &["google"]),
            (&[("AI_AGENT", "claude-code_2.1.0_cli")], &["anthropic"]),
            (&[("AGENT", "goose"), ("CLAUDECODE", "1")], &["anthropic"]),
            (&[("CODEX_CI", "1"), ("CLAUDECODE", "1")], &["anthropic", "openai"]),
            (&[("AI_AGENT", "codex"), ("CURSOR_AGENT", "1"), ("GROK_SESSION_ID", "7")], &["openai", "xai"]),
            (&[("DSH_SHELL", "1")], &["deepseek"]),
            (&[("CURSOR_AGENT", "1")], &[]),
        ];
        for (env, want) in table {
            assert_eq!(families(&author(&[], env, &[])), want, "{env:?}");
        }
    }

    #[test]
    fn configuration_is_no_evidence() {
        let names =
            ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY"];
        for name in names.into_iter().chain(["OLLAMA_HOST", "COPILOT_GITHUB_TOKEN", "COPILOT_MODEL", "GROK_AGENT", "EDITOR", "TERM_PROGRAM"]) {
            let author = author(&[], &[(name, "claude")], &[]);
            assert_eq!((author.kind(), author.evidence().len()), (Kind::Unknown, 0), "{name}");
        }
    }

    #[test]
    fn an_agent_that_runs_any_model_is_evidence_without_a_family() {
        for env in [[("CURSOR_AGENT", "1")], [("COPILOT_AGENT", "1")], [("OPENCODE", "1")], [("AI_AGENT", "brand-new")], [("AGENT", "1")]] {
            let author = author(&[("config author", "human")], &env, &[]);
            assert_eq!((author.kind(), author.evidence().len()), (Kind::Unknown, 2), "{env:?}: {:?}", author.evidence());
        }
    }

    #[test]
    fn what_is_stated_adds_and_never_removes() {
        let seen = [("CLAUDECODE", "1")];
        for word in ["human", "openai", "codex", "anthropic"] {
            let author = author(&[("--author", word)], &seen, &["Co-authored-by: Gemini CLI <x@example.org>"]);
            assert!(families(&author).starts_with(&["anthropic", "google"]), "{word}");
            assert_eq!(author.kind(), Kind::Known);
            assert!(!author.eligible(&Family::new("anthropic")));
        }
        assert_eq!(families(&author(&[("--author", "codex"), ("config author", "claude")], &[], &[])), ["anthropic", "openai"]);
    }

    #[test]
    fn an_unknown_and_a_human_author_leave_every_family_eligible() {
        assert_eq!(author(&[], &[], &["Reviewed-by: Ada <ada@example.org>"]).kind(), Kind::Unknown);
        let human = author(&[("--author", "human")], &[], &[]);
        assert_eq!(human.kind(), Kind::Human);
        assert!(Family::known().all(|name| human.eligible(&Family::new(name))));
    }

    #[test]
    fn evidence_names_variables_and_no_values() {
        let author =
            author(&[("--author", "openai")], &[("AI_AGENT", "claude-code_secret"), ("CODEX_SESSION_ID", "value")], &["Generated with opencode"]);
        assert_eq!(author.evidence(), ["--author openai", "env CODEX_SESSION_ID", "env AI_AGENT", "trailer (OpenCode tells no family)"]);
    }

    #[test]
    fn a_stated_word_is_known_or_declared() {
        assert_eq!(Who::parse("acme", &[]), None);
        assert_eq!(Who::parse("Acme", &[Family::new("acme")]), Some(Who::Family(Family::new("acme"))));
        assert_eq!(Who::parse("openrouter", &[]), None);
    }
}
