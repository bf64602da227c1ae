//! Splits delimited text into records if every reader would split it the same way.

use std::ops::Range;

use super::CELLS;
use super::table::{Record, Table, plain_name};

/// `None` if quotes or carriage returns could make readers split the records differently.
pub fn table(text: &str, delimiter: u8) -> Option<Table> {
    let bytes = text.as_bytes();
    let lone = |(i, b): (usize, &u8)| *b == b'\r' && bytes.get(i + 1) != Some(&b'\n');
    if bytes.iter().enumerate().any(lone) {
        return None;
    }
    let mut records = Vec::new();
    let (mut at, mut all) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = line.trim_end_matches(['\r', '\n']).len();
        let cells = cells(bytes, at..at + end, delimiter)?;
        all += cells.len();
        if all > CELLS {
            return None;
        }
        records.push(Record {
            span: at..at + line.len(),
            cells,
        });
        at += line.len();
    }
    if records.is_empty() {
        return None;
    }
    let header = records.remove(0);
    // If records have one cell more than the header, some readers use the first cell as an index,
    // which shifts every name to another column.
    if records.iter().any(|r| r.cells.len() > header.cells.len()) {
        return None;
    }
    let names = header.cells.iter().enumerate();
    Some(Table {
        names: names
            .map(|(i, cell)| plain_name(&text[cell.clone()], i))
            .collect(),
        records,
        unit: "lines",
        first: 2,
        missing: "",
    })
}

/// The cells of one line. Quotes may only surround a whole cell, and must be doubled inside one.
fn cells(bytes: &[u8], line: Range<usize>, delimiter: u8) -> Option<Vec<Range<usize>>> {
    let mut out = Vec::new();
    let mut start = line.start;
    loop {
        let mut at = start;
        if at < line.end && bytes[at] == b'"' {
            at += 1;
            loop {
                if at >= line.end {
                    return None;
                }
                if bytes[at] != b'"' {
                    at += 1;
                } else if at + 1 < line.end && bytes[at + 1] == b'"' {
                    at += 2;
                } else {
                    at += 1;
                    break;
                }
            }
            if at < line.end && bytes[at] != delimiter {
                return None;
            }
        } else {
            while at < line.end && bytes[at] != delimiter {
                if bytes[at] == b'"' {
                    return None;
                }
                at += 1;
            }
        }
        out.push(start..at);
        if at >= line.end {
            return Some(out);
        }
        start = at + 1;
    }
}
