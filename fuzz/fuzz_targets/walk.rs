//! The whole verdict: the first byte chooses the policy, the rest is the snippet. Every location
//! lies inside the source; messages are short and hide nothing; the verdict follows from the
//! findings and is deterministic; no comment improves it.
#![no_main]

use countersign::analysis::analyse;
use countersign::model::{Action, Verdict, VerdictKind};
use countersign::policy::Policy;
use countersign_fuzz::{THREAD, is_hidden, on_stack, policies};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, code)) = data.split_first() else {
        return;
    };
    let policy = &policies()[usize::from(*choice) % policies().len()];
    on_stack(THREAD, || check(code, policy));
});

fn check(code: &[u8], policy: &Policy) {
    let verdict = analyse(code, policy);
    places(code, &verdict);
    words(&verdict);
    follows(&verdict, policy);
    let json = serde_json::to_string(&verdict).expect("JSON");
    let back: Verdict = serde_json::from_str(&json).expect("its own JSON");
    assert_eq!(back.findings, verdict.findings);

    let again = analyse(code, policy);
    assert_eq!(again.findings, verdict.findings, "not deterministic");
    assert_eq!(again.capabilities, verdict.capabilities);
    assert_eq!(again.verdict, verdict.verdict);

    // A backslash would join the comment to its line; a CR would become half of a line ending.
    if verdict.verdict != VerdictKind::Unanalyzable
        && !code.ends_with(b"\\")
        && !code.ends_with(b"\r")
    {
        let commented = [code, b"\n# nosec noqa type: ignore\n"].concat();
        assert!(
            analyse(&commented, policy).verdict >= verdict.verdict,
            "a comment betters the verdict"
        );
    }
}

fn places(code: &[u8], verdict: &Verdict) {
    let text = String::from_utf8_lossy(code);
    let lines: Vec<u32> = text
        .split('\n')
        .map(|line| u32::try_from(line.chars().count()).expect("a short line"))
        .collect();
    let inside = |line: u32, column: u32| {
        line >= 1
            && column >= 1
            && lines
                .get(line as usize - 1)
                .is_some_and(|length| column <= length + 1)
    };
    for f in &verdict.findings {
        // Text that is not UTF-8 has no columns, so findings point to the start.
        if std::str::from_utf8(code).is_err() {
            assert_eq!((f.line, f.column), (1, 1));
            continue;
        }
        assert!(inside(f.line, f.column), "{f:?}");
        assert!(inside(f.end_line, f.end_column), "{f:?}");
        assert!((f.line, f.column) <= (f.end_line, f.end_column), "{f:?}");
    }
    for used in &verdict.capabilities {
        assert!(used.lines.is_sorted(), "{used:?}");
        assert!(!used.lines.is_empty(), "{used:?}");
        assert!(used.lines.iter().all(|line| inside(*line, 1)), "{used:?}");
    }
}

fn words(verdict: &Verdict) {
    let findings = verdict.findings.iter().flat_map(|f| [&f.message, &f.hint]);
    let details = verdict.capabilities.iter().map(|used| &used.detail);
    for text in findings.chain(details) {
        assert!(!text.chars().any(is_hidden), "{text:?}");
        assert!(text.chars().count() < 600, "{text:?}");
        assert!(!text.is_empty());
    }
}

fn follows(verdict: &Verdict, policy: &Policy) {
    let fatal = verdict.findings.iter().any(|f| f.rule.starts_with("PARSE"));
    let strongest = verdict.findings.iter().map(|f| f.action).max();
    let expected = match strongest {
        _ if fatal => VerdictKind::Unanalyzable,
        Some(Action::Block) => VerdictKind::Blocked,
        Some(Action::Flag) => VerdictKind::Flagged,
        Some(Action::Note) | None => VerdictKind::Clear,
    };
    assert_eq!(verdict.verdict, expected);
    // If the policy blocks a capability that the code uses, the verdict is blocked or worse.
    if policy.guard {
        for used in &verdict.capabilities {
            if policy.action(used.capability) == Action::Block {
                assert!(verdict.verdict >= VerdictKind::Blocked, "{used:?}");
            }
        }
    }
}
