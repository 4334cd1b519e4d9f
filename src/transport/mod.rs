//! Bytes and time only: connections, children, and how a stream is cut into frames. What the bytes mean is left to `provider/`.

pub mod http;
pub mod lines;
pub mod ndjson;
#[cfg(test)]
pub mod peer;
pub mod process;
pub mod sse;
