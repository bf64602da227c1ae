//! Content that is made before the layout, because the sizes of its areas follow from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratatui::layout::Rect;

use super::super::document::Layout;
use super::super::flow::Flow;
use super::super::ui::{FlowKey, OnScreen, Over, Pane};
use super::Screen;
use super::areas::Measure;
use super::lengths::Room;

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
    /// The effects, folded.
    pub short: Option<Flow>,
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
        let code = usize::from(self.code(width));
        let most = match body {
            ..10 => 1,
            10..26 => 2,
            _ => 3,
        };
        let claims = |most| self.screen.claim_rows(entry, width, most, self.titled);
        self.parts.claims = claims(most);
        if body < 10 {
            return 1;
        }
        let claimed = |claims: &Flow| claims.rows.len() + usize::from(!self.titled);
        let rows = |share: u16| usize::from(share);
        let above = claimed(&self.parts.claims).min(2);
        let within = (rows(body / 3), rows(body / 2) - above);
        let fitting = |room| self.screen.effects_within(entry, room, width, within);
        // A paragraph for each question, where that takes no row from the code.
        let each = fitting(Room::Each);
        let needed = claimed(&self.parts.claims) + each.rows.len() + code + LOWER;
        let flow = match body >= 28 || needed <= rows(body) {
            true => each,
            false => fitting(Room::Two),
        };
        // A reason has rows of its own where it takes none from the code.
        if body < 28 && claimed(&self.parts.claims) + flow.rows.len() + code + LOWER > rows(body) {
            self.parts.claims = claims(1);
        }
        let own = u16::try_from(claimed(&self.parts.claims)).unwrap_or(u16::MAX);
        let rows = u16::try_from(flow.rows.len()).unwrap_or(u16::MAX);
        self.parts.title = Some(Arc::new(flow));
        own + rows
    }

    fn short(&mut self, width: u16) -> u16 {
        let columns = width.saturating_sub(2);
        let entry = self.screen.entry;
        let flow = entry.map(|entry| self.screen.effects_folded(entry, columns));
        let rows = flow.as_ref().map_or(0, |flow| flow.rows.len());
        self.parts.short = flow;
        u16::try_from(rows).unwrap_or(u16::MAX) + u16::from(!self.titled)
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
