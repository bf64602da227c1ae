//! Tests of the core. Everything goes through `update`, and [`watch::Watch`], an independent
//! model of what must never happen, checks every step of every test.

mod agents;
mod artifacts;
mod asking;
mod audit_down;
mod binding;
mod chain;
mod closing;
mod consistency;
mod deadlines;
mod doubted;
mod drills;
mod edits;
mod electorates;
mod fairness;
mod handed_out;
mod memory;
mod news;
mod pauses;
mod phases;
mod quotas;
mod reach;
mod records;
mod runs;
mod samples;
mod scopes;
mod seat;
mod sequences;
mod states;
mod unattended;
mod unkept;
mod vain;
mod voters;
mod votes;
mod votes_later;
mod votes_told;
mod waits;
mod watch;
mod watch_votes;
mod weights;
mod world;

pub(crate) use handed_out::handed_out;
pub(crate) use news::offered_again;
pub(crate) use samples::policy;
pub(crate) use sequences::{random_logs, random_timed_logs};
