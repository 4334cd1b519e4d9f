//! TOML as tools write lock files: tables, keys, strings in double quotes, numbers, dates, lists, inline tables. Whatever else TOML knows is odd here, comments
//! above all: what a tool did not write was put there by somebody.

use super::value::{Map, Odd, Value, brief};
use std::iter::Peekable;
use std::str::Chars;

/// The deepest nesting of lists and inline tables.
const MAX_DEPTH: usize = 8;

/// Reads a file. `is_head` says of a comment line whether the tool writes it.
pub(super) fn read(text: &str, is_head: fn(&str) -> bool) -> Result<Map, Odd> {
    let mut root = Map::default();
    let mut table: Vec<(String, bool)> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let odd = |why: &str| Odd::line(number + 1, &format!("{why}: {}", brief(line)));
        if line.trim().is_empty() || line.starts_with('#') && is_head(line) {
            continue;
        }
        if let Some(path) = line.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
            table = keys(path).filter(|keys| !keys.is_empty()).ok_or_else(|| odd("names no table"))?.into_iter().map(|key| (key, false)).collect();
            if let Some(last) = table.last_mut() {
                last.1 = true;
            }
            open(&mut root, &table, true)?;
            continue;
        }
        if let Some(path) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let path = keys(path).filter(|keys| !keys.is_empty()).ok_or_else(|| odd("names no table"))?;
            table = path.into_iter().map(|key| (key, false)).collect();
            open(&mut root, &table, false)?;
            continue;
        }
        let (name, mut value) = line.split_once(" = ").map(|(name, value)| (name, value.to_owned())).ok_or_else(|| odd("is no key with a value"))?;
        let name = keys(name).filter(|keys| keys.len() == 1).and_then(|mut keys| keys.pop()).ok_or_else(|| odd("has a key in an odd form"))?;
        // Tools write a long list as its opening on the line of the key, an item a line, and its end alone.
        if value == "[" {
            loop {
                let (number, line) = lines.next().ok_or_else(|| odd("begins a list without an end"))?;
                let item = line.trim();
                if item != "]" && !(line.starts_with(' ') && item.ends_with(',')) {
                    return Err(Odd::line(number + 1, "is no item of the list above it"));
                }
                value.push_str(item);
                if item == "]" {
                    break;
                }
            }
        }
        let value = Reader::all(&value).map_err(|why| odd(&why))?;
        open(&mut root, &table, false)?.insert(name, value)?;
    }
    Ok(root)
}

/// Goes to the table of the current header. A table inside a list is the one that began last.
fn open<'a>(root: &'a mut Map, path: &[(String, bool)], fresh: bool) -> Result<&'a mut Map, Odd> {
    let mut at = root;
    for (index, (key, list)) in path.iter().enumerate() {
        let last = index + 1 == path.len();
        at = if *list || at.has_list(key) { at.element(key, fresh && last)? } else { at.child(key)? };
    }
    Ok(at)
}

/// Reads `a`, `"a b"`, `a.b."c"`.
fn keys(text: &str) -> Option<Vec<String>> {
    let mut reader = Reader { rest: text.chars().peekable() };
    let mut keys = Vec::new();
    loop {
        keys.push(match reader.rest.peek()? {
            '"' => reader.string().ok()?,
            _ => reader.bare(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_').ok()?,
        });
        match reader.rest.next() {
            None => return Some(keys),
            Some('.') => {}
            Some(_) => return None,
        }
    }
}

/// Reads the value behind an equals sign.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn all(text: &str) -> Result<Value, String> {
        let mut reader = Reader { rest: text.chars().peekable() };
        let value = reader.value(0)?;
        match reader.rest.next() {
            None => Ok(value),
            Some(_) => Err("has something behind its value".to_owned()),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        match self.rest.peek() {
            _ if depth > MAX_DEPTH => Err("is nested too deep".to_owned()),
            Some('"') => self.string().map(Value::Text),
            Some('[') => self.list(depth),
            Some('{') => self.table(depth),
            Some(_) => self.bare(|c| c.is_ascii_alphanumeric() || "+-.:_".contains(c)).map(Value::Text),
            None => Err("has no value".to_owned()),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut out = String::new();
        self.rest.next();
        loop {
            match self.rest.next().ok_or("has a string without an end")? {
                '"' => return Ok(out),
                '\\' => out.push(match self.rest.next() {
                    Some(c @ ('"' | '\\')) => c,
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some(_) | None => return Err("has an escape that tools do not write".to_owned()),
                }),
                c => out.push(c),
            }
        }
    }

    fn bare(&mut self, good: impl Fn(char) -> bool) -> Result<String, String> {
        let mut out = String::new();
        while let Some(c) = self.rest.next_if(|c| good(*c)) {
            out.push(c);
        }
        if out.is_empty() { Err("has an odd value".to_owned()) } else { Ok(out) }
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut list = Vec::new();
        self.rest.next();
        loop {
            self.blanks();
            if self.rest.next_if_eq(&']').is_some() {
                return Ok(Value::List(list));
            }
            list.push(self.value(depth + 1)?);
            self.blanks();
            if self.rest.next_if_eq(&',').is_none() && self.rest.peek() != Some(&']') {
                return Err("has an odd list".to_owned());
            }
        }
    }

    fn table(&mut self, depth: usize) -> Result<Value, String> {
        let mut map = Map::default();
        self.rest.next();
        loop {
            self.blanks();
            if self.rest.next_if_eq(&'}').is_some() {
                return Ok(Value::Map(map));
            }
            let key = if self.rest.peek() == Some(&'"') { self.string()? } else { self.bare(|c| c.is_ascii_alphanumeric() || "-_".contains(c))? };
            self.blanks();
            if self.rest.next() != Some('=') {
                return Err("has an odd table".to_owned());
            }
            self.blanks();
            let value = self.value(depth + 1)?;
            map.insert(key, value).map_err(|odd| odd.0)?;
            self.blanks();
            if self.rest.next_if_eq(&',').is_none() && self.rest.peek() != Some(&'}') {
                return Err("has an odd table".to_owned());
            }
        }
    }

    fn blanks(&mut self) {
        while self.rest.next_if_eq(&' ').is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_write_is_read() {
        let text = "# head\nversion = 4\n\n[[package]]\nname = \"a\\\"b\"\nlist = [\n \"x\",\n { k = \"v\", n = 1 },\n]\n\n[package.deps]\n\"p q\" = []\n\n[[package]]\nname = \"c\"\n";
        let mut root = read(text, |line| line == "# head").expect("a good file");
        let packages = root.list("package").expect("a list");
        assert_eq!(packages.len(), 2);
        let mut flat = std::collections::BTreeMap::new();
        packages.into_iter().enumerate().for_each(|(at, value)| value.flatten(&at.to_string(), &mut flat));
        let flat: Vec<(&str, &str)> = flat.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            flat,
            [("0.deps.p q", "[]"), ("0.list.0", "x"), ("0.list.1.k", "v"), ("0.list.1.n", "1"), ("0.name", "\"a\\\"b\""), ("1.name", "c")]
        );
        assert_eq!(root.text("version").expect("a text").as_deref(), Some("4"));
    }

    #[test]
    fn what_tools_do_not_write_is_odd() {
        for bad in [
            "# a comment",
            "a = 1 # a comment",
            "a = 1\na = 2",
            "[t]\na = 1\n[t]\na = 1",
            "a = '''x'''",
            "a = \"\"\"x",
            "a = \"x",
            "a = \"\\u0041\"",
            "a.b = 1",
            "just words",
            "a = [\n \"x\"",
            "a = [\n \"x\", # hidden\n]",
            "a = { b = 1 }, 2",
            "a = ",
            "[a]]",
            "[]",
            &format!("a = {}1{}", "[".repeat(50), "]".repeat(50)),
        ] {
            assert!(read(bad, |_| false).is_err(), "{bad}");
        }
    }
}
