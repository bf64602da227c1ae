//! Content that is made before the layout, because the sizes of its areas follow from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratatui::layout::Rect;

use super::super::document::Layout;
use super::super::flow::Flow;
use super::super::ui::{FlowKey, OnScreen, Over, Pane};
use super::Screen;
use super::areas::Measure;
use super::effects::Room;

/// Makes and keeps content at the widths that the layout asks for.
pub(super) struct Measured<'s, 'a> {
    screen: &'s Screen<'a>,
    /// Whether the queue's line carries the title, so that it needs no row of its own.
    titled: bool,
    parts: Parts,
}

/// The content of a frame.
#[derive(Default)]
pub(super) struct Parts {
    /// What the agent says, as far as the row above has no room for it.
    pub claims: Flow,
    /// The effects.
    pub title: Option<Arc<Flow>>,
    /// Of the code.
    pub layout: Option<Arc<Layout>>,
    pub panes: BTreeMap<Pane, Arc<Flow>>,
    pub sheet: Option<Arc<Flow>>,
    /// What the next frames may use again.
    pub kept: Vec<(FlowKey, Arc<Flow>)>,
}

impl<'s, 'a> Measured<'s, 'a> {
    pub fn new(screen: &'s Screen<'a>, titled: bool) -> Self {
        Self {
            screen,
            titled,
            parts: Parts::default(),
        }
    }

    pub fn into_parts(self) -> Parts {
        self.parts
    }
}

/// Rows of the panes below the code that the effects leave.
const LOWER: usize = 4;

/// Rows of the sheet beside its content: its heading, the rule and the two rows of the question.
pub(super) const SHEET_FRAME: u16 = 4;

impl Measure for Measured<'_, '_> {
    fn title(&mut self, width: u16, body: u16) -> u16 {
        let Some(entry) = self.screen.entry else {
            return 0;
        };
        let most = match body {
            ..10 => 1,
            10..26 => 2,
            _ => 3,
        };
        self.parts.claims = self.screen.claim_rows(entry, width, most, self.titled);
        let claims = self.parts.claims.rows.len() as u16;
        let own = claims + u16::from(!self.titled);
        if body < 10 {
            return 1;
        }
        let rows = |share: u16| usize::from(share);
        let within = (rows(body / 3), rows(body / 2 - own.min(2)));
        let fitting = |room| self.screen.effects_within(entry, room, width, within);
        // A paragraph for each question, where that takes no row from the code.
        let each = fitting(Room::Each);
        let code = usize::from(self.code(width));
        let needed = usize::from(own) + each.rows.len() + code + LOWER;
        let flow = match body >= 28 || needed <= usize::from(body) {
            true => each,
            false => fitting(Room::Two),
        };
        let rows = u16::try_from(flow.rows.len()).unwrap_or(u16::MAX);
        self.parts.title = Some(Arc::new(flow));
        own + rows
    }

    fn code(&mut self, width: u16) -> u16 {
        if self.parts.layout.is_none() {
            self.parts.layout = self.screen.code_layout(width);
        }
        let rows = self.parts.layout.as_ref().map_or(0, |layout| layout.len());
        u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(1)
    }

    fn pane(&mut self, pane: Pane, width: u16, most: u16) -> u16 {
        let Some(entry) = self.screen.entry else {
            return 0;
        };
        let inner = Rect::new(0, 0, width.saturating_sub(2), most);
        let flow = self.screen.pane(pane, entry, inner, &mut self.parts.kept);
        let pinned = self.screen.pinned(pane, entry, inner.width, most);
        let rows = u16::try_from(flow.rows.len()).unwrap_or(u16::MAX);
        self.parts.panes.insert(pane, flow);
        rows.saturating_add(pinned.rows.len() as u16)
    }

    fn sheet(&mut self, width: u16) -> Option<u16> {
        let (Over::Sheet(sheet), OnScreen::Queue) = (self.screen.ui.over(), self.screen.ui.place())
        else {
            return None;
        };
        let flow = self.screen.sheet_flow(sheet, width, &mut self.parts.kept)?;
        let rows = u16::try_from(flow.rows.len()).unwrap_or(u16::MAX);
        self.parts.sheet = Some(flow);
        Some(rows.saturating_add(SHEET_FRAME))
    }
}
