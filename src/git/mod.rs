//! The only face of gix: open safely, push lines, ranges, verified reads.
//!
//! Says what changed and what of it is new to the other side; what that means is `tier`'s, `plan`'s and `review`'s business.

mod alternates;
pub mod capture;
mod clean;
mod destination;
pub mod error;
pub mod fresh;
mod history;
pub mod index;
mod known;
pub mod marks;
mod narrow;
pub mod object;
pub mod open;
mod partial;
mod place;
mod plumbing;
pub mod policy;
mod published;
pub mod push;
pub mod range;
mod refs;
mod refspec;
mod remotes;
pub mod rename;
mod revision;
mod sending;
pub mod signs;
pub mod text;
pub mod tree;
mod uncommitted;
mod upstream;
pub mod worktree;

#[cfg(test)]
mod differential;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tree_pairs;

pub use capture::Options;
pub use error::GitError;
pub use fresh::FreshFile;
pub use marks::Marked;
pub use open::Repo;
pub use policy::PolicyFile;
pub use push::{FrameworkPush, parse_lines};
pub use range::{Selected, Selector};
