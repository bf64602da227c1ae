//! The shared suites of tier `kernel` with warm starts, and errors that only those could have.

pub const TIER: crate::model::Tier = crate::model::Tier::Kernel;
/// Whether runs find a waiting slot.
pub const WARM: bool = true;

#[path = "attacks.rs"]
mod attacks;
#[path = "inside.rs"]
mod inside;
#[path = "jail.rs"]
mod jail;
#[path = "library.rs"]
mod library;
#[path = "lifetime.rs"]
mod lifetime;
#[path = "ordinary.rs"]
mod ordinary;
#[path = "reaching.rs"]
mod reaching;
#[path = "refusal.rs"]
mod refusal;
#[path = "soak.rs"]
mod soak;
#[path = "table.rs"]
mod table;
#[path = "usage.rs"]
mod usage;
#[path = "value.rs"]
mod value;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::broker::ExecNote;
use crate::child;
use crate::policy::Policy;

use crate::executor::DatasetSource;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::{self, *};
use crate::executor::tests::entry::exe_without;
use crate::executor::tests::look::{handed, look_at};
use crate::executor::warm::{Pool, try_through};
use crate::sandbox::procfs;
use crate::sandbox::raw;

/// Runs the shared suites warm, except what can only start cold.
fn begin(spec: RunSpec, datasets: BTreeMap<String, DatasetSource>) -> Live {
    // A pool keeps few zygotes: those with pandas, which take longest to make, are not replaced by others.
    static WITH_PANDAS: OnceLock<Arc<Pool>> = OnceLock::new();
    static POOL: OnceLock<Arc<Pool>> = OnceLock::new();
    let has_pandas = spec
        .env
        .distributions
        .iter()
        .any(|(name, _)| name == "pandas");
    let pool = match has_pandas {
        true => WITH_PANDAS.get_or_init(new_pool),
        false => POOL.get_or_init(new_pool),
    };
    pool.await_slot(&spec);
    begin_in(Some(pool.clone()), spec, datasets)
}

fn run_spec(spec: RunSpec) -> Outcome {
    begin(spec, BTreeMap::new()).finish()
}

fn new_pool() -> Arc<Pool> {
    Arc::new(Pool::new(exe()))
}

/// A run whose slot waits already.
fn begin_warm(pool: &Arc<Pool>, spec: RunSpec) -> Live {
    assert!(pool.await_slot(&spec), "no slot for the run");
    begin_in(Some(pool.clone()), spec, Default::default())
}

#[test]
fn a_warm_start_runs_and_is_confined_like_a_cold_one() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let warm = begin_warm(&pool, spec("print('hello')", raw_policy(TIER))).finish();
    assert_eq!(warm.run().stdout, "hello\n", "{warm:?}");
    let cold = bench::run_spec(spec("print('hello')", raw_policy(TIER)));
    assert_eq!(warm.isolation(), cold.isolation());
}

/// Runs share the zygote's namespaces, so without one of them each slot is refused when it is
/// examined.
#[test]
fn no_slot_that_lacks_a_layer_is_released() {
    if !available(TIER) {
        return;
    }
    let lacks = exe_without(&["utsns"]);
    let pool = || Some(Arc::new(Pool::new(lacks.clone())));
    let all = |exe, pool: Option<Arc<Pool>>| {
        let spec = spec("print('it ran', flush=True)", raw_policy(TIER));
        let pool = pool.unwrap();
        assert!(pool.await_slot(&spec), "no slot for the run");
        let sources = Arc::new(sources(BTreeMap::new()));
        let outcome = begin_all(exe, Some(pool.clone()), spec.clone(), sources).finish();
        assert_eq!(pool.runs(&spec), 1, "it was tried warm");
        outcome
    };
    // A cold start replaces it, with all of its layers or not at all.
    let cold = all(exe(), pool());
    assert_eq!(cold.run().stdout, "it ran\n", "{cold:?}");
    let has = |layer: &String| layer == "utsns";
    assert!(cold.isolation().layers.iter().any(has), "{cold:?}");
    let outcome = all(lacks.clone(), pool());
    let expected = "the child is not confined as its tier asks: utsns is missing";
    assert_eq!(outcome.failure(), expected);
    assert_eq!(outcome.notes.len(), 1, "{outcome:?}");
}

#[test]
fn a_slot_whose_code_differs_from_the_shown_code_is_refused_by_its_helper() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let spec = spec("print('shown')", raw_policy(TIER));
    assert!(pool.await_slot(&spec), "no slot for the run");
    let slot = pool.take(&spec).expect("a slot waits");
    let files = handed(&spec, "print('another')", spec.digest);
    let launched = child::warm(slot, spec.confinement(0, 0), &files).unwrap();
    let Err(fault) = look_at(launched, None) else {
        panic!("a child was started");
    };
    let expected = "the code is not the code that was shown: the sandbox helper read other code";
    assert_eq!(fault.to_string(), expected, "{}", fault.detail);
}

/// The output of one warm run of this zygote.
fn output_of(pool: &Arc<Pool>, code: &str, policy: &Policy) -> String {
    let outcome = begin_warm(pool, spec(code, policy.clone())).finish();
    assert_eq!(outcome.run().error, None, "{outcome:?}");
    outcome.run().stdout.clone()
}

#[test]
fn nothing_but_the_listed_descriptors_is_open() {
    if !available(TIER) {
        return;
    }
    // One descriptor is the listing itself, which is closed before it is examined.
    let code = "import os, re\n\
        def what(fd):\n\
        \x20   try: return re.sub(r'\\d+', 'N', os.readlink(f'/proc/self/fd/{fd}'))\n\
        \x20   except OSError: return None\n\
        fds = sorted(map(int, os.listdir('/proc/self/fd')))\n\
        print(sorted((fd if fd < 5 else 5, what(fd)) for fd in fds if what(fd)))";
    let warm = output_of(&new_pool(), code, &raw_policy(TIER));
    assert_eq!(
        warm,
        "[(0, '/dev/null'), (1, 'pipe:[N]'), (2, 'pipe:[N]'), (4, 'pipe:[N]'), \
         (5, '/scratch/out')]\n"
    );
    let cold = bench::run_spec(spec(code, raw_policy(TIER)));
    assert_eq!(warm, cold.run().stdout);
}

#[test]
fn a_run_cannot_release_its_sibling_or_widen_what_confines_it() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let policy = raw_policy(TIER);
    let held = begin_warm(&pool, spec("print('mine')", policy.clone()));
    assert!(matches!(held.next(), ExecNote::Prepared(_)));
    let outcome = begin_warm(
        &pool,
        spec(
            "import ctypes, os, signal\n\
             C = ctypes.CDLL(None, use_errno=True)\n\
             found = set()\n\
             for fd in range(3, 64):\n\
             \x20   if fd != 4:\n\
             \x20       try: os.write(fd, b'r')\n\
             \x20       except OSError: pass\n\
             \x20   rule = b'\\xff' * 8 + (5).to_bytes(4, 'little')\n\
             \x20   found.add((C.syscall(445, fd, 1, rule, 0), ctypes.get_errno()))\n\
             for pid in range(-1, 300):\n\
             \x20   for path in f'/proc/{pid}/fd/3', f'/proc/{pid}/mem':\n\
             \x20       try: os.write(os.open(path, os.O_RDWR), b'r'); print(path)\n\
             \x20       except OSError: pass\n\
             \x20   if pid > 2: \n\
             \x20       try: os.kill(pid, 9); print(pid)\n\
             \x20       except OSError: pass\n\
             print(found)",
            policy,
        ),
    )
    .finish();
    assert_eq!(outcome.run().stdout, "{(-1, 1)}\n", "{outcome:?}");
    let quiet = std::time::Duration::from_millis(300);
    assert!(held.notes.recv_timeout(quiet).is_err());
    assert_eq!(held.finish().run().stdout, "mine\n");
}

#[test]
fn runs_of_one_zygote_share_no_namespace_that_they_could_leave_something_in() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let code = "import os\nprint(*(os.readlink(f'/proc/self/ns/{n}')\n\
        for n in ('user', 'pid', 'mnt', 'ipc', 'net')))\n\
        print(os.listdir('/scratch/out'), os.listdir('/dev/shm'))\n\
        open('/scratch/out/x', 'w'); open('/dev/shm/x', 'w')\n\
        import sys, time\nsys.stdout.flush()\ntime.sleep(600)";
    let runs: Vec<Live> = (0..2)
        .map(|_| begin_warm(&pool, spec(code, raw_policy(TIER))))
        .collect();
    let message: Vec<String> = runs
        .iter()
        .map(|live| {
            live.control.release();
            let mut text = String::new();
            while text.lines().count() < 2 {
                if let ExecNote::Output { text: more, .. } = live.next() {
                    text.push_str(&more);
                }
            }
            text
        })
        .collect();
    let names = |text: &str| -> Vec<String> {
        let line = text.lines().next().unwrap();
        line.split(' ').map(str::to_owned).collect()
    };
    for (one, other) in names(&message[0]).iter().zip(names(&message[1])) {
        assert_ne!(*one, other);
    }
    for text in message {
        assert_eq!(text.lines().nth(1), Some("[] []"), "{text}");
    }
}

#[test]
fn a_run_cannot_starve_another_of_processes() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let mut policy = raw_policy(TIER);
    policy.limits.processes = 5;
    let greedy = "import os, time\nn = 1\n\
        try:\n\
        \x20   while os.fork(): n += 1\n\
        \x20   time.sleep(600)\n\
        except OSError: print(n, flush=True)\n";
    let first = begin_warm(
        &pool,
        spec(&format!("{greedy}time.sleep(600)"), policy.clone()),
    );
    first.control.release();
    while !matches!(first.next(), ExecNote::Output { .. }) {}
    assert_eq!(output_of(&pool, greedy, &policy), "5\n");
}

#[test]
fn a_run_can_reach_neither_pid_1_nor_the_zygote() {
    if !available(TIER) {
        return;
    }
    let code = "import ctypes, os\n\
        C = ctypes.CDLL(None, use_errno=True)\n\
        def tried(f):\n\
        \x20   try: return f()\n\
        \x20   except OSError as e: return type(e).__name__\n\
        for name in 'mem', 'maps', 'environ', 'fd', 'root', 'cwd', 'exe', 'ns/user', 'map_files':\n\
        \x20   path = f'/proc/1/{name}'\n\
        \x20   said = [tried(lambda: os.open(path, os.O_RDONLY) and os.listdir(path)),\n\
        \x20           tried(lambda: os.open(path, os.O_RDWR)), tried(lambda: os.readlink(path))]\n\
        \x20   if any(type(one) is not str or 'Error' not in one for one in said): print(name, said)\n\
        for number in range(1, 65):\n\
        \x20   tried(lambda: os.kill(1, number))\n\
        print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()), os.getpid(), os.getppid())\n\
        print(os.listdir('/proc/self/task'), open('/proc/1/comm').read().strip() != '')";
    let out = output_of(&new_pool(), code, &raw_policy(TIER));
    assert_eq!(out, "[1, 2] 2 1\n['2'] True\n");
}

#[test]
fn seeds_differ_from_run_to_run() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let mut policy = raw_policy(TIER);
    policy.limits.memory_mb = 1024;
    let code = "import numpy, os, random, tempfile, uuid\n\
        print(random.random(), numpy.random.random(), numpy.random.default_rng().random(),\n\
        tempfile.mktemp(), uuid.uuid4(), os.urandom(8).hex(), random.SystemRandom().random())";
    let words = || -> Vec<String> {
        let mut spec = spec(code, policy.clone());
        spec.env = pandas();
        let outcome = begin_warm(&pool, spec).finish();
        assert_eq!(outcome.run().error, None, "{outcome:?}");
        outcome.run().stdout.split(' ').map(str::to_owned).collect()
    };
    let (one, other) = (words(), words());
    assert_eq!(one.len(), 7);
    for (a, b) in one.iter().zip(&other) {
        assert_ne!(a, b);
    }
}

/// The output of a run, and how many runs the pool's zygote has served.
fn run_and_count(pool: &Arc<Pool>, spec: RunSpec) -> (String, u32) {
    let before = pool.runs(&spec);
    let outcome = begin_in(Some(pool.clone()), spec.clone(), Default::default()).finish();
    let out = outcome.run().stdout.clone();
    (out, pool.runs(&spec).saturating_sub(before))
}

/// Nobody requests a slot afterwards, but the end is noticed anyway.
#[test]
fn a_zygote_that_is_killed_between_runs_leaves_nothing() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let spec = || spec("print(1)", raw_policy(TIER));
    assert!(pool.await_slot(&spec()));
    let folder = pool.folder(&spec()).unwrap();
    let helper = pool.helpers(&spec())[0];
    let owner = crate::sandbox::cgroup::Owner::of(helper).unwrap();
    let below = procfs::descendants(helper).unwrap();
    let pidfds: Vec<_> = below.iter().map(|p| raw::pidfd_open(p.pid)).collect();
    assert!(folder.exists() && !below.is_empty());
    let pidfd = raw::pidfd_open(helper).unwrap();
    raw::pidfd_signal(pidfd.as_fd(), nix::sys::signal::Signal::SIGKILL).unwrap();
    for pidfd in pidfds.into_iter().flatten() {
        let mut fds = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        assert!(poll(&mut fds, PollTimeout::from(60_000u16)).unwrap() > 0);
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let groups = || crate::child::groups_of(owner);
    while folder.exists() || !groups().is_empty() || !pool.helpers(&spec()).is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", groups());
        std::thread::yield_now();
    }
}

#[test]
fn a_zygote_that_is_gone_costs_a_cold_start_and_no_run() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let spec = || spec("print(1)", raw_policy(TIER));
    // The first run of its kind finds no zygote and has one made.
    assert_eq!(run_and_count(&pool, spec()), ("1\n".to_owned(), 0));
    assert!(pool.await_slot(&spec()));
    assert_eq!(run_and_count(&pool, spec()), ("1\n".to_owned(), 1));

    let kill = |pid: i32| {
        let pidfd = raw::pidfd_open(pid).unwrap();
        raw::pidfd_signal(pidfd.as_fd(), nix::sys::signal::Signal::SIGKILL).unwrap();
        let mut fds = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        assert!(poll(&mut fds, PollTimeout::from(60_000u16)).unwrap() > 0);
    };
    // Kills the interpreter with the libraries: waiting slots still work, but no new ones come.
    assert!(pool.await_slot(&spec()));
    let helper = pool.helpers(&spec())[0];
    let below = procfs::descendants(helper).unwrap();
    let init = below.iter().find(|p| p.parent == helper).unwrap().pid;
    let zygote = below
        .iter()
        .filter(|p| p.parent == init)
        .min_by_key(|p| p.started)
        .unwrap()
        .pid;
    kill(zygote);
    for _ in 0..4 {
        assert_eq!(run_and_count(&pool, spec()).0, "1\n");
    }

    // Kills the helper, and with it everything it keeps, even an offered slot.
    let pool = new_pool();
    assert!(pool.await_slot(&spec()));
    let folder = pool.folder(&spec()).unwrap();
    assert!(folder.exists());
    kill(pool.helpers(&spec())[0]);
    assert_eq!(run_and_count(&pool, spec()).0, "1\n");
    assert_eq!(run_and_count(&pool, spec()).0, "1\n");
    // Offered slots are tried first; then its end is known and its folder removed.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while folder.exists() {
        assert!(std::time::Instant::now() < deadline, "its folder is left");
        assert_eq!(run_and_count(&pool, spec()).0, "1\n");
    }
}

#[test]
fn a_zygote_serves_one_policy_and_is_replaced_when_anything_changed() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let before = spec("print(1)", raw_policy(TIER));
    assert!(pool.await_slot(&before));
    let held = begin_in(Some(pool.clone()), before.clone(), Default::default());
    assert!(matches!(held.next(), ExecNote::Prepared(_)));

    let mut policy = raw_policy(TIER);
    policy.limits.wall_s += 1;
    let changed = spec("print(2)", policy.clone());
    assert!(pool.take(&changed).is_none());
    assert!(pool.await_slot(&changed));
    assert_eq!((pool.helpers(&before), pool.count()), (Vec::new(), 1));
    // A run that was under way with the old one goes on.
    assert_eq!(held.finish().run().stdout, "1\n");

    let mut updated = changed.clone();
    let mut env = (*updated.env).clone();
    env.digest = crate::model::Digest::of(b"another");
    updated.env = Arc::new(env);
    assert!(pool.take(&updated).is_none());
    assert!(pool.await_slot(&updated));
    assert_eq!((pool.helpers(&changed), pool.count()), (Vec::new(), 1));

    // Another policy has another zygote beside it.
    policy.name = "other".to_owned();
    let other = spec("print(3)", policy);
    assert!(pool.take(&other).is_none());
    assert!(pool.await_slot(&other));
    assert_eq!(pool.count(), 2);
    assert_ne!(pool.helpers(&other), pool.helpers(&updated));
}

#[test]
fn a_mere_proposal_replaces_no_zygote() {
    if !available(TIER) {
        return;
    }
    let pool = new_pool();
    let spec_named = |name: &str| {
        let mut policy = raw_policy(TIER);
        policy.name = name.to_owned();
        spec("print(1)", policy)
    };
    let kept: Vec<_> = ["a", "b", "c", "d"].map(spec_named).into();
    for spec in &kept {
        assert!(pool.await_slot(spec));
    }
    pool.proposed(&spec_named("e"));
    // Wishes are handled in order: when this zygote exists, the other wish was handled.
    assert!(pool.await_slot(&spec_named("f")));
    let is_kept = |spec: &RunSpec| !pool.helpers(spec).is_empty();
    assert_eq!(pool.count(), 4);
    assert!(!is_kept(&spec_named("e")) && is_kept(&spec_named("f")));
    assert!(!is_kept(&kept[0]) && kept[1..].iter().all(is_kept));
}

#[test]
fn a_zygote_ends_after_its_runs_and_when_nobody_uses_it() {
    if !available(TIER) {
        return;
    }
    let long = std::time::Duration::from_secs(3600);
    let pool = Arc::new(Pool::short_lived(exe(), 2, long));
    let spec = spec("print(1)", raw_policy(TIER));
    assert!(pool.await_slot(&spec));
    let first = pool.helpers(&spec);
    assert_eq!(run_and_count(&pool, spec.clone()), ("1\n".to_owned(), 1));
    assert!(pool.await_slot(&spec));
    assert_eq!(pool.helpers(&spec), first);
    run_and_count(&pool, spec.clone());
    assert_ne!(pool.helpers(&spec), first);
    assert!(pool.await_slot(&spec));
    assert_ne!(pool.helpers(&spec), first);

    // Long enough to be observed between two turns of this thread on a busy machine.
    let pool = Pool::short_lived(exe(), 2, std::time::Duration::from_secs(1));
    pool.want(&spec);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let mut was_there = false;
    while std::time::Instant::now() < deadline && !(was_there && pool.count() == 0) {
        was_there |= pool.count() == 1;
        std::thread::yield_now();
    }
    assert!(was_there && pool.count() == 0);
}

#[test]
fn a_python_that_cannot_be_warm_starts_cold() {
    if !available(TIER) {
        return;
    }
    let (_folder, env) = without_ctypes();
    let mut spec = spec("print(1)", raw_policy(TIER));
    spec.env = env;
    let error = try_through(exe().as_fd(), (*spec.env).clone()).unwrap_err();
    assert!(error.contains("none here"), "{error}");
    let pool = new_pool();
    assert!(!pool.await_slot(&spec));
    assert_eq!(run_and_count(&pool, spec), ("1\n".to_owned(), 0));
}
