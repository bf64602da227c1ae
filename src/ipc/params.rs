//! Typed reading of a params object; every refusal says what would have been accepted.

use serde_json::{Map, Value, json};

use crate::broker::RpcError;
use crate::model::nearest;

/// Names longer than this are cut before a message repeats them.
const ECHO_MAX: usize = 64;

/// Unknown fields of one object that are ignored; more of them are refused, because each is compared with the known ones.
const IGNORED_MAX: usize = 64;

/// The fields of one object. `name` is its path, for messages: `agent`, `inputs.sales`.
#[derive(Debug)]
pub(super) struct Fields {
    name: String,
    known: &'static [&'static str],
    map: Map<String, Value>,
}

impl Fields {
    /// Takes an object. Fields that are not `known` are ignored, so that an agent may be newer than the dashboard. One
    /// that is nearly a known one is refused: it is misspelt, and ignoring it would do something else than was asked.
    pub fn new(
        name: impl Into<String>,
        known: &'static [&'static str],
        map: Map<String, Value>,
    ) -> Result<Self, RpcError> {
        let fields = Self {
            name: name.into(),
            known,
            map,
        };
        let unknown: Vec<&str> = fields.unknown().collect();
        if unknown.len() > IGNORED_MAX {
            let message = format!(
                "{} unknown fields; at most {IGNORED_MAX} are ignored",
                unknown.len()
            );
            return Err(invalid(message).with_data(json!({"expected": known})));
        }
        if let Some(key) = unknown.iter().find(|key| meant(key, known).is_some()) {
            return Err(fields.refused(key));
        }
        Ok(fields)
    }

    /// Refuses every field that is not known: what says which data is meant is not guessed.
    pub fn exactly(self) -> Result<Self, RpcError> {
        if let Some(key) = self.unknown().next() {
            return Err(self.refused(key));
        }
        Ok(self)
    }

    fn unknown(&self) -> impl Iterator<Item = &str> {
        let keys = self.map.keys().map(String::as_str);
        keys.filter(|key| !self.known.contains(key))
    }

    /// Takes a value that must be an object.
    pub fn of_value(
        name: impl Into<String>,
        known: &'static [&'static str],
        value: Value,
    ) -> Result<Self, RpcError> {
        let name = name.into();
        match value {
            Value::Object(map) => Self::new(name, known, map),
            other => {
                Err(wrong_type(&name, "an object", &other).with_data(json!({"expected": known})))
            }
        }
    }

    fn refused(&self, key: &str) -> RpcError {
        let near = meant(key, self.known);
        let hint = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        let message = format!("unknown field `{}`{hint}", self.full(&echo(key)));
        let mut data = json!({"expected": self.known});
        if let (Some(near), Some(data)) = (near, data.as_object_mut()) {
            data.insert("nearest".to_owned(), near.into());
        }
        invalid(message).with_data(data)
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }

    /// The value, if the field is present and not null.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key).filter(|value| !value.is_null())
    }

    /// The value, even if it is null.
    pub fn take_any(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key)
    }

    pub fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    pub fn string(&mut self, key: &str) -> Result<Option<String>, RpcError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(&self.full(key), "a string", &other)),
        }
    }

    /// A string of at most `max` bytes.
    pub fn short(&mut self, key: &str, max: usize) -> Result<Option<String>, RpcError> {
        let text = self.string(key)?;
        match &text {
            Some(long) if long.len() > max => Err(invalid(format!(
                "`{}` has {} bytes; at most {max} are taken",
                self.full(key),
                long.len()
            ))
            .with_data(json!({"limit_bytes": max}))),
            _ => Ok(text),
        }
    }

    pub fn boolean(&mut self, key: &str) -> Result<Option<bool>, RpcError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(wrong_type(&self.full(key), "true or false", &other)),
        }
    }

    /// An integer from 0.
    pub fn whole(&mut self, key: &str) -> Result<Option<u64>, RpcError> {
        match self.take(key) {
            None => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong_type(&self.full(key), "a whole number from 0", &value)),
        }
    }

    /// An integer from 1.
    pub fn positive(&mut self, key: &str) -> Result<Option<u64>, RpcError> {
        let wanted = "a whole number from 1";
        match self.take(key) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(n) if n > 0 => Ok(Some(n)),
                _ => Err(wrong_type(&self.full(key), wanted, &value)),
            },
        }
    }

    /// A number of seconds, fractions allowed.
    pub fn seconds(&mut self, key: &str) -> Result<Option<f64>, RpcError> {
        match self.take(key) {
            None => Ok(None),
            Some(value) => match value.as_f64() {
                Some(n) if n >= 0.0 => Ok(Some(n)),
                _ => Err(wrong_type(
                    &self.full(key),
                    "a number of seconds from 0",
                    &value,
                )),
            },
        }
    }

    /// A mandatory field.
    pub fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, RpcError> {
        value.ok_or_else(|| {
            invalid(format!("`{}` is missing", self.full(key)))
                .with_data(json!({"expected": self.known}))
        })
    }
}

/// The known field that an unknown one is nearly, but not one that it has as its first or last words: `profile_version`
/// says something else than `profile`.
fn meant(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let extends = |name: &str| {
        let before = key.strip_suffix(name).is_some_and(|b| b.ends_with('_'));
        before || key.strip_prefix(name).is_some_and(|b| b.starts_with('_'))
    };
    nearest(key, known.iter().copied().filter(|name| !extends(name)))
}

pub(super) fn invalid(message: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

pub(super) fn wrong_type(name: &str, wanted: &str, got: &Value) -> RpcError {
    let got = match got {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    invalid(format!("`{name}` must be {wanted}, not {got}"))
        .with_data(json!({"param": name, "expected": wanted}))
}

/// A name from the peer, shortened and without control characters for the terminal.
pub(super) fn echo(name: &str) -> String {
    let cut: String = name.chars().take(ECHO_MAX).collect();
    let more = if cut.len() < name.len() { "…" } else { "" };
    format!("{}{more}", cut.escape_debug())
}
