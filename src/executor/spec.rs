//! One run as plain data. Made from a grant in exactly one place, here; only the executor and its
//! own tests can name it, so nothing else can ask for a run.

use std::sync::Arc;
use std::time::Duration;

use crate::broker::Grant;
use crate::model::{BoundInput, CodeFacts, Digest, Limits, Tier};
use crate::policy::{Contract, Policy};
use crate::runtime::{Measured, PythonEnv};

use crate::child::Confinement;
use crate::sandbox::protocol::Purpose;

use super::fault::{Fault, Why};

/// What is to be run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    pub code: Arc<str>,
    /// Of the code that was shown.
    pub digest: Digest,
    pub inputs: Arc<[BoundInput]>,
    pub policy: Arc<Policy>,
    pub tier: Tier,
    pub env: Arc<PythonEnv>,
    /// The environment's files, looked at again before the release. None in the suites, which grant nothing.
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
                artifact_bytes: limits.artifact_bytes.max(HANDED_MAX),
                ..limits
            },
            _ => limits,
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.policy.limits
    }

    /// What its child is to be confined as. `mapped`: bytes of inputs that it maps; `inputs`: how many go with it.
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

/// Bytes in which a contract's own code hands a result over, as `assets/runner/columns.py` says too.
pub(super) const HANDED_MAX: u64 = 64 << 20;

/// Bytes that the report of a run may have.
pub(super) const REPORT_MAX: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::tests::{handed_out, policy};
    use crate::model::{Environment, Installed};

    /// An environment of one file, and the folder that it lies in.
    fn measured(text: &str) -> (tempfile::TempDir, Arc<Measured>) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("base");
        std::fs::create_dir(&root).unwrap();
        let executable = root.join("python");
        std::fs::write(&executable, text).unwrap();
        let env = PythonEnv {
            executable,
            version: (3, 11, 0),
            base_prefix: root.clone(),
            prefix: root.clone(),
            sys_path: vec![root],
            distributions: Vec::new(),
            digest: Digest::of(b"asked"),
        };
        let cache = folder.path().join("cache");
        let measured = Measured::of(env, &cache, &mut |_| {}).unwrap();
        (folder, Arc::new(measured))
    }

    fn ready(digest: Digest) -> Environment {
        Environment::Ready {
            digest,
            label: String::new(),
            installed: Installed::default(),
        }
    }

    fn facts() -> Option<CodeFacts> {
        Some(CodeFacts {
            identifiers: Digest::of(b"identifiers"),
            constants: Digest::of(b"constants"),
        })
    }

    /// The core compared the environment that it heard of. What the executor is handed comes on
    /// another way, so it compares again.
    #[test]
    fn the_executor_refuses_an_environment_that_was_not_granted_by_itself() {
        let (_shown, shown) = measured("one");
        let (_handed, handed) = measured("two");
        let granted = || handed_out(policy("analysis"), facts(), ready(shown.env.digest));
        let fault = RunSpec::from_grant(granted(), handed.clone()).unwrap_err();
        assert_eq!(fault.why, Why::OtherEnvironment);
        assert_eq!(
            fault.to_string(),
            "the Python environment is not the one that was granted"
        );
        let (is, was) = (handed.env.digest, shown.env.digest);
        assert_eq!(fault.detail, format!("{is} is not {was}"));
        let spec = RunSpec::from_grant(granted(), shown.clone()).unwrap();
        assert_eq!(spec.env.digest, shown.env.digest);
        assert!(Arc::ptr_eq(&spec.measured.unwrap(), &shown));
        assert_eq!(spec.digest, Digest::of(b"1"));
        assert_eq!((&*spec.code, spec.facts), ("1", facts()));
    }

    #[test]
    fn a_grant_without_what_the_guard_compares_is_no_run() {
        let (_folder, measured) = measured("one");
        let grant = handed_out(policy("analysis"), None, ready(measured.env.digest));
        let fault = RunSpec::from_grant(grant, measured).unwrap_err();
        assert_eq!(fault.why, Why::NoFacts);
        assert_eq!(
            fault.to_string(),
            "the analyser told nothing that the guard could compare"
        );
    }

    #[test]
    fn a_grant_without_the_guard_is_no_run_below_tier_kernel() {
        let (_folder, measured) = measured("one");
        let in_tier = |tier| {
            let unguarded = Policy {
                guard: false,
                tier,
                ..policy("analysis")
            };
            let grant = handed_out(unguarded, None, ready(measured.env.digest));
            RunSpec::from_grant(grant, measured.clone())
        };
        let fault = in_tier(Tier::Process).unwrap_err();
        assert_eq!(fault.why, Why::GuardlessTier(Tier::Process));
        assert_eq!(
            fault.to_string(),
            "a policy without the guard runs in tier kernel or stronger only"
        );
        assert!(in_tier(Tier::Kernel).is_ok());
    }
}
