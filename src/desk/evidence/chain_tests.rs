#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::super::admitted::admitted;
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
    let went_on = |from, to| Doubt::WentOn { from, to };
    let rows: [(&[Row<'_>], Vec<Doubt>); 12] = [
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
            vec![went_on(9, 4)],
        ),
        // The most that was signed is named, and not what came between.
        (
            &[
                (16, "a", 1, &[]),
                (18, "b", 2, &[(16, "a")]),
                (58, "c", 3, &[(18, "b")]),
                (17, "x", 4, &[(16, "a")]),
                (20, "y", 5, &[(17, "x")]),
            ],
            vec![back(58, 17)],
        ),
        // It grew past what had been signed: proofs say what it went on from.
        (
            &[
                (16, "a", 1, &[]),
                (40, "b", 2, &[(16, "a")]),
                (58, "c", 3, &[(40, "b")]),
                (17, "x", 4, &[(16, "a")]),
                (70, "y", 5, &[(17, "x"), (58, "z")]),
            ],
            vec![went_on(58, 16)],
        ),
        (
            &[
                (16, "a", 1, &[]),
                (58, "c", 3, &[(16, "a")]),
                (70, "y", 4, &[(16, "a"), (58, "z")]),
            ],
            vec![went_on(58, 16)],
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

#[test]
fn what_a_host_says_itself_stands_until_it_signs_a_log_that_has_all_again() {
    let mut log = chain(&[(16, "a", 1, &[]), (58, "c", 3, &[(16, "a")])]);
    assert!(!log.is_doubted());
    log.admit(admitted(4, 16, 58, None));
    assert_eq!((log.is_doubted(), log.number()), (true, 4));
    // Older words, and shorter or earlier logs, change nothing.
    log.admit(admitted(2, 1, 2, None));
    for (size, number) in [(58, 3), (57, 5), (90, 4)] {
        log.know((size, root("c")), number, Timestamp::UNIX_EPOCH);
        assert_eq!(log.admitted().map(|said| said.has), Some(16), "{size}");
    }
    log.know((59, root("d")), 5, Timestamp::UNIX_EPOCH);
    assert_eq!(log.admitted(), None);
}

#[test]
fn a_host_says_what_happened_and_how_many_records_there_were() {
    for (has, base, words) in [
        (16, None, "has 16 records"),
        (70, Some(16), "went on from 16 records after"),
        (70, None, "the first 58 records of"),
    ] {
        let said = admitted(4, has, 58, base);
        for text in [said.to_string(), said.here()] {
            assert!(text.contains(words) && text.contains("58"), "{text}");
        }
        assert!(said.here().contains("put the newer state folder back"));
    }
}
