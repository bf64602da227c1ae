//! The layout of the screen at a given size. Pure arithmetic.

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
    pub title: Rect,
    /// No rows if another pane covers the code.
    pub code: Rect,
    pub slots: Vec<Slot>,
    pub footer: Rect,
}

/// The inputs of the layout beside the size.
#[derive(Clone, Debug)]
pub struct Want {
    pub header_rows: u16,
    pub banner_rows: u16,
    /// Whether the title needs a row for the agent's reason.
    pub reason: bool,
    /// The focused pane fills the whole body.
    pub zoom: bool,
    pub focus: Pane,
    /// Lower panes by last focus, the latest first.
    pub recent: Vec<Pane>,
    pub lower: Vec<Pane>,
}

impl Areas {
    pub fn new(area: Rect, want: &Want) -> Self {
        let wide = area.width >= 100 && area.height >= 28;
        let row = |y: u16, rows: u16| Rect::new(area.x, y, area.width, rows);
        let header_rows = want.header_rows.min(area.height);
        let header = row(area.y, header_rows);
        let footer = row(
            area.bottom().saturating_sub(1).max(area.y),
            area.height.min(1),
        );
        let room = area.height.saturating_sub(header_rows + 1);
        let banner = row(header.bottom(), want.banner_rows.min(room));
        let body = row(banner.bottom(), footer.y.saturating_sub(banner.bottom()));
        let (queue, right, folded) = if want.zoom {
            (Rect::new(body.x, body.y, 0, 0), body, true)
        } else if wide {
            let columns = (body.width / 4).clamp(26, 38);
            let queue = Rect {
                width: columns,
                ..body
            };
            let right = Rect {
                x: body.x + columns + 1,
                width: body.width - columns - 1,
                ..body
            };
            (queue, right, false)
        } else {
            let queue = Rect {
                height: body.height.min(1),
                ..body
            };
            let right = Rect {
                y: queue.bottom(),
                height: body.height - queue.height,
                ..body
            };
            (queue, right, true)
        };
        let title_rows = 1 + u16::from(want.reason && right.height >= 14);
        let title = Rect {
            height: title_rows.min(right.height),
            ..right
        };
        let rest = Rect {
            y: title.bottom(),
            height: right.height - title.height,
            ..right
        };
        let in_lower = want.lower.contains(&want.focus);
        let lower_rows = if want.lower.is_empty() || (want.zoom && !in_lower) {
            0
        } else if want.zoom {
            rest.height
        } else if wide {
            (rest.height * 9 / 20).clamp(8, 18)
        } else if rest.height >= 14 {
            (rest.height * 2 / 5).clamp(6, 10)
        } else if in_lower {
            rest.height
        } else {
            0
        };
        let code = Rect {
            height: rest.height - lower_rows,
            ..rest
        };
        let below = Rect {
            y: code.bottom(),
            height: lower_rows,
            ..rest
        };
        Self {
            header,
            banner,
            body,
            queue,
            folded,
            title,
            code,
            slots: slots(below, wide && !want.zoom, want),
            footer,
        }
    }
}

/// Splits the area into slots. The agent's claims go to the right edge, because text drawn as the
/// terminal draws it must have nothing behind it.
fn slots(below: Rect, wide: bool, want: &Want) -> Vec<Slot> {
    if below.height < 2 {
        return Vec::new();
    }
    let has = |pane: &Pane| want.lower.contains(pane);
    let groups: Vec<(u16, Vec<Pane>)> = if !wide {
        vec![(100, want.lower.clone())]
    } else if has(&Pane::Output) {
        vec![
            (58, vec![Pane::Output]),
            (
                42,
                vec![
                    Pane::Outcome,
                    Pane::Verdict,
                    Pane::Can,
                    Pane::Given,
                    Pane::Says,
                ],
            ),
        ]
    } else if below.width >= 130 {
        vec![
            (34, vec![Pane::Verdict]),
            (20, vec![Pane::Can]),
            (23, vec![Pane::Given]),
            (23, vec![Pane::Outcome, Pane::Says]),
        ]
    } else {
        vec![
            (36, vec![Pane::Verdict]),
            (26, vec![Pane::Outcome, Pane::Can]),
            (38, vec![Pane::Given, Pane::Says]),
        ]
    };
    let mut slots = Vec::new();
    let mut x = below.x;
    let count = groups.len();
    for (i, (share, mut panes)) in groups.into_iter().enumerate() {
        panes.retain(has);
        let Some(first) = panes.first().copied() else {
            continue;
        };
        // One column between neighbours holds the vertical rule.
        let gap = u16::from(i > 0);
        let left = below.right().saturating_sub(x + gap);
        let width = if i + 1 == count {
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
        x += gap + width;
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn want(focus: Pane, zoom: bool, lower: &[Pane], extra: u16) -> Want {
        Want {
            header_rows: 1 + extra % 2,
            banner_rows: extra / 2,
            reason: extra.is_multiple_of(2),
            zoom,
            focus,
            recent: Vec::new(),
            lower: lower.to_vec(),
        }
    }

    proptest! {
        #[test]
        fn everything_stays_on_the_screen_and_nothing_overlaps(
            width in 0_u16..300, height in 0_u16..120, zoom in any::<bool>(), extra in 0_u16..6,
            run in any::<bool>(),
        ) {
            let area = Rect::new(0, 0, width, height);
            let lower: &[Pane] = if run {
                &[Pane::Output, Pane::Outcome, Pane::Verdict, Pane::Can, Pane::Given, Pane::Says]
            } else {
                &[Pane::Verdict, Pane::Can, Pane::Given, Pane::Says]
            };
            for focus in [Pane::Queue, Pane::Code, Pane::Given] {
                let a = Areas::new(area, &want(focus, zoom, lower, extra));
                let mut all = vec![a.header, a.banner, a.queue, a.title, a.code];
                if height > 0 && a.header.bottom() <= a.footer.y {
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
        fn every_lower_pane_can_be_opened_at_every_usable_size(width in 40_u16..200, height in 10_u16..80) {
            let lower = [Pane::Output, Pane::Outcome, Pane::Verdict, Pane::Can, Pane::Given, Pane::Says];
            for focus in lower {
                let a = Areas::new(Rect::new(0, 0, width, height), &want(focus, false, &lower, 0));
                prop_assert!(a.slots.iter().any(|s| s.open == focus && s.area.height >= 2));
                let z = Areas::new(Rect::new(0, 0, width, height), &want(focus, true, &lower, 0));
                prop_assert!(z.slots.len() == 1 && z.slots[0].open == focus && z.code.height == 0);
                prop_assert_eq!(z.slots[0].area.height, z.body.height - z.title.height);
            }
            let a = Areas::new(Rect::new(0, 0, width, height), &want(Pane::Code, false, &lower, 3));
            prop_assert!(a.code.height >= 3);
        }
    }
}
