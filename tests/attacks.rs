//! The table of attacks and of honest code, each with the verdict it must get under a profile,
//! asked of the real worker process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::sync::Mutex;

use countersign::analysis::Analyser;
use countersign::model::{Verdict, VerdictKind};
use countersign::policy::builtin;

#[derive(serde::Deserialize)]
struct Row {
    category: String,
    expect: String,
    code: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    profile: Option<String>,
}

fn analyser() -> Analyser {
    Analyser::new(
        PathBuf::from(env!("CARGO_BIN_EXE_countersign")),
        builtin().unwrap(),
    )
}

/// Whether a verdict is what a row asks for. What cannot be parsed is handled as blocked.
fn meets(expect: &str, verdict: &Verdict) -> bool {
    match expect {
        "clear" => verdict.verdict == VerdictKind::Clear,
        "flagged" => verdict.verdict == VerdictKind::Flagged,
        "blocked" => matches!(
            verdict.verdict,
            VerdictKind::Blocked | VerdictKind::Unanalyzable
        ),
        "unanalyzable" => verdict.verdict == VerdictKind::Unanalyzable,
        other => panic!("no such verdict: {other}"),
    }
}

fn run(table: &str) {
    let analyser = Mutex::new(analyser());
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in table.lines().filter(|l| !l.trim().is_empty()) {
        let row: Row = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let profile = row.profile.as_deref().unwrap_or("analysis");
        let verdict = analyser
            .lock()
            .unwrap()
            .verdict(row.code.as_bytes(), profile);
        rows += 1;
        if !meets(&row.expect, &verdict) {
            let found: Vec<_> = verdict
                .findings
                .iter()
                .map(|f| format!("{} {} {}", f.rule, f.action.as_str(), f.message))
                .collect();
            wrong.push(format!(
                "[{}] {} instead of {} under {profile} ({})\n{}\n    {}",
                row.category,
                verdict.verdict,
                row.expect,
                row.why,
                row.code,
                found.join("\n    ")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {rows} rows are wrong:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_attack_gets_its_verdict() {
    run(include_str!("data/attacks.jsonl"));
}

#[test]
fn every_further_row_gets_its_verdict() {
    run(include_str!("data/more.jsonl"));
}

/// Text made to crash or stall whatever reads it, each at the most a profile takes.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    const SIZE: usize = 64 * 1024;
    let fill = |unit: &str| -> Vec<u8> { unit.repeat(SIZE / unit.len()).into_bytes() };
    let wrap = |before: &str, unit: &str, after: &str| -> Vec<u8> {
        let times = (SIZE - before.len() - after.len()) / unit.len();
        format!("{before}{}{after}", unit.repeat(times)).into_bytes()
    };
    let names: String = (0..3_000).map(|i| format!("a{i} = a{}\n", i + 1)).collect();
    let circle: String = (0..2_000)
        .map(|i| format!("b{i} = b{} or b{}\n", (i + 1) % 2_000, (i * 7 + 3) % 2_000))
        .collect();
    let braid: String = (0..40)
        .map(|i| format!("c{i} = [c{}, c{}.x, c{}()]\n", i + 1, i + 1, i + 1))
        .collect();
    let fields: String = (0..1_500)
        .map(|i| format!("x.f{i} = x.f{}.g\n", (i + 1) % 1_500))
        .collect();
    vec![
        ("open brackets", fill("(")),
        ("open square brackets", fill("[")),
        ("open braces", fill("{")),
        ("100,000 brackets", "[".repeat(100_000).into_bytes()),
        ("digits", fill("9")),
        ("1 MB of digits", vec![b'9'; 1_000_000]),
        ("hex digits", wrap("0x", "f", "")),
        ("float digits", wrap("1.", "9", "e9")),
        ("digits in an f-string", wrap("f\"{", "9", "}\"")),
        ("additions", wrap("x = 1", "+1", "")),
        ("powers", wrap("x = 2", "**2", "")),
        ("attributes", wrap("x", ".a", "")),
        ("calls", wrap("x", "()", "")),
        ("subscripts", wrap("x", "[0]", "")),
        ("negations", fill("not ")),
        ("minus signs", wrap("x = ", "-", "1")),
        ("awaits", wrap("async def f():\n ", "await ", "x")),
        ("lambdas", wrap("x = ", "lambda:", "1")),
        ("lambdas with parameters", wrap("x = ", "lambda a,b:", "1")),
        ("conditions", wrap("x = ", "1 if 1 else ", "1")),
        ("comparisons", wrap("x = 1", "<1", "")),
        ("and", wrap("x = 1", " and 1", "")),
        ("elif", wrap("if 1: pass\n", "elif 1: pass\n", "")),
        ("implicit concatenation", wrap("x = ", "'a' ", "")),
        ("walrus", wrap("", "(x:=", "")),
        ("starred", wrap("f(", "*", "x)")),
        ("patterns", wrap("match x:\n case ", "a|", "a: pass")),
        ("nested patterns", wrap("match x:\n case ", "[", "")),
        ("decorators", wrap("", "@a\n", "def f(): pass")),
        ("targets", wrap("", "a=", "1")),
        ("f-string fields", wrap("f\"", "{x}", "\"")),
        ("f-string brackets", wrap("f\"{", "(", "}\"")),
        ("f-string open braces", wrap("f\"", "{", "\"")),
        ("f-string specs", wrap("f\"", "{x:", "\"")),
        ("f-string negations", wrap("f\"{", "not ", "x}\"")),
        ("f-string in f-string", wrap("", "f'''{f\"\"\"{", "")),
        ("dictionary", wrap("x = {", "1:1,", "}")),
        ("imports", wrap("", "import os\n", "")),
        ("star imports", wrap("", "from numpy import *\n", "")),
        ("evals", wrap("", "eval;", "")),
        (
            "deep indentation",
            (0..360)
                .map(|i| format!("{}if 1:\n", " ".repeat(i)))
                .collect::<String>()
                .into_bytes(),
        ),
        ("tabs", fill("\t")),
        ("backslashes", fill("\\")),
        ("continuations", fill("\\\n")),
        ("carriage returns", fill("\r")),
        ("form feeds", fill("\x0c")),
        ("escapes", wrap("# ", "\x1b[2J", "")),
        ("bidi", wrap("# ", "\u{202e}", "")),
        ("combining marks", wrap("# e", "\u{301}", "")),
        ("emoji", fill("\u{1f600}")),
        ("mathematical letters", fill("\u{1d4ea}")),
        ("ligatures", fill("\u{fdfa}")),
        ("NUL", wrap("x = 1", "\0", "")),
        ("one NUL", b"x = '\0'".to_vec()),
        ("byte order mark", b"\xef\xbb\xbfx = 1".to_vec()),
        (
            "UTF-7 cookie",
            b"# -*- coding: utf-7 -*-\n+AGUAdgBhAGw-\n".to_vec(),
        ),
        (
            "UTF-16",
            "import os"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
        ),
        ("invalid UTF-8", vec![0xff; SIZE]),
        ("overlong UTF-8", b"x = '\xc0\xaf'".to_vec()),
        ("surrogates", b"x = '\xed\xa0\x80'".to_vec()),
        ("one long name", fill("a")),
        ("one long string", wrap("x = '", "a", "'")),
        ("one long comment", wrap("# ", "a", "")),
        ("unclosed string", wrap("x = '''", "a", "")),
        ("name escapes", wrap("x = '", "\\N{BULLET}", "'")),
        ("names in a chain", names.into_bytes()),
        ("names in a circle", circle.into_bytes()),
        ("names in a braid", braid.into_bytes()),
        ("fields in a circle", fields.into_bytes()),
        ("queries", wrap("", "d.query('a>1')\n", "")),
        ("query brackets", wrap("d.query('", "(", "')")),
        ("formats", wrap("'", "{0.a}", "'.format(x)")),
        ("format braces", wrap("'", "{", "'.format(x)")),
        (
            "patterns of re",
            wrap("import re\nre.match('", "(a+)+", "', s)"),
        ),
        ("powers of powers", wrap("x = 9", "**9", "")),
        (
            "garbage",
            (0..SIZE).map(|i| (i * 7919 % 251) as u8).collect(),
        ),
        ("over the limit", vec![b'#'; SIZE + 1]),
        ("the frame limit", vec![b'('; 1024 * 1024]),
        (
            "10 MB literal",
            [b"x = '".as_slice(), &vec![b'a'; 10_000_000], b"'"].concat(),
        ),
    ]
}

#[test]
fn hostile_text_costs_at_most_its_own_verdict() {
    let mut analyser = analyser();
    for (name, code) in hostile() {
        let started = std::time::Instant::now();
        let verdict = analyser.verdict(&code, "analysis");
        let took = started.elapsed();
        assert_eq!(verdict.source.bytes, code.len() as u64, "{name}");
        // A debug build on a busy machine; the client gives up after half a second.
        assert!(took.as_secs() < 15, "{name} took {took:?}");
        let next = analyser.verdict(b"print(1 + 1)\n", "analysis");
        assert_eq!(next.verdict, VerdictKind::Clear, "after {name}");
    }
}

#[test]
fn what_is_not_python_in_utf8_is_unanalyzable() {
    let mut analyser = analyser();
    for code in [
        &b"x = '\0'"[..],
        b"\xef\xbb\xbfx = 1",
        b"\xff\xfe",
        b"f() = 1",
        b"(",
        b"x = = 1",
        b"x = '",
        b"\t if",
    ] {
        let verdict = analyser.verdict(code, "analysis");
        assert_eq!(verdict.verdict, VerdictKind::Unanalyzable, "{code:?}");
        assert!(!verdict.findings.is_empty());
    }
}

#[test]
fn messages_hold_nothing_hidden_and_nothing_long() {
    let mut analyser = analyser();
    let long = "a".repeat(30_000);
    let chain = format!("import pandas as pd\npd.{long}.b\npd.{long}.c\nimport {long}\n");
    for code in [
        "x = \u{202e}",
        "\u{200b}",
        "import \u{2066}os",
        "\u{1b}[2J",
        &chain,
    ] {
        let verdict = analyser.verdict(code.as_bytes(), "analysis");
        assert!(!verdict.findings.is_empty());
        let texts = verdict.findings.iter().flat_map(|f| [&f.message, &f.hint]);
        for text in texts.chain(verdict.capabilities.iter().map(|c| &c.detail)) {
            assert!(text.chars().count() < 400, "{text}");
            assert!(
                !text.contains(['\u{202e}', '\u{200b}', '\u{2066}', '\u{1b}']),
                "{text:?}"
            );
        }
    }
}

/// The broker hands the client to another thread.
#[test]
fn the_client_can_be_sent() {
    fn is_send<T: Send>() {}
    is_send::<Analyser>();
}

#[test]
fn a_killed_worker_is_replaced() {
    let mut analyser = analyser();
    assert_eq!(
        analyser.verdict(b"1", "analysis").verdict,
        VerdictKind::Clear
    );
    let pid = analyser.worker_pid().unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    let lost = analyser.verdict(b"2", "analysis");
    assert_eq!(lost.verdict, VerdictKind::Unanalyzable);
    assert_eq!(lost.findings[0].rule, "PARSE004");
    assert_eq!(
        analyser.verdict(b"3", "analysis").verdict,
        VerdictKind::Clear
    );
}

#[test]
fn the_worker_is_confined_before_it_reads_a_snippet() {
    let mut analyser = analyser();
    analyser.verdict(b"1", "analysis");
    let pid = analyser.worker_pid().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|l| l.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    let Ok(limits) = std::fs::read_to_string(format!("/proc/{pid}/limits")) else {
        return;
    };
    let limit = |name: &str| {
        let line = limits.lines().find(|l| l.starts_with(name)).unwrap();
        line[name.len()..]
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(limit("Max file size"), "0");
    assert_eq!(limit("Max core file size"), "0");
    assert_eq!(limit("Max open files"), "3");
    assert_ne!(limit("Max address space"), "unlimited");
}

#[test]
fn a_stopped_worker_is_a_time_out_not_a_wait() {
    let mut analyser = analyser();
    assert_eq!(
        analyser.verdict(b"1", "analysis").verdict,
        VerdictKind::Clear
    );
    let pid = analyser.worker_pid().unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
    assert_eq!(
        analyser
            .verdict(&vec![b'#'; 1024 * 1024], "analysis")
            .verdict,
        VerdictKind::Unanalyzable
    );
    assert_eq!(
        analyser.verdict(b"3", "analysis").verdict,
        VerdictKind::Clear
    );
}

#[test]
fn a_worker_that_is_not_one_is_unanalyzable() {
    for exe in ["/bin/true", "/bin/cat", "/nonexistent"] {
        let mut analyser = Analyser::new(PathBuf::from(exe), builtin().unwrap());
        let verdict = analyser.verdict(b"1", "analysis");
        assert_eq!(verdict.verdict, VerdictKind::Unanalyzable, "{exe}");
    }
    let verdict = analyser().verdict(b"1", "no such profile");
    assert_eq!(verdict.verdict, VerdictKind::Unanalyzable);
}

#[test]
fn the_verdict_object_is_complete() {
    let code = "import pandas as pd\nδ = 1; pd.read_csv(\"/etc/passwd\")\n";
    let verdict = analyser().verdict(code.as_bytes(), "analysis");
    let json = serde_json::to_value(&verdict).unwrap();
    assert_eq!(json["verdict"], "blocked");
    assert_eq!(json["policy"]["profile"], "analysis");
    assert_eq!(json["policy"]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(json["source"]["bytes"], code.len());
    assert_eq!(json["source"]["lines"], 2);
    let finding = &json["findings"][0];
    assert_eq!(finding["rule"], "FS003");
    assert_eq!(finding["action"], "block");
    // Columns are Unicode scalar values from 1, the end is exclusive.
    assert_eq!(
        (finding["line"].as_u64(), finding["column"].as_u64()),
        (Some(2), Some(8))
    );
    assert_eq!(finding["end_column"], 34);
    assert_eq!(finding["capability"], "FS_READ");
    assert!(finding["hint"].as_str().unwrap().contains("output folder"));
    assert_eq!(json["capabilities"][0]["capability"], "FS_READ");
    assert_eq!(json["capabilities"][0]["lines"][0], 2);
}
