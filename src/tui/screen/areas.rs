//! The layout of the screen at a given size. Pure arithmetic: sizes follow the content, which the caller measures.

use ratatui::layout::Rect;

use super::super::ui::Pane;

/// An area below the code: the panes that share it, and the open one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub area: Rect,
    pub panes: Vec<Pane>,
    pub open: Pane,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Areas {
    pub header: Rect,
    /// Alarms and the progress of building the environment; no rows if there are none.
    pub banner: Rect,
    /// Everything between header and footer.
    pub body: Rect,
    pub queue: Rect,
    /// Whether the queue is folded into one line.
    pub folded: bool,
    /// The title, the agent's reason and the effects.
    pub title: Rect,
    /// Whether they are folded: the code has their rows.
    pub short: bool,
    /// No rows if another pane covers the code.
    pub code: Rect,
    pub slots: Vec<Slot>,
    /// No rows unless the sheet is open.
    pub sheet: Rect,
    /// What the last row has no room for, above it.
    pub said: Rect,
    pub footer: Rect,
}

/// What gives way to code that has no room, once a person moved on in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Nothing,
    Title,
    /// The panes below the code too, where they stand in the same column.
    Panes,
}

/// The inputs of the layout beside the size.
#[derive(Clone, Debug)]
pub struct Want {
    pub header_rows: u16,
    pub banner_rows: u16,
    /// Rows of what the last row has no room for; none beside a sheet.
    pub said_rows: u16,
    /// Rows of the folded queue: its line, and the filter's.
    pub queue_rows: u16,
    /// The focused pane fills the whole body, below the folded queue's line.
    pub zoom: bool,
    /// The zoomed pane is the queue.
    pub list: bool,
    pub focus: Pane,
    /// Lower panes by last focus, the latest first.
    pub recent: Vec<Pane>,
    pub lower: Vec<Pane>,
    /// Whether a run's output matters more than its code.
    pub ran: bool,
    pub fold: Fold,
    /// Whether the verdict is clear without a finding, which the rule of its pane can say.
    pub clear: bool,
}

impl Want {
    /// Whether a person reads what a run printed; it needs the width more than the queue does.
    fn reads_output(&self) -> bool {
        self.ran && self.focus == Pane::Output
    }
}

/// What the caller measures: rows of content at a width.
pub trait Measure {
    /// Rows above the code, in a body of this height.
    fn title(&mut self, width: u16, body: u16) -> u16;
    /// The same rows folded.
    fn short(&mut self, width: u16) -> u16;
    /// Rows of all the code, with its rule.
    fn code(&mut self, width: u16) -> u16;
    /// Rows of a lower pane, which gets at most `most` of them.
    fn pane(&mut self, pane: Pane, width: u16, most: u16) -> u16;
    /// Rows of the sheet with its frame; `None` if it is not open.
    fn sheet(&mut self, width: u16) -> Option<u16>;
}

/// Rows of code, with its rule, that a sheet leaves in sight where there is room.
const CODE_BESIDE: u16 = 3;

/// From here on the rule of the verdict's pane has room for a clear verdict in words.
const SAYS_CLEAR: u16 = 72;

/// From here on the queue gets a larger share: code has room enough. A run's output needs it itself.
const VERY_WIDE: u16 = 160;

/// Whether the queue has a column of its own.
pub const fn is_wide(area: Rect) -> bool {
    area.width >= 100 && area.height >= 28
}

impl Areas {
    pub fn new(area: Rect, want: &Want, measure: &mut impl Measure) -> Self {
        let wide = is_wide(area);
        let row = |y: u16, rows: u16| Rect::new(area.x, y, area.width, rows);
        let header_rows = want.header_rows.min(area.height);
        let header = row(area.y, header_rows);
        let footer = row(
            area.bottom().saturating_sub(1).max(area.y),
            area.height.min(1),
        );
        let room = area.height.saturating_sub(header_rows + 1);
        let banner = row(header.bottom(), want.banner_rows.min(room));
        let room = footer.y.saturating_sub(banner.bottom());
        let said_rows = want.said_rows.min(room / 4);
        let said = row(footer.y - said_rows, said_rows);
        let body = row(banner.bottom(), room - said_rows);
        let (queue, right, folded) = columns(body, wide, want);
        let (sheet, right, code_only) = match measure.sheet(right.width) {
            Some(rows) => {
                // The sheet uses the footer's row too.
                let most = right.height + footer.height;
                let rows = rows.min(most);
                let above = most - rows;
                let above = if above < CODE_BESIDE { 0 } else { above };
                let sheet = Rect {
                    y: right.y + above,
                    height: most - above,
                    ..right
                };
                let right = Rect {
                    height: above,
                    ..right
                };
                (area.intersection(sheet), right, true)
            }
            None => (Rect { height: 0, ..right }, right, false),
        };
        // The sheet begins with the title and the effects.
        let title_rows = match code_only || want.zoom {
            true => 0,
            false => measure.title(right.width, right.height).min(right.height),
        };
        let title = Rect {
            height: title_rows,
            ..right
        };
        let rest = Rect {
            y: title.bottom(),
            height: right.height - title.height,
            ..right
        };
        let mut slots = if code_only {
            Vec::new()
        } else {
            slots(rest, wide && !want.zoom, want)
        };
        let one_column = !wide && !want.zoom && !code_only;
        let rows = match one_column.then(|| stacked(rest, want, measure)).flatten() {
            Some((both, rows)) => {
                slots = both;
                rows
            }
            None => {
                let rows = lower_rows(rest, wide, want, &slots, measure);
                for slot in &mut slots {
                    slot.area.y = rest.bottom() - rows;
                    slot.area.height = rows;
                }
                if rows == 0 {
                    slots.clear();
                }
                rows
            }
        };
        let code = Rect {
            height: rest.height - rows,
            ..rest
        };
        let whole = Self {
            header,
            banner,
            body,
            queue,
            folded,
            title,
            short: false,
            code,
            slots,
            sheet,
            said,
            footer,
        };
        match want.fold {
            Fold::Nothing => whole,
            fold => whole.folding(fold, measure),
        }
    }

    /// Gives the code the rows of what is above it, and of what is below it if that folds too, unless all of it has room.
    fn folding(mut self, fold: Fold, measure: &mut impl Measure) -> Self {
        if self.code.height == 0 || self.code.height >= measure.code(self.code.width) {
            return self;
        }
        let rows = measure.short(self.title.width);
        if rows < self.title.height {
            self.title.height = rows;
            self.short = true;
        }
        let mut bottom = self.code.bottom();
        if let ([slot], Fold::Panes) = (self.slots.as_slice(), fold) {
            bottom = slot.area.bottom();
            self.slots.clear();
        }
        self.code.y = self.title.bottom();
        self.code.height = bottom - self.code.y;
        self
    }
}

/// The queue's area, and the area right of it or below it.
fn columns(body: Rect, wide: bool, want: &Want) -> (Rect, Rect, bool) {
    if want.list {
        let none = Rect {
            y: body.bottom(),
            height: 0,
            ..body
        };
        return (body, none, false);
    }
    if wide && !want.zoom {
        let columns = match (want.reads_output(), body.width) {
            (true, width) => (width / 5).clamp(28, 40),
            (false, VERY_WIDE..) if !want.ran => (body.width * 7 / 20).min(80),
            (false, usual) => (usual * 3 / 10).clamp(34, 56),
        };
        let queue = Rect {
            width: columns,
            ..body
        };
        let right = Rect {
            x: body.x + columns + 1,
            width: body.width - columns - 1,
            ..body
        };
        return (queue, right, false);
    }
    let queue = Rect {
        height: body.height.min(want.queue_rows),
        ..body
    };
    let right = Rect {
        y: queue.bottom(),
        height: body.height - queue.height,
        ..body
    };
    (queue, right, true)
}

/// Rows of the lower panes, with their rule: as many as the open ones have, up to a share of the height, or to what
/// the code leaves.
fn lower_rows(
    below: Rect,
    wide: bool,
    want: &Want,
    slots: &[Slot],
    measure: &mut impl Measure,
) -> u16 {
    let rest = below.height;
    let focused = want.lower.contains(&want.focus);
    if slots.is_empty() || (want.zoom && !focused) {
        return 0;
    }
    if want.zoom {
        return rest;
    }
    let verdict = slots.first().is_some_and(|slot| slot.open == Pane::Verdict);
    if !wide && !focused && !want.ran && want.clear && verdict && below.width >= SAYS_CLEAR {
        return 1;
    }
    if rest < 10 && !wide {
        return if focused { rest } else { 0 };
    }
    let most = match (want.ran, focused) {
        (true, _) => rest * 3 / 5,
        (false, true) => rest / 2,
        (false, false) => rest * 2 / 5,
    };
    let most = most.max(rest.saturating_sub(measure.code(below.width)));
    let least = if focused { 6.min(most) } else { 1 };
    let tallest = slots
        .iter()
        .map(|slot| measure.pane(slot.open, slot.area.width, most.saturating_sub(1)))
        .max()
        .unwrap_or(0);
    tallest.saturating_add(1).clamp(least, most)
}

/// Two slots below each other, and their rows, where the code leaves room for both.
fn stacked(rest: Rect, want: &Want, measure: &mut impl Measure) -> Option<(Vec<Slot>, u16)> {
    if want.ran || rest.height < 10 {
        return None;
    }
    let room = rest.height.saturating_sub(measure.code(rest.width));
    let mut rows = |pane| measure.pane(pane, rest.width, room);
    let least = [
        rows(Pane::Verdict).clamp(1, STACKED),
        rows(Pane::Given).clamp(1, STACKED),
    ];
    if least.iter().sum::<u16>() + 2 > room {
        return None;
    }
    let mut both = split(
        rest,
        vec![(100, BESIDE.to_vec()), (100, GIVEN.to_vec())],
        want,
    );
    let [above, below] = both.as_mut_slice() else {
        return None;
    };
    // The slot with the focus gets what the other leaves.
    let (first, other) = match below.panes.contains(&want.focus) {
        true => (&mut *below, &mut *above),
        false => (&mut *above, &mut *below),
    };
    other.area.height = (rows(other.open) + 1).clamp(2, room - 2);
    first.area.height = (rows(first.open) + 1).clamp(2, room - other.area.height);
    // A pane that a person reads has half of the height, alone if need be.
    let short = first.area.height <= rows(first.open) && first.area.height < rest.height / 2;
    if short && want.lower.contains(&want.focus) {
        return None;
    }
    let height = above.area.height + below.area.height;
    above.area.y = rest.bottom() - height;
    below.area.y = above.area.bottom();
    Some((both, height))
}

/// Splits the area into slots side by side. The agent's claims go to the right edge, because text drawn as the
/// terminal draws it must have nothing behind it.
fn slots(below: Rect, wide: bool, want: &Want) -> Vec<Slot> {
    if below.height < 2 {
        return Vec::new();
    }
    let has = |pane: &Pane| want.lower.contains(pane);
    let groups: Vec<(u16, Vec<Pane>)> = if !wide {
        vec![(100, want.lower.clone())]
    } else if has(&Pane::Output) {
        let output = if want.reads_output() { 66 } else { 58 };
        vec![
            (output, vec![Pane::Output]),
            (
                100 - output,
                vec![
                    Pane::Outcome,
                    Pane::Verdict,
                    Pane::Can,
                    Pane::Given,
                    Pane::Details,
                    Pane::Says,
                    Pane::Past,
                ],
            ),
        ]
    } else {
        vec![(50, BESIDE.to_vec()), (50, GIVEN.to_vec())]
    };
    split(below, groups, want)
}

/// The panes of two slots: what was found and became of it, and what it is given.
const BESIDE: [Pane; 3] = [Pane::Outcome, Pane::Verdict, Pane::Can];
const GIVEN: [Pane; 4] = [Pane::Given, Pane::Details, Pane::Says, Pane::Past];
/// Rows of one of two slots below each other before the other gets more.
const STACKED: u16 = 5;

/// Slots of these panes, each with a share of the width; the shares of slots below each other are whole.
fn split(below: Rect, groups: Vec<(u16, Vec<Pane>)>, want: &Want) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut x = below.x;
    let count = groups.len();
    for (i, (share, mut panes)) in groups.into_iter().enumerate() {
        panes.retain(|pane| want.lower.contains(pane));
        let Some(first) = panes.first().copied() else {
            continue;
        };
        let whole = share == 100;
        // One column between neighbours holds the vertical rule.
        let gap = u16::from(i > 0 && !whole);
        let left = below.right().saturating_sub(x + gap);
        let width = if i + 1 == count || whole {
            left
        } else {
            (u32::from(below.width) * u32::from(share) / 100) as u16
        }
        .min(left);
        let open = std::iter::once(&want.focus)
            .chain(&want.recent)
            .find(|p| panes.contains(p))
            .copied()
            .unwrap_or(first);
        slots.push(Slot {
            area: Rect::new(x + gap, below.y, width, below.height),
            panes,
            open,
        });
        if !whole {
            x += gap + width;
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Content of fixed sizes.
    struct Rows {
        title: u16,
        short: u16,
        code: u16,
        pane: u16,
        sheet: Option<u16>,
    }

    impl Measure for Rows {
        fn title(&mut self, _: u16, body: u16) -> u16 {
            self.title.min(body / 2)
        }
        fn short(&mut self, _: u16) -> u16 {
            self.short
        }
        fn code(&mut self, _: u16) -> u16 {
            self.code
        }
        fn pane(&mut self, _: Pane, _: u16, most: u16) -> u16 {
            self.pane.min(most)
        }
        fn sheet(&mut self, _: u16) -> Option<u16> {
            self.sheet
        }
    }

    const RUN: [Pane; 8] = [
        Pane::Output,
        Pane::Outcome,
        Pane::Verdict,
        Pane::Can,
        Pane::Given,
        Pane::Details,
        Pane::Says,
        Pane::Past,
    ];

    fn want(focus: Pane, zoom: bool, lower: &[Pane], extra: u16) -> Want {
        Want {
            header_rows: 1 + extra % 2,
            banner_rows: extra / 2,
            said_rows: extra,
            queue_rows: 1 + extra % 2,
            zoom,
            list: zoom && focus == Pane::Queue,
            focus,
            recent: Vec::new(),
            lower: lower.to_vec(),
            ran: lower.contains(&Pane::Output),
            fold: Fold::Nothing,
            clear: extra.is_multiple_of(2),
        }
    }

    proptest! {
        #[test]
        fn everything_stays_on_the_screen_and_nothing_overlaps(
            width in 0_u16..300, height in 0_u16..120, zoom in any::<bool>(), extra in 0_u16..6,
            run in any::<bool>(), title in 0_u16..9, code in 1_u16..90, pane in 0_u16..60,
            sheet in proptest::option::of(0_u16..90), short in 0_u16..9,
            fold in prop::sample::select(vec![Fold::Nothing, Fold::Title, Fold::Panes]),
        ) {
            let area = Rect::new(0, 0, width, height);
            let lower: &[Pane] = if run { &RUN } else { &RUN[2..] };
            for focus in [Pane::Queue, Pane::Code, Pane::Given] {
                let mut rows = Rows { title, short, code, pane, sheet };
                let want = want(focus, zoom, lower, extra);
                let said_rows = if sheet.is_some() { 0 } else { want.said_rows };
                let want = Want { said_rows, fold, ..want };
                let a = Areas::new(area, &want, &mut rows);
                let mut all = vec![a.header, a.banner, a.queue, a.title, a.code, a.sheet, a.said];
                if height > 0 && a.header.bottom() <= a.footer.y && sheet.is_none() {
                    all.push(a.footer);
                }
                all.extend(a.slots.iter().map(|s| s.area));
                for (i, r) in all.iter().enumerate() {
                    prop_assert!(r.is_empty() || area.intersection(*r) == *r, "{r:?} in {area:?}");
                    for other in &all[i + 1..] {
                        prop_assert!(!r.intersects(*other) || r.is_empty() || other.is_empty(),
                            "{r:?} {other:?}");
                    }
                }
            }
        }

        #[test]
        fn every_lower_pane_can_be_opened_at_every_usable_size(
            width in 40_u16..200, height in 10_u16..80, title in 1_u16..6, code in 2_u16..90,
            pane in 0_u16..60,
        ) {
            let area = Rect::new(0, 0, width, height);
            let mut rows = Rows { title, short: 1, code, pane, sheet: None };
            for focus in RUN {
                let a = Areas::new(area, &want(focus, false, &RUN, 0), &mut rows);
                prop_assert!(a.slots.iter().any(|s| s.open == focus && s.area.height >= 2));
                let z = Areas::new(area, &want(focus, true, &RUN, 0), &mut rows);
                prop_assert!(z.slots.len() == 1 && z.slots[0].open == focus && z.code.height == 0);
                prop_assert_eq!(z.slots[0].area.height, z.body.height - z.queue.height);
                prop_assert!(z.queue.height >= 1);
            }
            let a = Areas::new(area, &want(Pane::Code, false, &RUN, 3), &mut rows);
            prop_assert!(a.code.height >= 2);
        }

        #[test]
        fn the_sheet_gets_its_rows_and_leaves_the_rest_to_the_code(
            width in 40_u16..200, height in 10_u16..80, sheet in 1_u16..90,
        ) {
            let mut rows = Rows { title: 4, short: 2, code: 20, pane: 9, sheet: Some(sheet) };
            let area = Rect::new(0, 0, width, height);
            let a = Areas::new(area, &want(Pane::Code, false, &RUN[2..], 0), &mut rows);
            let whole = a.footer.bottom() - a.sheet.y.min(a.code.y);
            prop_assert_eq!(a.sheet.bottom(), a.footer.bottom());
            prop_assert!(a.sheet.height >= sheet.min(whole));
            prop_assert!(a.code.height == 0 || a.code.height >= CODE_BESIDE);
        }

        #[test]
        fn folding_gives_the_code_rows_and_takes_none_where_it_has_room(
            width in 40_u16..200, height in 10_u16..80, title in 1_u16..9, short in 1_u16..9,
            code in 2_u16..90, pane in 0_u16..20,
        ) {
            let area = Rect::new(0, 0, width, height);
            let mut rows = Rows { title, short, code, pane, sheet: None };
            let of = |fold| Want { fold, ..want(Pane::Code, false, &RUN[2..], 0) };
            let whole = Areas::new(area, &of(Fold::Nothing), &mut rows);
            for fold in [Fold::Title, Fold::Panes] {
                let a = Areas::new(area, &of(fold), &mut rows);
                if whole.code.height >= code {
                    prop_assert_eq!(&a, &whole);
                }
                prop_assert!(a.code.height >= whole.code.height && a.code.y <= whole.code.y);
                prop_assert_eq!(a.code.height > whole.code.height, a != whole);
            }
        }
    }
}
