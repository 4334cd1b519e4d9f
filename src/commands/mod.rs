//! One verb a file.

pub mod init;
pub mod install;
