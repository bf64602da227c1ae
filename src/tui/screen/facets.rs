//! Screen 2's facets: how the rows of the question divide, a value a row, with its count and its bar.

use ratatui::layout::Rect;

use crate::audit::{By, Facets, Value};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::plain::{exact, plain};
use super::super::sketch::marks::bar;
use super::super::theme::Role;
use super::super::ui::{FacetList, LogScreen};
use super::super::words;
use super::super::words::sums;
use super::{Drawn, Screen};

/// Screens of so many columns have facets beside the rows.
pub(super) const BESIDE: u16 = 110;
/// Their columns there.
const WIDE: u16 = 46;
/// Columns of a count, and of its bar.
const COUNT: u16 = 9;
const BAR: u16 = 10;
/// The longest value, where there is room.
const VALUE: u16 = 40;

/// A row of the list.
enum Line<'f> {
    Of(By),
    Value(&'f Value),
    More(usize),
}

impl Screen<'_> {
    /// Draws the facets; returns what is left for the rows of the log, if they have room.
    pub(super) fn facets(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        log: &LogScreen,
        list: &FacetList,
        drawn: &mut Drawn,
    ) -> Option<Rect> {
        let beside = area.width >= BESIDE;
        let own = match beside {
            true => Rect {
                width: WIDE,
                ..area
            },
            false => area,
        };
        let mut heading = vec![(sums::FACETS.to_owned(), Role::Accent)];
        if !beside && log.set > 0 {
            heading.push((format!("  {}", words::proposals(log.page.total)), Role::Dim));
        }
        if !beside && !log.query.is_empty() {
            let query = words::of_query(&claim::drawn(&log.query));
            heading.push((query, Role::Strong));
        }
        canvas.headed_rule(own.x, own.y, own.width, &heading);
        let inner = Rect {
            y: own.y + 1,
            height: own.height.saturating_sub(1),
            ..own
        };
        match &list.answer {
            None => {
                canvas.put(inner.x + 2, inner.y, inner.width, sums::READING, Role::Dim);
            }
            Some(Err(why)) => {
                let room = inner.width.saturating_sub(3);
                canvas.put_claim(inner.x + 2, inner.y, room, why, Role::Bad);
            }
            Some(Ok(facets)) => self.divided(canvas, inner, facets, list, drawn),
        }
        beside.then(|| Rect {
            x: area.x + WIDE + 1,
            width: area.width - WIDE - 1,
            ..area
        })
    }

    fn divided(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        facets: &Facets,
        list: &FacetList,
        drawn: &mut Drawn,
    ) {
        let lines = lines(facets);
        let height = usize::from(area.height);
        drawn.over = Some((height, lines.len()));
        if lines.is_empty() {
            let none = sums::NOTHING_TO_COUNT;
            canvas.put_cut(
                area.x + 2,
                area.y,
                area.width.saturating_sub(3),
                none,
                Role::Dim,
            );
            return;
        }
        let chosen = list.chosen().map(|value| value.term.as_str());
        let here = |line: &Line<'_>| matches!(line, Line::Value(v) if Some(&*v.term) == chosen);
        let at = lines.iter().position(here).unwrap_or(0);
        let last = lines.len().saturating_sub(height);
        let top = at.saturating_sub(height / 3).min(last);
        for (y, i) in (area.y..area.bottom()).zip(top..lines.len()) {
            let line = Rect::new(area.x, y, area.width, 1);
            // The first row says whose values stand below it, unless it has the cursor.
            let shown = match &lines[i] {
                Line::Value(_) | Line::More(_) if i == top && i != at => {
                    let of = lines[..i].iter().rev().find(|l| matches!(l, Line::Of(_)));
                    of.unwrap_or(&lines[i])
                }
                shown => shown,
            };
            draw(canvas, line, shown, facets.proposals);
            if i == at {
                canvas.put(line.x, y, 1, words::HERE, Role::Accent);
                canvas.tint(line, Role::Selected);
            }
        }
    }

    /// The facets as a whole, and the value that has the cursor.
    pub(in crate::tui) fn spoken_facets(&self, log: &LogScreen, list: &FacetList) -> String {
        let facets = match &list.answer {
            Some(Ok(facets)) => facets,
            Some(Err(why)) => return exact(why).0,
            None => return format!("{}: {}", sums::FACETS, sums::READING),
        };
        let query = match log.query.as_str() {
            "" => String::new(),
            query => format!(" of the query \"{}\"", exact(&query.replace('"', "\\\"")).0),
        };
        let values = list.values().len();
        sums::spoken_facets(facets.proposals, values, &query)
    }

    pub(in crate::tui) fn spoken_facet(&self, list: &FacetList) -> Option<String> {
        let value = list.chosen()?;
        let by = list.by(value)?;
        let at = list.index();
        Some(sums::spoken_value(
            (at + 1, list.values().len()),
            sums::by(by),
            &plain(&exact(&claim::named(&value.shown, VALUE.into())).0),
            value.count,
            value.chosen,
        ))
    }
}

fn lines(facets: &Facets) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for facet in &facets.all {
        lines.push(Line::Of(facet.by));
        lines.extend(facet.values.iter().map(Line::Value));
        lines.extend((facet.more > 0).then_some(Line::More(facet.more)));
    }
    lines
}

fn draw(canvas: &mut Canvas<'_>, area: Rect, line: &Line<'_>, all: u64) {
    let x = area.x + 1;
    let room = area.width.saturating_sub(2);
    let value = match line {
        Line::Of(by) => {
            canvas.put(x, area.y, room, &sums::by(*by).to_uppercase(), Role::Strong);
            return;
        }
        Line::More(more) => {
            let said = sums::more_values(*more);
            canvas.put_cut(x + 3, area.y, room.saturating_sub(3), &said, Role::Dim);
            return;
        }
        Line::Value(value) => value,
    };
    if value.chosen {
        canvas.put(x + 1, area.y, 1, sums::CHOSEN, Role::Accent);
    }
    let wide = room.saturating_sub(3 + COUNT + 1 + BAR).min(VALUE);
    let name = claim::named(&value.shown, VALUE.into());
    canvas.put_claim(x + 3, area.y, wide, &name, Role::Text);
    let count = format!("{:>1$}", words::number(value.count), usize::from(COUNT));
    let at = x + 3 + wide;
    canvas.put(at, area.y, COUNT, &count, Role::Text);
    let share = value.count as f64 / all.max(1) as f64;
    let bar = bar(share, BAR.into(), false);
    canvas.put(at + COUNT + 1, area.y, BAR, &bar, Role::Accent);
}
