//! Bytes and time only.

pub mod process;
