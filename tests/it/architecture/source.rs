//! The sources as the rules read them: text without comments and strings, and its tokens.

use std::path::{Path, PathBuf};

/// A source file, with comments and strings blanked.
pub struct Source {
    pub path: String,
    pub code: String,
    pub lines: usize,
    /// Whether the file is compiled for tests only.
    pub test_only: bool,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            code: blank(text),
            lines: text.lines().count(),
            test_only: false,
        }
    }

    /// The top-level module: `ipc` for `ipc/socket.rs`, `paths` for `paths.rs`.
    pub fn top(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap()
    }

    /// The code without items that are compiled for tests only.
    pub fn outside_tests(&self) -> String {
        if self.test_only {
            return String::new();
        }
        let mut kept = String::new();
        let mut rest = self.code.as_str();
        while let Some((before, after)) = rest.split_once("#[cfg(test)]") {
            kept.push_str(before);
            // The item ends with its `;`, or with the brace that closes its body.
            let end = match after.find([';', '{']) {
                Some(at) if after[at..].starts_with('{') => at + 1 + matching(&after[at + 1..]),
                Some(at) => at,
                None => after.len(),
            };
            rest = after.get(end + 1..).unwrap_or("");
        }
        kept + rest
    }

    pub fn says(&self, what: &str, found: &mut Vec<String>) {
        found.push(format!("{}: {what}", self.path));
    }
}

/// Replaces comments and the contents of string and character literals with spaces.
pub fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = bytes.to_vec();
    let mut i = 0;
    let wipe = |out: &mut Vec<u8>, from: usize, to: usize| {
        for byte in &mut out[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    while i < bytes.len() {
        let rest = &bytes[i..];
        let end = if rest.starts_with(b"//") {
            i + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            i + find(rest, b"*/").map_or(rest.len(), |at| at + 2)
        } else if let Some(hashes) = raw_string(bytes, i) {
            let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
            let open = 2 + hashes;
            i + find(&rest[open..], &close).map_or(rest.len(), |at| open + at + close.len())
        } else if rest[0] == b'"' {
            i + string_end(rest)
        } else if rest.starts_with(b"'\\") {
            i + 3
                + rest[3.min(rest.len())..]
                    .iter()
                    .position(|b| *b == b'\'')
                    .unwrap_or(0)
                + 1
        } else if rest[0] == b'\'' {
            // A character literal if one character and a quote follow, else a lifetime.
            let text = std::str::from_utf8(&rest[1..]).unwrap();
            match text.chars().next() {
                Some(c) if text[c.len_utf8()..].starts_with('\'') => i + 2 + c.len_utf8(),
                _ => {
                    i += 1;
                    continue;
                }
            }
        } else {
            i += 1;
            continue;
        };
        wipe(&mut out, i, end.min(bytes.len()));
        i = end;
    }
    String::from_utf8(out).unwrap()
}

pub fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|w| w == what)
}

/// The number of `#` of a raw string that starts at `i`.
pub fn raw_string(bytes: &[u8], i: usize) -> Option<usize> {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let before = i.checked_sub(1).map(|at| &bytes[at]);
    if bytes[i] != b'r' || before.is_some_and(|b| word(b) && *b != b'b') {
        return None;
    }
    let hashes = bytes[i + 1..].iter().take_while(|b| **b == b'#').count();
    (bytes.get(i + 1 + hashes) == Some(&b'"')).then_some(hashes)
}

pub fn string_end(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The tokens of the code: identifiers, `::`, and other punctuation one by one.
pub fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let size = if word(c) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        let (token, after) = rest.split_at(size);
        if !token.trim().is_empty() {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// The position where the brace that is open at the start closes.
pub fn matching(rest: &str) -> usize {
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

pub fn sources() -> Vec<Source> {
    pub fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    let texts: Vec<(String, String)> = paths
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            (name.to_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    let test_modules: Vec<String> = texts
        .iter()
        .flat_map(|(path, text)| test_modules(path, text))
        .collect();
    texts
        .iter()
        .map(|(path, text)| {
            let mut source = Source::new(path, text);
            source.test_only = test_modules.iter().any(|m| is_within(path, m));
            source
        })
        .collect()
}

/// Modules in their own files that a source declares under `#[cfg(test)]`, as paths below `src`
/// without `.rs`. The declaration counts: a file may have any name.
pub fn test_modules(path: &str, text: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.strip_suffix(".rs").unwrap();
    let below = |folder: &str, name: &str| match folder {
        "" => name.to_owned(),
        _ => format!("{folder}/{name}"),
    };
    let children = match stem {
        "mod" | "lib" | "main" => folder.to_owned(),
        _ => below(folder, stem),
    };
    let mut found = Vec::new();
    for declared in text.split("#[cfg(test)]").skip(1) {
        let declared = declared.trim_start();
        let (given, rest) = match declared.strip_prefix("#[path = \"") {
            Some(rest) => {
                let (path, rest) = rest.split_once("\"]").unwrap();
                (Some(path), rest.trim_start())
            }
            None => (None, declared),
        };
        let rest = rest.strip_prefix("pub ").unwrap_or(rest);
        let rest = rest.strip_prefix("pub(crate) ").unwrap_or(rest);
        let rest = rest.strip_prefix("pub(super) ").unwrap_or(rest);
        let Some(rest) = rest.strip_prefix("mod ") else {
            continue;
        };
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap();
        if rest[end..].trim_start().starts_with(';') {
            found.push(match given {
                Some(path) => below(folder, path.strip_suffix(".rs").unwrap()),
                None => below(&children, &rest[..end]),
            });
        }
    }
    found
}

/// Whether a file is the module or lies in its folder.
pub fn is_within(path: &str, module: &str) -> bool {
    path.strip_prefix(module)
        .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}
