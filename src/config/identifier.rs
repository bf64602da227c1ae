//! Checks names under which Python code can use an input.

/// Python's keywords (`keyword.kwlist` of CPython 3.13).
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Longest name, in bytes.
const LENGTH_MAX: usize = 100;

/// Checks whether an input or a data set may have this name. The error is the reason why not.
///
/// Only ASCII, although Python accepts more: names are shown next to code, and two names that look alike must
/// be equal. Names with two leading underscores belong to the interpreter.
pub fn check_identifier(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("it is empty");
    }
    if name.len() > LENGTH_MAX {
        return Err("it is longer than 100 characters");
    }
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err("only ASCII letters, digits and `_` may occur in it");
    }
    if name.as_bytes()[0].is_ascii_digit() {
        return Err("it starts with a digit");
    }
    if name.starts_with("__") {
        return Err("names that start with `__` are Python's own");
    }
    if KEYWORDS.contains(&name) {
        return Err("it is a Python keyword");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_python_identifiers_are_accepted() {
        for valid in ["sales", "_x", "df2", "match", "X"] {
            assert_eq!(check_identifier(valid), Ok(()), "{valid}");
        }
        let long = "x".repeat(101);
        for invalid in [
            "",
            "2x",
            "a-b",
            "a b",
            "a.b",
            "class",
            "None",
            "__builtins__",
            "ſales",
            "naïve",
            "a\0",
            "a\n",
            long.as_str(),
        ] {
            assert!(check_identifier(invalid).is_err(), "{invalid}");
        }
    }
}
