//! The drawing surface: plain shapes, smoothed by drawing them at twice the size, and text over them.

use embedded_graphics::Drawable as _;
use embedded_graphics::mono_font::iso_8859_1::{FONT_7X13, FONT_9X15_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{DrawTarget, OriginDimensions, Pixel, Point, RgbColor as _, Size};
use embedded_graphics::text::{Alignment, Baseline, Text};

pub type Colour = [u8; 3];

pub const WHITE: Colour = [255, 255, 255];
pub const INK: Colour = [40, 40, 40];
pub const DIM: Colour = [110, 110, 110];
pub const RULE: Colour = [225, 225, 225];

/// Shapes are drawn at this multiple of the picture's size, then scaled down.
const FINE: usize = 2;

/// The style of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    Title,
    Plain,
}

impl TextStyle {
    const fn font(self) -> &'static MonoFont<'static> {
        match self {
            Self::Title => &FONT_9X15_BOLD,
            Self::Plain => &FONT_7X13,
        }
    }

    /// Pixels from one character to the next.
    pub const fn pitch(self) -> f64 {
        match self {
            Self::Title => 9.0,
            Self::Plain => 7.0,
        }
    }
}

/// Which part of the text is at its position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

struct Label {
    x: f64,
    y: f64,
    text: String,
    at: Anchor,
    style: TextStyle,
    colour: Colour,
}

/// A picture that is being drawn. Positions are in pixels from the top left; shapes are clipped to the picture.
pub struct Canvas {
    wide: usize,
    high: usize,
    pixels: Vec<Colour>,
    labels: Vec<Label>,
}

impl Canvas {
    pub fn new(wide: usize, high: usize) -> Self {
        Self {
            wide,
            high,
            pixels: vec![WHITE; wide * FINE * high * FINE],
            labels: Vec::new(),
        }
    }

    /// Fills a rectangle of fine pixels, clipped to the picture.
    fn fill(&mut self, x: (f64, f64), y: (f64, f64), colour: Colour) {
        let (columns, rows) = (self.wide * FINE, self.high * FINE);
        // Casts from float to integer saturate.
        let end = |n: f64, most: usize| (n.round().max(0.0) as usize).min(most);
        let (left, right) = (end(x.0, columns), end(x.1, columns));
        for row in end(y.0, rows)..end(y.1, rows) {
            if left < right {
                self.pixels[row * columns + left..row * columns + right].fill(colour);
            }
        }
    }

    pub fn rect(&mut self, x: f64, y: f64, wide: f64, high: f64, colour: Colour) {
        let fine = FINE as f64;
        self.fill(
            (x * fine, (x + wide) * fine),
            (y * fine, (y + high) * fine),
            colour,
        );
    }

    /// A line that is `wide` pixels thick.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), wide: f64, colour: Colour) {
        let fine = FINE as f64;
        let room = (self.wide.max(self.high) * FINE) as f64;
        let inside = |n: f64| (n * fine).clamp(-room, 2.0 * room);
        let ((ax, ay), (bx, by)) = (
            (inside(from.0), inside(from.1)),
            (inside(to.0), inside(to.1)),
        );
        let (dx, dy) = (bx - ax, by - ay);
        let long = dx.abs().max(dy.abs());
        let steps = long.ceil().max(1.0);
        // The line is drawn as slices perpendicular to its longer axis, so slices of a slanted line must be
        // longer.
        let half = if long > 0.0 {
            wide * fine / 2.0 * dx.hypot(dy) / long
        } else {
            wide * fine / 2.0
        };
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let (x, y) = (ax + dx * share, ay + dy * share);
            if dx.abs() >= dy.abs() {
                self.fill((x - 0.5, x + 0.5), (y - half, y + half), colour);
            } else {
                self.fill((x - half, x + half), (y - 0.5, y + 0.5), colour);
            }
        }
    }

    pub fn disc(&mut self, x: f64, y: f64, radius: f64, colour: Colour) {
        let fine = FINE as f64;
        let (x, y, radius) = (x * fine, y * fine, radius * fine);
        let mut row = (y - radius).floor();
        while row < y + radius {
            let half = (radius.powi(2) - (row + 0.5 - y).powi(2)).max(0.0).sqrt();
            self.fill((x - half, x + half), (row, row + 1.0), colour);
            row += 1.0;
        }
    }

    /// A sector of a disc. `from` and `to` are fractions of a full turn, clockwise from the top.
    pub fn wedge(&mut self, middle: (f64, f64), radius: f64, from: f64, to: f64, colour: Colour) {
        let fine = FINE as f64;
        let (x, y, radius) = (middle.0 * fine, middle.1 * fine, radius * fine);
        let ends = |at: f64, most: usize| {
            let low = (at - radius).max(0.0) as usize;
            low..((at + radius).max(0.0) as usize + 1).min(most)
        };
        for row in ends(y, self.high * FINE) {
            for column in ends(x, self.wide * FINE) {
                let (dx, dy) = (column as f64 + 0.5 - x, row as f64 + 0.5 - y);
                let turn = dx.atan2(-dy) / std::f64::consts::TAU;
                let turn = if turn < 0.0 { turn + 1.0 } else { turn };
                if dx.hypot(dy) <= radius && from <= turn && turn < to {
                    self.pixels[row * self.wide * FINE + column] = colour;
                }
            }
        }
    }

    /// Text over the shapes, vertically centred at `y`.
    pub fn text(
        &mut self,
        x: f64,
        y: f64,
        text: &str,
        at: Anchor,
        style: TextStyle,
        colour: Colour,
    ) {
        // Labels have one line: replace control characters and plotly's line breaks, which are tags.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        self.labels.push(Label {
            x,
            y,
            text: text.replace("<br>", " ").chars().map(plain).collect(),
            at,
            style,
            colour,
        });
    }

    /// Encodes the picture as PNG.
    ///
    /// # Errors
    /// Those of the encoder.
    pub fn png(self) -> Result<Vec<u8>, png::EncodingError> {
        let mut page = Page {
            wide: self.wide,
            high: self.high,
            bytes: self.halved(),
        };
        for label in &self.labels {
            page.write(label);
        }
        let mut out = Vec::new();
        let (wide, high) = (page.wide as u32, page.high as u32);
        let mut encoder = png::Encoder::new(&mut out, wide, high);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&page.bytes)?;
        writer.finish()?;
        Ok(out)
    }

    fn halved(&self) -> Vec<u8> {
        let columns = self.wide * FINE;
        let mut bytes = Vec::with_capacity(self.wide * self.high * 3);
        for row in 0..self.high {
            for column in 0..self.wide {
                for part in 0..3 {
                    let mut sum = 0;
                    for at in 0..FINE * FINE {
                        let (y, x) = (row * FINE + at / FINE, column * FINE + at % FINE);
                        sum += usize::from(self.pixels[y * columns + x][part]);
                    }
                    bytes.push((sum / (FINE * FINE)) as u8);
                }
            }
        }
        bytes
    }
}

/// The picture at its final size, with the shapes but not yet the text.
struct Page {
    wide: usize,
    high: usize,
    bytes: Vec<u8>,
}

impl Page {
    fn write(&mut self, label: &Label) {
        let [r, g, b] = label.colour;
        let style = MonoTextStyle::new(label.style.font(), Rgb888::new(r, g, b));
        let inside = |n: f64, most: usize| n.clamp(0.0, most as f64) as i32;
        let place = Point::new(inside(label.x, self.wide), inside(label.y, self.high));
        let mut text = Text::with_baseline(&label.text, place, style, Baseline::Middle);
        text.text_style.alignment = match label.at {
            Anchor::Start => Alignment::Left,
            Anchor::Middle => Alignment::Center,
            Anchor::End => Alignment::Right,
        };
        let Ok(_) = text.draw(self);
    }
}

impl OriginDimensions for Page {
    fn size(&self) -> Size {
        Size::new(self.wide as u32, self.high as u32)
    }
}

impl DrawTarget for Page {
    type Color = Rgb888;
    type Error = std::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(
        &mut self,
        pixels: I,
    ) -> Result<(), Self::Error> {
        for Pixel(at, colour) in pixels {
            let (Ok(x), Ok(y)) = (usize::try_from(at.x), usize::try_from(at.y)) else {
                continue;
            };
            if x < self.wide && y < self.high {
                let start = (y * self.wide + x) * 3;
                self.bytes[start..start + 3].copy_from_slice(&[colour.r(), colour.g(), colour.b()]);
            }
        }
        Ok(())
    }
}
