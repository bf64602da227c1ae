//! Palettes: every colour on the screen comes from here, by role.
//!
//! A palette is a file in `themes/`, embedded at build time. For each role it gives colours for
//! terminals with 256 colours or more (`fg`, `bg`: `#rrggbb`), and attributes, which also apply
//! without colours. The terminal decides how the sixteen basic colours look, so with sixteen
//! colours a palette uses only one pair, black and white, and attributes.
//!
//! A palette paints every cell, foreground and background. A palette with unreadable text (a
//! contrast below 4.5:1) is refused.
//! read (a contrast below 4.5:1) is refused.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::caps::{Background, Depth, TerminalCaps};

pub(super) mod contrast;

macro_rules! roles {
    ($($role:ident = $name:literal),* $(,)?) => {
        /// A text's role; the palette decides how it looks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role { $($role),* }

        impl Role {
            pub const ALL: &'static [Role] = &[$(Role::$role),*];

            /// The role's name in a palette file.
            pub const fn name(self) -> &'static str {
                match self { $(Role::$role => $name),* }
            }
        }
    };
}

roles! {
    Text = "text", Dim = "dim", Strong = "strong", Accent = "accent", Rule = "rule",
    Clear = "clear", Flagged = "flagged", Blocked = "blocked", Unanalyzable = "unanalyzable",
    Private = "private", Good = "good", Bad = "bad", Alarm = "alarm", Mark = "mark", Key = "key",
    Selected = "selected", Cursor = "cursor", Found = "found", Gutter = "gutter",
    Gone = "gone", GoneWord = "gone-word", New = "new", NewWord = "new-word",
    Claim = "claim", Stderr = "stderr",
    Keyword = "keyword", Str = "string", Number = "number", Comment = "comment",
    Function = "function", Constant = "constant", Operator = "operator",
}

/// A palette file's contents.
#[derive(Clone, Debug, Default, Deserialize)]
struct Palette {
    /// The pair for terminals with sixteen colours; without it, the terminal's default colours.
    sixteen: Option<Pair>,
    #[serde(flatten)]
    looks: BTreeMap<String, Look>,
}

/// The two of the sixteen colours with the most contrast on any terminal.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pair {
    WhiteOnBlack,
    BlackOnWhite,
}

/// One role's look.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    fg: Option<String>,
    bg: Option<String>,
    #[serde(default)]
    bold: bool,
    #[serde(default)]
    italic: bool,
    #[serde(default)]
    underline: bool,
    /// Only if no background colour is available.
    #[serde(default)]
    or_underline: bool,
    /// Only if no background colour is available.
    #[serde(default)]
    or_reverse: bool,
}

/// A palette at one colour depth. All text drawn in it is readable: see [`Theme::check`].
#[derive(Clone, Debug)]
pub struct Theme {
    pub name: String,
    styles: Vec<Style>,
    depth: Depth,
}

impl Theme {
    /// Roles that change the style of cells that are already drawn.
    const OVER: [Role; 3] = [Role::Selected, Role::Cursor, Role::Found];

    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    fn read(name: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let broken = |why: String| ThemeError::Palette {
            name: name.to_owned(),
            why,
        };
        let palette: Palette = toml::from_str(text).map_err(|e| broken(e.to_string()))?;
        let looks = &palette.looks;
        if let Some(unknown) = looks
            .keys()
            .find(|k| !Role::ALL.iter().any(|r| r.name() == *k))
        {
            return Err(broken(format!("no role is called `{unknown}`")));
        }
        let mut styles = Vec::with_capacity(Role::ALL.len());
        for role in Role::ALL {
            let look = looks.get(role.name()).cloned().unwrap_or_default();
            styles.push(look.style(depth).map_err(broken)?);
        }
        let mut theme = Self {
            name: name.to_owned(),
            styles,
            depth,
        };
        if depth == Depth::Sixteen {
            theme.pair(palette.sixteen);
        }
        theme.own_foregrounds();
        theme.check()?;
        Ok(theme)
    }

    fn pair(&mut self, pair: Option<Pair>) {
        let (fg, bg) = match pair {
            None => return,
            Some(Pair::WhiteOnBlack) => (Color::White, Color::Black),
            Some(Pair::BlackOnWhite) => (Color::Black, Color::White),
        };
        if let Some(text) = self.styles.get_mut(Role::Text as usize) {
            *text = text.fg(fg).bg(bg);
        }
        if fg == Color::Black {
            // Terminals that draw bold as bright would turn black into grey.
            for style in &mut self.styles {
                *style = style.remove_modifier(Modifier::BOLD);
            }
        }
    }

    /// Gives every role a foreground, so that none inherits the cell's previous one.
    fn own_foregrounds(&mut self) {
        let text = self.style(Role::Text).fg;
        for (role, style) in Role::ALL.iter().zip(&mut self.styles) {
            if !Self::OVER.contains(role) {
                style.fg = style.fg.or(text);
            }
        }
    }

    /// A colour of a picture; `None` where a palette has no colours for it.
    pub fn pixel(&self, [red, green, blue]: [u8; 3]) -> Option<Color> {
        match self.depth {
            _ if self.ground() == Color::Reset => None,
            Depth::None | Depth::Sixteen => None,
            Depth::Palette => Some(contrast::nearest((red, green, blue))),
            Depth::True => Some(Color::Rgb(red, green, blue)),
        }
    }

    /// The background of every role that has none of its own.
    pub fn ground(&self) -> Color {
        self.style(Role::Text).bg.unwrap_or(Color::Reset)
    }

    /// Checks every role on every background it can have: its own, or the text's, a selected row's,
    /// the current row's and a match's. Colours chosen by the terminal must form its pair of
    /// highest contrast, or be its default colours.
    fn check(&self) -> Result<(), ThemeError> {
        let ground = self.ground();
        for role in Role::ALL.iter().filter(|r| !Self::OVER.contains(r)) {
            let style = self.style(*role);
            let has_ground = style.bg.is_some_and(|bg| bg != ground);
            let over = Self::OVER.iter().filter(|_| !has_ground);
            for on in std::iter::once(role).chain(over) {
                let over = if on == role { style } else { self.style(*on) };
                let fg = over.fg.or(style.fg).unwrap_or(Color::Reset);
                let bg = over.bg.or(style.bg).unwrap_or(ground);
                let unreadable = |ratio: String| ThemeError::Unreadable {
                    name: self.name.clone(),
                    role: role.name(),
                    on: if on == role && !has_ground {
                        Role::Text.name()
                    } else {
                        on.name()
                    },
                    ratio,
                };
                match (contrast::ratio(fg, bg), fg, bg) {
                    (Some(ratio), ..) if ratio >= contrast::NEEDED => {}
                    (Some(ratio), ..) => {
                        // Round down, or 4.496 would read as enough.
                        let ratio = (ratio * 100.0).floor() / 100.0;
                        return Err(unreadable(format!("{ratio:.2}:1")));
                    }
                    (None, Color::Reset, Color::Reset)
                    | (None, Color::White, Color::Black)
                    | (None, Color::Black, Color::White) => {}
                    _ => return Err(unreadable("that nobody knows".to_owned())),
                }
            }
        }
        Ok(())
    }

    /// No colour, no attribute: the fallback for an unreadable palette.
    fn bare() -> Self {
        Self {
            name: "none".to_owned(),
            styles: Vec::new(),
            depth: Depth::None,
        }
    }
}

impl Look {
    fn style(&self, depth: Depth) -> Result<Style, String> {
        let mut style = Style::new();
        if let Some(c) = colour(self.fg.as_deref(), depth)? {
            style = style.fg(c);
        }
        if let Some(c) = colour(self.bg.as_deref(), depth)? {
            style = style.bg(c);
        }
        let reversed = self.or_reverse && style.bg.is_none();
        for (on, modifier) in [
            (self.bold, Modifier::BOLD),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            (
                self.or_underline && style.bg.is_none(),
                Modifier::UNDERLINED,
            ),
            (reversed, Modifier::REVERSED),
        ] {
            if on {
                style = style.add_modifier(modifier);
            }
        }
        if reversed {
            // Terminals that draw bold as bright would turn reversed black on white into grey on
            // white.
            style = style.remove_modifier(Modifier::BOLD);
        }
        Ok(style)
    }
}

fn colour(rgb: Option<&str>, depth: Depth) -> Result<Option<Color>, String> {
    let rgb = rgb
        .map(|text| hex(text).ok_or_else(|| format!("`{text}` is not `#rrggbb`")))
        .transpose()?;
    Ok(match depth {
        Depth::None | Depth::Sixteen => None,
        Depth::Palette => rgb.map(contrast::nearest),
        Depth::True => rgb.map(|(r, g, b)| Color::Rgb(r, g, b)),
    })
}

fn hex(text: &str) -> Option<(u8, u8, u8)> {
    let digits = text
        .strip_prefix('#')
        .filter(|d| d.len() == 6 && d.is_ascii())?;
    let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).ok();
    Some((byte(0)?, byte(2)?, byte(4)?))
}

/// The built-in palettes, in the order that `t` cycles through them.
pub(super) const BUILT_IN: [(&str, &str); 4] = [
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    (
        "high-contrast",
        include_str!("../../themes/high-contrast.toml"),
    ),
    ("none", include_str!("../../themes/none.toml")),
];

/// Why a theme is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("unknown theme `{name}`; the nearest is `{nearest}` (there are auto, {known})")]
    Unknown {
        name: String,
        nearest: String,
        known: String,
    },
    #[error("the palette `{name}` cannot be read: {why}")]
    Palette { name: String, why: String },
    #[error(
        "the palette `{name}` cannot be read by everybody: `{role}` on the ground of `{on}` has a \
         contrast of {ratio}; {needed}:1 is needed", needed = contrast::NEEDED
    )]
    Unreadable {
        name: String,
        role: &'static str,
        on: &'static str,
        ratio: String,
    },
}

/// All palettes at the terminal's colour depth, and the active one.
#[derive(Clone, Debug)]
pub struct Themes {
    all: Vec<Theme>,
    on: usize,
}

impl Themes {
    /// `choice` is `auto` or a palette's name.
    pub fn new(choice: &str, caps: TerminalCaps) -> Result<Self, ThemeError> {
        let mut all = Vec::with_capacity(BUILT_IN.len());
        for (name, text) in BUILT_IN {
            // Without colours, `none` is the only palette, so `t` changes nothing.
            if caps.depth != Depth::None || name == "none" {
                all.push(Theme::read(name, text, caps.depth)?);
            }
        }
        let name = match choice {
            "auto" | "" => match (caps.depth, caps.background) {
                // With sixteen colours or fewer, the terminal's own pair is the one its user reads
                // all day.
                (Depth::None | Depth::Sixteen, _) => "none",
                (_, Background::Dark | Background::Unknown) => "dark",
                (_, Background::Light) => "light",
            },
            named if BUILT_IN.iter().any(|(n, _)| *n == named) => named,
            unknown => {
                let names = BUILT_IN.map(|(n, _)| n);
                return Err(ThemeError::Unknown {
                    name: unknown.to_owned(),
                    nearest: crate::model::closest(unknown, names).to_owned(),
                    known: names.join(", "),
                });
            }
        };
        let on = all.iter().position(|t| t.name == name).unwrap_or(0);
        if all.is_empty() {
            all.push(Theme::bare());
        }
        Ok(Self { all, on })
    }

    pub fn current(&self) -> &Theme {
        // `all` is never empty and `on` is always within it.
        &self.all[self.on]
    }

    pub fn next(&mut self) {
        self.on = (self.on + 1) % self.all.len();
    }
}

#[cfg(test)]
mod tests {
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
    fn t_goes_round() {
        let mut themes = Themes::new("dark", caps(Depth::True, Background::Dark)).unwrap();
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
    fn a_palette_in_sixteen_colours_is_one_pair_and_auto_is_the_terminals_own() {
        for (name, _) in BUILT_IN {
            let themes = Themes::new(name, caps(Depth::Sixteen, Background::Light)).unwrap();
            let text = themes.current().style(Role::Text);
            let pair = (text.fg, text.bg);
            let expected = match name {
                "none" => (None, None),
                "light" => (Some(Color::Black), Some(Color::White)),
                _ => (Some(Color::White), Some(Color::Black)),
            };
            assert_eq!(pair, expected, "{name}");
            for role in Role::ALL.iter().filter(|r| !Theme::OVER.contains(r)) {
                let style = themes.current().style(*role);
                assert_eq!(style.fg, text.fg, "{name} {role:?}");
                assert!(style.bg.is_none() || style.bg == text.bg, "{name} {role:?}");
            }
        }
        for background in [Background::Dark, Background::Light, Background::Unknown] {
            let themes = Themes::new("auto", caps(Depth::Sixteen, background)).unwrap();
            assert_eq!(themes.current().name, "none");
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
        let fine =
            "alarm = { fg = \"#000000\", bg = \"#ffffff\" }\nselected = { bg = \"#303030\" }";
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
}
