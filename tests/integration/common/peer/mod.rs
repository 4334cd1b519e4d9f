//! A scripted reviewer on the loopback interface. It speaks the three dialects at once, records what it is sent, and answers as its script says.
//!
//! One thread a connection, one request a connection. All waits end when the peer is dropped.

mod behaviour;
mod http;
mod prompt;
mod wire;

pub use behaviour::Behaviour;
pub use prompt::{Added, Request};

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The models that the peer says it serves, in both lists.
pub const MODELS: [&str; 6] = ["qwen3-coder", "qwen3-coder:30b", "mistral-large", "deepseek-chat", "gpt-5.6", "claude-opus-5"];

type Script = dyn Fn(&Request) -> Behaviour + Send + Sync;

/// The server. Stops on drop.
pub struct Peer {
    address: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

/// What the connections share.
struct State {
    script: Box<Script>,
    stop: AtomicBool,
    busy: AtomicUsize,
    peak: AtomicUsize,
    answered: AtomicUsize,
    seen: Mutex<Vec<Request>>,
}

impl Peer {
    /// Starts a peer that always behaves the same.
    pub fn new(behaviour: Behaviour) -> Peer {
        Peer::scripted(move |_| behaviour.clone())
    }

    /// Starts a peer that behaves as `script` says for each question; `Request::call` counts them from 0.
    pub fn scripted(script: impl Fn(&Request) -> Behaviour + Send + Sync + 'static) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback interface is there");
        let address = listener.local_addr().expect("a bound socket has an address");
        let state = Arc::new(State {
            script: Box::new(script),
            stop: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
            seen: Mutex::new(Vec::new()),
        });
        let shared = Arc::clone(&state);
        let accepting = Some(thread::spawn(move || accept(&listener, &shared)));
        Peer { address, state, accepting }
    }

    /// Returns an address at which nobody listens.
    pub fn dead() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback interface is there");
        format!("http://{}", listener.local_addr().expect("a bound socket has an address"))
    }

    /// Returns `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request, model lists included, in the order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Returns the questions: every request but model lists.
    pub fn questions(&self) -> Vec<Request> {
        self.requests().into_iter().filter(Request::is_question).collect()
    }

    /// Returns the questions of passes, without a refuter's.
    pub fn reviews(&self) -> Vec<Request> {
        self.questions().into_iter().filter(|r| !r.is_refuter()).collect()
    }

    /// Returns the questions put to a refuter.
    pub fn refuters(&self) -> Vec<Request> {
        self.questions().into_iter().filter(Request::is_refuter).collect()
    }

    /// Tells whether `text` is in anything that the peer received: path, headers or body.
    pub fn received(&self, text: &str) -> bool {
        self.requests().iter().any(|r| r.holds(text))
    }

    /// Returns how many requests were under way at once, at most.
    pub fn peak(&self) -> usize {
        self.state.peak.load(Ordering::SeqCst)
    }

    /// Waits until a question is here.
    #[track_caller]
    pub fn wait_for_question(&self) {
        self.wait_for_questions(1);
    }

    /// Waits until so many questions were asked.
    #[track_caller]
    pub fn wait_for_questions(&self, many: usize) {
        wait("so many questions were asked", || self.questions().len() >= many);
    }

    /// Waits until so many questions were answered.
    #[track_caller]
    pub fn wait_for_answers(&self, many: usize) {
        wait("so many questions were answered", || self.state.answered.load(Ordering::SeqCst) >= many);
    }

    /// Waits until no request is under way: whoever asked has hung up or was answered.
    #[track_caller]
    pub fn wait_until_idle(&self) {
        wait("nobody is connected", || self.state.busy.load(Ordering::SeqCst) == 0);
    }
}

#[track_caller]
fn wait(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which ends the rest.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    let (mut connections, mut open) = (Vec::new(), Vec::new());
    for stream in listener.incoming() {
        if state.stopped() {
            break;
        }
        let Ok(stream) = stream else { continue };
        open.extend(stream.try_clone());
        let state = Arc::clone(state);
        connections.push(thread::spawn(move || serve(stream, &state)));
    }
    // Whoever reads or writes stops at once.
    for stream in open {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for connection in connections {
        let _ = connection.join();
    }
}

/// Answers one request. An error of the socket is the other side's business: the test looks at what the gate made of it.
fn serve(mut stream: TcpStream, state: &State) {
    answer(&mut stream, state);
    // The copy kept for the end of the peer would hold the connection open.
    let _ = stream.shutdown(Shutdown::Both);
}

fn answer(stream: &mut TcpStream, state: &State) {
    let Ok(head) = http::read(stream) else { return };
    let busy = state.busy.fetch_add(1, Ordering::SeqCst) + 1;
    state.peak.fetch_max(busy, Ordering::SeqCst);
    let request = state.record(head);
    let answer = match request.is_question() {
        true => behaviour::answer(&(state.script)(&request), &request),
        false => behaviour::model_list(&request),
    };
    let _ = http::write(stream, &request, answer, &state.stop);
    state.answered.fetch_add(usize::from(request.is_question()), Ordering::SeqCst);
    state.busy.fetch_sub(1, Ordering::SeqCst);
}

impl State {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn record(&self, head: http::Head) -> Request {
        let mut seen = self.seen.lock().unwrap();
        let call = seen.iter().filter(|r| r.is_question()).count();
        let request = Request::new(head, call);
        seen.push(request.clone());
        request
    }
}
