#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::*;

/// RFC 6962 word for word, over all leaves.
fn by_the_book(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [one] => *one,
        many => {
            let (left, right) = many.split_at(split(many.len() as u64) as usize);
            parent(&by_the_book(left), &by_the_book(right))
        }
    }
}

fn subproof(old: usize, leaves: &[Digest], whole: bool) -> Vec<Digest> {
    if old == leaves.len() {
        return if whole {
            vec![]
        } else {
            vec![by_the_book(leaves)]
        };
    }
    let k = split(leaves.len() as u64) as usize;
    let (left, right) = leaves.split_at(k);
    if old <= k {
        let mut path = subproof(old, left, whole);
        path.push(by_the_book(right));
        path
    } else {
        let mut path = subproof(old - k, right, false);
        path.push(by_the_book(left));
        path
    }
}

fn leaves(n: u64) -> Vec<Digest> {
    (0..n).map(|i| leaf(&i.to_le_bytes())).collect()
}

fn grown(leaves: &[Digest]) -> (Frontier, InMemory) {
    let (mut edge, mut all) = (Frontier::default(), InMemory::default());
    for leaf in leaves {
        edge.push(*leaf, |hash| all.0.push(hash));
    }
    (edge, all)
}

#[test]
fn every_small_tree_is_that_of_the_rfc() {
    for n in 0..=70 {
        let leaves = leaves(n);
        let (edge, all) = grown(&leaves);
        assert_eq!(all.0.len() as u64, kept(n));
        let right = by_the_book(&leaves);
        assert_eq!(edge.root(), right, "{n}");
        assert_eq!(root(&all, n).unwrap(), right);
        assert_eq!(Frontier::of(&all, n).unwrap(), edge);
        for old in 0..=n {
            let proof = consistency(&all, old, n).unwrap();
            let book = match old {
                0 => vec![],
                old => subproof(old as usize, &leaves, true),
            };
            assert_eq!(proof, book, "{old} of {n}");
            let roots = (by_the_book(&leaves[..old as usize]), right);
            let shows = |proof: &[Digest]| extends((old, roots.0), (n, roots.1), proof);
            assert_eq!(shows(&proof), old > 0 || n == 0, "{old} of {n}");
            if old == 0 || old == n {
                continue;
            }
            let other = leaf(b"another");
            assert!(!extends((old, other), (n, right), &proof));
            assert!(!extends((old, roots.0), (n, other), &proof));
            assert!(!shows(&proof[..proof.len() - 1]));
            assert!(!shows(&[&proof[..], &[right]].concat()));
            for at in 0..proof.len() {
                let mut changed = proof.clone();
                changed[at] = other;
                assert!(!shows(&changed), "{at} of the proof from {old} to {n}");
            }
        }
        for index in 0..n {
            let proof = inclusion(&all, index, n).unwrap();
            let here = leaves[index as usize];
            assert_eq!(leads_to(index, n, here, &proof), Some(right));
            assert_ne!(leads_to(index, n, leaf(b"another"), &proof), Some(right));
            let mut longer = proof.clone();
            longer.push(right);
            assert_eq!(leads_to(index, n, here, &longer), None);
            if let Some((_, shorter)) = proof.split_last() {
                assert_eq!(leads_to(index, n, here, shorter), None);
            }
        }
        assert!(inclusion(&all, n, n).is_err());
        assert!(consistency(&all, n + 1, n).is_err());
    }
}

/// The roots that RFC 6962's reference implementation publishes for its test data.
#[test]
fn the_published_roots_are_reached() {
    let data: [&[u8]; 8] = [
        b"",
        &[0x00],
        &[0x10],
        &[0x20, 0x21],
        &[0x30, 0x31],
        &[0x40, 0x41, 0x42, 0x43],
        &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
        &[
            0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d,
            0x6e, 0x6f,
        ],
    ];
    let (edge, _) = grown(&[]);
    assert_eq!(
        edge.root().hex(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    let all: Vec<Digest> = data.iter().map(|data| leaf(data)).collect();
    assert_eq!(
        grown(&all[..1]).0.root().hex(),
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    );
    assert_eq!(
        grown(&all).0.root().hex(),
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
    );
}

proptest! {
    #[test]
    fn a_large_tree_proves_each_of_its_leaves(n in 1_u64..5_000, at in any::<prop::sample::Index>()) {
        let (edge, all) = grown(&leaves(n));
        let index = at.index(n as usize) as u64;
        let proof = inclusion(&all, index, n).unwrap();
        let here = all.node(0, index).unwrap();
        prop_assert_eq!(leads_to(index, n, here, &proof), Some(edge.root()));
    }
}
