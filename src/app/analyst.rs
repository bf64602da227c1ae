//! The threads that talk to the analyser's worker processes: one for each desk, each doing one
//! piece of work at a time.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::analysis::Analyser;
use crate::broker::{Desk, Event};
use crate::model::{Digest, JobId, Setting};
use crate::policy::Policy;

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
    /// The answer to work for policies of other hosts, by their digests.
    foreign: Mutex<HashMap<Digest, Sender<Work>>>,
    another: Box<dyn Fn(Arc<Policy>) -> std::io::Result<Sender<Work>> + Send + Sync>,
}

/// Policies of other hosts for which there is a worker at a time.
const FOREIGN_MAX: usize = 8;

impl Analyst {
    /// Starts the threads. `answer` is called from them, once for each piece of work.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        analyser: Analyser,
        answer: impl Fn(Event) + Clone + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let long = serve("analyst-long", analyser.another(), answer.clone())?;
        let (model, answers) = (analyser.another(), answer.clone());
        let another = move |policy| {
            serve(
                "analyst-host",
                model.with_policies(vec![policy]),
                answers.clone(),
            )
        };
        let short = serve("analyst", analyser, answer)?;
        Ok(Self {
            short,
            long,
            foreign: Mutex::default(),
            another: Box::new(another),
        })
    }

    pub fn analyse(
        &self,
        job: JobId,
        desk: Desk,
        code: Arc<str>,
        profile: String,
        policy: Option<Arc<Policy>>,
        setting: Setting,
    ) {
        let foreign = policy.and_then(|policy| self.foreign(policy));
        let work = match (&foreign, desk) {
            (Some(work), _) => work,
            (None, Desk::Short) => &self.short,
            (None, Desk::Long) => &self.long,
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

impl Analyst {
    /// A worker for a policy of another host. Without one, this program's own answer: that it knows no such profile.
    fn foreign(&self, policy: Arc<Policy>) -> Option<Sender<Work>> {
        let mut known = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = policy.content_digest();
        if let Some(work) = known.get(&digest) {
            return Some(work.clone());
        }
        if known.len() >= FOREIGN_MAX {
            known.clear();
        }
        let work = (self.another)(policy).ok()?;
        known.insert(digest, work.clone());
        Some(work)
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
