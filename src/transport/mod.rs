//! Bytes and time only.
