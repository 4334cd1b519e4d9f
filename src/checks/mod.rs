//! Pass 0: deterministic tests of the change, no model.
