//! One run as plain data. Made from a grant in exactly one place, here; only the executor and its
//! own tests can name it, so nothing else can ask for a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::broker::Grant;
use crate::model::{BoundInput, CodeFacts, Digest, Limits, Tier};
use crate::policy::{Contract, Policy};
use crate::runtime::{Measured, PythonEnv};

use super::certify;
use super::handover::{Order, Purpose};

/// Mebibytes that converting a data set may take: pandas needs a few times its size.
const CONVERTER_MEMORY_MB: u64 = 16 * 1024;

/// What is to be run.
#[derive(Clone, Debug)]
pub(super) struct RunSpec {
    pub code: Arc<str>,
    /// Of the code that was shown.
    pub digest: Digest,
    pub inputs: Arc<[BoundInput]>,
    pub policy: Arc<Policy>,
    pub tier: Tier,
    pub env: Arc<PythonEnv>,
    /// The environment's files, looked at again before the release. None where nobody granted
    /// anything: for the converter of a data set.
    pub measured: Option<Arc<Measured>>,
    /// What the analyser read of the code.
    pub facts: Option<CodeFacts>,
    /// Boot time of the grant; timings count from it.
    pub granted_at: Duration,
    /// What another child handed over and this one is to certify; no snippet runs then.
    pub handed: Option<Arc<[u8]>>,
}

impl RunSpec {
    /// Uses the grant up. An environment other than the one that was granted is refused.
    pub fn from_grant(grant: Grant, measured: Arc<Measured>) -> Result<Self, Fault> {
        let env = measured.env.clone();
        if grant.environment() != env.digest {
            return Err(Fault::new(
                "the Python environment is not the one that was granted",
                format!("{} is not {}", env.digest, grant.environment()),
            ));
        }
        if !grant.policy().guard && grant.tier() < Tier::Kernel {
            return Err(Fault::new(
                "a policy without the guard runs in tier kernel or stronger only",
                grant.tier(),
            ));
        }
        if grant.policy().guard && grant.facts().is_none() {
            return Err(Fault::new(
                "the analyser told nothing that the guard could compare",
                "facts",
            ));
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

    /// Whether what is over the output limit is cut off, instead of ending the run.
    pub fn cuts_output(&self) -> bool {
        self.policy.contract == Contract::Chart
    }

    /// Of the files in its output folder: what the policy allows, and the file in which a
    /// contract's own code hands over.
    pub fn collected(&self) -> Limits {
        let limits = *self.limits();
        match self.policy.contract {
            Contract::Feature => Limits {
                artifacts: limits.artifacts.saturating_add(1),
                artifact_bytes: limits.artifact_bytes.max(certify::BYTES_MAX),
                ..limits
            },
            _ => limits,
        }
    }

    /// The converter's: our own script over one data set of the user's, and no snippet.
    pub fn of_converter(input: BoundInput, tier: Tier, env: Arc<PythonEnv>) -> Result<Self, Fault> {
        let policies = crate::policy::builtin()
            .map_err(|e| Fault::new("the built-in policies are damaged", e))?;
        let usual = policies.iter().find(|policy| policy.name == "analysis");
        let usual = usual.ok_or_else(|| Fault::new("the built-in policies are damaged", "none"))?;
        let limits = Limits {
            memory_mb: CONVERTER_MEMORY_MB,
            ..Limits::default()
        };
        Ok(Self {
            code: "".into(),
            digest: Digest::of(b""),
            inputs: Arc::from([input]),
            policy: Arc::new(Policy {
                limits,
                ..Policy::clone(usual)
            }),
            tier,
            env,
            measured: None,
            granted_at: Duration::ZERO,
            handed: None,
            facts: None,
        })
    }

    pub fn limits(&self) -> &Limits {
        &self.policy.limits
    }

    /// What its helper is told. `scratch`: the run's own folder, which is there and empty.
    pub fn order(&self, scratch: PathBuf) -> Order {
        Order {
            tier: self.tier,
            executable: self.env.executable.clone(),
            needs: needs(&self.env),
            scratch,
            limits: *self.limits(),
            code: self.digest,
            purpose: Purpose::Run,
        }
    }
}

/// Bytes that the report of a run may have.
pub(super) const REPORT_MAX: usize = 1024 * 1024;

/// Files and folders the interpreter needs, each once.
pub(super) fn needs(env: &PythonEnv) -> Vec<PathBuf> {
    let mut needs: Vec<PathBuf> = [&env.executable, &env.base_prefix, &env.prefix]
        .into_iter()
        .chain(&env.sys_path)
        // `sys.path` names a zip of the standard library that most installations lack.
        .filter(|path| path.exists())
        .cloned()
        .collect();
    needs.sort();
    needs.dedup();
    needs
}

/// Why a run could not be made or not be brought to its end, for a reason not the snippet's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct Fault {
    /// Goes to the agent too: no path of this machine.
    pub message: String,
    /// For the local log.
    pub detail: String,
}

impl Fault {
    pub fn new(message: impl Into<String>, detail: impl std::fmt::Display) -> Self {
        Self {
            message: message.into(),
            detail: detail.to_string(),
        }
    }
}
