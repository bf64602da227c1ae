//! Makes the last note of a run from everything that was collected.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::broker::ExecNote;
use crate::child::{Ended, Held};
use crate::model::{Isolation, Timing, Usage};
use crate::policy::Contract;
use crate::sandbox::protocol::EndedBy;

use crate::executor::fault::{Fault, Why};

use super::attendant::{Attendant, Cause};
use super::ending::{self, Facts};
use super::output::{Redactor, Stream};
use super::pipe::Pipe;
use super::{certify, charts, collect};

/// The properties of a held child.
pub struct Seen {
    isolation: Isolation,
    /// Resident memory of the payload in kibibytes while it was held.
    held_kib: u64,
}

impl Seen {
    pub fn of(held: &Held) -> Self {
        Self {
            isolation: held.isolation().clone(),
            held_kib: held.resident_kib(),
        }
    }
}

impl Attendant<'_> {
    /// The last note of a run that ended before it was released.
    pub(super) fn unreleased(
        &mut self,
        ended: &Ended,
        seen: Option<&Seen>,
    ) -> Result<ExecNote, Fault> {
        if let Some(what) = self.changed.take() {
            return Err(Fault::new(Why::EnvironmentChanged, what));
        }
        self.pass_output(true);
        let cancelled = self.cause() == Some(Cause::Cancelled);
        if !(cancelled && ended.ending.by == EndedBy::Command) {
            let early = String::from_utf8_lossy(&self.stderr.early);
            return Err(Fault::new(
                Why::NeverReady(ending::never_ready(&ended.ending, self.spec.limits())),
                format!("status {}: {early}", ended.ending.status),
            ));
        }
        let collected = match ended.folder() {
            Some(folder) => collect::collect(folder, &self.spec.collected())
                .unwrap_or_else(collect::Collected::unread),
            // The child ended before it had a folder.
            None => collect::Collected::default(),
        };
        Ok(self.last(ended, seen, None, collected))
    }

    /// The last note of a run whose snippet was read. `released` is the time of the release by
    /// CLOCK_MONOTONIC and CLOCK_BOOTTIME.
    pub(super) fn finish(
        &mut self,
        ended: &Ended,
        seen: &Seen,
        released: (Instant, Duration),
    ) -> Result<ExecNote, Fault> {
        self.pass_output(true);
        let folder = ended
            .folder()
            .ok_or_else(|| Fault::new(Why::NoFolder, "output"))?;
        let collected = collect::collect(folder, &self.spec.collected())
            .unwrap_or_else(collect::Collected::unread);
        self.note_total(ended, seen);
        Ok(self.last(ended, Some(seen), Some(released), collected))
    }

    /// Reports what the whole run used, from the helper's word and the measurements.
    fn note_total(&self, ended: &Ended, seen: &Seen) {
        let ending = &ended.ending;
        let peak_kib = ending.peak_kib.saturating_sub(seen.held_kib);
        (self.note)(ExecNote::Used(Usage {
            cpu_ms: self.used.cpu_ms.max(ending.cpu_us / 1000),
            memory_kib: 0,
            peak_kib: self.used.peak_kib.max(peak_kib),
            processes: 0,
            output_bytes: self.printed(),
        }));
    }

    fn last(
        &mut self,
        ended: &Ended,
        seen: Option<&Seen>,
        released: Option<(Instant, Duration)>,
        mut collected: collect::Collected,
    ) -> ExecNote {
        let (at, boot) = ended.at;
        let mut blobs = std::mem::take(&mut collected.blobs);
        let since = |boot: Duration| {
            u64::try_from(boot.saturating_sub(self.spec.granted_at).as_micros()).unwrap_or(u64::MAX)
        };
        let take = |pipe: &mut Pipe| {
            std::mem::replace(&mut pipe.stream, Stream::new(0, Redactor::default())).captured()
        };
        let facts = Facts {
            ending: ended.ending,
            held_kib: seen.map_or(0, |seen| seen.held_kib),
            mapped: ended.mapped() > 0 && seen.is_some(),
            cancelled: self.cause() == Some(Cause::Cancelled),
            claim: self.report.claim(),
            stopped: self.report.stopped(),
            events: self.report.events(),
            accesses: match self.spec.policy.contract {
                Contract::Scoped => self.report.accesses(),
                _ => BTreeMap::new(),
            },
            stdout: take(&mut self.stdout),
            stderr: take(&mut self.stderr),
            duration_ms: released.map_or(0, |(start, _)| {
                u64::try_from((at - start).as_millis()).unwrap_or(u64::MAX)
            }),
            timing: Timing {
                grant_to_start: since(released.map_or(boot, |(_, boot)| boot)),
                grant_to_first_output: self.first_output.map(since),
                grant_to_exit: since(boot),
            },
            isolation: seen.map_or_else(
                || Isolation {
                    tier: self.spec.tier,
                    layers: Vec::new(),
                },
                |seen| seen.isolation.clone(),
            ),
            limits: self.spec.limits(),
            contract: self.spec.policy.contract,
            paths: &self.paths,
            collected,
        };
        let mut run = ending::run(facts);
        if !certify::is_needed(self.spec) && self.spec.hides_any() {
            // Values cannot be searched for in a picture or a packed file.
            run.withhold_files();
            blobs.clear();
        }
        if self.spec.policy.contract == Contract::Chart && run.error.is_none() {
            let (mut files, mut contents) = charts::files(&run.result, &run.artifacts);
            run.artifacts.append(&mut files);
            blobs.append(&mut contents);
        }
        if !blobs.is_empty() {
            (self.note)(ExecNote::Left(blobs));
        }
        ExecNote::Ended(Box::new(run))
    }
}
