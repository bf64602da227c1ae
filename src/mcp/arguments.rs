//! The arguments of a tool: read one by one; an error names the field and what would be right.

use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use crate::model::nearest;

/// Longest name that an error repeats, in characters.
const ECHO_MAX: usize = 60;

pub struct Arguments {
    given: JsonObject,
}

impl Arguments {
    /// Refuses names that the tool does not know. `null` counts as left out.
    pub fn new(known: &[&str], given: Option<JsonObject>) -> Result<Self, String> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let unknown = given.keys().find(|name| !known.contains(&name.as_str()));
        let Some(name) = unknown else {
            return Ok(Self { given });
        };
        let near = nearest(name, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!(" Did you mean `{near}`?"));
        let known = match known {
            [] => "it takes none".to_owned(),
            known => format!("it takes {}", known.join(", ")),
        };
        Err(format!(
            "`{}` is no argument of this tool; {known}.{near}",
            echo(name)
        ))
    }

    pub fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.given.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", &other)),
        }
    }

    pub fn needed(&mut self, name: &str) -> Result<String, String> {
        self.text(name)?
            .ok_or_else(|| format!("`{name}` is missing; it must be a string"))
    }

    /// A whole number in a range; `3.0` counts as one.
    pub fn whole(&mut self, name: &str, least: u64, most: u64) -> Result<Option<u64>, String> {
        let Some(value) = self.given.remove(name) else {
            return Ok(None);
        };
        let number = value.as_u64().or_else(|| {
            let number = value.as_f64()?;
            let whole = number.fract() == 0.0 && (0.0..9e15).contains(&number);
            whole.then_some(number as u64)
        });
        match number {
            Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => {
                let right = match most {
                    u64::MAX => format!("a whole number, {least} or more"),
                    most => format!("a whole number from {least} to {most}"),
                };
                Err(wrong(name, &right, &value))
            }
        }
    }

    pub fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, String> {
        match self.given.remove(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(wrong(name, "an object", &other)),
        }
    }
}

fn wrong(name: &str, right: &str, value: &Value) -> String {
    format!("`{name}` must be {right}, not {}", got(value))
}

/// A value as an error names it.
pub fn got(value: &Value) -> String {
    match value {
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        plain => plain.to_string(),
    }
}

/// A name as an error repeats it.
pub fn echo(name: &str) -> String {
    let mut short: String = name.chars().take(ECHO_MAX).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}
