//! Errors at the edge: what we were doing, what went wrong underneath, what to do next. Printed once, in `lib.rs`.
//!
//! Modules have their own `thiserror` enums; here they get the status they end with and hints for people.

use crate::exit::Code;
use std::fmt;

/// An error that ends the run, with the status it ends with.
#[derive(Debug)]
pub struct GateError {
    code: Code,
    cause: anyhow::Error,
    hints: Vec<String>,
}

impl GateError {
    /// Wraps a cause. Its chain of sources is kept and shown.
    pub fn new(code: Code, cause: impl Into<anyhow::Error>) -> GateError {
        GateError { code, cause: cause.into(), hints: Vec::new() }
    }

    /// Makes a usage or configuration error (status 2).
    pub fn usage(message: impl fmt::Display) -> GateError {
        GateError::new(Code::Usage, anyhow::anyhow!("{message}"))
    }

    /// Makes an error for a fault of the gate itself (status 70).
    pub fn internal(message: impl fmt::Display) -> GateError {
        let error = GateError::new(Code::Internal, anyhow::anyhow!("internal error: {message}"));
        error.hinted("this is a bug in review-gate; nothing was let through")
    }

    /// Says what was being done when it went wrong.
    pub fn while_doing(mut self, doing: impl fmt::Display) -> GateError {
        self.cause = self.cause.context(doing.to_string());
        self
    }

    /// Adds a sentence that says what to do next.
    pub fn hinted(mut self, hint: impl Into<String>) -> GateError {
        self.hints.push(hint.into());
        self
    }

    /// Returns the status.
    pub fn code(&self) -> Code {
        self.code
    }
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {:#}", self.cause)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\n  hint: {hint}"))
    }
}

impl std::error::Error for GateError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_done_what_went_wrong_and_what_to_do() {
        let error = GateError::usage("no such file").while_doing("cannot read the configuration").hinted("run `review-gate init`");
        assert_eq!(error.to_string(), "error: cannot read the configuration: no such file\n  hint: run `review-gate init`");
        assert_eq!(error.code(), Code::Usage);
    }
}
