//! A proposal's effects in words: what it reads, writes, reaches and runs, and what comes back. Drawn above the code
//! and first on the sheet.

use crate::broker::Entry;
use crate::model::{
    Alteration, Altered, Effects, InputKind, InputUse, Leaving, LeavingPart, Touch, Way,
};
use crate::policy::{Contract, Policy};

use super::super::flow::{Flow, Para};
use super::super::shown;
use super::super::text;
use super::super::theme::Role;
use super::super::words;
use super::Screen;

/// The columns of a data set to name before the rest becomes a number.
const COLUMNS: usize = 8;
/// The inputs to name; private ones come first.
const INPUTS: usize = 4;
/// The files of one kind to name.
const FILES: usize = 3;
/// The kinds of one effect to name.
const KINDS: usize = 5;
/// The columns that leave to name, and variables of the environment.
const LEAVING: usize = 6;
const VARIABLES: usize = 6;
/// Columns of an evaluated text.
const TEXT: usize = 70;

/// The signs of the program between statements.
const OWN_DOT: &str = " · ";
const OWN_WARNING: &str = "  ▲ ";
/// Before the program's own words.
const OWN_ALIKE: &str = "  ALIKE ";

type Spans = Vec<(String, Role)>;

/// How much room the effects have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// As few rows as possible: paragraphs are joined where that saves one.
    Two,
    /// A paragraph for each question.
    Each,
    /// The same below the labels of the sheet.
    Sheet,
}

impl Room {
    /// Columns of a paragraph's label.
    const fn label(self) -> usize {
        match self {
            Self::Two | Self::Each => 8,
            Self::Sheet => 12,
        }
    }
}

impl Screen<'_> {
    pub(super) fn effects_of(entry: &Entry) -> Option<Effects> {
        shown::effects(entry)
    }

    /// The effects of this entry; nothing before it is analysed.
    /// `width`: columns of the area.
    pub(super) fn effects(&self, entry: &Entry, room: Room, width: u16) -> Vec<Para> {
        let Some(effects) = Self::effects_of(entry) else {
            return vec![Para::new(words::NO_VERDICT, Role::Dim)];
        };
        let policy = self.state.policy_of(entry);
        let reads = reads(&effects);
        let touches = touches(&effects);
        let returns = policy.as_deref().map(|p| returns(entry, p, &effects));
        let mut out = match room {
            Room::Two => {
                let all: Vec<Spans> = reads.iter().chain(&touches).cloned().collect();
                let columns: usize = all.iter().flatten().map(|(t, _)| text::width(t)).sum();
                // A label and its answer stay together: what does not fit into one row has two.
                match columns + 2 * all.len() + room.label() <= usize::from(width) {
                    true => vec![joined(all, room)],
                    false => vec![joined(reads, room), joined(touches, room)],
                }
            }
            Room::Each | Room::Sheet => vec![joined(reads, room), joined(touches, room)],
        };
        let new = (!entry.state().is_final()).then(|| self.news(entry, room));
        match room {
            Room::Two => {
                let apart = apart(returns.iter().chain(&new).cloned(), room);
                let one = vec![joined(returns.into_iter().chain(new), room)];
                let rows = |paras: &[Para]| Flow::new(paras, width.saturating_sub(2)).rows.len();
                // A label and its answer stay together where that takes no row more.
                out.extend(match rows(&apart) <= rows(&one) {
                    true => apart,
                    false => one,
                });
            }
            Room::Each | Room::Sheet => out.extend(apart(returns.into_iter().chain(new), room)),
        }
        out
    }
}

impl Screen<'_> {
    /// What is new compared with what the log says.
    fn news(&self, entry: &Entry, room: Room) -> Spans {
        let most = match room {
            Room::Two => 1,
            Room::Each | Room::Sheet => usize::MAX,
        };
        let mut spans = vec![label("NEW")];
        let lines = self.ui.novelty(entry, self.now).into_iter().take(most);
        for (i, line) in lines.enumerate() {
            if i > 0 {
                spans.push((OWN_DOT.to_owned(), Role::Dim));
            }
            spans.extend(line);
        }
        let alike = self.ui.alike(self.state, entry.proposal.id);
        if alike > 0 {
            spans.push((OWN_ALIKE.to_owned(), Role::Dim));
            spans.push((words::others_alike(alike), Role::Strong));
        }
        spans
    }
}

/// A paragraph for each statement.
fn apart(statements: impl IntoIterator<Item = Spans>, room: Room) -> Vec<Para> {
    let each = statements.into_iter();
    each.map(|spans| joined([spans], room)).collect()
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
                _ if [OWN_DOT, OWN_WARNING].contains(&text.as_str()) => para.and(text, role),
                _ => para.given(text, role),
            };
        }
    }
    para
}

/// The label of a statement.
fn label(name: &str) -> (String, Role) {
    (format!("{name} "), Role::Dim)
}

/// One statement for each input, and for the files that are read.
fn reads(effects: &Effects) -> Vec<Spans> {
    let mut first = vec![label("READS")];
    if effects.inputs.is_empty() {
        first.push(("no data".to_owned(), Role::Dim));
    }
    let mut out = Vec::new();
    // Private data comes first.
    let (private, public): (Vec<_>, Vec<_>) = effects.inputs.iter().partition(|i| i.private);
    let more = (private.len() + public.len()).saturating_sub(INPUTS);
    for input in private.into_iter().chain(public).take(INPUTS) {
        let mut spans = std::mem::take(&mut first);
        spans.extend(read(input));
        out.push(spans);
    }
    if !first.is_empty() {
        out.push(first);
    }
    if more > 0 {
        let private = effects.inputs.iter().filter(|i| i.private).count();
        let role = if private > INPUTS {
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
        spans.extend(kinds(&effects.reads, Role::Text));
        out.push(spans);
    }
    out
}

fn read(input: &InputUse) -> Spans {
    let mut spans = Vec::new();
    if input.private {
        spans.push((format!("{} ", words::PRIVATE), Role::Private));
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
    if let Some(rows) = input.rows {
        spans.push((format!(" {} rows", words::number(rows)), Role::Dim));
    }
    let (of, named) = (input.of, input.columns.len());
    let all = input.whole || (of > 0 && named == of);
    if input.lines.is_empty() {
        spans.push((words::NOT_NAMED.to_owned(), Role::Dim));
    } else if all {
        spans.push((", ".to_owned(), Role::Dim));
        spans.push((format!("all {}", words::count(of, "column")), Role::Text));
    } else if named > 0 {
        let shown = input.columns.iter().take(COLUMNS);
        let mut names = shown.map(String::as_str).collect::<Vec<_>>().join(", ");
        if named > COLUMNS {
            names.push_str(&format!(" and {} more", named - COLUMNS));
        }
        spans.push((", names ".to_owned(), Role::Dim));
        spans.push((names, Role::Text));
        spans.push((format!(" of {}", words::count(of, "column")), Role::Dim));
    } else if of > 0 && input.computed.is_empty() {
        spans.push((
            format!(", names none of {}", words::count(of, "column")),
            Role::Dim,
        ));
    }
    if let Some(first) = input.computed.first().filter(|_| !all) {
        let more = plus(input.computed.len());
        spans.push((
            if named > 0 { ", and " } else { ", " }.to_owned(),
            Role::Dim,
        ));
        spans.push((words::COMPUTED.to_owned(), Role::Text));
        spans.push((format!("line {first}{more}"), Role::Dim));
    }
    spans
}

/// What is written, reached and run. `none` is said too: it is an answer.
fn touches(effects: &Effects) -> Vec<Spans> {
    let mut out = vec![touch("WRITES", &effects.writes, Role::Flagged, "none")];
    if !effects.alters.is_empty() {
        out.push(alters(&effects.alters));
    }
    let rarely = [
        ("DELETES", &effects.deletes),
        ("SYSTEM", &effects.system),
        ("NOT FOLLOWED", &effects.unread),
    ];
    for (name, list) in rarely {
        if !list.is_empty() {
            out.push(touch(name, list, Role::Flagged, ""));
        }
    }
    out.push(touch("NET", &effects.network, Role::Blocked, "none"));
    out.push(touch("RUNS", &effects.runs, Role::Flagged, "none"));
    out
}

/// `wait_days of patients lines 12, 15 · how numbers are printed line 3`.
fn alters(list: &[Alteration]) -> Spans {
    let mut spans = vec![label("ALTERS")];
    for (i, one) in list.iter().take(KINDS).enumerate() {
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
        spans.push((format!(" {}", words::at_lines(&one.lines)), Role::Dim));
    }
    if list.len() > KINDS {
        spans.push((format!(", {} more", list.len() - KINDS), Role::Dim));
    }
    spans
}

fn touch(name: &str, list: &[Touch], role: Role, none: &str) -> Spans {
    let mut spans = vec![label(name)];
    if list.is_empty() {
        spans.push((none.to_owned(), Role::Dim));
    } else {
        spans.extend(kinds(list, role));
    }
    spans
}

/// `"out/by.csv" line 8: email of staff as is, os.system line 3`.
fn kinds(list: &[Touch], role: Role) -> Spans {
    let mut spans = Vec::new();
    for (i, one) in list.iter().take(KINDS).enumerate() {
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
            false => files(&one.files),
        };
        spans.push((what, role));
        if let Some(other) = &one.like {
            let other = files(std::slice::from_ref(other));
            spans.push((format!(" ▲ {} {other}", words::LOOKS_LIKE), Role::Flagged));
        }
        if let Some(text) = one.text.as_ref().filter(|t| !t.is_empty()) {
            spans.push((format!(" {}", quoted(text, TEXT)), role));
        }
        if !one.variables.is_empty() {
            let names = one.variables.iter().take(VARIABLES);
            let names: Vec<String> = names.map(|name| quoted(name, 24)).collect();
            let more = one.variables.len().saturating_sub(VARIABLES);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            spans.push((format!(" {}{more}", names.join(", ")), role));
        }
        if let Some(first) = one.lines.first() {
            spans.push((format!(" line {first}{}", plus(one.lines.len())), Role::Dim));
        }
        if !one.variables.is_empty() {
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
            spans.extend(parts(&one.parts));
        }
    }
    if list.len() > KINDS {
        let more = list.len() - KINDS;
        spans.push((format!(", {more} more"), Role::Dim));
    }
    spans
}

/// ` +2` after the first of three lines.
fn plus(lines: usize) -> String {
    match lines {
        0 | 1 => String::new(),
        n => format!(" +{}", n - 1),
    }
}

/// `email, dept of staff as is, 4 summed up`.
fn parts(parts: &[LeavingPart]) -> Spans {
    let mut spans = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            spans.push((", ".to_owned(), Role::Dim));
        }
        let role = if part.private {
            Role::Private
        } else {
            Role::Text
        };
        let (as_is, summed) = (part.as_is.len(), part.summed.len());
        let all = part.columns == 0 || as_is == part.columns;
        if part.columns == 0 {
            spans.push(("all".to_owned(), role));
        } else if all {
            spans.push((format!("all {}", words::count(as_is, "column")), role));
        } else if as_is > 0 {
            spans.push((named(&part.as_is), role));
        }
        if as_is > 0 || all {
            let of = text::cut(&part.of, 24);
            spans.push((format!(" of {of}{}", words::AS_IS), Role::Dim));
        }
        if summed > 0 {
            let (what, of) = match as_is {
                0 => (
                    named(&part.summed),
                    format!(" of {}", text::cut(&part.of, 24)),
                ),
                _ => (format!(", {summed}"), String::new()),
            };
            spans.push((what, Role::Text));
            spans.push((format!("{of} {}", words::SUMMED), Role::Dim));
        }
    }
    spans
}

/// The first names, and how many more there are.
fn named(names: &[String]) -> String {
    let shown = names.iter().take(LEAVING).map(String::as_str);
    let mut out = shown.collect::<Vec<_>>().join(", ");
    if names.len() > LEAVING {
        out.push_str(&format!(" and {} more", names.len() - LEAVING));
    }
    out
}

/// An agent's text in quotes, cut.
fn quoted(name: &str, columns: usize) -> String {
    let cut = text::cut(name, columns);
    let more = if cut.len() < name.len() { "…" } else { "" };
    format!("\"{}{more}\"", cut.replace('"', "'"))
}

/// Files by name, in quotes: a name could be read as words of the screen. What is cut or left out is said.
fn files(names: &[String]) -> String {
    let mut out = names
        .iter()
        .take(FILES)
        .map(|name| quoted(name, 40))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > FILES {
        out.push_str(&format!(
            " and {}",
            words::count(names.len() - FILES, "more file")
        ));
    }
    out
}

/// What the agent gets if it is granted.
fn returns(entry: &Entry, policy: &Policy, effects: &Effects) -> Spans {
    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
    let hides = inputs.iter().any(|input| policy.hides(input));
    let mut what = vec![("output", Some(Way::Output))];
    match policy.contract {
        // Without data in it, it is not worth a word.
        Contract::Analysis
            if effects.inputs.is_empty() || effects.leaves.iter().any(|l| l.to == Way::Value) =>
        {
            what.push(("last value", Some(Way::Value)));
        }
        Contract::Analysis => {}
        Contract::Feature => what = vec![("new columns of df", Some(Way::Value))],
        Contract::Chart => what.push(("one chart", Some(Way::Figure))),
        Contract::Scoped => what.push(("public values", Some(Way::Public))),
        Contract::Walled | Contract::Script => {}
    }
    let hands_files = match policy.contract {
        Contract::Analysis => policy.limits.artifacts > 0,
        Contract::Script => true,
        Contract::Feature | Contract::Chart | Contract::Scoped | Contract::Walled => false,
    };
    let kept = hands_files && policy.contract == Contract::Analysis && hides;
    if hands_files && !kept {
        what.push(("files", None));
    }
    let mut spans = vec![label("RETURNS")];
    for (i, (name, way)) in what.into_iter().enumerate() {
        if i > 0 {
            spans.push((
                if spans.len() > 2 { "; " } else { ", " }.to_owned(),
                Role::Dim,
            ));
        }
        spans.push((name.to_owned(), Role::Text));
        for leaving in effects.leaves.iter().filter(|l| Some(l.to) == way) {
            spans.extend(leaves(leaving));
        }
    }
    let figures = effects.leaves.iter().filter(|l| l.to == Way::Figure);
    for leaving in figures.filter(|_| policy.contract == Contract::Analysis && !kept) {
        spans.push(("; figure".to_owned(), Role::Text));
        spans.extend(leaves(leaving));
    }
    if kept {
        spans.push((format!("; {}", words::FILES_STAY), Role::Dim));
    }
    if effects.tangled {
        spans.push((format!("  ▲ {}", words::TANGLED), Role::Flagged));
    } else if let Some(line) = effects.lost {
        spans.push((OWN_WARNING.to_owned(), Role::Flagged));
        spans.push((words::lost(line), Role::Flagged));
    }
    let names = |which: &dyn Fn(&crate::model::BoundInput) -> bool| {
        let names: Vec<&str> = inputs
            .iter()
            .filter(|input| which(input))
            .map(|input| match &input.kind {
                InputKind::Dataset { dataset, .. } => dataset.as_str(),
                _ => input.name.as_str(),
            })
            .collect();
        names.join(", ")
    };
    let hidden = names(&|input| policy.hides(input));
    if !hidden.is_empty() {
        spans.push((format!("; {}{hidden}", words::HIDDEN), Role::Private));
    }
    let told = names(&|input| policy.tells(input));
    if !told.is_empty() {
        spans.push((OWN_WARNING.to_owned(), Role::Flagged));
        spans.push((format!("{} {told}", words::TOLD), Role::Flagged));
        spans.push((format!(" ({})", words::TOLD_BY), Role::Text));
    }
    spans
}

/// ` line 8 +1: email of staff as is`.
fn leaves(leaving: &Leaving) -> Spans {
    let mut spans = Vec::new();
    if leaving.to == Way::Public {
        spans.push((format!(" {}", quoted(&leaving.what, 24)), Role::Text));
    }
    if let Some(first) = leaving.lines.first() {
        spans.push((
            format!(" line {first}{}: ", plus(leaving.lines.len())),
            Role::Dim,
        ));
    }
    spans.extend(parts(&leaving.parts));
    spans
}
