//! What became of a pass: a closed list.
