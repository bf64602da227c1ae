//! The page in paragraphs, and in rows for plain lines.

use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::gutter::Gutter;
use super::super::plain::SaidRow;
use super::super::screen::spoken_dossier as spoken;
use super::super::theme::Role;
use super::{Dossier, Row};

/// Columns before the text of a part.
const INDENT: usize = 2;
/// Columns of a time since the record before.
const GAP: usize = 12;
/// Columns before what goes on behind a label.
const HANG: usize = 4;

impl Dossier {
    /// The page at one width; its parts begin at [`Flow::starts`].
    pub(in crate::tui) fn flow(&self, width: u16) -> Flow {
        let mut all = Flow::default();
        for (part, rows) in &self.parts {
            if !all.rows.is_empty() {
                all.rows.extend(Flow::new(&[Para::default()], width).rows);
            }
            all.starts.push(all.rows.len());
            let heading = Para::new(part.name(), Role::Accent);
            let wide = widest(rows);
            let paras = rows.iter().flat_map(|row| paras(row, wide));
            let paras: Vec<Para> = std::iter::once(heading).chain(paras).collect();
            all.rows.extend(Flow::new(&paras, width).rows);
        }
        all
    }

    /// The same for plain lines, and the rows on which its parts begin.
    pub(in crate::tui) fn said(&self) -> (Vec<SaidRow>, Vec<usize>) {
        let (mut out, mut starts) = (Vec::new(), Vec::new());
        for (part, rows) in &self.parts {
            starts.push(out.len());
            out.push(part.name().to_owned());
            for row in rows {
                match row {
                    Row::Told(text, _) => out.push(spoken::sentence("", text)),
                    Row::Field(label, text, _) | Row::Timed(label, text) => {
                        out.push(spoken::sentence(label, text));
                    }
                    Row::Finding(text, _) => out.push(spoken::sentence("finding", text)),
                    Row::Code(number, parts, found) => {
                        let text: String = parts.iter().map(|(text, _)| text.as_str()).collect();
                        out.extend(spoken::code(*number, &text, *found));
                    }
                    Row::Diff(diff) => {
                        let rows = spoken::diff(diff).into_iter();
                        out.extend(rows.map(|row| row.text));
                    }
                    Row::Line(gutter, number, text) => {
                        out.extend(spoken::line(gutter.said(), *number, text));
                    }
                }
            }
        }
        let row = |text| SaidRow {
            text,
            finding: None,
        };
        (out.into_iter().map(row).collect(), starts)
    }
}

/// Columns of the largest number of a line.
fn widest(rows: &[Row]) -> usize {
    let numbers = rows.iter().map(|row| match row {
        Row::Code(number, ..) => *number,
        _ => 1,
    });
    numbers.max().unwrap_or(1).to_string().len()
}

fn paras(row: &Row, wide: usize) -> Vec<Para> {
    let one = match row {
        Row::Told(text, role) => claim::and(Para::default().indent(INDENT).hang(2), text, *role),
        Row::Timed(gap, text) => {
            let gap = format!("{gap:>GAP$}  ");
            let para = Para::new(&*gap, Role::Dim).hang(gap.len());
            claim::and(para, text, Role::Text)
        }
        Row::Field(label, text, role) => {
            let para = claim::and(Para::default().indent(INDENT), label, Role::Dim);
            let para = para.and("  ", Role::Dim).hang(HANG);
            claim::and(para, text, *role)
        }
        Row::Finding(text, role) => {
            let para = Para::new("▲ ", *role).indent(INDENT + wide + 3).hang(2);
            claim::and(para, text, *role)
        }
        Row::Code(number, parts, found) => {
            let gutter = Gutter::numbered(*number, wide, *found).indent(INDENT);
            let mut para = Para::default();
            for (text, role) in parts {
                para = para.given(text, *role);
            }
            para.behind(gutter)
        }
        Row::Line(gutter, _, text) => {
            let para = Para::default().given(text, Role::Text);
            para.behind(gutter.indent(INDENT))
        }
        Row::Diff(diff) => return diff.paras(),
    };
    vec![one]
}
