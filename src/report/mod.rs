//! What people and programs see: one view model, one format a file, one mouth, and progress.

pub mod json;
pub mod printer;
pub mod progress;
pub mod text;
pub mod v1;
