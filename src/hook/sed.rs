//! sed's own language: only its `e` starts programs, as a command or as a flag of `s`.

use super::shell::Scan;
use super::words::HIDDEN;

impl Scan<'_, '_> {
    /// Reads a script; where it is not understood, it is unclear.
    pub(super) fn sed(&mut self, text: &str) {
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n', ';', '}', '{']);
            if rest.is_empty() {
                return;
            }
            // An address that only the shell knows may be anything but a command with its own text.
            let Some(at) = address(rest) else {
                return self.unclear("a script of sed is not read");
            };
            rest = at.trim_start_matches([' ', '\t', '!']);
            let Some(name) = rest.chars().next() else {
                return;
            };
            let behind = &rest[name.len_utf8()..];
            rest = match name {
                'e' => {
                    let (line, _) = behind.split_once('\n').unwrap_or((behind, ""));
                    self.text_of_commands(line);
                    return self.unclear("what sed starts is not read");
                }
                's' | 'y' => {
                    let Some(delimiter) = behind.chars().next() else {
                        return self.unclear("a script of sed is not read");
                    };
                    let Some((_, flags)) = parts(&behind[delimiter.len_utf8()..], delimiter, 2)
                    else {
                        return self.unclear("a script of sed is not read");
                    };
                    let end = flags
                        .find(|c: char| !c.is_ascii_alphanumeric())
                        .unwrap_or(flags.len());
                    let set = &flags[..end];
                    if name == 's' && set.split('w').next().unwrap_or("").contains('e') {
                        return self.unclear("what sed starts is not read");
                    }
                    if flags[end..].starts_with(HIDDEN) {
                        return self.unclear("flags of sed are not written out");
                    }
                    if set.contains('w') {
                        line(flags)
                    } else {
                        &flags[end..]
                    }
                }
                // Text up to the end of the line, and on behind a backslash.
                'a' | 'i' | 'c' => lines(behind),
                'r' | 'R' | 'w' | 'W' => line(behind),
                ':' | 'b' | 't' | 'T' | 'l' | 'L' | 'q' | 'Q' => {
                    let end = behind.find(['\n', ';', '}']).unwrap_or(behind.len());
                    &behind[end..]
                }
                '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
                | 'z' => behind,
                '{' | '}' => behind,
                '#' => line(behind),
                'v' => line(behind),
                _ => return self.unclear("a script of sed is not read"),
            };
        }
    }
}

fn line(text: &str) -> &str {
    &text[text.find('\n').unwrap_or(text.len())..]
}

fn lines(text: &str) -> &str {
    let mut rest = text;
    loop {
        let end = rest.find('\n').unwrap_or(rest.len());
        let goes_on = rest[..end].ends_with('\\');
        rest = rest.get(end + 1..).unwrap_or("");
        if !goes_on || rest.is_empty() {
            return rest;
        }
    }
}

/// Behind the addresses that stand here.
fn address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let first = rest.chars().next()?;
        rest = match first {
            '0'..='9' | '$' | '~' | '+' | ',' | ' ' | '\t' | HIDDEN => &rest[1..],
            '/' => parts(&rest[1..], '/', 1)?.1.trim_start_matches(['I', 'M']),
            '\\' => {
                let delimiter = rest[1..].chars().next()?;
                parts(&rest[1 + delimiter.len_utf8()..], delimiter, 1)?
                    .1
                    .trim_start_matches(['I', 'M'])
            }
            _ => return Some(rest),
        };
        if rest.is_empty() {
            return Some(rest);
        }
    }
}

/// So many parts that each end with the delimiter: the last of them, and what follows. In the first, a regular expression, the
/// delimiter may stand in brackets.
pub(super) fn parts(text: &str, delimiter: char, count: usize) -> Option<(&str, &str)> {
    let mut rest = text;
    let mut part = "";
    for at in 0..count {
        let in_brackets = (at == 0).then(|| end(rest, delimiter, true)).flatten();
        let end = in_brackets.or_else(|| end(rest, delimiter, false))?;
        part = &rest[..end];
        rest = &rest[end + delimiter.len_utf8()..];
    }
    Some((part, rest))
}

fn end(text: &str, delimiter: char, brackets: bool) -> Option<usize> {
    let mut escaped = false;
    // How many characters a set has so far.
    let mut set: Option<usize> = None;
    let mut class = false;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match set {
            Some(_) if class => class = !(before == ':' && c == ']'),
            Some(0) if c == '^' => {}
            Some(count) if c == ']' && count > 0 => set = None,
            Some(count) => {
                class = before == '[' && c == ':';
                set = Some(count + 1);
            }
            None if escaped => escaped = false,
            None if c == delimiter => return Some(at),
            None if c == '\\' => escaped = true,
            None if c == '[' && brackets => set = Some(0),
            None => {}
        }
        before = c;
    }
    None
}
