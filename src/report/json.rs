//! The report as JSON: one object, pretty-printed, the same for every status.

use super::v1::Report;

/// Renders the report.
pub fn render(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("the report serialises, because it holds only text, numbers and lists")
}
