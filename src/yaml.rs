//! Reads YAML strictly: the only user of the YAML crate. Bytes in; a tree that knows its lines, or a typed value of a compiled-in file, out.
//!
//! Strict means: UTF-8 without a byte-order mark, at most 64 KiB, 16 levels and a handful of anchors, no merge keys, no foreign tags, one document that is
//! not empty, and `true`/`false` as the only booleans. A file that some reader could take for another one is refused, not interpreted (threat T3).
//! Leaves to others: which keys there may be, and what they mean. A tree keeps repeated keys, so that the reader can name each of them.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{DuplicateKeyPolicy, MergeKeyPolicy, Options, Spanned};
use std::fmt;

/// The greatest size of a file, in bytes.
pub const MAX_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 16;
const MAX_NODES: usize = 10_000;
const MAX_ANCHORS: usize = 8;
const MAX_ALIASES: usize = 32;
const MAX_REPLAYED: usize = 1_000;

/// A text that cannot be read. Line and column are 1-based; 0 where there is no place to name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
}

/// A value and the place where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The 1-based line.
    pub line: u64,
    /// The 1-based column, in characters.
    pub column: u64,
    /// What is there.
    pub value: Value,
}

/// A key of a mapping and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The 1-based line.
    pub line: u64,
    /// The 1-based column, in characters.
    pub column: u64,
    /// The key as text.
    pub text: String,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing after the colon, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order of the file; a repeated key is there as often as it was written.
    Map(Vec<(Key, Node)>),
}

impl Value {
    /// Names the kind for messages, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Reads one document into a tree.
///
/// # Errors
/// [`Unreadable`] for everything the module comment rules out, and for text that is not YAML.
pub fn tree(bytes: &[u8]) -> Result<Node, Unreadable> {
    let text = text(bytes)?;
    serde_yaml::from_str_with_options(text, options(DuplicateKeyPolicy::PassThrough)).map_err(|error| unreadable(&error))
}

/// Reads a compiled-in data file into its type; a repeated key is an error.
///
/// # Errors
/// [`Unreadable`] as for [`tree`], and where the text does not fit the type.
pub fn data<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    let text = self::text(text.as_bytes())?;
    serde_yaml::from_str_with_options(text, options(DuplicateKeyPolicy::Error)).map_err(|error| unreadable(&error))
}

fn options(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_yaml::options! {
        duplicate_keys: duplicate_keys,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
        budget: serde_yaml::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_anchors: MAX_ANCHORS,
            max_aliases: MAX_ALIASES,
            max_documents: 1,
            max_total_scalar_bytes: MAX_BYTES,
        },
        alias_limits: serde_yaml::alias_limits! {
            max_total_replayed_events: MAX_REPLAYED,
            max_replay_stack_depth: 4,
            max_alias_expansions_per_anchor: MAX_ALIASES,
        },
    }
}

/// Checks what can be said of the bytes before they are YAML.
fn text(bytes: &[u8]) -> Result<&str, Unreadable> {
    let refuse = |message: String| Err(Unreadable { line: 0, column: 0, message });
    if bytes.len() > MAX_BYTES {
        return refuse(format!("is {} bytes long; at most {MAX_BYTES} are read", bytes.len()));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") || bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return refuse("starts with a byte-order mark; save it as UTF-8 without one".into());
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return refuse(format!("is not UTF-8 (byte {})", error.valid_up_to() + 1)),
    };
    if text.contains('\0') {
        return refuse("holds a NUL byte; save it as UTF-8".into());
    }
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#') || line.trim_end() == "---") {
        return refuse("holds no settings; write at least one, or `{}` to say that there is none".into());
    }
    Ok(text)
}

/// The crate's words for what this module forbids, and ours; the first that fits counts.
const FORBIDDEN: [(&str, &str); 7] = [
    ("budget breached: Documents", "a second document begins; there may be one"),
    ("budget breached: Anchors", "too many anchors"),
    ("budget breached", "more nodes, levels or aliases than a settings file needs"),
    ("alias", "an alias without its anchor, or too many of them"),
    ("recursion limit", "nested too deeply"),
    ("recursive references", "an anchor holds itself"),
    ("YAML merge keys", "merge keys (`<<`) are not allowed"),
];

/// Takes the first line of the crate's error, without the place (which is kept beside it) and without advice about the crate's own options.
fn unreadable(error: &serde_yaml::Error) -> Unreadable {
    let plain = error.without_snippet();
    let (line, column) = plain.location().map_or((0, 0), |at| (at.line(), at.column()));
    let text = plain.to_string();
    let first = text.lines().next().unwrap_or_default();
    let ours = FORBIDDEN.iter().find(|(theirs, _)| first.contains(theirs)).map(|(_, ours)| *ours);
    let theirs = || first.split(" at line ").next().and_then(|first| first.split(", set ").next()).unwrap_or(first);
    Unreadable { line, column, message: format!("cannot be read: {}", ours.unwrap_or_else(theirs)) }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Node { line: referenced.line(), column: referenced.column(), value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar, a list or a mapping")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let key = Key { line: key.referenced.line(), column: key.referenced.column(), text: key.value };
            entries.push((key, map.next_value()?));
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<(Key, Node)> {
        let Value::Map(entries) = tree(text.as_bytes()).unwrap().value else { panic!("not a mapping: {text}") };
        entries
    }

    #[test]
    fn every_key_and_value_knows_its_place() {
        let map = entries("a: 1\nlist:\n  - x\n  -   y: no\n");
        assert_eq!((map[0].0.line, map[0].0.column, map[0].1.line, map[0].1.column), (1, 1, 1, 4));
        let Value::List(items) = &map[1].1.value else { panic!() };
        assert_eq!((items[0].line, items[0].column), (3, 5));
        let Value::Map(inner) = &items[1].value else { panic!() };
        assert_eq!((inner[0].0.line, inner[0].0.column, inner[0].1.column), (4, 7, 10));
        assert_eq!(inner[0].1.value, Value::Text("no".into()));
    }

    #[test]
    fn scalars_are_what_yaml_1_2_says_they_are() {
        let table = [
            ("true", Value::Bool(true)),
            ("yes", Value::Text("yes".into())),
            ("on", Value::Text("on".into())),
            ("7", Value::Int(7)),
            ("-7", Value::Int(-7)),
            ("2.5", Value::Float(2.5)),
            ("~", Value::Null),
            ("", Value::Null),
            ("2027-01-31", Value::Text("2027-01-31".into())),
            ("\"7\"", Value::Text("7".into())),
        ];
        for (text, want) in table {
            assert_eq!(entries(&format!("k: {text}"))[0].1.value, want, "{text:?}");
        }
    }

    #[test]
    fn a_repeated_key_stays_visible_in_a_tree_and_is_an_error_in_data() {
        assert_eq!(entries("a: 1\na: 2\n").len(), 2);
        let error = data::<std::collections::BTreeMap<String, u8>>("a: 1\na: 2\n").unwrap_err();
        assert_eq!((error.line, error.message.contains("duplicate mapping key: a")), (2, true), "{error:?}");
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let deep = format!("a: {}{}", "[".repeat(40), "]".repeat(40));
        let anchors: String = (0..20).map(|n| format!("k{n}: &a{n} x\n")).collect();
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n";
        let utf16: Vec<u8> = "a: 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let large = format!("a: {}", "x".repeat(MAX_BYTES));
        let table: [(&str, &[u8]); 16] = [
            ("empty", b""),
            ("white space", b" \n\n"),
            ("comments only", b"# nothing\n---\n"),
            ("byte-order mark", b"\xef\xbb\xbfa: 1\n"),
            ("UTF-16 with a mark", b"\xff\xfea\0"),
            ("UTF-16 without one", &utf16),
            ("not UTF-8", b"a: \xff\n"),
            ("too large", large.as_bytes()),
            ("deep", deep.as_bytes()),
            ("many anchors", anchors.as_bytes()),
            ("alias bomb", bomb.as_bytes()),
            ("two documents", b"a: 1\n---\nb: 2\n"),
            ("merge key", b"x: &x {a: 1}\ny:\n  <<: *x\n"),
            ("foreign tag", b"a: !include /etc/passwd\n"),
            ("tab indentation", b"a:\n\tb: 1\n"),
            ("open bracket", b"a: [1\n"),
        ];
        for (name, bytes) in table {
            assert!(tree(bytes).is_err(), "{name} was read");
        }
    }

    #[test]
    fn an_error_names_the_place_in_our_words() {
        let table: [(&str, (u64, u64), &str); 5] = [
            ("a: 1\nb: [1\n", (2, 4), "cannot be read: unclosed bracket '['"),
            ("a: 1\n---\nb: 2\n", (2, 1), "cannot be read: a second document begins; there may be one"),
            ("x: &x {a: 1}\ny:\n  <<: *x\n", (3, 3), "cannot be read: merge keys (`<<`) are not allowed"),
            ("a: &a [*a]\n", (1, 8), "cannot be read: an anchor holds itself"),
            ("a: !include x\n", (1, 13), "cannot be read: unsupported tag `!include`"),
        ];
        for (text, place, want) in table {
            let error = tree(text.as_bytes()).unwrap_err();
            assert_eq!(((error.line, error.column), error.message.as_str()), (place, want), "{text:?}");
        }
    }
}
