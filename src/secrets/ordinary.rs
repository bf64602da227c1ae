//! Tells what is made of ordinary words and numbers from what may be a secret.

/// Most digits beside the letters of an ordinary word: `python3`, `256color`.
const DIGITS: usize = 3;

/// Whether a text consists of words, numbers and what stands between them. Column names, versions, locales and hosts
/// are ordinary; keys and most passwords are not.
pub(super) fn is_ordinary(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).all(is_word)
}

/// A number, or letters in the case of a word with a few digits before or after them.
pub(super) fn is_word(part: &str) -> bool {
    let letters = part.trim_matches(|c: char| c.is_ascii_digit());
    if letters.is_empty() {
        return true;
    }
    let digits = part.len() - letters.len();
    let mut rest = letters.chars();
    let first = rest.next().is_some_and(char::is_uppercase);
    let rest = rest.as_str();
    let one_case =
        rest.chars().all(char::is_lowercase) || first && rest.chars().all(char::is_uppercase);
    digits <= DIGITS && one_case
}

/// Whether a text is a path, a list of paths, or a number.
pub(super) fn is_path_or_number(text: &str) -> bool {
    let path = |part: &str| {
        let roots = ["/", "./", "../", "~/"];
        part.is_empty() || roots.iter().any(|root| part.starts_with(root))
    };
    let number = |c: char| c.is_ascii_digit() || " .,:;+-_/".contains(c);
    text.split([':', ';']).all(path) || text.chars().all(number)
}
