//! Identifiers as CPython sees them: normalized to NFKC (PEP 3131), which the parser does not do.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// The identifier after NFKC; borrowed if it is ASCII, as nearly all are.
pub fn fold(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.nfkc().collect())
    }
}

/// Whether CPython reads a name other than the one written.
pub fn changes(name: &str) -> bool {
    !name.is_ascii() && fold(name) != name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_folded_as_cpython_folds_them() {
        assert_eq!(fold("\u{ff45}val"), "eval");
        assert_eq!(fold("__\u{1d4ec}lass__"), "__class__");
        assert_eq!(fold("na\u{ef}ve"), "na\u{ef}ve");
        assert!(changes("\u{ff4f}s") && !changes("na\u{ef}ve") && !changes("os"));
    }
}
