//! Cuts bytes into lines, however they were split on the way. Pure.
//!
//! Lines are bytes, not text: a chunk may end inside a character, so decoding comes after framing.

/// Bytes that have arrived and are not yet a line.
#[derive(Debug)]
pub struct Lines {
    pending: Vec<u8>,
    /// Where the bytes begin that are in no line yet.
    start: usize,
    searched: usize,
    cap: usize,
}

/// A line that is longer than allowed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of the reply is longer than {cap} bytes")]
pub struct TooLong {
    cap: usize,
}

impl Lines {
    /// Makes an empty buffer whose lines may be `cap` bytes long.
    pub fn new(cap: usize) -> Lines {
        Lines { pending: Vec::new(), start: 0, searched: 0, cap }
    }

    /// Adds bytes as they came.
    pub fn push(&mut self, bytes: &[u8]) {
        // What was taken goes once a piece, not once a line: a piece of nothing but line ends would make that quadratic.
        self.pending.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.pending.extend_from_slice(bytes);
    }

    /// Takes the next whole line, without its LF or CRLF.
    ///
    /// # Errors
    /// [`TooLong`] once a line, whole or not, is over the cap.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let end = self.pending[self.searched..].iter().position(|&byte| byte == b'\n').map(|at| self.searched + at);
        if end.unwrap_or(self.pending.len()) - self.start > self.cap {
            return Err(TooLong { cap: self.cap });
        }
        let Some(end) = end else {
            // Bytes that were searched once are not searched again: a peer that sends one byte at a time would make this quadratic.
            self.searched = self.pending.len();
            return Ok(None);
        };
        let line = self.pending[self.start..end].to_vec();
        self.start = end + 1;
        self.searched = self.start;
        Ok(Some(without_return(line)))
    }

    /// Takes what is left once no more bytes will come: a last line without a line end.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = self.pending.split_off(self.start);
        *self = Lines::new(self.cap);
        if rest.is_empty() { None } else { Some(without_return(rest)) }
    }
}

fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]], cap: usize) -> Result<Vec<String>, TooLong> {
        let mut lines = Lines::new(cap);
        let mut seen = Vec::new();
        for piece in pieces {
            lines.push(piece);
            while let Some(line) = lines.next_line()? {
                seen.push(line);
            }
        }
        seen.extend(lines.rest());
        Ok(seen.into_iter().map(|line| String::from_utf8(line).unwrap()).collect())
    }

    #[test]
    fn the_same_lines_come_out_wherever_the_bytes_are_cut() {
        let text = "a: é\r\n\r\nb\n\nlast".as_bytes();
        let whole = ["a: é", "", "b", "", "last"];
        for at in 0..=text.len() {
            assert_eq!(cut(&[&text[..at], &text[at..]], 100).unwrap(), whole, "cut at {at}");
        }
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(cut(&single, 100).unwrap(), whole);
    }

    #[test]
    fn the_time_for_many_lines_grows_with_their_bytes_alone() {
        let start = crate::clock::instant();
        let mut lines = Lines::new(5);
        lines.push(&[b'\n'; 2 << 20]);
        assert_eq!(std::iter::from_fn(|| lines.next_line().unwrap()).count(), 2 << 20);
        assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
    }

    #[test]
    fn a_line_over_the_cap_is_refused_before_its_end_is_seen() {
        assert_eq!(cut(&[b"12345\n"], 5).unwrap(), ["12345"]);
        assert_eq!(cut(&[b"123456\n"], 5), Err(TooLong { cap: 5 }));
        assert_eq!(cut(&[b"123456"], 5), Err(TooLong { cap: 5 }));
    }
}
