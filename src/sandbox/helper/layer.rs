//! Which layers are on: always all of them. Only the test build can leave one off, to show that the
//! tests notice; the product has no such switch.

/// A layer, named as the code that applies it names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Uid,
    Userns,
    Pidns,
    Netns,
    Ipcns,
    Utsns,
    Cgroupns,
    Root,
    Proc,
    View,
    Nocaps,
    Bounding,
    NoNewPrivs,
    Landlock,
    Seccomp,
    Cgroup,
    /// The environment is built from nothing, so there is no code to leave out; the test switch
    /// adds variables instead.
    #[cfg(test)]
    Environment,
    Descriptors,
    Lifeline,
    ParentDeath,
    Cpu,
    Memory,
    Files,
    Size,
    Processes,
    Core,
    Memlock,
    Msgqueue,
    Signals,
}

/// Whether to put the layer on.
#[cfg(not(test))]
pub const fn on(_: Layer) -> bool {
    true
}

#[cfg(test)]
pub use switched::on;

#[cfg(test)]
pub mod switched {
    use std::collections::BTreeSet;
    use std::io;
    use std::sync::OnceLock;

    use nix::libc;

    use super::Layer;

    /// Set first in a helper of the test build; stays empty in every other process.
    static OFF: OnceLock<BTreeSet<String>> = OnceLock::new();

    /// `names`: comma-separated, as in the table of attacks.
    pub fn leave_off(names: &str) {
        let names = names.split(',').map(str::to_owned).collect();
        OFF.set(names)
            .expect("the layers are set once, at the start");
    }

    pub fn on(layer: Layer) -> bool {
        OFF.get().is_none_or(|off| !off.contains(name(layer)))
    }

    const fn name(layer: Layer) -> &'static str {
        match layer {
            Layer::Uid => "uid",
            Layer::Userns => "userns",
            Layer::Pidns => "pidns",
            Layer::Netns => "netns",
            Layer::Ipcns => "ipcns",
            Layer::Utsns => "utsns",
            Layer::Cgroupns => "cgroupns",
            Layer::Root => "root",
            Layer::Proc => "proc",
            Layer::View => "view",
            Layer::Nocaps => "nocaps",
            Layer::Bounding => "bounding",
            Layer::NoNewPrivs => "no_new_privs",
            Layer::Landlock => "landlock",
            Layer::Seccomp => "seccomp",
            Layer::Cgroup => "cgroup",
            Layer::Environment => "environment",
            Layer::Descriptors => "descriptors",
            Layer::Lifeline => "lifeline",
            Layer::ParentDeath => "pdeathsig",
            Layer::Cpu => "rlimits:cpu",
            Layer::Memory => "rlimits:memory",
            Layer::Files => "rlimits:files",
            Layer::Size => "rlimits:size",
            Layer::Processes => "rlimits:processes",
            Layer::Core => "rlimits:core",
            Layer::Memlock => "rlimits:memlock",
            Layer::Msgqueue => "rlimits:msgqueue",
            Layer::Signals => "rlimits:signals",
        }
    }

    /// Uses `self`, because this process may have another pid in the `/proc` it still sees.
    fn permitted() -> io::Result<u64> {
        std::fs::read_to_string("/proc/self/status")?
            .lines()
            .find_map(|line| u64::from_str_radix(line.strip_prefix("CapPrm:")?.trim(), 16).ok())
            .ok_or_else(|| io::Error::other("no CapPrm"))
    }

    /// Puts every capability of this process into every set, so that an exec keeps them for a user
    /// other than root.
    #[allow(unsafe_code)]
    pub fn hand_on_capabilities() -> io::Result<()> {
        let all = permitted()?;
        let word = |bits: u64| [bits as u32; 3];
        let header = [0x2008_0522_u32, 0];
        let data = [word(all & 0xffff_ffff), word(all >> 32)];
        // SAFETY: header and data have the kernel's layout (see `raw::set_capabilities`).
        if unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        for capability in (0..64).filter(|bit| all >> bit & 1 == 1) {
            let zero: libc::c_ulong = 0;
            let raise = libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong;
            // SAFETY: prctl with plain integers.
            if unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, capability, zero, zero) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Makes a change from root to another user keep the capabilities.
    pub fn keep_capabilities() -> nix::Result<()> {
        nix::sys::prctl::set_keepcaps(true)
    }

    /// Makes the kept capabilities effective again.
    pub fn use_capabilities() -> io::Result<()> {
        crate::sandbox::raw::set_capabilities(permitted()?)
    }

    /// The environment variables of the process that started this helper.
    pub fn parents_environment() -> Vec<std::ffi::CString> {
        std::fs::read(format!("/proc/{}/environ", nix::unistd::getppid()))
            .unwrap_or_default()
            .split(|byte| *byte == 0)
            .filter(|one| !one.is_empty())
            .filter_map(|one| std::ffi::CString::new(one).ok())
            .collect()
    }
}
