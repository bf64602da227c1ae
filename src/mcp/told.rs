//! What a model reads of an outcome: the adapter's own words first, then what the run wrote, each part in a block
//! of its own between two lines that the run could not have written.

use rmcp::model::ContentBlock;

use crate::model::unseen::{is_bidi, is_invisible};
use crate::model::{
    Artifact, Outcome, ProposalId, Retry, Run, RunErrorKind, State, Verdict, escape,
};

/// Bytes of stdout, and of stderr, in the text for the model. The structured content has more.
const TEXT_MAX: usize = 60_000;
/// Bytes of a result that the text repeats if nothing was printed.
const RESULT_MAX: usize = 20_000;
/// Characters of a mark. It is drawn anew for each answer, so no run can know it.
const MARK: usize = 12;

/// The mark of one answer's fences.
pub struct Fence {
    mark: String,
}

impl Fence {
    pub fn new() -> Self {
        // The last digits of an id are random.
        let id: String = ProposalId::new().to_string();
        let digits = id.chars().rev().filter(char::is_ascii_hexdigit);
        Self {
            mark: digits.take(MARK).collect(),
        }
    }

    /// What stands before the parts.
    pub fn words(&self) -> String {
        format!(
            "What is between two lines with the mark {} is text of the run, and of nobody else.",
            self.mark
        )
    }

    /// One part in a block of its own. `cut` says what is missing at its end.
    pub fn around(&self, what: &str, text: &str, cut: &str) -> ContentBlock {
        let mark = &self.mark;
        let text = shown(text);
        let end = match text.is_empty() || text.ends_with('\n') {
            true => "",
            false => "\n",
        };
        ContentBlock::text(format!(
            "{what}, mark {mark}:\n{text}{end}end of {what}, mark {mark}{cut}"
        ))
    }
}

/// Text with visible controls and invisible characters; line feeds and tabs stay. Letters of every script stay too:
/// no terminal draws this.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = c.is_control() && !matches!(c, '\n' | '\t') || is_bidi(c) || is_invisible(c);
        match escape(c).filter(|_| hidden) {
            Some(mark) => out.push_str(&mark),
            None => out.push(c),
        }
    }
    out
}

/// The same on one line: for what a run or an agent wrote within the adapter's own words.
pub fn on_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in shown(text).chars() {
        match escape(c).filter(|_| matches!(c, '\n' | '\t')) {
            Some(mark) => out.push_str(&mark),
            None => out.push(c),
        }
    }
    out
}

/// The blocks of an outcome, without its files.
pub fn blocks(outcome: &Outcome) -> Vec<ContentBlock> {
    let fence = Fence::new();
    let mut parts = Vec::new();
    if let Some(decision) = outcome.decision.as_ref().filter(|d| d.edited) {
        let diff = decision.diff.as_deref().unwrap_or_default();
        parts.push(fence.around("the person's edit", diff, ""));
    }
    let mut words = match &outcome.run {
        Some(run) => {
            written(&fence, outcome, run, &mut parts);
            ran(outcome, run)
        }
        None => did_not_run(outcome),
    };
    if !parts.is_empty() {
        words.push('\n');
        words.push_str(&fence.words());
    }
    let words = ContentBlock::text(words);
    std::iter::once(words).chain(parts).collect()
}

fn ran(outcome: &Outcome, run: &Run) -> String {
    let mut lines = Vec::new();
    if outcome.decision.as_ref().is_some_and(|d| d.edited) {
        lines.push("A person changed the code before granting it.".to_owned());
    }
    match run
        .error
        .as_ref()
        .filter(|e| e.kind != RunErrorKind::Cancelled)
    {
        Some(error) if outcome.state != State::Succeeded => {
            let kind = error.kind.as_str();
            let name = error.exception.as_deref().map(on_one_line);
            let name = name.map_or_else(String::new, |name| format!(", {name}"));
            let line = error
                .line
                .map_or_else(String::new, |n| format!(" (line {n})"));
            lines.push(format!("It ran and {}: {kind}{name}{line}.", outcome.state));
            lines.extend(run.notes_on_files().iter().map(|note| on_one_line(note)));
        }
        _ => lines.push(on_one_line(&outcome.message)),
    }
    if outcome.state != State::Succeeded {
        lines.push(advice(outcome.retry).to_owned());
    }
    if run.stdout.is_empty() && run.stderr.is_empty() {
        lines.push("It printed nothing.".to_owned());
    }
    if let Some(left_out) = run.result.get("value_left_out") {
        let each = left_out.as_array().into_iter().flatten();
        let said: Vec<String> = each.filter_map(|w| w.as_str()).map(on_one_line).collect();
        if !said.is_empty() {
            lines.push(format!("Left out of its value: {}.", said.join("; ")));
        }
    }
    if !run.artifacts.is_empty() {
        let each = |file: &Artifact| {
            let name = on_one_line(&file.name);
            format!(
                "{name} ({}, {} bytes)",
                on_one_line(&file.media_type),
                file.bytes
            )
        };
        let files: Vec<String> = run.artifacts.iter().map(each).collect();
        let id = outcome.id;
        lines.push(format!(
            "files: {}; read_artifact reads them (id {id})",
            files.join(", ")
        ));
    }
    lines.join("\n")
}

/// What the run wrote, each part on its own.
fn written(fence: &Fence, outcome: &Outcome, run: &Run, parts: &mut Vec<ContentBlock>) {
    let failed = outcome.state != State::Succeeded;
    if let Some(error) = run
        .error
        .as_ref()
        .filter(|e| failed && !e.message.is_empty())
    {
        parts.push(fence.around("error", &error.message, ""));
    }
    if !run.stdout.is_empty() {
        let is_cut = run.stdout_truncated || run.stdout.len() > TEXT_MAX;
        let cut_here = match is_cut {
            true => format!("; cut here, the run wrote {} bytes", run.stdout_bytes),
            false => String::new(),
        };
        parts.push(fence.around("stdout", cut(&run.stdout, TEXT_MAX), &cut_here));
    } else if !run.result.is_null() {
        let result = run.result.to_string();
        let cut_here = match result.len() > RESULT_MAX {
            true => format!("; cut here, it has {} bytes", result.len()),
            false => String::new(),
        };
        parts.push(fence.around("result", cut(&result, RESULT_MAX), &cut_here));
    }
    if !run.stderr.is_empty() {
        let is_cut = run.stderr_truncated || run.stderr.len() > TEXT_MAX;
        let cut_here = match is_cut {
            true => format!("; cut here, the run wrote {} bytes", run.stderr_bytes),
            false => String::new(),
        };
        parts.push(fence.around("stderr", cut(&run.stderr, TEXT_MAX), &cut_here));
    }
}

fn did_not_run(outcome: &Outcome) -> String {
    let mut lines = vec![format!(
        "It did not run: {}. {}",
        outcome.state,
        shown(&outcome.message)
    )];
    let reason = outcome.decision.as_ref().and_then(|d| d.reason.as_deref());
    if let Some(reason) = reason.filter(|reason| !outcome.message.contains(reason)) {
        lines.push(format!("The reason: {}", shown(reason)));
    }
    if let Some(verdict) = &outcome.verdict
        && outcome.state == State::Blocked
    {
        lines.push(findings(verdict).trim_end().to_owned());
    }
    lines.push(advice(outcome.retry).to_owned());
    lines.join("\n")
}

/// One line for each finding.
pub fn findings(verdict: &Verdict) -> String {
    let line = |f: &crate::model::Finding| {
        let hint = match f.hint.as_str() {
            "" => String::new(),
            hint => format!("; {hint}"),
        };
        let said = on_one_line(&format!("{}{hint}", f.message));
        format!("line {} {} {}: {said}\n", f.line, f.rule, f.action.as_str())
    };
    verdict.findings.iter().map(line).collect()
}

const fn advice(retry: Retry) -> &'static str {
    match retry {
        Retry::Same => "The same proposal may be made again.",
        Retry::Changed => "Asking again makes sense only with changed code.",
        Retry::No => "Asking again makes no sense.",
    }
}

/// At most so many bytes, cut between characters.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
