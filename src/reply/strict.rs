//! JSON as the reply contract wants it: no key twice, and objects picked out of prose without being fooled by broken ones.

use crate::json::Strict;
use serde_json::{Map, Value};

/// Bytes that failed attempts to read an object may cost together, so that a hostile reply cannot cost quadratic time.
const MAX_WASTE: usize = 16 << 20;

/// Collects the JSON objects that stand at the top level of the text. Braces in prose that begin no JSON are passed over. An object that is cut off, has a key
/// twice, or is broken and names the nonce makes the whole reply unreadable: it may have been the answer, and what stands inside or behind it must not be taken
/// for it.
pub(super) fn objects(text: &str, nonce: &str) -> Result<Vec<Map<String, Value>>, String> {
    let (mut found, mut at, mut waste) = (Vec::new(), 0, 0);
    let mut broken: Option<usize> = None;
    while let Some(open) = text[at..].find('{') {
        let start = at + open;
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Strict>();
        match stream.next() {
            Some(Ok(Strict(Value::Object(object)))) => {
                check(text, broken.take(), start, nonce)?;
                found.push(object);
                at = start + stream.byte_offset();
            }
            Some(Err(error)) if error.is_eof() => return Err("the reply ends inside a JSON object".to_owned()),
            Some(Err(error)) if error.is_data() => return Err(format!("the reply is not the agreed JSON: {error}")),
            Some(Err(error)) => {
                broken.get_or_insert(start);
                waste += place(&text[start..], &error).max(1);
                at = start + 1;
            }
            Some(Ok(_)) | None => at = start + 1,
        }
        if waste > MAX_WASTE {
            return Err("the reply has too many braces that begin no JSON".to_owned());
        }
    }
    check(text, broken, text.len(), nonce)?;
    Ok(found)
}

/// Refuses where a run of text that began like an object and was none names the nonce.
fn check(text: &str, broken: Option<usize>, end: usize, nonce: &str) -> Result<(), String> {
    match broken {
        Some(start) if text[start..end].contains(nonce) => Err("an object with the nonce is not JSON".to_owned()),
        Some(_) | None => Ok(()),
    }
}

/// Returns the byte at which reading failed.
fn place(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    (before + error.column()).min(text.len())
}
