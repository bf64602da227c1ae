//! Reports from the log to the loop, and the closing records for an earlier dashboard.

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::{Writer, WriterEvent, WriterHandle};
use crate::broker::Event;
use crate::model::{Lane, LogEvent, ProposalId, State};

use super::Input;

/// Starts the writer's thread. Reports about a person's decisions go to an inbox of their own.
pub fn start(
    writer: Writer,
    decided: &UnboundedSender<Input>,
    inbox: &UnboundedSender<Input>,
) -> WriterHandle {
    let (decided, inbox) = (decided.clone(), inbox.clone());
    writer.start(Box::new(move |event| {
        let (way, event) = match event {
            WriterEvent::Durable { ticket, lane, .. } => {
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
    unfinished.iter().map(|(id, state)| match state {
        State::Pending => LogEvent::Unattended { id: *id },
        _ => LogEvent::Failed {
            id: *id,
            state: State::Error,
            message: "the dashboard stopped before this ended".to_owned(),
        },
    })
}
