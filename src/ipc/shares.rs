//! Who gets a connection, and whose connection makes room for it: fair shares between uids, then
//! between the peers of a uid.
//!
//! While there is room, everybody is admitted. When there is none, a uid (then a peer) that holds
//! fewer connections than another replaces the largest holder's idlest connection. A uid that has
//! none is always admitted as long as somebody holds two.

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::ConnId;

use super::router::Bounds;

/// The data of an open connection that decides on shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub conn: ConnId,
    /// Uid and pid.
    pub peer: (u32, i32),
    /// Unanswered calls.
    pub calls: usize,
    /// When it last sent a request or was sent something, as a logical clock.
    pub active: u64,
}

/// Where a new connection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    /// This connection is replaced.
    Instead(ConnId),
}

/// No room for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The uid holds this many connections, its maximum.
    Uid(usize),
    /// This many connections are open in total, and nobody holds more than this uid or peer.
    All(usize),
}

pub(super) fn room(
    held: &[Held],
    peer: (u32, i32),
    owner: u32,
    bounds: &Bounds,
) -> Result<Room, Full> {
    let of_uid = held.iter().filter(|h| h.peer.0 == peer.0).count();
    let uid_full = of_uid >= bounds.connections_per_uid;
    if !uid_full && held.len() < bounds.connections {
        return Ok(Room::Free);
    }
    if bounds.connections_per_uid == 0 || bounds.connections == 0 {
        return Err(Full::All(0));
    }
    if !uid_full && let Some((uid, most)) = largest(held.iter().map(|h| h.peer.0)) {
        // The dashboard's owner is admitted even if everybody else has only one.
        let owner_has_none = peer.0 == owner && of_uid == 0;
        if uid != peer.0 && (most > of_uid + 1 || owner_has_none) {
            return Ok(instead(held, uid));
        }
    }
    let own = || held.iter().filter(|h| h.peer.0 == peer.0).map(|h| h.peer);
    let of_peer = own().filter(|p| *p == peer).count();
    if largest(own()).is_some_and(|(_, most)| most > of_peer + 1) {
        return Ok(instead(held, peer.0));
    }
    Err(match uid_full {
        true => Full::Uid(of_uid),
        false => Full::All(held.len()),
    })
}

/// The idlest connection of this uid's peer with the most connections. One without an open call
/// goes first: nobody waits for an answer there.
fn instead(held: &[Held], uid: u32) -> Room {
    let of_uid = || held.iter().filter(|h| h.peer.0 == uid);
    let most = largest(of_uid().map(|h| h.peer)).map(|(peer, _)| peer);
    of_uid()
        .filter(|h| Some(h.peer) == most)
        .min_by_key(|h| (h.calls > 0, h.active))
        .map_or(Room::Free, |h| Room::Instead(h.conn))
}

/// Who holds the most, and how many. Among equals, always the same one.
fn largest<K: Hash + Eq + Ord + Copy>(holders: impl Iterator<Item = K>) -> Option<(K, usize)> {
    let mut counts: HashMap<K, usize> = HashMap::new();
    for holder in holders {
        *counts.entry(holder).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(k, n)| (*n, *k))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWNER: u32 = 1000;

    fn bounds() -> Bounds {
        Bounds {
            connections: 8,
            connections_per_uid: 4,
            ..Bounds::default()
        }
    }

    /// The connections held after these peers arrived one by one, and the answer to each.
    fn admit_all(who: &[(u32, i32)]) -> (Vec<Held>, Vec<Result<Room, Full>>) {
        let mut held: Vec<Held> = Vec::new();
        let mut answers = Vec::new();
        for (n, peer) in (0_u64..).zip(who) {
            let room = room(&held, *peer, OWNER, &bounds());
            if let Ok(Room::Instead(conn)) = room {
                held.retain(|h| h.conn != conn);
            }
            if room.is_ok() {
                held.push(Held {
                    conn: ConnId(n),
                    peer: *peer,
                    calls: 0,
                    active: n,
                });
            }
            answers.push(room);
        }
        (held, answers)
    }

    fn count(held: &[Held], uid: u32) -> usize {
        held.iter().filter(|h| h.peer.0 == uid).count()
    }

    #[test]
    fn a_uid_without_a_connection_replaces_the_idlest_one_of_the_largest_holder() {
        let mut who = vec![(1, 10); 5];
        who.extend([(2, 20); 5]);
        who.push((3, 30));
        who.push((OWNER, 1));
        let (held, answers) = admit_all(&who);
        assert_eq!(answers[4], Err(Full::Uid(4)));
        assert_eq!(answers[9], Err(Full::Uid(4)));
        assert_eq!(answers[10], Ok(Room::Instead(ConnId(5))));
        assert_eq!(answers[11], Ok(Room::Instead(ConnId(0))));
        let counts = [1, 2, 3, OWNER].map(|uid| count(&held, uid));
        assert_eq!(counts, [3, 3, 1, 1]);
    }

    #[test]
    fn the_bounds_on_connections_match_the_table() {
        // The default bounds. Every connection is a different peer, so nobody makes room.
        let open = |uids: u32| {
            let mut held = Vec::new();
            for n in 0..2_000 {
                let peer = (n % uids, n as i32);
                if room(&held, peer, OWNER, &Bounds::default()) == Ok(Room::Free) {
                    held.push(Held {
                        conn: ConnId(n.into()),
                        peer,
                        calls: 0,
                        active: 0,
                    });
                }
            }
            held.len()
        };
        let (of_uid, of_all) = (open(1), open(4));
        let row = format!(
            "| connections | a fair share | half of `max_connections` ({of_uid} of {of_all}), then fair shares (`ipc::shares`) |"
        );
        let table = include_str!("../../assets/docs/internals.md");
        assert!(
            table.lines().any(|line| line == row),
            "the table lacks the row {row}"
        );
    }

    #[test]
    fn a_peer_that_holds_all_of_its_uid_makes_room_for_another_peer_of_it() {
        let (held, answers) = admit_all(&[
            (1, 10),
            (1, 10),
            (1, 10),
            (1, 10),
            (1, 11),
            (1, 11),
            (1, 11),
        ]);
        assert_eq!(answers[4], Ok(Room::Instead(ConnId(0))));
        assert_eq!(answers[5], Ok(Room::Instead(ConnId(1))));
        assert_eq!(
            answers[6],
            Err(Full::Uid(4)),
            "both peers hold the same number"
        );
        assert_eq!(held.iter().filter(|h| h.peer.1 == 11).count(), 2);
    }

    #[test]
    fn only_the_owner_gets_in_when_everybody_has_one() {
        let mut who: Vec<(u32, i32)> = (1..=8).map(|uid| (uid, 1)).collect();
        who.push((9, 1));
        who.push((OWNER, 1));
        let (held, answers) = admit_all(&who);
        assert_eq!(answers[8], Err(Full::All(8)));
        assert!(matches!(answers[9], Ok(Room::Instead(_))));
        assert_eq!(count(&held, OWNER), 1);
    }

    #[test]
    fn a_connection_that_waits_for_an_answer_is_replaced_last() {
        let held = |calls, active, n| Held {
            conn: ConnId(n),
            peer: (1, 10),
            calls,
            active,
        };
        let four = [held(1, 0, 0), held(1, 1, 1), held(0, 3, 2), held(0, 2, 3)];
        let answer = room(&four, (1, 11), OWNER, &bounds());
        assert_eq!(answer, Ok(Room::Instead(ConnId(3))));
    }

    proptest! {
        /// After any history the bounds hold, and a uid or a peer with no connection is admitted
        /// while somebody else has two.
        #[test]
        fn a_new_uid_always_gets_in(who in prop::collection::vec((0u32..6, 0i32..3), 0..60)) {
            let (held, _) = admit_all(&who);
            prop_assert!(held.len() <= 8);
            for uid in 0..6 {
                prop_assert!(count(&held, uid) <= 4);
            }
            prop_assert!(room(&held, (77, 1), OWNER, &bounds()).is_ok());
            prop_assert!(room(&held, (OWNER, 1), OWNER, &bounds()).is_ok());
        }
    }
}
