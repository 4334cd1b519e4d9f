//! The YAML that pnpm and later versions of yarn write: keys at two blanks a level, each with a value on its line or a block below, lists of plain items, and
//! small maps and lists on one line. Whatever else YAML knows is odd here: comments, anchors, tags, several documents, texts over several lines.

use super::value::{Map, Odd, Value, brief};

/// The deepest nesting.
const MAX_DEPTH: usize = 8;

/// Reads a file. `is_head` says of a comment line whether the tool writes it.
pub(super) fn read(text: &str, is_head: fn(&str) -> bool) -> Result<Map, Odd> {
    let lines = text.lines().enumerate().filter(|(_, line)| !(line.is_empty() || line.starts_with('#') && is_head(line)));
    let mut reader = Blocks { lines: lines.map(|(number, line)| (number + 1, line)).collect(), at: 0 };
    let map = reader.map(0)?;
    match reader.lines.get(reader.at) {
        None => Ok(map),
        Some((number, line)) => Err(Odd::line(*number, &format!("is indented in an odd way: {}", brief(line)))),
    }
}

struct Blocks<'a> {
    lines: Vec<(usize, &'a str)>,
    at: usize,
}

impl<'a> Blocks<'a> {
    /// The line that comes next where it stands at this level: its number and its text.
    fn next(&self, level: usize) -> Option<(usize, &'a str)> {
        let (number, line) = *self.lines.get(self.at)?;
        let text = line.trim_start_matches(' ');
        (line.len() - text.len() == 2 * level).then_some((number, text))
    }

    fn map(&mut self, level: usize) -> Result<Map, Odd> {
        let mut map = Map::default();
        while let Some((number, text)) = self.next(level) {
            let odd = |why: &str| Odd::line(number, &format!("{why}: {}", brief(text)));
            self.at += 1;
            let (key, rest) = key(text).ok_or_else(|| odd("is no key"))?;
            let value = match rest {
                "" if level >= MAX_DEPTH => return Err(odd("is nested too deep")),
                "" => self.block(level).map_err(|why| if why.0.is_empty() { odd("has no value") } else { why })?,
                rest => scalar(rest).ok_or_else(|| odd("has a value in an odd form"))?,
            };
            map.insert(key, value)?;
        }
        Ok(map)
    }

    /// What stands below a key: a list at its own level or one deeper, or a map one deeper.
    fn block(&mut self, level: usize) -> Result<Value, Odd> {
        for level in [level, level + 1] {
            if self.next(level).is_some_and(|(_, text)| text.starts_with("- ")) {
                return self.items(level).map(Value::List);
            }
        }
        match self.next(level + 1) {
            Some(_) => self.map(level + 1).map(Value::Map),
            None => Err(Odd::new("")),
        }
    }

    fn items(&mut self, level: usize) -> Result<Vec<Value>, Odd> {
        let mut items = Vec::new();
        while let Some((number, item)) = self.next(level).and_then(|(number, text)| Some((number, text.strip_prefix("- ")?))) {
            self.at += 1;
            items.push(scalar(item).ok_or_else(|| Odd::line(number, "is an item in an odd form"))?);
        }
        Ok(items)
    }
}

/// Splits `key: value` and `key:`; a key in quotes may hold anything but its quote.
fn key(text: &str) -> Option<(String, &str)> {
    let (key, rest) = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            let (key, rest) = text[1..].split_once(quote)?;
            (!key.contains('\\')).then_some((key, rest.strip_prefix(':')?))?
        }
        _ => match text.split_once(": ") {
            Some((key, _)) => (key, &text[key.len() + 1..]),
            None => (text.strip_suffix(':')?, ""),
        },
    };
    let plain = text.starts_with(['"', '\'']) || is_plain(key);
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ').filter(|rest| !rest.is_empty())? };
    plain.then(|| (key.to_owned(), rest))
}

/// Reads a value on one line.
fn scalar(text: &str) -> Option<Value> {
    if let Some(inner) = text.strip_prefix('{') {
        let mut map = Map::default();
        for item in flow(inner.strip_suffix('}')?)? {
            let (key, value) = key(item.trim())?;
            map.insert(key, scalar(value)?).ok()?;
        }
        return Some(Value::Map(map));
    }
    if let Some(inner) = text.strip_prefix('[') {
        return flow(inner.strip_suffix(']')?)?.into_iter().map(|item| scalar(item.trim())).collect::<Option<_>>().map(Value::List);
    }
    let text = match text.chars().next()? {
        '"' => Some(text.strip_prefix('"')?.strip_suffix('"')?).filter(|inner| !inner.contains(['"', '\\']))?.to_owned(),
        // Two quotes stand for one.
        '\'' => {
            let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
            if inner.replace("''", "").contains('\'') {
                return None;
            }
            inner.replace("''", "'")
        }
        _ => Some(text).filter(|text| is_plain(text))?.to_owned(),
    };
    Some(Value::Text(text))
}

/// Splits at commas outside of quotes; a list or map inside another is odd. A quote opens where an item or value begins and nowhere else: inside of a word it is
/// part of the word, and what it seems to hide is not hidden.
fn flow(inner: &str) -> Option<Vec<&str>> {
    if inner.trim().is_empty() {
        return Some(Vec::new());
    }
    let (mut items, mut start, mut quote) = (Vec::new(), 0, None);
    let mut chars = inner.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, '"' | '\'') => {
                let before = &inner[start..at];
                if !before.trim_matches(' ').is_empty() && !before.ends_with(": ") {
                    return None;
                }
                quote = Some(c);
            }
            // Two quotes stand for one.
            (Some('\''), '\'') if chars.next_if(|(_, next)| *next == '\'').is_some() => {}
            (Some(open), c) if c == open => quote = None,
            (None, ',') => {
                items.push(&inner[start..at]);
                start = at + 1;
            }
            (None, '[' | ']' | '{' | '}') => return None,
            (None | Some(_), _) => {}
        }
    }
    items.push(&inner[start..]);
    quote.is_none().then_some(items)
}

/// Tells whether a text without quotes is itself and nothing else: no comment, no indicator of YAML at its start, no second key.
fn is_plain(text: &str) -> bool {
    let starts_odd = text.starts_with(['#', '&', '*', '!', '|', '>', '%', '`', '"', '\'', '[', ']', '{', '}', ',', ' ', '?']);
    !text.is_empty()
        && !starts_odd
        && !text.starts_with("- ")
        && !text.starts_with("---")
        && !text.contains(" #")
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.contains(char::is_control)
        && text.trim_end() == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_write_is_read() {
        let text = "# head\nlockfileVersion: '9.0'\n\npackages:\n\n  '@a/b@1.0.0':\n    resolution: {integrity: sha512-x==, tarball: https://h/x.tgz}\n    engines: {node: '>=6', npm: \"1, 2\", it: 'it''s, so'}\n    cpu: [x64, arm64]\n    list:\n    - a\n    - b\n  c@2:\n    deep:\n      - d\n";
        let root = read(text, |line| line == "# head").expect("a good file");
        let mut flat = std::collections::BTreeMap::new();
        Value::Map(root).flatten("", &mut flat);
        let flat: Vec<(&str, &str)> = flat.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            flat,
            [
                (".lockfileVersion", "9.0"),
                (".packages.@a/b@1.0.0.cpu", "[x64, arm64]"),
                (".packages.@a/b@1.0.0.engines.it", "\"it's, so\""),
                (".packages.@a/b@1.0.0.engines.node", ">=6"),
                (".packages.@a/b@1.0.0.engines.npm", "\"1, 2\""),
                (".packages.@a/b@1.0.0.list", "[a, b]"),
                (".packages.@a/b@1.0.0.resolution.integrity", "sha512-x=="),
                (".packages.@a/b@1.0.0.resolution.tarball", "https://h/x.tgz"),
                (".packages.c@2.deep", "[d]"),
            ]
        );
    }

    #[test]
    fn what_tools_do_not_write_is_odd() {
        for bad in [
            "# a comment",
            "a: 1 # a comment",
            "a: &x 1",
            "a: *x",
            "a: !!str x",
            "a: |\n  x",
            "a: >-\n  x",
            "--- \na: 1",
            "a: 1\n---\nb: 1",
            "a: 1\na: 2",
            "a: {b: 1, b: 2}",
            "a: {b: {c: 1}}",
            "a: {b: x', \"c\":d, e f'}",
            "a: {b: x', \"c\": d, e: f'}",
            "a: {b: x\", c: d, e: f\"}",
            "a: {b 'c, d: e', f: g}",
            "a: {b:'c, d: e'}",
            "a: {'b': 'c' 'd, e: f'}",
            "a: [b', c', d]",
            "a: [b: ]",
            "a: [b:]",
            "a: b\t# c",
            "a: [x",
            "a:\n   b: 1",
            "a:\n\tb: 1",
            "a:",
            "a: \"x\\ny\"",
            "a: 'x'y'",
            "a: b: c",
            "? a\n: b",
            "- a",
            "words",
            "  a: 1",
        ] {
            assert!(read(bad, |_| false).is_err(), "{bad}");
        }
        let deep: String = (0..40).map(|level| format!("{}k:\n", "  ".repeat(level))).collect();
        assert!(read(&deep, |_| false).is_err());
    }
}
