//! Starting the helper: its own binary through a held descriptor, the order and the files over
//! its standard input.

use std::fs::File;
use std::io::{self, Seek as _};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::pipe2;

use crate::model::{DataFormat, Digest, InputKind};

use super::cells::Cells;
use super::datasets::{self, Sources};
use super::handover::{self, Descriptors, Order, Says};
use super::spec::{Fault, RunSpec};
use super::{memfd, raw, runner, scratch};

/// The hidden subcommand that is the helper.
pub const ROLE: &str = "__sandbox";

/// A started helper and the broker's ends of what it was given.
pub struct Launched {
    pub helper: Child,
    pub socket: OwnedFd,
    /// Closing it ends the run; so does the end of this process.
    pub lifeline: OwnedFd,
    pub stdout: Option<OwnedFd>,
    pub stderr: Option<OwnedFd>,
    pub report: Option<OwnedFd>,
    pub scratch: PathBuf,
    /// Bytes of inputs that the payload maps.
    pub mapped: u64,
    /// What of private data sets is hidden from what comes back.
    pub cells: Arc<Cells>,
}

/// Makes everything the run is given and starts its helper.
pub fn launch(spec: &RunSpec, exe: BorrowedFd<'_>, sources: &Sources) -> Result<Launched, Fault> {
    if Digest::of(spec.code.as_bytes()) != spec.digest {
        return Err(Fault::new(
            "the code is not the code that was shown",
            "digest",
        ));
    }
    if spec.inputs.len() >= Descriptors::<OwnedFd>::inputs_max() {
        return Err(Fault::new(
            format!(
                "a run takes at most {} inputs",
                Descriptors::<OwnedFd>::inputs_max() - 1
            ),
            spec.inputs.len(),
        ));
    }
    let doing = |what: &str| {
        let what = what.to_owned();
        move |e: io::Error| Fault::new(format!("could not {what}"), e)
    };
    let file = |name: &str, bytes: io::Result<Vec<u8>>| {
        bytes
            .and_then(|bytes| memfd::of_bytes(name, &bytes))
            .map_err(doing("make the run's files"))
    };
    let mut inputs = inputs(spec, sources)?;
    let cells = Arc::new(hidden(spec, &inputs)?);
    if let Some(handed) = &spec.handed {
        inputs.push(file("handed", Ok(handed.as_bytes().to_vec()))?.into());
    }
    let frames: Vec<bool> = inputs.iter().map(|given| given.mapped > 0).collect();
    let mapped = inputs.iter().map(|given| given.mapped).sum();
    let inputs = inputs.into_iter().map(|given| given.fd).collect();
    let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|e| doing("make a pipe")(e.into()));
    let (lifeline_read, lifeline) = pipe()?;
    let (stdout, stdout_write) = pipe()?;
    let (stderr, stderr_write) = pipe()?;
    let (report, report_write) = pipe()?;
    let descriptors = Descriptors {
        lifeline: lifeline_read,
        stdout: stdout_write,
        stderr: stderr_write,
        report: report_write,
        setup: file("setup", runner::setup(spec, runner::Task::Run, mapped))?,
        bundle: file("bundle", runner::bundle())?,
        job: file("job", runner::job(spec, &frames))?,
        code: file("code", Ok(spec.code.as_bytes().to_vec()))?,
        inputs,
    };
    let scratch = scratch::make().map_err(no_folder)?;
    let order = Order {
        tier: spec.tier,
        executable: spec.env.executable.clone(),
        needs: spec.needs(),
        scratch: scratch.clone(),
        limits: *spec.limits(),
        code: spec.digest,
        probe: false,
    };
    let started = start_helper(exe)
        .map_err(doing("start the sandbox helper"))
        .and_then(|(helper, socket)| order_to(helper, socket, &order, &descriptors));
    match started {
        Ok((helper, socket)) => Ok(Launched {
            helper,
            socket,
            lifeline,
            stdout: Some(stdout),
            stderr: Some(stderr),
            report: Some(report),
            scratch,
            mapped,
            cells,
        }),
        Err(fault) => {
            let _ = std::fs::remove_dir(&scratch);
            Err(fault)
        }
    }
}

/// The one thing of a run that needs room on a disk of this machine's.
fn no_folder(e: io::Error) -> Fault {
    let why = match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "is full: free some space",
        _ => "cannot be used: mend it",
    };
    Fault::new(
        format!(
            "could not make the run's folder: the folder for temporary files {why}, or name another \
             one with TMPDIR"
        ),
        e,
    )
}

/// Sends the order. Where the helper is gone already, what it said on its way out is the error.
pub fn order_to(
    helper: Child,
    socket: OwnedFd,
    order: &Order,
    descriptors: &Descriptors<OwnedFd>,
) -> Result<(Child, OwnedFd), Fault> {
    let Err(e) = handover::send_order(socket.as_fd(), order, descriptors) else {
        return Ok((helper, socket));
    };
    // Refused because nobody reads any more: this does not wait.
    let said = match handover::receive::<Says>(&socket) {
        Ok(Some(Says::Refused { message, detail })) => Fault { message, detail },
        _ => Fault::new("the sandbox helper cannot be started", e),
    };
    drop(socket);
    dismiss(helper);
    Err(said)
}

/// Starts our own binary through the descriptor that was opened at start-up: a binary replaced
/// since then is not what runs. No `pre_exec`, nothing in argv or environment but the role.
pub fn start_helper(exe: BorrowedFd<'_>) -> io::Result<(Child, OwnedFd)> {
    let (ours, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )?;
    let helper = Command::new(format!("/proc/self/fd/{}", exe.as_raw_fd()))
        .arg(ROLE)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((helper, ours))
}

/// How long a helper may take to kill and to clean up before it is killed itself.
pub const HELPER_MAX: Duration = Duration::from_secs(20);

/// Waits for a helper whose lifeline has ended, and reaps it.
pub fn dismiss(mut helper: Child) {
    let gone = raw::pidfd_open(helper.id() as i32).is_ok_and(|pidfd| {
        let mut fds = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        let patience = PollTimeout::try_from(HELPER_MAX).unwrap_or(PollTimeout::MAX);
        poll(&mut fds, patience).is_ok_and(|n| n > 0)
    });
    if !gone {
        tracing::error!("the sandbox helper had to be killed");
        let _ = helper.kill();
    }
    let _ = helper.wait();
}

/// The sealed file of one input.
struct Given {
    fd: OwnedFd,
    /// Its size where it is a converted table, which the payload maps.
    mapped: u64,
}

impl From<OwnedFd> for Given {
    fn from(fd: OwnedFd) -> Self {
        Self { fd, mapped: 0 }
    }
}

/// The values of private data sets, from the very bytes that the child is given.
fn hidden(spec: &RunSpec, inputs: &[Given]) -> Result<Cells, Fault> {
    let mut cells = Cells::default();
    for (input, given) in spec.inputs.iter().zip(inputs) {
        let InputKind::Dataset {
            dataset, format, ..
        } = &input.kind
        else {
            continue;
        };
        if !input.is_private() {
            continue;
        }
        let delimiter = match format {
            DataFormat::Csv => b',',
            DataFormat::Tsv => b'\t',
            _ => {
                return Err(Fault::new(
                    format!("data set {dataset} is private, and only csv and tsv can be kept so"),
                    format.as_str(),
                ));
            }
        };
        table(&mut cells, &given.fd, delimiter).map_err(|e| {
            Fault::new(
                format!("data set {dataset} is private, and its values cannot be hidden"),
                e,
            )
        })?;
    }
    Ok(cells)
}

fn table(cells: &mut Cells, fd: &OwnedFd, delimiter: u8) -> io::Result<()> {
    let mut file = File::from(fd.try_clone()?);
    cells.add_table(&mut file, delimiter)?;
    // The child shares the position.
    file.rewind()
}

/// A sealed file for each input: what an agent brought as it was shown, a data set as its file
/// is now, if that is still what was shown.
fn inputs(spec: &RunSpec, sources: &Sources) -> Result<Vec<Given>, Fault> {
    spec.inputs
        .iter()
        .map(|input| {
            let changed = || {
                Fault::new(
                    format!("input {} changed since it was shown", input.name),
                    input.sha256,
                )
            };
            match &input.kind {
                InputKind::Json { text } | InputKind::Text { text, .. } => {
                    if Digest::of(text.as_bytes()) != input.sha256 {
                        return Err(changed());
                    }
                    memfd::of_bytes("input", text.as_bytes())
                        .map(Given::from)
                        .map_err(|e| Fault::new("could not make the run's files", e))
                }
                InputKind::Artifact { artifact, .. } => {
                    let content = (sources.left)(&input.sha256).map_err(|e| {
                        Fault::new(
                            format!("the log's copy of {artifact} cannot be read any more"),
                            e,
                        )
                    })?;
                    if Digest::of(&content) != input.sha256 {
                        return Err(changed());
                    }
                    memfd::of_bytes("artifact", &content)
                        .map(Given::from)
                        .map_err(|e| Fault::new("could not make the run's files", e))
                }
                InputKind::Dataset { dataset, .. } => {
                    let gone = |detail: String| {
                        Fault::new(
                            format!("data set {dataset} cannot be read any more"),
                            detail,
                        )
                    };
                    let source = sources
                        .datasets
                        .get(dataset)
                        .ok_or_else(|| gone("not configured".to_owned()))?;
                    // What is hidden is told from the file itself.
                    if !input.is_private()
                        && let Some((fd, mapped)) = datasets::frame_of(source, input.sha256)
                    {
                        return Ok(Given { fd, mapped });
                    }
                    let mut file = datasets::open(&source.path).map_err(|e| gone(e.to_string()))?;
                    let (fd, digest, _) =
                        memfd::of_reader("dataset", &mut file, datasets::BYTES_MAX)
                            .map_err(|e| gone(e.to_string()))?;
                    if digest != input.sha256 {
                        return Err(Fault::new(
                            format!("data set {dataset} changed since it was shown"),
                            digest,
                        ));
                    }
                    Ok(fd.into())
                }
            }
        })
        .collect()
}
