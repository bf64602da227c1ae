//! What a row of the queue says of an entry. The filter and the search look at the same text, as it is drawn.

use crate::broker::poll::Own;
use crate::broker::{BrokerState, Entry};
use crate::model::{EffectMark, Effects, State, VoteKind, Withheld};
use crate::policy::Contract;

use super::claim;
use super::theme::Role;
use super::words;

/// A short word with its role.
pub type Tag = (&'static str, Role);

/// What a row says beside its title: whether the agent is paused, whether a person edited the code, and what the code
/// touches, in the narrowest form.
pub fn tags(state: &BrokerState, entry: &Entry) -> Vec<Tag> {
    let p = &entry.proposal;
    let waits = entry.state() == State::Pending;
    let paused = waits && state.is_paused(p.peer.uid, p.peer.pid, p.agent_name());
    let paused = paused.then_some((words::PAUSED, Role::Flagged));
    let edited = entry.is_edited();
    let edited = edited.then_some((words::EDITED_ROW, Role::Accent));
    let others = || state.person_here().is_ok_and(|me| entry.asks_others(me));
    let is_known = || state.person_here().is_ok();
    let hopeless = entry.hopeless().is_some();
    let votes = entry.poll().filter(|_| waits);
    let votes = votes.and_then(|poll| match poll.own() {
        Own::Sent(_) | Own::Counted(_) => Some((words::votes::VOTED, Role::Dim)),
        Own::Open | Own::Signing(_) | Own::Failed(_) if hopeless => {
            Some((words::votes::STUCK, Role::Flagged))
        }
        Own::Open | Own::Failed(_) if is_known() && !counts(state, entry) => None,
        Own::Open if others() => Some((words::votes::OTHERS, Role::Dim)),
        Own::Open | Own::Signing(_) | Own::Failed(_) => Some((words::votes::VOTE, Role::Accent)),
    });
    let own = paused.into_iter().chain(votes).chain(edited);
    own.chain(effect_tags(entry)).collect()
}

/// Whether a vote of the person could count: a grant, or a veto from a seat.
fn counts(state: &BrokerState, entry: &Entry) -> bool {
    let person = state.person_here();
    person.is_ok_and(|me| entry.may_count(me)) || state.denies_as(entry) == VoteKind::Veto
}

/// `None` before it is analysed.
pub fn effects(entry: &Entry) -> Option<Effects> {
    let verdict = entry.verdict()?;
    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
    Some(Effects::of(verdict, inputs))
}

/// What of its run the agent does not get because it is private. A run without private data wrote the mark itself.
pub fn withheld(state: &BrokerState, entry: &Entry) -> Withheld {
    let withheld = entry.withheld();
    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
    let hides = state
        .policy_of(entry)
        .is_some_and(|policy| policy.contract == Contract::Scoped || policy.hides_any(inputs));
    Withheld {
        values: if hides { withheld.values } else { 0 },
        ..withheld
    }
}

pub fn effect_tags(entry: &Entry) -> Vec<Tag> {
    let Some(effects) = effects(entry) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if effects.private() {
        out.push((words::PRIV, Role::Private));
    }
    let lists = [
        (&effects.reads, EffectMark::Reads),
        (&effects.writes, EffectMark::Writes),
        (&effects.system, EffectMark::System),
        (&effects.deletes, EffectMark::Deletes),
        (&effects.runs, EffectMark::Runs),
        (&effects.network, EffectMark::Network),
    ];
    let present = lists.into_iter().filter(|(list, _)| !list.is_empty());
    out.extend(present.map(|(_, mark)| letter(mark)));
    out
}

/// The letter of an effect, in the queue and beside the code.
pub const fn letter(mark: EffectMark) -> Tag {
    match mark {
        EffectMark::Private => ("P", Role::Private),
        EffectMark::Reads => ("R", Role::Flagged),
        EffectMark::Alters => ("A", Role::Flagged),
        EffectMark::Writes => ("W", Role::Flagged),
        EffectMark::System => ("S", Role::Flagged),
        EffectMark::Deletes => ("D", Role::Flagged),
        EffectMark::Runs => ("X", Role::Flagged),
        EffectMark::Network => ("N", Role::Blocked),
    }
}

/// Glyph, word and role of an entry in the lists.
pub fn badge(entry: &Entry) -> (&'static str, &'static str, Role) {
    match (entry.verdict(), entry.state()) {
        (Some(verdict), State::Pending) => words::verdict(verdict.verdict),
        (_, state) => words::state(state),
    }
}

/// Everything that a row and the line above the code say of an entry, as it is drawn, so that a letter that
/// imitates another is not found as the other.
pub fn text(state: &BrokerState, entry: &Entry) -> String {
    let p = &entry.proposal;
    let mut said = claim::drawn(p.title.as_deref().unwrap_or(words::UNTITLED));
    let mut add = |what: &str| {
        said.push('\n');
        said.push_str(what);
    };
    add(&claim::drawn(p.agent_name()));
    add(badge(entry).1);
    add(&p.profile);
    for (tag, _) in tags(state, entry) {
        add(tag);
        if tag == words::PRIV {
            add(words::PRIVATE);
        }
    }
    let withheld = withheld(state, entry);
    if let Some(said) = words::withheld(withheld)
        .first()
        .filter(|_| !withheld.is_nothing())
    {
        add(said);
    }
    said
}

/// Whether the text has all of these words. A word that is a tag must stand by itself; capitals do not matter in
/// others.
pub fn has_all(text: &str, wanted: &str) -> bool {
    wanted.split_whitespace().all(|word| match is_tag(word) {
        true => text.split_whitespace().any(|w| w == word),
        false => super::document::matches(text, word).next().is_some(),
    })
}

fn is_tag(word: &str) -> bool {
    matches!(word, "R" | "W" | "S" | "D" | "X" | "N")
        || [
            words::PRIV,
            words::PRIVATE,
            words::PAUSED,
            words::votes::VOTE,
            words::votes::VOTED,
            words::votes::OTHERS,
            words::votes::STUCK,
        ]
        .contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_must_be_there_and_a_tag_stands_by_itself() {
        let text = "Write the report\netl-bot\nflagged\nPRIV\nPRIVATE";
        assert!(has_all(text, ""));
        assert!(has_all(text, "REPORT etl"));
        assert!(has_all(text, "priv flagged"));
        assert!(has_all(text, "PRIVATE"));
        assert!(!has_all(text, "report notebook"));
        assert!(!has_all(text, "W"), "a title's letter is no tag");
        assert!(has_all("x\nW", "W"));
    }
}
