//! `E` on screen 2: what its question selects goes into a folder that a person names, in a format that `Tab` changes.

use tui_input::Input;

use crate::audit::bundle::{PROPOSALS_MAX, too_many};
use crate::audit::query::Query;
use crate::clock::Now;

use super::super::action::{Action, ExportAs, ExportGoes, Exporting};
use super::super::keys::Key;
use super::super::words::sums;
use super::{Notice, OnScreen, Over, Prompt, UiState};

/// The field of a folder, and the format.
#[derive(Debug)]
pub(in crate::tui) struct ExportField {
    pub input: Input,
    pub format: ExportAs,
    /// The folder is the one that was offered: what is typed takes its place.
    pub offered: bool,
}

impl ExportField {
    /// Before a key edits the folder, or text is pasted there.
    pub fn edits(&mut self, types: bool) {
        if std::mem::take(&mut self.offered) && types {
            self.input = Input::default();
        }
    }

    /// The same for a key.
    pub fn on_key(&mut self, key: Key) {
        self.edits(key.typed().is_some());
    }
}

impl UiState {
    pub(super) fn ask_export(&mut self, now: Now) {
        let OnScreen::Audit(log) = &self.place else {
            return;
        };
        let own = Query::parse(&log.query, now.wall).is_ok_and(|query| query.own().is_some());
        self.remarks.notice = match (self.remarks.exporting, log.total()) {
            _ if own => Some(Notice::Idle(sums::ONLY_PROPOSALS.into())),
            (Some(_), _) => Some(Notice::Idle(sums::EXPORTS_ALREADY.into())),
            (None, Some(0)) => Some(Notice::Idle(sums::NOTHING_TO_EXPORT.into())),
            (None, _) => None,
        };
        if self.remarks.notice.is_some() {
            return;
        }
        let at = now.wall.to_zoned(self.common.zone.clone());
        let folder = format!("~/countersign-export-{}", at.strftime("%Y%m%d-%H%M%S"));
        self.over = Over::Prompt(Prompt::Export(ExportField {
            input: Input::new(folder),
            format: ExportAs::Records,
            offered: true,
        }));
    }

    /// `Tab` in the field.
    pub(super) fn next_format(&mut self) {
        let Over::Prompt(Prompt::Export(field)) = &mut self.over else {
            return;
        };
        field.format = field.format.next();
        if self.common.spoken {
            let (name, what) = sums::format(field.format);
            let said = format!("{name}: {what}");
            self.remarks.notice = Some(Notice::Idle(said.into()));
        }
    }

    /// `Enter` in the field.
    pub(super) fn send_export(&mut self, field: ExportField) -> Vec<Action> {
        let folder = field.input.value().trim().to_owned();
        let OnScreen::Audit(log) = &self.place else {
            return Vec::new();
        };
        let query = log.query.clone();
        let many = log.total().filter(|all| *all > PROPOSALS_MAX);
        if folder.is_empty() {
            self.remarks.notice = Some(sums::NOT_EXPORTED.into());
            return Vec::new();
        }
        if !["/", "~/"].iter().any(|from| folder.starts_with(from)) {
            self.remarks.notice = Some(Notice::Idle(sums::WHOLE_FOLDER.into()));
            self.over = Over::Prompt(Prompt::Export(field));
            return Vec::new();
        }
        if let Some(many) = many.filter(|_| field.format == ExportAs::Bundle) {
            self.remarks.notice = Some(Notice::Idle(too_many(many).into()));
            self.over = Over::Prompt(Prompt::Export(field));
            return Vec::new();
        }
        self.remarks.exporting = Some(ExportGoes::Begins);
        self.remarks.notice = Some(sums::EXPORTS.into());
        vec![Action::Export(Exporting {
            query,
            format: field.format,
            folder,
        })]
    }

    /// How far an export is.
    pub fn export_goes(&mut self, goes: ExportGoes) {
        if let Some(known) = &mut self.remarks.exporting {
            *known = goes;
        }
    }

    /// What became of an export.
    pub fn exported(&mut self, said: String) {
        self.remarks.exporting = None;
        self.tell(said);
    }

    pub(in crate::tui) const fn exports(&self) -> Option<ExportGoes> {
        self.remarks.exporting
    }
}
