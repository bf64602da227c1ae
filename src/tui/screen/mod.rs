//! Drawing: turns the broker's state and the screen's own state into cells. Changes no state;
//! returns what it drew, and only that can count as seen.

mod areas;
mod code;
mod copied;
mod data;
mod details;
mod diff;
mod effects;
mod exporting;
mod facets;
mod footer;
mod header;
mod lengths;
mod log;
mod measured;
mod news;
mod nothing;
mod outcome;
mod output;
mod over;
mod panes;
mod policies;
mod queue;
mod returns;
mod reviewed;
mod running;
mod said;
mod saving;
mod sheet;
mod spoken;
pub(super) mod spoken_dossier;
mod spoken_elsewhere;
mod spoken_rows;
mod spoken_sheet;
mod spoken_verdict;
mod statistics;
mod title;
mod votes;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::broker::{BrokerState, Entry};
use crate::clock::Now;
use crate::model::{Digest, GrantDigest, ProposalId, VerdictKind};

use super::action::Header;
use super::as_drawn::Placed;
use super::canvas::Canvas;
use super::charset;
use super::document::Layout;
use super::flow::Flow;
use super::theme::Role;
use super::ui::{
    FlowKey, Looked, OnScreen, Over, Pane, Place, Prompt, Sheet, UiState, View, has_output,
};
use super::words;

pub(super) use spoken::WIDE;
pub(super) use spoken_rows::record as spoken_record;

use areas::{Areas, Fold, Slot, Want};
pub use copied::{Copied, copied};
use measured::{Measured, Parts};

/// What a frame showed; reported back through [`UiState::drawn`].
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// The proposal whose code was on the screen.
    pub(super) id: Option<ProposalId>,
    /// The bytes of its document that were on the screen.
    pub(super) ranges: Vec<Range<usize>>,
    /// The findings that were wholly on the screen.
    pub(super) findings: Vec<usize>,
    /// Whose findings, with the digest of its code, if nothing of its code was on the screen.
    pub(super) findings_of: Option<(ProposalId, Digest)>,
    pub(super) layout: Option<Arc<Layout>>,
    pub(super) code_rows: usize,
    pub(super) code_columns: usize,
    /// Offsets of the code pane's first row and of its current row (`cursor`).
    pub(super) top: Option<usize>,
    pub(super) cursor: Option<usize>,
    /// Where both were to be, by the state that was drawn.
    pub(super) wanted: Option<(usize, usize)>,
    /// Height and number of content rows of each lower pane.
    pub(super) panes: BTreeMap<Pane, (usize, usize)>,
    /// Height and number of content rows of the overlay.
    pub(super) over: Option<(usize, usize)>,
    /// The rows on which its parts begin.
    pub(super) starts: Vec<usize>,
    /// Rows of the focused list.
    pub(super) list_rows: usize,
    pub(super) tops: (usize, usize),
    /// First row shown of the agents on screen 3.
    pub(super) first_agent: usize,
    /// What stands where, for the mouse.
    pub(super) places: Vec<(Rect, Place)>,
    pub(super) sheet: Option<SheetShown>,
    /// The first row of an output that is not followed.
    pub(super) output_top: Option<usize>,
    /// Whether rows of the output are wider than its pane.
    pub(super) output_goes_on: bool,
    pub(super) flows: Vec<(FlowKey, Arc<Flow>)>,
    pub(super) too_small: bool,
    pub(super) scene: Scene,
    /// Text sent unchanged at the ends of rows.
    #[expect(clippy::struct_field_names, reason = "as drawn is one word")]
    pub(super) as_drawn: Vec<Placed>,
}

/// The subject of the screen. When it changes, the whole screen is rewritten, so that no earlier
/// text can be mistaken for part of the new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    pub(super) selected: Option<ProposalId>,
    pub(super) view: Option<View>,
    pub(super) sheet: Option<GrantDigest>,
    pub(super) help: bool,
    /// The number of the diff.
    pub(super) diff: Option<u64>,
    /// How often a person asked for a complete redraw.
    pub(super) asked: u64,
}

/// The sheet's rows that were on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetShown {
    pub id: ProposalId,
    pub digest: GrantDigest,
    pub width: u16,
    pub total: usize,
    pub rows: Range<usize>,
    pub findings: Vec<usize>,
}

/// Narrower lines have no room for a title.
const LINE_WITH_TITLE: u16 = 60;

/// All data that drawing reads.
pub(super) struct Screen<'a> {
    state: &'a BrokerState,
    ui: &'a UiState,
    facts: &'a Header,
    entry: Option<&'a Entry>,
    now: Now,
    /// Columns and rows of the terminal; 0 where nothing is drawn on one.
    columns: u16,
    rows: u16,
}

/// Draws one frame. Never panics, at any size.
pub fn render(
    state: &BrokerState,
    ui: &UiState,
    facts: &Header,
    area: Rect,
    buf: &mut Buffer,
    now: Now,
) -> Drawn {
    charset::scope(ui.common.charset, || draw(state, ui, facts, area, buf, now))
}

fn draw(
    state: &BrokerState,
    ui: &UiState,
    facts: &Header,
    area: Rect,
    buf: &mut Buffer,
    now: Now,
) -> Drawn {
    let mut drawn = Drawn {
        tops: ui.queue.lists.tops,
        scene: Scene {
            selected: ui.selected(),
            view: Some(ui.view()),
            sheet: ui.sheet().map(Sheet::digest),
            help: matches!(
                ui.over(),
                Over::Help { .. } | Over::Palette(_) | Over::Picker(_)
            ),
            diff: ui.diff_number(),
            asked: ui.asked_anew,
        },
        ..Drawn::default()
    };
    let mut canvas = Canvas::new(buf, ui.theme());
    canvas.clear(area);
    let screen = Screen {
        state,
        ui,
        facts,
        entry: ui.selected().and_then(|id| state.entry(id)),
        now,
        columns: area.width,
        rows: area.height,
    };
    if area.width < words::MIN_COLUMNS || area.height < words::MIN_ROWS {
        drawn.too_small = true;
        screen.too_small(&mut canvas, area);
        return drawn;
    }
    let header_rows = screen.header_rows(area);
    let banner = screen.banner(area.width);
    let said = screen.said_above(area);
    let entry = screen.entry;
    let want = Want {
        header_rows,
        banner_rows: u16::try_from(banner.rows.len())
            .unwrap_or(0)
            .min(match area.height {
                ..16 => 2,
                // What is wrong with the log takes four.
                _ if screen.facts.unheard.is_some() => 6,
                _ => 4,
            }),
        said_rows: u16::try_from(said.rows.len()).unwrap_or(0),
        queue_rows: 1 + u16::from(ui.queue.lists.filter.is_on()),
        zoom: ui.queue.zoom,
        list: screen.is_list(),
        focus: ui.focus_now(entry),
        recent: ui.queue.recent.clone(),
        lower: ui.lower(entry),
        ran: entry.is_some_and(has_output),
        fold: screen.fold(),
        clear: screen.is_clear(),
    };
    let mut measured = Measured::new(&screen, screen.line_has_title(area));
    let areas = Areas::new(area, &want, &mut measured);
    let parts = measured.into_parts();
    screen.header(&mut canvas, areas.header);
    draw_flow(&mut canvas, areas.banner, &banner, 0);
    if ui.view() != View::Queue || matches!(ui.over(), Over::Diff(_) | Over::Help { .. }) {
        drawn.places.push((areas.body, Place::Page));
    }
    match (ui.over(), ui.place()) {
        (Over::Diff(compared), OnScreen::Queue) => {
            screen.diff(&mut canvas, areas.body, compared, &mut drawn);
        }
        (Over::Help { top }, _) => screen.help(&mut canvas, areas.body, *top, &mut drawn),
        (Over::Palette(palette), _) => screen.palette(&mut canvas, areas.body, palette),
        (_, OnScreen::Queue) => screen.queue_screen(&mut canvas, &areas, parts, &mut drawn),
        (_, OnScreen::Audit(log)) => screen.audit(&mut canvas, areas.body, log, &mut drawn),
        (_, OnScreen::Agents(agents)) => {
            screen.agents_screen(&mut canvas, areas.body, agents, &mut drawn);
        }
    }
    if let Over::Picker(_) = ui.over() {
        screen.picker(&mut canvas, areas.body);
    }
    if let Some(Prompt::Save { of, .. }) = ui.prompt() {
        screen.saving(&mut canvas, areas.body, *of);
    }
    if let (Some(Prompt::Export(field)), OnScreen::Audit(log)) = (ui.prompt(), ui.place()) {
        screen.exporting(&mut canvas, areas.body, log, field);
    }
    let covered = matches!(
        ui.over(),
        Over::Picker(_) | Over::Prompt(Prompt::Save { .. })
    );
    // Nothing that the list may cover counts as seen.
    if covered {
        drawn.id = None;
        drawn.ranges.clear();
        drawn.findings.clear();
        drawn.places.clear();
    }
    // The sheet uses the last row too.
    if drawn.sheet.is_none() {
        draw_flow(&mut canvas, areas.said, &said, 0);
        screen.footer(&mut canvas, areas.footer, &drawn);
    }
    drawn.as_drawn = canvas.into_as_drawn();
    if covered {
        drawn.as_drawn.clear();
    }
    drawn
}

impl Screen<'_> {
    fn too_small(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let text = self.ui.common.program.too_small(area.width, area.height);
        let flow = Flow::new(
            &[super::flow::Para::new(text, Role::Text)],
            area.width.max(1),
        );
        draw_flow(canvas, area, &flow, 0);
    }

    fn queue_screen(
        &self,
        canvas: &mut Canvas<'_>,
        areas: &Areas,
        parts: Parts,
        drawn: &mut Drawn,
    ) {
        drawn.places.push((areas.queue, Place::Pane(Pane::Queue)));
        if areas.folded {
            // The row below has a title that has no room in the line.
            let below = areas.title.height > 0 && !areas.short && !parts.claims.rows.is_empty();
            self.folded_queue(canvas, areas.queue, !below);
            drawn.list_rows = 5;
        } else {
            self.queue(canvas, areas.queue, drawn);
            let right = areas.queue.right();
            if right < areas.body.right() {
                canvas.upright(right, areas.body.top(), areas.body.bottom());
            }
        }
        if self.entry.is_none() {
            self.nothing(
                canvas,
                Rect {
                    height: areas.body.bottom() - areas.title.y,
                    ..areas.title
                },
            );
            return;
        }
        self.title(canvas, areas, &parts);
        self.code(canvas, areas.code, parts.layout.clone(), drawn);
        drawn.places.push((areas.code, Place::Pane(Pane::Code)));
        if let (Over::Sheet(sheet), Some(flow)) = (self.ui.over(), &parts.sheet) {
            self.sheet(canvas, areas.sheet, sheet, flow, drawn);
            drawn.places.push((areas.sheet, Place::Page));
            if !areas.folded {
                canvas.joint(areas.sheet.x.saturating_sub(1), areas.sheet.y, "├");
            }
        }
        drawn.flows.extend(parts.kept);
        for (i, slot) in areas.slots.iter().enumerate() {
            let flow = parts.panes.get(&slot.open).cloned();
            let flow = flow.unwrap_or_else(|| self.pane_in(slot, drawn));
            self.slot(canvas, slot, &flow, drawn);
            drawn.places.push((slot.area, Place::Pane(slot.open)));
            let x = slot.area.x.saturating_sub(1);
            if i > 0 && slot.area.y == areas.slots[0].area.y {
                canvas.upright(x, slot.area.y, slot.area.bottom());
                canvas.joint(x, slot.area.y, "┬");
            } else if !areas.folded {
                canvas.joint(x, slot.area.y, "├");
            }
        }
    }

    /// Whether the folded queue's line has the title, which then needs no row of its own.
    fn line_has_title(&self, area: Rect) -> bool {
        (self.ui.queue.zoom || !areas::is_wide(area)) && area.width >= LINE_WITH_TITLE
    }

    /// Whether the queue fills the body.
    fn is_list(&self) -> bool {
        let on_queue = self.ui.focus_now(self.entry) == Pane::Queue;
        self.ui.queue.zoom && on_queue && !matches!(self.ui.over(), Over::Sheet(_))
    }

    /// What folds for the code, once a person moved on in it.
    fn fold(&self) -> Fold {
        let moved = self.looked().is_some_and(Looked::moved_on);
        let Some(entry) = self.entry.filter(|entry| moved && !has_output(entry)) else {
            return Fold::Nothing;
        };
        let clear = entry
            .verdict()
            .is_some_and(|v| v.verdict == VerdictKind::Clear);
        let reads_code = matches!(self.ui.focus_now(self.entry), Pane::Queue | Pane::Code);
        match clear && reads_code && self.ui.queue.recent.is_empty() {
            true => Fold::Panes,
            false => Fold::Title,
        }
    }

    /// Whether nothing was found.
    fn is_clear(&self) -> bool {
        let verdict = self.entry.and_then(Entry::verdict);
        verdict.is_some_and(|v| v.verdict == VerdictKind::Clear && v.findings.is_empty())
    }

    /// The content of a slot whose height did not depend on it.
    fn pane_in(&self, slot: &Slot, drawn: &mut Drawn) -> Arc<Flow> {
        let inner = Rect {
            width: slot.area.width.saturating_sub(2),
            height: slot.area.height.saturating_sub(1),
            ..slot.area
        };
        self.entry.map_or_else(Arc::default, |entry| {
            self.pane(slot.open, entry, inner, &mut drawn.flows)
        })
    }

    fn looked(&self) -> Option<&Looked> {
        self.ui.selected().and_then(|id| self.ui.looked(id))
    }
}

/// Draws a flow's rows from `top` on; returns the range drawn.
fn draw_flow(canvas: &mut Canvas<'_>, area: Rect, flow: &Flow, top: usize) -> Range<usize> {
    let end = flow.rows.len().min(top + usize::from(area.height));
    let shown = top.min(end)..end;
    for (y, row) in (area.y..area.bottom()).zip(&flow.rows[shown.clone()]) {
        canvas.put_row(area.x, y, area.width, row);
    }
    shown
}

/// The findings whose rows all lie in `shown`.
pub(super) fn whole_findings(flow: &Flow, shown: &Range<usize>) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = shown.start;
    while at < shown.end {
        let finding = flow.rows[at].finding;
        let end = (at..flow.rows.len())
            .find(|i| flow.rows[*i].finding != finding)
            .unwrap_or(flow.rows.len());
        let starts_here = at == 0 || flow.rows[at - 1].finding != finding;
        if let Some(finding) = finding
            && starts_here
            && end <= shown.end
        {
            out.push(finding);
        }
        at = end;
    }
    out
}
