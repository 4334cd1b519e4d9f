//! Criteria with ids, as data.
