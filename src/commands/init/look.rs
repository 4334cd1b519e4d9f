//! What is on this machine that could review: programs, names of key variables that are set, models of a local ollama. No value of a key is read.

use super::known::{APIS, Api, CLIS, Cli};
use crate::env::Env;
use crate::transport::process::find_on_path;
use std::path::PathBuf;

const OLLAMA_PORT: &str = "11434";

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Command-line reviewers, with where they are.
    pub clis: Vec<(&'static Cli, PathBuf)>,
    /// APIs whose key variable is set, with the variable's name.
    pub apis: Vec<(&'static Api, &'static str)>,
    /// A local ollama with at least one model.
    pub ollama: Option<Ollama>,
}

/// A local ollama.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ollama {
    /// Its base URL.
    pub host: String,
    /// Names of its models, as it lists them.
    pub models: Vec<String>,
}

/// Looks around. `list_models` asks the ollama at a base URL for its models, within a second; none where nobody answers.
pub(super) fn look(env: &Env, list_models: &dyn Fn(&str) -> Vec<String>) -> Found {
    Found {
        clis: CLIS.iter().filter_map(|cli| find_on_path(cli.name, env).map(|path| (cli, path))).collect(),
        apis: APIS.iter().filter_map(|api| set_variable(api, env).map(|name| (api, name))).collect(),
        ollama: ollama_host(env).and_then(|host| {
            let models = list_models(&host);
            (!models.is_empty()).then_some(Ollama { host, models })
        }),
    }
}

fn set_variable(api: &Api, env: &Env) -> Option<&'static str> {
    api.key_variables.iter().copied().find(|name| env.os(name).is_some())
}

/// Returns the base URL of the local ollama: `OLLAMA_HOST` in the forms that ollama takes, else its default. `None` where it is not on this machine:
/// plain HTTP leaves the machine for nobody, so such a host is not asked.
pub(super) fn ollama_host(env: &Env) -> Option<String> {
    let named = env.text("OLLAMA_HOST").unwrap_or("127.0.0.1").trim().trim_end_matches('/');
    let authority = match named.split_once("://") {
        None => named,
        Some(("http", rest)) => rest,
        Some(_) => return None,
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => (host, port),
        _ => (authority, OLLAMA_PORT),
    };
    match host {
        // The addresses that a server listens on everywhere are reached here at the loopback address.
        "" | "0.0.0.0" | "127.0.0.1" => Some(format!("http://127.0.0.1:{port}")),
        "localhost" => Some(format!("http://localhost:{port}")),
        "[::]" | "[::1]" => Some(format!("http://[::1]:{port}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_ollama_is_asked_on_this_machine_only() {
        let table = [
            (None, Some("http://127.0.0.1:11434")),
            (Some(""), Some("http://127.0.0.1:11434")),
            (Some("127.0.0.1:8080"), Some("http://127.0.0.1:8080")),
            (Some("0.0.0.0"), Some("http://127.0.0.1:11434")),
            (Some(":1234"), Some("http://127.0.0.1:1234")),
            (Some("http://localhost:11434/"), Some("http://localhost:11434")),
            (Some("[::1]:99"), Some("http://[::1]:99")),
            (Some("[::1]"), Some("http://[::1]:11434")),
            (Some("gpu.example:11434"), None),
            (Some("https://localhost"), None),
            (Some("127.0.0.1@gpu.example:80"), None),
            (Some("localhost:80/path"), None),
        ];
        for (named, expected) in table {
            let env = Env::from_pairs(named.map(|value| ("OLLAMA_HOST", value)));
            assert_eq!(ollama_host(&env).as_deref(), expected, "{named:?}");
        }
    }

    #[test]
    fn programs_names_of_keys_and_models_are_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("codex"), "").unwrap();
        std::fs::set_permissions(dir.path().join("codex"), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(dir.path().join("claude"), "").unwrap();
        let path = dir.path().to_str().unwrap();
        let env = Env::from_pairs([("PATH", path), ("GOOGLE_API_KEY", "value"), ("ANTHROPIC_API_KEY", ""), ("MISTRAL_API_KEY", "value")]);
        let found = look(&env, &|host| vec![format!("model at {host}")]);
        assert_eq!(found.clis.iter().map(|(cli, path)| (cli.name, path.clone())).collect::<Vec<_>>(), [("codex", dir.path().join("codex"))]);
        assert_eq!(
            found.apis.iter().map(|(api, name)| (api.name, *name)).collect::<Vec<_>>(),
            [("gemini", "GOOGLE_API_KEY"), ("mistral", "MISTRAL_API_KEY")]
        );
        assert_eq!(found.ollama.unwrap().models, ["model at http://127.0.0.1:11434"]);
        assert!(look(&env, &|_| Vec::new()).ollama.is_none());
    }
}
