//! JSON as spans: arrays become records, and their scalars become cells.

use std::collections::BTreeSet;
use std::ops::Range;

use super::table::{Record, Table, plain_name};
use super::{CELLS, Fold, HEAD, RUN, TAIL};

/// The deepest nesting to condense; deeper JSON is shown whole.
const DEPTH: usize = 16;

const MISSING: &str = "null";

/// The parts of a JSON text that may be condensed.
pub fn folds(text: &str) -> Vec<Fold> {
    let mut out = Vec::new();
    if let Some(root) = parse(text, 0..text.len()) {
        gather(text, &root, &mut out);
    }
    out
}

/// The lines of a JSON Lines text as records. A line that is not JSON has no cells.
pub fn lines(text: &str) -> Option<Table> {
    if text.contains('\r') {
        return None;
    }
    let mut nodes = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = line.trim_end_matches('\n').len();
        nodes.push((at..at + line.len(), parse(text, at..at + end)));
        at += line.len();
    }
    let values = nodes.iter().map(|(_, n)| n.as_ref().map_or(1, Node::count));
    if values.sum::<usize>() > CELLS {
        return None;
    }
    let records = nodes.iter().map(|(span, node)| Record {
        span: span.clone(),
        cells: node.as_ref().map_or_else(Vec::new, Node::leaves),
    });
    let mut table = Table {
        records: records.collect(),
        names: Vec::new(),
        unit: "lines",
        first: 1,
        missing: MISSING,
    };
    let usual = nodes[table.usual(text)?].1.as_ref()?;
    table.names = names(text, usual)?;
    Some(table)
}

/// Collects this array's folds, and the folds inside the parts that stay visible.
fn gather(text: &str, node: &Node, out: &mut Vec<Fold>) {
    let NodeShape::Many { items, object } = &node.kind else {
        return;
    };
    let folds = if *object {
        Vec::new()
    } else {
        array(text, items).map_or_else(Vec::new, |table| table.folds(text))
    };
    let mut next = folds.into_iter().peekable();
    for item in items {
        while let Some(fold) = next.next_if(|f| f.range.start <= item.start) {
            out.push(fold);
        }
        if out.last().is_none_or(|f| f.range.end <= item.start) {
            gather(text, &item.value, out);
        }
    }
}

fn array(text: &str, items: &[Item]) -> Option<Table> {
    if items.len() < HEAD + RUN + TAIL {
        return None;
    }
    let starts = items.iter().map(|i| i.start);
    let ends = starts
        .clone()
        .skip(1)
        .chain(items.last().map(|i| i.value.span.end));
    let records = starts
        .zip(ends)
        .zip(items)
        .map(|((start, end), item)| Record {
            span: start..end,
            cells: item.value.leaves(),
        });
    let mut table = Table {
        records: records.collect(),
        names: Vec::new(),
        unit: "elements",
        first: 1,
        missing: MISSING,
    };
    table.names = names(text, &items[table.usual(text)?].value)?;
    Some(table)
}

struct Node {
    span: Range<usize>,
    kind: NodeShape,
}

enum NodeShape {
    Scalar,
    Many { items: Vec<Item>, object: bool },
}

/// An array element, or an object key with its value.
struct Item {
    start: usize,
    key: Option<Range<usize>>,
    value: Node,
}

impl Node {
    fn count(&self) -> usize {
        match &self.kind {
            NodeShape::Scalar => 1,
            NodeShape::Many { items, .. } => {
                1 + items.iter().map(|i| i.value.count()).sum::<usize>()
            }
        }
    }

    /// The scalars within the node, in order.
    fn leaves(&self) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        self.collect(&mut out);
        out
    }

    fn collect(&self, out: &mut Vec<Range<usize>>) {
        match &self.kind {
            NodeShape::Scalar => out.push(self.span.clone()),
            NodeShape::Many { items, .. } => items.iter().for_each(|i| i.value.collect(out)),
        }
    }
}

/// A name for each scalar of a record; `None` if a key is, or could be, a duplicate.
fn names(text: &str, record: &Node) -> Option<Vec<String>> {
    let mut out = Vec::new();
    name(text, record, String::new(), &mut out).then_some(out)
}

fn name(text: &str, node: &Node, path: String, out: &mut Vec<String>) -> bool {
    let NodeShape::Many { items, .. } = &node.kind else {
        let at = out.len();
        out.push(if path.is_empty() {
            "value".to_owned()
        } else {
            plain_name(&path, at)
        });
        return true;
    };
    let mut keys = BTreeSet::new();
    for (i, item) in items.iter().enumerate() {
        let path = match &item.key {
            Some(key) => {
                let key = &text[key.start + 1..key.end - 1];
                if key.contains('\\') || !keys.insert(key) {
                    return false;
                }
                if path.is_empty() {
                    key.to_owned()
                } else {
                    format!("{path}.{key}")
                }
            }
            None => format!("{path}[{i}]"),
        };
        if !name(text, &item.value, path, out) {
            return false;
        }
    }
    true
}

/// The single value in this part of the text; `None` if it is not JSON.
fn parse(text: &str, part: Range<usize>) -> Option<Node> {
    let mut parser = Parser {
        bytes: &text.as_bytes()[..part.end],
        at: part.start,
        left: CELLS,
    };
    parser.blanks();
    let node = parser.value(0)?;
    parser.blanks();
    (parser.at == part.end).then_some(node)
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The remaining number of values that may be parsed.
    left: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > DEPTH {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let start = self.at;
        let kind = match self.peek()? {
            b'[' => self.many(depth, b']', false)?,
            b'{' => self.many(depth, b'}', true)?,
            b'"' => {
                self.string()?;
                NodeShape::Scalar
            }
            _ => {
                let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
                while self.peek().is_some_and(word) {
                    self.at += 1;
                }
                if self.at == start {
                    return None;
                }
                NodeShape::Scalar
            }
        };
        let span = start..self.at;
        Some(Node { span, kind })
    }

    fn many(&mut self, depth: usize, close: u8, object: bool) -> Option<NodeShape> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.takes(close) {
            return Some(NodeShape::Many { items, object });
        }
        loop {
            self.blanks();
            let start = self.at;
            let key = if object {
                let key = self.string()?;
                self.blanks();
                if !self.takes(b':') {
                    return None;
                }
                self.blanks();
                Some(key)
            } else {
                None
            };
            let value = self.value(depth + 1)?;
            items.push(Item { start, key, value });
            self.blanks();
            if self.takes(close) {
                return Some(NodeShape::Many { items, object });
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if !self.takes(b'"') {
            return None;
        }
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at);
                }
                b'\\' => self.at += 2,
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }
}
