//! What is open while the loop runs: the socket for agents, and what votes need.

use tokio::sync::mpsc::UnboundedSender;

use crate::error::Failure;
use crate::ipc::Listener;
use crate::model::Reviewer;

use super::super::Input;
use super::super::startup::{Role, Setup};
use super::super::voters::Hands;

/// The socket for agents. A reviewer's seat has none.
pub(super) async fn listen(setup: &Setup) -> Result<Option<Listener>, Failure> {
    if matches!(setup.role, Role::Seat(_)) {
        return Ok(None);
    }
    let bound = Listener::bind(&setup.socket).await;
    bound.map(Some).map_err(|e| Failure::general(e.to_string()))
}

/// At a host, the socket for those who vote; in a seat, the conversation with its host.
pub(super) fn desk(
    setup: &mut Setup,
    by: &Reviewer,
    decided: &UnboundedSender<Input>,
) -> Result<Option<Hands>, Failure> {
    match std::mem::replace(&mut setup.role, Role::Dashboard) {
        Role::Seat(sitting) => Ok(Some(Hands::sit(sitting, by.clone(), decided.clone()))),
        Role::Dashboard | Role::Demo => {
            let desk = setup.desk.take();
            desk.map(|desk| desk.open(by.clone(), decided.clone()))
                .transpose()
        }
    }
}
