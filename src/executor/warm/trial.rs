//! Tests whether warm starts work here: makes a zygote and drops it once it offers a slot.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::model::Tier;
use crate::policy::builtin;
use crate::runtime::PythonEnv;

use super::ZygoteKind;
use super::keeper::{Keeper, Offer};

/// The profile of the zygote: the one with the most libraries.
const PROFILE: &str = "analysis";

/// Time limit for loading the libraries; a cold disk needs a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns how long making the slot took, before any grant, or why there are no warm starts.
pub fn try_warm(env: PythonEnv) -> Result<Duration, String> {
    let exe = File::open("/proc/self/exe").map_err(|e| format!("its own binary: {e}"))?;
    try_through(exe.as_fd(), env)
}

/// Uses this binary as the helper.
pub fn try_through(exe: BorrowedFd<'_>, env: PythonEnv) -> Result<Duration, String> {
    let started = Instant::now();
    let policies = builtin().map_err(|e| e.to_string())?;
    let policy = policies.into_iter().find(|policy| policy.name == PROFILE);
    let kind = ZygoteKind {
        policy: policy.ok_or("the built-in policies are damaged")?,
        tier: Tier::Kernel,
        env: Arc::new(env),
        tables: false,
    };
    let keeper = Keeper::start(exe, &kind).map_err(|fault| format!("{fault}: {}", fault.detail))?;
    match keeper.take(PATIENCE) {
        Offer::Slot(_) => Ok(started.elapsed()),
        Offer::Nothing => Err(format!("no slot within {} s", PATIENCE.as_secs())),
        Offer::Gone(why) => Err(why),
    }
}
