//! The names in a literal query or formula that may be columns.

/// A name in a text of code.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::analysis) struct NameIn<'a> {
    pub text: &'a str,
    /// Whether an attribute of it is read: `np.log`.
    pub owns: bool,
}

/// Words of the language, and names that every query has.
const WORDS: &[&str] = &[
    "False", "None", "True", "and", "else", "for", "if", "in", "index", "is", "lambda", "list",
    "not", "or", "tuple",
];

/// The names that a text reads: no functions, attributes, keywords, `@names` of the snippet or texts. Those in back
/// quotes are names as they stand.
pub(in crate::analysis) fn names_in(code: &str) -> Vec<NameIn<'_>> {
    let mut names = Vec::new();
    let mut rest = code;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' | '\'' | '`' => {
                let inner = &rest[1..];
                let Some(end) = inner.find(c) else {
                    return Vec::new();
                };
                if inner[..end].contains('\\') {
                    return Vec::new();
                }
                if c == '`' {
                    let text = &inner[..end];
                    names.push(NameIn { text, owns: false });
                }
                end + 2
            }
            c if c.is_alphabetic() || c == '_' => {
                let length = word(rest);
                let (text, after) = rest.split_at(length);
                let after = after.trim_start();
                let called = after.starts_with('(');
                let keyword = after.starts_with('=') && !after.starts_with("==");
                let plain = !matches!(before, '@' | '.') && !called && !keyword;
                if plain && !WORDS.contains(&text) && !text.starts_with("ilevel_") {
                    let owns = after.starts_with('.');
                    names.push(NameIn { text, owns });
                }
                length
            }
            // `1e5`, `0x1f`.
            c if c.is_numeric() => word(rest),
            // Comprehensions and the like bind names of their own.
            '{' | ';' | '#' => return Vec::new(),
            c => c.len_utf8(),
        };
        if !c.is_whitespace() {
            before = c;
        }
        rest = &rest[length..];
    }
    names
}

fn word(text: &str) -> usize {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_a_text_reads() {
        let of = |code| {
            names_in(code)
                .into_iter()
                .map(|n| n.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(of("a > @b.c and d.str.contains('e', na=False)"), ["a", "d"]);
        assert_eq!(
            of("`unit price` == 1e5 | sin(x) < -y"),
            ["unit price", "x", "y"]
        );
        assert_eq!(
            of("y ~ np.log(x) + C(g, Treatment(reference='a')) - 1"),
            ["y", "np", "x", "g"]
        );
        assert!(names_in("np.log(x)")[0].owns);
        assert_eq!(of("a == 'it\\'s'"), Vec::<&str>::new());
        assert_eq!(of("index > 3 and a in ['b', \"c\"]"), ["a"]);
    }
}
