//! Many calls at once on one connection of the program's own commands.

use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::client::{Client, ClientError, Heard};

/// Calls that wait for their turn to be written.
const CALLS: usize = 64;

type Reply = oneshot::Sender<Result<Value, ClientError>>;

struct Call {
    method: &'static str,
    params: Value,
    reply: Reply,
}

/// A connection that is shared. It closes once the last clone is gone.
#[derive(Clone, Debug)]
pub struct Calls(mpsc::Sender<Call>);

impl Calls {
    pub fn over(client: Client) -> Self {
        let (calls, queue) = mpsc::channel(CALLS);
        tokio::spawn(carry(client, queue));
        Self(calls)
    }

    /// Whether the connection is gone.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Calls a method. Calls may overlap; a call whose future is dropped is not taken back.
    ///
    /// # Errors
    /// What the dashboard answers, or [`ClientError::Closed`] once the connection is gone.
    pub async fn call(&self, method: &'static str, params: Value) -> Result<Value, ClientError> {
        let (reply, answer) = oneshot::channel();
        let call = Call {
            method,
            params,
            reply,
        };
        self.0.send(call).await.map_err(|_| ClientError::Closed)?;
        answer.await.unwrap_or(Err(ClientError::Closed))
    }
}

/// Writes calls and hands out answers until the connection or the program ends. Whoever still waits then hears
/// that the connection is lost.
async fn carry(mut client: Client, mut queue: mpsc::Receiver<Call>) {
    let mut open: HashMap<u64, Reply> = HashMap::new();
    loop {
        tokio::select! {
            call = queue.recv() => {
                let Some(Call { method, params, reply }) = call else { return };
                match client.send(method, params).await {
                    Ok(number) => drop(open.insert(number, reply)),
                    Err(e @ ClientError::TooLarge(_)) => drop(reply.send(Err(e))),
                    Err(e) => {
                        drop(reply.send(Err(e)));
                        return;
                    }
                }
            }
            heard = client.hear() => match heard {
                Ok(Heard::Answer(number, result)) => {
                    if let Some(reply) = open.remove(&number) {
                        drop(reply.send(result));
                    }
                }
                Ok(Heard::Note(_)) => {}
                Err(_) => return,
            }
        }
    }
}
