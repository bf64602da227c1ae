use super::*;

fn caps(depth: Depth, background: Background) -> TerminalCaps {
    TerminalCaps { depth, background }
}

#[test]
fn every_built_in_palette_reads_at_every_depth() {
    for depth in [Depth::None, Depth::Sixteen, Depth::Palette, Depth::True] {
        for (name, text) in BUILT_IN {
            Theme::read(name, text, depth).unwrap();
        }
    }
}

#[test]
fn a_mark_differs_from_text_even_without_colours() {
    let themes = Themes::new("auto", caps(Depth::None, Background::Unknown)).unwrap();
    let theme = themes.current();
    for role in [Role::Mark, Role::Selected, Role::Alarm, Role::Found] {
        assert_ne!(theme.style(role), theme.style(Role::Text), "{role:?}");
    }
    for role in Role::ALL {
        let style = theme.style(*role);
        assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
    }
}

#[test]
fn a_mark_differs_from_text_and_verdicts_from_each_other_in_every_palette() {
    for depth in [Depth::Palette, Depth::True] {
        for name in ["dark", "light", "high-contrast"] {
            let themes = Themes::new(name, caps(depth, Background::Dark)).unwrap();
            let theme = themes.current();
            assert_ne!(theme.style(Role::Mark), theme.style(Role::Text));
            assert_ne!(theme.style(Role::Clear), theme.style(Role::Flagged));
            assert_ne!(theme.style(Role::Flagged), theme.style(Role::Blocked));
        }
    }
}

#[test]
fn auto_follows_the_background_and_an_unknown_name_gets_the_nearest() {
    for (background, name) in [
        (Background::Dark, "dark"),
        (Background::Light, "light"),
        (Background::Unknown, "dark"),
    ] {
        let themes = Themes::new("auto", caps(Depth::True, background)).unwrap();
        assert_eq!(themes.current().name, name);
    }
    let error = Themes::new("drak", caps(Depth::True, Background::Dark)).unwrap_err();
    assert!(error.to_string().contains("`dark`"), "{error}");
}

#[test]
fn the_palettes_go_round_both_ways() {
    let mut themes = Themes::new("dark", caps(Depth::True, Background::Dark)).unwrap();
    themes.previous();
    assert_eq!(themes.current().name, "none");
    themes.next();
    let mut seen = Vec::new();
    for _ in 0..BUILT_IN.len() {
        seen.push(themes.current().name.clone());
        themes.next();
    }
    assert_eq!(themes.current().name, "dark");
    seen.dedup();
    assert_eq!(seen.len(), BUILT_IN.len());
}

#[test]
fn a_palette_in_sixteen_colours_paints_one_ground_and_auto_follows_the_background() {
    for (name, _) in BUILT_IN {
        let themes = Themes::new(name, caps(Depth::Sixteen, Background::Light)).unwrap();
        let ground = match name {
            "none" => Color::Reset,
            "light" => Color::White,
            _ => Color::Black,
        };
        assert_eq!(themes.current().ground(), ground, "{name}");
        for role in Role::ALL.iter().filter(|role| **role != Role::Text) {
            assert_eq!(themes.current().style(*role).bg, None, "{name} {role:?}");
        }
    }
    for (background, name) in [
        (Background::Dark, "dark"),
        (Background::Light, "light"),
        (Background::Unknown, "dark"),
    ] {
        let themes = Themes::new("auto", caps(Depth::Sixteen, background)).unwrap();
        assert_eq!(themes.current().name, name);
    }
}

/// The roles that a decision rests on.
const DECIDE: [Role; 6] = [
    Role::Text,
    Role::Clear,
    Role::Flagged,
    Role::Blocked,
    Role::Unanalyzable,
    Role::Private,
];

#[test]
fn roles_that_decide_differ_at_every_depth_with_colours() {
    for depth in [Depth::Sixteen, Depth::Palette, Depth::True] {
        for (name, _) in BUILT_IN.iter().filter(|(name, _)| *name != "none") {
            let themes = Themes::new(name, caps(depth, Background::Dark)).unwrap();
            let style = |role| themes.current().style(role);
            for (i, a) in DECIDE.iter().enumerate() {
                for b in &DECIDE[i + 1..] {
                    assert_ne!(style(*a), style(*b), "{name} {depth:?} {a:?} {b:?}");
                }
            }
            for (a, b) in [(Role::Good, Role::Bad), (Role::Gone, Role::New)] {
                assert_ne!(style(a), style(b), "{name} {depth:?} {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn a_hue_that_a_console_draws_unreadably_is_refused() {
    for (pair, hue) in [
        ("white-on-black", "blue"),
        ("white-on-black", "magenta"),
        ("black-on-white", "green"),
        ("black-on-white", "yellow"),
        ("black-on-white", "cyan"),
    ] {
        let text = format!("sixteen = \"{pair}\"\nclear = {{ ansi = \"{hue}\" }}");
        let error = Theme::read("mine", &text, Depth::Sixteen).unwrap_err();
        assert!(matches!(error, ThemeError::Palette { .. }), "{pair} {hue}");
    }
}

/// The error that refuses a palette with these additional lines.
fn refusal_of(lines: &str, depth: Depth) -> String {
    let text = format!("text = {{ fg = \"#ffffff\", bg = \"#202020\" }}\n{lines}");
    Theme::read("mine", &text, depth).unwrap_err().to_string()
}

#[test]
fn a_palette_that_cannot_be_read_is_refused_by_role_and_ratio() {
    let grey = "dim = { fg = \"#7f7f7f\" }";
    assert_eq!(
        refusal_of(grey, Depth::True),
        "the palette `mine` cannot be read by everybody: `dim` on the ground of `text` has a \
         contrast of 4.06:1; 4.5:1 is needed"
    );
    assert!(refusal_of(grey, Depth::Palette).contains("`dim`"));
    let selected = "selected = { bg = \"#e0e0e0\" }";
    let why = refusal_of(selected, Depth::True);
    assert!(
        why.contains("`text` on the ground of `selected` has a contrast of 1.32:1"),
        "{why}"
    );
    let own = "alarm = { fg = \"#ff0000\", bg = \"#a00000\" }";
    assert!(refusal_of(own, Depth::True).contains("`alarm` on the ground of `alarm`"));
    // Cells with their own background are not tinted.
    let fine = "alarm = { fg = \"#000000\", bg = \"#ffffff\" }\nselected = { bg = \"#303030\" }";
    let text = format!("text = {{ fg = \"#ffffff\", bg = \"#202020\" }}\n{fine}");
    Theme::read("mine", &text, Depth::True).unwrap();
}

#[test]
fn a_palette_that_does_not_paint_its_ground_is_refused() {
    for text in [
        "text = { fg = \"#ffffff\" }",
        "text = { bg = \"#000000\" }",
        "dim = { fg = \"#ffffff\" }",
        "selected = { bg = \"#000000\" }",
    ] {
        let error = Theme::read("mine", text, Depth::True).unwrap_err();
        assert!(matches!(error, ThemeError::Unreadable { .. }), "{error}");
    }
}
