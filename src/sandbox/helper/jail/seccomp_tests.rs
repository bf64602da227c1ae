//! Runs the programs as the kernel does (`Documentation/networking/filter.rst`), for every number
//! and every argument that matters.

use seccompiler::sock_filter;

use super::*;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
/// Reports success without doing anything.
const DONE: u32 = libc::SECCOMP_RET_ERRNO;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const NATIVE: u32 = 0xc000_00f3;
const I386: u32 = 0x4000_0003;

/// Like `struct seccomp_data`, without the instruction pointer.
#[derive(Clone, Copy)]
struct Call {
    number: u32,
    arch: u32,
    args: [u64; 3],
}

const fn call(number: i64, [first, second]: [u64; 2]) -> Call {
    call_of_three(number, [first, second, 0])
}

const fn call_of_three(number: i64, args: [u64; 3]) -> Call {
    Call {
        number: number as u32,
        arch: NATIVE,
        args,
    }
}

/// The answer of one program to a call, and its number of steps.
fn answer(program: &[sock_filter], call: Call) -> (u32, usize) {
    let (mut at, mut loaded, mut taken) = (0usize, 0u32, 0);
    loop {
        let step = &program[at];
        at += 1;
        taken += 1;
        let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
        match u32::from(step.code) {
            // BPF_LD | BPF_W | BPF_ABS
            0x20 => {
                loaded = match step.k {
                    0 => call.number,
                    4 => call.arch,
                    offset @ 16..40 => {
                        let argument = call.args[(offset as usize - 16) / 8];
                        // Little-endian: the lower half comes first.
                        (argument >> (8 * (offset % 8))) as u32
                    }
                    other => panic!("no load from {other}"),
                };
            }
            // BPF_ALU | BPF_AND | BPF_K
            0x54 => loaded &= step.k,
            // BPF_JMP with BPF_JA, BPF_JEQ and BPF_JGE
            0x05 => at += step.k as usize,
            0x15 => at += jump(loaded == step.k),
            0x35 => at += jump(loaded >= step.k),
            // BPF_RET | BPF_K
            0x06 => return (step.k, taken),
            other => panic!("no step {other:#x}"),
        }
    }
}

/// The strictest answer counts; it is the one with the lowest action value.
fn strictest(programs: &[BpfProgram], call: Call) -> u32 {
    let answers = programs.iter().map(|program| answer(program, call).0);
    answers
        .min_by_key(|action| (*action as i32) & !0xffff)
        .unwrap()
}

fn last_steps() -> BpfProgram {
    taken_back().unwrap()
}

/// Every state of a payload or a zygote, with the calls it may make in addition to the list.
fn states() -> Vec<(&'static str, Vec<BpfProgram>, &'static [i64])> {
    let with_last = |mut programs: Vec<BpfProgram>| {
        programs.push(last_steps());
        programs
    };
    let (cold, zygote) = (
        || Programs::compile().unwrap().0,
        || Programs::of_zygote().unwrap().0,
    );
    vec![
        ("starting", cold(), STARTING_CALLS),
        ("a zygote", zygote(), ZYGOTE_CALLS),
        ("cold", with_last(cold()), &[]),
        ("warm", with_last(zygote()), &[]),
    ]
}

#[test]
fn only_listed_calls_are_allowed() {
    // With these arguments, calls that have refused arguments are allowed too.
    let harmless = [
        (libc::SYS_prctl, libc::PR_SET_NAME as u64),
        (libc::SYS_socketpair, libc::AF_UNIX as u64),
    ];
    for (state, programs, more) in states() {
        for number in (0..2048).chain([i64::from(X32) - 1]) {
            let first = harmless.iter().find(|(call, _)| *call == number);
            let args = [first.map_or(0, |(_, value)| *value), 0];
            let listed = [CALLS, OLD_CALLS, RESTRICTED_CALLS, more]
                .iter()
                .any(|calls| calls.contains(&number));
            let expected = match number {
                libc::SYS_clone3 => ENOSYS,
                libc::SYS_flock => DONE,
                _ if listed => ALLOW,
                _ => EPERM,
            };
            let found = strictest(&programs, call(number, args));
            assert_eq!(found, expected, "{state}: call {number}");
        }
        for number in [X32, X32 + 1, X32 + 520, u32::MAX] {
            let odd = Call {
                number,
                ..call(0, [0, 0])
            };
            assert_eq!(strictest(&programs, odd), KILL, "{state}: call {number:#x}");
        }
        for number in 0..512 {
            let foreign = Call {
                arch: I386,
                ..call(number, [0, 0])
            };
            assert_eq!(
                strictest(&programs, foreign),
                KILL,
                "{state}: i386 {number}"
            );
        }
    }
}

const X32: u32 = 0x4000_0000;

#[test]
fn refused_arguments_are_refused_beside_any_other_argument() {
    let thread = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
    let high = 1 << 32;
    for (state, programs, more) in states() {
        let mut rows = vec![
            (libc::SYS_clone, [0, 0], ALLOW),
            (libc::SYS_clone, [thread, 0], ALLOW),
            (libc::SYS_clone, [thread | high, 0], ALLOW),
            (libc::SYS_ioctl, [0, 0x5401], ALLOW),
            (libc::SYS_ioctl, [0, TIOCSTI], EPERM),
            (libc::SYS_ioctl, [0, TIOCSTI | high], EPERM),
            (libc::SYS_ioctl, [7, TIOCLINUX], EPERM),
            (libc::SYS_socketpair, [1, 0], ALLOW),
            (libc::SYS_socketpair, [1 | high, 0], ALLOW),
            (libc::SYS_prlimit64, [0, 7], ALLOW),
            (libc::SYS_prlimit64, [high, 7], ALLOW),
            (libc::SYS_prlimit64, [1, 7], EPERM),
            (libc::SYS_prlimit64, [u64::MAX, 7], EPERM),
        ];
        let held = [
            libc::F_OFD_SETLK,
            libc::F_OFD_SETLKW,
            libc::F_SETLEASE,
            libc::F_NOTIFY,
            // F_SETDELEG, since Linux 6.19.
            1024 + 16,
        ];
        rows.extend(held.map(|command| (libc::SYS_fcntl, [5, command as u64], EPERM)));
        rows.extend((0..2048).flat_map(|command| {
            let expected = match command as libc::c_int {
                libc::F_SETLK | libc::F_SETLKW => DONE,
                command if FILE_COMMANDS.contains(&command) => ALLOW,
                _ => EPERM,
            };
            [command, command | high].map(|command| (libc::SYS_fcntl, [5, command], expected))
        }));
        rows.extend(NAMESPACES.iter().flat_map(|flag| {
            [*flag, flag | thread, flag | high].map(|flags| (libc::SYS_clone, [flags, 0], EPERM))
        }));
        rows.extend((2..64).map(|family| (libc::SYS_socketpair, [family, 0], EPERM)));
        let any = more == ZYGOTE_CALLS;
        let starting = more == STARTING_CALLS;
        for option in 0..128 {
            let usual = OPTIONS.contains(&option);
            let own = starting && STARTING_OPTIONS.contains(&option);
            let expected = if usual || own || any { ALLOW } else { EPERM };
            rows.push((libc::SYS_prctl, [option as u64, 2], expected));
            rows.push((libc::SYS_prctl, [option as u64 | high, 2], expected));
        }
        for (number, args, expected) in rows {
            let found = strictest(&programs, call(number, args));
            assert_eq!(found, expected, "{state}: call {number} {args:x?}");
        }
    }
}

#[test]
fn no_socket_accepts_a_bpf_program() {
    for (state, programs, _) in states() {
        for level in [libc::SOL_SOCKET as u64, 6] {
            for option in 0..128 {
                let brings = SOCKET_PROGRAMS.contains(&(option as libc::c_int));
                let refused = brings && level == libc::SOL_SOCKET as u64;
                let expected = if refused { EPERM } else { ALLOW };
                let call = call_of_three(libc::SYS_setsockopt, [9, level, option]);
                let found = strictest(&programs, call);
                assert_eq!(found, expected, "{state}: level {level}, option {option}");
            }
        }
    }
}

/// The reason for the tree: on installation the kernel runs it once for each number.
#[test]
fn an_answer_takes_few_steps() {
    const NUMBERS: usize = 512;
    for (state, programs, _) in states() {
        let steps: usize = (0..NUMBERS)
            .flat_map(|number| programs.iter().map(move |program| (program, number)))
            .map(|(program, number)| answer(program, call(number as i64, [0, 0])).1)
            .sum();
        let mean = steps / NUMBERS;
        assert!(mean <= 64, "{state}: {mean} steps a number");
    }
}

#[test]
fn the_programs_are_counted_and_the_dangerous_calls_are_not_listed() {
    assert_eq!(Programs::compile().unwrap().0.len() + 1, PROGRAMS);
    assert_eq!(Programs::of_zygote().unwrap().0.len() + 1, PROGRAMS);
    assert_eq!(last().unwrap().len(), last_steps().len() * 8);
    for call in [
        libc::SYS_socket,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_memfd_create,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_pidfd_getfd,
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_landlock_create_ruleset,
        libc::SYS_shmget,
        libc::SYS_semget,
        libc::SYS_msgget,
        libc::SYS_mq_open,
        libc::SYS_seccomp,
        libc::SYS_execve,
        libc::SYS_execveat,
    ] {
        assert!(
            !CALLS.contains(&call) && !OLD_CALLS.contains(&call),
            "{call}"
        );
    }
}
