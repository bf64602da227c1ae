//! Completes what the screen remembers of earlier proposals, away from the loop.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::query::Query;
use crate::audit::{AuditError, Checked, Log, Unread};
use crate::broker::before::Remembered;
use crate::broker::{Event, LogDoubt};
use crate::figure::{Small, Undrawn};
use crate::model::{Digest, ProposalId, Shape, State};
use crate::tui::{Comparison, Diff, UiState};

use super::Input;
use super::exporting::ExportNews;

/// How long a diff may be looked for; then all that is left counts as changed.
const COMPARING: Duration = Duration::from_millis(500);
/// How soon a log that could not be read is read again.
const AGAIN: Duration = Duration::from_secs(5);
/// Shapes that are reported at once: taking them in holds up the loop for less than a millisecond.
const TOGETHER: usize = 256;

/// What was found out from the log.
pub enum Recalled {
    /// The diff that was asked for under this number, or why there is none.
    Diff(u64, Result<Diff, String>),
    Shapes(Vec<(Digest, Shape)>),
    /// A picture that a run left, made small.
    Figure(Digest, Result<Small, Undrawn>),
    /// What became of opening or saving a file, for the person.
    Told(String),
    /// What became of an export.
    Export(ExportNews),
}

impl Recalled {
    pub fn tell(self, ui: &mut UiState) {
        match self {
            Self::Diff(number, diff) => ui.set_diff(number, diff),
            Self::Shapes(shapes) => ui.learn_shapes(&shapes),
            Self::Figure(digest, found) => ui.set_figure(digest, found),
            Self::Told(words) => ui.tell(words),
            Self::Export(ExportNews::Goes(goes)) => ui.export_goes(goes),
            Self::Export(ExportNews::Ended(words)) => ui.exported(words),
        }
    }
}

/// Compares an earlier code, of the log or at hand, checked by its digest, with a proposed one.
pub fn compare(state_dir: PathBuf, wanted: Comparison, inbox: UnboundedSender<Input>) {
    tokio::task::spawn_blocking(move || {
        let logged = || {
            let log = Log::open(&state_dir).map_err(|e| e.to_string())?;
            log.blob(&wanted.earlier)
        };
        let bytes = match &wanted.text {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => logged(),
        };
        let diff = bytes.map(|bytes| {
            let earlier = String::from_utf8_lossy(&bytes);
            Diff::between(&earlier, &wanted.code, COMPARING)
        });
        let _ = inbox.send(Input::Recalled(Recalled::Diff(wanted.number, diff)));
    });
}

/// In a seat: what its log has votes on and no end of. A log that cannot be read has none, and its check says so.
pub fn voted(state_dir: &Path) -> Vec<ProposalId> {
    let answers = Log::open(state_dir).and_then(|log| log.answers());
    let Ok(mut answers) = answers else {
        return Vec::new();
    };
    let mut open = Vec::new();
    let _ = answers.each(&Query::default(), usize::MAX, |row| {
        open.extend((row.state == State::Pending).then_some(row.id));
        Ok::<(), std::convert::Infallible>(())
    });
    open
}

/// Reads the log that the start left unread.
pub fn read_on(unread: Unread, inbox: &UnboundedSender<Input>) {
    let check = move || unread.check().map(Box::new);
    tokio::spawn(checked(check, AGAIN, inbox.clone()));
}

/// A log that cannot be read is read again after a while; nothing is granted meanwhile.
async fn checked(
    check: impl Fn() -> Result<Box<Checked>, AuditError> + Send + Sync + 'static,
    again: Duration,
    inbox: UnboundedSender<Input>,
) {
    let check = Arc::new(check);
    loop {
        let check = check.clone();
        let found = tokio::task::spawn_blocking(move || check()).await;
        let doubt = match found {
            Ok(Err(why @ AuditError::Io { .. })) => LogDoubt::Unreadable(why.to_string()),
            // The reader itself failed: what it read is not known.
            Err(why) => LogDoubt::Unreadable(why.to_string()),
            Ok(found) => {
                let _ = inbox.send(Input::Checked(found.map_err(|e| e.to_string())));
                return;
            }
        };
        if inbox.send(Input::Core(Event::LogDoubted(doubt))).is_err() {
            return;
        }
        tokio::time::sleep(again).await;
    }
}

/// Reads these codes from the log and reports their shapes. A code that cannot be read has none: the check of
/// all contents says so to the person.
pub fn read_shapes(state_dir: PathBuf, codes: Vec<Digest>, inbox: UnboundedSender<Input>) {
    if codes.is_empty() {
        return;
    }
    tokio::task::spawn_blocking(move || {
        let Ok(log) = Log::open(&state_dir) else {
            return;
        };
        for codes in codes.chunks(TOGETHER) {
            let shapes = codes.iter().filter_map(|code| {
                let bytes = log.blob(code).ok()?;
                Some((*code, Shape::of(std::str::from_utf8(&bytes).ok()?)?))
            });
            let shapes = Recalled::Shapes(shapes.collect());
            if inbox.send(Input::Recalled(shapes)).is_err() {
                return;
            }
        }
    });
}

/// Reads what a host's offers tell of the log beside its records: the shapes of these codes, and these granted codes.
pub fn read_for_offers(
    state_dir: PathBuf,
    shapeless: Vec<Digest>,
    granted: Vec<Digest>,
    inbox: UnboundedSender<Input>,
) {
    let tell = move |what| inbox.send(Input::Core(Event::Remembered(what))).is_ok();
    tokio::task::spawn_blocking(move || {
        let Ok(log) = Log::open(&state_dir) else {
            return;
        };
        let text = |code: &Digest| String::from_utf8(log.blob(code).ok()?).ok();
        // The oldest first: the newest stay if there is no room for all.
        let codes = granted.iter().rev();
        let codes = codes.filter_map(|code| Some((*code, text(code)?.into())));
        let codes: Vec<_> = codes.collect();
        if !codes.is_empty() && !tell(Remembered::Codes(codes)) {
            return;
        }
        for codes in shapeless.chunks(TOGETHER) {
            let shapes = codes
                .iter()
                .filter_map(|code| Some((*code, Shape::of(&text(code)?)?)));
            if !tell(Remembered::Shapes(shapes.collect())) {
                return;
            }
        }
    });
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
