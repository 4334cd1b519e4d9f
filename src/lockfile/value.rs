//! What a lock file says, as a tree in which every part must be taken: what is left over was not understood, and then there is no summary.

use crate::change::slice::is_hidden;
use std::collections::BTreeMap;
use std::fmt;

/// The longest atom that may go unshown, in bytes.
const MAX_TAME: usize = 300;
/// The longest prose that may go unshown, in bytes.
const MAX_PROSE: usize = 2_000;

/// Why a file is not read as a lock file, as a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odd(pub(super) String);

impl Odd {
    /// Makes one.
    pub(super) fn new(why: impl Into<String>) -> Odd {
        Odd(why.into())
    }

    /// Names a line (1-based).
    pub(super) fn line(number: usize, why: &str) -> Odd {
        Odd(format!("line {number} {why}"))
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Text, in quotes or not; a number, `true`, `false` or `null` as it is written.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Keys, each once.
    Map(Map),
}

/// Keys and their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Map(BTreeMap<String, Value>);

impl Map {
    /// Adds a key; a second one of the same name is odd, because readers differ about which holds.
    pub(super) fn insert(&mut self, key: String, value: Value) -> Result<(), Odd> {
        match self.0.insert(key.clone(), value) {
            None => Ok(()),
            Some(_) => Err(Odd::new(format!("the key {key:?} stands twice"))),
        }
    }

    /// Returns the map under a key, a new one where there is none.
    pub(super) fn child(&mut self, key: &str) -> Result<&mut Map, Odd> {
        match self.0.entry(key.to_owned()).or_insert_with(|| Value::Map(Map::default())) {
            Value::Map(map) => Ok(map),
            Value::Text(_) | Value::List(_) => Err(Odd::new(format!("the key {key:?} stands twice"))),
        }
    }

    /// Returns the map at the end of the list under a key; a new one for each call with `fresh`.
    pub(super) fn element(&mut self, key: &str, fresh: bool) -> Result<&mut Map, Odd> {
        let twice = || Odd::new(format!("the key {key:?} stands twice"));
        let Value::List(list) = self.0.entry(key.to_owned()).or_insert_with(|| Value::List(Vec::new())) else { return Err(twice()) };
        if fresh {
            list.push(Value::Map(Map::default()));
        }
        match list.last_mut() {
            Some(Value::Map(map)) => Ok(map),
            Some(Value::Text(_) | Value::List(_)) | None => Err(twice()),
        }
    }

    /// Tells whether the key under which a list of tables grows is there.
    pub(super) fn has_list(&self, key: &str) -> bool {
        matches!(self.0.get(key), Some(Value::List(_)))
    }

    /// Takes a value out.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    /// Takes a text out.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, Odd> {
        self.take(key).map(|value| value.text(key)).transpose()
    }

    /// Takes a text out that must be there.
    pub(super) fn needed(&mut self, key: &str) -> Result<String, Odd> {
        self.text(key)?.ok_or_else(|| Odd::new(format!("an entry has no `{key}`")))
    }

    /// Takes a map out; an empty one where there is none.
    pub(super) fn map(&mut self, key: &str) -> Result<Map, Odd> {
        self.take(key).map_or_else(|| Ok(Map::default()), |value| value.map(key))
    }

    /// Takes a list out; an empty one where there is none.
    pub(super) fn list(&mut self, key: &str) -> Result<Vec<Value>, Odd> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::List(list)) => Ok(list),
            Some(Value::Text(_) | Value::Map(_)) => Err(Odd::new(format!("`{key}` is no list"))),
        }
    }

    /// Ends the reading: nothing may be left.
    pub(super) fn done(self, of: &str) -> Result<(), Odd> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(key) => Err(Odd::new(format!("{of} has the key {:?}, which is not known", brief(&key)))),
        }
    }

    /// Iterates over what is left.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (String, Value)> {
        self.0.into_iter()
    }
}

impl Value {
    /// Returns the text.
    pub(super) fn text(self, of: &str) -> Result<String, Odd> {
        match self {
            Value::Text(text) => Ok(text),
            Value::List(_) | Value::Map(_) => Err(Odd::new(format!("`{of}` is no text"))),
        }
    }

    /// Returns the map.
    pub(super) fn map(self, of: &str) -> Result<Map, Odd> {
        match self {
            Value::Map(map) => Ok(map),
            Value::Text(_) | Value::List(_) => Err(Odd::new(format!("`{of}` has no keys"))),
        }
    }

    /// Writes every atom with the keys that lead to it.
    pub(super) fn flatten(self, key: &str, into: &mut BTreeMap<String, String>) {
        match self {
            Value::Text(text) => put(into, key, atom(text)),
            Value::List(list) if list.iter().all(|value| matches!(value, Value::Text(_))) => {
                let texts: Vec<String> = list.into_iter().filter_map(|value| value.text(key).ok()).map(atom).collect();
                put(into, key, format!("[{}]", texts.join(", ")));
            }
            Value::List(list) => list.into_iter().enumerate().for_each(|(at, value)| value.flatten(&format!("{key}.{at}"), into)),
            Value::Map(map) if map.0.is_empty() => put(into, key, "{}".to_owned()),
            Value::Map(map) => map.into_entries().for_each(|(name, value)| value.flatten(&format!("{key}.{name}"), into)),
        }
    }

    /// Tells whether every atom and key is plain enough to go unshown.
    pub(super) fn is_tame(&self) -> bool {
        self.all(&|text| text.len() <= MAX_TAME && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
    }

    /// Tells whether it is at least text that hides nothing, for descriptions and the like.
    pub(super) fn is_prose(&self) -> bool {
        self.all(&|text| text.len() <= MAX_PROSE && !text.chars().any(is_hidden))
    }

    fn all(&self, good: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Value::Text(text) => good(text),
            Value::List(list) => list.iter().all(|value| value.all(good)),
            Value::Map(map) => map.0.iter().all(|(key, value)| good(key) && value.all(good)),
        }
    }
}

/// Refuses what is too much to go unshown.
pub(super) fn tame(of: &str, value: &Value) -> Result<(), Odd> {
    let plain = value.is_tame() && Value::Text(of.to_owned()).is_tame();
    if plain { Ok(()) } else { Err(Odd::new(format!("{:?} holds what no tool would write there", brief(of)))) }
}

/// Adds a fact. Two different places may be written alike (`a.b` below `c`, `b` below `c.a`); neither may hide the other.
pub(super) fn put(into: &mut BTreeMap<String, String>, key: &str, value: String) {
    let mut key = key.to_owned();
    while into.contains_key(&key) {
        key.push('\'');
    }
    into.insert(key, value);
}

/// Writes a text so that no list or map is written alike.
fn atom(text: String) -> String {
    if text.contains([',', '"']) || text.starts_with(['[', '{']) { format!("{text:?}") } else { text }
}

/// The beginning of a text, for a message.
pub(super) fn brief(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_trees_are_written_alike() {
        let text = |text: &str| Value::Text(text.to_owned());
        let map = |entries: Vec<(&str, Value)>| {
            let mut map = Map::default();
            entries.into_iter().for_each(|(key, value)| map.insert(key.to_owned(), value).expect("each key once"));
            Value::Map(map)
        };
        let trees = [
            text("[a]"),
            Value::List(vec![text("a")]),
            Value::List(vec![text("a, b")]),
            Value::List(vec![text("a"), text("b")]),
            Value::List(vec![text("\"a"), text("b\"")]),
            text("{}"),
            map(vec![]),
            map(vec![("a.b", text("1"))]),
            map(vec![("a.b", text("1")), ("a", map(vec![("b", text("2"))]))]),
        ];
        let flat = |value: &Value| {
            let mut into = BTreeMap::new();
            value.clone().flatten("k", &mut into);
            into
        };
        for (at, one) in trees.iter().enumerate() {
            assert!(trees[..at].iter().all(|other| flat(one) != flat(other)), "{one:?}");
        }
        assert_eq!(flat(&trees[8]).into_values().collect::<Vec<_>>(), ["2", "1"], "nothing is lost");
    }
}
