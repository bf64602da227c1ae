//! From everything that was gathered of a run to its last note.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::broker::ExecNote;
use crate::model::{Isolation, Timing};
use crate::policy::Contract;

use super::super::ending::{self, Facts};
use super::super::handover::EndedBy;
use super::super::output::{Redactor, Stream};
use super::super::pipe::Pipe;
use super::super::spec::Fault;
use super::super::{certify, charts, collect};
use super::{Cause, Running};

impl Running<'_> {
    pub(super) fn finish(&mut self) -> Result<ExecNote, Fault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let Some((ending, at, boot)) = self.ending else {
            return Err(Fault::new(
                "the sandbox helper did not answer and was killed",
                "helper",
            ));
        };
        self.pass_output(true);
        let cancelled = self.cause == Some(Cause::Cancelled);
        if self.released.is_none() && !(cancelled && ending.by == EndedBy::Command) {
            let early = String::from_utf8_lossy(&self.stderr.early);
            return Err(Fault::new(
                ending::never_ready(&ending, self.spec.limits()),
                format!("status {}: {early}", ending.status),
            ));
        }
        let mut collected = match &self.output {
            Some(folder) => collect::collect(folder, &self.spec.collected())
                .unwrap_or_else(collect::Collected::unread),
            // Stopped before there was one.
            None if self.released.is_none() => collect::Collected::default(),
            None => return Err(Fault::new("the run's folder was not handed over", "output")),
        };
        let mut blobs = std::mem::take(&mut collected.blobs);
        let since = |boot: Duration| {
            u64::try_from(boot.saturating_sub(self.spec.granted_at).as_micros()).unwrap_or(u64::MAX)
        };
        let take = |pipe: &mut Pipe| {
            std::mem::replace(&mut pipe.stream, Stream::new(0, Redactor::default())).captured()
        };
        let facts = Facts {
            ending,
            held_kib: self.held_kib,
            mapped: self.mapped,
            cancelled,
            claim: self.report.claim(),
            stopped: self.report.stopped(),
            events: self.report.events(),
            accesses: match self.spec.policy.contract {
                Contract::Scoped => self.report.accesses(),
                _ => BTreeMap::new(),
            },
            stdout: take(&mut self.stdout),
            stderr: take(&mut self.stderr),
            duration_ms: self.released.map_or(0, |(start, _)| {
                u64::try_from((at - start).as_millis()).unwrap_or(u64::MAX)
            }),
            timing: Timing {
                grant_to_start: since(self.released.map_or(boot, |(_, boot)| boot)),
                grant_to_first_output: self.first_output.map(since),
                grant_to_exit: since(boot),
            },
            isolation: self.isolation.clone().unwrap_or(Isolation {
                tier: self.spec.tier,
                layers: Vec::new(),
            }),
            limits: self.spec.limits(),
            contract: self.spec.policy.contract,
            paths: &self.paths,
            collected,
        };
        let mut run = ending::run(facts);
        if !certify::is_needed(self.spec) && self.spec.hides_any() {
            // Nobody can look for a value in a picture or a packed file.
            run.artifacts_left_out += run.artifacts.len() as u64;
            run.artifacts.clear();
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
        Ok(ExecNote::Ended(Box::new(run)))
    }
}
