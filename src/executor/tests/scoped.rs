//! The contract `scoped`, rows D1 to D4, in the real child.

use serde_json::{Value, json};

use crate::executor::tests::bench::*;
use crate::model::{Run, RunErrorKind, StreamName};

const SECRET: &str = "hunter2-pässword/9";

fn run_with(code: &str, inputs: Value) -> Outcome {
    let requests = serde_json::from_value(inputs).unwrap();
    let inputs = crate::executor::bind(&requests, &Default::default()).unwrap();
    run_spec(with_inputs(code, profile("scoped"), inputs))
}

fn run(code: &str) -> Outcome {
    run_with(code, json!({}))
}

fn run_of(outcome: &Outcome) -> &Run {
    assert_eq!(outcome.run().error, None, "{:?}", outcome.run());
    outcome.run()
}

fn refusal_of(code: &str) -> String {
    let error = run(code).run().error.clone().unwrap();
    assert_eq!(
        error.kind,
        RunErrorKind::PolicyViolation,
        "{code}: {error:?}"
    );
    error.message
}

#[test]
fn d1_names_are_looked_up_in_order_and_nothing_else_has_a_meaning() {
    // First the snippet's own names, then the core functions, then the listed builtins.
    let outcome = run(
        "def len(x): return 'mine'\nlog('core', 'info')\nprint(len([1]), sum([1, 2]), abs(-5))",
    );
    assert_eq!(run_of(&outcome).stdout, "mine 3 5\n");
    assert_eq!(
        outcome.run().result["log"],
        json!([{"level": "info", "message": "core"}])
    );
    for name in [
        "eval",
        "exec",
        "compile",
        "__import__",
        "open",
        "input",
        "globals",
        "locals",
        "vars",
        "dir",
        "getattr",
        "setattr",
        "delattr",
        "hasattr",
        "nothing_of_this_name",
    ] {
        let message = refusal_of(&format!("print('ran')\nx = {name}"));
        assert!(message.contains(name), "{name}: {message}");
    }
    for code in ["import math", "class A: pass", "().__class__", "open('x')"] {
        refusal_of(code);
    }
}

#[test]
fn d1_the_level_of_the_log_is_the_snippets_to_set() {
    let code = "print(log_level())\nlog('one', 'debug')\nprint(log_level('warn'))\n\
        log('two')\nlog('three', 'warning')\nlog('four', 'error')\n\
        try:\n    log_level('loud')\nexcept ValueError as e:\n    print(e)\n";
    let outcome = run(code);
    let run = run_of(&outcome);
    assert_eq!(
        run.stdout,
        "debug\nwarn\nlog takes the levels debug, info, warn, warning, error\n"
    );
    assert_eq!(run.stderr, "debug: one\nwarning: three\nerror: four\n");
    assert_eq!(run.result["log"].as_array().map(Vec::len), Some(3));
}

/// Snippets of the other system use this name in their handlers: it catches what is raised for it,
/// but nothing that the guard ends.
#[test]
fn d1_a_security_error_can_be_named_and_catches_nothing_that_is_ended() {
    let outcome = run("try:\n    reason('why?')\nexcept SecurityError as e:\n    print(e)\n");
    let stdout = &run_of(&outcome).stdout;
    assert!(
        stdout.starts_with("reason() would ask a language model") && stdout.contains("`public`"),
        "{stdout}"
    );
    let outcome = run("x = reason('why?')\n");
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(
        error.exception.as_deref(),
        Some("SecurityError"),
        "{error:?}"
    );
    let outcome = run(
        "try:\n    system.profile = 'mine'\nexcept SecurityError:\n    print('caught')\nprint('went on')\n",
    );
    let run = outcome.run();
    let error = run
        .error
        .as_ref()
        .expect("a refusal of the contract ends the run");
    assert_eq!(error.kind, RunErrorKind::PolicyViolation, "{run:?}");
    assert_eq!(run.stdout, "");
}

#[test]
fn d2_private_values_are_readable_and_never_disclosed() {
    let code = "private.key = 'hunter2-pässword/9'\n\
        private['pin'] = 493817\n\
        k = private.key\n\
        print('have', private.key, 'and', private['pin'], len(k), 'pin' in private)\n\
        log(f'Processing with secret: {private.key}', 'info')\n";
    let outcome = run(code);
    let run = run_of(&outcome);
    assert_eq!(
        run.stdout, "have [REDACTED] and [REDACTED] 18 True\n",
        "{run:?}"
    );
    assert_eq!(run.stderr, "info: Processing with secret: [REDACTED]\n");
    assert_eq!(
        run.result["log"][0]["message"],
        "Processing with secret: [REDACTED]"
    );
}

#[test]
fn d4_a_refusal_of_the_guard_discloses_nothing_private_and_keeps_the_output() {
    let code = "private.key = 'hunter2-pässword/9'\n\
        print('said', private.key, end='')\n\
        ('{0.' + 'real}').format(1)\n";
    let outcome = run(code);
    let run = outcome.run();
    let error = run.error.as_ref().expect("the guard refuses it");
    assert_eq!(error.kind, RunErrorKind::PolicyViolation, "{run:?}");
    assert_eq!(run.stdout, "said [REDACTED]", "{run:?}");
    assert!(!run.events.is_empty());
    assert_secret_nowhere(&outcome);
}

/// Checks that no output of the child contains any part of the secret.
fn assert_secret_nowhere(outcome: &Outcome) {
    let run = outcome.run();
    let streamed = outcome.streamed(StreamName::Stdout) + &outcome.streamed(StreamName::Stderr);
    let all = format!(
        "{streamed}{}{}{:?}{}",
        run.stdout, run.stderr, run.error, run.result
    );
    let squeezed: String = all.split_whitespace().collect();
    for part in [
        "hunter2",
        "pässword",
        "p\\xe4ssword",
        "2retnuh",
        "HUNTER2",
        "68756e74",
    ] {
        assert!(
            !all.contains(part) && !squeezed.contains(part),
            "{part} in {all}"
        );
    }
    // The middle of its base64 form, at each of the three alignments.
    for shift in ["aHVudGVyMi1", "h1bnRlcjItc", "odW50ZXIyL"] {
        assert!(!all.contains(shift), "{shift} in {all}");
    }
    assert!(all.contains("[REDACTED]"), "{all}");
}

#[test]
fn d4_private_values_appear_nowhere_outside() {
    let inputs =
        || json!({"private": {"json": {"key": SECRET, "list": [{"deep": "hunter2-deep"}]}}});
    for code in [
        "print(private.key)",
        "print('<' + private.key + '>', f'{private.key!r}', [private.key])",
        "print(private.key.upper(), private.key[::-1])",
        "for c in private.key: print(c, end='')",
        "for c in private.key: print(c)",
        "print(' '.join(private.key))",
        "print(private.key[:9], end='')\nprint(private.key[9:])",
        "print(private.key.encode().hex())",
        "print(private['list'])",
        "log(private.key, 'error')",
        "raise ValueError('no ' + private.key)",
        "x = {}\nx[private.key]",
        "held = private['list']\nheld.append('hunter2-later')\nprint(held)",
        "private.other = 'hunter2-x'\nk = private.other\ndel private.other\nprint(k)",
    ] {
        assert_secret_nowhere(&run_with(code, inputs()));
    }
    // The profile has no module for base64, so the code computes it, at each alignment.
    let encode = "digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'\n\
        def coded(raw):\n\
        \x20   bits = ''.join(format(b, '08b') for b in raw)\n\
        \x20   bits += '0' * (-len(bits) % 6)\n\
        \x20   return ''.join(digits[int(bits[i:i + 6], 2)] for i in range(0, len(bits), 6))\n\
        for pad in ['', 'x', 'xy']: print(coded((pad + private.key).encode()))\n";
    let encode = encode.replace("format(b, '08b')", "f'{b:08b}'");
    assert_secret_nowhere(&run_with(&encode, inputs()));
}

/// Below the names in `private`, keys are data, including keys that the snippet adds.
#[test]
fn d4_keys_inside_private_are_values() {
    let inputs = || {
        json!({"private": {"json": {
            "patients": {"hunter2-Xyqz": {"hunter2-diagnosis": 12}},
            "rows": [{"hunter2-deep": [{"hunter2-deeper": true}]}],
        }}})
    };
    for code in [
        "for k in private.patients:\n    print(k, list(private.patients[k]))",
        "for k in private.patients:\n    log(k)",
        "print(private.patients, private.rows)",
        "print([list(row) for row in private['rows']])",
        "x = {}\nx[list(private.patients)[0]]",
        "raise ValueError(list(private.patients)[0])",
        "private.own = {'hunter2-own': 1}\nfor k in private.own: print(k)",
        "private.own = {'hunter2-own': 1}\nk = list(private.own)[0]\ndel private.own\nprint(k)",
        "private.own = {('hunter2-own', 7): {'hunter2-in': None}}\nprint(private.own)",
        "held = private.patients\nheld['hunter2-late'] = {'hunter2-later': 1}\nprint(held)",
        "k = list(private.patients)[0]\nlog('x' * 1990 + k)\nraise ValueError('x' * 1990 + k)",
    ] {
        assert_secret_nowhere(&run_with(code, inputs()));
    }
    for code in [
        "public.x = list(private.patients)[0]",
        "public.x = {k: 1 for k in private.patients}",
        "public[list(private.patients)[0]] = 1",
    ] {
        let outcome = run_with(code, inputs());
        let error = outcome.run().error.clone().unwrap();
        assert_eq!(error.kind, RunErrorKind::PolicyViolation, "{code}");
        assert!(
            !format!("{:?}", outcome.run()).contains("hunter2"),
            "{code}"
        );
    }
    // The names in `private` are in the code for everybody to read.
    let outcome = run_with("print('patients' in private, 'patients')", inputs());
    assert_eq!(run_of(&outcome).stdout, "True patients\n");
    // Short keys are hidden where they stand alone, like short values.
    let outcome = run("private.x = {'ab': 1, 'c': 2, 'no': 3}\nprint('ab nothing cab c', 'no')");
    assert_eq!(
        run_of(&outcome).stdout,
        "[REDACTED] nothing cab c [REDACTED]\n"
    );
}

/// A private value or key may equal a key of the result itself.
#[test]
fn d4_hiding_leaves_the_results_own_keys_alone() {
    let outcome = run(
        "private.x = {'public': 'message', 'level': 'info', 'log': 'warning'}\n\
         public.a = 1\nlog('the message')\n",
    );
    let run = run_of(&outcome);
    assert_eq!(
        run.result,
        json!({"public": {"a": 1}, "log": [{"level": "info", "message": "the [REDACTED]"}]}),
    );
}

#[test]
fn d2_public_takes_plain_json_and_nothing_private() {
    let outcome = run(
        "public.shared = {'theme': 'dark', 'n': [1, 2.5, None, True]}\n\
         public['gone'] = 1\ndel public.gone\nprint(public.shared['theme'], 'shared' in public)",
    );
    let run = run_of(&outcome);
    assert_eq!(run.stdout, "dark True\n");
    assert_eq!(
        run.result["public"],
        json!({"shared": {"theme": "dark", "n": [1, 2.5, null, true]}})
    );
    let outcome = run_with(
        "public.count = public.count + 1\nprint(public.count)",
        json!({}),
    );
    assert_eq!(
        outcome.run().error.clone().unwrap().exception.as_deref(),
        Some("AttributeError")
    );
    let outcome = self::run("public.x = {1, 2}");
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(error.exception.as_deref(), Some("TypeError"));
    assert!(
        error.message.contains("`public` takes plain JSON"),
        "{error:?}"
    );
    for code in [
        "private.key = 'hunter2'\npublic.key = private.key",
        "private.key = 'hunter2'\npublic.key = ['is ' + private.key]",
        "private.pin = 493817\npublic.pin = private.pin",
        "private.key = 'hunter2'\ntry: public.key = private.key\nexcept Exception: pass",
        "private.key = 'hunter2'\npublic.l = []\npublic.l.append(private.key)",
    ] {
        let message = refusal_of(code);
        assert!(
            message.contains("`private`") && message.contains("`public`"),
            "{message}"
        );
    }
}

#[test]
fn d2_system_is_read_only_and_local_is_each_calls_own() {
    let outcome = run_with(
        "print(system.profile, system.limits['wall_s'], system.inputs['cfg']['k'])\n\
         copy = system.inputs\ncopy['cfg'] = 0\nprint(system.inputs['cfg']['k'])\n\
         def f(n):\n    local.x = n\n    if n: f(n - 1)\n    return [local.x for _ in range(2)]\n\
         print(f(2))\nlocal.top = 1\n\
         def g(): return 'x' in local, 'top' in local\nprint(g(), local.top)",
        json!({"cfg": {"json": {"k": 7}}}),
    );
    assert_eq!(
        run_of(&outcome).stdout,
        "scoped 180 7\n7\n[2, 2]\n(False, False) 1\n"
    );
    for code in [
        "system.x = 1",
        "system['profile'] = 1",
        "del system.profile",
        "try: system.x = 1\nexcept: pass",
    ] {
        let message = refusal_of(code);
        assert!(
            message.contains("the scope `system` is read only"),
            "{message}"
        );
    }
}

#[test]
fn d3_a_later_run_sees_nothing_of_an_earlier_ones_private_values() {
    let first = run("private.secret_key = 'abc123'\npublic.status = 'active'\nlocal.temp = 1");
    let left = run_of(&first).result["public"].clone();
    // The values that the broker binds for the session's next run.
    let outcome = run_with(
        "print('secret_key' in private, len(private), public.status, 'temp' in local)",
        json!({"public": {"json": left}}),
    );
    assert_eq!(run_of(&outcome).stdout, "False 0 active False\n");
    let outcome = run("private.secret_key");
    let error = outcome.run().error.clone().unwrap();
    assert!(
        error.message.contains("`private` has no `secret_key`"),
        "{error:?}"
    );
}

#[test]
fn d2_a_scope_cannot_be_taken_apart() {
    for code in [
        "private._values",
        "private._secrets",
        "public._left()",
        "private.__dict__",
        "log.__self__",
        "f'{private._values}'",
        "'{0._values}'.format(private)",
    ] {
        refusal_of(code);
    }
}

#[test]
fn d4_hiding_leaves_other_text_alone() {
    let outcome =
        run("private.n = 7\nprivate.a = 'x'\nprivate.two = 'no'\nprint('7 x nothing no')");
    assert_eq!(run_of(&outcome).stdout, "7 x nothing [REDACTED]\n");
}

#[test]
fn d5_a_scope_crossing_is_an_event_that_tells_nothing_private() {
    let outcome = run("private.key = 'hunter2'\npublic[private.key] = 1\nprint('after')");
    let run = outcome.run();
    assert_eq!(
        run.error.as_ref().unwrap().kind,
        RunErrorKind::PolicyViolation
    );
    let crossings: Vec<_> = run.events.iter().filter(|e| e.kind == "scope").collect();
    assert_eq!(crossings.len(), 1, "{:?}", run.events);
    assert!(crossings[0].message.contains("`public`"), "{crossings:?}");
    assert!(!format!("{run:?}").contains("hunter2"), "{run:?}");
}

/// The lines, kinds and messages of the events.
fn events(run: &Run) -> Vec<(Option<u32>, &str, &str)> {
    let outcome = run.events.iter();
    outcome
        .map(|e| (e.line, e.kind.as_str(), e.message.as_str()))
        .collect()
}

/// The counts of allowed and blocked accesses of a scope.
fn access_counts(run: &Run, scope: &str) -> (u64, u64) {
    let found = run.accesses.get(scope);
    let found = found.unwrap_or_else(|| panic!("no access is counted: {run:?}"));
    (found.allowed, found.blocked)
}

#[test]
fn d5_use_of_a_value_from_an_earlier_run_is_reported() {
    let code = "print(public.status)\nprint(public['status'])\npublic.status = 'done'\n\
        print(public.status)\ndel public.old\npublic.mine = 1\nprint(public.mine, 'n' in public)\n";
    let outcome = run_with(
        code,
        json!({"public": {"json": {"status": "active", "old": 1, "n": 1}}}),
    );
    let run = run_of(&outcome);
    assert_eq!(
        events(run),
        [
            (
                Some(1),
                "crossing",
                "public.status from before this run: read"
            ),
            (
                Some(3),
                "crossing",
                "public.status from before this run: replaced"
            ),
            (
                Some(5),
                "crossing",
                "public.old from before this run: removed"
            ),
        ]
    );
    assert_eq!(access_counts(run, "public"), (8, 0));
    assert_eq!(access_counts(run, "private"), (0, 0));
}

#[test]
fn d5_a_read_of_another_contexts_value_is_blocked_and_reported() {
    let code = "try:\n    private.secret_key\nexcept SecurityError as e:\n    print(e)\n\
        try:\n    private['pin']\nexcept KeyError:\n    print('as an item')\n\
        local.top = 1\n\
        def f():\n    try:\n        return local.top\n    except SecurityError:\n        return 'of this call'\n\
        print(f())\n";
    let outcome = run(code);
    let run = run_of(&outcome);
    let message = "the scope `private` has no `secret_key`: it holds this run's own names, and no \
                other's is reached";
    assert_eq!(run.stdout, format!("{message}\nas an item\nof this call\n"));
    let outcome: Vec<_> = run.events.iter().map(|e| (e.line, &e.kind[..])).collect();
    assert_eq!(
        outcome,
        [(Some(2), "scope"), (Some(6), "scope"), (Some(12), "scope")],
        "{:?}",
        run.events
    );
    assert_eq!(run.events[0].message, message);
    assert!(run.events[2].message.contains("this call's own names"));
    assert_eq!(access_counts(run, "private"), (0, 2));
    assert_eq!(access_counts(run, "local"), (1, 1));
    // Without a handler, it ends the run with its own error.
    let outcome = self::run("private.secret_key");
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(error.exception.as_deref(), Some("SecurityError"));
    assert_eq!(access_counts(outcome.run(), "private"), (0, 1));
}

#[test]
fn d5_accesses_are_counted_by_scope_however_the_run_ends() {
    let before = "private.k = 'hunter2'\nk = private.k\npublic.n = system.profile\n\
        log('one')\nlog('two', 'error')\n\
        try:\n    public.s = {1}\nexcept TypeError:\n    pass\n\
        try:\n    reason('why?')\nexcept SecurityError:\n    pass\n";
    let ends = [
        ("", (2, 1), (1, 0), None),
        (
            "system.x = 1",
            (2, 1),
            (1, 1),
            Some(RunErrorKind::PolicyViolation),
        ),
        (
            "public.k = k",
            (2, 2),
            (1, 0),
            Some(RunErrorKind::PolicyViolation),
        ),
        ("1 / 0", (2, 1), (1, 0), Some(RunErrorKind::SnippetError)),
    ];
    for (end, public, system, error) in ends {
        let outcome = run(&format!("{before}public.m = 1\n{end}\n"));
        let run = outcome.run();
        assert_eq!(run.error.as_ref().map(|e| e.kind), error, "{end}: {run:?}");
        assert_eq!(access_counts(run, "private"), (2, 0), "{end}");
        assert_eq!(access_counts(run, "public"), public, "{end}");
        assert_eq!(access_counts(run, "system"), system, "{end}");
        assert_eq!(access_counts(run, "local"), (0, 0), "{end}");
        assert_eq!(access_counts(run, "functions"), (2, 1), "{end}");
        // Each blocked access is reported with its line.
        let blocked: u64 = run.accesses.values().map(|counts| counts.blocked).sum();
        assert_eq!(run.events.len() as u64, blocked, "{end}: {:?}", run.events);
        assert!(run.events.iter().all(|e| e.line.is_some()), "{end}");
    }
}

#[test]
fn d5_the_counts_of_a_stopped_run_are_reported() {
    let mut policy = profile("scoped");
    policy.limits.wall_s = 3;
    let code = "private.k = 1\nwhile True: pass";
    let outcome = run_spec(with_inputs(code, policy, Vec::new()));
    let run = outcome.run();
    assert_eq!(run.limit, Some(crate::model::LimitKind::Wall), "{run:?}");
    assert_eq!(access_counts(run, "private"), (1, 0));
}

#[test]
fn d5_many_crossings_leave_room_for_what_comes_after_them() {
    let names: serde_json::Map<_, _> = (0..200).map(|n| (format!("n{n}"), json!(n))).collect();
    let code = "for n in public: public[n]\n\
        for n in range(200):\n    try:\n        private[str(n)]\n    except KeyError: pass\n\
        system.x = 1\n";
    let outcome = run_with(code, json!({"public": {"json": names}}));
    let run = outcome.run();
    assert_eq!(access_counts(run, "public"), (201, 0));
    assert_eq!(access_counts(run, "private"), (0, 200));
    assert_eq!(run.events.len(), 33, "{:?}", run.events);
    let count = |kind: &str| run.events.iter().filter(|e| e.kind == kind).count();
    assert_eq!(
        (count("crossing"), count("scope"), count("more")),
        (16, 17, 0)
    );
    assert!(run.events.iter().any(|e| e.message.contains("read only")));
}

#[test]
fn d5_the_event_of_a_crossing_discloses_nothing_private() {
    let outcome = run(
        "private.key = 'hunter2-pässword/9'\ntry:\n    private[private.key]\nexcept KeyError: pass\n\
         print(private.key)\n",
    );
    let run = run_of(&outcome);
    assert_eq!(run.events.len(), 1, "{:?}", run.events);
    assert!(run.events[0].message.contains("[REDACTED]"));
    assert!(!format!("{run:?}").contains("hunter2"), "{run:?}");
}

#[test]
fn d5_other_profiles_count_nothing() {
    let outcome = run_spec(spec("print(1)", policy(crate::model::Tier::Process)));
    let json = serde_json::to_value(run_of(&outcome)).unwrap();
    assert_eq!(json.get("accesses"), None, "{json}");
}
