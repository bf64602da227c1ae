//! A proposal's effects in words: what it reads, writes, reaches and runs, and what comes back. Drawn above the code
//! and first on the sheet.

use crate::broker::Entry;
use crate::model::{Alteration, Altered, BoundInput, Effects, InputKind, InputUse, Touch};

use super::super::flow::{Flow, Para};
use super::super::keys::Command;
use super::super::shown;
use super::super::text;
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::lengths::{Lengths, Room};
use super::news::News;
use super::returns::{parts, returns};

/// The inputs to name; private ones come first.
const INPUTS: usize = 4;
/// The files of one kind to name.
const FILES: usize = 3;
/// The kinds of one effect to name.
const KINDS: usize = 5;
/// Alterations of which each is told how.
const HOWS: usize = 4;
/// The variables of the environment to name.
const VARIABLES: usize = 6;
/// Columns of an evaluated text.
const TEXT: usize = 70;

/// The signs of the program between statements.
pub(super) const OWN_DOT: &str = " · ";
pub(super) const OWN_WARNING: &str = "  ▲ ";
/// Before what is wrong with the words before it.
const OWN_ALARM: &str = " ▲ ";
/// The label of what is altered.
const ALTERS: &str = "ALTERS";
/// The answer where nothing is touched.
const NONE: &str = "none";
/// Before the program's own words.
pub(super) const OWN_ALIKE: &str = "  ALIKE ";

pub(super) type Spans = Vec<(String, Role)>;

impl Screen<'_> {
    pub(super) fn effects_of(entry: &Entry) -> Option<Effects> {
        shown::effects(entry)
    }

    /// The effects of this entry; nothing before it is analysed.
    /// `width`: columns of the area.
    pub(super) fn effects(
        &self,
        entry: &Entry,
        room: Room,
        width: u16,
        lists: Lengths,
    ) -> Vec<Para> {
        let Some(effects) = Self::effects_of(entry) else {
            return vec![Para::new(words::NO_VERDICT, Role::Dim)];
        };
        let lists = room.of(lists);
        let reads = reads(&effects, lists);
        // Whoever hears it, hears each answer with its label.
        let apart = room == Room::Each || self.ui.common.spoken;
        let touches = match apart {
            true => touches(&effects, lists),
            false => shared(touches(&effects, lists)),
        };
        let news = (!entry.state().is_final()).then(|| self.news(entry, room));
        let (new, usual) = news.map_or((None, None), News::apart);
        let others = self.returns(entry, &effects, lists).into_iter().chain(new);
        if apart {
            let mut out = vec![joined(reads, room)];
            match self.ui.common.spoken || width == 0 {
                true => out.push(joined(touches, room)),
                // A label stays with its answer.
                false => {
                    let mut touches = touches.into_iter();
                    let first = touches.next().into_iter().collect();
                    out.extend(packed(first, touches, room, width.saturating_sub(2)));
                }
            }
            out.extend(others.map(|spans| joined([spans], room)));
            return out;
        }
        let columns = match room {
            Room::Sheet => width,
            Room::Two | Room::Each => width.saturating_sub(2),
        };
        let mut groups = grouped(reads, touches.into_iter().chain(others), room, columns);
        if let Some(usual) = usual {
            join(&mut groups, usual, room, columns);
        }
        groups
            .into_iter()
            .map(|group| joined(group, room))
            .collect()
    }

    /// In as few rows as possible what was above the code before a person moved on in it: what is touched, altered and
    /// leaves, and no word of it less.
    pub(super) fn effects_folded(&self, entry: &Entry, columns: u16) -> Flow {
        let Some(effects) = Self::effects_of(entry) else {
            return Flow::new(&[Para::new(words::NO_VERDICT, Role::Dim)], columns);
        };
        let lists = Lengths::FOLDED;
        let touches = shared(touches(&effects, lists)).into_iter();
        let returns = self.returns(entry, &effects, lists);
        let warns = |spans: &Spans| spans.iter().any(|(_, role)| *role == Role::Flagged);
        let (new, _) = self.news(entry, Room::Two).apart();
        let new = new.filter(warns);
        let others = touches.chain(returns).chain(new);
        let paras = packed(reads(&effects, lists), others, Room::Two, columns);
        Flow::new(&paras, columns)
    }

    fn returns(&self, entry: &Entry, effects: &Effects, lists: Lengths) -> Option<Spans> {
        let policy = self.state.policy_of(entry)?;
        Some(returns(entry, &policy, effects, lists))
    }

    /// The same in `usual` rows, in up to `most` where the shortest lists need them. What has no room even then loses
    /// the ends of its rows, and says so; each question keeps a row.
    pub(super) fn effects_within(
        &self,
        entry: &Entry,
        room: Room,
        width: u16,
        (usual, most): (usize, usize),
    ) -> Flow {
        let columns = width.saturating_sub(2);
        let mut shortest = Flow::default();
        for lists in Lengths::SHORTER {
            shortest = Flow::new(&self.effects(entry, room, width, lists), columns);
            if shortest.rows.len() <= usual {
                return shortest;
            }
        }
        match shortest.rows.len() <= most {
            true => shortest,
            false => self.squeezed(entry, columns, most),
        }
    }

    /// A row for each question, further ones for what weighs most, and the way to the rest.
    fn squeezed(&self, entry: &Entry, columns: u16, most: usize) -> Flow {
        let Some(effects) = Self::effects_of(entry) else {
            return Flow::default();
        };
        let [.., lists] = Lengths::SHORTER;
        let lists = Room::Two.of(lists);
        let reads = reads(&effects, lists);
        let (alters, touches): (Vec<_>, Vec<_>) = shared(touches(&effects, lists))
            .into_iter()
            .partition(|spans| spans[0].0.starts_with(ALTERS));
        let returns = self.returns(entry, &effects, lists);
        let news = (!entry.state().is_final()).then(|| self.news(entry, Room::Two));
        let (new, _) = news.map_or((None, None), News::apart);
        // What weighs most gets its further rows first.
        let questions = [
            (4, reads),
            (0, touches),
            (2, alters),
            (1, returns.into_iter().collect()),
            (3, new.into_iter().collect()),
        ];
        let mut all: Vec<(usize, Flow)> = questions
            .into_iter()
            .filter(|(_, spans)| !spans.is_empty())
            .map(|(weight, spans)| (weight, Flow::new(&[joined(spans, Room::Two)], columns)))
            .collect();
        let mut left = most.saturating_sub(all.len());
        let mut by_weight: Vec<usize> = (0..all.len()).collect();
        by_weight.sort_by_key(|i| all[*i].0);
        let mut rows = vec![1; all.len()];
        for i in by_weight {
            let more = left.min(all[i].1.rows.len() - 1);
            rows[i] += more;
            left -= more;
        }
        let says = format!("… {} shows all", self.ui.key(Command::Details));
        let mut told = false;
        let mut out = Flow::default();
        for ((_, flow), rows) in all.iter_mut().zip(rows) {
            let cut = flow.rows.len() > rows;
            let end = match told {
                true => ("…", Role::Dim),
                false => (says.as_str(), Role::Flagged),
            };
            flow.clip(rows, columns, end);
            told |= cut;
            out.rows.append(&mut flow.rows);
        }
        out
    }
}

/// Statements in as few rows as hold each of them: one joins the row before it if it fits there whole.
fn packed(
    first: Vec<Spans>,
    others: impl Iterator<Item = Spans>,
    room: Room,
    columns: u16,
) -> Vec<Para> {
    let groups = grouped(first, others, room, columns).into_iter();
    groups.map(|group| joined(group, room)).collect()
}

/// The same before they are joined.
fn grouped(
    first: Vec<Spans>,
    others: impl Iterator<Item = Spans>,
    room: Room,
    columns: u16,
) -> Vec<Vec<Spans>> {
    let mut out = Vec::new();
    let mut group = first;
    for spans in others {
        let before = rows(&group, room, columns);
        group.push(spans);
        if rows(&group, room, columns) > before {
            let next = group.pop().into_iter().collect();
            out.push(std::mem::replace(&mut group, next));
        }
    }
    out.push(group);
    out
}

/// Adds a statement to the first row that has room for it; without one it is left out.
fn join(groups: &mut [Vec<Spans>], spans: Spans, room: Room, columns: u16) {
    for group in groups {
        let before = rows(group, room, columns);
        group.push(spans.clone());
        if rows(group, room, columns) == before {
            return;
        }
        group.pop();
    }
}

fn rows(group: &[Spans], room: Room, columns: u16) -> usize {
    let para = joined(group.iter().cloned(), room);
    Flow::new(&[para], columns).rows.len()
}

/// Statements on one paragraph, with room between them. The first one's label is as wide as the others below it.
fn joined(statements: impl IntoIterator<Item = Spans>, room: Room) -> Para {
    let mut para = Para::default().hang(room.label());
    for (i, spans) in statements.into_iter().enumerate() {
        let mut own = false;
        for (j, (text, role)) in spans.into_iter().enumerate() {
            let follows = std::mem::replace(&mut own, text == OWN_ALIKE);
            para = match (i, j) {
                (0, 0) => para.and(format!("{text:<width$}", width = room.label()), role),
                (_, 0) => para.and("  ", role).given(text, role),
                _ if own || follows => para.and(text, role),
                _ if [OWN_DOT, OWN_WARNING, words::FAR_MARK].contains(&text.as_str()) => {
                    para.and(text, role)
                }
                _ => told(para, &text, role),
            };
        }
    }
    para
}

/// A text that is not the program's, behind a warning of the program.
fn told(para: Para, text: &str, role: Role) -> Para {
    match text.strip_prefix(OWN_ALARM) {
        Some(rest) => para.and(OWN_ALARM, role).given(rest, role),
        None => para.given(text, role),
    }
}

/// The label of a statement.
pub(super) fn label(name: &str) -> (String, Role) {
    (format!("{name} "), Role::Dim)
}

/// One statement for each input, and for the files that are read.
fn reads(effects: &Effects, lists: Lengths) -> Vec<Spans> {
    let mut first = vec![label("READS")];
    if effects.inputs.is_empty() {
        first.push(("no data".to_owned(), Role::Dim));
    }
    let mut out = Vec::new();
    // Private data comes first.
    let (private, public): (Vec<_>, Vec<_>) = effects.inputs.iter().partition(|i| i.private);
    let most = lists.or(INPUTS);
    let more = (private.len() + public.len()).saturating_sub(most);
    for input in private.into_iter().chain(public).take(most) {
        let mut spans = std::mem::take(&mut first);
        spans.extend(read(input, lists));
        out.push(spans);
    }
    if !first.is_empty() {
        out.push(first);
    }
    if more > 0 {
        let private = effects.inputs.iter().filter(|i| i.private).count();
        let role = if private > most {
            Role::Private
        } else {
            Role::Dim
        };
        out.push(vec![(
            format!("and {}", words::count(more, "more input")),
            role,
        )]);
    }
    if !effects.reads.is_empty() {
        let mut spans = vec![("also ".to_owned(), Role::Dim)];
        spans.extend(kinds(&effects.reads, Role::Text, lists));
        out.push(spans);
    }
    out
}

/// Whether READS says of each of these inputs all that names it.
pub(super) fn reads_all(inputs: &[BoundInput]) -> bool {
    let dataset = |input: &BoundInput| matches!(input.kind, InputKind::Dataset { .. });
    !inputs.is_empty() && inputs.len() <= INPUTS && inputs.iter().all(dataset)
}

fn read(input: &InputUse, lists: Lengths) -> Spans {
    let most = lists.read;
    let mut spans = Vec::new();
    if input.private {
        let word = match lists.is_least() {
            true => words::PRIV,
            false => words::PRIVATE,
        };
        spans.push((format!("{word} "), Role::Private));
    }
    let role = if input.private {
        Role::Private
    } else {
        Role::Strong
    };
    // The person's own name for the data comes first: the agent chooses the other.
    match &input.dataset {
        Some(dataset) if *dataset == input.name => spans.push((dataset.clone(), role)),
        Some(dataset) => {
            spans.push((dataset.clone(), role));
            spans.push((format!(" (as \"{}\")", input.name), Role::Dim));
        }
        None => spans.push((format!("\"{}\" that it brings", input.name), Role::Text)),
    }
    if lists.is_least() {
        return spans;
    }
    if let Some(rows) = input.rows {
        spans.push((format!(" {} rows", words::number(rows)), Role::Dim));
    }
    let (of, named) = (input.of, input.columns.len());
    let all = input.whole || (of > 0 && named == of);
    if input.lines.is_empty() {
        spans.push((words::NOT_NAMED.to_owned(), Role::Dim));
    } else if all {
        spans.push((", ".to_owned(), Role::Dim));
        let all = match of {
            0 => words::ALL_COLUMNS.to_owned(),
            of => format!("all {}", words::count(of, "column")),
        };
        spans.push((all, Role::Text));
    } else if named > 0 {
        let names = match most {
            0 => words::number(named as u64),
            most => listed(&input.columns, most),
        };
        let (before, after) = match most {
            0 => (", ", words::count(of, "column")),
            _ => (", columns ", words::number(of as u64)),
        };
        spans.push((before.to_owned(), Role::Dim));
        spans.push((names, Role::Text));
        if of > 0 {
            spans.push((format!(" of {after}"), Role::Dim));
        }
    } else if of > 0 && input.computed.is_empty() {
        spans.push((
            format!(", none of {} named", words::count(of, "column")),
            Role::Dim,
        ));
    }
    if !all && !input.computed.is_empty() {
        spans.push((
            if named > 0 { ", and " } else { ", " }.to_owned(),
            Role::Dim,
        ));
        spans.push((words::COMPUTED.to_owned(), Role::Text));
        spans.push((words::at_lines(&input.computed, 2), Role::Dim));
    }
    spans
}

/// What is written, reached and run. `none` is said too: it is an answer.
fn touches(effects: &Effects, lists: Lengths) -> Vec<Spans> {
    let touch = |name, list: &[Touch], role| touch(name, list, role, lists);
    let mut out = vec![touch("WRITES", &effects.writes, Role::Flagged)];
    if !effects.alters.is_empty() {
        out.push(alters(&effects.alters, lists));
    }
    let rarely = [
        ("DELETES", &effects.deletes),
        ("SYSTEM", &effects.system),
        ("NOT FOLLOWED", &effects.unread),
    ];
    for (name, list) in rarely {
        if !list.is_empty() {
            out.push(touch(name, list, Role::Flagged));
        }
    }
    out.push(touch("NET", &effects.network, Role::Blocked));
    out.push(touch("RUNS", &effects.runs, Role::Flagged));
    out
}

/// Where rows are few, what has the same answer shares it: `WRITES, NET none`.
fn shared(touches: Vec<Spans>) -> Vec<Spans> {
    let (none, mut some): (Vec<_>, Vec<_>) = touches
        .into_iter()
        .partition(|spans| spans.last().is_some_and(|(word, _)| word == NONE));
    let names: Vec<&str> = none.iter().map(|spans| spans[0].0.trim_end()).collect();
    if !names.is_empty() {
        let words = (NONE.to_owned(), Role::Dim);
        some.push(vec![label(&names.join(", ")), words]);
    }
    some
}

/// `wait_days of patients lines 12, 15 · how numbers are printed line 3`.
fn alters(list: &[Alteration], lists: Lengths) -> Spans {
    let most = lists.or(KINDS);
    let mut spans = vec![(format!("{ALTERS} "), Role::Flagged)];
    for (i, one) in list.iter().take(most).enumerate() {
        if i > 0 {
            spans.push((OWN_DOT.to_owned(), Role::Dim));
        }
        let (what, of) = match &one.what {
            // The agent chose the name.
            Altered::Column {
                name,
                of,
                own: true,
            } => (quoted(name, 24), of.as_str()),
            Altered::Column { name, of, .. } => (text::cut(name, 40).to_owned(), of.as_str()),
            Altered::Values { of } => (words::VALUES.to_owned(), of.as_str()),
            Altered::Printing => (words::PRINTING.to_owned(), ""),
        };
        spans.push((what, Role::Flagged));
        if !of.is_empty() {
            spans.push((format!(" of {}", text::cut(of, 24)), Role::Dim));
        }
        // Of many, the names are worth more.
        let told = (list.len() <= HOWS || most > KINDS) && !lists.is_least();
        for how in one.how.iter().filter(|_| told) {
            spans.push((format!(" {} ", words::change(how.by)), Role::Dim));
            spans.push((source(&how.text), Role::Text));
        }
        if !lists.is_least() {
            spans.push((
                format!(" {}", words::at_lines(&one.lines, words::LINES)),
                Role::Dim,
            ));
        }
    }
    if list.len() > most {
        spans.push((format!(", {} more", list.len() - most), Role::Dim));
    }
    spans
}

/// A piece of the code: a number as it is, anything else in quotes.
fn source(piece: &str) -> String {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    match piece.chars().all(number) && piece.len() < 12 {
        true => piece.to_owned(),
        false => quoted(piece, 28),
    }
}

fn touch(name: &str, list: &[Touch], role: Role, lists: Lengths) -> Spans {
    let mut spans = vec![label(name)];
    if list.is_empty() {
        spans.push((NONE.to_owned(), Role::Dim));
    } else {
        spans.extend(kinds(list, role, lists));
    }
    spans
}

/// `"out/by.csv" line 8: email of staff as is, os.system line 3`.
fn kinds(list: &[Touch], role: Role, lists: Lengths) -> Spans {
    let mut spans = Vec::new();
    let most = lists.or(KINDS);
    for (i, one) in list.iter().take(most).enumerate() {
        if i > 0 {
            // What is written may have commas of its own.
            let between = if list[i - 1].parts.is_empty() {
                ", "
            } else {
                "; "
            };
            spans.push((between.to_owned(), Role::Dim));
        }
        let what = match one.files.is_empty() {
            true => one.what.clone(),
            false => files(&one.files, lists.or(FILES)),
        };
        spans.push((what, role));
        if let Some(other) = &one.like {
            let other = files(std::slice::from_ref(other), FILES);
            spans.push((format!(" ▲ {} {other}", words::LOOKS_LIKE), Role::Flagged));
        }
        if let Some(text) = one.text.as_ref().filter(|t| !t.is_empty()) {
            spans.push((format!(" {}", quoted(text, TEXT)), role));
        }
        if !one.variables.is_empty() {
            let names = one.variables.iter().map(|name| quoted(name, 24));
            let names: Vec<String> = names.collect();
            spans.push((format!(" {}", listed(&names, lists.or(VARIABLES))), role));
        }
        if let Some(lines) = lists.at(&one.lines) {
            spans.push((lines, Role::Dim));
        }
        if !one.variables.is_empty() && !lists.is_least() {
            spans.push((format!(" ({})", words::OWN_ENVIRONMENT), Role::Dim));
        }
        if let Some((by, line)) = &one.found_by {
            spans.push((
                format!(" over every file found by {by} line {line}"),
                Role::Flagged,
            ));
        }
        if !one.parts.is_empty() {
            spans.push((": ".to_owned(), Role::Dim));
            spans.extend(parts(&one.parts, lists));
        }
    }
    if list.len() > most {
        let more = list.len() - most;
        spans.push((format!(", {more} more"), Role::Dim));
    }
    spans
}

/// An agent's text in quotes, cut.
pub(super) fn quoted(name: &str, columns: usize) -> String {
    let cut = text::cut(name, columns);
    let more = if cut.len() < name.len() { "…" } else { "" };
    format!("\"{}{more}\"", cut.replace('"', "'"))
}

/// Files by name, in quotes: a name could be read as words of the screen. What is cut or left out is said.
fn files(names: &[String], most: usize) -> String {
    let quoted: Vec<String> = names.iter().map(|name| quoted(name, 40)).collect();
    listed(&quoted, most)
}

/// The first names, and how many more there are; a last one that is shorter than this is named too.
pub(super) fn listed(names: &[String], most: usize) -> String {
    let more = |names: usize| format!(" and {names} more");
    let fits = |name: &String| text::width(name) + 2 <= text::width(&more(1));
    let shown = match names.get(most) {
        Some(last) if names.len() == most + 1 && fits(last) => names.len(),
        _ => names.len().min(most),
    };
    let mut out = names[..shown].join(", ");
    if shown < names.len() {
        out.push_str(&more(names.len() - shown));
    }
    out
}
