//! Collects the arguments and the environment, runs, returns the status.

use review_gate::env::Env;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(review_gate::run(std::env::args_os(), Env::of_process()).code())
}
