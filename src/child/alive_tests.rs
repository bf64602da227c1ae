use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use nix::fcntl::OFlag;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::pipe2;

use super::*;
use crate::child::testing::Stranger;
use crate::model::{Limits, Tier};
use crate::sandbox::protocol::{EndedBy, Lost, Purpose};

/// The helper's end of the socket, and the payload's ends of the pipes.
struct Other {
    socket: OwnedFd,
    pipes: [OwnedFd; 3],
}

fn alive() -> (Alive, Other) {
    let (socket, others) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .unwrap();
    let pipes = [(); 3].map(|()| pipe2(OFlag::O_CLOEXEC).unwrap());
    let [(stdout, one), (stderr, two), (report, three)] = pipes;
    let confinement = Confinement {
        tier: Tier::Process,
        executable: PathBuf::from("/bin/sh"),
        needs: Vec::new(),
        limits: Limits::DISTINCT,
        mapped: 0,
        inputs: 0,
        purpose: Purpose::Run,
    };
    let host = Box::new(Stranger {
        helper: 0,
        between: 0,
    });
    let other = Other {
        socket: others,
        pipes: [one, two, three],
    };
    (
        Alive::new(socket, [stdout, stderr, report], host, confinement),
        other,
    )
}

/// Keeps what it takes, and fails if the child is attended without a wait.
#[derive(Default)]
struct Keeper {
    taken: Vec<(Source, String, bool)>,
    turns: usize,
}

impl Client for Keeper {
    fn take(&mut self, from: Source, bytes: &[u8], released: bool) {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        self.taken.push((from, text, released));
    }

    fn tick(&mut self) {
        self.turns += 1;
        assert!(self.turns < 1000, "it goes round and round");
    }

    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    fn is_ready(&mut self) -> bool {
        false
    }
}

const ENDING: Ending = Ending {
    status: 9,
    by: EndedBy::Command,
    cpu_us: 0,
    peak_kib: 0,
    out_of_memory: None,
    lost: Lost { cpu: 0, files: 0 },
    clean: true,
};

fn why<T>(outcome: Result<Outcome<T>, Fault>) -> Option<Why> {
    outcome.err().map(|fault| fault.why)
}

#[test]
fn a_child_that_is_not_ready_in_time_is_told_to_end_and_its_end_is_awaited() {
    let (mut alive, other) = alive();
    let mut keeper = Keeper::default();
    alive.within(Duration::ZERO);
    let Other { socket, pipes } = other;
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            let asked = protocol::receive::<Command>(socket.as_fd()).unwrap();
            assert_eq!(asked, Some(Command::Kill));
            let [stdout, _stderr, _report] = pipes;
            File::from(stdout).write_all(b"last words").unwrap();
            protocol::send(socket.as_fd(), &Says::Ended(ENDING)).unwrap();
        });
        alive.until(&mut keeper, false, |_, _, _| Ok(None::<()>))
    });
    assert_eq!(why(outcome), Some(Why::NotReady(Duration::ZERO)));
    let words = (Source::Stdout, "last words".to_owned(), false);
    assert_eq!(keeper.taken, [words]);
}

#[test]
fn a_helper_that_was_told_to_end_and_does_not_is_given_up() {
    let (mut alive, _other) = alive();
    alive.kill();
    alive.deadline = Some(Instant::now());
    let outcome = alive.until(&mut Keeper::default(), true, |_, _, _| Ok(None::<()>));
    assert_eq!(why(outcome), Some(Why::NoAnswer));
}

#[test]
fn a_child_at_leisure_misses_no_deadline() {
    let (mut alive, other) = alive();
    alive.within(Duration::ZERO);
    alive.at_leisure();
    protocol::send(other.socket.as_fd(), &Says::Slot).unwrap();
    drop(other);
    let outcome = alive.until(&mut Keeper::default(), false, |_, _, _| Ok(None::<()>));
    assert_eq!(why(outcome), Some(Why::OutOfOrder));
}

#[test]
fn a_pipe_without_bytes_stays_open_and_one_that_cannot_be_read_is_closed() {
    let mut keeper = Keeper::default();
    let (inside, outside) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).unwrap();
    let mut pipe = Some(File::from(inside));
    read(Source::Stdout, &mut pipe, &mut keeper, true);
    assert!(pipe.is_some(), "another reader took the bytes");
    File::from(outside).write_all(b"more").unwrap();
    read(Source::Stdout, &mut pipe, &mut keeper, true);
    assert_eq!(keeper.taken, [(Source::Stdout, "more".to_owned(), true)]);
    read(Source::Stdout, &mut pipe, &mut keeper, true);
    assert!(pipe.is_none(), "every writer is gone");
    // A folder cannot be read; its descriptor would be ready for ever.
    let mut folder = Some(File::open("/").unwrap());
    read(Source::Stdout, &mut folder, &mut keeper, true);
    assert!(folder.is_none());
}
