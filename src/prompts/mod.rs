//! Prompt texts with named holes.
