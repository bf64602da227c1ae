//! The pieces of a question.

/// A piece with its place, counted in characters from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub at: usize,
    pub length: usize,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Open,
    Close,
    /// `-` directly before something.
    Not,
    Or,
    /// `key:`; what follows without a space are its values.
    Key(String),
    Comma,
    /// Without quotation marks.
    Word(String),
    /// In quotation marks, which `\"` contains.
    Quoted(String),
}

/// What cannot be read: its place and the reason.
pub(super) type Fault = (usize, usize, String);

/// Cuts a question into pieces.
pub(super) fn pieces(question: &str) -> Result<Vec<Piece>, Fault> {
    let chars: Vec<char> = question.chars().collect();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        // A comma parts values only within a term.
        let in_term = in_term(&pieces, at);
        let (what, length) = match chars[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '(' => (What::Open, 1),
            ')' => (What::Close, 1),
            '"' => quoted(&chars, at)?,
            ',' if in_term => (What::Comma, 1),
            '-' if !in_term && chars.get(at + 1).is_some_and(|c| !c.is_whitespace()) => {
                (What::Not, 1)
            }
            _ => word(&chars[at..], in_term),
        };
        // What stands side by side must hold together anyway.
        if in_term || what != What::Word("AND".to_owned()) {
            pieces.push(Piece { at, length, what });
        }
        at += length;
    }
    Ok(pieces)
}

/// Whether what begins here belongs to a key.
fn in_term(pieces: &[Piece], at: usize) -> bool {
    let Some(last) = pieces.last().filter(|last| last.at + last.length == at) else {
        return false;
    };
    match last.what {
        What::Key(_) | What::Comma => true,
        What::Word(_) | What::Quoted(_) => {
            let before = &pieces[..pieces.len() - 1];
            in_term(before, last.at)
        }
        _ => false,
    }
}

fn quoted(chars: &[char], at: usize) -> Result<(What, usize), Fault> {
    let mut text = String::new();
    let mut next = at + 1;
    while let Some(c) = chars.get(next) {
        match c {
            '"' => return Ok((What::Quoted(text), next + 1 - at)),
            '\\' if matches!(chars.get(next + 1), Some('"' | '\\')) => {
                next += 1;
                text.push(chars[next]);
            }
            c => text.push(*c),
        }
        next += 1;
    }
    let why = "the quotation mark that ends this text is missing".to_owned();
    Err((at, chars.len() - at, why))
}

fn word(chars: &[char], in_term: bool) -> (What, usize) {
    let ends = |c: &char| c.is_whitespace() || matches!(c, '(' | ')' | '"') || in_term && *c == ',';
    let end = chars.iter().position(ends).unwrap_or(chars.len()).max(1);
    let word: String = chars[..end].iter().collect();
    // Values may contain colons, as times do.
    if !in_term
        && let Some((key, _)) = word.split_once(':')
        && key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        return (What::Key(key.to_lowercase()), key.len() + 1);
    }
    match word.as_str() {
        "OR" if !in_term => (What::Or, end),
        "NOT" if !in_term => (What::Not, end),
        _ => (What::Word(word), end),
    }
}
