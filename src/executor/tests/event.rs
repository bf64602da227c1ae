//! Each gate reports a refusal as an event of the right kind on the run, with the line.

use serde_json::json;

use crate::executor::tests::bench::*;
use crate::model::{Run, RunErrorKind, Tier};
use crate::policy::Policy;

fn events_of(run: &Run) -> Vec<(&str, Option<u32>)> {
    let events = run.events.iter();
    events.map(|e| (e.kind.as_str(), e.line)).collect()
}

/// Under `analysis`: the gate, the code whose line 2 is refused, the kind of the event, and its
/// message.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    (
        "attribute, as it is written",
        "x = 1\nx.__class__",
        "refused",
        "__class__",
    ),
    (
        "attribute, by name",
        "n = '__cl' + 'ass__'\ngetattr(n, n)",
        "refused",
        "__class__",
    ),
    (
        "attribute, asked for",
        "n = '__sub' + 'classes__'\nhasattr(n, n)",
        "refused",
        "__subclasses__",
    ),
    (
        "attribute, set by name",
        "n = '__co' + 'de__'\nsetattr(n, n, 1)",
        "refused",
        "__code__",
    ),
    (
        "attribute, deleted by name",
        "n = '__di' + 'ct__'\ndelattr(n, n)",
        "refused",
        "__dict__",
    ),
    (
        "attribute, private",
        "import decimal\ndecimal.Decimal(1)._exp",
        "refused",
        "_exp",
    ),
    (
        "attribute, of a pattern",
        "import json\nmatch json:\n    case object(decoder=d): pass",
        "refused",
        "json.decoder",
    ),
    ("target", "import math\nmath.pi = 3", "refused", "module"),
    (
        "target, deleted",
        "import math\ndel math.pi",
        "refused",
        "module",
    ),
    (
        "target, augmented",
        "import math\nmath.tau += 1",
        "refused",
        "module",
    ),
    (
        "target, of a loop",
        "import math\nfor math.pi in [3]: pass",
        "refused",
        "module",
    ),
    (
        "import",
        "x = 1\nimport subprocess",
        "refused",
        "module subprocess",
    ),
    (
        "from-import",
        "x = 1\nfrom json import decoder",
        "refused",
        "json.decoder",
    ),
    (
        "member of a module",
        "import json\n[json][0].decoder",
        "refused",
        "json.decoder",
    ),
    ("builtin", "x = 1\neval('1')", "refused", "eval"),
    (
        "builtin, by load",
        "x = 1\nlist(map(eval, ['1']))",
        "refused",
        "eval",
    ),
    ("format", "x = '{0.real}'\nx.format(1)", "refused", "format"),
    (
        "format, from a mapping",
        "x = '{a.real}'\nx.format_map({'a': 1})",
        "refused",
        "format",
    ),
    ("reserved name", "x = 1\n__spec__", "refused", "__spec__"),
    (
        "bound in a class",
        "x = 1\nclass A:\n    __class_getitem__ = 1",
        "refused",
        "__class_getitem__",
    ),
    ("type", "t = type\nt(lambda: 0)(1)", "refused", "function"),
    (
        "type, with three arguments",
        "t = type\nt('X', (), {})",
        "refused",
        "three",
    ),
    (
        "class of classes",
        "t = type\nclass M(t): pass",
        "refused",
        "class of classes",
    ),
    ("open", "x = 1\nopen('/etc/passwd')", "files", "/etc/passwd"),
    (
        "open, for writing",
        "x = 1\nopen('../x', 'w')",
        "files",
        "../x",
    ),
    ("open, a descriptor", "x = 1\nopen(4, 'w')", "files", "int"),
];

#[test]
fn d5_every_gates_refusal_is_an_event_of_its_kind() {
    for (gate, code, kind, part) in REFUSED {
        let mut policy = profile("analysis");
        policy
            .builtins
            .extend(["setattr", "delattr"].map(str::to_owned));
        let outcome = run_spec(spec(code, policy));
        let run = outcome.run();
        let line = if *gate == "attribute, of a pattern" || *gate == "bound in a class" {
            3
        } else {
            2
        };
        let found: Vec<_> = events_of(run)
            .into_iter()
            .filter(|(_, at)| at.is_none_or(|at| at <= line))
            .collect();
        assert!(!found.is_empty(), "{gate}: {run:?}");
        assert!(
            found.iter().all(|(seen, at)| seen == kind && at.is_some()),
            "{gate}: {run:?}"
        );
        assert!(run.events[0].message.contains(part), "{gate}: {run:?}");
        // The guard ends the run; a missing file is an ordinary error of the snippet.
        let expected = match *kind {
            "files" => RunErrorKind::SnippetError,
            _ => RunErrorKind::PolicyViolation,
        };
        let error = run.error.as_ref().map(|e| e.kind);
        assert_eq!(error, Some(expected), "{gate}: {run:?}");
    }
}

/// Refused actions of libraries are reported, whether their errors are caught or not.
#[test]
fn d5_a_refusal_to_a_library_is_an_event_even_if_the_snippet_goes_on() {
    for (code, kind, part) in [
        (
            "t = pd.DataFrame({'a': [1]})\ntry: t.to_csv('/tmp/x.csv')\nexcept Exception: print('on')",
            "files",
            "/tmp/x.csv",
        ),
        (
            "x = 1\ntry: pd.read_csv('/etc/passwd')\nexcept Exception: print('on')",
            "files",
            "/etc/passwd",
        ),
        (
            "import pyarrow.parquet as pq\ntry: pq.read_table('/etc/passwd')\nexcept Exception: print('on')",
            "files",
            "/etc/passwd",
        ),
        (
            "x = 1\ntry: pd.read_csv('http://127.0.0.1:9/x.csv')\nexcept Exception: print('on')",
            "system",
            "urllib",
        ),
    ] {
        let outcome = run_profile(profile("analysis"), code, json!({}));
        let run = outcome.run();
        assert_eq!(run.stdout, "on\n", "{code}: {run:?}");
        let first = &run.events[0];
        assert_eq!(
            (first.kind.as_str(), first.line),
            (kind, Some(2)),
            "{code}: {run:?}"
        );
        assert!(first.message.contains(part), "{code}: {run:?}");
    }
    let code = "t = pd.DataFrame({'a': [1]})\nt.query('a.__class__ == 1')";
    let outcome = run_profile(profile("analysis"), code, json!({}));
    assert_eq!(events_of(outcome.run()), [("text", Some(2))], "{outcome:?}");
}

/// Under `walled` and `scoped`: limits, files in memory, scopes, names.
#[test]
fn d5_limits_and_scopes_are_events() {
    let walled = |change: &dyn Fn(&mut Policy)| {
        let mut policy = profile("walled");
        policy.builtins.insert("open".to_owned());
        change(&mut policy);
        policy
    };
    let scoped = || profile("scoped");
    for (policy, code, kind) in [
        (
            walled(&|policy| policy.limits.ticks = 1000),
            "x = 1\nwhile True: pass",
            "limit",
        ),
        (
            walled(&|policy| policy.limits.memory_mb = 64),
            "x = 'a'\nwhile True: x += x",
            "limit",
        ),
        (walled(&|_| {}), "x = 1\nopen('/etc/passwd')", "files"),
        (walled(&|_| {}), "x = 1\nopen('../b', 'w')", "files"),
        (scoped(), "x = 1\nsystem.profile = x", "scope"),
        (
            scoped(),
            "private.x = 'hunter2'\npublic.x = private.x",
            "scope",
        ),
        (scoped(), "x = 1\nunknown", "refused"),
    ] {
        let outcome = run_spec(spec(code, policy));
        let run = outcome.run();
        assert_eq!(events_of(run), [(kind, Some(2))], "{code}: {run:?}");
        assert!(!run.events[0].message.contains("hunter2"), "{run:?}");
    }
}

/// Caught limits under `analysis`: the case, its code, the line of the limit, and a part of the
/// message.
const CAUGHT: &[(&str, &str, u32, &str)] = &[
    (
        "a file's size, in the snippet",
        "f = open('x', 'w')\ntry:\n    f.write('a' * 3_000_000)\nexcept OSError: print('on')",
        3,
        "large",
    ),
    (
        "with `finally` and a bare `except`",
        "f = open('x', 'wb', 0)\ntry:\n    try:\n        f.truncate(3_000_000)\n    finally: pass\nexcept: print('on')",
        4,
        "large",
    ),
    (
        "with `suppress`",
        "import contextlib\nwith contextlib.suppress(Exception), open('x', 'wb') as f:\n    f.write(b'a' * 3_000_000)\nprint('on')",
        3,
        "large",
    ),
    (
        "in a group",
        "f = open('x', 'wb', 0)\ntry:\n    try: f.truncate(3_000_000)\n    except OSError as e: raise ExceptionGroup('g', [e])\nexcept* OSError: print('on')",
        3,
        "large",
    ),
    (
        "lost by the interpreter, as the file is let go",
        "open('x', 'wb').truncate(2 ** 20)\nopen('x', 'a').write('one more')\nprint('on')",
        2,
        "large",
    ),
    (
        "pandas",
        "t = pd.DataFrame({'a': range(400_000)})\ntry:\n    t.to_csv('t.csv')\nexcept Exception: print('on')",
        3,
        "large",
    ),
    (
        "pyarrow, in compiled code",
        "t = pd.DataFrame({'a': np.random.rand(400_000)})\ntry:\n    t.to_parquet('t.parquet')\nexcept Exception: print('on')",
        3,
        "large",
    ),
    (
        "numpy, in compiled code",
        "t = np.random.rand(400_000)\ntry:\n    np.save('t.npy', t)\nexcept Exception: print('on')",
        3,
        "large",
    ),
    (
        "matplotlib",
        "import matplotlib.pyplot as plt\nplt.figimage(np.random.rand(900, 900))\ntry:\n    plt.savefig('p.png', dpi=200)\nexcept Exception: plt.close()\nprint('on')",
        4,
        "large",
    ),
    (
        "open files",
        "held = []\ntry:\n    while True: held.append(open('x', 'r' if held else 'w'))\nexcept OSError: print('on')",
        3,
        "open files",
    ),
    (
        "open files, of a library",
        "open('x', 'w').write('a')\nheld = []\ntry:\n    while True: held.append(pd.read_csv('x', iterator=True))\nexcept OSError: print('on')",
        4,
        "open files",
    ),
    (
        "threads of a library",
        "from sklearn.ensemble import RandomForestRegressor\ntry:\n    RandomForestRegressor(n_jobs=40).fit([[1], [2]], [1, 2])\nexcept Exception: print('on')",
        3,
        "processes",
    ),
    (
        "figures",
        "import matplotlib.pyplot as plt\ntry:\n    for i in range(4):\n        plt.figure()\n        plt.show()\nexcept Exception: plt.close()\nprint('on')",
        5,
        "figures",
    ),
];

#[test]
fn d5_a_limit_is_an_event_even_where_its_error_is_caught() {
    let mut failures = Vec::new();
    for (which, code, line, part) in CAUGHT {
        let mut policy = profile("analysis");
        policy.limits.file_size_mb = 1;
        policy.limits.open_files = 40;
        policy.limits.processes = 8;
        policy.limits.artifacts = 3;
        let outcome = run_profile(policy, code, json!({}));
        let run = outcome.run();
        let reported = run.events.iter().any(|e| e.message.contains(part));
        let once = events_of(run) == [("limit", Some(*line))];
        // The run went on: no limit ended it.
        if !reported || !once || run.stdout != "on\n" || run.limit.is_some() {
            failures.push(format!("{which}: {run:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The same for a full folder, which is a file system of its own only in this tier.
#[test]
fn d5_a_full_folder_is_an_event_even_where_its_error_is_caught() {
    if !available(Tier::Kernel) {
        return;
    }
    let fill =
        "try: [open(f'{i}', 'wb').write(b'a' * 2 ** 20) for i in range(20)]\nexcept OSError: pass";
    for code in [
        "try:\n    open('x', 'wb').write(b'a' * 9999)\nexcept OSError: pass",
        "if True:\n    open('x', 'w').write('lost')",
        "try:\n    pd.DataFrame({'a': range(9999)}).to_csv('t.csv')\nexcept OSError: pass",
        "try:\n    pd.DataFrame({'a': range(9999)}).to_parquet('t.parquet')\nexcept OSError: pass",
    ] {
        let mut policy = profile("analysis");
        policy.tier = Tier::Kernel;
        policy.limits.file_size_mb = 1;
        let outcome = run_profile(policy, &format!("{fill}\n{code}"), json!({}));
        let run = outcome.run();
        assert_eq!(run.error, None, "{code}: {run:?}");
        let expected = [("limit", Some(1)), ("limit", Some(4))];
        assert_eq!(events_of(run), expected, "{code}: {run:?}");
        assert!(run.events[1].message.contains("space"), "{code}: {run:?}");
    }
}

/// A caught limit does not hide another one that ends the run from outside.
#[test]
fn d5_the_limit_that_ends_a_run_is_reported_beside_a_caught_one() {
    let mut policy = profile("walled");
    policy.builtins.insert("open".to_owned());
    policy.limits.file_size_mb = 1;
    let code =
        "try: open('x', 'wb').write(b'a' * 2 ** 21)\nexcept OSError: pass\nsum(range(10 ** 15))";
    // Increases the wall limit: on a busy machine the snippet may not run in the first seconds.
    let outcome = [2, 5, 30].into_iter().map(|wall_s| {
        policy.limits.wall_s = wall_s;
        run_spec(spec(code, policy.clone()))
    });
    let outcome = { outcome }
        .find(|outcome| outcome.run().events.len() > 1)
        .unwrap();
    let words: Vec<_> = outcome.run().events.iter().map(|e| &e.message).collect();
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(
        words[0].contains("files limit") && words[1].contains("wall limit"),
        "{words:?}"
    );
}

/// Honest code leaves no event, although its libraries look for missing files.
#[test]
fn honest_work_leaves_no_event() {
    let code = "import matplotlib.pyplot as plt\nt = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})\n\
                t.plot(x='a', y='b')\nplt.savefig('p.png')\nt.to_csv('t.csv')\n\
                t.to_parquet('t.parquet')\nprint(len(pd.read_csv('t.csv')), pd.Timestamp.now('Europe/Rome').year > 0)\n\
                open('n.txt', 'w').write('x')";
    let outcome = run_profile(profile("analysis"), code, json!({}));
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!(run.events, [], "{run:?}");
}
