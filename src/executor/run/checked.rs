//! Checks whether an environment is still the granted one. The check starts while the child is held
//! and has loaded everything it loads before its release, and runs in its own thread. The release
//! waits for the answer, a kill does not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use crate::runtime::Measured;

use crate::executor::control::Switch;

/// The state of the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Open,
    Same,
    /// What changed, for the local log.
    Changed(String),
}

/// A check in progress.
#[derive(Debug)]
pub struct Checked(Arc<OnceLock<Answer>>);

impl Checked {
    /// Starts the check; `switch` wakes the run's thread once there is an answer.
    pub fn begin(measured: Arc<Measured>, switch: Arc<Switch>) -> Self {
        let answer = Arc::new(OnceLock::new());
        let theirs = answer.clone();
        let thread = std::thread::Builder::new()
            .name("files".to_owned())
            .spawn(move || {
                let found = catch_unwind(AssertUnwindSafe(|| of(&measured)));
                let _ = theirs.set(found.unwrap_or_else(|_| lost("looking at it failed")));
                switch.wake();
            });
        if let Err(e) = thread {
            let _ = answer.set(lost(&format!("no thread could be started: {e}")));
        }
        Self(answer)
    }

    pub fn answer(&self) -> Answer {
        self.0.get().cloned().unwrap_or(Answer::Open)
    }
}

fn of(measured: &Measured) -> Answer {
    measured
        .change()
        .map_or(Answer::Same, |change| Answer::Changed(change.to_string()))
}

/// An unknown state counts as a change.
fn lost(why: &str) -> Answer {
    Answer::Changed(why.to_owned())
}
