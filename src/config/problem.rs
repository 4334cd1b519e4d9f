//! What is wrong with a configuration file: every problem at once, each with its place, the key, and what to write instead.

use crate::yaml::{Key, Node, Unreadable};
use std::fmt;

/// One thing that is wrong. Line and column are 1-based; 0 where the problem has no place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, with ` at <commit>` for one that was read from git.
    pub file: String,
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
    /// What is wrong, as a lower-case fragment that names the key.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A configuration that cannot be used. Its text is ready for people: one problem a line, remedies indented below.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// What is wrong, in the order of the file; at least one.
    pub problems: Vec<Problem>,
}

impl ConfigError {
    /// Makes an error of one problem that has no place in the file.
    pub fn of_file(file: &str, message: impl Into<String>, hint: &str) -> ConfigError {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        ConfigError { problems: vec![Problem { file: file.to_owned(), line: 0, column: 0, message: message.into(), hint }] }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\n  {hint}"))
    }
}

/// A place in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    line: u64,
    column: u64,
}

impl From<&Node> for At {
    fn from(node: &Node) -> At {
        At { line: node.line, column: node.column }
    }
}

impl From<&Key> for At {
    fn from(key: &Key) -> At {
        At { line: key.line, column: key.column }
    }
}

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Problems {
    file: String,
    found: Vec<Problem>,
}

impl Problems {
    pub(super) fn of(file: &str) -> Problems {
        Problems { file: file.to_owned(), found: Vec::new() }
    }

    /// Notes a problem; an empty hint is none.
    pub(super) fn add(&mut self, at: impl Into<At>, message: impl Into<String>, hint: impl Into<String>) {
        let (at, hint) = (at.into(), hint.into());
        let hint = (!hint.is_empty()).then_some(hint);
        self.found.push(Problem { file: self.file.clone(), line: at.line, column: at.column, message: message.into(), hint });
    }

    /// Turns a text that is no YAML into an error.
    pub(super) fn unreadable(mut self, error: Unreadable) -> ConfigError {
        self.add(At { line: error.line, column: error.column }, error.message, "");
        ConfigError { problems: self.found }
    }

    /// Returns the value if nothing was noted.
    pub(super) fn finish<T>(mut self, value: T) -> Result<T, ConfigError> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        if self.found.is_empty() { Ok(value) } else { Err(ConfigError { problems: self.found }) }
    }
}

/// Returns the candidate that a word was most likely meant to be: within a third of its length in edits, and at most three.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let scored = candidates.into_iter().map(|candidate| (edits(word, candidate), candidate));
    scored.filter(|(edits, _)| *edits <= allowed).min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// Counts the insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_close_or_none() {
        let keys = ["deadline", "push_deadline", "commit_deadline", "reviewers", "model", "mode"];
        let table =
            [("deadlien", Some("deadline")), ("reviewer", Some("reviewers")), ("modle", Some("model")), ("pushdeadline", Some("push_deadline"))];
        for (word, want) in table.into_iter().chain([("banana", None), ("x", None), ("", None)]) {
            assert_eq!(nearest(word, keys), want, "{word}");
        }
    }

    #[test]
    fn every_problem_is_shown_with_its_place_and_remedy() {
        let mut problems = Problems::of("config.yaml");
        problems.add(At { line: 9, column: 1 }, "second", "");
        problems.add(At { line: 2, column: 3 }, "first", "do this");
        let error = problems.finish(()).unwrap_err();
        assert_eq!(error.to_string(), "config.yaml:2:3: first\n  do this\nconfig.yaml:9:1: second");
    }
}
