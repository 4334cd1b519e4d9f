//! The reply contract: text → claims, or a named fault. Pure.
