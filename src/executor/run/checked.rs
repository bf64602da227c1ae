//! Whether an environment is still the one that was granted: asked while the child is held and has
//! loaded what it loads before its release, answered by a thread of its own. The release waits for the
//! answer, a kill does not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use crate::runtime::Measured;

use crate::executor::control::Switch;

/// What is known so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Open,
    Same,
    /// What changed, for the log of this machine.
    Changed(String),
}

/// One question.
#[derive(Debug)]
pub struct Checked(Arc<OnceLock<Answer>>);

impl Checked {
    /// Asks; `switch` wakes the run's thread once there is an answer.
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

/// Not known is not the same.
fn lost(why: &str) -> Answer {
    Answer::Changed(why.to_owned())
}
