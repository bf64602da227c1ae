//! Access to a pool for the executor's tests.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Pool, Span, ZygoteKind};
use crate::executor::spec::RunSpec;

impl Pool {
    /// A pool whose zygotes are replaced after this many runs, or this long without one.
    pub fn short_lived(exe: Arc<OwnedFd>, runs: u32, idle: Duration) -> Self {
        Self::with(exe, Span { runs, idle })
    }

    /// The helpers of the zygotes that serve this run.
    pub fn helpers(&self, spec: &RunSpec) -> Vec<i32> {
        let kind = ZygoteKind::of(spec);
        let entries = self.shared.entries();
        entries
            .iter()
            .filter(|entry| entry.kind.serves(&kind))
            .filter_map(|entry| entry.keeper.as_ref().map(|keeper| keeper.pid()))
            .collect()
    }

    /// The folder of the zygote for this run.
    pub fn folder(&self, spec: &RunSpec) -> Option<PathBuf> {
        let kind = ZygoteKind::of(spec);
        let entries = self.shared.entries();
        let entry = entries.iter().find(|entry| entry.kind.serves(&kind))?;
        Some(entry.keeper.as_ref()?.folder())
    }

    /// Number of runs of the zygote for this run.
    pub fn runs(&self, spec: &RunSpec) -> u32 {
        let kind = ZygoteKind::of(spec);
        let entries = self.shared.entries();
        entries
            .iter()
            .filter(|entry| entry.kind.serves(&kind))
            .map(|entry| entry.runs)
            .sum()
    }

    /// Acts as if a proposal of this kind was selected.
    pub fn proposed(&self, spec: &RunSpec) {
        self.prepare(ZygoteKind::of(spec), super::Wish::IfRoom);
    }

    /// Number of zygotes.
    pub fn count(&self) -> usize {
        self.shared.entries().len()
    }

    /// Waits until a slot for this run is available or its zygote has ended. Returns whether one
    /// is.
    pub fn await_slot(&self, spec: &RunSpec) -> bool {
        let kind = ZygoteKind::of(spec);
        let until = Instant::now() + Duration::from_secs(60);
        // Other tests may have replaced the zygote of this pool.
        let mut asked: Option<Instant> = None;
        while Instant::now() < until {
            let keeper = self
                .shared
                .entries()
                .iter()
                .find(|entry| entry.kind.serves(&kind))
                .map(|entry| entry.keeper.clone());
            match keeper {
                None if asked.is_none_or(|at| at.elapsed() > Duration::from_secs(1)) => {
                    self.prepare(kind.clone(), super::Wish::Surely);
                    asked = Some(Instant::now());
                }
                None => std::thread::yield_now(),
                Some(None) => return false,
                Some(Some(keeper)) => match keeper.offers(Duration::from_millis(100)) {
                    Some(true) => return true,
                    // The reason is in the log.
                    Some(false) => return self.take(spec).is_some(),
                    None => {}
                },
            }
        }
        false
    }
}
