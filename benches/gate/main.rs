//! What the gate costs beside a reviewer's time, as ratios to git taken in the same run.
//!
//! ```sh
//! cargo bench --bench gate                                        # everything, in a few minutes
//! cargo bench --bench gate -- --runs 21 --only staged             # one table
//! cargo bench --bench gate -- --files 20000 --only staged,range   # another size
//! ```
//!
//! Prints Markdown. Two commands are compared by running them in turn and taking medians, since a machine is never quiet. Repositories are made by
//! `git fast-import`: what is committed is packed, what is staged lies loose, as `git add` leaves it. Each child has a home and a configuration of its own,
//! so nothing of the caller's decides a figure. Peak memory is the kernel's high-water mark, read while the process runs: it can miss the last instant of a
//! short run.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods, reason = "a benchmark prints, starts children and reads the clock")]

#[path = "../../tests/integration/common/mod.rs"]
mod common;

mod answers;
mod extent;
mod growth;
mod made;
mod pushes;
mod start;
mod table;
mod trees;

/// What can be chosen on the command line.
struct Size {
    /// Files of the large repository.
    files: usize,
    /// Counted runs of each command.
    runs: usize,
}

/// Makes a repository, measures in it and prints.
type Table = fn(&Size);

/// The tables by the names that `--only` takes.
const TABLES: [(&str, Table); 8] = [
    ("start", start::up),
    ("overhead", answers::overhead),
    ("passes", answers::side_by_side),
    ("staged", trees::staged),
    ("range", trees::range),
    ("push", pushes::many),
    ("extent", extent::large),
    ("growth", growth::doubling),
];

fn main() {
    let size = Size { files: number("--files").unwrap_or(57_000), runs: number("--runs").unwrap_or(7).max(1) };
    let only = value("--only").map(|names| names.split(',').map(str::to_owned).collect::<Vec<_>>());
    for name in only.iter().flatten() {
        assert!(TABLES.iter().any(|(known, _)| known == name), "--only takes names of {:?}, not {name:?}", TABLES.map(|(name, _)| name));
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("Medians of {} interleaved runs, {cores} cores.\n", size.runs);
    for (name, table) in TABLES {
        if only.as_ref().is_none_or(|only| only.iter().any(|wanted| wanted == name)) {
            table(&size);
            println!();
        }
    }
}

fn number(name: &str) -> Option<usize> {
    value(name).map(|value| value.parse().unwrap_or_else(|_| panic!("{name} takes a number, not {value:?}")))
}

fn value(name: &str) -> Option<String> {
    let mut args = std::env::args().skip_while(|arg| arg != name).skip(1);
    args.next()
}
