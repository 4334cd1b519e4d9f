//! Errors at the edge: kind, cause, hints; printed once.
