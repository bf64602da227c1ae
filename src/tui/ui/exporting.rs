//! `E` on screen 2: what its question selects goes into a folder that a person names, in a format that `Tab` changes.

use tui_input::Input;

use crate::clock::Now;

use super::super::action::{Action, ExportAs, Exporting};
use super::super::words::sums;
use super::{Notice, OnScreen, Over, Prompt, UiState};

/// The field of a folder, and the format.
#[derive(Debug)]
pub(in crate::tui) struct ExportField {
    pub input: Input,
    pub format: ExportAs,
}

impl UiState {
    pub(super) fn ask_export(&mut self, now: Now) {
        let OnScreen::Audit(log) = &self.place else {
            return;
        };
        self.remarks.notice = match (self.remarks.exporting, log.page.total) {
            (true, _) => Some(Notice::Idle(sums::EXPORTS_ALREADY.into())),
            (false, 0) => Some(Notice::Idle(sums::NOTHING_TO_EXPORT.into())),
            (false, _) => None,
        };
        if self.remarks.notice.is_some() {
            return;
        }
        let at = now.wall.to_zoned(self.common.zone.clone());
        let folder = format!("~/countersign-export-{}", at.strftime("%Y%m%d-%H%M%S"));
        self.over = Over::Prompt(Prompt::Export(ExportField {
            input: Input::new(folder),
            format: ExportAs::Records,
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
    pub(super) fn send_export(&mut self, field: &ExportField) -> Vec<Action> {
        let folder = field.input.value().trim().to_owned();
        let OnScreen::Audit(log) = &self.place else {
            return Vec::new();
        };
        let query = log.query.clone();
        if folder.is_empty() {
            self.remarks.notice = Some(sums::NOT_EXPORTED.into());
            return Vec::new();
        }
        self.remarks.exporting = true;
        self.remarks.notice = Some(sums::EXPORTS.into());
        vec![Action::Export(Exporting {
            query,
            format: field.format,
            folder,
        })]
    }

    /// What became of an export.
    pub fn exported(&mut self, said: String) {
        self.remarks.exporting = false;
        self.tell(said);
    }

    pub(in crate::tui) const fn exports(&self) -> bool {
        self.remarks.exporting
    }
}
