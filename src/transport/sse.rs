//! Server-sent events: lines → events, as the WHATWG standard says, but for two things. A last event without its blank line counts, since several servers
//! end that way; whether the reply is complete is for the dialect's own end mark to say. And what a browser would pass over or mend, a field that the standard
//! does not know or bytes that are not UTF-8, is an error: it may have been a piece of the text (ruling on H05).

/// One event: its name, `message` where none was given, and its data lines joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The value of `event:`.
    pub name: String,
    /// The values of `data:`, joined by line feeds.
    pub data: String,
}

/// What is no event.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEvent {
    /// The bytes are not UTF-8.
    #[error("a server-sent event is not UTF-8")]
    Encoding,
    /// The line is no field of an event; holds all of it, since a key cut in two could no longer be taken out.
    #[error("a line is no part of a server-sent event: {0:?}")]
    Field(String),
}

/// An event in the making.
#[derive(Debug, Default)]
pub struct Events {
    name: Vec<u8>,
    data: Option<Vec<u8>>,
    begun: bool,
}

impl Events {
    /// Takes one line without its line end; returns the event that it completes.
    ///
    /// # Errors
    /// [`BadEvent`] where the line belongs to no event, or name or data is not UTF-8.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<Event>, BadEvent> {
        let line = if self.begun { line } else { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            return self.end();
        }
        match field(line) {
            (b"data", value) => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            (b"event", value) => self.name = value.to_vec(),
            // A comment has an empty name; the others carry nothing for us.
            (b"" | b"id" | b"retry", _) => {}
            _ => return Err(BadEvent::Field(String::from_utf8_lossy(line).into_owned())),
        }
        Ok(None)
    }

    /// Completes the event under way, at a blank line or at the end of the stream. An event without data is none.
    ///
    /// # Errors
    /// As [`Events::line`].
    pub fn end(&mut self) -> Result<Option<Event>, BadEvent> {
        let name = std::mem::take(&mut self.name);
        let Some(data) = self.data.take().filter(|data| !data.is_empty()) else { return Ok(None) };
        let name = if name.is_empty() { b"message".to_vec() } else { name };
        let text = |bytes| String::from_utf8(bytes).map_err(|_| BadEvent::Encoding);
        Ok(Some(Event { name: text(name)?, data: text(data)? }))
    }
}

/// Splits a line at its first colon; one space after it belongs to neither side.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = line.iter().position(|&byte| byte == b':') else { return (line, b"") };
    let value = &line[colon + 1..];
    (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&[u8]]) -> Result<Vec<(String, String)>, BadEvent> {
        let mut events = Events::default();
        let mut seen = Vec::new();
        for line in lines {
            seen.extend(events.line(line)?);
        }
        seen.extend(events.end()?);
        Ok(seen.into_iter().map(|event| (event.name, event.data)).collect())
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        type Row<'a> = (&'a [&'a [u8]], &'a [(&'a str, &'a str)]);
        let table: &[Row<'_>] = &[
            (&[b"data: x", b""], &[("message", "x")]),
            (&[b"data:x", b"", b"data:  y", b""], &[("message", "x"), ("message", " y")]),
            (&[b"event: ping", b"data: {}", b"", b"data: z", b""], &[("ping", "{}"), ("message", "z")]),
            (&[b"data: a", b"data: b", b""], &[("message", "a\nb")]),
            (&[b"data: a", b"data", b""], &[("message", "a\n")]),
            (&[b": keep-alive", b"", b"id: 7", b"retry: 10", b"data: x", b""], &[("message", "x")]),
            (&[b"event: lonely", b"", b"data: x", b""], &[("message", "x")]),
            (&[b"data:", b""], &[]),
            (&[b"\xef\xbb\xbfdata: x", b""], &[("message", "x")]),
            (&[b"data: no blank line"], &[("message", "no blank line")]),
            (&[b"", b""], &[]),
        ];
        for (lines, want) in table {
            let want: Vec<_> = want.iter().map(|(name, data)| (name.to_string(), data.to_string())).collect();
            assert_eq!(read(lines).unwrap(), want, "{lines:?}");
        }
    }

    #[test]
    fn what_is_no_event_is_an_error() {
        assert_eq!(read(&[b"data: \xff", b""]), Err(BadEvent::Encoding));
        assert_eq!(read(&[b"data: x", b"dat: y", b""]), Err(BadEvent::Field("dat: y".into())));
        let long = format!("{}sk-marker", "y".repeat(36));
        assert_eq!(read(&[long.as_bytes()]), Err(BadEvent::Field(long)));
        assert_eq!(read(&[b"Please sign in"]), Err(BadEvent::Field("Please sign in".into())));
    }
}
