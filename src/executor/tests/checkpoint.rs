//! Checks how runs are ended from inside or outside, the events they leave, the comparison of the
//! two parsers, and files that are only in memory.

use super::TIER;
use crate::broker::ExecNote;
use crate::executor::bind;
use crate::executor::tests::bench::*;
use crate::model::{Exit, LimitKind, RunErrorKind, Tier};

fn walled_policy(ticks: u64) -> crate::policy::Policy {
    let mut policy = profile("walled");
    policy.tier = TIER;
    policy.limits.ticks = ticks;
    policy
}

fn kinds(run: &crate::model::Run) -> Vec<&str> {
    run.events.iter().map(|e| e.kind.as_str()).collect()
}

#[test]
fn s3_each_checkpoint_has_its_own_typed_error() {
    let outcome = run_spec(spec(
        "n = 0\nwhile True:\n    n += 1",
        walled_policy(100_000),
    ));
    let run = outcome.run();
    let error = run.error.as_ref().unwrap();
    assert_eq!(error.kind, RunErrorKind::TickLimit, "{run:?}");
    assert_eq!(run.limit, Some(LimitKind::Ticks));
    assert_eq!((error.line, kinds(run)), (Some(2), vec!["limit"]));

    let run = &run_until_timeout("print('on')\nwhile True: pass", &walled_policy(0));
    assert_eq!(
        error_of(run),
        Some((RunErrorKind::Timeout, Some(2))),
        "{run:?}"
    );
    assert_eq!((run.stdout.as_str(), kinds(run)), ("on\n", vec!["limit"]));
    assert_eq!(run.events[0].line, Some(2));

    let grow = "x = 'a'\ntry:\n    while True: x += x\nexcept Exception: print('caught')";
    let outcome = run_spec(spec(grow, walled_policy(0)));
    let run = outcome.run();
    let kind = run.error.as_ref().map(|e| e.kind);
    assert_eq!(kind, Some(RunErrorKind::MemoryLimit), "{run:?}");
    assert_eq!(
        (run.stdout.as_str(), run.limit),
        ("", Some(LimitKind::Memory))
    );

    let run = run_until_cancelled("print('on')\nwhile True: pass", &walled_policy(0));
    let (kind, line) = error_of(&run).unwrap();
    assert_eq!(
        (kind, line.is_some()),
        (RunErrorKind::Cancelled, true),
        "{run:?}"
    );
}

/// The guard has a tenth of a second to report its line, and on a busy machine a process may not
/// run for that long, so several runs are tried. A guard that never reports is still noticed.
fn first_with_line(runs: impl Iterator<Item = crate::model::Run>) -> crate::model::Run {
    let mut last = None;
    for run in runs {
        let (_, line) = error_of(&run).unwrap();
        if line.is_some() && run.stdout == "on\n" {
            return run;
        }
        last = Some(run);
    }
    panic!("no run reported its line: {last:?}");
}

/// A run that the wall clock ended; the limit is increased until the line is reported.
fn run_until_timeout(code: &str, policy: &crate::policy::Policy) -> crate::model::Run {
    first_with_line([1, 1, 3, 10, 30].into_iter().map(|wall_s| {
        let mut policy = policy.clone();
        policy.limits.wall_s = wall_s;
        run_spec(spec(code, policy)).run().clone()
    }))
}

/// A run that the reviewer ended.
fn run_until_cancelled(code: &str, policy: &crate::policy::Policy) -> crate::model::Run {
    first_with_line((0..20).map(|_| run_and_cancel(code, policy.clone())))
}

/// The kind and the line of the error.
fn error_of(run: &crate::model::Run) -> Option<(RunErrorKind, Option<u32>)> {
    run.error.as_ref().map(|e| (e.kind, e.line))
}

/// A run that is killed by the reviewer once it has printed something.
fn run_and_cancel(code: &str, policy: crate::policy::Policy) -> crate::model::Run {
    let live = begin(spec(code, policy), Default::default());
    live.control.release();
    while !matches!(live.next(), ExecNote::Output { .. }) {}
    live.control.kill();
    loop {
        match live.next() {
            ExecNote::Ended(run) => break *run,
            ExecNote::Failed { message } => panic!("{message}"),
            _ => {}
        }
    }
}

#[test]
fn s3_neither_cancel_nor_the_wall_clock_can_be_caught() {
    for code in [
        "print('on')\ntry:\n    while True: pass\nexcept Exception: print('caught')",
        "print('on')\ntry:\n    while True: pass\nfinally: print('caught')",
        "print('on')\ndef f():\n    try:\n        while True: yield\n    finally: print('caught')\nfor i in f(): pass",
        "print('on')\nclass A:\n    def __eq__(s, o):\n        while True: pass\ntry: A() in [A()]\nexcept: print('caught')",
    ] {
        let runs = [
            (
                RunErrorKind::Timeout,
                run_until_timeout(code, &walled_policy(0)),
            ),
            (
                RunErrorKind::Cancelled,
                run_until_cancelled(code, &walled_policy(0)),
            ),
        ];
        for (kind, run) in runs {
            let (met, _) = error_of(&run).unwrap();
            assert_eq!(
                (met, run.stdout.as_str()),
                (kind, "on\n"),
                "{code}: {run:?}"
            );
            assert_eq!(run.exit, Exit::Signal("SIGKILL".to_owned()), "{code}");
        }
    }
}

/// The code reaches no checkpoint; the clock and the kill from outside need none.
#[test]
fn a_snippet_without_checkpoints_is_ended_too() {
    let code = "print('on')\nsum(range(10 ** 15))";
    // On a busy machine the time limit may end the first line.
    let ended = [1, 3, 10, 30].into_iter().map(|wall_s| {
        let mut policy = walled_policy(0);
        policy.limits.wall_s = wall_s;
        error_of(run_spec(spec(code, policy)).run())
    });
    let mut inside = ended.filter(|met| *met == Some((RunErrorKind::Timeout, None)));
    assert!(inside.next().is_some());
    let run = run_and_cancel(code, walled_policy(0));
    assert_eq!(
        error_of(&run).unwrap().0,
        RunErrorKind::Cancelled,
        "{run:?}"
    );
}

#[test]
fn checkpoints_work_inside_the_jail_too() {
    if !available(Tier::Kernel) {
        return;
    }
    let mut policy = walled_policy(0);
    policy.tier = Tier::Kernel;
    let code = "print('on')\nwhile True: pass";
    let run = run_until_cancelled(code, &policy);
    assert_eq!(error_of(&run).unwrap().0, RunErrorKind::Cancelled);
    let run = run_until_timeout(code, &policy);
    assert_eq!(error_of(&run), Some((RunErrorKind::Timeout, Some(2))));
}

/// Native code that replaced the guard can neither end a run by its report nor keep it running.
#[test]
fn a_time_out_claimed_by_native_code_is_ignored() {
    let outcome = run_spec(spec(
        "import os\nos.write(4, b'{\"error\":{\"type\":\"Timeout\",\"message\":\"\",\"line\":7,\"exception\":null,\"limit\":\"wall\"}}\\n')\nos._exit(1)",
        raw_policy(TIER),
    ));
    let kind = outcome.run().error.as_ref().map(|e| e.kind);
    assert_eq!(kind, Some(RunErrorKind::SandboxError), "{outcome:?}");
}

#[test]
fn d5_a_refusal_of_the_guard_is_an_event_with_its_line() {
    let outcome = run_spec(spec(
        "x = 1\ntry:\n    getattr(x, '__cl' + 'ass__')\nexcept Exception:\n    pass",
        policy(TIER),
    ));
    let run = outcome.run();
    assert_eq!(run.events.len(), 1, "{run:?}");
    let event = &run.events[0];
    assert_eq!((event.kind.as_str(), event.line), ("refused", Some(3)));
    assert_eq!(event.message, "the attribute __class__ is not allowed");
    let outcome = run_spec(spec("print(1)", policy(TIER)));
    assert!(outcome.run().events.is_empty());
}

#[test]
fn code_that_cpython_reads_differently_does_not_run() {
    let facts = crate::analysis::outline::facts_of;
    for (shown, seen) in [
        ("print('a')", "print('b')"),
        ("x = 1\nprint(x)", "y = 1\nprint(y)"),
    ] {
        let mut spec = spec(shown, policy(TIER));
        spec.facts = facts(seen);
        let outcome = run_spec(spec);
        let run = outcome.run();
        let kind = run.error.as_ref().map(|e| e.kind);
        assert_eq!(kind, Some(RunErrorKind::PolicyViolation), "{run:?}");
        assert_eq!((run.stdout.as_str(), kinds(run)), ("", vec!["facts"]));
    }
}

#[test]
fn s5_a_virtual_file_system_is_there_when_the_policy_grants_one() {
    let inputs = || {
        let inputs = serde_json::json!({"notes": {"json": ["é"]}});
        bind(
            &serde_json::from_value(inputs).unwrap(),
            &Default::default(),
        )
        .unwrap()
    };
    let code = "with open('a.txt', 'w') as f: print('one', file=f)\n\
                print(open('a.txt').read(), open('notes').read(), notes)";
    let outcome = run_spec(with_inputs(code, walled_policy(0), inputs()));
    let kind = outcome.run().error.as_ref().map(|e| e.kind);
    assert_eq!(kind, Some(RunErrorKind::PolicyViolation));
    let mut policy = walled_policy(0);
    policy.builtins.insert("open".to_owned());
    let outcome = run_spec(with_inputs(code, policy, inputs()));
    let run = outcome.run();
    assert_eq!(run.stdout, "one\n [\"é\"] ['é']\n", "{run:?}");
}

#[test]
fn s2_classes_decorators_generators_async_match_and_dataclasses_work_under_walled() {
    let code = r#"
from __future__ import annotations
from dataclasses import dataclass, field

@dataclass(order=True)
class Point:
    x: int
    tags: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.x += 1

def twice(f):
    def inner(*args, **kwargs):
        return f(*args, **kwargs) * 2
    return inner

class Shape:
    count = 0
    def __init__(self, side):
        self._side = side
        Shape.count += 1
    @property
    def side(self):
        return self._side
    @staticmethod
    @twice
    def two():
        return 1
    @classmethod
    def make(cls, side):
        return cls(side)

class Square(Shape):
    def area(self):
        return super().side ** 2

def numbers():
    got = yield 1
    yield from (got, got + 1)

class Counting:
    def __init__(self, n):
        self.n = n
    def __aiter__(self):
        return self
    async def __anext__(self):
        if not self.n:
            raise StopAsyncIteration
        self.n -= 1
        return self.n
    async def __aenter__(self):
        return self
    async def __aexit__(self, *error):
        print("left")

async def main():
    async with Counting(3) as counting:
        return [n async for n in counting]

def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value

print("first")
print(Point(1), Point(1) < Point(2), Square.make(3).area(), Shape.two(), Shape.count)
g = numbers()
print(next(g), g.send(5), next(g), run(main()))
match {"at": Point(4, ["a"])}:
    case {"at": Point(x=5, tags=[first])}:
        print("match", first)
print("last")
"#;
    let outcome = run_spec(spec(code, walled_policy(10_000)));
    let run = outcome.run();
    let expected = "first\nPoint(x=2, tags=[]) True 9 2 1\nleft\n1 5 6 [2, 1, 0]\nmatch a\nlast\n";
    assert_eq!(
        (run.stdout.as_str(), &run.error),
        (expected, &None),
        "{run:?}"
    );
}
