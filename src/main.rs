//! Collects the arguments and the environment, runs, returns the code.

fn main() {}
