//! JSON with exactly one meaning: an object with a repeated key is refused.
//!
//! RFC 8259 leaves the meaning of a repeated key open. If two readers differ, somebody could show
//! one thing and run another.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Maximum number of values in one text, at every depth. A value takes sixteen times the memory of
/// its shortest text, and proposals stay in memory.
pub const VALUES_MAX: usize = 128 * 1024;

/// Why a text was refused.
#[derive(Debug)]
pub enum Refused {
    /// Not JSON, or an object with a repeated key.
    Wrong(serde_json::Error),
    /// More than [`VALUES_MAX`] values.
    TooMany,
    /// An integer, as written, that would be read as a different one.
    TooLong(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(e) => e.fmt(f),
            Self::TooMany => write!(f, "more than {VALUES_MAX} values"),
            Self::TooLong(number) => write!(f, "{number} does not fit into 64 bits"),
        }
    }
}

/// Reads a value that means the same to every reader.
///
/// # Errors
/// [`Refused`]: all of them.
pub fn parse(text: &str) -> Result<Value, Refused> {
    let value = read(text)?;
    match too_long(text) {
        Some(number) => Err(Refused::TooLong(number.chars().take(64).collect())),
        None => Ok(value),
    }
}

/// The same for whom numbers do not matter: a long integer is the nearest double. Depth is bounded by serde_json's
/// recursion limit of 128.
///
/// # Errors
/// [`Refused`], but for [`Refused::TooLong`].
pub fn read(text: &str) -> Result<Value, Refused> {
    let left = Cell::new(VALUES_MAX);
    let mut source = serde_json::Deserializer::from_str(text);
    let value = Strict(&left)
        .deserialize(&mut source)
        .and_then(|value| source.end().map(|()| value));
    match value {
        Ok(value) => Ok(value),
        Err(_) if left.get() == 0 => Err(Refused::TooMany),
        Err(e) => Err(Refused::Wrong(e)),
    }
}

/// The first integer of a valid text that does not fit into 64 bits: it would be read as the
/// nearest double.
fn too_long(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '-') || c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(inside) = rest.strip_prefix('"') {
            rest = after_string(inside);
            continue;
        }
        let part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let (number, after) = rest.split_at(rest.find(|c| !part(c)).unwrap_or(rest.len()));
        let whole = !number.contains(['.', 'e', 'E']);
        if whole && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
            return Some(number);
        }
        rest = after;
    }
    None
}

/// The text after the quote that ends a string.
fn after_string(inside: &str) -> &str {
    let mut rest = inside;
    while let Some(at) = rest.find(['"', '\\']) {
        let ends = rest[at..].starts_with('"');
        rest = &rest[at + 1..];
        if ends {
            return rest;
        }
        // An escaped character does not end the string.
        rest = rest.get(1..).unwrap_or("");
    }
    ""
}

/// Holds how many more values are allowed.
#[derive(Clone, Copy)]
struct Strict<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        let left = self.0.get().checked_sub(1).filter(|left| *left > 0);
        self.0.set(left.unwrap_or(0));
        match left {
            Some(_) => source.deserialize_any(self),
            None => Err(D::Error::custom("too many values")),
        }
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number beyond what a double holds"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                let key: String = key.chars().take(64).collect();
                return Err(A::Error::custom(format_args!(
                    "the key `{}` stands twice in one object",
                    key.escape_debug()
                )));
            }
            let value = entries.next_value_seed(self)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_key_is_refused_at_any_depth() {
        for invalid in [
            r#"{"a":1,"a":1}"#,
            r#"{"x":[{"a":{"b":1,"b":2}}]}"#,
            "{\"a\":1,\"\\u0061\":2}",
        ] {
            let Err(Refused::Wrong(error)) = parse(invalid) else {
                panic!("{invalid}");
            };
            assert!(error.to_string().contains("twice"), "{invalid}: {error}");
        }
        assert!(parse(r#"[{"a":1},{"a":1}]"#).is_ok());
    }

    #[test]
    fn accepted_json_is_what_serde_json_reads() {
        for text in [
            r#"{"a":[1,-2,3.5,"x",null,true,{}],"b":18446744073709551615}"#,
            r#""\ud83d\ude00""#,
            "[]",
        ] {
            assert_eq!(
                parse(text).unwrap(),
                serde_json::from_str::<Value>(text).unwrap()
            );
        }
        for invalid in ["", "{", "[1,]", "1 2", r#""\ud800""#, "\"\u{0}\"", "nan"] {
            assert!(parse(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn a_whole_number_that_would_become_another_is_refused() {
        for (text, number) in [
            (r#"{"a":[18446744073709551616]}"#, "18446744073709551616"),
            ("-9223372036854775809", "-9223372036854775809"),
            (r#"["\\\"", 99999999999999999999]"#, "99999999999999999999"),
            (
                r#"["é", "\\", 99999999999999999999]"#,
                "99999999999999999999",
            ),
        ] {
            let Err(Refused::TooLong(found)) = parse(text) else {
                panic!("{text}");
            };
            assert_eq!(found, number);
        }
        for valid in [
            r#"["18446744073709551616", "\"18446744073709551616", "\u0039\\"]"#,
            "[18446744073709551615, -9223372036854775808, -0, 1e30, 1.8446744073709551616e19]",
            "[12345678901234567890.5]",
        ] {
            assert!(parse(valid).is_ok(), "{valid}");
        }
    }

    #[test]
    fn too_many_values_for_the_memory_are_refused() {
        let list = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
        assert!(parse(&list(VALUES_MAX - 2)).is_ok());
        assert!(matches!(parse(&list(VALUES_MAX)), Err(Refused::TooMany)));
        let nested = format!("[{}[]]", "[],".repeat(VALUES_MAX));
        assert!(matches!(parse(&nested), Err(Refused::TooMany)));
    }

    #[test]
    fn nesting_ends_in_an_error_not_in_an_overflow() {
        for open in ["[", "{\"a\":"] {
            assert!(parse(&open.repeat(100_000)).is_err());
        }
    }
}
