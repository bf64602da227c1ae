//! Completes what the screen remembers of earlier proposals, away from the loop.

use std::path::PathBuf;

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::Log;
use crate::model::{Digest, Shape};

use super::Input;

/// Shapes that are reported at once: taking them in holds up the loop for less than a millisecond.
const TOGETHER: usize = 256;

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
            if inbox.send(Input::Shapes(shapes.collect())).is_err() {
                return;
            }
        }
    });
}
