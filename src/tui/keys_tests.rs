//! The key map: defaults, changes, conflicts.

use super::*;

fn config(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

fn key(text: &str) -> Key {
    Chord::parse(text).unwrap().first
}

#[test]
fn the_defaults_are_those_of_the_interface_and_do_not_clash() {
    let map = Keymap::from_config(&BTreeMap::new()).unwrap();
    for (text, command) in [
        ("j", Command::Down),
        ("k", Command::Up),
        ("down", Command::Down),
        ("tab", Command::NextPane),
        ("shift-tab", Command::PreviousPane),
        ("enter", Command::Open),
        ("space", Command::PageCode),
        ("pagedown", Command::PageDown),
        ("pageup", Command::PageUp),
        ("home", Command::Top),
        ("end", Command::Bottom),
        ("G", Command::Bottom),
        ("v", Command::Diff),
        ("w", Command::Wrap),
        ("z", Command::Zoom),
        ("u", Command::Urgent),
        ("a", Command::Grant),
        ("d", Command::Deny),
        ("e", Command::Edit),
        ("x", Command::Kill),
        ("1", Command::Queue),
        ("2", Command::Audit),
        ("3", Command::Policies),
        ("/", Command::Search),
        ("n", Command::SearchNext),
        ("N", Command::SearchPrevious),
        ("t", Command::Theme),
        ("?", Command::Help),
        ("q", Command::Quit),
    ] {
        assert_eq!(
            map.meaning(None, key(text)),
            Meaning::Does(command),
            "{text}"
        );
    }
    assert_eq!(map.meaning(None, key("g")), Meaning::Begins);
    assert_eq!(
        map.meaning(Some(key("g")), key("g")),
        Meaning::Does(Command::Top)
    );
    for unbound in ["A", "ctrl-a", "alt-a", "ctrl-y"] {
        assert_eq!(
            map.meaning(None, key(unbound)),
            Meaning::Nothing,
            "{unbound}"
        );
    }
}

#[test]
fn every_key_can_be_changed_and_loses_its_default() {
    let map = Keymap::from_config(&config(&[("grant", "f5 ctrl-g"), ("down", "é")])).unwrap();
    assert_eq!(map.meaning(None, key("a")), Meaning::Nothing);
    assert_eq!(map.meaning(None, key("f5")), Meaning::Does(Command::Grant));
    assert_eq!(
        map.meaning(None, key("ctrl-g")),
        Meaning::Does(Command::Grant)
    );
    assert_eq!(map.meaning(None, key("é")), Meaning::Does(Command::Down));
    assert_eq!(map.all(Command::Grant), "F5  Ctrl-g");
}

#[test]
fn a_conflict_an_unknown_action_and_a_bad_key_are_refused_by_name() {
    let error_of =
        |pairs: &[(&str, &str)]| Keymap::from_config(&config(pairs)).unwrap_err().to_string();
    let conflict = error_of(&[("grant", "d")]);
    assert!(
        conflict.contains("`grant`") && conflict.contains("`deny`"),
        "{conflict}"
    );
    // If one key granted and confirmed, holding it down would do both.
    assert!(error_of(&[("grant", "y")]).contains("`confirm`"));
    // `g` alone would shadow `g g`.
    assert!(error_of(&[("zoom", "g")]).contains("`zoom`"));
    assert!(error_of(&[("gramt", "b")]).contains("`grant`"));
    assert!(error_of(&[("grant", "hyper-a")]).contains("hyper-a"));
    assert!(error_of(&[("grant", "")]).contains("grant"));
}

#[test]
fn shift_makes_another_key_however_the_terminal_reports_it() {
    let event = |c, m| Key::of(&KeyEvent::new(KeyCode::Char(c), m));
    let upper = event('A', KeyModifiers::NONE);
    assert_eq!(event('a', KeyModifiers::SHIFT), upper);
    assert_eq!(event('A', KeyModifiers::SHIFT), upper);
    assert_ne!(event('a', KeyModifiers::NONE), upper);
    assert_ne!(
        event('4', KeyModifiers::SHIFT),
        event('4', KeyModifiers::NONE)
    );
    assert_ne!(
        event('a', KeyModifiers::SUPER),
        event('a', KeyModifiers::NONE)
    );
}
