//! Verdicts in plain lines: the findings with their lines, what an edit came to, and letters that only an eye tells apart.

use crate::broker::Entry;
use crate::model::{Action, Finding, Touch, VerdictKind, differences, imitations};

use super::super::flow::Para;
use super::super::keys::Command;
use super::super::plain::{SaidRow, exact};
use super::super::theme::Role;
use super::super::ui::Notice;
use super::super::words;
use super::Screen;
use super::spoken::{FINDINGS, flow};

fn line(text: String) -> Para {
    Para::new(text, Role::Text)
}

impl Screen<'_> {
    /// The verdict and its findings.
    pub(super) fn judged(entry: &Entry) -> Vec<Para> {
        let Some(verdict) = entry.verdict() else {
            return Vec::new();
        };
        let word = verdict.verdict.as_str();
        if verdict.findings.is_empty() {
            let none = match verdict.verdict {
                VerdictKind::Clear => words::NO_FINDING,
                _ => "",
            };
            return vec![line(format!("verdict {word}. {none}"))];
        }
        let count = words::count(verdict.findings.len(), "finding");
        let mut out = vec![line(format!("verdict {word}, {count}:"))];
        let first = verdict.findings.iter().take(FINDINGS);
        let first = first.enumerate();
        out.extend(first.map(|(i, f)| finding(entry, f).finding(i)));
        let more = verdict.findings.len().saturating_sub(FINDINGS);
        if more > 0 {
            out.push(line(format!("and {more} more, in the pane FINDINGS")));
        }
        out
    }

    /// Files whose names look like those of others, letter by letter.
    pub(super) fn lookalikes(entry: &Entry) -> Vec<Para> {
        let Some(effects) = Self::effects_of(entry) else {
            return Vec::new();
        };
        let touches = effects.writes.iter().chain(&effects.deletes);
        let pair = |touch: &Touch| {
            let other = touch.like.clone()?;
            let name = touch.files.iter().find(|name| **name != other)?;
            Some((name.clone(), other))
        };
        let mut told: Vec<(String, String)> = Vec::new();
        for (name, other) in touches.filter_map(pair) {
            let known = |(a, b): &(String, String)| *a == other && *b == name;
            if !told.iter().any(known) {
                told.push((name, other));
            }
        }
        let said = |(name, other): &(String, String)| {
            let differ = differences(name, other);
            let quoted = |text: &str| exact(text).0.replace('"', "\\\"");
            let said = words::plain::looks_like(&quoted(name), &quoted(other), differ.as_deref());
            line(format!("{}: ", words::LOOKS_LIKE)).given(said, Role::Text)
        };
        told.iter().map(said).collect()
    }

    /// What a person's edit came to: its verdict, why it blocks if it does, and the keys that are of use now.
    pub(in crate::tui) fn spoken_edit(&self, entry: &Entry) -> Vec<SaidRow> {
        let mut out = vec![line(
            words::plain::edit_judged(!entry.is_edited()).to_owned(),
        )];
        out.extend(Self::judged(entry));
        let grantable = entry.verdict().is_some_and(|v| v.verdict.grantable());
        let keys = [
            Command::PageCode,
            Command::Diff,
            Command::Grant,
            Command::Deny,
            Command::Edit,
        ];
        let keys = keys.map(|command| self.ui.key(command));
        let keys = keys.each_ref().map(String::as_str);
        out.push(line(words::plain::after_edit(grantable, keys)));
        flow(&out)
    }

    /// Behind a refusal of a grant: the findings that block it.
    pub(in crate::tui) fn spoken_blocks(&self, notice: Option<&Notice>) -> String {
        let asked = matches!(notice, Some(Notice::CannotAsk(_)));
        let verdict = self.entry.and_then(Entry::verdict).filter(|_| asked);
        let blocks = verdict.map_or(&[][..], |v| &v.findings).iter();
        let blocks = blocks.filter(|f| f.action == Action::Block).take(FINDINGS);
        let said = blocks.map(|f| format!("line {} {} {}", f.line, f.rule, f.name));
        words::plain::blocked_by(&said.collect::<Vec<_>>())
    }
}

/// A finding, with the letters in its place that imitate others.
fn finding(entry: &Entry, f: &Finding) -> Para {
    let own = format!(
        "line {}: {} {}, {}, {}: ",
        f.line,
        f.rule,
        f.name,
        f.severity,
        f.action.as_str()
    );
    let mut para = line(own).given(f.message.clone(), Role::Text);
    let odd = match f.rule.starts_with("TEXT") {
        true => imitations(place(entry.code().text(), f)),
        false => Vec::new(),
    };
    for word in &odd {
        para = para.and("; ", Role::Text);
        para = para.given(words::plain::imitation(word), Role::Text);
    }
    if let Some(hint) = f.remedy() {
        para = para.and(". Hint: ", Role::Text).given(hint, Role::Text);
    }
    para
}

/// The text of a finding, within its first line.
fn place<'t>(code: &'t str, f: &Finding) -> &'t str {
    let text = code.lines().nth(f.line.saturating_sub(1) as usize);
    let text = text.unwrap_or_default();
    let at = |column: u32| {
        let nth = text.char_indices().nth(column.saturating_sub(1) as usize);
        nth.map_or(text.len(), |(at, _)| at)
    };
    let end = match f.end_line == f.line {
        true => at(f.end_column),
        false => text.len(),
    };
    text.get(at(f.column)..end).unwrap_or_default()
}
