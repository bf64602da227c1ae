//! A screen as cells, read from a terminal.

/// What a cell looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Style {
    pub ink: [u8; 3],
    pub ground: [u8; 3],
    pub bold: bool,
    pub italic: bool,
    pub underline: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Empty for the cell after a wide character.
    pub text: String,
    pub style: Style,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub rows: Vec<Vec<Cell>>,
}

/// A frame, how long it is shown, and the person's action that led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    pub frame: Frame,
    pub milliseconds: u64,
    pub caption: String,
}

impl Frame {
    /// The screen, or `None` while it is half drawn: in a finished one the theme has painted every
    /// cell in 24-bit colour.
    pub fn of(screen: &vt100::Screen) -> Option<Self> {
        let (rows, columns) = screen.size();
        let cell = |y, x| {
            let cell = screen.cell(y, x).unwrap();
            if cell.is_wide_continuation() {
                // It has the style of the wide character that it belongs to.
                let style = style(screen.cell(y, x - 1).unwrap())?;
                return Some(Cell {
                    text: String::new(),
                    style,
                });
            }
            let text = match cell.contents() {
                "" => " ",
                text => text,
            };
            Some(Cell {
                text: text.to_owned(),
                style: style(cell)?,
            })
        };
        let row = |y| {
            (0..columns.get())
                .map(|x| cell(y, x))
                .collect::<Option<_>>()
        };
        let rows = (0..rows.get()).map(row).collect::<Option<_>>()?;
        Some(Self { rows })
    }

    /// The text of each row.
    pub fn text(&self) -> Vec<String> {
        self.rows.iter().map(|row| text(row)).collect()
    }
}

pub fn text(row: &[Cell]) -> String {
    row.iter().map(|cell| cell.text.as_str()).collect()
}

fn style(cell: &vt100::Cell) -> Option<Style> {
    let (mut ink, mut ground) = (colour(cell.fgcolor())?, colour(cell.bgcolor())?);
    if cell.inverse() {
        std::mem::swap(&mut ink, &mut ground);
    }
    Some(Style {
        ink,
        ground,
        bold: cell.bold(),
        italic: cell.italic(),
        underline: cell.underline(),
    })
}

fn colour(colour: vt100::Color) -> Option<[u8; 3]> {
    match colour {
        vt100::Color::Rgb(r, g, b) => Some([r, g, b]),
        _ => None,
    }
}
