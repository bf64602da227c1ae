//! Strings that a terminal sends among the keys: late or unasked answers (`OSC 11 ; rgb:…`). The event source knows no
//! such string and reports it as keys: Alt-], then each of its characters, then Alt-\. None of them may count as a key.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The longest pause inside a string. A person who presses Alt-] loses at most a key that follows sooner.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest string, in characters.
const LONGEST: usize = 4096;

/// What an event of the event source is.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    Event(Event),
    /// Part of a string.
    Part,
    /// The end of a string, and the text of an OSC.
    Answer(String),
}

/// The string that is being sent.
#[derive(Debug, Default)]
pub struct Strings {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    text: String,
    last: Duration,
}

impl Strings {
    /// Sorts one event, read at this boot time.
    pub fn sort(&mut self, event: Event, boot: Duration) -> Heard {
        let Event::Key(key) = &event else {
            return Heard::Event(event);
        };
        if key.kind != KeyEventKind::Press {
            return Heard::Event(event);
        }
        let late = |open: &mut Open| boot.saturating_sub(open.last) > PAUSE;
        if self
            .open
            .as_mut()
            .is_some_and(|open| late(open) || open.text.len() > LONGEST)
        {
            self.open = None;
        }
        let Some(open) = &mut self.open else {
            if !begins(key) {
                return Heard::Event(event);
            }
            self.open = Some(Open {
                text: String::new(),
                last: boot,
            });
            return Heard::Part;
        };
        if ends(key) {
            let text = std::mem::take(&mut open.text);
            self.open = None;
            return Heard::Answer(text);
        }
        open.last = boot;
        match key.code {
            KeyCode::Char(c) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => {
                open.text.push(c);
            }
            // No string has such a key. It ends the string, and is lost with it.
            _ => self.open = None,
        }
        Heard::Part
    }
}

/// OSC, DCS, APC, PM and SOS (ECMA-48 5.6), as keys.
fn begins(key: &KeyEvent) -> bool {
    key.modifiers - KeyModifiers::SHIFT == KeyModifiers::ALT
        && matches!(key.code, KeyCode::Char(']' | 'P' | '_' | '^' | 'X'))
}

/// ST or BEL, as keys.
fn ends(key: &KeyEvent) -> bool {
    matches!(
        (key.code, key.modifiers),
        (KeyCode::Char('\\'), KeyModifiers::ALT) | (KeyCode::Char('g'), KeyModifiers::CONTROL)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: char, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(code), modifiers))
    }

    /// What the event source makes of these bytes.
    fn keys(bytes: &str) -> Vec<Event> {
        let mut out = Vec::new();
        let mut chars = bytes.chars();
        while let Some(c) = chars.next() {
            out.push(match c {
                '\x1b' => key(chars.next().unwrap(), KeyModifiers::ALT),
                '\x07' => key('g', KeyModifiers::CONTROL),
                c if c.is_uppercase() => key(c, KeyModifiers::SHIFT),
                c => key(c, KeyModifiers::NONE),
            });
        }
        out
    }

    fn sorted(strings: &mut Strings, events: Vec<Event>, boot: u64) -> Vec<Heard> {
        let at = Duration::from_millis(boot);
        events
            .into_iter()
            .map(|event| strings.sort(event, at))
            .collect()
    }

    #[test]
    fn an_answer_is_no_key_however_it_ends_and_the_next_key_is_one() {
        for answer in [
            "\x1b]11;rgb:1c1c/aaaa/dddd\x1b\\",
            "\x1b]11;rgb:1c1c/aaaa/dddd\x07",
        ] {
            let mut strings = Strings::default();
            let mut heard = sorted(&mut strings, keys(answer), 1);
            let text = "11;rgb:1c1c/aaaa/dddd".to_owned();
            assert_eq!(heard.pop(), Some(Heard::Answer(text)));
            assert!(heard.iter().all(|heard| *heard == Heard::Part), "{heard:?}");
            let after = key('a', KeyModifiers::NONE);
            assert_eq!(
                strings.sort(after.clone(), Duration::ZERO),
                Heard::Event(after)
            );
        }
    }

    #[test]
    fn an_answer_in_two_parts_is_no_key_and_a_string_without_an_end_ends() {
        let mut strings = Strings::default();
        sorted(&mut strings, keys("\x1b]11;r"), 1);
        let rest = sorted(&mut strings, keys("gb:ffff/ffff/ffff\x1b\\"), 90);
        assert!(
            !rest.iter().any(|heard| matches!(heard, Heard::Event(_))),
            "{rest:?}"
        );
        // A person's Alt-] and, later, other keys.
        sorted(&mut strings, keys("\x1b]"), 1_000);
        let later = key('y', KeyModifiers::NONE);
        let heard = strings.sort(later.clone(), Duration::from_millis(1_101));
        assert_eq!(heard, Heard::Event(later));
        // A key that no string has.
        sorted(&mut strings, keys("\x1b]"), 2_000);
        let enter = Event::Key(KeyEvent::from(KeyCode::Enter));
        assert_eq!(
            strings.sort(enter, Duration::from_millis(2_001)),
            Heard::Part
        );
        assert!(strings.open.is_none());
    }

    #[test]
    fn everything_else_passes() {
        let mut strings = Strings::default();
        for event in [
            key('a', KeyModifiers::ALT),
            key('P', KeyModifiers::SHIFT),
            key(']', KeyModifiers::NONE),
            Event::Paste("\x1b]11;x".to_owned()),
            Event::FocusLost,
        ] {
            assert_eq!(
                strings.sort(event.clone(), Duration::ZERO),
                Heard::Event(event)
            );
        }
    }
}
