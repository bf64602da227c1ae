//! The seccomp program that decides by system call number: a binary tree of comparisons, as
//! libseccomp can make one.
//!
//! seccompiler compares the numbers one by one, about nine hundred steps for our list. When a
//! program is installed, the kernel runs it once for every existing number to cache those that are
//! always allowed (`seccomp_cache_prepare`, Linux 5.11). With the linear list this took as long as
//! making a namespace. The tree needs about eight steps for each number.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{BpfProgram, sock_filter};

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offset of the lower half of a call's second argument in `struct seccomp_data`, on little-endian
/// machines; all supported ones are.
const SECOND_ARGUMENT: u32 = 24;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
/// The answer to `clone3`.
const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// Reports success without doing anything.
const DONE: u32 = libc::SECCOMP_RET_ERRNO;

/// x32 calls have the same architecture but bit 30 of the number set. The list would answer EPERM,
/// but no honest program makes such a call. Other architectures have no such numbers.
const X32: u32 = 0x4000_0000;

/// The numbers from `first` up to the next stretch share one answer.
#[derive(Clone, Copy)]
struct Stretch {
    first: u32,
    answer: Answer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Is(u32),
    /// For fcntl(2): setting a lock reports success.
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

/// Allows listed calls and answers EPERM to the rest, except for `clone3` and x32.
///
/// Setting a file lock reports success but does nothing. The kernel does not account locks (`struct
/// file_lock`, fs/locks.c), a file takes any number of them, and other processes of the machine
/// would see locks on the libraries that the jail shares. Refusing them would break SQLite.
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
    // Applied in order: where one stretch ends and another begins, the new one wins.
    for (number, answer) in answers {
        begins.insert(number, answer);
        begins.entry(number + 1).or_insert(Answer::Is(REFUSE));
    }
    let mut found: Vec<Stretch> = begins
        .into_iter()
        .map(|(first, answer)| Stretch { first, answer })
        .collect();
    // Neighbours with the same answer merge into the first.
    found.dedup_by_key(|one| one.answer);
    Ok(found)
}

/// Decides for the loaded number: jumps to the upper half of the stretches if the number is in it;
/// otherwise the lower half, which comes first, decides.
fn branch(stretches: &[Stretch], steps: &mut BpfProgram) -> Result<(), std::num::TryFromIntError> {
    let (lower, upper) = stretches.split_at(stretches.len() / 2);
    let (Some(_), Some(middle)) = (lower.first(), upper.first()) else {
        steps.extend(stretches.iter().flat_map(|one| one.answer.steps()));
        return Ok(());
    };
    let at = steps.len();
    steps.push(step(AT_LEAST, 0, 0, middle.first));
    branch(lower, steps)?;
    // A jump spans at most 255 steps; a longer list does not compile.
    let skipped = u8::try_from(steps.len() - at - 1)?;
    steps[at].jt = skipped;
    branch(upper, steps)
}

const fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}
