//! The entry by which an agent starts an MCP server, in the text of its settings. Only the entry is added; every other byte
//! stays.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::json::{SettingsError, add, member, span};

/// The entry's name.
pub const NAME: &str = "countersign";

/// What becomes of the text.
#[derive(Debug, PartialEq, Eq)]
pub enum Entered {
    /// It has an entry of this name, which stays.
    There(String),
    /// The text with the entry.
    Added(String),
}

/// Adds the entry below these keys of a JSON file.
pub fn in_json(
    text: &str,
    below: &[&'static str],
    entry: &Value,
) -> Result<Entered, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Entered::Added(format!("{:#}\n", nested(below, entry))));
    }
    let mut holder: &RawValue = serde_json::from_str(text).map_err(SettingsError::NotJson)?;
    let mut what = "the file";
    for (depth, key) in (1..).zip(below) {
        match member(holder, what, key)? {
            Some(next) => (holder, what) = (next, key),
            None => {
                let added = format!("\"{key}\": {:#}", nested(&below[depth..], entry));
                let added = add(text, &span(text, holder), depth, &added);
                return Ok(Entered::Added(added));
            }
        }
    }
    if let Some(there) = member(holder, what, NAME)? {
        return Ok(Entered::There(there.get().to_owned()));
    }
    let added = format!("\"{NAME}\": {entry:#}");
    let added = add(text, &span(text, holder), below.len() + 1, &added);
    Ok(Entered::Added(added))
}

fn nested(below: &[&str], entry: &Value) -> Value {
    let inner = json!({ NAME: entry });
    below
        .iter()
        .rev()
        .fold(inner, |held, key| json!({ *key: held }))
}

/// Adds the entry below a table of a TOML file, at its end.
pub fn in_toml(
    text: &str,
    below: &'static str,
    entry: &toml::Table,
) -> Result<Entered, SettingsError> {
    let read = |text: &str| text.parse::<toml::Table>();
    let mut all = read(text).map_err(|e| SettingsError::NotToml(e.message().to_owned()))?;
    let table = all
        .entry(below)
        .or_insert_with(|| toml::Table::new().into())
        .as_table_mut()
        .ok_or(SettingsError::Shape(below, "a table"))?;
    if let Some(there) = table.get(NAME) {
        return Ok(Entered::There(there.to_string()));
    }
    table.insert(NAME.to_owned(), entry.clone().into());
    let gap = match text {
        "" => "",
        _ if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let added = format!("{text}{gap}[{below}.{NAME}]\n{entry}");
    // A table in braces cannot be continued below.
    match read(&added) {
        Ok(now) if now == all => Ok(Entered::Added(added)),
        _ => Err(SettingsError::Shape(below, "a table that can be added to")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const BELOW: [&str; 2] = ["mcp", "servers"];

    #[test]
    fn the_entry_is_added_and_every_other_byte_stays() {
        let entry = json!({"command": "/a b/\"c\"", "args": ["mcp"]});
        for text in [
            "",
            " \n",
            "{}",
            "{ }\n",
            "{\"b\": 1, \"a\":  [1.0, \"é\\u0041\"]}",
            "{\n\t\"mcp\": {}\n}\n\n",
            "{\"mcp\": {\"servers\": { }}, \"z\": {\"countersign\": 1}}",
            "{\"mcp\": {\"x\": 1, \"servers\": {\"other\": {\"command\": \"}\"}\n}}}\r\n",
        ] {
            let Entered::Added(now) = in_json(text, &BELOW, &entry).unwrap() else {
                panic!("{text}");
            };
            let mut all: Value = serde_json::from_str(&now).unwrap();
            let servers = all["mcp"]["servers"].as_object_mut().unwrap();
            assert_eq!(servers.remove(NAME), Some(entry.clone()), "{now}");
            // All that was there is there, in its order.
            let mut rest = now.chars();
            let mut was = text.trim().chars();
            assert!(was.all(|c| rest.any(|have| have == c)), "{now}");
            assert!(matches!(
                in_json(&now, &BELOW, &json!(1)),
                Ok(Entered::There(_))
            ));
        }
        for (text, says) in [
            ("{\n  // a remark\n}", "line 2"),
            ("[]", "`the file` is not an object"),
            ("{\"mcp\": []}", "`mcp` is not an object"),
            ("{\"mcp\": {\"servers\": 1}}", "`servers` is not an object"),
            ("{\"mcp\": {}, \"mcp\": {}}", "`mcp` stands there twice"),
        ] {
            let error = in_json(text, &BELOW, &entry).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_table_is_added_where_the_file_can_have_one() {
        let entry: toml::Table = "command = \"c\"\nargs = [\"mcp\"]\n".parse().unwrap();
        for text in ["", "a = 1", "# x\n[mcp_servers.other]\ncommand = \"d\"\n"] {
            let Entered::Added(now) = in_toml(text, "mcp_servers", &entry).unwrap() else {
                panic!("{text}");
            };
            assert!(now.starts_with(text), "{now}");
            let mut all: toml::Table = now.parse().unwrap();
            let servers = all["mcp_servers"].as_table_mut().unwrap();
            assert_eq!(servers.remove(NAME), Some(entry.clone().into()));
            if servers.is_empty() {
                all.remove("mcp_servers");
            }
            assert_eq!(all, text.parse().unwrap());
            let again = in_toml(&now, "mcp_servers", &toml::Table::new());
            assert!(matches!(again, Ok(Entered::There(_))));
        }
        for (text, says) in [
            ("a = ", "it is not TOML"),
            ("mcp_servers = 1", "`mcp_servers` is not a table"),
            ("mcp_servers = {a = {}}", "a table that can be added to"),
        ] {
            let error = in_toml(text, "mcp_servers", &entry)
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
