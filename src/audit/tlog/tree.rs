//! The Merkle tree over the records: RFC 6962, section 2.1.
//!
//! Leaf `seq - 1` is the line of record `seq`, without its line feed. Complete subtrees never change, so their hashes
//! are kept in the order in which they become complete, and every root and proof needs only a few of them.

use std::io;

use sha2::{Digest as _, Sha256};

use crate::model::Digest;

/// The largest tree: sizes are written as decimal digits that other programs read as signed numbers.
pub const SIZE_MAX: u64 = i64::MAX as u64;

pub fn leaf(line: &[u8]) -> Digest {
    let hash = Sha256::new_with_prefix([0]).chain_update(line);
    Digest::from_bytes(hash.finalize().into())
}

fn parent(left: &Digest, right: &Digest) -> Digest {
    let hash = Sha256::new_with_prefix([1])
        .chain_update(left.as_bytes())
        .chain_update(right.as_bytes());
    Digest::from_bytes(hash.finalize().into())
}

/// The hashes of complete subtrees.
pub trait Nodes {
    /// The hash over the leaves from `n << level` on, `1 << level` of them.
    ///
    /// # Errors
    /// When it is not there.
    fn node(&self, level: u32, n: u64) -> io::Result<Digest>;
}

/// How many hashes are kept for a tree of this size.
pub const fn kept(size: u64) -> u64 {
    2 * size - size.count_ones() as u64
}

/// Where the hash of a complete subtree stands among those that are kept.
pub const fn position(level: u32, n: u64) -> u64 {
    // It follows the hash of its last leaf and those of the smaller subtrees that this leaf completed.
    let last = ((n + 1) << level) - 1;
    kept(last) + level as u64
}

/// All hashes in memory, for a tree that was computed from a log.
#[derive(Clone, Debug, Default)]
pub struct InMemory(pub Vec<Digest>);

impl Nodes for InMemory {
    fn node(&self, level: u32, n: u64) -> io::Result<Digest> {
        let at = usize::try_from(position(level, n)).ok();
        let found = at.and_then(|at| self.0.get(at)).copied();
        found.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// The complete subtrees at the right edge: all that is needed to add leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// The largest first.
    edge: Vec<Digest>,
}

impl Frontier {
    /// The edge of a tree whose hashes are known.
    pub fn of(nodes: &impl Nodes, size: u64) -> io::Result<Self> {
        let mut edge = Vec::new();
        let mut before = 0;
        for level in (0..64).rev().filter(|level| size >> level & 1 == 1) {
            edge.push(nodes.node(level, before >> level)?);
            before += 1 << level;
        }
        Ok(Self { size, edge })
    }

    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf; `made` is given each hash that must be kept.
    pub fn push(&mut self, leaf: Digest, mut made: impl FnMut(Digest)) {
        let mut hash = leaf;
        made(hash);
        for _ in 0..self.size.trailing_ones() {
            let Some(left) = self.edge.pop() else { break };
            hash = parent(&left, &hash);
            made(hash);
        }
        self.edge.push(hash);
        self.size += 1;
    }

    pub fn root(&self) -> Digest {
        let mut from_right = self.edge.iter().rev();
        let Some(last) = from_right.next() else {
            return Digest::of(b"");
        };
        from_right.fold(*last, |right, left| parent(left, &right))
    }
}

/// The largest power of two smaller than `n`, which is at least 2.
const fn split(n: u64) -> u64 {
    1 << (n - 1).ilog2()
}

/// The hash over the leaves `from..to`, as the tree has it: `from` is a multiple of the smallest power of two that is
/// not smaller than their number.
fn over(nodes: &impl Nodes, from: u64, to: u64) -> io::Result<Digest> {
    let n = to - from;
    if n.is_power_of_two() {
        let level = n.ilog2();
        return nodes.node(level, from >> level);
    }
    let middle = from + split(n);
    Ok(parent(
        &over(nodes, from, middle)?,
        &over(nodes, middle, to)?,
    ))
}

/// The root of the tree of the first `size` leaves.
pub fn root(nodes: &impl Nodes, size: u64) -> io::Result<Digest> {
    match size {
        0 => Ok(Digest::of(b"")),
        _ => over(nodes, 0, size),
    }
}

fn outside() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not within the tree")
}

/// What proves that leaf `index` is in the tree of the first `size` leaves: RFC 6962, section 2.1.1.
pub fn inclusion(nodes: &impl Nodes, index: u64, size: u64) -> io::Result<Vec<Digest>> {
    if index >= size {
        return Err(outside());
    }
    let (mut from, mut to) = (0, size);
    let mut path = Vec::new();
    while to - from > 1 {
        let middle = from + split(to - from);
        if index < middle {
            path.push(over(nodes, middle, to)?);
            to = middle;
        } else {
            path.push(over(nodes, from, middle)?);
            from = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// What proves that the tree of the first `size` leaves extends that of the first `old`: RFC 6962, section 2.1.2.
pub fn consistency(nodes: &impl Nodes, old: u64, size: u64) -> io::Result<Vec<Digest>> {
    if old > size {
        return Err(outside());
    }
    if old == 0 || old == size {
        return Ok(Vec::new());
    }
    let (mut from, mut to) = (0, size);
    let mut path = Vec::new();
    while old < to {
        let middle = from + split(to - from);
        if old <= middle {
            path.push(over(nodes, middle, to)?);
            to = middle;
        } else {
            path.push(over(nodes, from, middle)?);
            from = middle;
        }
    }
    // The old tree itself is what the proof is about.
    if from != 0 {
        path.push(over(nodes, from, to)?);
    }
    path.reverse();
    Ok(path)
}

/// The root that a proof of inclusion leads to; `None` if it has another length.
pub fn leads_to(index: u64, size: u64, leaf: Digest, path: &[Digest]) -> Option<Digest> {
    if index >= size {
        return None;
    }
    let (mut at, mut last) = (index, size - 1);
    let mut hash = leaf;
    for beside in path {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            hash = parent(beside, &hash);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            hash = parent(&hash, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(hash)
}

/// Whether a proof shows that the tree of `size` leaves with this root extends that of `old` leaves, at least one, with that root:
/// RFC 9162, section 2.1.4.2.
pub fn extends(
    (old, old_root): (u64, Digest),
    (size, root): (u64, Digest),
    path: &[Digest],
) -> bool {
    if old == size {
        return path.is_empty() && old_root == root;
    }
    if old == 0 || old > size {
        return false;
    }
    let whole = old.is_power_of_two().then_some(old_root);
    let mut steps = whole.iter().chain(path);
    let Some(first) = steps.next() else {
        return false;
    };
    let (mut at, mut last) = (old - 1, size - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut before, mut now) = (*first, *first);
    for beside in steps {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            before = parent(beside, &before);
            now = parent(beside, &now);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            now = parent(&now, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && before == old_root && now == root
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
