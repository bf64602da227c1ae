//! Runs granted code: confined, held until the record is durable, limited, and removed afterwards.
//!
//! On the broker's side a run is one thread ([`run`]) that takes a [`child`](crate::child) through
//! its states. `data` converts data sets, `warm` keeps zygotes, `preflight` determines what this
//! machine provides; each uses a child of its own. Nothing runs without a [`Grant`], which is taken
//! by value. This module may not use terminal, socket or log.

mod control;
mod data;
mod fault;
mod preflight;
mod python;
mod report;
mod run;
mod spec;
mod warm;

#[cfg(test)]
#[allow(clippy::duplicate_mod)]
pub(crate) mod tests;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::broker::{ExecNote, Grant};
use crate::model::{BoundInput, ProposalId, Tier};
use crate::policy::Policy;
use crate::runtime::{Measured, PythonEnv};

pub use control::Control;
pub use data::convert::Converters;
pub use data::datasets::{
    DatasetSource, Sources, bind, bind_artifact, bind_with, describe, open as open_dataset,
};
pub use preflight::{Unavailable, preflight, preflight_recalled};
pub use warm::try_warm;

use control::Switch;
use data::convert::Converter;
use spec::RunSpec;
pub use warm::Wish;
use warm::{Pool, ZygoteKind};

/// Receives the notes of a run in order; the last one is `Ended` or `Failed`.
pub type Notes = Box<dyn Fn(ProposalId, ExecNote) + Send + Sync>;

/// Makes children.
#[derive(Debug)]
pub struct Executor {
    exe: Arc<OwnedFd>,
    sources: Arc<Sources>,
    zygotes: Arc<Pool>,
}

impl Executor {
    /// `exe`: our own binary, opened at start-up (O_RDONLY, O_CLOEXEC).
    pub fn new(exe: OwnedFd, sources: Arc<Sources>) -> Self {
        let exe = Arc::new(exe);
        // Removes what killed dashboards left. Nothing waits for it.
        let swept = std::thread::Builder::new()
            .name("leftovers".to_owned())
            .spawn(crate::child::remove_stale);
        if let Err(e) = swept {
            tracing::warn!("what earlier runs left is not removed: {e}");
        }
        Self {
            zygotes: Arc::new(Pool::new(exe.clone())),
            exe,
            sources,
        }
    }

    /// Sets the environment and tier in which data sets are described and converted from now on.
    /// Also has a new environment compile the runner; children that start before that is done
    /// compile it themselves.
    pub fn convert_in(&self, env: Arc<PythonEnv>, tier: Tier) {
        let compiling = env.clone();
        let thread = std::thread::Builder::new()
            .name("compile".to_owned())
            .spawn(move || python::bundle::compile(&compiling));
        if let Err(e) = thread {
            tracing::warn!("every start compiles the runner: {e}");
        }
        let converter = Converter::new(self.exe.clone(), env, tier);
        self.sources.converters.set(converter);
    }

    /// Whether it is worth while to wait for a Python before a data set is described without one.
    pub fn expect_python(&self, soon: bool) {
        self.sources.converters.expect(soon);
    }

    /// Prepares for runs of this policy with these inputs: their libraries are loaded before the
    /// grant.
    pub fn prepare(
        &self,
        policy: Arc<Policy>,
        tier: Tier,
        env: Arc<PythonEnv>,
        inputs: &[BoundInput],
        wish: Wish,
    ) {
        let kind = ZygoteKind {
            policy,
            tier,
            env,
            tables: python::libraries::has_tables(inputs),
        };
        self.zygotes.prepare(kind, wish);
    }

    /// Drops everything prepared in this environment, because the environment has changed.
    pub fn forget(&self, env: &PythonEnv) {
        self.zygotes.forget(env.digest);
    }

    /// Makes the child in its own thread and holds it until the control releases it. `env`: the
    /// usable environment, if there is one; any other than the granted one is refused.
    pub fn execute(&self, grant: Grant, env: Option<Arc<Measured>>, notes: Notes) -> Control {
        let id = grant.id();
        let spec = RunSpec::from_grant(grant, env);
        start(
            self.exe.clone(),
            Some(self.zygotes.clone()),
            self.sources.clone(),
            spec,
            Box::new(move |note| notes(id, note)),
        )
    }
}

type Sink = Box<dyn Fn(ExecNote) + Send + Sync>;

/// Starts a run. Without a pool every start is cold.
fn start(
    exe: Arc<OwnedFd>,
    warm: Option<Arc<Pool>>,
    sources: Arc<Sources>,
    spec: Result<RunSpec, fault::Fault>,
    note: Sink,
) -> Control {
    let switch = Switch::new();
    let control = Control::new(switch.clone());
    let note: Arc<Sink> = Arc::new(note);
    let sink = note.clone();
    let thread = std::thread::Builder::new()
        .name("run".to_owned())
        .spawn(move || {
            let last = match spec {
                Ok(spec) => std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    run::drive::drive(
                        &spec,
                        exe.as_fd(),
                        warm.as_deref(),
                        &sources,
                        &switch,
                        &|n| sink(n),
                    )
                }))
                // Unwinding closed the lifeline, so the child is dead.
                .unwrap_or_else(|_| failed("the executor failed")),
                Err(fault) => failed(&fault.to_string()),
            };
            sink(last);
        });
    if thread.is_err() {
        note(failed("no thread could be started for the run"));
    }
    control
}

fn failed(message: &str) -> ExecNote {
    ExecNote::Failed {
        message: message.to_owned(),
    }
}
