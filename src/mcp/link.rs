//! The connection to the dashboard: made when it is needed, shared by all calls, made again after a loss.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::ipc::{Client, ClientError, Heard};

/// How long a dashboard may take to greet. One that is stopped takes a connection and says nothing.
const GREETING: Duration = Duration::from_secs(10);
/// Calls that wait for their turn to be written.
const CALLS: usize = 64;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("{0}")]
    Down(String),
    #[error("{message} ({code})")]
    Refused {
        code: i64,
        message: String,
        data: Value,
    },
    #[error("the connection to the dashboard was lost before it answered")]
    Lost,
    /// More than the socket takes at once.
    #[error("{0}")]
    TooLarge(String),
}

impl Trouble {
    /// The id is unknown to this dashboard, or another connection's.
    pub const UNKNOWN_ID: i64 = -32004;
    /// Too many proposals wait.
    pub const TOO_MANY: i64 = -32002;

    pub const fn is_unknown_id(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == Self::UNKNOWN_ID)
    }
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(refused) => Self::Refused {
                code: refused.code,
                message: refused.message,
                data: refused.data,
            },
            ClientError::Closed => Self::Lost,
            large @ ClientError::TooLarge(_) => Self::TooLarge(large.to_string()),
            other => Self::Down(other.to_string()),
        }
    }
}

struct Call {
    method: &'static str,
    params: Value,
    reply: oneshot::Sender<Result<Value, Trouble>>,
}

#[derive(Default)]
struct Connection {
    calls: Option<mpsc::Sender<Call>>,
    /// The token of the session; a dashboard that knows it resumes the session.
    session: Option<String>,
}

pub struct Link {
    socket: PathBuf,
    beside: fn() -> Option<String>,
    connection: Mutex<Connection>,
}

impl Link {
    pub fn new(socket: PathBuf, beside: fn() -> Option<String>) -> Self {
        Self {
            socket,
            beside,
            connection: Mutex::default(),
        }
    }

    /// Calls a method of the socket. Calls may overlap; a call whose future is dropped is not taken back. What changes
    /// nothing is asked once more over a new connection if the old one breaks.
    pub async fn call(&self, method: &'static str, params: Value) -> Result<Value, Trouble> {
        if method == "propose" {
            return self.once(method, params).await;
        }
        match self.once(method, params.clone()).await {
            // One that is being killed may still take a connection.
            Err(Trouble::Lost) => match self.once(method, params).await {
                Err(Trouble::Lost) => Err(self.silent()),
                answer => answer,
            },
            answer => answer,
        }
    }

    async fn once(&self, method: &'static str, params: Value) -> Result<Value, Trouble> {
        let calls = self.calls().await?;
        let (reply, answer) = oneshot::channel();
        let call = Call {
            method,
            params,
            reply,
        };
        calls.send(call).await.map_err(|_| Trouble::Lost)?;
        answer.await.unwrap_or(Err(Trouble::Lost))
    }

    /// The token of the session, once there was a connection.
    pub async fn session(&self) -> Option<String> {
        self.connection.lock().await.session.clone()
    }

    /// Goes on with a session of an earlier connection. False if the dashboard does not know it: then it is another
    /// dashboard, and the session stays what it was.
    pub async fn resume(&self, session: &str) -> Result<bool, Trouble> {
        let before = self.session().await;
        let mut now = self.hello(session).await?;
        let resumed = now.as_deref() == Some(session);
        if let (false, Some(before)) = (resumed, before) {
            now = self.hello(&before).await?;
        }
        self.connection.lock().await.session = now;
        Ok(resumed)
    }

    async fn hello(&self, session: &str) -> Result<Option<String>, Trouble> {
        let hello = json!({"protocol": 1, "session": session});
        let answer = self.call("hello", hello).await?;
        Ok(answer["session"].as_str().map(str::to_owned))
    }

    /// It takes connections, or took one, and says nothing.
    pub fn silent(&self) -> Trouble {
        let socket = self.socket.display();
        Trouble::Down(format!("the dashboard at {socket} does not answer"))
    }

    async fn calls(&self) -> Result<mpsc::Sender<Call>, Trouble> {
        let mut connection = self.connection.lock().await;
        if let Some(calls) = connection.calls.as_ref().filter(|calls| !calls.is_closed()) {
            return Ok(calls.clone());
        }
        let greeting = self.greet(connection.session.take());
        let (client, session) = tokio::time::timeout(GREETING, greeting)
            .await
            .map_err(|_| self.silent())??;
        connection.session = session;
        let (calls, queue) = mpsc::channel(CALLS);
        tokio::spawn(carry(client, queue));
        connection.calls = Some(calls.clone());
        Ok(calls)
    }

    async fn greet(&self, session: Option<String>) -> Result<(Client, Option<String>), Trouble> {
        let connected = Client::connect(&self.socket).await;
        let mut client = connected.map_err(|e| match (self.beside)() {
            Some(hint) => Trouble::Down(format!("{e}\n{hint}")),
            None => e.into(),
        })?;
        let mut params = json!({"protocol": 1});
        if let Some(session) = session {
            params["session"] = session.into();
        }
        let hello = client.call("hello", params).await?;
        let session = hello["session"].as_str().map(str::to_owned);
        Ok((client, session))
    }
}

/// Writes calls and hands out answers until the connection or the program ends. Whoever still waits then hears
/// that the connection is lost.
async fn carry(mut client: Client, mut queue: mpsc::Receiver<Call>) {
    let mut open: HashMap<u64, oneshot::Sender<Result<Value, Trouble>>> = HashMap::new();
    loop {
        tokio::select! {
            call = queue.recv() => {
                let Some(Call { method, params, reply }) = call else { return };
                match client.send(method, params).await {
                    Ok(number) => drop(open.insert(number, reply)),
                    Err(e @ ClientError::TooLarge(_)) => drop(reply.send(Err(e.into()))),
                    Err(e) => {
                        drop(reply.send(Err(e.into())));
                        return;
                    }
                }
            }
            heard = client.hear() => match heard {
                Ok(Heard::Answer(number, result)) => {
                    if let Some(reply) = open.remove(&number) {
                        drop(reply.send(result.map_err(Trouble::from)));
                    }
                }
                Ok(Heard::Note(_)) => {}
                Err(_) => return,
            }
        }
    }
}
