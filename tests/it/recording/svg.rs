//! Frames as SVG: each row is defined once; a moving picture shows frames in turn by CSS alone,
//! without a script.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::frame::{Cell, Frame, Shot, Style};

/// A cell's width in tenths of a unit, its height, and the baseline of its letters.
const CELL: (u32, u32, u32) = (84, 18, 13);
const MARGIN: u32 = 12;
const CAPTION: u32 = 34;

/// The styles and rows of a picture, each written once.
#[derive(Default)]
struct Sheet {
    inks: BTreeMap<Style, usize>,
    rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// The class for a style's letters. The background is drawn separately.
    fn class(&mut self, style: Style) -> usize {
        let letters = Style {
            ground: [0; 3],
            ..style
        };
        let next = self.inks.len();
        *self.inks.entry(letters).or_insert(next)
    }

    /// The number of a row.
    fn row(&mut self, row: &[Cell]) -> usize {
        self.rows.iter().position(|r| r == row).unwrap_or_else(|| {
            self.rows.push(row.to_vec());
            self.rows.len() - 1
        })
    }

    /// A frame as `<use>` references to its rows.
    fn frame(&mut self, frame: &Frame) -> String {
        let mut out = String::new();
        for (y, row) in frame.rows.iter().enumerate() {
            let number = self.row(row);
            let y = u32::try_from(y).unwrap() * CELL.1;
            write!(out, "<use href=\"#r{number}\" y=\"{y}\"/>").unwrap();
        }
        out
    }

    /// Definitions of every row, drawn at the top, and of the classes they use.
    fn definitions(&mut self, ground: [u8; 3]) -> String {
        let rows = std::mem::take(&mut self.rows);
        let mut out = String::new();
        for (number, row) in rows.iter().enumerate() {
            write!(out, "<g id=\"r{number}\">").unwrap();
            self.grounds(row, ground, &mut out);
            self.letters(row, &mut out);
            out += "</g>\n";
        }
        out
    }

    fn grounds(&self, row: &[Cell], ground: [u8; 3], out: &mut String) {
        for (x, cells) in runs(row, |a, b| a.style.ground == b.style.ground) {
            let colour = cells[0].style.ground;
            if colour != ground {
                let (x, width, height) = (tenths(x), tenths(cells.len()), CELL.1);
                let colour = hex(colour);
                write!(
                    out,
                    "<rect x=\"{x}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>"
                )
                .unwrap();
            }
        }
    }

    fn letters(&mut self, row: &[Cell], out: &mut String) {
        let same = |a: &Cell, b: &Cell| {
            (Style {
                ground: [0; 3],
                ..a.style
            }) == Style {
                ground: [0; 3],
                ..b.style
            }
        };
        for (start, cells) in runs(row, same) {
            // Words drawn separately keep their places in every font.
            let blank = |cell: &Cell| cell.text == " ";
            for (from, words) in runs(cells, |a, b| blank(a) == blank(b)) {
                if blank(&words[0]) && !words[0].style.underline {
                    continue;
                }
                let (text, y) = (escaped(words), CELL.2);
                let class = self.class(words[0].style);
                let place = placed(start + from, words);
                write!(
                    out,
                    "<text class=\"c{class}\" y=\"{y}\" {place}>{text}</text>"
                )
                .unwrap();
            }
        }
    }

    fn classes(&self) -> String {
        let mut out = String::new();
        for (style, number) in &self.inks {
            write!(out, ".c{number}{{fill:{}", hex(style.ink)).unwrap();
            out += if style.bold { ";font-weight:bold" } else { "" };
            out += if style.italic {
                ";font-style:italic"
            } else {
                ""
            };
            out += if style.underline {
                ";text-decoration:underline"
            } else {
                ""
            };
            out += "}";
        }
        out
    }
}

/// Runs of similar neighbouring cells, each with its start.
fn runs(cells: &[Cell], alike: impl Fn(&Cell, &Cell) -> bool) -> Vec<(usize, &[Cell])> {
    let mut at = 0;
    let chunks = cells.chunk_by(|a, b| alike(a, b));
    chunks
        .map(|chunk| {
            at += chunk.len();
            (at - chunk.len(), chunk)
        })
        .collect()
}

/// Positions of letters: each text is as wide as its cells. Braille dots of charts are placed one
/// by one, because many fonts lack them and substitutes have any width.
fn placed(start: usize, cells: &[Cell]) -> String {
    let dots = |cell: &Cell| {
        cell.text
            .starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
    };
    if cells.iter().any(dots) {
        let places = (start..start + cells.len()).map(tenths);
        return format!("x=\"{}\"", places.collect::<Vec<_>>().join(" "));
    }
    format!(
        "x=\"{}\" textLength=\"{}\"",
        tenths(start),
        tenths(cells.len())
    )
}

fn tenths(cells: usize) -> String {
    let tenths = u32::try_from(cells).unwrap() * CELL.0;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(cells: &[Cell]) -> String {
    super::frame::text(cells)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The background colour of most cells.
fn ground(frame: &Frame) -> [u8; 3] {
    let mut counts: BTreeMap<[u8; 3], usize> = BTreeMap::new();
    for cell in frame.rows.iter().flatten() {
        *counts.entry(cell.style.ground).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, n)| *n).unwrap().0
}

/// A frame's width and height.
fn size(frame: &Frame) -> (u32, u32) {
    let (columns, rows) = (frame.rows[0].len(), frame.rows.len());
    let width = (u32::try_from(columns).unwrap() * CELL.0).div_ceil(10);
    (
        width + 2 * MARGIN,
        u32::try_from(rows).unwrap() * CELL.1 + 2 * MARGIN,
    )
}

fn document(width: u32, height: u32, style: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace\" font-size=\"14\">\n\
         <style>text{{white-space:pre}}{style}</style>\n{body}</svg>\n"
    )
}

fn window(width: u32, height: u32, ground: [u8; 3]) -> String {
    let (ground, width, height) = (hex(ground), width - 1, height - 1);
    format!(
        "<rect x=\".5\" y=\".5\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{ground}\" stroke=\"#8888\"/>"
    )
}

/// A still picture: the frames one below the other.
pub fn still(frames: &[&Frame]) -> String {
    let mut sheet = Sheet::default();
    let ground = ground(frames[0]);
    let (width, height) = size(frames[0]);
    let gap = 16;
    let mut body = String::new();
    for (n, frame) in frames.iter().enumerate() {
        let y = u32::try_from(n).unwrap() * (height + gap);
        let uses = sheet.frame(frame);
        let window = window(width, height, ground);
        writeln!(
            body,
            "<g transform=\"translate(0 {y})\">{window}<g transform=\"translate({MARGIN} {MARGIN})\">{uses}</g></g>"
        )
        .unwrap();
    }
    let definitions = sheet.definitions(ground);
    let all = u32::try_from(frames.len()).unwrap() * (height + gap) - gap;
    let body = format!("<defs>\n{definitions}</defs>\n{body}");
    document(width, all, &sheet.classes(), &body)
}

/// A moving picture: the frames one after the other, repeated. Viewers without motion, and people
/// who turned it off, see the frame `resting`.
pub fn moving(shots: &[Shot], resting: usize) -> String {
    let mut sheet = Sheet::default();
    let ground = ground(&shots[0].frame);
    let (width, height) = size(&shots[0].frame);
    let total: u64 = shots.iter().map(|s| s.milliseconds).sum();
    let percent = |ms: u64| format!("{:.3}%", ms as f64 * 100.0 / total as f64);
    let seconds = total as f64 / 1000.0;
    let mut style = format!(
        ".f{{visibility:hidden;animation-duration:{seconds}s;animation-timing-function:step-end;\
         animation-iteration-count:infinite}}#f{resting}{{visibility:visible}}\
         .k{{fill:#808691;font-size:15px}}"
    );
    let mut body = window(width, height, ground);
    let mut at = 0;
    for (n, shot) in shots.iter().enumerate() {
        let (from, to) = (percent(at), percent(at + shot.milliseconds));
        at += shot.milliseconds;
        // A frame is hidden before and after its turn; the first has no before, and the last no
        // after.
        let before = if n == 0 { "" } else { "0%{visibility:hidden}" };
        let after = if n + 1 == shots.len() {
            String::new()
        } else {
            format!("{to}{{visibility:hidden}}")
        };
        write!(style, "#f{n}{{animation-name:k{n}}}@keyframes k{n}{{{before}{from}{{visibility:visible}}{after}}}").unwrap();
        let uses = sheet.frame(&shot.frame);
        let (x, y, caption) = (MARGIN + 8, height + 22, escape(&shot.caption));
        writeln!(
            body,
            "<g class=\"f\" id=\"f{n}\"><g transform=\"translate({MARGIN} {MARGIN})\">{uses}</g>\
             <text class=\"k\" x=\"{x}\" y=\"{y}\">{caption}</text></g>"
        )
        .unwrap();
    }
    style += "@media(prefers-reduced-motion:reduce){.f{animation:none}}";
    let definitions = sheet.definitions(ground);
    style += &sheet.classes();
    document(
        width,
        height + CAPTION,
        &style,
        &format!("<defs>\n{definitions}</defs>\n{body}"),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
