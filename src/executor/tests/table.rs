//! Runs the table of attacks against the real child of this tier, as the current user and as an
//! ordinary one.

use super::{TIER, run_spec};
use crate::executor::tests::attack_table::{self, Attack, Meets, compare, met, table};
use crate::executor::tests::bench::*;
use crate::model::{Limits, Tier};
use crate::policy::Policy;

fn root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

/// The table's entry for this tier and this user.
fn entry_of(attack: &Attack) -> &Meets {
    match (TIER, &attack.user) {
        (Tier::Kernel, _) => &attack.kernel,
        (_, Some(user)) if !root() => user,
        _ => &attack.process,
    }
}

/// Files in a run of an ordinary user belong to that user, on that user's own disk.
pub fn is_left_open(row: &attack_table::Run) -> bool {
    TIER == Tier::Process && !root() && row.leaves.is_some()
}

pub fn limited(limits: &std::collections::BTreeMap<String, u64>) -> Policy {
    let mut policy = raw_policy(TIER);
    let mut all = serde_json::to_value(policy.limits).unwrap();
    for (name, value) in limits {
        assert!(all.get(name).is_some(), "no limit is named {name}");
        all[name] = (*value).into();
    }
    policy.limits = serde_json::from_value::<Limits>(all).unwrap();
    policy
}

#[test]
fn s6_every_attack_meets_its_entry_in_the_table() {
    if available(TIER) {
        all_attacks();
    }
}

/// Runs every attack that ends with an errno, a signal or an exception, each in its own fork.
pub fn all_attacks() {
    let table = table();
    let targets = targets();
    let tried: Vec<&Attack> = table
        .attack
        .iter()
        .filter(|a| a.applies() && matches!(entry_of(a), Meets::Stopped { .. }))
        .collect();
    assert!(tried.len() > 20, "{}", tried.len());
    let outcome = run_spec(spec(&targets.snippet(&tried), raw_policy(TIER)));
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    let failures = compare(&tried, &met(&run.stdout), |attack| match entry_of(attack) {
        Meets::Stopped { meets, .. } => meets.clone(),
        Meets::Open { .. } | Meets::Skipped { .. } => Vec::new(),
    });
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_tier_lists_what_it_does_not_stop() {
    use std::os::fd::AsFd;
    if !available(TIER) {
        return;
    }
    let listed = crate::executor::preflight::look(TIER, exe().as_fd())
        .unwrap()
        .does_not_stop;
    for attack in &table().attack {
        if let Meets::Open { leaves } = entry_of(attack) {
            assert!(listed.contains(leaves), "{}: {leaves}", attack.name);
        }
    }
    for row in table().run.iter().filter(|row| is_left_open(row)) {
        assert!(
            listed.contains(row.leaves.as_ref().unwrap()),
            "{}",
            row.name
        );
    }
}

#[test]
fn every_run_of_the_table_ends_as_it_says_and_leaves_nothing_behind() {
    if !available(TIER) {
        return;
    }
    let table = table();
    // Runs two at a time, because most of them wait for a clock.
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(row) = table.run.get(at) else { return };
                    if !is_left_open(row) {
                        one_run(row);
                    }
                }
            });
        }
    });
}

pub fn one_run(row: &attack_table::Run) {
    let name = &row.name;
    let (mark, code) = marked(&row.code);
    let outcome = run_spec(spec(&code, limited(&row.limits)));
    let run = outcome.run();
    let report = serde_json::to_value(run).unwrap();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    if row.limit.as_deref() != Some("any") {
        assert_eq!(text(&report["limit"]), row.limit, "{name}: {run:?}");
    }
    if row.error.as_deref() == Some("any") {
        assert!(run.error.is_some(), "{name}: {run:?}");
    } else {
        assert_eq!(text(&report["error"]["type"]), row.error, "{name}: {run:?}");
    }
    if let Some(says) = &row.says {
        let message = text(&report["error"]["message"]).unwrap_or_default();
        assert!(message.contains(says.as_str()), "{name}: {message}");
    }
    assert_eq!(processes_marked(&mark), Vec::<i32>::new(), "{name}");
}

#[test]
fn ordinary_snippets_keep_working() {
    if !available(TIER) {
        return;
    }
    let code = r#"
import asyncio, concurrent.futures, hashlib, multiprocessing, os, random, socket, sqlite3
import sys, tempfile, threading, time, zoneinfo, datetime, shutil, pathlib

t = threading.Thread(target=lambda: print("thread", flush=True)); t.start(); t.join()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(abs, range(10))))
a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))
async def nap():
    await asyncio.sleep(0.001); return "async"
print(asyncio.run(nap()))

def square(x): return x * x
context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    print(pool.map(square, range(4)))
q = context.Queue(); p = context.Process(target=q.put, args=(7,)); p.start(); print(q.get()); p.join()

with open("a.txt", "w") as f: f.write("x" * 10)
os.rename("a.txt", "b.txt"); print(os.path.getsize("b.txt"))
pathlib.Path("d/e").mkdir(parents=True); shutil.copy("b.txt", "d/e"); shutil.rmtree("d")
with tempfile.TemporaryFile() as f: f.write(b"1"); f.seek(0); print(f.read())
db = sqlite3.connect("x.db"); db.execute("create table t(a)"); db.execute("insert into t values (1)"); db.commit()
print(db.execute("select * from t").fetchall())
print(hashlib.sha256(b"").hexdigest()[:8], random.random() < 1, time.time() > 0, len(os.urandom(3)))
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("UTC")).isoformat())
print(os.cpu_count() > 0, open("/dev/null").read() == "")
"#;
    let outcome = run_spec(spec(code, raw_policy(TIER)));
    let run = outcome.run();
    assert_eq!(run.error, None, "{}\n{run:?}", run.stderr);
    let expected = [
        "thread",
        "45",
        "b'x'",
        "async",
        "[0, 1, 4, 9]",
        "7",
        "10",
        "b'1'",
        "[(1,)]",
        "e3b0c442 True True 3",
        "2024-07-01T00:00:00+00:00",
        "True True",
    ];
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), expected, "{run:?}");
}

/// Runs the suite of this tier again as a user other than root.
#[test]
fn the_suite_passes_as_an_ordinary_user() {
    let (_, module) = module_path!().split_once("::").unwrap();
    as_an_ordinary_user(&[
        &format!("{module}::s6_every_attack_meets_its_entry_in_the_table"),
        &format!("{module}::a_tier_lists_what_it_does_not_stop"),
        &format!("{module}::every_run_of_the_table_ends_as_it_says_and_leaves_nothing_behind"),
        &format!("{module}::ordinary_snippets_keep_working"),
    ]);
}
