//! Reports from the log to the loop, and the closing records for an earlier dashboard.

use std::path::Path;

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::{Feeder, Informer, Writer, WriterEvent, WriterHandle};
use crate::broker::Event;
use crate::model::{Lane, LogEvent, ProposalId, State};

use super::Input;

/// Starts the thread that keeps the index of the log; the dashboard does not need it.
pub fn feeder(state_dir: &Path) -> Option<Feeder> {
    let feeder = Feeder::start(state_dir);
    feeder
        .inspect_err(|e| tracing::warn!("no index is kept: {e}"))
        .ok()
}

/// Starts the writer's thread. Reports about a person's decisions go to an inbox of their own.
pub fn start(
    writer: Writer,
    feeder: Option<&Feeder>,
    decided: &UnboundedSender<Input>,
    inbox: &UnboundedSender<Input>,
    signs: Informer,
) -> WriterHandle {
    let (decided, inbox) = (decided.clone(), inbox.clone());
    let fed = feeder.map(Feeder::fed);
    writer.start(Box::new(move |event| {
        if let (WriterEvent::Durable { .. }, Some(fed)) = (&event, &fed) {
            fed.wrote();
        }
        let (way, event) = match event {
            WriterEvent::Durable { ticket, lane, seq } => {
                signs.durable(seq);
                let way = match lane {
                    Lane::Person => &decided,
                    Lane::Agents => &inbox,
                };
                (way, Event::Durable { ticket })
            }
            WriterEvent::Unrecorded {
                ticket,
                lane,
                reason,
            } => {
                let way = match lane {
                    Lane::Person => &decided,
                    Lane::Agents => &inbox,
                };
                tracing::warn!("a record was left out of the log: {reason}");
                (way, Event::Unrecorded { ticket, reason })
            }
            WriterEvent::Down { reason } => (&decided, Event::AuditDown { reason }),
        };
        let _ = way.send(Input::Core(event));
    }))
}

/// Ends what an earlier dashboard left open when it was killed: none of it resumes.
pub fn closing_records(unfinished: &[(ProposalId, State)]) -> impl Iterator<Item = LogEvent> + '_ {
    let failed = |id, message: &str| LogEvent::Failed {
        id,
        state: State::Error,
        message: message.to_owned(),
    };
    unfinished.iter().map(move |(id, state)| match state {
        State::Pending => LogEvent::Unattended { id: *id },
        // Nothing is let go before its start is recorded.
        State::Granted => failed(
            *id,
            "the dashboard stopped before this was started: it was not executed",
        ),
        _ => failed(
            *id,
            "the dashboard stopped while this ran: the outcome is unknown",
        ),
    })
}
