//! The threads that talk to the analyser's worker processes: one for each desk, each doing one
//! piece of work at a time.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use crate::analysis::Analyser;
use crate::broker::{Desk, Event};
use crate::model::{JobId, Setting};

/// Work for the analyser, as the core hands it out.
struct Work {
    job: JobId,
    code: Arc<str>,
    profile: String,
    setting: Setting,
}

/// Hands work to a thread without waiting; the answer comes back as an event.
pub struct Analyst {
    short: Sender<Work>,
    long: Sender<Work>,
}

impl Analyst {
    /// Starts the threads. `answer` is called from them, once for each piece of work.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        analyser: Analyser,
        answer: impl Fn(Event) + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let long = serve("analyst-long", analyser.another(), answer.clone())?;
        let short = serve("analyst", analyser, answer)?;
        Ok(Self { short, long })
    }

    pub fn analyse(
        &self,
        job: JobId,
        desk: Desk,
        code: Arc<str>,
        profile: String,
        setting: Setting,
    ) {
        let work = match desk {
            Desk::Short => &self.short,
            Desk::Long => &self.long,
        };
        // The receiving thread ends only when this sender is dropped, so sending does not fail.
        let _ = work.send(Work {
            job,
            code,
            profile,
            setting,
        });
    }
}

fn serve(
    name: &str,
    mut analyser: Analyser,
    answer: impl Fn(Event) + Send + 'static,
) -> std::io::Result<Sender<Work>> {
    let (work, inbox) = channel::<Work>();
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            for work in inbox {
                let code = work.code.as_bytes();
                let verdict = analyser.verdict_in(code, &work.profile, &work.setting);
                answer(Event::Analysed {
                    job: work.job,
                    verdict: Box::new(verdict),
                });
            }
        })?;
    Ok(work)
}
