//! Errors in a policy file, for the person who wrote it.

use std::fmt;
use std::path::PathBuf;

/// Why a policy cannot be used: the file, the place in it, the mistake, and a suggestion.
#[derive(Clone, Debug)]
pub struct PolicyError {
    pub file: PathBuf,
    /// Line number, counted from 1.
    pub line: Option<u32>,
    /// The key, as `table.key`.
    pub key: Option<String>,
    pub message: String,
    /// The nearest valid name.
    pub nearest: Option<String>,
}

impl PolicyError {
    pub(super) fn new(file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            key: None,
            message: message.into(),
            nearest: None,
        }
    }

    pub(super) fn at(mut self, text: &str, key: &str) -> Self {
        self.line = line_of(text, key);
        self.key = Some(key.to_owned());
        self
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if let Some(key) = &self.key {
            write!(f, "`{key}`: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyError {}

/// The line of `table.key`: the first line of the table that begins with the key. If there is none, the line of
/// `[table]`.
fn line_of(text: &str, key: &str) -> Option<u32> {
    let (table, name) = key.split_once('.').unwrap_or(("", key));
    let mut current = String::new();
    let mut header = None;
    for (i, line) in text.lines().enumerate() {
        let number = u32::try_from(i + 1).ok();
        let line = line.trim();
        if let Some(rest) = line.strip_prefix('[')
            && let Some((inside, _)) = rest.split_once(']')
        {
            current = inside.trim().to_owned();
            if current == table || current == key {
                header = header.or(number);
            }
            continue;
        }
        let Some((left, _)) = line.split_once('=') else {
            continue;
        };
        let left = left.trim().trim_matches(['"', '\'']);
        // The key `widen.imports.lifelines` can be in the table `widen.imports`.
        let path = if current.is_empty() {
            left.to_owned()
        } else {
            format!("{current}.{left}")
        };
        if path == key || (current == table && left == name) {
            return number;
        }
    }
    header
}

/// The key that a line, counted from 1, sets or continues, as `table.key`.
pub(super) fn key_of(text: &str, line: u32) -> Option<String> {
    let line = usize::try_from(line).ok()?;
    let mut table = String::new();
    let mut key = None;
    for line in text.lines().take(line).map(str::trim) {
        if let Some(rest) = line.strip_prefix('[')
            && let Some((inside, "")) = rest.split_once(']')
        {
            inside.trim().clone_into(&mut table);
            key = None;
        } else if let Some((left, _)) = line.split_once('=')
            && !line.starts_with(['#', '"', '\'', ','])
        {
            key = Some(left.trim().to_owned());
        } else if let Some((left, _)) = line.split_once("\" =") {
            key = Some(left.trim_start_matches('"').to_owned());
        }
    }
    let key = key?;
    Some(if table.is_empty() {
        key
    } else {
        format!("{table}.{key}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_where_a_person_would_look() {
        let text = "name = \"x\"\n[limits]\n# c\nwall_s = 1\n[widen.imports]\n\"a.b\" = [\"*\"]\n";
        assert_eq!(line_of(text, "name"), Some(1));
        assert_eq!(line_of(text, "limits.wall_s"), Some(4));
        assert_eq!(line_of(text, "limits.cpu_s"), Some(2));
        assert_eq!(line_of(text, "widen.imports.a.b"), Some(6));
        assert_eq!(line_of(text, "nodes.allow"), None);
        assert_eq!(key_of(text, 1).as_deref(), Some("name"));
        assert_eq!(key_of(text, 2), None);
        assert_eq!(key_of(text, 4).as_deref(), Some("limits.wall_s"));
        assert_eq!(key_of(text, 6).as_deref(), Some("widen.imports.a.b"));
        let list = "[builtins]\nallow = [\n  \"abs\",\n  7,\n]\n";
        assert_eq!(key_of(list, 4).as_deref(), Some("builtins.allow"));
    }
}
