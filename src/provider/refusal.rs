//! A status that is not 200: what it means, by status first and by the words of the body where the status leaves it open. The shapes of error bodies differ
//! from host to host, so one reading serves all dialects. The key is taken out, and only then the length, by [`super::scrub`].

use super::ERROR_TEXT;
use crate::reviewer::{Class, Fault};
use crate::transport::http::Response;
use serde_json::Value;
use std::time::Duration;

const KEY: [&str; 6] =
    ["api_key_invalid", "api key not valid", "invalid api key", "incorrect api key", "invalid authorization header", "authentication_error"];
const QUOTA: [&str; 3] = ["insufficient_quota", "exceeded your current quota", "credit balance is too low"];
const WINDOW: [&str; 10] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "maximum prompt length",
    "exceeds the context length",
    "available context size",
    "context window",
    "prompt is too long",
    "input is too long",
    "input token count",
];
const PATH: [&str; 2] = ["file not found", "page not found"];
const BUSY: [&str; 1] = ["maximum pending requests"];

/// A server's no.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    retry_after: Option<Duration>,
    message: String,
    words: String,
}

impl Refusal {
    /// Reads a reply as a refusal.
    pub(super) fn read(reply: Response) -> Refusal {
        let (status, retry_after) = (reply.status, reply.retry_after);
        Refusal::of(status, retry_after, &reply.error_text(ERROR_TEXT))
    }

    fn of(status: u16, retry_after: Option<Duration>, body: &str) -> Refusal {
        let message = message(body).unwrap_or_else(|| body.to_owned());
        Refusal { status, retry_after, message, words: body.to_ascii_lowercase() }
    }

    /// Tells whether the body of the error holds any of these words, given in lower case.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(word))
    }

    /// Tells whether the form of the request was refused, rather than its key, its price or its size.
    pub(super) fn is_bad_request(&self) -> bool {
        matches!(self.status, 400 | 422) && self.class() == Class::BadConfig
    }

    /// Returns the fault that it makes.
    pub(super) fn fault(&self) -> Fault {
        let detail = format!("HTTP {}: {}", self.status, if self.message.trim().is_empty() { "no explanation" } else { &self.message });
        // Whoever must log in at a proxy must do so by hand.
        Fault { retry_after: self.retry_after, permanent: self.status == 407, ..Fault::new(self.class(), detail) }
    }

    fn class(&self) -> Class {
        match self.status {
            402 => Class::Quota,
            429 | 403 if self.says(&QUOTA) => Class::Quota,
            401 | 403 => Class::Auth,
            404 if self.says(&PATH) || self.is_page() => Class::BadConfig,
            404 => Class::NotServed,
            413 => Class::TooLarge,
            429 => Class::RateLimited,
            503 if self.says(&BUSY) => Class::RateLimited,
            400 | 422 => self.class_of_bad_request(),
            407 | 408 => Class::Unreachable,
            400..=499 => Class::BadConfig,
            _ => Class::Unreachable,
        }
    }

    /// Hosts say many things with a 400. The key comes first: it is the one that someone must mend.
    fn class_of_bad_request(&self) -> Class {
        let meanings: [(&[&str], Class); 3] = [(&KEY, Class::Auth), (&QUOTA, Class::Quota), (&WINDOW, Class::TooLarge)];
        meanings.iter().find(|(words, _)| self.says(words)).map_or(Class::BadConfig, |(_, class)| *class)
    }

    fn is_page(&self) -> bool {
        self.words.trim_start().starts_with('<')
    }
}

/// Finds the sentence for people in an error body: an object, Gemini's array of one, Ollama's plain string, or a problem document.
fn message(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let body = body.get(0).unwrap_or(&body);
    let error = body.get("error").unwrap_or(body);
    let found = error.as_str().or_else(|| ["message", "detail", "title"].iter().find_map(|name| error.get(name)?.as_str()))?;
    Some(found.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_classed_by_their_words_where_they_need_to_be() {
        let table = [
            (400, "{\"error\":{\"message\":\"API key not valid. Please pass a valid API key.\"}}", Class::Auth),
            (400, "{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}", Class::TooLarge),
            (400, "{\"error\":{\"message\":\"Your credit balance is too low\"}}", Class::Quota),
            (400, "what?", Class::BadConfig),
            (422, "extra fields not permitted", Class::BadConfig),
            (403, "", Class::Auth),
            (404, "{\"error\":\"model 'x' not found\"}", Class::NotServed),
            (404, "404 page not found", Class::BadConfig),
            (404, "<html>", Class::BadConfig),
            (405, "", Class::BadConfig),
            (408, "", Class::Unreachable),
            (429, "slow down", Class::RateLimited),
            (429, "{\"error\":{\"code\":\"insufficient_quota\"}}", Class::Quota),
            (503, "{\"error\":\"server busy, please try again.  maximum pending requests exceeded\"}", Class::RateLimited),
            (204, "", Class::Unreachable),
            (529, "{\"error\":{\"type\":\"overloaded_error\"}}", Class::Unreachable),
            (599, "", Class::Unreachable),
        ];
        for (status, body, class) in table {
            assert_eq!(Refusal::of(status, None, body).class(), class, "{status} {body}");
        }
    }

    #[test]
    fn the_message_is_found_in_every_shape() {
        let table = [
            ("{\"error\":{\"message\":\"m\"}}", "HTTP 500: m"),
            ("[{\"error\":{\"message\":\"m\"}}]", "HTTP 500: m"),
            ("{\"error\":\"m\"}", "HTTP 500: m"),
            ("{\"title\":\"t\",\"detail\":\"d\"}", "HTTP 500: d"),
            ("plain", "HTTP 500: plain"),
            (" ", "HTTP 500: no explanation"),
        ];
        for (body, detail) in table {
            assert_eq!(Refusal::of(500, None, body).fault().detail, detail);
        }
    }

    #[test]
    fn a_long_message_is_left_whole_for_the_scrubbing() {
        let body = format!("{}sk-marker", "x".repeat(195));
        assert!(Refusal::of(401, None, &body).fault().detail.ends_with("sk-marker"));
    }

    #[test]
    fn an_overloaded_server_keeps_its_word_on_when_to_return() {
        let wait = Some(Duration::from_secs(9));
        let fault = Refusal::of(529, wait, "").fault();
        assert_eq!((fault.class, fault.retry_after, fault.permanent), (Class::Unreachable, wait, false));
    }
}
