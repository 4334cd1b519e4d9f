//! The one mouth: everything that people or programs read goes through here.
//!
//! In hooks everything for people goes to stderr, because a pre-push hook's stdout is git's own (case P48). In `run` the report goes to stdout. A closed stream
//! changes nothing about the decision, so write errors are passed over.

use std::io::{self, IsTerminal, Write};

/// Where the report goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// `run` and the verbs that print: stdout.
    Stdout,
    /// Hooks: stderr.
    Stderr,
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volume {
    /// Only refusals.
    Quiet,
    /// The report and progress.
    Normal,
    /// Every hop of every chain too.
    Verbose,
}

/// Whether colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
    /// Where the stream is a terminal and `NO_COLOR` is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Prints.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    place: Place,
    volume: Volume,
    color: bool,
}

impl Printer {
    /// Makes a printer; `no_color` is the state of the `NO_COLOR` variable.
    pub fn new(place: Place, volume: Volume, color: Color, no_color: bool) -> Printer {
        let terminal = match place {
            Place::Stdout => io::stdout().is_terminal(),
            Place::Stderr => io::stderr().is_terminal(),
        };
        let color = match color {
            Color::Auto => terminal && !no_color,
            Color::Always => true,
            Color::Never => false,
        };
        Printer { place, volume, color }
    }

    /// Tells whether the report may use colour.
    pub fn colored(&self) -> bool {
        self.color
    }

    /// Returns how much is said.
    pub fn volume(&self) -> Volume {
        self.volume
    }

    /// Prints the result of a verb: the report, a diff, a list.
    pub fn result(&self, bytes: &[u8]) {
        match self.place {
            Place::Stdout => write_all(&mut io::stdout(), bytes),
            Place::Stderr => write_all(&mut io::stderr(), bytes),
        }
    }

    /// Says something to the person at the keyboard.
    pub fn say(&self, line: &str) {
        if self.volume > Volume::Quiet {
            self.error(line);
        }
    }

    /// Says something that only `-v` asks for.
    pub fn detail(&self, line: &str) {
        if self.volume >= Volume::Verbose {
            self.error(line);
        }
    }

    /// Says something that must be read, `-q` or not.
    pub fn error(&self, line: &str) {
        write_all(&mut io::stderr(), format!("{line}\n").as_bytes());
    }
}

fn write_all(stream: &mut dyn Write, bytes: &[u8]) {
    // A reader that went away (EPIPE) must not change the status.
    let _ = stream.write_all(bytes).and_then(|()| stream.flush());
}
