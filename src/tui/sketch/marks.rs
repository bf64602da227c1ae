//! The characters of a sketch: eighths of a block, shades, and braille dots.

/// Eighths of a full block, from empty on.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// A bar that fills `share` (0 to 1) of the columns, in eighths; negative values are hatched.
pub fn bar(share: f64, columns: usize, negative: bool) -> String {
    let share = share.clamp(0.0, 1.0);
    if negative {
        let whole = (share * columns as f64).ceil() as usize;
        return "▒".repeat(whole.min(columns));
    }
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    let whole = (eighths / 8).min(columns);
    let rest = if whole < columns {
        EIGHTHS[eighths % 8]
    } else {
        ""
    };
    format!("{}{rest}", "█".repeat(whole))
}

/// The shade of a share, 0 to 1.
pub fn shade(share: f64) -> char {
    let last = SHADES.len() - 1;
    SHADES[((share.clamp(0.0, 1.0) * last as f64).round() as usize).min(last)]
}

/// A count as the height of a cell: nothing is a dot, and whatever there is has a height.
pub fn spark(count: u64, most: u64) -> char {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    match (count, most) {
        (0, _) | (_, 0) => '·',
        (count, most) => {
            let share = count.min(most) as f64 / most as f64;
            HEIGHTS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
        }
    }
}

/// A grid of braille cells, two by four dots each.
pub struct Dots {
    columns: usize,
    rows: usize,
    /// Each cell's dots, and the trace that drew there last.
    cells: Vec<(u8, usize)>,
}

impl Dots {
    pub fn new(columns: usize, rows: usize) -> Self {
        Self {
            columns,
            rows,
            cells: vec![(0, 0); columns * rows],
        }
    }

    pub fn wide(&self) -> usize {
        self.columns * 2
    }

    pub fn high(&self) -> usize {
        self.rows * 4
    }

    /// Sets the dot at `x` from the left and `y` from the top.
    pub fn set(&mut self, x: usize, y: usize, trace: usize) {
        // Bits of a braille cell: left column from the top, then right column (Unicode order).
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        if x < self.wide() && y < self.high() {
            let cell = &mut self.cells[(y / 4) * self.columns + x / 2];
            *cell = (cell.0 | BITS[y % 4][x % 2], trace);
        }
    }

    /// Sets all dots between two points (Bresenham).
    pub fn line(&mut self, from: (usize, usize), to: (usize, usize), trace: usize) {
        let at = |n: usize| n as i64;
        let (mut x, mut y) = (at(from.0), at(from.1));
        let (to_x, to_y) = (at(to.0), at(to.1));
        let (dx, dy) = ((to_x - x).abs(), -(to_y - y).abs());
        let (step_x, step_y) = ((to_x - x).signum(), (to_y - y).signum());
        let mut error = dx + dy;
        loop {
            self.set(x as usize, y as usize, trace);
            if (x, y) == (to_x, to_y) {
                return;
            }
            let twice = 2 * error;
            if twice >= dy {
                error += dy;
                x += step_x;
            }
            if twice <= dx {
                error += dx;
                y += step_y;
            }
        }
    }

    /// One row as runs of text, each of one trace. An empty cell is a space, because the braille
    /// blank is one of the characters that look like a space but are none.
    pub fn row(&self, row: usize) -> Vec<(String, usize)> {
        let mut runs: Vec<(String, usize)> = Vec::new();
        for (bits, trace) in &self.cells[row * self.columns..(row + 1) * self.columns] {
            let mark = match bits {
                0 => ' ',
                bits => char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' '),
            };
            match runs.last_mut() {
                Some((text, last)) if *last == *trace || *bits == 0 => text.push(mark),
                _ => runs.push((mark.to_string(), *trace)),
            }
        }
        runs
    }
}
