//! The GIVEN pane: what each input is, its columns, and its first rows. Values of private data are
//! masked; what an agent chose is drawn as a claim.

use std::sync::Arc;

use crate::broker::Entry;
use crate::model::{BoundInput, Column, ColumnSummary, InputKind, Sensitivity, Summary};
use crate::policy::Policy;

use super::super::brought::Brought;
use super::super::claim;
use super::super::flow::Para;
use super::super::keys::Command;
use super::super::text;
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::panes::labelled;

/// The most columns of a data set to name.
const COLUMNS: usize = 60;
/// Columns of a value in a table of rows, and where all columns fit.
const CELL: usize = 14;
const LONGEST: usize = 40;
/// Stands for a value that is not shown.
const MASK: &str = "█";
/// Between two values.
const BETWEEN: &str = " │ ";

/// The pane that tables of rows are made for.
struct Room {
    width: usize,
    /// Whether the rows are heard: a sign in each of them says nothing.
    spoken: bool,
    /// The key that gives it more columns, if it can have more.
    wider: Option<String>,
}

impl Screen<'_> {
    /// Every input, then for each its columns and rows. Without a width only names and types of the
    /// columns.
    pub(super) fn given(&self, entry: &Entry, width: Option<u16>) -> Vec<Para> {
        let policy = self.state.policy_of(entry);
        let bound = entry.inputs().map(Arc::as_ref);
        let mut out = inputs(bound);
        if let Some(policy) = &policy {
            out.extend(told(bound, policy));
        }
        let room = width.map(|width| Room {
            width: usize::from(width),
            spoken: self.ui.common.spoken,
            wider: (width + 2 < self.columns).then(|| self.ui.key(Command::Zoom)),
        });
        for input in bound.unwrap_or_default() {
            match &room {
                Some(room) => out.extend(one(input, room)),
                None => out.extend(column_names(input)),
            }
        }
        out
    }
}

/// Whether the digests of inputs are with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digests {
    Here,
    Elsewhere,
}

/// Every input: its name, kind, size and digest.
pub(super) fn inputs(inputs: Option<&[BoundInput]>) -> Vec<Para> {
    given(inputs, Digests::Here)
}

/// That there are none, or not yet.
fn no_inputs(inputs: Option<&[BoundInput]>) -> Option<Para> {
    match inputs {
        None => Some(Para::new("inputs are being read", Role::Dim)),
        Some([]) => Some(Para::new(words::NO_INPUT, Role::Dim)),
        Some(_) => None,
    }
}

pub(super) fn given(inputs: Option<&[BoundInput]>, digests: Digests) -> Vec<Para> {
    if let Some(none) = no_inputs(inputs) {
        return vec![none];
    }
    let each = inputs.unwrap_or_default().iter().map(|input| {
        let digest = match digests {
            Digests::Here => format!(", sha256 {}", input.sha256.short(8)),
            Digests::Elsewhere => String::new(),
        };
        let size = format!(", {}{digest}", words::bytes(input.bytes));
        input_name(Para::default(), input)
            .and(format!("  {}", kind_of(input, true)), Role::Text)
            .and(size, Role::Dim)
            .hang(2)
    });
    each.collect()
}

/// The inputs one after the other; of data sets nothing that the registry fixes.
pub(super) fn given_briefly(inputs: Option<&[BoundInput]>) -> Para {
    if let Some(none) = no_inputs(inputs) {
        return none;
    }
    let mut para = Para::default();
    for (i, input) in inputs.unwrap_or_default().iter().enumerate() {
        if i > 0 {
            para = para.and(" · ", Role::Dim);
        }
        para = input_name(para, input).and(format!("  {}", kind_of(input, false)), Role::Text);
        if !matches!(input.kind, InputKind::Dataset { .. }) {
            para = para.and(format!(", {}", words::bytes(input.bytes)), Role::Dim);
        }
    }
    para
}

fn input_name(para: Para, input: &BoundInput) -> Para {
    let role = match input.is_private() {
        true => Role::Private,
        false => Role::Strong,
    };
    para.given(input.name.clone(), role)
}

/// `with_format`: whether a data set's file format is worth a word.
fn kind_of(input: &BoundInput, with_format: bool) -> String {
    match &input.kind {
        InputKind::Dataset {
            dataset,
            format,
            rows,
            columns,
            sensitivity,
            ..
        } => format!(
            "data set {dataset}, {} × {}, {}{}",
            words::number(columns.len() as u64),
            words::number(*rows),
            match with_format {
                true => format!("{}, ", format.as_str()),
                false => String::new(),
            },
            match sensitivity {
                Sensitivity::Public => "public",
                Sensitivity::Private => "private",
            }
        ),
        InputKind::Json { .. } => "json the agent brought".to_owned(),
        InputKind::Text { format, .. } => format!("{} the agent brought", format.as_str()),
        InputKind::Artifact {
            id,
            artifact,
            media_type,
            ..
        } => format!("{artifact}, {media_type}, left by {}", words::id_end(*id)),
    }
}

/// The private data sets whose values the policy discloses to the agent.
pub(super) fn told(inputs: Option<&[BoundInput]>, policy: &Policy) -> Option<Para> {
    let names: Vec<&str> = inputs?
        .iter()
        .filter(|input| policy.tells(input))
        .map(|input| input.name.as_str())
        .collect();
    if names.is_empty() {
        return None;
    }
    let names = names.join(", ");
    Some(
        Para::new(format!("▲ {} {names}", words::TOLD), Role::Flagged)
            .and(format!(" ({})", words::TOLD_BY), Role::Text)
            .hang(2),
    )
}

/// Names and types of a data set's columns, up to a readable number.
fn column_names(input: &BoundInput) -> Option<Para> {
    let InputKind::Dataset { columns, .. } = &input.kind else {
        return None;
    };
    let shown = columns.iter().take(COLUMNS);
    let mut names: Vec<String> = shown.map(|c| format!("{} {}", c.name, c.dtype)).collect();
    if columns.len() > COLUMNS {
        names.push(words::more_columns(columns.len() - COLUMNS));
    }
    Some(labelled(&input.name, &names.join(", ")))
}

fn one(input: &BoundInput, room: &Room) -> Vec<Para> {
    if let InputKind::Dataset {
        columns,
        sensitivity,
        summary,
        ..
    } = &input.kind
    {
        let is_private = *sensitivity == Sensitivity::Private;
        return dataset(input, columns, summary.as_deref(), is_private, room);
    }
    let found = input
        .brought()
        .and_then(|text| Brought::read(text, input.format()));
    found.map_or_else(Vec::new, |found| brought_table(input, &found, room))
}

fn heading(input: &BoundInput, what: String) -> [Para; 2] {
    let role = match input.is_private() {
        true => Role::Private,
        false => Role::Strong,
    };
    let head = Para::default()
        .given(input.name.clone(), role)
        .and(format!("  {what}"), Role::Dim);
    [Para::default(), head]
}

fn dataset(
    input: &BoundInput,
    columns: &[Column],
    summary: Option<&Summary>,
    is_private: bool,
    room: &Room,
) -> Vec<Para> {
    let shown = columns.iter().take(COLUMNS);
    let mut out = Vec::from(heading(input, words::columns_of(columns.len(), is_private)));
    for (at, column) in shown.enumerate() {
        let mut para = Para::default()
            .given(column.name.clone(), Role::Text)
            .indent(1)
            .hang(2)
            .and("  ", Role::Dim)
            .given(column.dtype.clone(), Role::Dim);
        if let Some(about) = summary.and_then(|summary| summary.columns.get(at)) {
            let range = match (is_private, column.dtype.as_str()) {
                // Which columns have a range is no value of theirs.
                (true, "object" | "bool") => None,
                (true, _) if room.spoken => None,
                (true, _) => Some(words::range(MASK, MASK)),
                (false, _) => about
                    .least
                    .as_ref()
                    .zip(about.greatest.as_ref())
                    .map(|(least, greatest)| words::range(least, greatest)),
            };
            para = facts(para, range, is_private, about);
        }
        out.push(para);
    }
    if columns.len() > COLUMNS {
        let more = words::more_columns(columns.len() - COLUMNS);
        out.push(Para::new(more, Role::Dim).indent(1));
    }
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    if is_private && room.spoken {
        let said = words::plain::all_masked(columns.len());
        out.push(Para::new(said, Role::Private).indent(1));
    } else if is_private {
        let masks = vec![MASK; names.len().min(COLUMNS)];
        let said = (words::MASKED.to_owned(), Role::Private);
        out.extend(rows(said, &names, &[masks], room, Role::Private));
    } else if let Some(summary) = summary.filter(|summary| !summary.head.is_empty()) {
        let cell = |value: &Option<String>| value.clone().unwrap_or_default();
        let head: Vec<Vec<String>> = summary
            .head
            .iter()
            .map(|row| row.iter().map(cell).collect())
            .collect();
        let said = (words::first_rows(head.len()), Role::Dim);
        out.extend(rows(said, &names, &head, room, Role::Text));
    }
    out
}

/// `masked`: whether the range is the program's own sign.
fn facts(para: Para, range: Option<String>, masked: bool, about: &ColumnSummary) -> Para {
    let own = usize::from(masked && range.is_some());
    let mut parts: Vec<String> = range.into_iter().collect();
    parts.extend(about.distinct.map(words::distinct));
    parts.extend((about.missing > 0).then(|| words::missing(about.missing)));
    match parts.is_empty() {
        true => para,
        false => separate(para, own, &parts),
    }
}

/// Facts that can name values, but for the first `own` ones.
fn separate(para: Para, own: usize, parts: &[String]) -> Para {
    let parts = parts.iter().enumerate();
    parts.fold(para, |para, (i, part)| {
        let para = para.and(if i == 0 { "  " } else { " · " }, Role::Text);
        match i < own {
            true => para.and(part, Role::Text),
            false => para.given(part, Role::Text),
        }
    })
}

fn brought_table(input: &BoundInput, found: &Brought, room: &Room) -> Vec<Para> {
    let mut out = Vec::from(heading(
        input,
        words::brought_table(found.rows, found.names.len()),
    ));
    for (name, column) in found.names.iter().zip(&found.columns) {
        let mut para = claim::and(
            Para::default().indent(1).hang(2),
            cut(name, 40),
            Role::Claim,
        );
        let mut parts = Vec::new();
        let range = column.least.as_ref().zip(column.greatest.as_ref());
        parts.extend(
            range.map(|(least, greatest)| words::range(cut(least, CELL), cut(greatest, CELL))),
        );
        parts.push(words::distinct(column.distinct as u64));
        if column.missing > 0 {
            parts.push(words::missing(column.missing as u64));
        }
        if let Some((row, characters)) = column.longest {
            parts.push(words::longest(row, characters));
        }
        para = separate(para, 0, &parts);
        out.push(para);
        let both = (column.numbers, column.texts);
        out.extend(unusual(&words::mixed(both.0, both.1), &column.odd));
        out.extend(unusual(words::FAR, &column.far));
    }
    let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
    for (said, part) in [
        (words::first_rows(found.head.len()), &found.head),
        (words::last_rows(found.tail.len()), &found.tail),
    ] {
        if !part.is_empty() {
            out.extend(rows((said, Role::Dim), &names, part, room, Role::Claim));
        }
    }
    out
}

/// Values that stand out, each with its row.
fn unusual(what: &str, values: &[(usize, String)]) -> Option<Para> {
    if values.is_empty() {
        return None;
    }
    let mut para = Para::new(format!("▲ {what}"), Role::Flagged)
        .indent(2)
        .hang(2);
    for (row, value) in values {
        para = para.and(format!("  {} ", words::row(*row)), Role::Dim);
        para = claim::and(para, cut(value, 40), Role::Claim);
    }
    Some(para)
}

/// Rows as a table with its names above, as many columns as fit, below a line that says what is cut.
fn rows<T: AsRef<str>>(
    said: (String, Role),
    names: &[&str],
    rows: &[Vec<T>],
    room: &Room,
    role: Role,
) -> Vec<Para> {
    let columns = rows.first().map_or(0, Vec::len).min(names.len());
    let whole: Vec<usize> = (0..columns)
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            let cells = cells.map(|cell: &T| cell.as_ref());
            let all = cells.chain(names.get(at).copied());
            all.map(text::width).max().unwrap_or(0).clamp(1, LONGEST)
        })
        .collect();
    let between = text::width(BETWEEN);
    let all: usize = whole.iter().map(|wide| wide + between).sum();
    // If all of it fits, nothing is cut but a value that is very long.
    let most = if all < room.width { LONGEST } else { CELL };
    let mut widths = Vec::new();
    let mut used = 1;
    for wide in whole.iter().map(|wide| (*wide).min(most)) {
        let next = wide + between;
        if used + next > room.width && !widths.is_empty() {
            break;
        }
        used += next;
        widths.push(wide);
    }
    let line = |cells: Vec<&str>, role: Role| {
        let mut para = Para::default().indent(1);
        for (i, (cell, wide)) in cells.iter().zip(&widths).enumerate() {
            if i > 0 {
                para = para.and(BETWEEN, Role::Rule);
            }
            para = match *cell == MASK {
                true => para.and(MASK, role),
                false => shortened(para, cell, *wide, role),
            };
            let used = text::width(cell).min(*wide);
            para = para.and(" ".repeat(wide - used), Role::Text);
        }
        match widths.len() < columns {
            true => para.and(" …", Role::Dim),
            false => para,
        }
    };
    let lines: Vec<Vec<&str>> = std::iter::once(names.to_vec())
        .chain(rows.iter().map(|row| row.iter().map(T::as_ref).collect()))
        .collect();
    let is_cut = |cells: &Vec<&str>| {
        let mut both = cells.iter().zip(&widths);
        both.any(|(cell, wide)| text::width(cell) > *wide)
    };
    let cut = words::cut_rows(
        (widths.len() < columns).then_some((widths.len(), columns)),
        lines.iter().any(is_cut).then_some(most),
        room.wider.as_deref(),
    );
    let (said, label) = said;
    let mut out = vec![Para::new(said, label).and(cut, Role::Dim).indent(1).hang(2)];
    for (i, cells) in lines.into_iter().enumerate() {
        out.push(line(cells, if i == 0 { Role::Dim } else { role }));
    }
    out
}

/// A value, or its beginning and `…`.
fn shortened(para: Para, value: &str, columns: usize, role: Role) -> Para {
    let whole = cut(value, columns);
    if whole.len() == value.len() {
        return para.given(whole, role);
    }
    let begun = cut(value, columns.saturating_sub(1));
    let blanks = columns - 1 - text::width(begun);
    para.given(begun, role)
        .and(format!("…{}", " ".repeat(blanks)), Role::Dim)
}

/// As much of the first line of a value as fits.
fn cut(value: &str, columns: usize) -> &str {
    text::cut(value, columns)
}
