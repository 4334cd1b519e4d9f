//! Progress: who is still thinking and how long is left.
//!
//! A spinner where stderr is a terminal; else a plain line every 15 s, on the controlling terminal where a framework swallows the output (pre-commit does).
//! Never read from, and never on stdout. The only user of indicatif.

use crate::clock::Deadline;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a plain line is written.
const PLAIN: Duration = Duration::from_secs(15);
/// How often the spinner's text is brought up to date.
const DRAW: Duration = Duration::from_millis(250);

/// Where progress goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// A spinner where stderr is a terminal, else plain lines on stderr.
    Stderr,
    /// Plain lines on the controlling terminal, where it can be opened (hook frameworks keep our stderr to themselves).
    Terminal,
    /// Nowhere.
    Off,
}

/// Who is still thinking, by pass.
type Waiting = Arc<Mutex<BTreeMap<String, String>>>;

/// Shows progress until dropped.
pub struct Progress {
    waiting: Waiting,
    stop: Option<Sender<()>>,
    drawer: Option<thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts to show progress towards the deadline.
    pub fn start(channel: Channel, deadline: Deadline) -> Progress {
        let waiting = Waiting::default();
        let (stop, stopped) = mpsc::channel();
        let shared = waiting.clone();
        let drawer = match channel {
            Channel::Off => None,
            Channel::Stderr if io::stderr().is_terminal() => Some(thread::spawn(move || draw(&shared, deadline, &stopped))),
            Channel::Stderr => Some(thread::spawn(move || write(&shared, deadline, &stopped, &mut io::stderr()))),
            Channel::Terminal => terminal().map(|mut tty| thread::spawn(move || write(&shared, deadline, &stopped, &mut tty))),
        };
        Progress { waiting, stop: Some(stop), drawer }
    }

    /// Returns a handle for the worker threads.
    pub fn board(&self) -> Board {
        Board(self.waiting.clone())
    }
}

/// The board on which workers write who they wait for.
#[derive(Clone)]
pub struct Board(Waiting);

impl Board {
    /// A pass waits for a reviewer.
    pub fn waits(&self, pass: &str, reviewer: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(pass.to_owned(), reviewer.to_owned());
    }

    /// A pass has its outcome.
    pub fn done(&self, pass: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(pass);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(drawer) = self.drawer.take() {
            // The drawer wakes up at once when its channel closes; a panic in it is of no consequence.
            let _ = drawer.join();
        }
    }
}

fn terminal() -> Option<File> {
    OpenOptions::new().write(true).open("/dev/tty").ok()
}

fn line(waiting: &Waiting, deadline: Deadline) -> String {
    let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let who: Vec<String> = waiting.iter().map(|(pass, reviewer)| format!("{pass}: {reviewer}")).collect();
    format!(
        "review-gate: waiting for {} ({} s left)",
        if who.is_empty() { "the first reply".to_owned() } else { who.join(", ") },
        deadline.left().as_secs()
    )
}

fn draw(waiting: &Waiting, deadline: Deadline, stopped: &mpsc::Receiver<()>) {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
    while stopped.recv_timeout(DRAW) == Err(RecvTimeoutError::Timeout) {
        bar.set_message(line(waiting, deadline));
        bar.tick();
    }
    bar.finish_and_clear();
}

fn write(waiting: &Waiting, deadline: Deadline, stopped: &mpsc::Receiver<()>, out: &mut dyn Write) {
    while stopped.recv_timeout(PLAIN) == Err(RecvTimeoutError::Timeout) {
        // Nobody may be listening; that is no reason to stop working.
        let _ = writeln!(out, "{}", line(waiting, deadline)).and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Limit;

    #[test]
    fn the_line_names_who_is_still_thinking() {
        let progress = Progress::start(Channel::Off, Deadline::after(Duration::from_secs(90), Limit::Run));
        let board = progress.board();
        board.waits("general", "local");
        board.waits("tests", "other");
        board.done("tests");
        let shown = line(&progress.waiting, Deadline::after(Duration::from_secs(90), Limit::Run));
        assert!(shown.starts_with("review-gate: waiting for general: local (8"), "{shown}");
    }
}
