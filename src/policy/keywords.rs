//! The keyword arguments of functions and classes that surely take no others.
//!
//! Generated from the managed environment's libraries (assets/policies/members/keywords.py).

use std::collections::HashMap;
use std::sync::LazyLock;

const TEXT: &str = include_str!("../../assets/policies/members/keywords.txt");

/// Dotted path → its keywords in one text. Read when a call with keywords first asks.
static KEYWORDS: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| TEXT.lines().filter_map(|l| l.split_once(':')).collect());

/// The keywords of what is at this path; `None` if it may take any.
pub(super) fn of(path: &str) -> Option<Vec<&'static str>> {
    let names = KEYWORDS.get(path)?;
    Some(names.split_ascii_whitespace().collect())
}
