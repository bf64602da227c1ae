//! Terminals that do not take UTF-8. In them a byte of a character can be a control of its own (U+00DB contains 0x9B, the
//! 8-bit CSI), so nothing but ASCII may be written: the program's own signs have stand-ins, and every other character is
//! drawn as its mark.
//!
//! The charset is set for the time of one call from outside ([`scope`]): measuring and drawing must agree on it.

use std::cell::Cell;
use std::collections::BTreeMap;

/// What the terminal can be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Charset {
    #[default]
    Utf8,
    Ascii,
}

impl Charset {
    /// By the locale: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is not empty (POSIX 8.2).
    pub fn of_locale(env: &BTreeMap<String, String>) -> Self {
        let value = |name: &&str| env.get(*name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(value);
        let utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        match utf8 {
            true => Self::Utf8,
            false => Self::Ascii,
        }
    }

    /// `auto` follows the locale.
    pub fn of(choice: &str, env: &BTreeMap<String, String>) -> Self {
        match choice {
            "utf-8" => Self::Utf8,
            "ascii" => Self::Ascii,
            _ => Self::of_locale(env),
        }
    }
}

thread_local! {
    static CURRENT: Cell<Charset> = const { Cell::new(Charset::Utf8) };
}

/// The charset of this call.
pub fn is_ascii() -> bool {
    CURRENT.get() == Charset::Ascii
}

/// Runs `what` with this charset.
pub fn scope<R>(charset: Charset, what: impl FnOnce() -> R) -> R {
    struct Back(Charset);
    impl Drop for Back {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _back = Back(CURRENT.replace(charset));
    what()
}

/// The stand-in for one of the program's own signs, one column wide.
pub fn stand_in(c: char) -> Option<&'static str> {
    Some(match c {
        '─' | '·' | '–' | '—' | '−' | '○' | '▹' => "-",
        '━' | '≈' => "=",
        '│' | '┃' => "|",
        '┊' => ":",
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '✓' => "+",
        '…' | '⋯' => "~",
        '▲' => "!",
        '△' | '↑' => "^",
        '■' => "#",
        '●' => "o",
        '✗' | '×' => "x",
        '÷' => "/",
        '⊘' => "/",
        '⧗' => "%",
        '←' => "<",
        '→' | '↳' | '▷' | '►' | '▸' => ">",
        '↓' | '▾' => "v",
        '▯' => ".",
        '“' | '”' => "\"",
        '‘' | '’' => "'",
        // Blocks by how full they are: shades, bars that grow upwards, bars that grow to the right.
        '░' | '▁' | '▏' | '▎' => ".",
        '▒' | '▂' | '▃' | '▄' | '▍' | '▌' => ":",
        '▓' | '▅' | '▆' | '▋' | '▊' | '▀' => "=",
        '█' | '▇' | '▉' | '▮' => "#",
        '\u{2801}'..='\u{28ff}' => match (c as u32 & 0xff).count_ones() {
            1 | 2 => ".",
            3..=5 => ":",
            _ => "#",
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::columns;

    #[test]
    fn the_first_variable_that_says_something_decides() {
        for (env, expected) in [
            (&[("LANG", "en_US.UTF-8")][..], Charset::Utf8),
            (&[("LANG", "C.utf8")], Charset::Utf8),
            (&[("LANG", "de_DE.ISO-8859-1")], Charset::Ascii),
            (&[("LANG", "C")], Charset::Ascii),
            (&[], Charset::Ascii),
            (&[("LC_ALL", ""), ("LANG", "C.UTF-8")], Charset::Utf8),
            (&[("LC_ALL", "POSIX"), ("LANG", "C.UTF-8")], Charset::Ascii),
            (&[("LC_CTYPE", "C.UTF-8"), ("LANG", "C")], Charset::Utf8),
        ] {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let env = env.iter().map(pair).collect();
            assert_eq!(Charset::of("auto", &env), expected, "{env:?}");
            assert_eq!(Charset::of("ascii", &env), Charset::Ascii);
            assert_eq!(Charset::of("utf-8", &env), Charset::Utf8);
        }
    }

    #[test]
    fn a_stand_in_is_one_ascii_character_for_one_column() {
        for c in '\u{80}'..=char::MAX {
            if let Some(text) = stand_in(c) {
                assert_eq!((text.len(), text.is_ascii()), (1, true), "{c:?}");
                assert_eq!(columns(c), Some(1), "{c:?}");
            }
        }
    }

    #[test]
    fn a_scope_ends_even_by_a_panic() {
        let ended = std::panic::catch_unwind(|| scope(Charset::Ascii, || assert!(!is_ascii())));
        assert!(ended.is_err() && !is_ascii());
    }
}
