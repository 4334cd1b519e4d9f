//! One integration binary, modules by story. Everything here starts the real program.
