//! Reads JSON strictly: no key twice. Whoever reads leaves the rest to the JSON crate.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// A JSON value in which no object has a key twice. `serde_json` itself keeps the last one in silence.
pub struct Strict(pub Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        struct StrictVisitor;
        impl<'de> Visitor<'de> for StrictVisitor {
            type Value = Strict;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Strict, E> {
                Ok(Strict(Value::Null))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
                let mut list = Vec::new();
                while let Some(Strict(item)) = items.next_element()? {
                    list.push(item);
                }
                Ok(Strict(Value::Array(list)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
                let mut object = Map::new();
                while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
                    if object.contains_key(&key) {
                        return Err(de::Error::custom(format!("the key {key:?} stands twice")));
                    }
                    object.insert(key, value);
                }
                Ok(Strict(Value::Object(object)))
            }
        }
        deserializer.deserialize_any(StrictVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_an_error_at_any_depth() {
        let read = |text: &str| serde_json::from_str::<Strict>(text).map(|Strict(value)| value);
        assert_eq!(read("{\"a\": [1, true, null, \"x\", 1.5, {}]}").expect("JSON"), serde_json::json!({"a": [1, true, null, "x", 1.5, {}]}));
        for twice in ["{\"a\": 1, \"a\": 1}", "[{\"b\": {\"a\": 1, \"a\": 2}}]"] {
            assert!(read(twice).is_err_and(|error| error.to_string().contains("\"a\" stands twice")), "{twice}");
        }
    }
}
