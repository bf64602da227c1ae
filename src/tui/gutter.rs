//! The gutter: what stands before each row of a run's text, in columns in which the run cannot print. The program's own
//! rows have none, so no text of a run can pass for one of them, without colours either.

use crate::model::StreamName;

use super::text;
use super::theme::Role;

/// Ends every gutter. Frames and rules use other signs.
const BAR: &str = "┊ ";

/// The gutter of a line: `┊ ` for standard output, `err┊ ` for standard error, and how often it was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gutter {
    stream: StreamName,
    rewritten: usize,
    /// Columns before it.
    indent: usize,
    numbered: Option<Numbered>,
}

/// A line of code: its number, the columns of the largest one, and whether a finding is about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    number: usize,
    wide: usize,
    found: bool,
}

impl Gutter {
    /// Of text that came another way than through a stream: files, charts, messages.
    pub const PLAIN: Self = Self::of(StreamName::Stdout, 0);

    pub const fn of(stream: StreamName, rewritten: usize) -> Self {
        Self {
            stream,
            rewritten,
            indent: 0,
            numbered: None,
        }
    }

    /// Of a line of code.
    pub const fn numbered(number: usize, wide: usize, found: bool) -> Self {
        Self {
            numbered: Some(Numbered {
                number,
                wide,
                found,
            }),
            ..Self::PLAIN
        }
    }

    /// The same, so many columns further right.
    pub const fn indent(self, columns: usize) -> Self {
        Self {
            indent: columns,
            ..self
        }
    }

    /// The words before the bar.
    fn label(self) -> String {
        if let Some(Numbered {
            number,
            wide,
            found,
        }) = self.numbered
        {
            let mark = if found { "▲" } else { " " };
            return format!("{number:wide$} {mark}");
        }
        let stream = match self.stream {
            StreamName::Stdout => "",
            StreamName::Stderr => "err",
        };
        match self.rewritten {
            0 => stream.to_owned(),
            times => format!("{stream} ← {times}×").trim_start().to_owned(),
        }
    }

    pub fn columns(&self) -> usize {
        self.indent + text::width(&self.label()) + text::width(BAR)
    }

    /// `goes_on`: before a row that continues a line, blanks stand for the words.
    pub fn spans(&self, goes_on: bool) -> [(String, Role); 1] {
        let label = self.label();
        let label = match goes_on {
            true => " ".repeat(text::width(&label)),
            false => label,
        };
        [(" ".repeat(self.indent) + &label + BAR, Role::Dim)]
    }

    /// The same for a voice.
    pub const fn said(self) -> &'static str {
        match self.stream {
            StreamName::Stdout => "run: ",
            StreamName::Stderr => "err: ",
        }
    }
}
