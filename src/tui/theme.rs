//! Palettes: every colour on the screen comes from here, by the role it plays.
//!
//! A palette is a file in `themes/`, embedded at build time: for each role a colour for
//! terminals with many colours (`fg`, `bg`: `#rrggbb`), one of the terminal's own sixteen
//! (`ansi`, `ansi_bg`), and attributes, which also stand where there are no colours at all.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::caps::{Background, Depth, TerminalCaps};

macro_rules! roles {
    ($($role:ident = $name:literal),* $(,)?) => {
        /// What a piece of text is; the palette says how that looks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role { $($role),* }

        impl Role {
            pub const ALL: &'static [Role] = &[$(Role::$role),*];

            /// The name in a palette file.
            pub const fn name(self) -> &'static str {
                match self { $(Role::$role => $name),* }
            }
        }
    };
}

roles! {
    Text = "text", Dim = "dim", Strong = "strong", Accent = "accent", Rule = "rule",
    Clear = "clear", Flagged = "flagged", Blocked = "blocked", Unanalyzable = "unanalyzable",
    Good = "good", Bad = "bad", Alarm = "alarm", Mark = "mark", Key = "key",
    Selected = "selected", Cursor = "cursor", Found = "found", Gutter = "gutter",
    Claim = "claim", Stderr = "stderr",
    Keyword = "keyword", Str = "string", Number = "number", Comment = "comment",
    Function = "function", Constant = "constant", Operator = "operator",
}

/// One role's look, as a palette file writes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    fg: Option<String>,
    bg: Option<String>,
    ansi: Option<String>,
    ansi_bg: Option<String>,
    #[serde(default)]
    bold: bool,
    #[serde(default)]
    dim: bool,
    #[serde(default)]
    italic: bool,
    #[serde(default)]
    underline: bool,
    /// Only where no background colour is to be had.
    #[serde(default)]
    or_underline: bool,
    /// Only where no background colour is to be had.
    #[serde(default)]
    or_reverse: bool,
}

/// A palette at one colour depth.
#[derive(Clone, Debug)]
pub struct Theme {
    pub name: String,
    styles: Vec<Style>,
}

impl Theme {
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    fn read(name: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let broken = |why: String| ThemeError::Palette {
            name: name.to_owned(),
            why,
        };
        let looks: BTreeMap<String, Look> =
            toml::from_str(text).map_err(|e| broken(e.to_string()))?;
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
        Ok(Self {
            name: name.to_owned(),
            styles,
        })
    }

    /// No colour, no attribute: what is left when a palette cannot be read.
    fn bare() -> Self {
        Self {
            name: "none".to_owned(),
            styles: Vec::new(),
        }
    }
}

impl Look {
    fn style(&self, depth: Depth) -> Result<Style, String> {
        let mut style = Style::new();
        if let Some(c) = colour(self.fg.as_deref(), self.ansi.as_deref(), depth)? {
            style = style.fg(c);
        }
        if let Some(c) = colour(self.bg.as_deref(), self.ansi_bg.as_deref(), depth)? {
            style = style.bg(c);
        }
        for (on, modifier) in [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            (
                self.or_underline && style.bg.is_none(),
                Modifier::UNDERLINED,
            ),
            (self.or_reverse && style.bg.is_none(), Modifier::REVERSED),
        ] {
            if on {
                style = style.add_modifier(modifier);
            }
        }
        Ok(style)
    }
}

fn colour(rgb: Option<&str>, ansi: Option<&str>, depth: Depth) -> Result<Option<Color>, String> {
    let rgb = rgb
        .map(|text| hex(text).ok_or_else(|| format!("`{text}` is not `#rrggbb`")))
        .transpose()?;
    let ansi = ansi
        .map(|text| {
            text.parse::<Color>()
                .map_err(|_| format!("`{text}` is not one of the sixteen colours"))
        })
        .transpose()?;
    Ok(match depth {
        Depth::None => None,
        Depth::Sixteen => ansi,
        Depth::Palette => rgb.map(|c| Color::Indexed(nearest(c))).or(ansi),
        Depth::True => rgb.map(|(r, g, b)| Color::Rgb(r, g, b)).or(ansi),
    })
}

fn hex(text: &str) -> Option<(u8, u8, u8)> {
    let digits = text
        .strip_prefix('#')
        .filter(|d| d.len() == 6 && d.is_ascii())?;
    let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).ok();
    Some((byte(0)?, byte(2)?, byte(4)?))
}

/// The nearest of xterm's 6×6×6 cube and 24 greys; the first sixteen are the user's own.
fn nearest((r, g, b): (u8, u8, u8)) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let distance = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    let step = |v: u8| {
        (0..6_u8)
            .min_by_key(|i| distance(STEPS[usize::from(*i)], v))
            .unwrap_or(0)
    };
    let (cr, cg, cb) = (step(r), step(g), step(b));
    let far = |x: u8, y: u8, z: u8| distance(x, r) + distance(y, g) + distance(z, b);
    let cube = far(
        STEPS[usize::from(cr)],
        STEPS[usize::from(cg)],
        STEPS[usize::from(cb)],
    );
    let grey = (0..24_u8)
        .min_by_key(|i| far(8 + 10 * i, 8 + 10 * i, 8 + 10 * i))
        .unwrap_or(0);
    let level = 8 + 10 * grey;
    if far(level, level, level) < cube {
        232 + grey
    } else {
        16 + 36 * cr + 6 * cg + cb
    }
}

/// The palettes that come with the program, in the order `t` goes through them.
const BUILT_IN: [(&str, &str); 5] = [
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    (
        "high-contrast",
        include_str!("../../themes/high-contrast.toml"),
    ),
    ("terminal", include_str!("../../themes/terminal.toml")),
    ("none", include_str!("../../themes/none.toml")),
];

/// Why a theme cannot be used.
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
}

/// All palettes at the terminal's colour depth, and which is on.
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
            // Where there are no colours, `none` is the one palette; `t` has nothing to change.
            if caps.depth != Depth::None || name == "none" {
                all.push(Theme::read(name, text, caps.depth)?);
            }
        }
        let name = match choice {
            "auto" | "" => match (caps.depth, caps.background) {
                (Depth::None, _) => "none",
                (_, Background::Dark) => "dark",
                (_, Background::Light) => "light",
                (_, Background::Unknown) => "terminal",
            },
            named if BUILT_IN.iter().any(|(n, _)| *n == named) => named,
            unknown => {
                let names = BUILT_IN.map(|(n, _)| n);
                return Err(ThemeError::Unknown {
                    name: unknown.to_owned(),
                    nearest: super::keys::nearest(unknown, names).to_owned(),
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
    fn without_colours_a_mark_still_differs_from_text() {
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
    fn in_every_palette_a_mark_differs_from_text_and_verdicts_differ_from_each_other() {
        for depth in [Depth::Sixteen, Depth::Palette, Depth::True] {
            for name in ["dark", "light", "high-contrast", "terminal"] {
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
            (Background::Unknown, "terminal"),
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
    fn the_nearest_of_the_256_is_near() {
        assert_eq!(nearest((0, 0, 0)), 16);
        assert_eq!(nearest((255, 255, 255)), 231);
        assert_eq!(nearest((128, 128, 128)), 244);
        assert_eq!(nearest((255, 0, 0)), 196);
    }
}
