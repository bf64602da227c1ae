//! Pictures in cells: half-blocks of two colours, or Braille where there are no colours.

use std::sync::Arc;

use crate::figure::Small;

use super::flow::FlowRow;

pub type Rgb = [u8; 3];

/// One row of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    pub cells: Vec<Cell>,
    /// The colour that counts as paper when only dots can be drawn.
    pub paper: Rgb,
}

/// The colours in a cell: two columns of four, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell([Rgb; 8]);

/// How far a dot's brightness must be from that of the paper, of 255.
const INK: u32 = 48;
/// Up to which difference a dot counts as bare paper.
const BARE: u32 = 24;
/// How many times further from the paper the dots of a drawing are drawn.
const STRONGER: i32 = 3;

/// The dots of Braille in the order of a cell's colours.
const DOTS: [u32; 8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80];

impl Cell {
    /// The colours of the upper and the lower half.
    pub fn halves(&self) -> (Rgb, Rgb) {
        let (upper, lower) = self.0.split_at(4);
        (mean(upper), mean(lower))
    }

    /// The Braille character whose dots are not paper.
    pub fn dots(&self, paper: Rgb) -> char {
        let is_ink = |colour: &Rgb| brightness(*colour).abs_diff(brightness(paper)) >= INK;
        let dots = self.0.iter().zip(DOTS);
        let bits: u32 = dots.filter(|(c, _)| is_ink(c)).map(|(_, dot)| dot).sum();
        char::from_u32(0x2800 + bits).unwrap_or(' ')
    }
}

fn mean(colours: &[Rgb]) -> Rgb {
    let mut out = [0; 3];
    for (i, value) in out.iter_mut().enumerate() {
        let sum: usize = colours.iter().map(|c| usize::from(c[i])).sum();
        *value = u8::try_from(sum / colours.len().max(1)).unwrap_or(u8::MAX);
    }
    out
}

/// The corner that is most like the others.
fn paper(corners: [Rgb; 4]) -> Rgb {
    let unlike = |one: &Rgb| {
        let others = corners.iter();
        others
            .map(|other| brightness(*one).abs_diff(brightness(*other)))
            .sum::<u32>()
    };
    corners.into_iter().min_by_key(unlike).unwrap_or_default()
}

/// Rec. 601 luma.
fn brightness([red, green, blue]: Rgb) -> u32 {
    (u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114) / 1000
}

/// Whether most of it is paper: lines and letters, not a photo.
fn is_drawing(dots: &[Rgb], paper: Rgb) -> bool {
    let bare = |dot: &&Rgb| brightness(**dot).abs_diff(brightness(paper)) < BARE;
    2 * dots.iter().filter(bare).count() > dots.len()
}

/// The colour further away from the paper: lines are thinner than a dot, whose mean hardly shows them.
fn stronger(dot: Rgb, paper: Rgb) -> Rgb {
    let mut out = dot;
    for (i, value) in out.iter_mut().enumerate() {
        let (dot, paper) = (i32::from(dot[i]), i32::from(paper[i]));
        let further = paper + (dot - paper) * STRONGER;
        *value = u8::try_from(further.clamp(0, 255)).unwrap_or(u8::MAX);
    }
    out
}

/// The picture in at most so many columns and rows, with its proportions: a cell is twice as high as
/// wide. A picture is not enlarged.
pub fn rows(small: &Small, columns: usize, rows: usize) -> Vec<FlowRow> {
    let (wide, high) = (small.wide as f64, small.high as f64);
    let scale = (columns as f64 / wide)
        .min(2.0 * rows as f64 / high)
        .min(1.0);
    let columns = ((wide * scale).round() as usize).clamp(1, columns.max(1));
    let rows = ((high * scale / 2.0).round() as usize).clamp(1, rows.max(1));
    let part = |at: usize, of: usize| (at as f64 / of as f64, (at + 1) as f64 / of as f64);
    let (wide, high) = (columns * 2, rows * 4);
    let dots = (0..high).flat_map(|y| (0..wide).map(move |x| (x, y)));
    let mut dots: Vec<Rgb> = dots
        .map(|(x, y)| small.mean(part(x, wide), part(y, high)))
        .collect();
    let (right, bottom) = (wide - 1, (high - 1) * wide);
    let paper = paper([0, right, bottom, bottom + right].map(|at| dots[at]));
    if is_drawing(&dots, paper) {
        for dot in &mut dots {
            *dot = stronger(*dot, paper);
        }
    }
    let colour = |x: usize, y: usize| dots[y * wide + x];
    let strip = |y: usize| {
        let cell = |x: usize| {
            let mut colours = [[0; 3]; 8];
            for (i, one) in colours.iter_mut().enumerate() {
                *one = colour(x * 2 + i % 2, y * 4 + i / 2);
            }
            Cell(colours)
        };
        FlowRow {
            strip: Some(Arc::new(Strip {
                cells: (0..columns).map(cell).collect(),
                paper,
            })),
            ..FlowRow::default()
        }
    };
    (0..rows).map(strip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INKED: Rgb = [0, 0, 0];
    const PAPER: Rgb = [255, 255, 255];

    fn small(wide: usize, high: usize, colour: impl Fn(usize, usize) -> Rgb) -> Small {
        let all = (0..high).flat_map(|y| (0..wide).map(move |x| (x, y)));
        Small {
            wide,
            high,
            rgb: all.flat_map(|(x, y)| colour(x, y)).collect(),
            of: (wide as u32, high as u32),
        }
    }

    fn strips(small: &Small, columns: usize, high: usize) -> Vec<Arc<Strip>> {
        let rows = rows(small, columns, high);
        rows.into_iter().map(|row| row.strip.unwrap()).collect()
    }

    #[test]
    fn a_picture_keeps_its_proportions_and_fits() {
        for (size, room, expected) in [
            ((320, 240), (80, 12), (32, 12)),
            ((320, 240), (20, 40), (20, 8)),
            ((4, 4), (80, 40), (4, 2)),
            ((320, 1), (10, 10), (10, 1)),
        ] {
            let found = strips(&small(size.0, size.1, |_, _| PAPER), room.0, room.1);
            assert_eq!((found[0].cells.len(), found.len()), expected, "{size:?}");
        }
    }

    #[test]
    fn halves_have_their_colours_and_dots_their_places() {
        let upper = small(2, 4, |_, y| if y < 2 { [200, 0, 0] } else { [0, 0, 90] });
        let cell = strips(&upper, 1, 1)[0].cells[0];
        assert_eq!(cell.halves(), ([200, 0, 0], [0, 0, 90]));
        for (i, dot) in DOTS.into_iter().enumerate() {
            let mut colours = [PAPER; 8];
            colours[i] = INKED;
            let drawn = Cell(colours).dots(PAPER);
            assert_eq!(u32::from(drawn), 0x2800 + dot, "{i}");
        }
        assert_eq!(Cell([PAPER; 8]).dots(PAPER), '\u{2800}');
    }

    /// A line one pixel wide in a picture of which sixteen pixels make a dot across.
    #[test]
    fn a_thin_line_is_seen_and_the_paper_stays_bare() {
        let line = small(320, 320, |x, _| if x == 165 { INKED } else { PAPER });
        let drawn = strips(&line, 20, 40);
        let dots: Vec<char> = drawn[0].cells.iter().map(|c| c.dots(PAPER)).collect();
        assert!(dots[10] != '\u{2800}', "{dots:?}");
        assert_eq!(dots.iter().filter(|c| **c != '\u{2800}').count(), 1);
        let grey = small(40, 40, |x, y| [(x * 6) as u8, (y * 6) as u8, 90]);
        let first = strips(&grey, 20, 40)[0].cells[0].halves().0;
        assert_eq!(first, [3, 3, 90], "a photo keeps its colours");
    }
}
