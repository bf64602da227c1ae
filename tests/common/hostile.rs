//! Text made to crash or stall its readers, and bytes that are not quite text.

// Each test crate uses only some of it.
#![allow(dead_code)]

use std::path::PathBuf;

use countersign::model::VerdictKind;

/// Each about `size` bytes long.
pub fn hostile(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    let fill = |unit: &str| -> Vec<u8> { unit.repeat(size / unit.len()).into_bytes() };
    let wrap = |before: &str, unit: &str, after: &str| -> Vec<u8> {
        let times = (size - before.len() - after.len()) / unit.len();
        format!("{before}{}{after}", unit.repeat(times)).into_bytes()
    };
    let names: String = (0..size / 24)
        .map(|i| format!("a{i} = a{}\n", i + 1))
        .collect();
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
        ("invalid UTF-8", vec![0xff; size]),
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
            (0..size).map(|i| (i * 7919 % 251) as u8).collect(),
        ),
        (
            "10 MB literal",
            [b"x = '".as_slice(), &vec![b'a'; 10_000_000], b"'"].concat(),
        ),
    ]
}

/// Bytes that some decoder reads as different text, with the allowed verdicts.
pub fn encodings() -> Vec<(&'static str, Vec<u8>, &'static [VerdictKind])> {
    use VerdictKind::{Blocked, Clear, Flagged, Unanalyzable};
    const NOT_TEXT: &[VerdictKind] = &[Unanalyzable];
    const TOLD: &[VerdictKind] = &[Flagged, Blocked, Unanalyzable];
    const FINE: &[VerdictKind] = &[Clear];
    let utf16 = |big: bool, bom: bool| -> Vec<u8> {
        let text = if bom {
            "\u{feff}import os"
        } else {
            "import os"
        };
        let units = text.encode_utf16();
        if big {
            units.flat_map(u16::to_be_bytes).collect()
        } else {
            units.flat_map(u16::to_le_bytes).collect()
        }
    };
    let cookie = |name: &str| format!("# -*- coding: {name} -*-\nx = 1\n").into_bytes();
    vec![
        ("byte order mark", b"\xef\xbb\xbfx = 1\n".to_vec(), NOT_TEXT),
        (
            "two byte order marks",
            b"\xef\xbb\xbf\xef\xbb\xbfx = 1\n".to_vec(),
            NOT_TEXT,
        ),
        (
            "byte order mark inside",
            "x = 1\n\u{feff}y = 2\n".into(),
            TOLD,
        ),
        (
            "byte order mark and cookie",
            b"\xef\xbb\xbf# coding: utf-8\nx\n".to_vec(),
            NOT_TEXT,
        ),
        ("UTF-16", utf16(false, true), NOT_TEXT),
        ("UTF-16 the other way round", utf16(true, true), NOT_TEXT),
        ("UTF-16 without a mark", utf16(false, false), NOT_TEXT),
        (
            "UTF-16 without a mark, the other way round",
            utf16(true, false),
            NOT_TEXT,
        ),
        (
            "UTF-32",
            "import os"
                .chars()
                .flat_map(|c| (c as u32).to_le_bytes())
                .collect(),
            NOT_TEXT,
        ),
        ("one NUL", b"x = '\0'\n".to_vec(), NOT_TEXT),
        ("a NUL in a comment", b"x = 1 # \0\n".to_vec(), NOT_TEXT),
        ("a NUL at the end", b"x = 1\n\0".to_vec(), NOT_TEXT),
        (
            "a NUL before more code",
            b"x = 1\0\nimport os\n".to_vec(),
            NOT_TEXT,
        ),
        ("overlong UTF-8", b"x = '\xc0\xaf'\n".to_vec(), NOT_TEXT),
        (
            "overlong line end",
            b"x = 1 #\xc0\x8aimport os\n".to_vec(),
            NOT_TEXT,
        ),
        (
            "surrogates as UTF-8",
            b"x = '\xed\xa0\x80\xed\xb0\x80'\n".to_vec(),
            NOT_TEXT,
        ),
        (
            "a byte of the middle alone",
            b"x = '\x80'\n".to_vec(),
            NOT_TEXT,
        ),
        (
            "a character cut off",
            b"x = 1 # \xe2\x82".to_vec(),
            NOT_TEXT,
        ),
        (
            "beyond the last character",
            b"x = '\xf4\x90\x80\x80'\n".to_vec(),
            NOT_TEXT,
        ),
        (
            "Latin-1",
            b"# coding: latin-1\nx = '\xe9'\n".to_vec(),
            NOT_TEXT,
        ),
        (
            "a zip archive",
            b"PK\x03\x04\x14\0\0\0__main__.py".to_vec(),
            NOT_TEXT,
        ),
        (
            "a gzip stream",
            b"\x1f\x8b\x08\0\0\0\0\0".to_vec(),
            NOT_TEXT,
        ),
        (
            "a compiled module",
            b"\xa7\x0d\x0d\x0a\0\0\0\0".to_vec(),
            NOT_TEXT,
        ),
        (
            "an end-of-file sign",
            b"x = 1\n\x1aimport os\n".to_vec(),
            NOT_TEXT,
        ),
        (
            "an end-of-file sign in a comment",
            b"x = 1 #\x1a\ny = 2\n".to_vec(),
            TOLD,
        ),
        (
            "UTF-7 that ends its comment",
            b"# coding: utf-7\nx = 1 #+AAo-import os\n".to_vec(),
            TOLD,
        ),
        ("a cookie for escapes", cookie("unicode_escape"), TOLD),
        (
            "a cookie for raw escapes",
            cookie("raw-unicode-escape"),
            TOLD,
        ),
        ("a cookie for rot13", cookie("rot13"), TOLD),
        ("a cookie for base64", cookie("base64"), TOLD),
        ("a cookie for UTF-16", cookie("utf-16"), TOLD),
        ("a cookie for Latin-1", cookie("latin-1"), TOLD),
        ("a cookie with a mark", cookie("utf-8-sig"), TOLD),
        (
            "a cookie on line two",
            b"#!/usr/bin/python\n# coding=utf-7\nx = 1\n".to_vec(),
            TOLD,
        ),
        (
            "a cookie for an editor",
            b"# vim: set fileencoding=cp1252 :\nx = 1\n".to_vec(),
            TOLD,
        ),
        (
            "the second coding of a line",
            b"# the coding of coding: utf-7\nx = 1\n".to_vec(),
            TOLD,
        ),
        (
            "a cookie after a form feed",
            b"\x0c# coding: utf-7\nx = 1\n".to_vec(),
            TOLD,
        ),
        (
            "a cookie too late to count",
            b"x = 1\ny = 2\n# coding: utf-7\n".to_vec(),
            FINE,
        ),
        ("the cookie that changes nothing", cookie("utf-8"), FINE),
        (
            "line ends of other systems",
            b"x = 1\r\ny = 2\r\n".to_vec(),
            FINE,
        ),
        (
            "carriage returns alone",
            b"x = 1 # \rimport os\r\n".to_vec(),
            TOLD,
        ),
        (
            "other line ends of Unicode",
            "x = 1 # \u{85}\u{2028}\u{2029}import os\n".into(),
            TOLD,
        ),
        (
            "letters that fold",
            "x = \u{1d41e}\u{1d42f}\u{1d41a}\u{1d425}\n".into(),
            TOLD,
        ),
        ("nothing at all", Vec::new(), FINE),
    ]
}

/// The seeds of one fuzz target, and the inputs that fuzzing found.
pub fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut seeds = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut code = std::fs::read(&path).unwrap();
        if target == "walk" {
            // The first byte of a seed chooses the policy.
            code.drain(..1.min(code.len()));
        }
        seeds.push((path, code));
    }
    seeds
}
