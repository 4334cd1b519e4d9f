//! Who wrote the change, with evidence.
