//! The way to those who decide: a connection to the dashboard, made when it is needed, shared by all calls and made again after a
//! loss, or hosts elsewhere.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::desk::{Gateway, GatewayError};
use crate::ipc::{Calls, Client, ClientError};

/// How long a dashboard may take to greet. One that is stopped takes a connection and says nothing.
const GREETING: Duration = Duration::from_secs(10);

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
    /// The hosts elsewhere or the engine between; in words that say what to do.
    #[error("{0}")]
    Away(String),
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

impl From<GatewayError> for Trouble {
    fn from(error: GatewayError) -> Self {
        match error {
            GatewayError::Refused(refused) => Self::Refused {
                code: refused.code,
                message: refused.message,
                data: refused.data,
            },
            GatewayError::Away(why) => Self::Away(why),
            GatewayError::TooLarge(why) => Self::TooLarge(why),
        }
    }
}

#[derive(Default)]
struct Connection {
    calls: Option<Calls>,
    /// The token of the session; a dashboard that knows it resumes the session.
    session: Option<String>,
}

/// Who is asked.
pub enum Way {
    /// The dashboard behind this socket. The other is a hint for the agent's user if none answers, asked for each time.
    Socket(PathBuf, fn() -> Option<String>),
    /// Hosts elsewhere.
    Desk(Gateway),
}

pub struct Link {
    way: Way,
    connection: Mutex<Connection>,
}

impl Link {
    pub fn new(way: Way) -> Self {
        Self {
            way,
            connection: Mutex::default(),
        }
    }

    /// Calls a method of the socket. Calls may overlap; a call whose future is dropped is not taken back. What changes
    /// nothing is asked once more over a new connection if the old one breaks.
    pub async fn call(&self, method: &'static str, params: Value) -> Result<Value, Trouble> {
        if let Way::Desk(gateway) = &self.way {
            return Ok(gateway.call(method, params).await?);
        }
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
        let Way::Socket(socket, beside) = &self.way else {
            return Err(Trouble::Lost);
        };
        let calls = self.calls(socket, *beside).await?;
        Ok(calls.call(method, params).await?)
    }

    /// The token of the session, once there was a connection.
    pub async fn session(&self) -> Option<String> {
        match &self.way {
            Way::Socket(..) => self.connection.lock().await.session.clone(),
            Way::Desk(gateway) => Some(gateway.session()),
        }
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
        match &self.way {
            Way::Socket(socket, _) => silent_at(socket),
            Way::Desk(_) => Trouble::Away(
                "the engine does not answer; nobody refused; call wait_for_run again".to_owned(),
            ),
        }
    }

    async fn calls(&self, socket: &Path, beside: fn() -> Option<String>) -> Result<Calls, Trouble> {
        let mut connection = self.connection.lock().await;
        if let Some(calls) = connection.calls.as_ref().filter(|calls| !calls.is_closed()) {
            return Ok(calls.clone());
        }
        let greeting = greet(socket, beside, connection.session.take());
        let (client, session) = tokio::time::timeout(GREETING, greeting)
            .await
            .map_err(|_| silent_at(socket))??;
        connection.session = session;
        let calls = Calls::over(client);
        connection.calls = Some(calls.clone());
        Ok(calls)
    }
}

fn silent_at(socket: &Path) -> Trouble {
    let socket = socket.display();
    Trouble::Down(format!("the dashboard at {socket} does not answer"))
}

async fn greet(
    socket: &Path,
    beside: fn() -> Option<String>,
    session: Option<String>,
) -> Result<(Client, Option<String>), Trouble> {
    let connected = Client::connect(socket).await;
    let mut client = connected.map_err(|e| match beside() {
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
