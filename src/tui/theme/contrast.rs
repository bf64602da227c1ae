//! The contrast between two colours by WCAG 2, from 1:1 to 21:1.

use ratatui::style::Color;

use super::space::light;

/// The least contrast for text (WCAG 2.2, 1.4.3, level AA). Applies to rules and bars too, because
/// they carry words.
pub const NEEDED: f64 = 4.5;

/// The contrast ratio of a pair; `None` if the terminal's palette decides.
pub fn ratio(fg: Color, bg: Color) -> Option<f64> {
    let (a, b) = (luminance(fg)?, luminance(bg)?);
    Some((a.max(b) + 0.05) / (a.min(b) + 0.05))
}

/// WCAG 2's relative luminance; `None` for colours that differ between terminals.
fn luminance(colour: Color) -> Option<f64> {
    let [r, g, b] = light(colour)?;
    Some(0.2126 * r + 0.7152 * g + 0.0722 * b)
}

/// Whether the terminals that have only sixteen colours draw this pair of them readably, whichever
/// is the ground.
pub fn is_safe(fg: Color, bg: Color) -> bool {
    let is_pair = |text: Color, ground: Color| match ground {
        Color::Black => matches!(
            text,
            Color::White
                | Color::LightRed
                | Color::LightGreen
                | Color::LightYellow
                | Color::LightCyan
        ),
        Color::White => matches!(
            text,
            Color::Black | Color::Red | Color::Blue | Color::Magenta
        ),
        _ => false,
    };
    is_pair(fg, bg) || is_pair(bg, fg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratios_are_those_of_wcag() {
        let grey = |v| Color::Rgb(v, v, v);
        let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 0.01;
        assert!(near(ratio(grey(0), grey(255)), 21.0));
        assert!(near(ratio(grey(255), grey(0)), 21.0));
        assert!(near(ratio(grey(7), grey(7)), 1.0));
        // The darkest accepted and the lightest refused grey on white.
        assert!(near(ratio(grey(0x76), grey(255)), 4.54));
        assert!(near(ratio(grey(0x77), grey(255)), 4.48));
        assert!(near(ratio(Color::Rgb(255, 0, 0), grey(255)), 4.0));
        assert!(near(ratio(Color::Indexed(196), Color::Indexed(231)), 4.0));
    }

    #[test]
    fn colours_that_the_terminal_decides_have_no_ratio() {
        for own in [Color::Reset, Color::Black, Color::White, Color::Indexed(15)] {
            assert_eq!(ratio(own, Color::Rgb(0, 0, 0)), None, "{own}");
            assert_eq!(ratio(Color::Rgb(0, 0, 0), own), None, "{own}");
        }
    }

    /// The first sixteen colours of terminals that are used without more: the Linux console, xterm,
    /// PuTTY, the Windows console.
    const CONSOLES: [(&str, [u32; 16]); 4] = [
        (
            "linux",
            [
                0x00_0000, 0xaa_0000, 0x00_aa00, 0xaa_5500, 0x00_00aa, 0xaa_00aa, 0x00_aaaa,
                0xaa_aaaa, 0x55_5555, 0xff_5555, 0x55_ff55, 0xff_ff55, 0x55_55ff, 0xff_55ff,
                0x55_ffff, 0xff_ffff,
            ],
        ),
        (
            "xterm",
            [
                0x00_0000, 0xcd_0000, 0x00_cd00, 0xcd_cd00, 0x00_00ee, 0xcd_00cd, 0x00_cdcd,
                0xe5_e5e5, 0x7f_7f7f, 0xff_0000, 0x00_ff00, 0xff_ff00, 0x5c_5cff, 0xff_00ff,
                0x00_ffff, 0xff_ffff,
            ],
        ),
        (
            "putty",
            [
                0x00_0000, 0xbb_0000, 0x00_bb00, 0xbb_bb00, 0x00_00bb, 0xbb_00bb, 0x00_bbbb,
                0xbb_bbbb, 0x55_5555, 0xff_5555, 0x55_ff55, 0xff_ff55, 0x55_55ff, 0xff_55ff,
                0x55_ffff, 0xff_ffff,
            ],
        ),
        (
            "windows",
            [
                0x0c_0c0c, 0xc5_0f1f, 0x13_a10e, 0xc1_9c00, 0x00_37da, 0x88_1798, 0x3a_96dd,
                0xcc_cccc, 0x76_7676, 0xe7_4856, 0x16_c60c, 0xf9_f1a5, 0x3b_78ff, 0xb4_009e,
                0x61_d6d6, 0xf2_f2f2,
            ],
        ),
    ];

    #[test]
    fn the_safe_hues_can_be_read_on_the_consoles() {
        const NAMED: [Color; 16] = [
            Color::Black,
            Color::Red,
            Color::Green,
            Color::Yellow,
            Color::Blue,
            Color::Magenta,
            Color::Cyan,
            Color::Gray,
            Color::DarkGray,
            Color::LightRed,
            Color::LightGreen,
            Color::LightYellow,
            Color::LightBlue,
            Color::LightMagenta,
            Color::LightCyan,
            Color::White,
        ];
        for (name, colours) in CONSOLES {
            let rgb = |i: usize| {
                let [_, r, g, b] = colours[i].to_be_bytes();
                Color::Rgb(r, g, b)
            };
            for (i, fg) in NAMED.iter().enumerate() {
                for (j, bg) in NAMED
                    .iter()
                    .enumerate()
                    .filter(|(_, bg)| is_safe(*fg, **bg))
                {
                    let ratio = ratio(rgb(i), rgb(j)).unwrap();
                    assert!(ratio >= NEEDED, "{name}: {fg} on {bg} {ratio:.2}");
                }
            }
        }
    }
}
