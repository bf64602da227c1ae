#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn root(name: &str) -> Digest {
    Digest::of(name.as_bytes())
}

/// The size, the root's name, the number, and what it extends.
type Row<'a> = (u64, &'a str, u64, &'a [(u64, &'a str)]);

fn chain(rows: &[Row<'_>]) -> Chain {
    let mut chain = Chain::default();
    for (size, name, number, from) in rows {
        chain.add(&Published {
            size: *size,
            root: root(name),
            number: *number,
            at: Timestamp::UNIX_EPOCH,
            from: from
                .iter()
                .map(|(size, name)| (*size, root(name)))
                .collect(),
        });
    }
    chain
}

#[test]
fn a_rewritten_and_a_rolled_back_log_are_named_in_whatever_order_they_are_seen() {
    let forked = |size| Doubt::Forked { size };
    let back = |from, to| Doubt::RolledBack { from, to };
    let rows: [(&[Row<'_>], Vec<Doubt>); 9] = [
        (&[], vec![]),
        (&[(5, "a", 1, &[]), (9, "b", 2, &[(5, "a")])], vec![]),
        // Published again, with other proofs.
        (
            &[(5, "a", 1, &[]), (5, "a", 2, &[]), (9, "b", 3, &[(5, "a")])],
            vec![],
        ),
        // Some are withheld: nobody is accused of that.
        (&[(5, "a", 1, &[]), (9, "b", 4, &[(7, "c")])], vec![]),
        // Two of one size.
        (&[(5, "a", 1, &[]), (5, "x", 2, &[])], vec![forked(5)]),
        // A later one says that it extends what was never published.
        (
            &[(5, "a", 1, &[]), (9, "b", 2, &[(5, "x")])],
            vec![forked(5)],
        ),
        // Fewer after more: the host counted on.
        (&[(9, "b", 2, &[]), (5, "a", 3, &[])], vec![back(9, 5)]),
        // It forgot how far it had counted.
        (&[(9, "b", 2, &[]), (5, "a", 2, &[])], vec![back(9, 5)]),
        (
            &[
                (4, "z", 1, &[]),
                (9, "b", 2, &[(4, "z")]),
                (6, "a", 3, &[(4, "z")]),
                (9, "x", 4, &[(6, "a")]),
            ],
            vec![forked(9), back(9, 6)],
        ),
    ];
    for (rows, doubts) in rows {
        assert_eq!(chain(rows).doubts(), doubts, "{rows:?}");
        let turned: Vec<Row<'_>> = rows.iter().rev().copied().collect();
        assert_eq!(chain(&turned).doubts(), chain(rows).doubts(), "{rows:?}");
    }
}

#[test]
fn a_signature_counts_for_all_that_its_checkpoint_is_proved_to_extend() {
    let mut chain = chain(&[
        (5, "a", 1, &[]),
        (7, "b", 2, &[(5, "a")]),
        (9, "c", 3, &[(7, "b")]),
        (12, "d", 4, &[(11, "?")]),
    ]);
    assert_eq!(chain.gaps(), [12]);
    assert_eq!(chain.after((5, root("a"))).unwrap().0, (7, root("b")));
    assert_eq!(chain.after((9, root("c"))), None);
    assert!(chain.cosign((9, root("c")), "lab-2"));
    assert!(chain.cosign((12, root("d")), "lab-3"));
    assert!(!chain.cosign((9, root("x")), "lab-3"));
    let by = |size, name: &str| {
        chain
            .cosigners((size, root(name)))
            .into_iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(by(5, "a"), ["lab-2"]);
    assert_eq!(by(9, "c"), ["lab-2"]);
    assert_eq!(by(12, "d"), ["lab-3"]);
}
