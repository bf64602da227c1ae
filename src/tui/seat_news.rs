//! What is new about an offer, in a seat: its host's log knows, and its word is told as its word. A seat's own log has
//! nothing but votes.

use jiff::tz::TimeZone;

use crate::broker::Entry;
use crate::broker::offer::Offer;
use crate::clock::Now;

use super::novelty::{self, Line, Whose};
use super::theme::Role;
use super::words;

pub fn said(
    offer: &Offer,
    entry: &Entry,
    whose: Whose,
    time: (&TimeZone, Now),
    compare: &str,
) -> Vec<Line> {
    let host = words::votes::short_host(&offer.host);
    let alone = |words: String| vec![vec![(words, Role::Flagged)]];
    let Some(before) = &offer.before else {
        return alone(words::says_nothing_new(&host));
    };
    if !before.is_read {
        return alone(words::not_known_at(&host));
    }
    let mut lines = novelty::said(&before.news, entry, whose, time, compare);
    match lines.first_mut() {
        Some(first) => first.insert(0, (words::at_host(&host), Role::Dim)),
        None => return alone(words::says_nothing_new(&host)),
    }
    lines
}

/// Why there is no earlier code of its host to compare with.
pub fn no_diff(offer: &Offer, when: impl Fn(jiff::Timestamp) -> String) -> String {
    let host = words::votes::short_host(&offer.host);
    match &offer.before {
        None => words::no_diff_from(&host),
        Some(before) if !before.is_read => words::diff_unread_at(&host),
        Some(before) => match before.granted.first() {
            None => words::no_diff_at(&host),
            Some(one) => words::diff_not_sent(&host, &when(one.at), &one.code.short(8)),
        },
    }
}
