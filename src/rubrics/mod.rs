//! Criteria with ids, as data: what a pass judges by, and what a finding may cite as its rule.
//!
//! The text of a rubric goes into the brief as it stands: models read YAML well, and what is digested is then exactly what was asked.

/// One rubric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rubric {
    /// The name.
    pub name: &'static str,
    /// A list of `id` and `rule`, in YAML.
    pub text: &'static str,
}

/// Correctness and care, for every change.
pub const GENERAL: Rubric = Rubric { name: "general", text: include_str!("general.yaml") };
/// Attack classes.
pub const ADVERSARIAL: Rubric = Rubric { name: "adversarial", text: include_str!("adversarial.yaml") };
/// Security whatever the domain; the floor of sensitive paths (requirement T15).
pub const SECURITY: Rubric = Rubric { name: "security", text: include_str!("security.yaml") };
/// Whether the tests would notice.
pub const TESTS: Rubric = Rubric { name: "tests", text: include_str!("tests.yaml") };

/// All rubrics, for digests and checks.
pub const ALL: [Rubric; 4] = [GENERAL, ADVERSARIAL, SECURITY, TESTS];

impl Rubric {
    /// Iterates over the rule ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines().filter_map(|line| line.strip_prefix("- id: "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_rubric_is_yaml_with_an_id_and_a_rule_in_each_row() {
        for rubric in ALL {
            let rows: Vec<BTreeMap<String, String>> = serde_yaml::from_str(rubric.text).expect(rubric.name);
            assert!(rows.iter().all(|row| row.keys().eq(["id", "rule"]) && row["rule"].ends_with('.')), "{}", rubric.name);
            assert!(rows.iter().map(|row| row["id"].as_str()).eq(rubric.ids()), "{}", rubric.name);
        }
    }

    #[test]
    fn ids_are_unique_over_all_rubrics() {
        let ids: Vec<_> = ALL.iter().flat_map(Rubric::ids).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert!(ids.len() > 40 && ids.iter().all(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric())));
    }
}
