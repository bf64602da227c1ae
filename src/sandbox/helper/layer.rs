//! Which layers are put on: all of them, always. Only the test build can leave one off, to show
//! that the suite notices; the product has no such switch.

/// A layer as the code that puts it on names it.
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
    /// Built from nothing: there is no code that could be left out, only some that adds to it.
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

    /// Set before anything else happens in a helper of the test build; empty in every other process.
    static OFF: OnceLock<BTreeSet<String>> = OnceLock::new();

    /// `names`: as in the table of attacks, with commas.
    pub fn leave_off(names: &str) {
        let names = names.split(',').map(str::to_owned).collect();
        OFF.set(names).expect("once, at the start");
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

    /// By `self`: this process's number is another one in the `/proc` it may still be seeing.
    fn permitted() -> io::Result<u64> {
        std::fs::read_to_string("/proc/self/status")?
            .lines()
            .find_map(|line| u64::from_str_radix(line.strip_prefix("CapPrm:")?.trim(), 16).ok())
            .ok_or_else(|| io::Error::other("no CapPrm"))
    }

    /// Every capability this process has, in every set: an exec passes them on to who is not root.
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

    /// Changing from root to another user keeps them.
    pub fn keep_capabilities() -> nix::Result<()> {
        nix::sys::prctl::set_keepcaps(true)
    }

    /// Makes those that were kept count again.
    pub fn use_capabilities() -> io::Result<()> {
        crate::sandbox::raw::set_capabilities(permitted()?)
    }

    /// The variables of the process that started this helper.
    pub fn parents_environment() -> Vec<std::ffi::CString> {
        std::fs::read(format!("/proc/{}/environ", nix::unistd::getppid()))
            .unwrap_or_default()
            .split(|byte| *byte == 0)
            .filter(|one| !one.is_empty())
            .filter_map(|one| std::ffi::CString::new(one).ok())
            .collect()
    }
}
