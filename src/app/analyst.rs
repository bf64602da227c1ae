//! The thread that talks to the analyser's worker process: one piece of work at a time.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use crate::analysis::Analyser;
use crate::broker::{Event, JobId};

/// Work for the analyser, as the core hands it out.
struct Work {
    job: JobId,
    code: Arc<str>,
    profile: String,
}

/// Hands work over and forgets it; the answer comes back as an event.
pub struct Analyst {
    work: Sender<Work>,
}

impl Analyst {
    /// Starts the thread. `answer` is called from it, once for each piece of work.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        mut analyser: Analyser,
        answer: impl Fn(Event) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (work, inbox) = channel::<Work>();
        std::thread::Builder::new()
            .name("analyst".to_owned())
            .spawn(move || {
                for Work { job, code, profile } in inbox {
                    let verdict = Box::new(analyser.verdict(code.as_bytes(), &profile));
                    answer(Event::Analysed { job, verdict });
                }
            })?;
        Ok(Self { work })
    }

    pub fn analyse(&self, job: JobId, code: Arc<str>, profile: String) {
        // The thread lives as long as this sender does; it ends with the dashboard.
        let _ = self.work.send(Work { job, code, profile });
    }
}
