//! One run as plain data. Only this module makes it, from a grant; only the executor and its tests
//! can name it, so no other code can request a run.

use std::sync::Arc;
use std::time::Duration;

use crate::broker::Grant;
use crate::model::{BoundInput, CodeFacts, Digest, Limits, Tier};
use crate::policy::{Contract, Policy};
use crate::runtime::{Measured, PythonEnv};

use crate::child::Confinement;
use crate::sandbox::protocol::Purpose;

use super::fault::{Fault, Why};

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    pub code: Arc<str>,
    /// Digest of the code that was shown.
    pub digest: Digest,
    pub inputs: Arc<[BoundInput]>,
    pub policy: Arc<Policy>,
    pub tier: Tier,
    pub env: Arc<PythonEnv>,
    /// The environment's files, checked again before the release. `None` in tests, which grant
    /// nothing.
    pub measured: Option<Arc<Measured>>,
    /// The facts that the analyser found in the code.
    pub facts: Option<CodeFacts>,
    /// Boot time of the grant; timings count from it.
    pub granted_at: Duration,
    /// The file of another child that this one has to certify; then no snippet runs.
    pub handed: Option<Arc<[u8]>>,
}

impl RunSpec {
    /// Consumes the grant. An environment other than the granted one is refused.
    pub fn from_grant(grant: Grant, measured: Arc<Measured>) -> Result<Self, Fault> {
        let env = measured.env.clone();
        if !grant.is_for(env.digest) {
            return Err(Fault::new(
                Why::OtherEnvironment,
                format!("{} is not {}", env.digest, grant.environment()),
            ));
        }
        if !grant.policy().guard && grant.tier() < Tier::Kernel {
            return Err(Fault::new(Why::GuardlessTier(grant.tier()), grant.tier()));
        }
        if grant.policy().guard && grant.facts().is_none() {
            return Err(Fault::new(Why::NoFacts, "facts"));
        }
        let proposal = grant.proposal();
        Ok(Self {
            code: proposal.code.clone(),
            digest: proposal.digest,
            inputs: grant.inputs().clone(),
            policy: grant.policy().clone(),
            tier: grant.tier(),
            env,
            measured: Some(measured),
            facts: grant.facts(),
            granted_at: grant.at().boot,
            handed: None,
        })
    }

    /// Whether the values of this input are hidden from everything that comes back.
    pub fn hides(&self, input: &BoundInput) -> bool {
        self.policy.hides(input)
    }

    pub fn hides_any(&self) -> bool {
        self.inputs.iter().any(|input| self.hides(input))
    }

    /// Whether output over the limit is cut off instead of ending the run.
    pub fn cuts_output(&self) -> bool {
        self.policy.contract == Contract::Chart
    }

    /// The limits for the files in its output folder: those of the policy, and room for the file in
    /// which a contract's own code hands its result over.
    pub fn collected(&self) -> Limits {
        let limits = *self.limits();
        match self.policy.contract {
            Contract::Feature => Limits {
                artifacts: limits.artifacts.saturating_add(1),
                artifact_bytes: limits.artifact_bytes.max(HANDED_MAX),
                ..limits
            },
            _ => limits,
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.policy.limits
    }

    /// The confinement of its child. `mapped` is the size of its mapped inputs in bytes, `inputs`
    /// their number.
    pub fn confinement(&self, mapped: u64, inputs: usize) -> Confinement {
        Confinement {
            tier: self.tier,
            executable: self.env.executable.clone(),
            needs: self.env.needs(),
            limits: *self.limits(),
            mapped,
            inputs,
            purpose: Purpose::Run,
        }
    }
}

/// Maximum size of a result that a contract's own code hands over; `assets/runner/columns.py` has
/// the same number.
pub(super) const HANDED_MAX: u64 = 64 << 20;

/// Maximum size of a run's report in bytes.
pub(super) const REPORT_MAX: usize = 1024 * 1024;
