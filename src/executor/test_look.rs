//! A run that is let go whatever the reading from outside says: no product code can do this. With
//! a layer left off it shows both that the reading refuses the run and what the attack then does.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::model::Isolation;

use super::handover::{self, Command, Ending, Says};
use super::launch::{self, Host, Launched};
use super::outside::{self, Expected};
use super::spec::{Fault, RunSpec, needs};
use super::surroundings::{self, Given};
use super::{report, scratch};

/// What came of it.
pub struct Looked {
    pub outside: Result<Isolation, Fault>,
    pub stdout: String,
    pub stderr: String,
    pub ending: Ending,
}

impl Looked {
    /// What the reading from outside says is missing.
    pub fn refused(&self) -> &str {
        match &self.outside {
            Err(fault) => &fault.detail,
            Ok(isolation) => panic!("not refused: {:?}", isolation.layers),
        }
    }
}

/// Runs it through the given helper. `compare`: what the reading compares with, where that is not
/// the run's own policy.
pub fn look(spec: &RunSpec, exe: &OwnedFd, compare: Option<&RunSpec>) -> Result<Looked, Fault> {
    let mut launched = launch::launch(
        spec,
        exe.as_fd(),
        &super::test_bench::sources(Default::default()),
        &super::control::Switch::new(),
    )?;
    let looked = go(spec, &mut launched, compare.unwrap_or(spec));
    let Launched { host, socket, .. } = launched;
    let Host::Own {
        helper,
        lifeline,
        scratch: folder,
    } = host
    else {
        panic!("a helper of the run's own");
    };
    drop((lifeline, socket));
    launch::dismiss(helper);
    let _ = scratch::Held::open(&folder).and_then(|held| held.remove());
    looked
}

fn go(spec: &RunSpec, launched: &mut Launched, compare: &RunSpec) -> Result<Looked, Fault> {
    let (pid, told) = match hear(launched)? {
        Says::Started { pid, layers } => (pid, layers),
        other => return Err(Fault::new("did not start", format!("{other:?}"))),
    };
    let needs = needs(&spec.env);
    let mounted = surroundings::mounted(pid, &Given::of(compare, &needs));
    let mut report_pipe = File::from(launched.report.take().unwrap());
    let mut stderr = File::from(launched.stderr.take().unwrap());
    let mut report = report::Report::new(super::spec::REPORT_MAX);
    while !report.take_ready() {
        let mut buffer = [0u8; 1024];
        await_input(&report_pipe, "the runner is ready");
        let n = report_pipe.read(&mut buffer).unwrap();
        if n == 0 {
            let mut said = String::new();
            let _ = stderr.read_to_string(&mut said);
            return Err(Fault::new("Python ended before it was ready", said));
        }
        report.feed(&buffer[..n]);
    }
    let expected = Expected::of(
        compare,
        Given::of(compare, &needs),
        mounted,
        launched.host.between(),
        launched.mapped,
    );
    let outside = outside::examine(pid, &told, launched.host.helper(), &expected)
        .map(|found| found.isolation);
    handover::send(&launched.socket, &Command::Release).unwrap();
    // All three pipes are read at once: a full one would hold the payload.
    let stdout = gather(File::from(launched.stdout.take().unwrap()));
    let stderr = gather(stderr);
    let report_pipe = gather(report_pipe);
    let ending = match hear(launched)? {
        Says::Ended(ending) => ending,
        other => return Err(Fault::new("did not end", format!("{other:?}"))),
    };
    // It stays until its folder was looked through, and its pipes stay open as long.
    let both = nix::sys::socket::Shutdown::Both;
    nix::sys::socket::shutdown(launched.socket.as_raw_fd(), both).unwrap();
    let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&thread.join().unwrap()).into_owned()
    };
    let _ = text(report_pipe);
    Ok(Looked {
        outside,
        stdout: text(stdout),
        stderr: text(stderr),
        ending,
    })
}

/// To its end. Unlike the product this waits in the reading.
fn gather(mut pipe: File) -> std::thread::JoinHandle<Vec<u8>> {
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        let _ = pipe.read_to_end(&mut all);
        all
    })
}

fn hear(launched: &Launched) -> Result<Says, Fault> {
    await_input(&launched.socket, "the helper speaks");
    match handover::receive_folder::<Says>(&launched.socket) {
        Ok(Some((Says::Refused { message, detail }, _))) => Err(Fault { message, detail }),
        // The run's folder comes along; nothing of it is looked at here.
        Ok(Some((says, _))) => Ok(says),
        Ok(None) | Err(_) => Err(Fault::new("the helper ended without a word", "socket")),
    }
}

fn await_input(source: impl AsFd, what: &str) {
    let mut fds = [PollFd::new(source.as_fd(), PollFlags::POLLIN)];
    let patience = PollTimeout::try_from(Duration::from_secs(300)).unwrap();
    let n = poll(&mut fds, patience).unwrap();
    assert!(n > 0, "a minute went by before {what}");
}
