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
    /// Consumes the grant. Anything but the granted environment is refused, and so is none.
    pub fn from_grant(grant: Grant, measured: Option<Arc<Measured>>) -> Result<Self, Fault> {
        let given = measured.as_ref().map(|measured| measured.env.digest);
        let Some(measured) = measured.filter(|measured| grant.is_for(measured.env.digest)) else {
            let given = given.map_or_else(|| "none".to_owned(), |digest| digest.to_string());
            return Err(Fault::new(
                Why::OtherEnvironment,
                format!("{given} is not {}", grant.environment()),
            ));
        };
        let env = measured.env.clone();
        if !grant.policy().guard && grant.tier() < Tier::Kernel {
            return Err(Fault::new(Why::GuardlessTier(grant.tier()), grant.tier()));
        }
        if grant.policy().guard && grant.facts().is_none() {
            return Err(Fault::new(Why::NoFacts, "facts"));
        }
        Ok(Self {
            code: grant.code().text().clone(),
            digest: grant.code().digest(),
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
        self.policy.hides_any(&self.inputs)
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

    /// The core compares the digest last reported to it. The executor receives the environment
    /// over another channel, so it compares again.
    #[test]
    fn the_executor_itself_refuses_an_environment_that_was_not_granted() {
        let (_shown, shown) = measured("one");
        let (_handed, handed) = measured("two");
        let granted = || handed_out(policy("analysis"), facts(), ready(shown.env.digest));
        let expected = shown.env.digest;
        for given in [Some(handed), None] {
            let fault = RunSpec::from_grant(granted(), given.clone()).unwrap_err();
            assert_eq!(fault.why, Why::OtherEnvironment);
            assert_eq!(
                fault.to_string(),
                "the Python environment is not the one that was granted"
            );
            let given = given.map_or("none".to_owned(), |given| given.env.digest.to_string());
            assert_eq!(fault.detail, format!("{given} is not {expected}"));
        }
        let spec = RunSpec::from_grant(granted(), Some(shown.clone())).unwrap();
        assert_eq!(spec.env.digest, shown.env.digest);
        assert!(Arc::ptr_eq(&spec.measured.unwrap(), &shown));
        assert_eq!(spec.digest, Digest::of(b"1"));
        assert_eq!((&*spec.code, spec.facts), ("1", facts()));
    }

    #[test]
    fn a_grant_without_facts_for_the_guard_does_not_run() {
        let (_folder, measured) = measured("one");
        let grant = handed_out(policy("analysis"), None, ready(measured.env.digest));
        let fault = RunSpec::from_grant(grant, Some(measured)).unwrap_err();
        assert_eq!(fault.why, Why::NoFacts);
        assert_eq!(
            fault.to_string(),
            "the analyser reported nothing that the guard could compare"
        );
    }

    #[test]
    fn a_grant_without_the_guard_does_not_run_below_tier_kernel() {
        let (_folder, measured) = measured("one");
        let in_tier = |tier| {
            let unguarded = Policy {
                guard: false,
                tier,
                ..policy("analysis")
            };
            let grant = handed_out(unguarded, None, ready(measured.env.digest));
            RunSpec::from_grant(grant, Some(measured.clone()))
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
