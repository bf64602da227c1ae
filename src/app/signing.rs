//! The notary that signs checkpoints of the log, and what it reports.

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::{Notary, NotaryEvent, WriterHandle};
use crate::broker::LogDoubt;
use crate::model::{Lane, LogEvent, Ticket};
use crate::tui::{Header, LogCheck};

use super::Input;
use super::works::Parts;

/// Starts the notary; it reports to the loop.
pub fn start(parts: &Parts, inbox: UnboundedSender<Input>) -> Notary {
    let report = move |event| {
        let _ = inbox.send(Input::Notary(event));
    };
    Notary::start(
        &parts.state_dir,
        parts.anchoring.clone(),
        parts.log.durable,
        Box::new(report),
    )
}

/// A person sees what checkpoints lack, and the log says once when that began. Returns what that means for grants.
pub fn tell(event: NotaryEvent, header: &mut Header, log: &WriterHandle) -> Option<LogDoubt> {
    let mut doubt = None;
    let (why, known) = match event {
        NotaryEvent::Works => {
            header.unanchored = None;
            return doubt;
        }
        // Nothing is wrong, but the person may not expect it.
        NotaryEvent::Began(before) => {
            let reason = format!(
                "a new key signs this log from seq {} on; the {before} records before it have no earlier checkpoint",
                before + 1
            );
            header.unanchored = Some(reason.clone());
            let event = LogEvent::Unanchored { reason };
            log.submit_in(Lane::Person, Ticket::Unawaited, event, Vec::new());
            return doubt;
        }
        NotaryEvent::Contradiction(why) => {
            let known = matches!(header.log, LogCheck::Damaged(_));
            header.log = LogCheck::Damaged(why.clone());
            doubt = Some(LogDoubt::Contradicted(why.clone()));
            (why, known)
        }
        NotaryEvent::Failed(why) => {
            let known = header.unanchored.replace(why.clone()).is_some();
            (why, known)
        }
    };
    if !known {
        let event = LogEvent::Unanchored { reason: why };
        log.submit_in(Lane::Person, Ticket::Unawaited, event, Vec::new());
    }
    doubt
}
