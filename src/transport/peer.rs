//! A peer on the loopback interface, for tests: it plays bytes, as slowly and as badly as a test wants.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A listening peer. Every connection has a thread of its own; dropping the peer ends the listening.
pub struct Peer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

impl Peer {
    /// Starts a peer that hands each connection over unread.
    pub fn raw(play: impl Fn(TcpStream) + Send + Sync + 'static) -> Peer {
        Peer::start(move |stream, _| play(stream))
    }

    /// Starts a peer that reads each request to its end, keeps it, and hands it over with the connection to answer on.
    pub fn answering(play: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Peer {
        Peer::start(move |mut stream, requests: &Mutex<Vec<String>>| {
            let Some(request) = read_request(&mut stream) else { return };
            requests.lock().unwrap().push(request.clone());
            play(&request, &mut stream);
        })
    }

    /// Starts a peer that gives the same bytes to everyone.
    pub fn saying(bytes: impl Into<Vec<u8>>) -> Peer {
        let bytes = bytes.into();
        Peer::answering(move |_, stream| drop(stream.write_all(&bytes)))
    }

    fn start(serve: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Peer { address: listener.local_addr().unwrap(), requests: Arc::default(), over: Arc::default() };
        let (requests, over, serve) = (Arc::clone(&peer.requests), Arc::clone(&peer.over), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (requests, serve) = (Arc::clone(&requests), Arc::clone(&serve));
                std::thread::spawn(move || serve(stream, &requests));
            }
        });
        peer
    }

    /// Returns `http://ADDRESS`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests that were read, heads and bodies, in order of arrival.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

/// Makes a whole reply with a length.
pub fn reply(status: &str, content_type: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Writes bytes one at a time, each in a segment of its own, with a pause between them.
pub fn drip(stream: &mut TcpStream, bytes: &[u8], pause: Duration) {
    stream.set_nodelay(true).unwrap();
    for byte in bytes {
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::sleep(pause);
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut seen = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        if let Some(end) = seen.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&seen[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |value| value.trim().parse().unwrap());
            if seen.len() >= end + 4 + length {
                return Some(String::from_utf8(seen).unwrap());
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => seen.extend_from_slice(&buffer[..count]),
        }
    }
}
