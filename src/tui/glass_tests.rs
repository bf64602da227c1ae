//! The writer's bytes in two independent emulators, and in terminals with unusual character widths.

use std::num::NonZeroU16;
use std::sync::LazyLock;

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar as _;

use super::canvas::Canvas;
use super::caps::{Background, Depth, TerminalCaps};
use super::charset::Charset;
use super::glass::Glass;
use super::screen::{Drawn, Scene};
use super::text;
use super::theme::{Role, Themes};
use crate::model::{ProposalId, columns};

/// Reads each cell: a character, or nothing in the second cell of a wide one.
pub(super) trait Emulator {
    fn feed(&mut self, bytes: &[u8]);
    fn cell(&self, x: u16, y: u16) -> String;
}

struct Vt100(vt100::Parser);

impl Emulator for Vt100 {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    fn cell(&self, x: u16, y: u16) -> String {
        let cell = self.0.screen().cell(y, x).unwrap();
        match cell.contents() {
            _ if cell.is_wide_continuation() => String::new(),
            "" => " ".to_owned(),
            text => text.to_owned(),
        }
    }
}

struct Avt(avt::Terminal);

impl Emulator for Avt {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.feed([std::str::from_utf8(bytes).unwrap()]);
    }

    fn cell(&self, x: u16, y: u16) -> String {
        let screen = self.0.screen();
        let cell = screen.line(usize::from(y)).unwrap().cells()[usize::from(x)];
        match cell.width() {
            0 => String::new(),
            _ => cell.char().to_string(),
        }
    }
}

/// A terminal that supports only the writer's sequences, with its own width function. A character
/// of width 0 joins the character before the cursor.
pub(super) struct Odd {
    width: fn(char) -> usize,
    cells: Vec<Vec<String>>,
    at: (usize, usize),
    wraps: bool,
}

impl Odd {
    pub(super) fn new(columns: u16, rows: u16, width: fn(char) -> usize) -> Self {
        Self {
            width,
            cells: vec![vec![" ".to_owned(); columns.into()]; rows.into()],
            at: (0, 0),
            wraps: true,
        }
    }

    fn put(&mut self, c: char) {
        let (mut x, mut y) = self.at;
        let (columns, rows) = (self.cells[0].len(), self.cells.len());
        let wide = (self.width)(c);
        if wide == 0 {
            let before = x.min(columns).saturating_sub(1);
            self.cells[y][before].push(c);
            return;
        }
        if x + wide > columns {
            if self.wraps {
                (x, y) = (0, (y + 1).min(rows - 1));
            } else {
                x = columns - 1;
            }
        }
        let end = (x + wide).min(columns);
        // Overwriting half of a wide character also erases its other half.
        if self.cells[y][x].is_empty() && x > 0 {
            self.cells[y][x - 1] = " ".to_owned();
        }
        if self.cells[y].get(end).is_some_and(String::is_empty) {
            self.cells[y][end] = " ".to_owned();
        }
        self.cells[y][x] = c.to_string();
        for hidden in x + 1..end {
            self.cells[y][hidden] = String::new();
        }
        self.at = (x + wide, y);
    }

    fn obey(&mut self, parameters: &str, command: char) {
        let (columns, rows) = (self.cells[0].len(), self.cells.len());
        match (parameters, command) {
            ("?7", 'l') => self.wraps = false,
            ("?7", 'h') => self.wraps = true,
            (at, 'H') => {
                let (y, x) = at.split_once(';').unwrap();
                let place = |n: &str, most: usize| n.parse::<usize>().unwrap().min(most) - 1;
                self.at = (place(x, columns), place(y, rows));
            }
            ("2", 'J') => {
                for row in &mut self.cells {
                    row.fill(" ".to_owned());
                }
            }
            ("2", 'K') => self.cells[self.at.1].fill(" ".to_owned()),
            (_, 'm') | ("?2026" | "?25", 'h' | 'l') | ("?6", 'l') => {}
            ("", 'r') => self.at = (0, 0),
            other => panic!("an unknown command: {other:?}"),
        }
    }
}

impl Emulator for Odd {
    fn feed(&mut self, bytes: &[u8]) {
        let mut chars = std::str::from_utf8(bytes).unwrap().chars();
        while let Some(c) = chars.next() {
            match c {
                '\x0f' => {}
                '\x1b' => match chars.next() {
                    Some('[') => {
                        let mut parameters = String::new();
                        for c in chars.by_ref() {
                            if c.is_ascii_alphabetic() {
                                self.obey(&parameters, c);
                                break;
                            }
                            parameters.push(c);
                        }
                    }
                    Some('(') => assert_eq!(chars.next(), Some('B')),
                    other => panic!("an unknown escape: {other:?}"),
                },
                _ => self.put(c),
            }
        }
    }

    fn cell(&self, x: u16, y: u16) -> String {
        self.cells[usize::from(y)][usize::from(x)].clone()
    }
}

pub(super) fn emulators(columns: u16, rows: u16) -> Vec<Box<dyn Emulator>> {
    let size = |n| NonZeroU16::new(n).unwrap();
    let avt = avt::Terminal::new(columns.into(), rows.into()).unwrap();
    vec![
        Box::new(Vt100(vt100::Parser::new(size(rows), size(columns), 0))),
        Box::new(Avt(avt)),
    ]
}

/// Width functions: the current one, that of East Asian terminals that draw ambiguous characters
/// wide, and some extremely wrong ones.
pub(super) const OPINIONS: [fn(char) -> usize; 5] = [
    |c| c.width().unwrap_or(0),
    |c| c.width_cjk().unwrap_or(0),
    |_| 1,
    |c| if c.is_ascii() { 1 } else { 2 },
    |c| usize::from(c.is_ascii()),
];

fn frame(glass: &mut Glass<Vec<u8>>, buffer: &Buffer, scene: &Scene) -> Vec<u8> {
    let drawn = |_: Rect, to: &mut Buffer| {
        *to = buffer.clone();
        Drawn {
            scene: scene.clone(),
            ..Drawn::default()
        }
    };
    glass.frame(buffer.area, drawn).unwrap();
    glass.written()
}

fn bytes(buffer: &Buffer) -> Vec<u8> {
    frame(
        &mut Glass::new(Vec::new(), Charset::Utf8),
        buffer,
        &Scene::default(),
    )
}

/// Asserts that each terminal cell matches the buffer.
fn assert_shown(emulator: &dyn Emulator, buffer: &Buffer) {
    let area = buffer.area;
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let expected = buffer[(x, y)].symbol();
            assert_eq!(emulator.cell(x, y), expected, "at {x}, {y}");
            let wide = expected.chars().next().and_then(columns).unwrap_or(1);
            for hidden in 1..wide as u16 {
                assert_eq!(emulator.cell(x + hidden, y), "", "at {x}, {y}");
            }
            x += wide as u16;
        }
    }
}

static THEMES: LazyLock<Themes> = LazyLock::new(|| {
    let caps = TerminalCaps {
        depth: Depth::True,
        background: Background::Dark,
    };
    Themes::new("dark", caps).unwrap()
});

/// A field of `n` cells, so that damage to a neighbour is visible.
pub(super) fn field(columns: u16, rows: u16) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    for cell in &mut buffer.content {
        cell.set_symbol("n");
    }
    buffer
}

fn put(buffer: &mut Buffer, x: u16, y: u16, raw: &str) {
    let room = buffer.area.width - x;
    Canvas::new(buffer, THEMES.current()).put(x, y, room, raw, Role::Text);
}

#[test]
fn every_character_that_is_drawn_stands_in_its_own_cells_in_both_emulators() {
    const COLUMNS: u16 = 240;
    const ROWS: u16 = 80;
    // A character that is not drawn becomes an ASCII mark, which `text` tests for every scalar
    // value; this test also writes the marks of the first pages.
    let mut todo = ('\0'..=char::MAX).filter(|c| *c < '\u{1000}' || columns(*c).is_some());
    let mut terminals = emulators(COLUMNS, ROWS);
    let mut more = true;
    while more {
        let mut buffer = field(COLUMNS, ROWS);
        'screen: for y in 0..ROWS {
            for x in (0..COLUMNS).step_by(12) {
                let Some(c) = todo.next() else {
                    more = false;
                    break 'screen;
                };
                put(&mut buffer, x, y, &c.to_string());
                if columns(c).is_some() {
                    put(&mut buffer, x + 4, y, &format!("{c}{c}n{c}"));
                }
            }
        }
        let bytes = bytes(&buffer);
        for terminal in &mut terminals {
            terminal.feed(&bytes);
            assert_shown(&**terminal, &buffer);
        }
    }
}

/// Sequences that join, reorder or change width on some terminals.
pub(super) const SEQUENCES: [&str; 22] = [
    "e\u{301}",
    "a\u{301}\u{301}\u{301}\u{301}\u{301}",
    "கா",
    "காகாகாகா",
    "বাংলা",
    "ที่นี่",
    "ក្រ",
    "👩\u{200d}👩\u{200d}👧",
    "👍🏽",
    "🇩🇪🇫🇷",
    "1\u{fe0f}\u{20e3}",
    "\u{2764}\u{fe0f}",
    "\u{263a}\u{fe0e}",
    "\u{1112}\u{1161}\u{11ab}",
    "가\u{11a8}",
    "سلام",
    "שלום \u{202e}abc",
    "㉈㉈㉈",
    "\u{2630}\u{2631}",
    "\u{1fa75}",
    "\u{1b}[2J\u{9b}2J\r\n\t\u{7}",
    "漢字かな",
];

#[test]
fn sequences_that_join_stand_in_their_own_cells_at_every_column_of_the_edge() {
    const COLUMNS: u16 = 40;
    for sequence in SEQUENCES {
        let mut buffer = field(COLUMNS, COLUMNS);
        for x in 0..COLUMNS {
            put(&mut buffer, x, x, sequence);
        }
        let bytes = bytes(&buffer);
        for mut terminal in emulators(COLUMNS, COLUMNS) {
            terminal.feed(&bytes);
            assert_shown(&*terminal, &buffer);
        }
        for width in OPINIONS.into_iter().take(1) {
            let mut terminal = Odd::new(COLUMNS, COLUMNS, width);
            terminal.feed(&bytes);
            assert_shown(&terminal, &buffer);
        }
    }
}

/// Tests the writer alone: the cells hold characters that the width table would reject.
#[test]
fn neighbours_hold_their_bytes_under_any_width_table_of_a_terminal() {
    const COLUMNS: u16 = 64;
    const ROWS: u16 = 50;
    let mut todo = ('\u{a0}'..='\u{3ffff}')
        .filter(|c| unicode_width::UnicodeWidthChar::width(*c) == Some(1))
        .filter(|c| !c.is_control())
        .step_by(3);
    let mut more = true;
    while more {
        let mut buffer = field(COLUMNS, ROWS);
        'screen: for y in 0..ROWS {
            for x in (1..COLUMNS).step_by(2) {
                let Some(c) = todo.next() else {
                    more = false;
                    break 'screen;
                };
                buffer[(x, y)].set_symbol(c.encode_utf8(&mut [0; 4]));
            }
        }
        let bytes = bytes(&buffer);
        for width in OPINIONS {
            let mut terminal = Odd::new(COLUMNS, ROWS, width);
            terminal.feed(&bytes);
            for y in 0..ROWS {
                for x in (0..COLUMNS).step_by(2) {
                    let held = terminal.cell(x, y);
                    assert_eq!(held.chars().next(), Some('n'), "at {x}, {y}");
                }
            }
        }
    }
}

#[test]
fn a_cell_that_holds_more_than_one_character_is_not_written() {
    for hostile in ["e\u{301}", "\u{200b}", "\u{1b}[2J", "\r", ""] {
        let mut buffer = field(4, 1);
        buffer[(1, 0)].set_symbol(hostile);
        let text = String::from_utf8(bytes(&buffer)).unwrap();
        assert!(text.contains("n?nn"), "{text:?}");
    }
    // Half of a wide character at the edge.
    let mut buffer = field(4, 1);
    buffer[(3, 0)].set_symbol("漢");
    assert!(String::from_utf8(bytes(&buffer)).unwrap().contains("nnn?"));
}

#[test]
fn a_changed_row_is_written_whole_and_an_unchanged_one_is_not() {
    let mut glass = Glass::new(Vec::new(), Charset::Utf8);
    let scene = Scene::default();
    let mut buffer = field(10, 3);
    let first = frame(&mut glass, &buffer, &scene);
    assert_eq!(frame(&mut glass, &buffer, &scene), b"");
    for mut terminal in emulators(10, 3) {
        terminal.feed(&first);
        // Leftover output of another program.
        terminal.feed(b"\x1b[2;1Hxxxxxxxxxx");
        let before = buffer.clone();
        put(&mut buffer, 4, 1, "m");
        let mut again = Glass::new(Vec::new(), Charset::Utf8);
        frame(&mut again, &before, &scene);
        terminal.feed(&frame(&mut again, &buffer, &scene));
        assert_shown(&*terminal, &buffer);
        buffer = before;
    }
}

#[test]
fn a_new_scene_leaves_nothing_of_the_previous_one() {
    let selected = Scene {
        selected: Some(ProposalId::new()),
        ..Scene::default()
    };
    let with_sheet = Scene {
        asked: 1,
        ..Scene::default()
    };
    let with_help = Scene {
        help: true,
        ..Scene::default()
    };
    for scene in [selected, with_sheet, with_help] {
        let mut glass = Glass::new(Vec::new(), Charset::Utf8);
        let buffer = field(20, 4);
        let mut terminals = emulators(20, 4);
        let first = frame(&mut glass, &buffer, &Scene::default());
        let second = frame(&mut glass, &buffer, &scene);
        for terminal in &mut terminals {
            terminal.feed(&first);
            // Another program left a scrolling region, line drawing and origin mode.
            terminal.feed(b"\x1b[2;3r\x1b[?6h\x1b(0garbage\x1b[?7h\x1b[7m more of it");
            terminal.feed(&second);
            assert_shown(&**terminal, &buffer);
        }
    }
}

#[test]
fn a_failed_write_is_followed_by_a_whole_screen() {
    struct Broken(bool, Vec<u8>);
    impl std::io::Write for Broken {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if std::mem::take(&mut self.0) {
                return Err(std::io::ErrorKind::WouldBlock.into());
            }
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let buffer = field(10, 2);
    let draw = |_: Rect, to: &mut Buffer| {
        *to = buffer.clone();
        Drawn::default()
    };
    let mut glass = Glass::new(Broken(true, Vec::new()), Charset::Utf8);
    assert!(glass.frame(buffer.area, draw).is_err());
    glass.frame(buffer.area, draw).unwrap();
    for mut terminal in emulators(10, 2) {
        terminal.feed(&glass.out().1);
        assert_shown(&*terminal, &buffer);
    }
}

#[test]
fn colours_and_attributes_arrive() {
    let mut buffer = field(6, 1);
    let style = Style::new()
        .fg(Color::Rgb(1, 2, 3))
        .bg(Color::Indexed(200))
        .add_modifier(Modifier::BOLD | Modifier::REVERSED | Modifier::UNDERLINED);
    buffer[(2, 0)].set_style(style);
    buffer[(3, 0)].set_style(Style::new().fg(Color::LightRed).bg(Color::Black));
    let size = |n| NonZeroU16::new(n).unwrap();
    let mut parser = vt100::Parser::new(size(1), size(6), 0);
    parser.process(&bytes(&buffer));
    let cell = |x| parser.screen().cell(0, x).unwrap();
    assert_eq!(cell(2).fgcolor(), vt100::Color::Rgb(1, 2, 3));
    assert_eq!(cell(2).bgcolor(), vt100::Color::Idx(200));
    assert!(cell(2).bold() && cell(2).inverse() && cell(2).underline());
    assert_eq!(cell(3).fgcolor(), vt100::Color::Idx(9));
    assert_eq!(cell(3).bgcolor(), vt100::Color::Idx(0));
    assert!(!cell(3).bold() && !cell(3).inverse());
    assert_eq!(cell(4).fgcolor(), vt100::Color::Default);
}

proptest! {
    #[test]
    fn any_text_anywhere_leaves_its_neighbours_alone(
        raw in "\\PC{0,30}|[\\x00-\\x1f\\u{300}-\\u{36f}\\u{b80}-\\u{bff}\\u{1100}-\\u{11ff}\\u{200b}-\\u{202f}a漢]{0,30}",
        x in 0_u16..30,
    ) {
        let mut buffer = field(30, 3);
        put(&mut buffer, x, 1, &raw);
        let drawn = text::cut(&raw, usize::from(30 - x));
        let bytes = bytes(&buffer);
        for mut terminal in emulators(30, 3) {
            terminal.feed(&bytes);
            assert_shown(&*terminal, &buffer);
            let shown: String = (x..30).map(|x| terminal.cell(x, 1)).collect();
            prop_assert!(shown.starts_with(&text::plain(drawn)), "{shown:?}");
        }
    }
}
