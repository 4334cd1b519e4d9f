//! The start of a process, and its size.

use crate::Size;
use crate::common::{self, Sandbox};
use crate::table::{self, Call, row};

/// `--version` of both: what every hook pays before it does anything.
pub fn up(size: &Size) {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo("empty");
    let mib = std::fs::metadata(common::GATE).unwrap().len() as f64 / 1024.0 / 1024.0;
    table::head(&format!("start; the program has {mib:.1} MiB"));
    row(size.runs * 3, "`--version`", 0, || Call::gate(&repo, &["--version"]), || Call::git(&repo, &["--version"]));
}
