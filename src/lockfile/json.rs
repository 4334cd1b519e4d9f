//! JSON lock files as a tree.

use super::value::{Map, Odd, Value};
use crate::json::Strict;
use serde_json::Value as Json;

/// Reads one object.
pub(super) fn read(text: &str) -> Result<Map, Odd> {
    let Strict(json) = serde_json::from_str(text).map_err(|error| Odd::new(format!("it is no JSON that can be relied on: {error}")))?;
    tree(json)?.map("the file")
}

/// The depth is bounded by the JSON reader.
fn tree(json: Json) -> Result<Value, Odd> {
    Ok(match json {
        Json::String(text) => Value::Text(text),
        Json::Null | Json::Bool(_) | Json::Number(_) => Value::Text(json.to_string()),
        Json::Array(items) => Value::List(items.into_iter().map(tree).collect::<Result<_, _>>()?),
        Json::Object(entries) => {
            let mut map = Map::default();
            for (key, value) in entries {
                map.insert(key, tree(value)?)?;
            }
            Value::Map(map)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_trailing_text_and_depth_are_odd() {
        let deep = format!("{{\"a\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
        for text in ["{\"a\": 1, \"a\": 2}", "{} x", "[1]", "{\"a\": 1,}", "{\"a\": 1 // no\n}", "", &deep] {
            assert!(read(text).is_err(), "{}", super::super::value::brief(text));
        }
        assert!(read("{\"a\": [1, true, null, \"x\", 1.5]}").is_ok());
    }
}
