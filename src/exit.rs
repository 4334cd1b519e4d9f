//! The exit table, and the only place that makes a 0.
