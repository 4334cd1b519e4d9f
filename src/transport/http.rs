//! One HTTP exchange at a time, every wait bounded and named, every size capped. The only host of ureq.
//!
//! Each call has an agent, so a connection, of its own, and a thread that carries it; the asking thread waits on a channel. So a limit ends the call whatever
//! the socket, the resolver or the TLS stack is doing, and ending one call does not touch its neighbours. The limits set in ureq are a courtesy, so that the
//! thread ends too; the channel is the law.
//!
//! Redirects are never followed, so a key reaches no second host; proxies come from the configuration only (threat T2); content encodings are refused
//! (threat T10). What a status or a body means is left to `provider/`.

mod call;
mod head;

use crate::clock::{Deadline, Limit};
use crate::reviewer::{Class, Fault, Secret};
use crate::transport::lines::Lines;
pub use call::late;
use call::{Calls, Wait};
use head::Head;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{self, HeaderName, HeaderValue, Uri, header};
use ureq::tls::{PemItem, RootCerts, TlsConfig};

/// The longest wait between two pieces of a reply that has begun (requirement H18).
pub const IDLE: Duration = Duration::from_secs(60);
/// The most bytes of a reply, unless a call asks for more.
pub const BODY_CAP: usize = 8 << 20;
const CONNECT: Duration = Duration::from_secs(10);
const LINE_CAP: usize = 1 << 20;
const HEADER_CAP: usize = 64 << 10;
const PIECE: usize = 16 << 10;

/// A setting of a reviewer that no client can be made from.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not an http or https URL, or one with user, query or fragment.
    #[error("host {0:?} is not a plain http or https URL (no user, query or fragment)")]
    Host(String),
    /// Plain http to another machine.
    #[error("host {0:?} is plain http, which is for the loopback interface only; use https")]
    PlainHttp(String),
    /// The certificates cannot be read.
    #[error("ca_file {path:?} cannot be read: {source}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file holds no certificate, or a broken one.
    #[error("ca_file {0:?} holds no readable PEM certificate")]
    NoCertificate(PathBuf),
    /// The proxy is not understood. Its value may hold a password and is not shown.
    #[error("proxy is not a URL of a kind that is known (http, https, socks4, socks5)")]
    Proxy,
}

/// One header of a request.
#[derive(Debug, Clone)]
pub struct Header {
    name: HeaderName,
    value: HeaderValue,
}

impl Header {
    /// Makes a header that anyone may see.
    pub fn plain(name: &'static str, value: &'static str) -> Header {
        Header { name: HeaderName::from_static(name), value: HeaderValue::from_static(value) }
    }

    /// Makes a header that holds a key, after `prefix`; `None` where the key has a character that no header can carry, such as a line break.
    pub fn secret(name: &'static str, prefix: &str, key: &Secret) -> Option<Header> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose())).ok()?;
        value.set_sensitive(true);
        Some(Header { name: HeaderName::from_static(name), value })
    }
}

/// How long and how large a call may get.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The end of the call, whatever happens.
    pub deadline: Deadline,
    /// From the start of the call to the first byte of the reply's body; `None`: the deadline alone (ruling on H17). Some hosts send their headers at once
    /// and the body after minutes of thought, so headers are no sign of life.
    pub first_byte: Option<Duration>,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// Bytes of the body.
    pub body: usize,
}

impl Limits {
    /// Returns the usual limits under a deadline.
    pub fn until(deadline: Deadline) -> Limits {
        Limits { deadline, first_byte: None, idle: IDLE, body: BODY_CAP }
    }
}

/// A host with what is needed to talk to it.
pub struct Client {
    base: String,
    authority: String,
    tls: TlsConfig,
    proxy: Option<ureq::Proxy>,
    calls: Arc<Calls>,
}

impl Client {
    /// Makes a client for a base URL; paths of requests are appended to it, so its own path is kept (requirement H02). A `ca_file` is trusted instead of the
    /// platform's certificates. A proxy is not used for the loopback interface.
    ///
    /// # Errors
    /// [`ClientError`] names the setting that cannot be used.
    pub fn new(base: &str, ca_file: Option<&Path>, proxy: Option<&str>) -> Result<Client, ClientError> {
        let base = base.trim_end_matches('/');
        let bad_host = || ClientError::Host(base.to_owned());
        let uri: Uri = base.parse().map_err(|_| bad_host())?;
        let authority = uri.authority().ok_or_else(bad_host)?.as_str().to_owned();
        if authority.contains('@') || base.contains(['?', '#']) {
            return Err(bad_host());
        }
        let loopback = uri.host().is_some_and(is_loopback);
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if loopback => {}
            Some("http") => return Err(ClientError::PlainHttp(base.to_owned())),
            _ => return Err(bad_host()),
        }
        let proxy = proxy.filter(|_| !loopback).map(|url| ureq::Proxy::new(url).map_err(|_| ClientError::Proxy)).transpose()?;
        let roots = ca_file.map_or(Ok(RootCerts::PlatformVerifier), certificates)?;
        let tls = TlsConfig::builder().root_certs(roots).build();
        Ok(Client { base: base.to_owned(), authority, tls, proxy, calls: Arc::default() })
    }

    /// Returns the host and port, for messages.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Sends a request, POST where it has a body, and returns once the reply's headers are there.
    ///
    /// # Errors
    /// A [`Fault`] of class `deadline` where the run's or the slice's time ended it, else `unreachable`; permanent for a missed first byte and for a redirect.
    pub fn send(&self, path: &str, headers: &[Header], body: Option<String>, limits: Limits) -> Result<Response, Fault> {
        let first = limits.first_byte.map_or(limits.deadline, |wait| limits.deadline.within(wait, Limit::FirstByte));
        let agent = Agent::new_with_config(self.config(limits.deadline.left()));
        let call = Calls::begin(&self.calls, agent.clone())?;
        let request = self.request(path, headers, body)?;
        let (head_in, head) = mpsc::sync_channel(1);
        let (piece_in, pieces) = mpsc::sync_channel(8);
        std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || carry(&agent, request, limits.body, &head_in, &piece_in))
            .map_err(|error| Fault::new(Class::Unreachable, format!("no thread for the call: {error}")))?;
        let wait = Wait::new(call, limits.deadline, first, limits.idle);
        let head = wait.on(&head, first)?.map_err(|error| self.unreachable(&error, &wait))?;
        Response::new(self, head, pieces, wait)
    }

    /// Ends all calls under way; later ones fail at once. A name lookup or a TCP connect goes on until its own limit.
    pub fn cancel(&self) {
        self.calls.cancel();
    }

    fn config(&self, total: Duration) -> ureq::config::Config {
        Agent::config_builder()
            .tls_config(self.tls.clone())
            .proxy(self.proxy.clone())
            .http_status_as_error(false)
            .max_redirects(0)
            .accept_encoding("identity")
            .user_agent(concat!("review-gate/", env!("CARGO_PKG_VERSION")))
            .max_response_header_size(HEADER_CAP)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(total))
            .build()
    }

    fn request(&self, path: &str, headers: &[Header], body: Option<String>) -> Result<http::Request<Vec<u8>>, Fault> {
        let method = if body.is_some() { http::Method::POST } else { http::Method::GET };
        let mut request = http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for Header { name, value } in headers {
            request = request.header(name, value);
        }
        let body = body.unwrap_or_default().into_bytes();
        request.body(body).map_err(|error| Fault::new(Class::BadConfig, format!("no request can be made: {error}")))
    }

    /// Says what kept a request from being answered. A limit of ours that ureq noticed first keeps our name for it.
    fn unreachable(&self, error: &ureq::Error, wait: &Wait) -> Fault {
        if let Some(ended) = wait.ended() {
            return ended;
        }
        let fault = Fault::new(Class::Unreachable, format!("{}: {}", self.authority, reason(error)));
        if matches!(error, ureq::Error::ConnectProxyFailed(_)) { fault.permanent() } else { fault }
    }
}

/// Tells whether a URL's host names this machine: `localhost`, 127.0.0.0/8 or ::1.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn certificates(path: &Path) -> Result<RootCerts, ClientError> {
    let pem = std::fs::read(path).map_err(|source| ClientError::CaFile { path: path.to_owned(), source })?;
    let mut found = Vec::new();
    for item in ureq::tls::parse_pem(&pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(ClientError::NoCertificate(path.to_owned())),
        }
    }
    if found.is_empty() { Err(ClientError::NoCertificate(path.to_owned())) } else { Ok(RootCerts::new_with_certs(&found)) }
}

/// Runs on the call's own thread. A receiver that has gone away ends it.
fn carry(agent: &Agent, request: http::Request<Vec<u8>>, cap: usize, head: &SyncSender<Result<Head, ureq::Error>>, pieces: &SyncSender<Piece>) {
    let (parts, body) = match http_call(agent, request) {
        Ok(response) => response.into_parts(),
        Err(error) => return drop(head.send(Err(error))),
    };
    if head.send(Ok(Head::of(parts.status.as_u16(), &parts.headers))).is_err() {
        return;
    }
    let mut reader = body.into_with_config().limit(cap as u64).reader();
    loop {
        let mut bytes = vec![0; PIECE];
        let piece = match reader.read(&mut bytes) {
            Ok(0) => Piece::End,
            Ok(count) => {
                bytes.truncate(count);
                Piece::Bytes(bytes)
            }
            Err(error) => Piece::Broken(error.into()),
        };
        let last = !matches!(piece, Piece::Bytes(_));
        if pieces.send(piece).is_err() || last {
            return;
        }
    }
}

fn http_call(agent: &Agent, request: http::Request<Vec<u8>>) -> Result<http::Response<ureq::Body>, ureq::Error> {
    if request.method() == http::Method::GET { agent.run(request.map(|_| ())) } else { agent.run(request) }
}

/// What a call's thread sends: bytes as they came, then one of the two ends.
enum Piece {
    Bytes(Vec<u8>),
    End,
    Broken(ureq::Error),
}

/// A reply whose headers have arrived. Dropping it closes the connection.
pub struct Response {
    /// The status.
    pub status: u16,
    /// The media type, lower case, without parameters; empty where none was sent.
    pub content_type: String,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    authority: String,
    readable: bool,
    pieces: Receiver<Piece>,
    wait: Wait,
    lines: Lines,
    ended: bool,
}

impl Response {
    fn new(client: &Client, head: Head, pieces: Receiver<Piece>, wait: Wait) -> Result<Response, Fault> {
        let authority = client.authority.clone();
        if let Some(target) = head.redirect() {
            let detail = format!("{authority} redirects to {target}; redirects are not followed, since a key belongs to its host");
            return Err(Fault::new(Class::Unreachable, detail).permanent());
        }
        if let (200, Some(encoding)) = (head.status, &head.encoding) {
            return Err(Fault::new(Class::Unreachable, format!("{authority} sent the content encoding {encoding:?}, which was not asked for")));
        }
        let Head { status, content_type, retry_after, encoding, .. } = head;
        let lines = Lines::new(LINE_CAP);
        Ok(Response { status, content_type, retry_after, authority, readable: encoding.is_none(), pieces, wait, lines, ended: false })
    }

    /// Returns the next line of the body, without its line end; `None` at the body's proper end.
    ///
    /// # Errors
    /// `cut-stream` where the body ended before its framing said so, `deadline` or `unreachable` at a limit or a cap.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            let line = self.lines.next_line().map_err(|error| self.over(&error))?;
            if line.is_some() {
                return Ok(line);
            }
            if self.ended {
                return Ok(self.lines.rest());
            }
            match self.bytes()? {
                Some(bytes) => self.lines.push(&bytes),
                None => self.ended = true,
            }
        }
    }

    /// Returns the whole body.
    ///
    /// # Errors
    /// As [`Response::next_line`].
    pub fn whole(&mut self) -> Result<Vec<u8>, Fault> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.bytes()? {
            whole.extend_from_slice(&bytes);
        }
        Ok(whole)
    }

    /// Returns the start of an error's body as text, as far as it came: the status has said what matters. A word that was cut is left out: it could be half a
    /// key, which nobody would know for one.
    pub fn error_text(mut self, cap: usize) -> String {
        let mut text = Vec::new();
        let mut ended = false;
        while self.readable && !ended && text.len() <= cap {
            match self.bytes() {
                Ok(Some(bytes)) => text.extend_from_slice(&bytes),
                Ok(None) => ended = true,
                Err(_) => break,
            }
        }
        if !ended || text.len() > cap {
            text.truncate(cap);
            text.truncate(text.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0));
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    fn bytes(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        match self.wait.on(&self.pieces, self.wait.for_piece())? {
            Piece::Bytes(bytes) => {
                self.wait.begin();
                Ok(Some(bytes))
            }
            // A connection that was shut down can look like a body that ended; so the end counts only while nobody has ended the call.
            Piece::End => self.wait.ended().map_or(Ok(None), Err),
            Piece::Broken(error) => Err(self.broken(&error)),
        }
    }

    fn broken(&self, error: &ureq::Error) -> Fault {
        if let Some(ended) = self.wait.ended() {
            return ended;
        }
        let detail = format!("{}: {}", self.authority, reason(error));
        let cut = matches!(error, ureq::Error::Io(io) if io.kind() == io::ErrorKind::UnexpectedEof);
        Fault::new(if cut { Class::CutStream } else { Class::Unreachable }, detail)
    }

    fn over(&self, error: &dyn std::fmt::Display) -> Fault {
        Fault::new(Class::Unreachable, format!("{}: {error}", self.authority))
    }
}

fn reason(error: &ureq::Error) -> String {
    if matches!(error, ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect)) {
        return format!("no connection within {CONNECT:?}");
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::transport::peer::{Peer, drip, reply};
    use std::io::Write;
    use std::net::TcpStream;
    use std::thread::sleep;

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    const LONG: Duration = Duration::from_secs(20);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn limits(deadline: u64) -> Limits {
        Limits::until(Deadline::after(ms(deadline), Limit::Run))
    }

    fn fetch(client: &Client, body: Option<String>, limits: Limits) -> Result<Vec<String>, Fault> {
        let mut response = client.send("/x", &[], body, limits)?;
        let mut lines = Vec::new();
        while let Some(line) = response.next_line()? {
            lines.push(String::from_utf8(line).unwrap());
        }
        Ok(lines)
    }

    fn fault(peer: &Peer, limits: Limits) -> Fault {
        fetch(&Client::new(&peer.url(), None, None).unwrap(), None, limits).unwrap_err()
    }

    fn write(stream: &mut TcpStream, bytes: &[u8]) {
        // The client may be gone, which is what some of these tests are about.
        drop(stream.write_all(bytes));
    }

    #[test]
    fn whatever_a_peer_does_the_limit_ends_the_call_on_time() {
        type Play = fn(TcpStream);
        let silent: Play = |stream| {
            sleep(LONG);
            drop(stream);
        };
        let half_header: Play = |mut stream| {
            write(&mut stream, b"HTTP/1.1 200 OK\r\nX-Slow: ");
            sleep(LONG);
        };
        let header_drip: Play = |mut stream| {
            write(&mut stream, b"HTTP/1.1 200 OK\r\nX-Slow: ");
            drip(&mut stream, &[b'x'; 1000], ms(20));
        };
        let header_only: Play = |mut stream| {
            write(&mut stream, OK);
            sleep(LONG);
        };
        let body_drip: Play = |mut stream| {
            write(&mut stream, OK);
            drip(&mut stream, &[b'x'; 1000], ms(20));
        };
        let line_drip: Play = |mut stream| {
            write(&mut stream, OK);
            drip(&mut stream, &[b'\n'; 1000], ms(20));
        };
        let stall: Play = |mut stream| {
            write(&mut stream, OK);
            write(&mut stream, b"one\n");
            sleep(LONG);
        };
        let run: fn() -> Limits = || limits(300);
        let first: fn() -> Limits = || Limits { first_byte: Some(ms(300)), ..limits(9000) };
        let idle: fn() -> Limits = || Limits { idle: ms(300), ..limits(9000) };
        // Headers are no sign of life: until the body begins, the idle limit is not the one that counts.
        let slow_start: fn() -> Limits = || Limits { idle: ms(100), ..limits(300) };
        let table = [
            ("silent", silent, run, Class::Deadline, false),
            ("half a header", half_header, run, Class::Deadline, false),
            ("header drip", header_drip, run, Class::Deadline, false),
            ("header only", header_only, run, Class::Deadline, false),
            ("body drip", body_drip, run, Class::Deadline, false),
            ("line drip", line_drip, run, Class::Deadline, false),
            ("stall", stall, run, Class::Deadline, false),
            ("silent, first byte", silent, first, Class::Unreachable, true),
            ("header drip, first byte", header_drip, first, Class::Unreachable, true),
            ("header only, first byte", header_only, first, Class::Unreachable, true),
            ("stall, idle", stall, idle, Class::Unreachable, false),
            ("header only, idle", header_only, slow_start, Class::Deadline, false),
        ];
        std::thread::scope(|scope| {
            for (name, play, limits, class, permanent) in table {
                scope.spawn(move || {
                    let peer = Peer::raw(play);
                    let start = clock::instant();
                    let fault = fault(&peer, limits());
                    let took = start.elapsed();
                    assert_eq!((fault.class, fault.permanent), (class, permanent), "{name}: {fault:?}");
                    assert!(took >= ms(300) && took < ms(600), "{name}: {took:?}");
                });
            }
        });
    }

    #[test]
    fn an_upload_that_nobody_reads_ends_at_the_deadline() {
        let peer = Peer::raw(|stream| {
            sleep(LONG);
            drop(stream);
        });
        let client = Client::new(&peer.url(), None, None).unwrap();
        let body = "x".repeat(32 << 20);
        let start = clock::instant();
        assert_eq!(fetch(&client, Some(body), limits(300)).unwrap_err().class, Class::Deadline);
        assert!(start.elapsed() < ms(600), "{:?}", start.elapsed());
    }

    #[test]
    fn a_reply_over_a_cap_or_in_a_form_not_asked_for_is_refused() {
        let flood = |line: &'static [u8]| {
            move |mut stream: TcpStream| {
                write(&mut stream, OK);
                while stream.write_all(line).is_ok() {}
            }
        };
        let line: &'static [u8] = &[b'x'; 4096];
        let lines: &'static [u8] = b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n";
        let table = [
            (Peer::raw(flood(line)), "a line of the reply is longer"),
            (Peer::raw(flood(lines)), "larger than request limit"),
            (Peer::saying([b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; 70_000], b"\r\n\r\n"].concat()), "header"),
            (Peer::saying(*b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"), "content encoding \"gzip\""),
            (Peer::saying(*b"no http at all\r\n\r\n"), ""),
            (Peer::saying(*b""), ""),
            (Peer::saying(*b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), ""),
        ];
        for (peer, word) in table {
            let fault = fault(&peer, limits(5000));
            assert!(fault.class == Class::Unreachable && fault.detail.contains(word), "{word}: {fault:?}");
        }
    }

    #[test]
    fn a_body_that_ends_early_is_cut_and_one_that_ends_is_whole() {
        let cut = Peer::saying(*b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none\ntwo");
        assert_eq!(fault(&cut, limits(5000)).class, Class::CutStream);
        for whole in [reply("200 OK", "text/plain", "one\r\ntwo"), [OK, b"one\ntwo\n"].concat()] {
            let peer = Peer::saying(whole);
            assert_eq!(fetch(&Client::new(&peer.url(), None, None).unwrap(), None, limits(5000)).unwrap(), ["one", "two"]);
        }
    }

    /// A shut-down socket reads like a body that ended.
    #[test]
    fn a_cancelled_call_never_looks_complete() {
        let peer = Peer::answering(|_, stream| {
            write(stream, OK);
            write(stream, b"complete\n");
            sleep(LONG);
        });
        let client = Client::new(&peer.url(), None, None).unwrap();
        let mut response = client.send("/x", &[], None, limits(9000)).unwrap();
        assert_eq!(response.next_line().unwrap().as_deref(), Some(b"complete".as_slice()));
        client.cancel();
        assert_eq!(response.next_line().unwrap_err().class, Class::Deadline);
        assert_eq!(fetch(&client, None, limits(9000)).unwrap_err().class, Class::Deadline);
    }

    #[test]
    fn a_host_is_https_or_this_machine() {
        for good in ["http://localhost:1", "http://127.9.9.9/v1/", "http://[::1]:11434", "https://api.example.com/v1"] {
            assert!(Client::new(good, None, None).is_ok(), "{good}");
        }
        for plain in ["http://example.com", "http://10.0.0.1", "http://localhost.example.com", "http://127.0.0.1.example.com"] {
            assert!(matches!(Client::new(plain, None, None), Err(ClientError::PlainHttp(_))), "{plain}");
        }
        for bad in ["", "/v1", "ftp://x", "https://user:word@x", "https://x/v1?key=1", "https://x/#", "x:y:z"] {
            assert!(matches!(Client::new(bad, None, None), Err(ClientError::Host(_))), "{bad}");
        }
        assert!(matches!(Client::new("https://x", None, Some("gopher://y")), Err(ClientError::Proxy)));
        assert!(matches!(Client::new("https://x", Some(Path::new("/nonexistent.pem")), None), Err(ClientError::CaFile { .. })));
        assert!(matches!(Client::new("https://x", Some(Path::new("/dev/null")), None), Err(ClientError::NoCertificate(_))));
    }

    /// The proxy resolves the name, so nothing leaves this machine.
    #[test]
    fn a_proxy_that_wants_a_login_is_for_a_person_to_mend() {
        let proxy = Peer::answering(|_, stream| write(stream, &reply("407 Proxy Authentication Required", "text/html", "<html>")));
        let client = Client::new("https://api.example.invalid/v1", None, Some(&proxy.url())).unwrap();
        let key = Header::secret("authorization", "Bearer ", &Secret::new("sk-marker")).unwrap();
        let fault = client.send("/x", &[key], None, limits(5000)).map(|_| ()).unwrap_err();
        assert!(fault.class == Class::Unreachable && fault.permanent, "{fault:?}");
        let requests = proxy.requests();
        assert!(requests[0].starts_with("CONNECT api.example.invalid:443 ") && !requests[0].contains("sk-marker"), "{requests:?}");
    }

    #[test]
    fn a_peer_without_tls_gets_no_request() {
        let plain = Peer::raw(|mut stream| write(&mut stream, OK));
        let client = Client::new(&plain.url().replace("http:", "https:"), None, None).unwrap();
        assert_eq!(fetch(&client, None, limits(5000)).unwrap_err().class, Class::Unreachable);
        let silent = Peer::raw(|stream| {
            sleep(LONG);
            drop(stream);
        });
        let client = Client::new(&silent.url().replace("http:", "https:"), None, None).unwrap();
        let start = clock::instant();
        assert_eq!(fetch(&client, None, limits(300)).unwrap_err().class, Class::Deadline);
        assert!(start.elapsed() < ms(600));
    }

    #[test]
    fn nobody_there_is_unreachable() {
        let gone = Peer::saying(*b"").url();
        let fault = fetch(&Client::new(&gone, None, None).unwrap(), None, limits(5000)).unwrap_err();
        assert!(fault.class == Class::Unreachable && !fault.permanent, "{fault:?}");
    }
}
