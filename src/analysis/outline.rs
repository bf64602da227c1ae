//! What the parser read, for the differential tests and the fuzzers: every identifier (after NFKC)
//! and every constant, as two sorted lists that other parsers can also produce.

use std::collections::BTreeSet;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::fold::fold;
use super::halves;
use super::parse::TextRange;
use super::parse::ast::{Constant, Expr, Stmt};
use super::walk::{self, Bound, ExprPlace, Visitor};
use super::{parse, scan};
use crate::model::{CodeFacts, Digest};
use crate::policy::NodeKind;

/// The identifiers and constants of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub names: Vec<String>,
    pub constants: Vec<String>,
}

/// Scans, parses and walks a text; an error names the step that failed.
pub fn outline(text: &str) -> Result<Outline, String> {
    let mut collector = Collector::default();
    walk::body(&mut collector, &read(text)?);
    let mut out = collector.out;
    out.names.sort();
    out.constants.sort();
    Ok(out)
}

/// The byte ranges of all nodes of a text.
pub fn spans(text: &str) -> Result<Vec<Range<usize>>, String> {
    #[derive(Default)]
    struct Spans(Vec<Range<usize>>);
    impl Visitor<'_> for Spans {
        fn node(&mut self, _kind: NodeKind, at: TextRange) {
            self.0.push(at.start().to_usize()..at.end().to_usize());
        }
    }
    let mut spans = Spans::default();
    walk::body(&mut spans, &read(text)?);
    Ok(spans.0)
}

/// The kinds of all nodes of a text.
pub fn kinds(text: &str) -> Result<BTreeSet<NodeKind>, String> {
    #[derive(Default)]
    struct Kinds(BTreeSet<NodeKind>);
    impl Visitor<'_> for Kinds {
        fn node(&mut self, kind: NodeKind, _at: TextRange) {
            self.0.insert(kind);
        }
    }
    let mut kinds = Kinds::default();
    walk::body(&mut kinds, &read(text)?);
    Ok(kinds.0)
}

/// Scans and parses.
fn read(text: &str) -> Result<Vec<Stmt>, String> {
    scan::scan(text, scan::MOST_BYTES).map_err(|e| format!("limit: {}", e.what))?;
    parse::module(text).map_err(|e| format!("syntax: {} at {}", e.message, e.offset))
}

/// The digests of a text; `None` if it cannot be parsed.
pub fn facts_of(text: &str) -> Option<CodeFacts> {
    scan::scan(text, scan::MOST_BYTES).ok()?;
    Some(facts(text, &parse::module(text).ok()?))
}

/// The digests of a parsed text, as the runner computes them from CPython's tree.
pub(super) fn facts(text: &str, body: &[Stmt]) -> CodeFacts {
    let mut collector = Collector {
        halves: !halves::find(text).is_empty(),
        ..Collector::default()
    };
    walk::body(&mut collector, body);
    CodeFacts {
        identifiers: digest(collector.out.names.into_iter().map(String::into_bytes)),
        constants: digest(collector.bytes),
    }
}

fn digest(items: impl IntoIterator<Item = Vec<u8>>) -> Digest {
    let mut items: Vec<Vec<u8>> = items.into_iter().collect();
    items.sort_unstable();
    items.dedup();
    let mut all = Sha256::new();
    for item in items {
        all.update((item.len() as u64).to_le_bytes());
        all.update(item);
    }
    Digest::from_bytes(all.finalize().into())
}

#[derive(Default)]
struct Collector {
    out: Outline,
    /// The constants as encoded for the digest.
    bytes: Vec<Vec<u8>>,
    /// Whether the text spells out halves of surrogate pairs.
    halves: bool,
    /// Literal pieces of f-strings, which other parsers split differently.
    pieces: std::collections::HashSet<usize>,
}

impl Collector {
    fn name(&mut self, name: &str) {
        self.out.names.push(fold(name).into_owned());
    }

    fn constant(&mut self, value: &Constant) {
        let tagged = |tag: u8, rest: &[u8]| [&[tag], rest].concat();
        let (text, bytes) = match value {
            Constant::Str(text) => {
                let tag = if self.halves && halves::is_in(text) {
                    b'u'
                } else {
                    b's'
                };
                (format!("str {text}"), tagged(tag, text.as_bytes()))
            }
            Constant::Bytes(bytes) => (format!("bytes {bytes:?}"), tagged(b'b', bytes)),
            Constant::Int(n) => (
                format!("int {n}"),
                tagged(b'i', format!("{n:x}").as_bytes()),
            ),
            Constant::Float(n) => (
                format!("float {:x}", n.to_bits()),
                tagged(b'f', &n.to_le_bytes()),
            ),
            Constant::Complex { imag, .. } => (
                format!("complex {:x}", imag.to_bits()),
                tagged(b'c', &imag.to_le_bytes()),
            ),
            Constant::None | Constant::Bool(_) | Constant::Ellipsis | Constant::Tuple(_) => return,
        };
        self.out.constants.push(text);
        self.bytes.push(bytes);
    }
}

impl<'a> Visitor<'a> for Collector {
    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(x) => self.name(&x.name),
            Stmt::AsyncFunctionDef(x) => self.name(&x.name),
            Stmt::ClassDef(x) => self.name(&x.name),
            Stmt::Import(x) => {
                for alias in &x.names {
                    self.name(&alias.name);
                    if let Some(name) = &alias.asname {
                        self.name(name);
                    }
                }
            }
            Stmt::ImportFrom(x) => {
                if let Some(module) = &x.module {
                    self.name(module);
                }
                for alias in &x.names {
                    self.name(&alias.name);
                    if let Some(name) = &alias.asname {
                        self.name(name);
                    }
                }
            }
            _ => {}
        }
    }

    fn expression(&mut self, e: &'a Expr, _place: ExprPlace<'a>) {
        match e {
            Expr::Name(x) => self.name(&x.id),
            Expr::Attribute(x) => self.name(&x.attr),
            Expr::JoinedStr(x) => {
                for value in x.values.iter().filter(|v| v.is_constant_expr()) {
                    self.pieces.insert(std::ptr::from_ref(value) as usize);
                }
            }
            Expr::Constant(c) if !self.pieces.contains(&(std::ptr::from_ref(e) as usize)) => {
                self.constant(&c.value);
            }
            _ => {}
        }
    }

    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        if matches!(
            to,
            Bound::Parameter { .. }
                | Bound::Rest(_)
                | Bound::Exception
                | Bound::Capture(_)
                | Bound::Something
        ) {
            self.name(name);
        }
    }

    fn keyword(&mut self, name: &'a str, _at: TextRange) {
        self.name(name);
    }

    fn pattern_attribute(&mut self, name: &'a str, _at: TextRange, _class: &'a Expr) {
        self.name(name);
    }

    fn declare(&mut self, name: &'a str, _global: bool, _at: TextRange) {
        self.name(name);
    }
}
