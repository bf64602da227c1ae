use std::path::PathBuf;

use crate::child::testing::Stranger;
use crate::model::Limits;
use crate::sandbox::protocol::Purpose;

use super::*;

const LIMITS: Limits = Limits::DISTINCT;
const MAPPED: u64 = 1 << 40;
const OF_INPUTS: u64 = 1 << 30;

fn expected(tier: Tier) -> Confinement {
    Confinement {
        tier,
        executable: PathBuf::from("/bin/sh"),
        needs: Vec::new(),
        limits: LIMITS,
        mapped: OF_INPUTS,
        inputs: 0,
        purpose: Purpose::Run,
    }
}

/// The highest values that are accepted, in numbers and not as the code computes them.
fn highest(processes: u64) -> BTreeMap<String, (u64, u64)> {
    let memory = MAPPED + OF_INPUTS + 5 * 1_048_576;
    let slack = 67_108_864;
    [
        ("Max cpu time", (3, 4)),
        ("Max address space", (memory + slack, memory + 2 * slack)),
        ("Max open files", (11, 11)),
        ("Max file size", (13_631_488, 13_631_488)),
        ("Max processes", (processes, processes)),
        ("Max core file size", (0, 0)),
        ("Max locked memory", (0, 0)),
        ("Max msgqueue size", (0, 0)),
        ("Max pending signals", (256, 256)),
    ]
    .map(|(name, values)| (name.to_owned(), values))
    .into()
}

#[test]
fn each_limit_counts_soft_and_hard_to_the_exact_number() {
    // In tier `kernel`, pid 1 of the jail counts too. Where the user is not the run's own, any limit
    // of processes will do, but there must be one.
    for (tier, own, processes) in [
        (Tier::Process, true, 7),
        (Tier::Kernel, true, 8),
        (Tier::Process, false, u64::MAX - 1),
        (Tier::Kernel, false, u64::MAX - 1),
    ] {
        let confinement = expected(tier);
        let are =
            |found: &BTreeMap<String, (u64, u64)>| are_limited(found, MAPPED, &confinement, own);
        let all = highest(processes);
        assert!(are(&all), "{tier} {own}");
        for (name, (soft, hard)) in &all {
            let with = |values: (u64, u64)| {
                let mut found = all.clone();
                found.insert(name.clone(), values);
                are(&found)
            };
            assert!(!with((soft + 1, *hard)), "{tier} {own}: {name}, soft");
            assert!(!with((*soft, hard + 1)), "{tier} {own}: {name}, hard");
            assert!(!with((*soft, u64::MAX)), "{tier} {own}: {name}, unlimited");
            assert!(with((0, 0)), "{tier} {own}: {name}, lower");
            let mut lacks = all.clone();
            lacks.remove(name);
            assert!(!are(&lacks), "{tier} {own}: without {name}");
        }
    }
}

#[test]
fn a_user_of_its_own_has_one_uid_one_gid_and_no_groups() {
    let ours = Uid::from_raw(1000);
    let is = |uids: &str, gids: &str, groups: &str| {
        let text = format!("Name:\tx\nUid:\t{uids}\nGid:\t{gids}\nGroups:\t{groups} \n");
        is_of_its_own(&Status::parse(&text), ours)
    };
    let seven = "7\t7\t7\t7";
    assert!(is(seven, seven, ""));
    assert!(is(seven, "9\t9\t9\t9", ""));
    for (uids, gids, groups) in [
        ("1000\t1000\t1000\t1000", seven, ""),
        ("7\t7\t0\t7", seven, ""),
        ("7\t7\t7\t0", seven, ""),
        (seven, "7\t0\t7\t7", ""),
        (seven, "7\t7\t7", ""),
        (seven, seven, "27"),
        ("", seven, ""),
    ] {
        assert!(!is(uids, gids, groups), "{uids} {gids} {groups}");
    }
    assert!(!is_of_its_own(&Status::parse(""), ours));
}

/// Its number may have been given to another process, which a kill or a release would then meet.
#[test]
fn a_process_that_is_not_below_the_helper_is_not_examined_further() {
    let own = std::process::id() as i32;
    let parent = procfs::stat(own).unwrap().parent;
    let above = procfs::stat(parent)
        .map(|stat| stat.parent)
        .unwrap_or_default();
    for (helper, between, is_ours) in [
        (parent, 0, true),
        (above, 1, true),
        (own, 0, false),
        (above, 0, false),
        (parent, 1, false),
    ] {
        let host = Stranger { helper, between };
        let found = examine(own, &[], &host, &expected(Tier::Process), &[]);
        // This process is confined like no child, so it is refused, but for another reason.
        let why = found.unwrap_err().why;
        assert_eq!(
            why != Why::EndedEarly,
            is_ours,
            "{helper} {between}: {why:?}"
        );
    }
}

#[test]
fn a_child_that_has_ended_is_not_examined_further() {
    let own = std::process::id() as i32;
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id() as i32;
    while procfs::stat(pid).unwrap().state != 'Z' {
        std::thread::yield_now();
    }
    let host = Stranger {
        helper: own,
        between: 0,
    };
    let found = examine(pid, &[], &host, &expected(Tier::Process), &[]);
    child.wait().unwrap();
    assert_eq!(found.unwrap_err().why, Why::EndedEarly);
}

/// What is only known of a run that started: the numbers of a warm zygote are those of its helper.
#[test]
fn a_child_without_a_runner_has_the_address_space_of_its_start() {
    let address_space = |purpose| {
        Confinement {
            purpose,
            ..expected(Tier::Kernel)
        }
        .address_space()
    };
    assert_eq!(address_space(Purpose::Run), OF_INPUTS + 5 * 1_048_576);
    for purpose in [Purpose::Probe, Purpose::Zygote] {
        assert_eq!(address_space(purpose), (4096 + 5) * 1_048_576);
    }
}
