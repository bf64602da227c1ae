//! The program that goes by number: a tree of comparisons, as libseccomp can make one too.
//!
//! seccompiler asks for one number after the other, some nine hundred steps for our list. When a
//! program is installed the kernel runs it once for each number that exists, to remember those that
//! are allowed whatever their arguments (`seccomp_cache_prepare`, Linux 5.11): that took as long as a
//! namespace. A tree answers in about eight steps.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{BpfProgram, sock_filter};

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Where the lower half of a call's second argument is in `struct seccomp_data`, on machines that
/// put it first: all that are supported.
const SECOND_ARGUMENT: u32 = 24;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
/// Of `clone3`.
const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// Success, without anything having been done.
const DONE: u32 = libc::SECCOMP_RET_ERRNO;

/// x32 calls come with the same architecture and bit 30 of the number set; a list by number would
/// answer EPERM, but nothing honest makes one. Elsewhere nothing has such a number.
const X32: u32 = 0x4000_0000;

/// Numbers from `first` up to the next stretch have one answer.
#[derive(Clone, Copy)]
struct Stretch {
    first: u32,
    answer: Answer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Is(u32),
    /// Of fcntl(2): whoever sets a lock by it is told that he has it.
    Locks,
}

impl Answer {
    fn steps(self) -> Vec<sock_filter> {
        match self {
            Self::Is(answer) => vec![step(RETURN, 0, 0, answer)],
            Self::Locks => vec![
                step(LOAD, 0, 0, SECOND_ARGUMENT),
                step(EQUAL, 2, 0, libc::F_SETLK as u32),
                step(EQUAL, 1, 0, libc::F_SETLKW as u32),
                step(RETURN, 0, 0, ALLOW),
                step(RETURN, 0, 0, DONE),
            ],
        }
    }
}

/// Allows what is listed; the rest is EPERM, but for `clone3` and x32.
///
/// Locks on files are answered and not set. The kernel counts them for nobody (`struct file_lock`,
/// fs/locks.c), a file takes any number of them, and other processes of the machine would see those
/// on the libraries that a jail shares with it. Refused, they would keep SQLite from working.
pub fn program(listed: &[i64]) -> Result<BpfProgram, std::num::TryFromIntError> {
    let mut steps = vec![step(LOAD, 0, 0, 0)];
    branch(&stretches(listed)?, &mut steps)?;
    Ok(steps)
}

fn stretches(listed: &[i64]) -> Result<Vec<Stretch>, std::num::TryFromIntError> {
    let mut answers = BTreeMap::new();
    for number in listed {
        let answer = match *number {
            libc::SYS_flock => Answer::Is(DONE),
            libc::SYS_fcntl => Answer::Locks,
            _ => Answer::Is(ALLOW),
        };
        answers.insert(u32::try_from(*number)?, answer);
    }
    answers.insert(u32::try_from(libc::SYS_clone3)?, Answer::Is(NO_SUCH_CALL));
    let mut begins = BTreeMap::from([
        (0, Answer::Is(REFUSE)),
        (X32, Answer::Is(libc::SECCOMP_RET_KILL_PROCESS)),
    ]);
    // In order: what ends at a number gives way to what begins there.
    for (number, answer) in answers {
        begins.insert(number, answer);
        begins.entry(number + 1).or_insert(Answer::Is(REFUSE));
    }
    let mut found: Vec<Stretch> = begins
        .into_iter()
        .map(|(first, answer)| Stretch { first, answer })
        .collect();
    // Of two neighbours with one answer the first is enough.
    found.dedup_by_key(|one| one.answer);
    Ok(found)
}

/// Answers for the number that is loaded: the upper half of the stretches from its first on, else the
/// lower one, which comes first.
fn branch(stretches: &[Stretch], steps: &mut BpfProgram) -> Result<(), std::num::TryFromIntError> {
    let (lower, upper) = stretches.split_at(stretches.len() / 2);
    let (Some(_), Some(middle)) = (lower.first(), upper.first()) else {
        steps.extend(stretches.iter().flat_map(|one| one.answer.steps()));
        return Ok(());
    };
    let at = steps.len();
    steps.push(step(AT_LEAST, 0, 0, middle.first));
    branch(lower, steps)?;
    // A jump is at most 255 steps long: a longer list does not compile.
    let skipped = u8::try_from(steps.len() - at - 1)?;
    steps[at].jt = skipped;
    branch(upper, steps)
}

const fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}
