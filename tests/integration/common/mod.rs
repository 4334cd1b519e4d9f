//! What every story needs: a sandbox with real git, the gate as a child process, and a scripted reviewer on the loopback interface.
//!
//! Everything is bounded in time and nothing outside the sandbox is read or written.

#![allow(dead_code, unused_imports, reason = "the benchmark shares this module and uses a part of it")]

pub mod child;
pub mod config;
pub mod gate;
pub mod kept;
pub mod latch;
pub mod peer;
pub mod repo;
pub mod sandbox;
pub mod tools;

pub use child::Run;
pub use config::{Dialect, Reviewer};
pub use gate::Gate;
pub use latch::Latch;
pub use peer::{Behaviour, Peer, Request};
pub use repo::Repo;
pub use sandbox::Sandbox;

/// The program under test.
pub const GATE: &str = env!("CARGO_BIN_EXE_review-gate");
/// No object: the remote side of a new ref.
pub const ZERO: &str = "0000000000000000000000000000000000000000";
/// A line that the scripted reviewer reports as HIGH.
pub const EVIL: &str = "let evil = run(input); // EVIL\n";
/// A line that it has nothing to say about.
pub const GOOD: &str = "let good = check(input);\n";
