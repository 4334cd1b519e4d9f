//! One dialect a file.
