//! One request at one host: handed in, and what its host says to it.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::ballot::Key;
use crate::broker::RpcError;
use crate::desk::asking::{
    ASKING_MAX, Answer, AnswerSays, Asks, Request, RequestFormat, withdrawal_of,
};
use crate::desk::engine::{EngineError, RequestRow, StatementRow};
use crate::model::{Digest, ProposalId, visible};

use super::{Gateway, GatewayError, soon};

/// How long after its time a request stays to be read: the engine's clock may be ahead. The host goes by its own.
const AFTER: SignedDuration = SignedDuration::from_mins(2);

/// A request as it stands at the engine.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub host: String,
    pub id: Uuid,
    /// SHA-256 of its bytes.
    pub digest: Digest,
    pub taken_by: Timestamp,
    /// Whether it was handed in by this call.
    pub is_new: bool,
}

/// What a host has said to it so far.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Nothing,
    Taken,
    NotTaken(String),
    Refused(RpcError),
    Proposed(Value),
    /// What `propose` answered, if that came, and the outcome.
    Ended(Option<Value>, Value),
    Result(Value),
}

impl Gateway {
    /// Hands a request in.
    pub(super) async fn put(
        &self,
        host: &str,
        id: Uuid,
        asks: Asks,
    ) -> Result<Asked, GatewayError> {
        let (asked, row) = self.made(host, id, asks)?;
        self.0.engine.request(&row).await?;
        Ok(asked)
    }

    /// The same where nothing may come of what did not arrive for sure.
    pub(super) async fn put_once(
        &self,
        host: &str,
        id: Uuid,
        asks: Asks,
    ) -> Result<Asked, GatewayError> {
        let (asked, row) = self.made(host, id, asks)?;
        match self.0.engine.request(&row).await {
            Ok(()) => Ok(asked),
            Err(e @ EngineError::Unreachable(_)) => {
                self.give_up(asked);
                Err(GatewayError::Away(format!(
                    "{e}; if the request arrived nevertheless, it is withdrawn; call the tool again later"
                )))
            }
            Err(e) => Err(e.into()),
        }
    }

    fn made(&self, host: &str, id: Uuid, asks: Asks) -> Result<(Asked, RequestRow), GatewayError> {
        let taken_by = soon();
        let request = Request {
            format: RequestFormat::V1,
            host: host.to_owned(),
            taken_by,
            session: self.session(),
            asks,
        };
        let body = request.bytes();
        if body.len() > ASKING_MAX {
            return Err(GatewayError::TooLarge(format!(
                "the request has {} bytes, and the engine takes {ASKING_MAX}",
                body.len()
            )));
        }
        let asked = Asked {
            host: host.to_owned(),
            id,
            digest: Digest::of(&body),
            taken_by,
            is_new: true,
        };
        let row = RequestRow {
            host: host.to_owned(),
            id,
            deadline: taken_by.checked_add(AFTER).unwrap_or(Timestamp::MAX),
            body,
            login: String::new(),
        };
        Ok((asked, row))
    }

    /// A request of this login that is at the engine.
    pub(super) async fn found(&self, host: &str, id: Uuid) -> Result<Option<Asked>, GatewayError> {
        let row = self.0.engine.request_by(host, None, id).await?;
        Ok(row.and_then(|row| {
            Some(Asked {
                host: host.to_owned(),
                id,
                digest: Digest::of(&row.body),
                taken_by: Request::read(&row.body).ok()?.taken_by,
                is_new: false,
            })
        }))
    }

    /// Tells a host not to take a request, or to withdraw what it proposed.
    pub(super) async fn put_withdrawal(&self, of: &Asked) -> Result<Asked, GatewayError> {
        let name = withdrawal_of(of.id);
        match self.found(&of.host, name).await? {
            Some(asked) => Ok(asked),
            None => {
                let asks = Asks::Withdraw { request: of.id };
                self.put(&of.host, name, asks).await
            }
        }
    }

    /// Withdraws a request, also when the engine is away for a while.
    pub(super) fn give_up(&self, asked: Asked) {
        const TIMES: u32 = 150;
        const AGAIN: std::time::Duration = std::time::Duration::from_secs(2);
        let gateway = self.clone();
        tokio::spawn(async move {
            for _ in 0..TIMES {
                if gateway.put_withdrawal(&asked).await.is_ok() {
                    return;
                }
                tokio::time::sleep(AGAIN).await;
            }
        });
    }

    /// What its host says, as far as it is signed.
    pub(super) async fn said(&self, asked: &Asked) -> Result<Said, GatewayError> {
        let name = ProposalId::from_uuid(asked.id);
        let (mut answers, mut since) = (Vec::new(), None);
        loop {
            let page = self.0.engine.statements_for(&[name], since).await?;
            for row in page.rows {
                match self.believed(asked, &row) {
                    Ok(answer) => answers.push(answer),
                    Err(why) => tracing::warn!("not believed, of `{}`: {why}", visible(&row.host)),
                }
            }
            since = page.seen;
            if !page.more {
                break;
            }
        }
        answers.sort_by_key(|answer| answer.number);
        Ok(summed(answers))
    }

    /// # Errors
    /// Why it says nothing to this request.
    fn believed(&self, asked: &Asked, row: &StatementRow) -> Result<Answer, String> {
        let hosts = &self.0.hosts;
        if row.host != asked.host {
            return Err("another host was asked".to_owned());
        }
        hosts.check(&asked.host, &row.body, &row.signature)?;
        let answer = Answer::read(&row.body)?;
        let own = hosts.key(&asked.host).map(Key::fingerprint);
        if answer.host != asked.host || own != Some(answer.host_key.as_str()) {
            return Err("it names another host than signed it".to_owned());
        }
        if answer.request != asked.id || answer.asked != asked.digest {
            return Err("it answers another request".to_owned());
        }
        Ok(answer)
    }
}

/// What all answers come to. What was said last of an end counts for nothing once another end is known.
fn summed(answers: Vec<Answer>) -> Said {
    let mut said = Said::Nothing;
    for answer in answers {
        said = match (said, answer.says) {
            (Said::Nothing, AnswerSays::Taken) => Said::Taken,
            (Said::Nothing | Said::Taken, AnswerSays::Proposed(value)) => Said::Proposed(value),
            (Said::Nothing | Said::Taken, AnswerSays::NotTaken { why }) => Said::NotTaken(why),
            (Said::Nothing | Said::Taken | Said::Proposed(_), AnswerSays::Refused(error)) => {
                Said::Refused(error)
            }
            (Said::Nothing | Said::Taken, AnswerSays::Result(value)) => Said::Result(value),
            (Said::Proposed(proposed), AnswerSays::Ended(outcome)) => {
                Said::Ended(Some(proposed), outcome)
            }
            (Said::Nothing | Said::Taken, AnswerSays::Ended(outcome)) => Said::Ended(None, outcome),
            (before, _) => before,
        };
    }
    said
}
