//! Makes the zygote like a payload (fork, confine, exec the interpreter), but leaves what its forks
//! need: no Landlock (it would deny their mounts), a longer list of system calls, and no limit on
//! its own time and number of processes. It has no capability and reads nothing that came from an
//! agent.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::model::Limits;

use super::super::jail::{Tenant, landlock_rules, root, seccomp};
use super::super::payload::{
    are_reachable, is_interpreter, leave_parent, place_all, report_failure, staged, start,
};
use super::super::view::scratch_bytes;
use super::super::{Attempt, Reason, Refusal, Step, hex, identity, limits};
use crate::sandbox::protocol::{Descriptors, Order};
use crate::sandbox::{interpreter, memfd, raw, scratch};

/// Everything the fork needs, made while errors can still be reported.
pub struct Seed {
    executable: CString,
    args: Vec<CString>,
    env: Vec<CString>,
    /// Paths that the interpreter must be able to read, as the zygote sees them.
    needs: Vec<PathBuf>,
    limits: Limits,
    /// In the order of the zygote's descriptors.
    placed: Vec<OwnedFd>,
    filter: seccomp::Programs,
}

/// The restrictions that a fork of the zygote applies to itself, as `restrict.py` reads them.
#[derive(Serialize)]
struct Restrictions {
    handled: String,
    layer: String,
    paths: Vec<(PathBuf, u64)>,
    file_rights: u64,
    filter: String,
    limits: Vec<(i32, u64, u64)>,
    scratch: String,
    shared: &'static str,
    output: PathBuf,
    home: PathBuf,
}

impl Restrictions {
    fn of(order: &Order) -> Result<Self, Refusal> {
        let landlock = landlock_rules::numbers(&root::bound(&order.executable, &order.needs))?;
        let handled = landlock.handled.map(u64::to_ne_bytes).concat();
        let inside = Path::new(root::SCRATCH);
        Ok(Self {
            handled: hex(&handled),
            layer: landlock.layer,
            paths: landlock.paths,
            file_rights: landlock.file_rights,
            filter: hex(&seccomp::last()?),
            limits: limits::of_fork(&order.limits),
            scratch: root::scratch_options(scratch_bytes(&order.limits)),
            shared: root::SHARED_MEMORY,
            output: inside.join(scratch::OUTPUT),
            home: inside.join(scratch::HOME),
        })
    }
}

impl Seed {
    /// `control` is the zygote's end of the socket that asks for slots. Also returns the lifeline,
    /// which the zygote must not have.
    pub fn new(
        order: &Order,
        descriptors: Descriptors<OwnedFd>,
        control: OwnedFd,
    ) -> Result<(Self, OwnedFd), Refusal> {
        is_interpreter(&order.executable)?;
        let text =
            |bytes: &[u8]| CString::new(bytes).map_err(|e| Refusal::new(Reason::PathWithNul, e));
        let executable = text(order.executable.as_os_str().as_encoded_bytes())?;
        let mut args = vec![executable.clone()];
        for arg in interpreter::ARGUMENTS {
            args.push(text(arg.as_bytes())?);
        }
        let env = interpreter::environment(Path::new(root::SCRATCH))
            .into_iter()
            .map(|(name, value)| text(&[name.as_bytes(), b"=", value.as_encoded_bytes()].concat()))
            .collect::<Result<_, _>>()?;
        let rules = serde_json::to_vec(&Restrictions::of(order)?).step(Step::MakeRules)?;
        let rules = memfd::of_bytes("rules", &rules).step(Step::MakeRules)?;
        let null = File::open("/dev/null").step(Step::OpenDevNull)?;
        let fds = [
            null.into(),
            descriptors.stdout,
            descriptors.stderr,
            control,
            rules,
            descriptors.setup,
            descriptors.bundle,
        ];
        let placed = fds.into_iter().map(staged).collect::<Result<Vec<_>, _>>()?;
        let seed = Self {
            executable,
            args,
            env,
            needs: root::bound(&order.executable, &order.needs),
            limits: order.limits,
            placed,
            filter: seccomp::Programs::of_zygote()?,
        };
        Ok((seed, descriptors.lifeline))
    }

    fn confine(&self, failure: &mut File) -> Result<(), Refusal> {
        leave_parent()?;
        let next = place_all(&self.placed, failure)?;
        raw::close_from(next).step(Step::CloseDescriptors)?;
        limits::set_common(&self.limits)?;
        identity::drop_all_capabilities()?;
        nix::sys::prctl::set_no_new_privs().step(Step::GiveUpPrivileges)?;
        are_reachable(&self.needs)?;
        nix::unistd::chdir("/").step(Step::LeaveFolder)?;
        self.filter.install()
    }
}

impl Tenant for Seed {
    fn move_in(&self, _: i32, failure: File) -> ! {
        let mut failure = failure;
        let refusal = match self.confine(&mut failure) {
            Err(refusal) => refusal,
            Ok(()) => start(&self.executable, &self.args, &self.env),
        };
        report_failure(failure, &refusal);
        raw::exit_now(127)
    }

    /// Runs go on when their zygote is gone.
    fn is_outlived(&self) -> bool {
        true
    }
}
