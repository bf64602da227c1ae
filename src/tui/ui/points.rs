//! `[` and `]`: from finding to finding and from effect to effect, each with its line.

use crate::broker::{BrokerState, Entry};
use crate::model::{EffectMark, Effects};

use super::super::words;
use super::{Pane, UiState};

/// A place in the code that the reviewer should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) struct Point {
    /// Counted from 1.
    pub line: u32,
    pub kind: PointKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) enum PointKind {
    /// A finding, by its index in the verdict.
    Finding(usize),
    Effect(EffectMark, String),
}

/// The findings and effects of an entry in the order of its lines; findings come first on a line.
pub(in crate::tui) fn points(entry: &Entry) -> Vec<Point> {
    let Some(verdict) = entry.verdict() else {
        return Vec::new();
    };
    let findings = verdict.findings.iter().enumerate().map(|(i, f)| Point {
        line: f.line,
        kind: PointKind::Finding(i),
    });
    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
    let effects = Effects::of(verdict, inputs);
    let effects = effects.each().map(|(line, mark, what)| Point {
        line,
        kind: PointKind::Effect(mark, what.to_owned()),
    });
    let mut points: Vec<Point> = findings.chain(effects).collect();
    points.sort_by_key(|p| (p.line, matches!(p.kind, PointKind::Effect(..))));
    points
}

impl UiState {
    /// Goes to the next or previous point of the selected code, around its end.
    pub(super) fn step_point(&mut self, state: &BrokerState, forward: bool) {
        let Some(entry) = self.entry(state) else {
            return;
        };
        let id = entry.proposal.id;
        let points = points(entry);
        if points.is_empty() {
            self.remarks.notice = Some(words::NO_POINT.into());
            return;
        }
        let count = points.len();
        let looked = self.queue.looked.entry(id).or_default();
        let at = match (looked.point, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        looked.point = Some(at);
        let point = &points[at];
        let what = match &point.kind {
            PointKind::Finding(i) => {
                let found = entry.verdict().and_then(|v| v.findings.get(*i));
                found.map_or_else(String::new, |f| format!("{} {}", f.rule, f.name))
            }
            PointKind::Effect(mark, what) if what.is_empty() => {
                format!("{} {}", words::effect(*mark), words::PRINTING)
            }
            PointKind::Effect(mark, what) => format!("{} {what}", words::effect(*mark)),
        };
        self.remarks.notice = Some(words::point(at + 1, count, point.line, &what).into());
        if !matches!(self.queue.focus, Pane::Queue | Pane::Code) {
            self.queue.focus = Pane::Code;
        }
        self.queue.zoom = false;
        self.queue.recent.retain(|p| *p != Pane::Verdict);
        self.queue.recent.insert(0, Pane::Verdict);
        let line = point.line as usize;
        let doc = self.queue.doc.clone();
        if let Some(offset) = doc.and_then(|doc| doc.code_line(line)) {
            self.go_to(offset);
        }
    }

    /// The finding that was stepped to last, by its index.
    pub(in crate::tui) fn finding_at_hand(&self, entry: &Entry) -> Option<usize> {
        let at = self.looked(entry.proposal.id)?.point?;
        match points(entry).get(at)?.kind {
            PointKind::Finding(i) => Some(i),
            PointKind::Effect(..) => None,
        }
    }
}
