//! Runs can be ended at every stage and with the dashboard, and leave nothing.

use super::{TIER, WARM, begin, run_spec};
use crate::broker::ExecNote;
use crate::child::{groups_of, remove_stale};
use crate::executor::tests::bench::*;
use crate::model::{Exit, RunErrorKind, Tier};
use crate::sandbox::cgroup::Owner;

fn run_unguarded(code: &str) -> Outcome {
    run_spec(spec(code, raw_policy(TIER)))
}

/// The folder of a run that printed its HOME reversed, which avoids the redaction.
fn reported_folder(stdout: &str) -> String {
    let home: String = stdout.lines().next().unwrap().chars().rev().collect();
    home.trim_end_matches("/home").to_owned()
}

const TELL: &str = "print(os.environ['HOME'][::-1], flush=True)\n";

fn assert_nothing_is_left(mark: &str, stdout: &str) {
    assert_eq!(processes_marked(mark), Vec::<i32>::new());
    let folder = reported_folder(stdout);
    if TIER == Tier::Process {
        assert!(folder.contains("countersign-run-"), "{folder}");
        assert!(!std::path::Path::new(&folder).exists(), "{folder}");
    } else {
        assert_eq!(folder, "/scratch");
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains("countersign-run-"), "{mounts}");
}

#[test]
fn nothing_survives_its_run() {
    if !available(TIER) {
        return;
    }
    for code in [
        // Leaves the group, the session and the parent, ignores every signal and closes all
        // descriptors.
        "import signal, time\n\
         for i in range(5):\n\
         \x20   if os.fork() == 0:\n\
         \x20       os.setsid()\n\
         \x20       if os.fork(): os._exit(0)\n\
         \x20       for s in range(1, 65):\n\
         \x20           try: signal.signal(s, signal.SIG_IGN)\n\
         \x20           except (OSError, ValueError): pass\n\
         \x20       os.closerange(0, 60)\n\
         \x20       time.sleep(600)\n\
         time.sleep(0.2)",
        // Still forks when its first process ends.
        "if os.fork():\n\
         \x20   os._exit(0)\n\
         while True:\n\
         \x20   try:\n\
         \x20       if os.fork(): os._exit(0)\n\
         \x20   except OSError: pass",
        // Has a name that is not valid text.
        "import time\n\
         if os.fork() == 0:\n\
         \x20   name = b'\\xff' + open('/proc/self/comm', 'rb').read().strip()\n\
         \x20   ctypes.CDLL(None).prctl(15, name, 0, 0, 0)\n\
         \x20   os.setsid()\n\
         \x20   os.closerange(0, 60)\n\
         \x20   time.sleep(600)\n\
         time.sleep(0.2)",
        // Is stopped instead of dead.
        "import signal\nif os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)",
        // Leaves files and folders that are hard to remove.
        "os.makedirs('a/b')\nopen('a/b/c', 'w').close()\nos.chmod('a/b', 0)\nos.mkfifo('f')\n\
         os.symlink('/etc', 'e')\n\
         for i in range(300):\n\x20   os.mkdir('d')\n\x20   os.chdir('d')",
    ] {
        let (mark, code) = marked(&format!("{TELL}{code}"));
        let outcome = run_unguarded(&code);
        assert_nothing_is_left(&mark, &outcome.run().stdout);
    }
}

/// A process that kills the run as its user can briefly be stopped by the run.
#[test]
fn a_run_that_stops_its_killers_is_killed_nevertheless() {
    if !available(TIER) {
        return;
    }
    if TIER == Tier::Process && !nix::unistd::geteuid().is_root() {
        is_given_to_root(false, "user of its own: the run would stop this test");
        return;
    }
    for _ in 0..30 {
        let (mark, code) = marked(&format!(
            "{TELL}import signal\n\
             first = os.getpid()\n\
             if os.fork(): os._exit(0)\n\
             while os.getppid() == first: pass\n\
             while True:\n\
             \x20   try: os.kill(-1, signal.SIGSTOP)\n\
             \x20   except OSError: pass"
        ));
        let outcome = run_unguarded(&code);
        assert_nothing_is_left(&mark, &outcome.run().stdout);
    }
}

#[test]
fn a_kill_ends_a_run_at_every_stage() {
    if !available(TIER) {
        return;
    }
    // Kills before anything was started.
    let live = begin(spec("print(1)", raw_policy(TIER)), Default::default());
    live.control.kill();
    let outcome = live.finish();
    let error = outcome.run().error.as_ref().unwrap();
    assert_eq!(error.kind, RunErrorKind::Cancelled);
    assert_eq!(outcome.run().stdout, "");

    // Kills while the run is held.
    let live = begin(spec("print(1)", raw_policy(TIER)), Default::default());
    assert!(matches!(live.next(), ExecNote::Prepared(_)));
    live.control.kill();
    live.control.release();
    let outcome = live.finish();
    assert_eq!(outcome.run().stdout, "");
    assert_eq!(outcome.notes.len(), 1, "{outcome:?}");

    // Kills twice while the run goes on.
    let (mark, code) = marked(&format!("{TELL}import time\ntime.sleep(600)"));
    let live = begin(spec(&code, raw_policy(TIER)), Default::default());
    assert!(matches!(live.next(), ExecNote::Prepared(_)));
    live.control.release();
    assert!(matches!(live.next(), ExecNote::Released));
    let ExecNote::Output { text, .. } = live.next() else {
        panic!("no output");
    };
    live.control.kill();
    live.control.kill();
    let outcome = live.finish();
    let run = outcome.run();
    assert_eq!(run.error.as_ref().unwrap().kind, RunErrorKind::Cancelled);
    assert_eq!(run.exit, Exit::Signal("SIGKILL".to_owned()));
    assert_nothing_is_left(&mark, &text);
}

#[test]
fn a_folder_that_its_run_closed_is_collected_nevertheless() {
    if !available(TIER) {
        return;
    }
    let outcome =
        run_unguarded("import os\nopen('a.txt', 'w').write('one')\nos.chmod('.', 0)\nprint('on')");
    let run = outcome.run();
    assert_eq!(
        (&run.error, run.stdout.as_str()),
        (&None, "on\n"),
        "{run:?}"
    );
    assert_eq!(run.artifacts[0].name, "a.txt");
}

#[test]
fn nothing_untrusted_is_read_before_the_release() {
    if !available(TIER) {
        return;
    }
    let live = begin(spec("print(1)", raw_policy(TIER)), Default::default());
    assert!(matches!(live.next(), ExecNote::Prepared(_)));
    // The child is held until somebody releases it, so no note comes.
    assert!(
        live.notes
            .recv_timeout(std::time::Duration::from_millis(300))
            .is_err()
    );
    assert_eq!(live.finish().run().stdout, "1\n");
}

#[test]
fn dropping_the_control_kills() {
    if !available(TIER) {
        return;
    }
    let live = begin(
        spec("import time\ntime.sleep(600)", raw_policy(TIER)),
        Default::default(),
    );
    assert!(matches!(live.next(), ExecNote::Prepared(_)));
    live.control.release();
    assert!(matches!(live.next(), ExecNote::Released));
    let Live { control, notes } = live;
    drop(control);
    let last = notes.iter().last().unwrap();
    let ExecNote::Ended(run) = last else {
        panic!("{last:?}")
    };
    assert_eq!(run.error.unwrap().kind, RunErrorKind::Cancelled);
}

/// A payload that has forked, its mark, and whether it is in a control group.
fn begin_forked(exe: std::sync::Arc<std::os::fd::OwnedFd>) -> (Live, String, i32, bool) {
    let (mark, code) = marked("import time\nos.fork()\nprint('up', flush=True)\ntime.sleep(600)");
    // Uses its own zygote, because the runs of others would end with it.
    let mut policy = raw_policy(TIER);
    policy.limits.wall_s += 1;
    let spec = spec(&code, policy);
    let live = match WARM {
        true => begin(spec, Default::default()),
        false => begin_through(exe, spec, Default::default()),
    };
    live.control.release();
    let mut message = String::new();
    let mut grouped = false;
    while message != "up\nup\n" {
        match live.next() {
            ExecNote::Output { text, .. } => message.push_str(&text),
            ExecNote::Prepared(found) => grouped = found.layers.iter().any(|l| l == "cgroup"),
            _ => {}
        }
    }
    let payload = first_marked(&mark);
    (live, mark, payload, grouped)
}

/// The processes that supervise a run from the machine's side. In tier `process` there are two; the
/// one that the dashboard started is last.
fn helpers(payload: i32, dashboard: i32) -> Vec<i32> {
    match TIER {
        Tier::Process => helpers_of(payload, dashboard),
        _ => vec![helper_of(payload, dashboard)],
    }
}

#[test]
fn a_helper_killed_with_9_takes_everything_with_it() {
    if !available(TIER) {
        return;
    }
    let own_pid = std::process::id() as i32;
    let count = match TIER {
        Tier::Process => 2,
        _ => 1,
    };
    for which in 0..count {
        // With and without a control group, through which leftovers can be found.
        for off in [&[][..], &["cgroup"]] {
            if WARM && !off.is_empty() {
                continue;
            }
            let (live, mark, payload, grouped) = begin_forked(match off {
                [] => exe(),
                off => crate::executor::tests::entry::exe_without(off),
            });
            let owner = Owner::of(helper_of(payload, own_pid)).unwrap();
            assert_eq!(!groups_of(owner).is_empty(), grouped);
            kill(helpers(payload, own_pid)[which]);
            let outcome = live.finish();
            let expected = match which {
                1 => "was killed",
                _ => "without a word",
            };
            assert!(outcome.failure().contains(expected), "{outcome:?}");
            gone(&mark);
            await_groups_removed(owner);
        }
    }
}

#[test]
fn an_ordinary_users_helper_takes_everything_with_it_too() {
    let (_, module) = module_path!().split_once("::").unwrap();
    as_an_ordinary_user(&[
        &format!("{module}::a_helper_killed_with_9_takes_everything_with_it"),
        &format!("{module}::a_dashboard_killed_with_9_takes_everything_with_it"),
        &format!("{module}::a_folder_that_its_run_closed_is_collected_nevertheless"),
        &format!("{module}::nothing_survives_its_run"),
    ]);
}

/// Waits, because a thread of the pool reaps a zygote's helper.
fn await_groups_removed(owner: Owner) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while !groups_of(owner).is_empty() {
        assert!(
            std::time::Instant::now() < deadline,
            "{:?}",
            groups_of(owner)
        );
        std::thread::yield_now();
    }
}

#[test]
fn leftovers_without_a_survivor_are_removed_at_the_next_start_but_live_runs_stay() {
    if !available(TIER) || WARM {
        return;
    }
    let (mut dashboard, _folder, mark) = dashboard("");
    let dashboard_pid = dashboard.id() as i32;
    let payload = first_marked(&mark);
    let owner = Owner::of(helper_of(payload, dashboard_pid)).unwrap();
    let groups = groups_of(owner);
    // Each would clean up after the other, so both are stopped first.
    let helpers = helpers(payload, dashboard_pid);
    for pid in helpers.iter().chain([&dashboard_pid]) {
        signal(*pid, nix::sys::signal::Signal::SIGSTOP);
    }
    helpers.into_iter().for_each(kill);
    dashboard.kill().unwrap();
    dashboard.wait().unwrap();

    let (live, mine, payload, _) = begin_forked(exe());
    let own = Owner::of(helper_of(payload, std::process::id() as i32)).unwrap();
    let kept = groups_of(own);
    remove_stale();
    assert_eq!(groups_of(owner), Vec::<std::path::PathBuf>::new());
    assert_eq!(groups_of(own), kept);
    live.control.kill();
    let outcome = live.finish();
    let error = outcome.run().error.as_ref().unwrap();
    assert_eq!(error.kind, RunErrorKind::Cancelled, "{outcome:?}");
    gone(&mine);
    if !is_given_to_root(!groups.is_empty(), "control group can be made") {
        // The tier does not guarantee this case: a fork then outlives all three.
        processes_marked(&mark).into_iter().for_each(end);
    }
    gone(&mark);
}

/// Kills the process if it still exists.
fn end(pid: i32) {
    let pid = nix::unistd::Pid::from_raw(pid);
    let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
}

fn kill(pid: i32) {
    signal(pid, nix::sys::signal::Signal::SIGKILL);
}

fn signal(pid: i32, signal: nix::sys::signal::Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
}

/// The marked process that is the ancestor of the others.
fn first_marked(mark: &str) -> i32 {
    let all = processes_marked(mark);
    let parent = |pid: i32| crate::sandbox::procfs::stat(pid).unwrap().parent;
    all.iter()
        .copied()
        .find(|pid| !all.contains(&parent(*pid)))
        .unwrap()
}

/// Set in the process that the next test starts and kills; names the layers to leave off.
const VICTIM: &str = "CS_TEST_VICTIM";

/// The dashboard that the next test kills; does nothing without that test.
#[test]
fn a_dashboard_to_be_killed() {
    let Ok(off) = std::env::var(VICTIM) else {
        return;
    };
    let exe = match off.as_str() {
        "" => exe(),
        off => crate::executor::tests::entry::exe_without(&[off]),
    };
    let (mark, code) = marked("import time\nos.fork()\nprint('up', flush=True)\ntime.sleep(600)");
    let live = begin_through(exe, spec(&code, raw_policy(TIER)), Default::default());
    live.control.release();
    let mut message = String::new();
    loop {
        if let ExecNote::Output { text, .. } = live.next() {
            message.push_str(&text);
        }
        // Waits for both: a process that later finds its pipe broken would end by itself.
        if message == "up\nup\n" {
            println!("\nmark {mark}");
        }
    }
}

#[test]
fn a_dashboard_killed_with_9_takes_everything_with_it() {
    if !available(TIER) {
        return;
    }
    let (mut dashboard, folder, mark) = dashboard("");
    let runs = || runs_in(folder.path());
    assert_eq!((processes_marked(&mark).len(), runs()), (2, 1));
    dashboard.kill().unwrap();
    dashboard.wait().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while std::time::Instant::now() < deadline && runs() > 0 {
        std::thread::yield_now();
    }
    assert_eq!((processes_marked(&mark).len(), runs()), (0, 0));
}

/// Shows the effect of the two links to the dashboard: without the lifeline its death is not
/// noticed, and without the parent-death signal that of a helper is not.
#[test]
fn a_run_without_its_links_to_the_dashboard_outlives_it() {
    if !available(TIER) {
        return;
    }
    let (mut dashboard, _folder, mark) = dashboard("lifeline");
    let payload = first_marked(&mark);
    let helper = helpers(payload, dashboard.id() as i32)[0];
    dashboard.kill().unwrap();
    dashboard.wait().unwrap();
    // Meanwhile the helper has checked its links repeatedly, and the child is still there.
    let check_count = || {
        let status = crate::sandbox::procfs::Status::read(helper).unwrap();
        status
            .get("voluntary_ctxt_switches")
            .parse::<u64>()
            .unwrap()
    };
    let before = check_count();
    while check_count() < before + 10 {
        std::thread::yield_now();
    }
    let survivors = processes_marked(&mark);
    assert_eq!(survivors.len(), 2);
    kill(helper);
    gone(&mark);

    let (mark, code) = marked("import time\nprint('up', flush=True)\ntime.sleep(600)");
    let exe = crate::executor::tests::entry::exe_without(&["pdeathsig", "cgroup"]);
    let live = begin_through(exe, spec(&code, raw_policy(TIER)), Default::default());
    live.control.release();
    while !matches!(live.next(), ExecNote::Output { .. }) {}
    let payload = processes_marked(&mark)[0];
    let helpers = helpers(payload, std::process::id() as i32);
    for pid in &helpers {
        // Two helpers would watch each other, so one is stopped.
        signal(*pid, nix::sys::signal::Signal::SIGSTOP);
    }
    helpers.into_iter().for_each(kill);
    // The helper's end was noticed and it is reaped, so a signal would have been sent by now.
    live.finish().failure();
    assert_eq!(processes_marked(&mark), [payload]);
    kill(payload);
    gone(&mark);
}

fn runs_in(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with("countersign-run-")
        })
        .count()
}

/// A process with a run that prints its mark, and the folder of that run.
fn dashboard(off: &str) -> (std::process::Child, tempfile::TempDir, String) {
    use std::io::BufRead;
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = module_path!().split_once("::").unwrap();
    let mut dashboard = std::process::Command::new(std::env::current_exe().unwrap())
        .arg(format!("{path}::a_dashboard_to_be_killed"))
        .args(["--exact", "--nocapture"])
        .env(VICTIM, off)
        .env("TMPDIR", folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mark = std::io::BufReader::new(dashboard.stdout.take().unwrap())
        .lines()
        .find_map(|line| line.unwrap().strip_prefix("mark ").map(str::to_owned))
        .unwrap();
    (dashboard, folder, mark)
}

#[test]
fn concurrent_runs_stay_separate() {
    if !available(TIER) {
        return;
    }
    let mut policy = raw_policy(TIER);
    // One process each: a user shared with another run would leave none.
    policy.limits.processes = 1;
    let lives: Vec<_> = (0..8)
        .map(|i| {
            let code = format!("import os, time\nprint(os.getuid(), {i})");
            begin(spec(&code, policy.clone()), Default::default())
        })
        .collect();
    // No run ends before each of them has its user.
    for live in &lives {
        assert!(matches!(live.next(), ExecNote::Prepared(_)));
    }
    let mut users = std::collections::BTreeSet::new();
    for (i, live) in lives.into_iter().enumerate() {
        let outcome = live.finish();
        let (uid, number) = outcome.run().stdout.trim().split_once(' ').unwrap();
        assert_eq!(number, i.to_string());
        users.insert(uid.to_owned());
    }
    // Warm runs share one user but have separate user namespaces.
    if nix::unistd::Uid::effective().is_root() && !WARM {
        assert_eq!(users.len(), 8);
    }
}
