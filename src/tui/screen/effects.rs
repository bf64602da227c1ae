//! A proposal's effects in words: what it reads, writes, reaches and runs, and what comes back. Drawn above the code
//! and first on the sheet.

use crate::broker::Entry;
use crate::model::{Effects, InputKind, InputUse, Touch};
use crate::policy::{Contract, Policy};

use super::super::flow::Para;
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

type Spans = Vec<(String, Role)>;

/// How much room the effects have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// One paragraph for what is touched, one for what comes back.
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
        let returns = policy.as_deref().map(|p| returns(entry, p));
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
            // The most important of what is new has room behind what comes back.
            Room::Two => out.push(joined(returns.into_iter().chain(new), room)),
            Room::Each | Room::Sheet => {
                out.extend(returns.map(|spans| joined([spans], room)));
                out.extend(new.map(|spans| joined([spans], room)));
            }
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
                spans.push((" · ".to_owned(), Role::Dim));
            }
            spans.extend(line);
        }
        let alike = self.ui.alike(self.state, entry.proposal.id);
        if alike > 0 {
            spans.push(("  ALIKE ".to_owned(), Role::Dim));
            spans.push((words::others_alike(alike), Role::Strong));
        }
        spans
    }
}

/// Statements on one paragraph, with room between them. The first one's label is as wide as the others below it.
fn joined(statements: impl IntoIterator<Item = Spans>, room: Room) -> Para {
    let mut para = Para::default().hang(room.label());
    for (i, spans) in statements.into_iter().enumerate() {
        for (j, (text, role)) in spans.into_iter().enumerate() {
            para = match (i, j) {
                (0, 0) => para.and(format!("{text:<width$}", width = room.label()), role),
                (_, 0) => para.and(format!("  {text}"), role),
                _ => para.and(text, role),
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
    if input.lines.is_empty() {
        spans.push((words::NOT_NAMED.to_owned(), Role::Dim));
    } else if named > 0 {
        let shown = input.columns.iter().take(COLUMNS);
        let mut names = shown.map(String::as_str).collect::<Vec<_>>().join(", ");
        if named > COLUMNS {
            names.push_str(&format!(" and {} more", named - COLUMNS));
        }
        spans.push((", names ".to_owned(), Role::Dim));
        spans.push((names, Role::Text));
        spans.push((format!(" of {}", words::count(of, "column")), Role::Dim));
    } else if of > 0 {
        spans.push((
            format!(", names none of {}", words::count(of, "column")),
            Role::Dim,
        ));
    }
    spans
}

/// What is written, reached and run. `none` is said too: it is an answer.
fn touches(effects: &Effects) -> Vec<Spans> {
    let mut out = vec![touch("WRITES", &effects.writes, Role::Flagged, "none")];
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

fn touch(name: &str, list: &[Touch], role: Role, none: &str) -> Spans {
    let mut spans = vec![label(name)];
    if list.is_empty() {
        spans.push((none.to_owned(), Role::Dim));
    } else {
        spans.extend(kinds(list, role));
    }
    spans
}

/// `out/by.csv line 8, os.system line 3`.
fn kinds(list: &[Touch], role: Role) -> Spans {
    let mut spans = Vec::new();
    for (i, one) in list.iter().take(KINDS).enumerate() {
        if i > 0 {
            spans.push((", ".to_owned(), Role::Dim));
        }
        let what = match one.files.is_empty() {
            true => one.what.clone(),
            false => files(&one.files),
        };
        spans.push((what, role));
        if let Some(first) = one.lines.first() {
            let more = match one.lines.len() {
                1 => String::new(),
                n => format!(" +{}", n - 1),
            };
            spans.push((format!(" line {first}{more}"), Role::Dim));
        }
    }
    if list.len() > KINDS {
        let more = list.len() - KINDS;
        spans.push((format!(", {more} more"), Role::Dim));
    }
    spans
}

/// Files by name, in quotes: a name could be read as words of the screen. What is cut or left out is said.
fn files(names: &[String]) -> String {
    let quoted = |name: &String| {
        let cut = text::cut(name, 40);
        let more = if cut.len() < name.len() { "…" } else { "" };
        format!("\"{}{more}\"", cut.replace('"', "'"))
    };
    let mut out = names
        .iter()
        .take(FILES)
        .map(quoted)
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
fn returns(entry: &Entry, policy: &Policy) -> Spans {
    let what = match policy.contract {
        Contract::Analysis if policy.limits.artifacts == 0 => "output, last value",
        Contract::Analysis => "output, last value, files",
        Contract::Feature => "new columns of df",
        Contract::Chart => "output, one chart",
        Contract::Scoped => "output, public values",
        Contract::Walled => "output",
        Contract::Script => "output, files",
    };
    let mut spans = vec![label("RETURNS"), (what.to_owned(), Role::Text)];
    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
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
        spans.push((format!("  ▲ {} {told}", words::TOLD), Role::Flagged));
        spans.push((format!(" ({})", words::TOLD_BY), Role::Text));
    }
    spans
}
