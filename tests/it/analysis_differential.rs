//! Compares our parser with two others: ruff's, and CPython's own `ast`. Identifiers, constants,
//! and accepted and rejected files must be the same, except for a listed set.
//!
//! By default the files are a sample of `python3`'s standard library. `CS_DIFFERENTIAL=DIR[:DIR…]`
//! compares every `*.py` below those folders, with `CS_DIFFERENTIAL_PYTHON`, if set, as the CPython
//! that they belong to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use countersign::analysis::analyse;
use countersign::analysis::outline::{Outline, outline};
use countersign::policy::builtin;
use proptest::prelude::*;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Expr, Identifier, Number, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use given::is_given;

use crate::common::given;

/// Why our parser may refuse what another one reads. Nothing excuses the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// One of our limits; CPython's own are higher, and have other errors.
    Limit,
    /// Syntax after Python 3.11 that the parser does not know: `unanalyzable`, so it never runs.
    Newer,
    /// The file is in [`KNOWN`].
    Known,
}

/// Files whose difference is known, by the end of their path, each with its reason.
const KNOWN: &[(&str, &str)] = &[(
    "test/test_fstring.py",
    "a field with a triple-quoted string that has a quote in it, `f\"{'''eric's'''}\"`: our parser \
     takes the quote for its end and refuses the file, which is then unanalyzable",
)];

/// The interpreter to compare with.
fn interpreter() -> std::ffi::OsString {
    std::env::var_os("CS_DIFFERENTIAL_PYTHON")
        .filter(|v| !v.is_empty())
        .unwrap_or_else(|| "python3".into())
}

fn python() -> Option<(PathBuf, (u8, u8))> {
    let code =
        "import sysconfig, sys; print(sysconfig.get_paths()['stdlib'], *sys.version_info[:2])";
    let out = Command::new(interpreter())
        .args(["-c", code])
        .output()
        .ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let mut words = text.split_whitespace();
    let dir = PathBuf::from(words.next()?);
    Some((
        dir,
        (words.next()?.parse().ok()?, words.next()?.parse().ok()?),
    ))
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            walk(&path, out);
        } else if kind.is_file() && path.extension().is_some_and(|e| e == "py") {
            out.push(path);
        }
    }
}

/// The files to compare, with their texts.
fn files() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    let everything = std::env::var_os("CS_DIFFERENTIAL").filter(|v| !v.is_empty());
    if let Some(dirs) = &everything {
        std::env::split_paths(dirs).for_each(|dir| walk(&dir, &mut paths));
    } else if let Some((dir, _)) = python() {
        walk(&dir, &mut paths);
    }
    paths.sort();
    let step = if everything.is_some() {
        1
    } else {
        (paths.len() / 150).max(1)
    };
    paths
        .into_iter()
        .step_by(step)
        .filter_map(|p| Some((p.clone(), std::fs::read_to_string(p).ok()?)))
        .filter(|(_, text)| !text.starts_with('\u{feff}') && !text.contains('\0'))
        .filter(|(_, text)| everything.is_some() || text.len() < 64 * 1024)
        .collect()
}

#[derive(Default)]
struct Ruff(Outline);

impl<'a> SourceOrderVisitor<'a> for Ruff {
    fn visit_identifier(&mut self, identifier: &'a Identifier) {
        self.0.names.push(identifier.id.to_string());
    }

    fn visit_expr(&mut self, e: &'a Expr) {
        let constants = &mut self.0.constants;
        match e {
            Expr::Name(x) => self.0.names.push(x.id.to_string()),
            Expr::StringLiteral(x) => constants.push(format!("str {}", x.value.to_str())),
            Expr::BytesLiteral(x) => {
                let bytes: Vec<u8> = x.value.bytes().collect();
                constants.push(format!("bytes {bytes:?}"));
            }
            Expr::NumberLiteral(x) => constants.push(match &x.value {
                Number::Int(n) => format!("int {}", decimal(&n.to_string())),
                Number::Float(n) => format!("float {:x}", n.to_bits()),
                Number::Complex { imag, .. } => format!("complex {:x}", imag.to_bits()),
            }),
            _ => {}
        }
        walk_expr(self, e);
    }
}

/// Turns an integer as written, which ruff keeps for large ones, into decimal digits.
fn decimal(text: &str) -> String {
    let text = text.replace('_', "");
    let radix = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => return text,
    };
    let mut digits = vec![0u32];
    for c in text[2..].chars() {
        let mut carry = c.to_digit(radix).unwrap();
        for d in &mut digits {
            let v = *d * radix + carry;
            *d = v % 10;
            carry = v / 10;
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    digits
        .iter()
        .rev()
        .map(|d| char::from_digit(*d, 10).unwrap())
        .collect()
}

/// Names folded as CPython does, and everything sorted.
fn sorted(mut outline: Outline) -> Outline {
    use unicode_normalization::UnicodeNormalization;
    for name in &mut outline.names {
        *name = name.nfkc().collect();
    }
    outline.names.sort();
    outline.constants.sort();
    outline
}

/// What ruff reads, and whether the code needs a Python newer than 3.11.
fn ruff(text: &str) -> Option<(Outline, bool)> {
    let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY311);
    let parsed = parse_unchecked(text, options);
    if !parsed.has_valid_syntax() {
        return None;
    }
    let newer = !parsed.unsupported_syntax_errors().is_empty();
    let mut visitor = Ruff::default();
    if let Some(module) = parsed.try_into_module() {
        visitor.visit_body(module.suite());
    }
    Some((sorted(visitor.0), newer))
}

fn first_difference(a: &[String], b: &[String]) -> String {
    let only = |x: &[String], y: &[String]| {
        let mut rest: Vec<&String> = y.iter().collect();
        x.iter()
            .filter(|n| match rest.iter().position(|r| r == n) {
                Some(i) => {
                    rest.swap_remove(i);
                    false
                }
                None => true,
            })
            .take(3)
            .map(|s| s.chars().take(80).collect::<String>())
            .collect::<Vec<_>>()
    };
    format!("only here {:?}, only there {:?}", only(a, b), only(b, a))
}

/// The differences of one comparison.
#[derive(Default)]
struct Report {
    both_read: usize,
    both_refuse: usize,
    excused: std::collections::BTreeMap<Reason, usize>,
    wrong: Vec<String>,
}

impl Report {
    fn compare(
        &mut self,
        path: &Path,
        ours: Result<Outline, String>,
        theirs: Option<Outline>,
        newer: bool,
    ) {
        if KNOWN.iter().any(|(end, _)| path.ends_with(end)) {
            return self.excuse(Reason::Known);
        }
        let says = match (ours, theirs) {
            (Ok(ours), Some(theirs)) => {
                self.both_read += 1;
                return self.contents(path, &ours, &theirs);
            }
            (Err(_), None) => {
                self.both_refuse += 1;
                return;
            }
            (Err(e), Some(_)) if e.starts_with("limit") => return self.excuse(Reason::Limit),
            (Err(_), Some(_)) if newer => return self.excuse(Reason::Newer),
            (Err(e), Some(_)) => format!("only ours refuses: {e}"),
            (Ok(_), None) => "only ours reads it".to_owned(),
        };
        self.wrong.push(format!("{}: {says}", path.display()));
    }

    fn excuse(&mut self, reason: Reason) {
        *self.excused.entry(reason).or_default() += 1;
    }

    fn contents(&mut self, path: &Path, ours: &Outline, theirs: &Outline) {
        // UTF-8 cannot encode lone surrogates: CPython keeps them, Rust strings cannot hold them.
        let surrogates = theirs.constants.iter().any(|c| c.contains('\u{fffd}'));
        for (what, ours, theirs) in [
            ("names", &ours.names, &theirs.names),
            ("constants", &ours.constants, &theirs.constants),
        ] {
            if ours != theirs && !(surrogates && what == "constants") {
                let difference = first_difference(ours, theirs);
                self.wrong
                    .push(format!("{}: {what}: {difference}", path.display()));
            }
        }
    }

    /// Fails on any difference that is not excused.
    fn conclude(self) {
        println!(
            "{} files read by both, {} refused by both, excused {:?}",
            self.both_read, self.both_refuse, self.excused
        );
        assert!(
            self.wrong.is_empty(),
            "{} differences:\n{}",
            self.wrong.len(),
            self.wrong.join("\n")
        );
        assert!(self.both_read > 0, "nothing was compared");
    }
}

#[test]
fn ruff_reads_the_same_and_refuses_the_same() {
    let mut report = Report::default();
    for (path, text) in files() {
        let theirs = ruff(&text);
        let newer = theirs.as_ref().is_some_and(|(_, newer)| *newer);
        report.compare(&path, outline(&text), theirs.map(|(read, _)| read), newer);
    }
    report.conclude();
}

const READER: &str = r#"
import ast, json, struct, sys, warnings
warnings.simplefilter("ignore")
def bits(x):
    return "%x" % struct.unpack("<Q", struct.pack("<d", x))[0]
def constant(v):
    if isinstance(v, bool) or v is None or v is Ellipsis: return None
    if isinstance(v, str): return "str " + "".join("\ufffd" if 0xd800 <= ord(c) <= 0xdfff else c for c in v)
    if isinstance(v, bytes): return "bytes " + str(list(v))
    if isinstance(v, int): return "int %d" % v
    if isinstance(v, float): return "float " + bits(v)
    return "complex " + bits(v.imag)
for line in sys.stdin:
    text = json.loads(line)
    try:
        sys.set_int_max_str_digits(0)
        tree = ast.parse(text)
    except Exception as e:
        print(json.dumps({"error": str(e)})); continue
    names, constants, pieces = [], [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            pieces.update(id(v) for v in node.values if isinstance(v, ast.Constant))
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name", "asname", "module", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str): names.append(value)
        if isinstance(node, (ast.Global, ast.Nonlocal)): names += node.names
        if isinstance(node, ast.MatchClass): names += node.kwd_attrs
        if isinstance(node, ast.Constant) and id(node) not in pieces:
            c = constant(node.value)
            if c is not None: constants.append(c)
    print(json.dumps({"names": names, "constants": constants}))
"#;

/// What CPython reads in each text; `None` if it refuses the text.
fn cpython(texts: &[(PathBuf, String)]) -> Vec<Option<Outline>> {
    let mut child = Command::new(interpreter())
        .args(["-I", "-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = texts
        .iter()
        .map(|(_, text)| serde_json::to_string(text).unwrap() + "\n")
        .collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        output.lines().count(),
        texts.len(),
        "an answer for each text"
    );
    output
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let list = |key: &str| -> Option<Vec<String>> {
                serde_json::from_value(value.get(key)?.clone()).ok()
            };
            let (names, constants) = (list("names")?, list("constants")?);
            Some(sorted(Outline { names, constants }))
        })
        .collect()
}

#[test]
fn cpython_reads_the_same_and_refuses_the_same() {
    if !is_given(python().is_some(), "python3 to compare with") {
        return;
    }
    let files = files();
    let mut report = Report::default();
    for ((path, text), theirs) in files.iter().zip(cpython(&files)) {
        let newer = ruff(text).is_some_and(|(_, newer)| newer);
        report.compare(path, outline(text), theirs, newer);
    }
    report.conclude();
}

/// Text that looks like Python more often than chance.
fn pythonish() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "x",
        "eval",
        "import ",
        "from ",
        "os",
        "pd",
        ".",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        "\n",
        "\n    ",
        "def f",
        "class A",
        "lambda ",
        "if ",
        "else ",
        "for ",
        " in ",
        "while ",
        "try:",
        "except ",
        "with ",
        " as ",
        "match x:\n    case ",
        "f\"{",
        "}\"",
        "'",
        "\"",
        "\"\"\"",
        "\\",
        "=",
        ":=",
        "+",
        "-",
        "**",
        "1",
        "9e9",
        "0x",
        "__class__",
        "async ",
        "await ",
        "yield ",
        "@",
        "*",
        ",",
        ";",
        "#",
        "\t",
        "\r",
        "\x0c",
        "\u{202e}",
        "\u{ff45}",
        "é",
        "\u{1f600}",
        "type ",
        "global x",
        "del ",
        "not ",
        "~",
        "{0.a}",
        ".format(",
        ".query(",
        "\0",
        "\u{feff}",
        "return ",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_a_verdict(code in prop::collection::vec(any::<u8>(), 0..400)) {
        let policy = &builtin().unwrap()[0];
        let verdict = analyse(&code, policy);
        prop_assert_eq!(verdict.source.bytes, code.len() as u64);
    }

    #[test]
    fn anything_like_python_gets_a_sound_verdict(code in pythonish()) {
        for policy in builtin().unwrap() {
            let verdict = analyse(code.as_bytes(), &policy);
            let lines = u32::try_from(code.matches('\n').count()).unwrap() + 1;
            for f in &verdict.findings {
                prop_assert!(f.line >= 1 && f.line <= lines, "{:?}", f);
                prop_assert!(f.column >= 1 && (f.line, f.column) <= (f.end_line, f.end_column), "{:?}", f);
            }
            // The same text always gets the same verdict.
            let again = analyse(code.as_bytes(), &policy);
            prop_assert_eq!(&verdict.findings, &again.findings);
            prop_assert_eq!(verdict.verdict, again.verdict);
        }
    }
}
