//! Colours as numbers: sRGB, linear light, xterm's 256, and OKLab, in which equal distances look about equal.

use std::sync::LazyLock;

use ratatui::style::Color;

/// Red, green and blue, linear, from 0 to 1.
pub type Light = [f64; 3];

/// The levels of xterm's 6×6×6 cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// xterm's cube and greys; the terminal defines the first sixteen colours.
pub fn xterm(index: u8) -> Option<(u8, u8, u8)> {
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

/// `None` for colours that differ between terminals.
pub fn light(colour: Color) -> Option<Light> {
    let (r, g, b) = match colour {
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(i) => xterm(i)?,
        _ => return None,
    };
    Some([r, g, b].map(linear))
}

/// IEC 61966-2-1.
fn linear(v: u8) -> f64 {
    let v = f64::from(v) / 255.0;
    if v <= 0.040_45 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

pub type Matrix = [[f64; 3]; 3];

pub fn times(matrix: &Matrix, vector: Light) -> Light {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

/// Ottosson 2020, "A perceptual color space for image processing".
pub fn oklab(light: Light) -> [f64; 3] {
    const CONES: Matrix = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ];
    const OPPONENT: Matrix = [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ];
    times(&OPPONENT, times(&CONES, light).map(f64::cbrt))
}

/// The distance of two colours in OKLab; about 0.02 is just visible.
#[cfg(test)]
pub fn distance(a: Light, b: Light) -> f64 {
    square(oklab(a), oklab(b)).sqrt()
}

/// The square of the distance of two colours given in OKLab.
fn square(one: [f64; 3], other: [f64; 3]) -> f64 {
    let pairs = one.into_iter().zip(other);
    pairs.map(|(a, b)| (a - b).powi(2)).sum()
}

/// The cube and the greys in OKLab.
static PALETTE: LazyLock<Vec<(u8, [f64; 3])>> = LazyLock::new(|| {
    let fixed = (16..=u8::MAX).filter_map(|i| Some((i, oklab(light(Color::Indexed(i))?))));
    fixed.collect()
});

/// The colour of the cube and the greys that looks nearest.
pub fn nearest((r, g, b): (u8, u8, u8)) -> Color {
    let wanted = oklab([r, g, b].map(linear));
    let far = PALETTE.iter().map(|(i, lab)| (*i, square(*lab, wanted)));
    let found = far.min_by(|(_, a), (_, b)| a.total_cmp(b));
    Color::Indexed(found.map_or(16, |(i, _)| i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_is_the_published_one() {
        let white = oklab([1.0, 1.0, 1.0]);
        assert!((white[0] - 1.0).abs() < 1e-3 && white[1].abs() < 1e-3 && white[2].abs() < 1e-3);
        // Ottosson's own example: red.
        let red = oklab([1.0, 0.0, 0.0]);
        for (found, published) in red.into_iter().zip([0.628, 0.225, 0.126]) {
            assert!((found - published).abs() < 1e-3, "{red:?}");
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
