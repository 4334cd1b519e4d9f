//! `config schema`: JSON schemas of both files, for editors. Convenience only: the reader decides, and it knows more than a schema can say.

use super::fields::EXTRA;
use super::policy::KEYS as POLICY_KEYS;
use super::reviewers::KEYS as REVIEWER_KEYS;
use super::user::KEYS as USER_KEYS;
use serde_json::{Map, Value, json};

/// Returns the schemas of the user's file and of the policy, as one JSON text with the keys `user` and `policy`.
pub fn schema() -> String {
    let both =
        json!({ "user": file("review-gate user configuration", &USER_KEYS, user), "policy": file("review-gate policy", &POLICY_KEYS, policy) });
    format!("{both:#}\n")
}

fn file(title: &str, keys: &[&str], of: fn(&str) -> Value) -> Value {
    let mut schema = object(keys, of);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(title);
    schema
}

fn object(keys: &[&str], of: fn(&str) -> Value) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), of(key))).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn user(key: &str) -> Value {
    match key {
        "reviewers" => {
            let mut entry = object(&REVIEWER_KEYS, reviewer);
            entry["required"] = json!(["name", "provider", "model"]);
            json!({ "type": "array", "items": entry })
        }
        "deadline" | "push_deadline" | "commit_deadline" => seconds(),
        "same_family" => json!({ "enum": ["refuse", "degraded"] }),
        "budget" => object(&["per_run_usd", "per_hour_usd"], |_| usd()),
        "allow_secrets" => json!({ "type": "array", "items": { "type": "string", "pattern": "^(sha256:)?[0-9a-fA-F]{64}$" } }),
        "lenses" => json!({ "type": "array", "items": lens() }),
        _ => text(),
    }
}

fn reviewer(key: &str) -> Value {
    match key {
        "provider" => json!({ "enum": ["openai", "anthropic", "ollama", "cli"] }),
        "api_key_command" => texts(),
        "timeout" | "first_byte_timeout" => seconds(),
        "max_tokens" | "window" | "parallel" => json!({ "type": "integer", "minimum": 1 }),
        "reasoning_off" | "enabled" => json!({ "type": "boolean" }),
        "reasoning_effort" => json!({ "enum": ["low", "medium", "high", "xhigh", "max"] }),
        "extra" => object(&EXTRA, |_| json!({})),
        "price" => object(&["input", "output", "cached"], |_| usd()),
        _ => text(),
    }
}

fn policy(key: &str) -> Value {
    match key {
        "mode" => json!({ "oneOf": [{ "const": "enforce" }, object(&["advisory_until"], |_| json!({ "type": "string", "format": "date" }))] }),
        "exclude" | "generated" | "data" | "full" | "context" => texts(),
        "on_unavailable" => {
            let words = json!({ "enum": ["block", "warn"] });
            let tiers = object(&["light", "standard", "full"], |_| json!({ "enum": ["block", "warn"] }));
            let stages = object(&["pre-commit", "pre-push", "run"], |_| json!({ "enum": ["block", "warn"] }));
            json!({ "oneOf": [words, tiers, stages] })
        }
        "block" => json!({ "enum": ["HIGH", "MEDIUM"] }),
        "refute" => json!({ "enum": ["off", "blocking"] }),
        "verify" => json!({ "enum": ["advisory", "enforce"] }),
        "require_author" => json!({ "enum": ["none", "light", "standard", "full"] }),
        "rounds" => json!({ "type": "integer", "minimum": 1, "maximum": 20 }),
        "checkpoint" => json!({ "oneOf": [{ "const": "none" }, object(&["light", "standard", "full"], |_| json!({ "enum": ["human", "none"] }))] }),
        _ => text(),
    }
}

fn lens() -> Value {
    object(&["name", "command", "tiers"], |key| if key == "name" { text() } else { texts() })
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn texts() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn seconds() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": 3600 })
}

fn usd() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemas_know_every_key_of_their_file() {
        let both: Value = serde_json::from_str(&schema()).unwrap();
        for (name, keys) in [("user", &USER_KEYS[..]), ("policy", &POLICY_KEYS[..])] {
            let properties = both[name]["properties"].as_object().unwrap();
            assert_eq!(properties.len(), keys.len(), "{name}");
            assert!(keys.iter().all(|key| properties.contains_key(*key)), "{name}");
        }
    }
}
