//! The possible orders of a log: the writer may place a record as early as it was handed over, or
//! as late as it was reported durable. Each lane keeps its own order.

use super::super::event::Event;
use crate::clock::Now;
use crate::model::{Lane, LogEvent, Ticket};

#[derive(Default)]
pub struct Chain {
    early: Vec<(Ticket, Now, LogEvent)>,
    waiting: Vec<(Lane, Ticket, Now, LogEvent)>,
    late: Vec<(Now, LogEvent)>,
}

impl Chain {
    pub fn submitted(&mut self, lane: Lane, ticket: Ticket, now: Now, event: &LogEvent) {
        self.early.push((ticket, now, event.clone()));
        self.waiting.push((lane, ticket, now, event.clone()));
    }

    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::Durable { ticket } => self.durable(*ticket),
            Event::Unrecorded { ticket, .. } => {
                self.early.retain(|(t, ..)| t != ticket);
                self.waiting.retain(|(_, t, ..)| t != ticket);
            }
            _ => {}
        }
    }

    /// When a record is durable, the chain has every earlier record of its lane before it.
    fn durable(&mut self, ticket: Ticket) {
        let lane = self.waiting.iter().find(|(_, of, ..)| *of == ticket);
        let Some(lane) = lane.map(|(lane, ..)| *lane) else {
            return;
        };
        let is_durable = |one: &(Lane, Ticket, Now, LogEvent)| one.0 == lane && one.1 <= ticket;
        let (durable, waiting) = self.waiting.drain(..).partition(is_durable);
        self.waiting = waiting;
        self.late
            .extend(durable.into_iter().map(|(.., now, event)| (now, event)));
    }

    /// The chain in its earliest and its latest order, with the time at which each record was handed over.
    pub fn orders(self) -> [Vec<(Now, LogEvent)>; 2] {
        let early = self.early.into_iter();
        let early = early.map(|(_, now, event)| (now, event)).collect();
        [early, self.late]
    }
}
