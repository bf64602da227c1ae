//! The characters that every terminal draws alike, and the mark that replaces every other one.
//!
//! Terminals disagree on the width of thousands of characters, and on which of them join. If the terminal
//! assumes another width than this program, the rest of the row is drawn in the wrong place. So a character
//! is drawn only if it is in a short table: one scalar value, one or two columns wide, never joined to a
//! neighbour, never reordered, and its own canonical form, so that no two entries are the same character.
//! unicode-width, glibc, tmux, vt100 and wezterm agree on each of them. The table excludes emoji,
//! right-to-left and joining scripts, combining marks, and characters that Unicode added or widened recently.

use std::fmt;

/// Characters of one column: first and last of each range, in order.
const NARROW: &[(char, char)] = &[
    // Latin with its precomposed letters, the International Phonetic Alphabet. Not U+00A0 and
    // U+00AD (invisible), nor the emoji © and ®.
    ('\u{20}', '\u{7e}'),
    ('\u{a1}', '\u{a8}'),
    ('\u{aa}', '\u{ac}'),
    ('\u{af}', '\u{2af}'),
    // Greek, without U+037E, which is a `;`.
    ('\u{370}', '\u{373}'),
    ('\u{375}', '\u{377}'),
    ('\u{37a}', '\u{37d}'),
    ('\u{37f}', '\u{37f}'),
    ('\u{384}', '\u{386}'),
    ('\u{388}', '\u{38a}'),
    ('\u{38c}', '\u{38c}'),
    ('\u{38e}', '\u{3a1}'),
    ('\u{3a3}', '\u{3ff}'),
    // Cyrillic, Armenian, Georgian.
    ('\u{400}', '\u{482}'),
    ('\u{48a}', '\u{52f}'),
    ('\u{531}', '\u{556}'),
    ('\u{561}', '\u{587}'),
    ('\u{589}', '\u{589}'),
    ('\u{10d0}', '\u{10fa}'),
    // Latin with several accents, polytonic Greek.
    ('\u{1e00}', '\u{1eff}'),
    ('\u{1f00}', '\u{1f15}'),
    ('\u{1f18}', '\u{1f1d}'),
    ('\u{1f20}', '\u{1f45}'),
    ('\u{1f48}', '\u{1f4d}'),
    ('\u{1f50}', '\u{1f57}'),
    ('\u{1f59}', '\u{1f59}'),
    ('\u{1f5b}', '\u{1f5b}'),
    ('\u{1f5d}', '\u{1f5d}'),
    ('\u{1f5f}', '\u{1f70}'),
    ('\u{1f72}', '\u{1f72}'),
    ('\u{1f74}', '\u{1f74}'),
    ('\u{1f76}', '\u{1f76}'),
    ('\u{1f78}', '\u{1f78}'),
    ('\u{1f7a}', '\u{1f7a}'),
    ('\u{1f7c}', '\u{1f7c}'),
    ('\u{1f80}', '\u{1fb4}'),
    ('\u{1fb6}', '\u{1fba}'),
    ('\u{1fbc}', '\u{1fbd}'),
    ('\u{1fbf}', '\u{1fc4}'),
    ('\u{1fc6}', '\u{1fc8}'),
    ('\u{1fca}', '\u{1fca}'),
    ('\u{1fcc}', '\u{1fd2}'),
    ('\u{1fd6}', '\u{1fda}'),
    ('\u{1fdd}', '\u{1fe2}'),
    ('\u{1fe4}', '\u{1fea}'),
    ('\u{1fec}', '\u{1fed}'),
    ('\u{1ff2}', '\u{1ff4}'),
    ('\u{1ff6}', '\u{1ff8}'),
    ('\u{1ffa}', '\u{1ffa}'),
    ('\u{1ffc}', '\u{1ffc}'),
    ('\u{1ffe}', '\u{1ffe}'),
    // Dashes, quotes, daggers, `…`; raised and lowered digits; currencies.
    ('\u{2010}', '\u{2010}'),
    ('\u{2012}', '\u{2027}'),
    ('\u{2030}', '\u{203b}'),
    ('\u{203d}', '\u{2048}'),
    ('\u{2070}', '\u{2071}'),
    ('\u{2074}', '\u{208e}'),
    ('\u{2090}', '\u{209c}'),
    ('\u{20a0}', '\u{20be}'),
    // Arrows and mathematics.
    ('\u{2190}', '\u{2193}'),
    ('\u{21b3}', '\u{21b3}'),
    ('\u{21d0}', '\u{21d5}'),
    ('\u{2200}', '\u{22ff}'),
    // Pictures of the controls.
    ('\u{2400}', '\u{2426}'),
    // Lines, blocks and shapes, without those that are emoji.
    ('\u{2500}', '\u{25a9}'),
    ('\u{25ac}', '\u{25b5}'),
    ('\u{25b7}', '\u{25bf}'),
    ('\u{25c1}', '\u{25fa}'),
    ('\u{25ff}', '\u{25ff}'),
    ('\u{2713}', '\u{2713}'),
    ('\u{2717}', '\u{2717}'),
    // Braille, without the blank one.
    ('\u{2801}', '\u{28ff}'),
    ('\u{29d7}', '\u{29d7}'),
];

/// Characters of two columns.
const WIDE: &[(char, char)] = &[
    // Punctuation, without the blank U+3000 and what combines.
    ('\u{3001}', '\u{3003}'),
    ('\u{3005}', '\u{3020}'),
    // Kana, Bopomofo, Hangul letters that do not join.
    ('\u{3041}', '\u{3096}'),
    ('\u{309b}', '\u{30ff}'),
    ('\u{3105}', '\u{312d}'),
    ('\u{3131}', '\u{3163}'),
    ('\u{3165}', '\u{318e}'),
    // Ideographs, whole Hangul syllables, full-width forms.
    ('\u{3400}', '\u{4db5}'),
    ('\u{4e00}', '\u{9fcc}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{ff01}', '\u{ff5e}'),
    ('\u{ffe0}', '\u{ffe6}'),
];

fn listed(table: &[(char, char)], c: char) -> bool {
    let after = table.partition_point(|(first, _)| *first <= c);
    after
        .checked_sub(1)
        .and_then(|i| table.get(i))
        .is_some_and(|(_, last)| c <= *last)
}

/// The width of `c` in every terminal, 1 or 2; `None` if terminals differ, join it or act on it.
pub fn columns(c: char) -> Option<usize> {
    match c {
        ' '..='~' => Some(1),
        _ if listed(NARROW, c) => Some(1),
        _ if listed(WIDE, c) => Some(2),
        _ => None,
    }
}

/// The replacement for a character that is not drawn: its control picture, or `\u{0B95}`. Every character of
/// a mark is one column wide.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    bytes: [u8; 10],
    len: u8,
}

impl Mark {
    pub fn of(c: char) -> Self {
        match c {
            '\0'..='\x1f' => Self::picture(c as u32),
            '\x7f' => Self::picture(0x21),
            _ => Self::spelled(c),
        }
    }

    /// The mark in ASCII: `\u{001B}` for controls too.
    pub fn spelled(c: char) -> Self {
        let mut mark = Self::EMPTY;
        let code = c as u32;
        let digits = (8 - code.leading_zeros() / 4).max(4);
        mark.push("\\u{");
        for i in (0..digits).rev() {
            let nibble = (code >> (4 * i)) & 0xf;
            mark.push(&"0123456789ABCDEF"[nibble as usize..=nibble as usize]);
        }
        mark.push("}");
        mark
    }

    const EMPTY: Self = Self {
        bytes: [0; 10],
        len: 0,
    };

    /// Unicode's pictures of the control characters, U+2400 onwards.
    fn picture(control: u32) -> Self {
        let mut mark = Self::EMPTY;
        let picture = char::from_u32(0x2400 + control).unwrap_or('?');
        mark.push(picture.encode_utf8(&mut [0; 4]));
        mark
    }

    fn push(&mut self, text: &str) {
        let from = usize::from(self.len);
        if let Some(room) = self.bytes.get_mut(from..from + text.len()) {
            room.copy_from_slice(text.as_bytes());
            self.len += text.len() as u8;
        }
    }

    pub fn as_str(&self) -> &str {
        // Only whole `str`s were pushed, so this is always UTF-8.
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or("?")
    }

    pub fn columns(&self) -> usize {
        self.as_str().chars().count()
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;
    use unicode_normalization::char::is_combining_mark;
    use unicode_security::mixed_script::AugmentedScriptSet;
    use unicode_width::UnicodeWidthChar;

    use super::*;

    #[test]
    fn the_ranges_are_in_order_and_do_not_overlap() {
        for table in [NARROW, WIDE] {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }

    #[test]
    fn a_drawn_character_has_one_width_and_stands_alone() {
        for c in '\0'..=char::MAX {
            let Some(columns) = columns(c) else { continue };
            assert_eq!(UnicodeWidthChar::width(c), Some(columns), "{c:?}");
            assert!(!c.is_control() && !is_combining_mark(c), "{c:?}");
            assert!(c == ' ' || !c.is_whitespace(), "{c:?}");
            assert!(!AugmentedScriptSet::for_char(c).is_empty(), "{c:?}");
            // No second code point for the same character.
            assert!(std::iter::once(c).nfc().eq([c]), "{c:?}");
        }
    }

    #[test]
    fn characters_that_terminals_reorder_join_or_draw_as_emoji_are_not_drawn() {
        let listed = [
            // Hebrew, Arabic, Syriac, N'Ko and the rest of the right-to-left blocks.
            '\u{590}'..='\u{8ff}',
            '\u{200e}'..='\u{200f}',
            '\u{202a}'..='\u{202e}',
            '\u{2066}'..='\u{2069}',
            '\u{fb1d}'..='\u{fdff}',
            '\u{fe70}'..='\u{feff}',
            '\u{10800}'..='\u{10fff}',
            '\u{1e800}'..='\u{1efff}',
            // Indic scripts, Thai, Lao, Tibetan, Myanmar, Hangul's joining letters, Khmer, Mongolian.
            '\u{900}'..='\u{109f}',
            '\u{1100}'..='\u{11ff}',
            '\u{1780}'..='\u{18af}',
            '\u{a960}'..='\u{a97f}',
            '\u{d7b0}'..='\u{d7ff}',
            // Combining marks and variation selectors.
            '\u{300}'..='\u{36f}',
            '\u{1ab0}'..='\u{1aff}',
            '\u{1dc0}'..='\u{1dff}',
            '\u{20d0}'..='\u{20ff}',
            '\u{fe00}'..='\u{fe0f}',
            // Symbols that some terminals draw as emoji, and those that changed their width.
            '\u{2600}'..='\u{26ff}',
            '\u{2630}'..='\u{2637}',
            '\u{2763}'..='\u{27bf}',
            '\u{3200}'..='\u{33ff}',
            '\u{4dc0}'..='\u{4dff}',
            '\u{e000}'..='\u{f8ff}',
            // Everything beyond the first plane.
            '\u{10000}'..=char::MAX,
        ];
        for c in listed.into_iter().flatten() {
            assert_eq!(columns(c), None, "{c:?}");
        }
    }

    #[test]
    fn every_mark_consists_of_drawn_characters_and_names_its_character() {
        for c in '\0'..=char::MAX {
            let mark = Mark::of(c);
            assert!(
                mark.as_str().chars().all(|m| columns(m) == Some(1)),
                "{c:?}"
            );
            let code = c as u32;
            if code > 0x7f {
                assert_eq!(mark.as_str(), format!("\\u{{{code:04X}}}"));
            }
        }
        assert_eq!(Mark::of('\u{1b}').as_str(), "␛");
        assert_eq!(Mark::of('\u{7f}').as_str(), "␡");
        assert_eq!(Mark::of('\u{b95}').as_str(), "\\u{0B95}");
    }
}
