//! What the random sequences reach.

use super::sequences::lives;
use crate::model::{Digest, LogEvent, ProposalId, State};

/// The generator has to reach what it is meant to test: a property that never applies proves
/// nothing.
#[test]
fn random_lives_reach_every_end() {
    let mut ends = std::collections::BTreeSet::new();
    let made_of = |event: &LogEvent| match event {
        LogEvent::Edited(e) => Some((e.id, e.digest)),
        _ => None,
    };
    let is_granted = |event: &LogEvent, made: &[(ProposalId, Digest)]| match event {
        LogEvent::Granted(g) => made.contains(&(g.id, g.digest)),
        _ => false,
    };
    let mut drills = std::collections::BTreeSet::new();
    let (mut released, mut unkept, mut edited, mut granted_edits) = (0, 0, 0, 0);
    for play in lives(300) {
        released += play.world.released.len();
        let is_edit = |e: &&LogEvent| matches!(e, LogEvent::Edited(_));
        edited += play.world.log.iter().filter(is_edit).count();
        let made: Vec<_> = play.world.log.iter().filter_map(made_of).collect();
        granted_edits += play
            .world
            .log
            .iter()
            .filter(|e| is_granted(e, &made))
            .count();
        ends.extend(play.world.log.iter().filter_map(|e| e.state()));
        let lost_output = |e: &&LogEvent| matches!(e, LogEvent::Finished(f) if f.unkept.is_some());
        drills.extend(play.world.log.iter().filter_map(|event| match event {
            LogEvent::Drilled(drilled) => Some(drilled.end),
            _ => None,
        }));
        unkept += play.world.log.iter().filter(lost_output).count();
    }
    assert!(unkept > 0, "no sequence has a run that lost its output");
    assert!(
        edited > 50 && granted_edits > 0,
        "{edited} edits, {granted_edits} granted"
    );
    assert!(released > 50, "the sequences have only {released} runs");
    assert_eq!(drills.len(), 3, "an end of drills is missing: {drills:?}");
    for state in [
        State::Succeeded,
        State::Failed,
        State::Denied,
        State::Expired,
        State::Withdrawn,
        State::Blocked,
        State::Unattended,
        State::Error,
        State::Drilled,
    ] {
        assert!(ends.contains(&state), "{state} was never reached");
    }
}
