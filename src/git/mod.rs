//! The only face of gix: open safely, push lines, ranges, verified reads.

pub mod capture;
mod clean;
pub mod error;
pub mod index;
pub mod object;
pub mod rename;
pub mod text;
pub mod tree;
pub mod worktree;

#[cfg(test)]
mod differential;
#[cfg(test)]
mod testing;

pub use error::GitError;
