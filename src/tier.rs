//! How much scrutiny the paths deserve, and which floors hold.
