//! Palettes: every colour on the screen comes from here, by role.
//!
//! A palette is a file in `themes/`, embedded at build time. For each role it gives colours for
//! terminals with 256 colours or more (`fg`, `bg`: `#rrggbb`), a hue for terminals with sixteen
//! (`ansi`), and attributes, which also apply without colours. Of 256 colours the nearest to the
//! eye is taken.
//!
//! The terminal decides how the sixteen basic colours look. So a palette paints black or white
//! there, and its hues are those that consoles draw readably on that ground.
//!
//! A palette paints every cell, foreground and background. A palette with unreadable text (a
//! contrast below 4.5:1) is refused.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::caps::{Background, Depth, TerminalCaps};

pub(super) mod contrast;
pub(super) mod space;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vision_tests;

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
    Secret = "secret", Gone = "gone", GoneWord = "gone-word", New = "new", NewWord = "new-word",
    Claim = "claim", Stderr = "stderr",
    Keyword = "keyword", Str = "string", Number = "number", Comment = "comment",
    Function = "function", Constant = "constant", Operator = "operator",
}

/// A palette file's contents.
#[derive(Clone, Debug, Default, Deserialize)]
struct Palette {
    /// Text and ground with sixteen colours; without it, the terminal's default colours.
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

/// Six of the sixteen colours, in the brightness that fits the ground.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Hue {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

impl Hue {
    /// `None` if not every console draws it readably there.
    const fn on(self, pair: Pair) -> Option<Color> {
        Some(match (pair, self) {
            (Pair::WhiteOnBlack, Self::Red) => Color::LightRed,
            (Pair::WhiteOnBlack, Self::Green) => Color::LightGreen,
            (Pair::WhiteOnBlack, Self::Yellow) => Color::LightYellow,
            (Pair::WhiteOnBlack, Self::Cyan) => Color::LightCyan,
            (Pair::BlackOnWhite, Self::Red) => Color::Red,
            (Pair::BlackOnWhite, Self::Blue) => Color::Blue,
            (Pair::BlackOnWhite, Self::Magenta) => Color::Magenta,
            _ => return None,
        })
    }
}

/// One role's look.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    fg: Option<String>,
    bg: Option<String>,
    /// The text's hue with sixteen colours.
    ansi: Option<Hue>,
    #[serde(default)]
    bold: bool,
    #[serde(default)]
    italic: bool,
    #[serde(default)]
    underline: bool,
    /// Only with sixteen colours or none.
    #[serde(default)]
    or_underline: bool,
    /// Only with sixteen colours or none.
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
    const OVER: [Role; 4] = [Role::Selected, Role::Cursor, Role::Found, Role::Secret];

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
            let hue = look.hue(palette.sixteen).map_err(broken)?;
            let mut style = look.style(depth).map_err(broken)?;
            if depth == Depth::Sixteen {
                style.fg = hue;
            }
            styles.push(style);
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
            Depth::Palette => Some(space::nearest((red, green, blue))),
            Depth::True => Some(Color::Rgb(red, green, blue)),
        }
    }

    /// The background of every role that has none of its own.
    pub fn ground(&self) -> Color {
        self.style(Role::Text).bg.unwrap_or(Color::Reset)
    }

    /// Checks every role on every background it can have: its own, or the text's, a selected row's,
    /// the current row's and a match's. Colours chosen by the terminal must be safe, or its
    /// default colours.
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
                    (None, Color::Reset, Color::Reset) => {}
                    (None, fg, bg) if contrast::is_safe(fg, bg) => {}
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
    fn hue(&self, pair: Option<Pair>) -> Result<Option<Color>, String> {
        let Some(hue) = self.ansi else {
            return Ok(None);
        };
        let known = pair.and_then(|pair| hue.on(pair));
        let why = || format!("not every console draws `{hue:?}` readably on its ground");
        known.map(Some).ok_or_else(why)
    }

    fn style(&self, depth: Depth) -> Result<Style, String> {
        let mut style = Style::new();
        if let Some(c) = colour(self.fg.as_deref(), depth)? {
            style = style.fg(c);
        }
        if let Some(c) = colour(self.bg.as_deref(), depth)? {
            style = style.bg(c);
        }
        let plain = depth <= Depth::Sixteen || (style.fg, style.bg) == (None, None);
        let reversed = self.or_reverse && plain;
        for (on, modifier) in [
            (self.bold, Modifier::BOLD),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            (self.or_underline && plain, Modifier::UNDERLINED),
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
        Depth::Palette => rgb.map(space::nearest),
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
pub(super) const BUILT_IN: [(&str, &str); 5] = [
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    (
        "high-contrast",
        include_str!("../../themes/high-contrast.toml"),
    ),
    (
        "colour-blind",
        include_str!("../../themes/colour-blind.toml"),
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
                (Depth::None, _) => "none",
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

    pub fn all(&self) -> &[Theme] {
        &self.all
    }

    /// The index of the current one.
    pub const fn at(&self) -> usize {
        self.on
    }

    pub fn name(&self, at: usize) -> &str {
        self.all.get(at).map_or("", |theme| &theme.name)
    }

    pub fn choose(&mut self, at: usize) {
        self.on = at.min(self.all.len() - 1);
    }

    pub fn next(&mut self) {
        self.on = (self.on + 1) % self.all.len();
    }

    pub fn previous(&mut self) {
        self.on = (self.on + self.all.len() - 1) % self.all.len();
    }
}
