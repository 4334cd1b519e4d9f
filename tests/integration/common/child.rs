//! Children of the tests: started in their own process group, both streams read to the end, killed at a limit.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// No child of a test runs longer than this.
const LIMIT: Duration = Duration::from_secs(60);

/// What became of a child.
#[derive(Debug)]
pub struct Run {
    /// Its status; 128 + the signal where one ended it, as a shell says it.
    pub status: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// From start to end, as seen from outside.
    pub took: Duration,
}

impl Run {
    /// Asserts the status; shows all that was said where it differs.
    #[track_caller]
    pub fn expect(self, status: i32) -> Run {
        assert_eq!(self.status, status, "the status differs; {self}");
        self
    }

    /// Asserts any status but 0.
    #[track_caller]
    pub fn expect_refused(self) -> Run {
        assert_ne!(self.status, 0, "this must be refused; {self}");
        self
    }

    /// Asserts that one of the streams holds `text`.
    #[track_caller]
    pub fn says(self, text: &str) -> Run {
        assert!(self.stdout.contains(text) || self.stderr.contains(text), "nothing says {text:?}; {self}");
        self
    }

    /// Asserts that neither stream holds `text`.
    #[track_caller]
    pub fn never_says(self, text: &str) -> Run {
        assert!(!self.stdout.contains(text) && !self.stderr.contains(text), "something says {text:?}; {self}");
        self
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "status {} after {:?}\n--- stdout\n{}\n--- stderr\n{}", self.status, self.took, self.stdout, self.stderr)
    }
}

/// A child under way.
pub struct Running {
    child: Child,
    name: String,
    started: Instant,
    stdout: Stream,
    stderr: Stream,
}

/// What a child has written so far, and the thread that reads on.
struct Stream {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Starts a child and gives it `stdin`.
pub fn start(mut command: Command, stdin: &[u8]) -> Running {
    use std::os::unix::process::CommandExt;
    let name = format!("{command:?}");
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|e| panic!("cannot start {name}: {e}"));
    let mut pipe = child.stdin.take().expect("stdin is piped");
    let stdin = stdin.to_vec();
    // A child that does not read its input closes the pipe; that is its right.
    thread::spawn(move || pipe.write_all(&stdin));
    let stdout = drain(child.stdout.take().expect("stdout is piped"));
    let stderr = drain(child.stderr.take().expect("stderr is piped"));
    Running { child, name, started, stdout, stderr }
}

/// Runs a child to its end.
pub fn run(command: Command, stdin: &[u8]) -> Run {
    start(command, stdin).finish()
}

fn drain(mut pipe: impl Read + Send + 'static) -> Stream {
    let text = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&text);
    let reader = thread::spawn(move || {
        let mut chunk = [0; 8192];
        loop {
            match pipe.read(&mut chunk).expect("a pipe can be read") {
                0 => break,
                n => shared.lock().unwrap().extend(&chunk[..n]),
            }
        }
    });
    Stream { text, reader }
}

impl Stream {
    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    fn into_text(self) -> String {
        self.reader.join().expect("the reader ends");
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
}

impl Running {
    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the child alone, as `kill` does.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.group(), signal).expect("the child is there");
    }

    /// Returns the child's process group, which it leads.
    pub fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until the child has said something on standard error.
    #[track_caller]
    pub fn wait_to_say(&self, text: &str) {
        while !self.stderr.so_far().contains(text) {
            assert!(
                self.started.elapsed() < LIMIT && !self.stderr.reader.is_finished(),
                "{} did not say {text:?}: {}",
                self.name,
                self.stderr.so_far()
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the end. At the limit the whole group is killed and the test fails.
    pub fn finish(self) -> Run {
        self.finish_within(LIMIT)
    }

    /// Waits for the end, at most so long from the start.
    pub fn finish_within(mut self, limit: Duration) -> Run {
        use std::os::unix::process::ExitStatusExt;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if self.started.elapsed() > limit {
                let _ = kill_process_group(self.group(), Signal::KILL);
                panic!("{} was still running after {limit:?}", self.name);
            }
            // Short runs are timed to a twentieth of their length, long ones do not keep a core busy.
            thread::sleep((self.started.elapsed() / 20).clamp(Duration::from_micros(100), Duration::from_millis(5)));
        };
        let took = self.started.elapsed();
        let status = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        Run { status, stdout: self.stdout.into_text(), stderr: self.stderr.into_text(), took }
    }
}
