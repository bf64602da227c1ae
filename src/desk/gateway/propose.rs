//! One call of `propose`: hosts are asked in turn, and one of them at most proposes it.

use serde_json::{Value, json};
use tokio::time::Instant;
use uuid::Uuid;

use crate::broker::RpcError;
use crate::desk::asking::{AnswerSays, Asks};

use super::asked::{Asked, Said};
use super::{ANSWER, BESIDE, Gateway, GatewayError, Known, until_news};

/// What asking one host came to.
enum Turn {
    /// Its answer to `propose`, and how that ended, if it has.
    Proposed(Asked, Value, Option<Value>),
    /// It does nothing of it, and said so or could not have taken it any more.
    Next {
        why: String,
        refusal: Option<RpcError>,
    },
}

impl Gateway {
    pub(super) async fn propose(&self, mut params: Value) -> Result<Value, GatewayError> {
        let hosts = self.in_turn(&params)?;
        // The same key finds what was asked before; each call without one is its own.
        let key = params.as_object_mut().and_then(|params| {
            params.remove("stream");
            params.remove("idempotency_key")
        });
        let key = key.as_ref().and_then(Value::as_str).map(str::to_owned);
        let is_kept = key.is_some();
        let key = key.unwrap_or_else(|| Uuid::new_v4().to_string());
        let (mut passed, mut refusal) = (Vec::new(), None);
        for host in hosts {
            match self.propose_at(&host, &key, &params).await? {
                Turn::Proposed(asked, proposed, ended) => {
                    return self.take_up(asked, proposed, ended, is_kept);
                }
                Turn::Next {
                    why,
                    refusal: refused,
                } => {
                    passed.push(format!("{host}: {why}"));
                    refusal = refusal.or(refused);
                }
            }
        }
        let passed = passed.join("; ");
        match refusal {
            Some(error) => {
                let message = format!("no host proposed it ({passed})");
                Err(GatewayError::Refused(
                    RpcError::new(error.code, message).with_data(error.data),
                ))
            }
            None => Err(GatewayError::Away(format!(
                "no host took it ({passed}); nothing was proposed, and nobody refused; call the tool again later"
            ))),
        }
    }

    async fn propose_at(
        &self,
        host: &str,
        key: &str,
        params: &Value,
    ) -> Result<Turn, GatewayError> {
        let asks = Asks::Call {
            method: "propose".to_owned(),
            params: params.clone(),
        };
        let name = self.name(key, host);
        let asked = match self.found(host, name).await? {
            Some(asked) => asked,
            None => self.put_once(host, name, asks).await?,
        };
        let answer = self.follow(&asked).await;
        if matches!(answer, Err(GatewayError::Away(_))) && asked.is_new {
            // Whoever called hears that it failed, so nothing may come of it.
            self.give_up(asked);
        }
        answer
    }

    async fn follow(&self, asked: &Asked) -> Result<Turn, GatewayError> {
        let mut taken: Option<Instant> = None;
        let mut is_withdrawn = false;
        loop {
            let mut news = self.0.news.subscribe();
            match self.said(asked).await? {
                Said::Proposed(proposed) => {
                    return Ok(Turn::Proposed(asked.clone(), proposed, None));
                }
                Said::Ended(proposed, outcome) => {
                    let proposed = proposed
                        .unwrap_or_else(|| json!({"id": outcome["id"], "state": outcome["state"]}));
                    return Ok(Turn::Proposed(asked.clone(), proposed, Some(outcome)));
                }
                Said::NotTaken(why) => return Ok(Turn::Next { why, refusal: None }),
                Said::Refused(error) if AnswerSays::Refused(error.clone()).is_for_another() => {
                    return Ok(Turn::Next {
                        why: error.message.clone(),
                        refusal: Some(error),
                    });
                }
                Said::Refused(error) => return Err(GatewayError::Refused(error)),
                Said::Taken => {
                    let since = *taken.get_or_insert_with(Instant::now);
                    if !until_news(&mut news, Some(since + ANSWER)).await {
                        return Err(GatewayError::Away(format!(
                            "`{}` took the request and says nothing more; it is withdrawn, and nobody refused",
                            asked.host
                        )));
                    }
                }
                Said::Nothing | Said::Result(_) if is_withdrawn => {
                    return Ok(Turn::Next {
                        why: "it did not answer".to_owned(),
                        refusal: None,
                    });
                }
                Said::Nothing | Said::Result(_) => {
                    let left = asked.taken_by.duration_since(jiff::Timestamp::now()) + BESIDE;
                    let left = left.max(jiff::SignedDuration::ZERO).unsigned_abs();
                    if !until_news(&mut news, Some(Instant::now() + left)).await {
                        // First the withdrawal, then the look: see `desk::post::requests`.
                        self.put_withdrawal(asked).await?;
                        is_withdrawn = true;
                    }
                }
            }
        }
    }

    /// Remembers a proposal under its id.
    fn take_up(
        &self,
        asked: Asked,
        proposed: Value,
        ended: Option<Value>,
        is_kept: bool,
    ) -> Result<Value, GatewayError> {
        let Some(id) = proposed["id"].as_str() else {
            return Err(GatewayError::Away(format!(
                "`{}` answers with a proposal without an id",
                asked.host
            )));
        };
        let known = Known {
            asked,
            proposed: proposed.clone(),
            ended,
            is_kept,
        };
        self.remember(id, known);
        Ok(proposed)
    }
}
