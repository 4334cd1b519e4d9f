//! Severity, place, identity, merge, anchor.
