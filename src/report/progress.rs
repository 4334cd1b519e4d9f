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

/// What is said while nobody is on the board.
const FIRST_REPLY: &str = "the first reply";
/// What is said while another run has the turn.
const ANOTHER_RUN: &str = "another run that reviews the same change";

/// What is shown, and how long it may take.
struct Shown {
    waiting: Waiting,
    otherwise: &'static str,
    deadline: Deadline,
    /// Written at once, not only after the first 15 s.
    at_once: bool,
}

/// Shows progress until dropped.
pub struct Progress {
    waiting: Waiting,
    stop: Option<Sender<()>>,
    drawer: Option<thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts to show progress towards the deadline.
    pub fn start(channel: Channel, deadline: Deadline) -> Progress {
        Progress::show(channel, Shown { waiting: Waiting::default(), otherwise: FIRST_REPLY, deadline, at_once: false })
    }

    /// Starts to show that another run is waited for, at once: nothing else would tell why nobody is asked.
    pub fn of_another_run(channel: Channel, deadline: Deadline) -> Progress {
        Progress::show(channel, Shown { waiting: Waiting::default(), otherwise: ANOTHER_RUN, deadline, at_once: true })
    }

    fn show(channel: Channel, shown: Shown) -> Progress {
        let waiting = shown.waiting.clone();
        let (stop, stopped) = mpsc::channel();
        let drawer = match channel {
            Channel::Off => None,
            Channel::Stderr if io::stderr().is_terminal() => Some(thread::spawn(move || draw(&shown, &stopped))),
            Channel::Stderr => Some(thread::spawn(move || write(&shown, &stopped, &mut io::stderr()))),
            Channel::Terminal => terminal().map(|mut tty| thread::spawn(move || write(&shown, &stopped, &mut tty))),
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

fn line(shown: &Shown) -> String {
    let waiting = shown.waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let who: Vec<String> = waiting.iter().map(|(pass, reviewer)| format!("{pass}: {reviewer}")).collect();
    format!(
        "review-gate: waiting for {} ({} s left)",
        if who.is_empty() { shown.otherwise.to_owned() } else { who.join(", ") },
        shown.deadline.left().as_secs()
    )
}

fn draw(shown: &Shown, stopped: &mpsc::Receiver<()>) {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
    while stopped.recv_timeout(DRAW) == Err(RecvTimeoutError::Timeout) {
        bar.set_message(line(shown));
        bar.tick();
    }
    bar.finish_and_clear();
}

fn write(shown: &Shown, stopped: &mpsc::Receiver<()>, out: &mut dyn Write) {
    // Nobody may be listening; that is no reason to stop working.
    let mut say = || drop(writeln!(out, "{}", line(shown)).and_then(|()| out.flush()));
    if shown.at_once {
        say();
    }
    while stopped.recv_timeout(PLAIN) == Err(RecvTimeoutError::Timeout) {
        say();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Limit;

    fn shown(progress: &Progress, otherwise: &'static str) -> Shown {
        let deadline = Deadline::after(Duration::from_secs(90), Limit::Run);
        Shown { waiting: progress.waiting.clone(), otherwise, deadline, at_once: true }
    }

    #[test]
    fn the_line_names_who_is_still_thinking() {
        let progress = Progress::start(Channel::Off, Deadline::after(Duration::from_secs(90), Limit::Run));
        let board = progress.board();
        assert!(line(&shown(&progress, FIRST_REPLY)).starts_with("review-gate: waiting for the first reply (8"));
        board.waits("general", "local");
        board.waits("tests", "other");
        board.done("tests");
        let said = line(&shown(&progress, FIRST_REPLY));
        assert!(said.starts_with("review-gate: waiting for general: local (8"), "{said}");
    }

    #[test]
    fn that_another_run_is_waited_for_is_said_at_once() {
        let progress = Progress::of_another_run(Channel::Off, Deadline::after(Duration::from_secs(90), Limit::Run));
        let (stop, stopped) = mpsc::channel();
        drop(stop);
        let mut said = Vec::new();
        write(&shown(&progress, ANOTHER_RUN), &stopped, &mut said);
        let said = String::from_utf8_lossy(&said);
        assert!(said.starts_with("review-gate: waiting for another run that reviews the same change (8") && said.ends_with("left)\n"), "{said}");
    }
}
