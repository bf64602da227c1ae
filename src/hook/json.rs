//! JSON as text: where values stand in it, and one more without another byte changed.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Why a file is not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("it is not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("it is not TOML: {0}")]
    NotToml(String),
    #[error("`{0}` is not {1}")]
    Shape(&'static str, &'static str),
    #[error("`{0}` stands there twice")]
    Twice(String),
    #[error("the hook stands beside another one in the same entry of `{0}`; change that by hand")]
    Beside(&'static str),
}

/// Members of an object, each with its text.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

pub(super) fn member<'t>(
    object: &'t RawValue,
    what: &'static str,
    name: &str,
) -> Result<Option<&'t RawValue>, SettingsError> {
    let Members(members) =
        serde_json::from_str(object.get()).map_err(|_| SettingsError::Shape(what, "an object"))?;
    let mut found = members
        .into_iter()
        .filter(|(n, _)| n == name)
        .map(|(_, value)| value);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(SettingsError::Twice(name.to_owned())),
        (first, None) => Ok(first),
    }
}

/// Where a value stands in the text that it was read from.
pub(super) fn span(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + value.get().len()
}

/// The text with one more at the end of the list or object between these brackets, `depth` levels deep.
pub(super) fn add(text: &str, place: &Range<usize>, depth: usize, added: &str) -> String {
    let indent = "  ".repeat(depth);
    let added = added.replace('\n', &format!("\n{indent}"));
    let inside = &text[place.start + 1..place.end - 1];
    let last = place.start + 1 + inside.trim_end().len();
    let (at, new) = match inside.trim().is_empty() {
        true => (place.start + 1, format!("\n{indent}{added}\n")),
        false => (last, format!(",\n{indent}{added}")),
    };
    format!("{}{new}{}", &text[..at], &text[at..])
}
