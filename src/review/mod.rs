//! Runs the plan under one deadline.
