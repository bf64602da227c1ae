//! How far an export is, and that it is to stop: what its thread and the loop share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::audit::Apart;
use crate::tui::ExportGoes;

/// An export under way. Dropped, it stops, and what was written so far is removed before that returns.
pub struct Underway {
    pub(super) going: Arc<Going>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.going.stop.store(true, Ordering::SeqCst);
        // A thread that wrote nothing yet sees that it is to stop before it does.
        if self.going.writes.load(Ordering::SeqCst)
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// Shared by an export and who waits for it.
#[derive(Default)]
pub struct Going {
    stop: AtomicBool,
    writes: AtomicBool,
    pub(super) ended: AtomicBool,
    at: Mutex<At>,
}

#[derive(Default)]
enum At {
    #[default]
    Begins,
    /// The log is read into an index that counts its bytes here.
    Reads {
        index: Arc<Apart>,
        of: u64,
    },
    Writes(ExportGoes),
}

impl Going {
    pub(super) fn reads(&self, index: &Arc<Apart>, of: u64) {
        let index = index.clone();
        self.set(At::Reads { index, of });
    }

    /// Whether files may be made from now on.
    pub(super) fn begins_to_write(&self) -> bool {
        self.writes.store(true, Ordering::SeqCst);
        !self.is_stopped()
    }

    pub(super) fn wrote(&self, goes: ExportGoes) -> bool {
        self.set(At::Writes(goes));
        !self.is_stopped()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    pub(super) fn goes(&self) -> ExportGoes {
        match &*self.at.lock().unwrap_or_else(PoisonError::into_inner) {
            At::Begins => ExportGoes::Begins,
            At::Reads { index, of } => ExportGoes::Reads {
                read: index.bytes_read().min(*of),
                of: *of,
            },
            At::Writes(goes) => *goes,
        }
    }

    fn set(&self, at: At) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

#[cfg(test)]
impl Going {
    pub(super) fn stopped() -> Self {
        Self {
            stop: AtomicBool::new(true),
            ..Self::default()
        }
    }
}
