//! Two memories that become one.

use super::*;

#[test]
fn a_memory_that_another_follows_is_one_of_all() {
    let codes = ["x = 1", "x = 2", "y = 'a'"];
    let learn = |past: &mut Past, range: std::ops::Range<u32>| {
        for n in range {
            let (agent, title) = (
                ["hr", "etl"][n as usize % 2],
                ["pay", "age"][n as usize / 2 % 2],
            );
            let code = codes[n as usize % 3];
            propose_with(past, n, &One(agent, title, code, &["staff"]), |p| {
                if n.is_multiple_of(5) {
                    p.verdict.verdict = VerdictKind::Blocked;
                }
            });
            match n % 4 {
                0 => grant(past, n, i64::from(100 + n)),
                1 => deny(past, n, i64::from(100 + n), "no"),
                2 => edit(past, n, "z = 3"),
                _ => {}
            }
        }
    };
    for most in [1_000, 12] {
        let mut whole = Past::of_at_most(most);
        learn(&mut whole, 0..20);
        let (mut earlier, mut later) = (Past::of_at_most(most), Past::default());
        learn(&mut earlier, 0..11);
        learn(&mut later, 11..20);
        earlier.follow(later);
        // One of the later ones is decided after that.
        for past in [&mut whole, &mut earlier] {
            grant(past, 18, 200);
        }
        let shape = Shape::of(codes[0]).unwrap();
        for of in [
            Of::Agent(1000, "hr"),
            Of::Title("age"),
            Of::Titled(1000, "etl", "pay"),
            Of::Data("staff"),
            Of::Reads(1000, "hr", "staff"),
            Of::Code(Digest::of(b"x = 2")),
            Of::Code(Digest::of(b"z = 3")),
            Of::Tokens(shape),
            Of::Numbers(shape),
        ] {
            let (all, both) = (whole.tally(&of, None), earlier.tally(&of, None));
            assert_eq!(counted(&all), counted(&both), "{of:?}");
            assert_eq!(all.blocked, both.blocked, "{of:?}");
            let ids = |past: &Past| past.found(&of).map(|e| e.id).collect::<Vec<_>>();
            assert_eq!(ids(&whole), ids(&earlier), "{of:?}");
        }
        assert_eq!(whole.len(), earlier.len());
        assert_eq!(whole.reasons(7, 100), earlier.reasons(7, 100));
    }
}
