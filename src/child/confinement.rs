//! How a child is to be confined: ordered from the helper, and compared with what is read from
//! outside.

use std::path::PathBuf;

use crate::model::{Digest, Limits, Tier};
use crate::sandbox::helper;
use crate::sandbox::protocol::{Order, Purpose};

const MIB: u64 = 1024 * 1024;

/// The confinement of one child.
#[derive(Clone, Debug)]
pub struct Confinement {
    pub tier: Tier,
    /// The interpreter's real path.
    pub executable: PathBuf,
    /// Files and folders that the interpreter needs, including the executable.
    pub needs: Vec<PathBuf>,
    pub limits: Limits,
    /// Bytes of inputs that the payload maps; they do not count as its own memory.
    pub mapped: u64,
    /// Number of inputs, each a descriptor.
    pub inputs: usize,
    pub purpose: Purpose,
}

impl Confinement {
    /// The allowed address space in bytes beyond what the process has mapped when it is examined.
    pub(super) fn address_space(&self) -> u64 {
        match self.purpose {
            // The runner has lowered the limit to the allowance.
            Purpose::Run => self
                .limits
                .memory_mb
                .saturating_mul(MIB)
                .saturating_add(self.mapped),
            // There is no runner.
            Purpose::Probe | Purpose::Zygote => helper::address_space_max(&self.limits),
        }
    }

    /// The order for the helper. `scratch` is the child's own folder, which exists and is empty.
    pub(super) fn order(&self, code: Digest, scratch: PathBuf) -> Order {
        Order {
            tier: self.tier,
            executable: self.executable.clone(),
            needs: self.needs.clone(),
            scratch,
            limits: self.limits,
            code,
            purpose: self.purpose,
        }
    }
}
