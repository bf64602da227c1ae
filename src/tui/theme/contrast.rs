//! The contrast between two colours by WCAG 2, from 1:1 to 21:1.

use ratatui::style::Color;

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
    let (r, g, b) = match colour {
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(i) => xterm(i)?,
        _ => return None,
    };
    let linear = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.040_45 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    Some(0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b))
}

/// The levels of xterm's 6×6×6 cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// xterm's cube and greys; the terminal defines the first sixteen colours.
fn xterm(index: u8) -> Option<(u8, u8, u8)> {
    let step = |i: u8| STEPS[usize::from(i % 6)];
    match index {
        ..16 => None,
        16..232 => {
            let i = index - 16;
            Some((step(i / 36), step(i / 6), step(i)))
        }
        232.. => {
            let level = 8 + 10 * (index - 232);
            Some((level, level, level))
        }
    }
}

/// The nearest colour of the cube and the greys.
pub fn nearest((r, g, b): (u8, u8, u8)) -> Color {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    let far = |i: u8| {
        xterm(i).map_or(u32::MAX, |(x, y, z)| {
            square(x, r) + square(y, g) + square(z, b)
        })
    };
    Color::Indexed((16..=u8::MAX).min_by_key(|i| far(*i)).unwrap_or(16))
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

    #[test]
    fn the_nearest_of_the_256_is_near() {
        assert_eq!(nearest((0, 0, 0)), Color::Indexed(16));
        assert_eq!(nearest((255, 255, 255)), Color::Indexed(231));
        assert_eq!(nearest((128, 128, 128)), Color::Indexed(244));
        assert_eq!(nearest((255, 0, 0)), Color::Indexed(196));
        for i in 16..=u8::MAX {
            let colour = xterm(i).unwrap();
            let Color::Indexed(found) = nearest(colour) else {
                panic!("{i}");
            };
            assert_eq!(xterm(found), Some(colour));
        }
    }
}
