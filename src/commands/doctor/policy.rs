//! The repository's policy as the gate would read it at a push from here: the proof runs without one, so what it lowers is said beside the proof.

use super::holes::Finding;
use crate::clock;
use crate::config::{self, Mode, POLICY_FILE, Policy, PolicyLayer};
use crate::error::GateError;
use crate::git::{Options, Repo, Selector};

/// Names what the policy lets through.
pub(super) fn look(repo: &Repo) -> Vec<Finding> {
    let selected = repo.select(&Selector::All { base: None }, &Options { renames: false, only: Vec::new() });
    let Ok(selected) = selected else {
        return vec![Finding::note(
            format!("nothing here has a base yet, so it is not known which {POLICY_FILE} will hold"),
            "run `review-gate doctor` again once there are commits to push and a remote",
        )];
    };
    let read = || -> Result<Vec<PolicyLayer>, GateError> {
        let mut layers = Vec::new();
        for subject in &selected.subjects {
            for file in repo.policy_files(subject, None, None)? {
                layers.push(config::policy_layer(&file.bytes, &file.origin)?);
            }
        }
        Ok(layers)
    };
    match read() {
        Ok(layers) => lowered(&config::effective(&layers, None, clock::now_utc())),
        Err(error) => {
            vec![Finding::hole(format!("the policy cannot be read, so every push is refused: {error}"), format!("correct {POLICY_FILE} there"))]
        }
    }
}

fn lowered(policy: &Policy) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Mode::Advisory { .. } = policy.mode {
        let remedy = format!("take `mode` out of {POLICY_FILE}");
        found.push(Finding::hole(format!("the policy's mode is {}: findings are shown and a push is let through", policy.mode), remedy));
    }
    for row in policy.rows().iter().filter(|row| row.is_set) {
        let what = match row.key {
            "on_unavailable" if row.value != "block" => "where no reviewer answers, such a change is let through unreviewed",
            "exclude" | "data" | "generated" => "what these paths hold is not reviewed as the rest is",
            _ => continue,
        };
        let said = format!("the policy says {}: {} ({}): {what}", row.key, row.value, row.layer);
        found.push(Finding::note(said, format!("if that is not meant, correct {POLICY_FILE}")));
    }
    found
}
