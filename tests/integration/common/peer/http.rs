//! Bytes and time: reads one HTTP/1.1 request, writes one answer, at the pace that the answer asks for.

use super::prompt::Request;
use super::wire;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A request before anything is read into it.
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// How a streamed reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With the dialect's success mark.
    Stop,
    /// With the dialect's word for a token limit.
    Length,
    /// With an error in the stream.
    Error,
    /// With a proper end of the body, and no end mark.
    Nothing,
    /// With a closed connection in the middle of the body.
    Cut,
}

/// What goes over the wire, and when.
pub(super) struct Answer {
    /// How long to wait before the first byte.
    delay: Duration,
    /// The time between two bytes of the body.
    pace: Option<Duration>,
    body: Body,
    headers: Vec<(String, String)>,
}

enum Body {
    Silence,
    Stream(Vec<u8>, Ending),
    Page(u16, String, Vec<u8>),
}

impl Answer {
    /// A streamed reply.
    pub(super) fn reply(bytes: Vec<u8>, ending: Ending) -> Answer {
        Answer::of(Body::Stream(bytes, ending))
    }

    /// A body of known length.
    pub(super) fn page(status: u16, content_type: &str, text: &str) -> Answer {
        Answer::of(Body::Page(status, content_type.into(), text.into()))
    }

    /// No byte.
    pub(super) fn silence() -> Answer {
        Answer::of(Body::Silence)
    }

    /// A compressed stream.
    pub(super) fn packed(bytes: &[u8]) -> Answer {
        Answer::of(Body::Page(200, "text/event-stream".into(), gzip(bytes))).with("Content-Encoding", "gzip")
    }

    /// Waits before the first byte.
    pub(super) fn after(self, delay: Duration) -> Answer {
        Answer { delay, ..self }
    }

    /// Waits between two bytes of the body.
    pub(super) fn paced(self, pace: Duration) -> Answer {
        Answer { pace: Some(pace), ..self }
    }

    /// Adds a header.
    pub(super) fn with(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.into(), value.into()));
        self
    }

    fn of(body: Body) -> Answer {
        Answer { delay: Duration::ZERO, pace: None, body, headers: Vec::new() }
    }
}

/// Reads a request whose body has a length.
pub(super) fn read(stream: &TcpStream) -> io::Result<Head> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let (method, rest) = first.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
    let (path, _) = rest.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
    let mut headers = Vec::new();
    loop {
        let line = line(&mut reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, n)| n.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Head { method: method.into(), path: path.into(), headers, body })
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match reader.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().to_owned()),
    }
}

/// Writes the answer. Ends early when the peer stops.
pub(super) fn write(stream: &mut TcpStream, request: &Request, answer: Answer, stop: &AtomicBool) -> io::Result<()> {
    rest(answer.delay, stop);
    let extra: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    match answer.body {
        Body::Silence => wait_for_hang_up(stream),
        Body::Page(status, content_type, bytes) => {
            let length = bytes.len();
            write!(
                stream,
                "HTTP/1.1 {status} Scripted\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n{extra}\r\n"
            )?;
            stream.write_all(&bytes)
        }
        Body::Stream(bytes, ending) => {
            let content_type = wire::content_type(request);
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n{extra}\r\n")?;
            let size = if answer.pace.is_some() { 1 } else { 512 };
            for chunk in bytes.chunks(size) {
                write!(stream, "{:x}\r\n", chunk.len())?;
                stream.write_all(chunk)?;
                stream.write_all(b"\r\n")?;
                rest(answer.pace.unwrap_or_default(), stop);
                if stop.load(Ordering::SeqCst) {
                    return Ok(());
                }
            }
            if ending == Ending::Cut { Ok(()) } else { stream.write_all(b"0\r\n\r\n") }
        }
    }
}

/// Sleeps, and wakes up when the peer stops.
fn rest(time: Duration, stop: &AtomicBool) {
    let start = Instant::now();
    while start.elapsed() < time && !stop.load(Ordering::SeqCst) {
        std::thread::sleep((time - start.elapsed().min(time)).min(Duration::from_millis(10)));
    }
}

/// Reads until the other side, or the end of the peer, closes the connection.
fn wait_for_hang_up(stream: &mut TcpStream) -> io::Result<()> {
    stream.set_read_timeout(None)?;
    while stream.read(&mut [0; 64])? > 0 {}
    Ok(())
}

/// Wraps bytes as gzip without compressing them (RFC 1952 around stored blocks of RFC 1951).
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).expect("a block has at most 65535 bytes");
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend(crc32(bytes).to_le_bytes());
    out.extend(u32::try_from(bytes.len()).expect("a reply is small").to_le_bytes());
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 }))
}
