//! The answer to RETURNS: what the agent gets if the proposal is granted, and what of it is hidden.

use crate::broker::Entry;
use crate::model::{BoundInput, Effects, InputKind, Leaving, LeavingPart, ROWS_MIN, Way};
use crate::policy::{Contract, Policy};

use super::super::text;
use super::super::theme::Role;
use super::super::words;
use super::effects::{OWN_WARNING, Spans, label, listed, quoted};
use super::lengths::{Lengths, Tells};

/// The columns of rare values to name.
const RARE: usize = 3;

/// `email, dept of staff as is, hired per row, 4 summed up`.
pub(super) fn parts(parts: &[LeavingPart], lists: Lengths) -> Spans {
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
        if lists.is_least() && !part.private {
            spans.push((text::cut(&part.of, 24).to_owned(), Role::Text));
            continue;
        }
        let (as_is, rows, summed) = (part.as_is.len(), part.rows.len(), part.summed.len());
        let all = part.columns == 0 || as_is == part.columns;
        if part.columns == 0 {
            spans.push(("all".to_owned(), role));
        } else if all {
            spans.push((format!("all {}", words::count(as_is, "column")), role));
        } else if as_is > 0 {
            spans.push((listed(&part.as_is, lists.leaving), role));
        }
        if as_is > 0 || all {
            let of = text::cut(&part.of, 24);
            spans.push((format!(" of {of}{}", words::AS_IS), Role::Dim));
        }
        if rows > 0 {
            let of = match as_is {
                0 => format!(" of {}", text::cut(&part.of, 24)),
                _ => {
                    spans.push((", ".to_owned(), Role::Dim));
                    String::new()
                }
            };
            spans.push((listed(&part.rows, lists.leaving), role));
            spans.push((format!("{of} {}", words::PER_ROW), Role::Dim));
        }
        if summed > 0 && !(lists.is_least() && as_is + rows > 0) {
            let (what, of) = match as_is + rows {
                0 => (
                    listed(&part.summed, lists.leaving),
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

/// What the agent gets if it is granted.
pub(super) fn returns(entry: &Entry, policy: &Policy, effects: &Effects, lists: Lengths) -> Spans {
    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
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
    let thrown = hands_files && policy.hides_any(inputs);
    // Code that cannot be followed may write some.
    let unknown = effects.tangled || effects.lost.is_some();
    let lists_of = [&effects.writes, &effects.unread, &effects.runs];
    let writes = unknown || lists_of.iter().any(|list| !list.is_empty());
    let writes = writes || policy.contract == Contract::Script;
    if hands_files && !thrown && writes && !lists.is_least() {
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
            spans.extend(leaves(leaving, lists));
        }
    }
    let mut figures = false;
    let printed = effects.leaves.iter().find(|l| l.to == Way::Output);
    let drawn = effects.leaves.iter().filter(|l| l.to == Way::Figure);
    for leaving in drawn.filter(|_| policy.contract == Contract::Analysis) {
        spans.push(("; figure".to_owned(), Role::Text));
        match printed.is_some_and(|printed| printed.parts == leaving.parts) {
            true => spans.push((format!(" {}", words::the_same(&leaving.lines)), Role::Dim)),
            false => spans.extend(leaves(leaving, lists)),
        }
        figures = true;
    }
    // Where rows are few, of files that there are.
    let made = figures || !effects.writes.is_empty() || lists.tells == Tells::All;
    if thrown && made && !lists.is_least() {
        spans.push((format!("; {}", words::files_go(figures)), Role::Dim));
    }
    if let Some(line) = variables(effects) {
        spans.push(("; ".to_owned(), Role::Dim));
        spans.push((words::VARIABLES_LEAVE.to_owned(), Role::Flagged));
        spans.push((format!(" {line}"), Role::Dim));
    }
    if effects.tangled {
        spans.push((format!("  ▲ {}", words::TANGLED), Role::Flagged));
    } else if let Some(line) = effects.lost {
        spans.push((OWN_WARNING.to_owned(), Role::Flagged));
        spans.push((words::lost(line), Role::Flagged));
    }
    if !lists.is_least() {
        spans.extend(hidden(inputs, policy, effects, lists));
    }
    let told = names(inputs, |input| policy.tells(input));
    if !told.is_empty() {
        spans.push((OWN_WARNING.to_owned(), Role::Flagged));
        spans.push((format!("{} {told}", words::TOLD), Role::Flagged));
        spans.push((format!(" ({})", words::TOLD_BY), Role::Text));
    }
    spans
}

/// The data sets' own names.
fn names(inputs: &[BoundInput], which: impl Fn(&BoundInput) -> bool) -> String {
    let names = inputs.iter().filter(|input| which(input));
    let names: Vec<&str> = names
        .map(|input| match &input.kind {
            InputKind::Dataset { dataset, .. } => dataset.as_str(),
            _ => input.name.as_str(),
        })
        .collect();
    names.join(", ")
}

/// The lines that read variables of the environment: where their values go is not followed.
fn variables(effects: &Effects) -> Option<String> {
    let reads = effects.reads.iter().chain(&effects.system);
    let mut lines: Vec<u32> = reads
        .filter(|touch| touch.what.contains("environ") || touch.what.contains("getenv"))
        .flat_map(|touch| touch.lines.iter().copied())
        .collect();
    lines.sort_unstable();
    lines.dedup();
    (!lines.is_empty()).then(|| words::at_lines(&lines, words::LINES))
}

/// What the run will replace in what leaves of private data: columns of which most values are rare, and values and
/// sums of few rows.
fn hidden(inputs: &[BoundInput], policy: &Policy, effects: &Effects, lists: Lengths) -> Spans {
    let hides = |input: &&BoundInput| policy.hides(input);
    let of = names(inputs, |input| policy.hides(input));
    if of.is_empty() {
        return Vec::new();
    }
    let outputs = effects.leaves.iter().filter(|l| l.to != Way::Figure);
    let parts: Vec<&LeavingPart> = outputs
        .flat_map(|leaving| &leaving.parts)
        .filter(|part| part.private)
        .collect();
    let rare: Vec<String> = inputs
        .iter()
        .filter(hides)
        .flat_map(|input| rare_columns(input, &parts))
        .collect();
    let sums = parts.iter().any(|part| !part.summed.is_empty());
    let mut spans = Vec::new();
    if !rare.is_empty() {
        let rare = listed(&rare, RARE);
        spans.push(("; ".to_owned(), Role::Dim));
        spans.push((words::all_redacted(&rare), Role::Private));
    }
    // The same for every proposal that is given private data; the sheet and the details say it.
    if lists.tells == Tells::All {
        spans.push(("; ".to_owned(), Role::Dim));
        spans.push((words::few_redacted(&of, sums, ROWS_MIN), Role::Private));
    }
    spans
}

/// The columns of which most values stand in few rows, as the summary shows.
fn rare_columns(input: &BoundInput, parts: &[&LeavingPart]) -> Vec<String> {
    let InputKind::Dataset {
        dataset,
        columns,
        rows,
        summary: Some(summary),
        ..
    } = &input.kind
    else {
        return Vec::new();
    };
    let leaves = |name: &String| {
        let mut mine = parts.iter().filter(|part| part.of == *dataset);
        mine.any(|part| part.as_is.contains(name))
    };
    let all = columns.iter().zip(&summary.columns);
    all.filter(|(column, about)| {
        let values = rows.saturating_sub(about.missing);
        // Whole numbers can be too short to be redacted.
        let long = column.dtype != "int64";
        // Of so many different values at least half are rare, however the rows are spread.
        let rare = |distinct: u64| distinct * u64::from(ROWS_MIN) >= 2 * values;
        values > 0 && long && about.distinct.is_some_and(rare) && leaves(&column.name)
    })
    .map(|(column, _)| column.name.clone())
    .collect()
}

/// ` line 8 +1: email of staff as is`.
fn leaves(leaving: &Leaving, lists: Lengths) -> Spans {
    let mut spans = Vec::new();
    if leaving.to == Way::Public {
        spans.push((format!(" {}", quoted(&leaving.what, 24)), Role::Text));
    }
    let lines = lists.at(&leaving.lines).unwrap_or_default();
    spans.push((format!("{lines}: "), Role::Dim));
    spans.extend(parts(&leaving.parts, lists));
    spans
}
