//! What is said of a key, however it is kept.

use super::super::heads::Key;
use super::*;

/// Whether a key belongs to one proposal or to several, what is said of it is what stands with the proposals.
#[test]
fn tallies_are_those_of_the_proposals_that_are_remembered() {
    let mut seed = 7_u64;
    let mut dice = |sides: u32| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % u64::from(sides)) as u32
    };
    for round in 0..300 {
        let mut past = Past::of_at_most(3 + dice(8) as usize);
        for n in 0..40 {
            let title = format!("title {}", dice(30));
            let code = format!("x{} = {}", dice(6), dice(2));
            propose(
                &mut past,
                n,
                &One(["hr", "pay"][dice(2) as usize], &title, &code, &[]),
            );
            let one = dice(n + 1);
            match dice(6) {
                0 => grant(&mut past, one, i64::from(n)),
                1 => deny(&mut past, one, i64::from(n), ""),
                2 => edit(&mut past, n, &format!("x{} = 1", dice(9))),
                3 => {
                    edit(&mut past, n, "y = 1");
                    deny(&mut past, n, i64::from(n), "");
                }
                4 if past.all.len() > 2 => {
                    let mut newer = Past::default();
                    propose(&mut newer, 1_000 + n, &One("hr", &title, &code, &[]));
                    grant(&mut newer, 1_000 + n, i64::from(n));
                    past.follow(newer);
                }
                _ => {}
            }
        }
        let all: Vec<Key> = past.all.iter().flat_map(keys).collect();
        for key in &all {
            let those: Vec<&Earlier> = past
                .all
                .iter()
                .filter(|e| keys(e).any(|k| k == *key))
                .collect();
            let decided = |granted| {
                let decided = those.iter().filter_map(|e| e.decided.as_ref());
                decided.filter(|d| d.granted == granted).count() as u32
            };
            let head = past.head(*key).unwrap();
            let said = (head.count as usize, head.granted, head.denied);
            assert_eq!(
                said,
                (those.len(), decided(true), decided(false)),
                "round {round}"
            );
        }
        assert!(
            past.heads.keys().all(|key| all.contains(&key)),
            "round {round}"
        );
    }
}
