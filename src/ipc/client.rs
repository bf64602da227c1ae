//! The agent's end of the socket, for the program's own commands.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::broker::RpcError;

use super::frame::{FRAME_MAX, FrameReader, Next};

/// Why a call got no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no dashboard answers at {}: {source}; start one with `countersign`", path.display())]
    Unreachable { path: PathBuf, source: io::Error },
    /// The dashboard answered with an error.
    #[error("{} ({})", .0.message, .0.code)]
    Refused(RpcError),
    #[error("the dashboard closed the connection before it answered")]
    Closed,
    #[error("the request is {0} bytes; a frame has at most {FRAME_MAX}")]
    TooLarge(usize),
    #[error("the dashboard sent what is no JSON-RPC answer: {0}")]
    Protocol(String),
    #[error("cannot talk to the dashboard: {0}")]
    Io(#[from] io::Error),
}

/// What a dashboard says: the result of the call with this number, or a notification.
#[derive(Debug)]
pub enum Heard {
    Answer(u64, Result<Value, ClientError>),
    Note(Value),
}

/// A connection to a dashboard.
///
/// One call at a time; notifications that arrive meanwhile are kept for
/// [`Client::take_notes`].
#[derive(Debug)]
pub struct Client {
    lines: FrameReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    calls: u64,
    notes: VecDeque<Value>,
}

impl Client {
    pub async fn connect(path: &Path) -> Result<Self, ClientError> {
        let stream =
            UnixStream::connect(path)
                .await
                .map_err(|source| ClientError::Unreachable {
                    path: path.to_owned(),
                    source,
                })?;
        Ok(Self::over(stream))
    }

    /// On a connection that is there.
    pub(super) fn over(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            lines: FrameReader::new(reader, FRAME_MAX),
            writer,
            calls: 0,
            notes: VecDeque::new(),
        }
    }

    /// Calls a method and waits for its result.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, ClientError> {
        let id = self.send(method, params).await?;
        self.answer(id).await
    }

    /// Sends a call without waiting; returns the number to pass to [`Client::answer`].
    pub async fn send(&mut self, method: &str, params: Value) -> Result<u64, ClientError> {
        self.calls += 1;
        let id = self.calls;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut line = message.to_string().into_bytes();
        if line.len() > FRAME_MAX {
            return Err(ClientError::TooLarge(line.len()));
        }
        line.push(b'\n');
        match self.writer.write_all(&line).await {
            Ok(()) => Ok(id),
            // If the dashboard gave a reason before it closed, report that.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(self.last_word().await),
            Err(e) => Err(e.into()),
        }
    }

    /// Waits for the result of the call with this number. Can be dropped at any await and called
    /// again.
    pub async fn answer(&mut self, id: u64) -> Result<Value, ClientError> {
        loop {
            match self.hear().await? {
                Heard::Answer(to, result) if to == id => return result,
                Heard::Answer(..) => {}
                Heard::Note(note) => self.notes.push_back(note),
            }
        }
    }

    /// The next thing that the dashboard says, for callers with several calls open. An error here ends the
    /// connection. Can be dropped at any await and called again.
    pub async fn hear(&mut self) -> Result<Heard, ClientError> {
        let mut message = self.message().await?;
        if message.get("method").is_some() {
            return Ok(Heard::Note(message));
        }
        let mut take = |name: &str| message.get_mut(name).map(Value::take);
        let result = match (take("error"), take("result")) {
            (Some(error), _) => Err(refusal(error)),
            (None, Some(result)) => Ok(result),
            (None, None) => Err(ClientError::Protocol(
                "neither `result` nor `error`".to_owned(),
            )),
        };
        match message.get("id").and_then(Value::as_u64) {
            Some(to) => Ok(Heard::Answer(to, result)),
            // An error without an id is about the connection.
            None => Err(result.err().unwrap_or_else(|| {
                ClientError::Protocol("a result without the number of a call".to_owned())
            })),
        }
    }

    /// The notifications that have arrived, oldest first.
    pub fn take_notes(&mut self) -> impl Iterator<Item = Value> + '_ {
        self.notes.drain(..)
    }

    async fn message(&mut self) -> Result<Value, ClientError> {
        match self.lines.next().await {
            Ok(Next::Line(line)) => {
                serde_json::from_slice(&line).map_err(|e| ClientError::Protocol(e.to_string()))
            }
            Ok(Next::TooLong) => Err(ClientError::Protocol("a frame over the limit".to_owned())),
            Ok(Next::End) => Err(ClientError::Closed),
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => Err(ClientError::Closed),
            Err(e) => Err(e.into()),
        }
    }

    async fn last_word(&mut self) -> ClientError {
        match self.message().await {
            Ok(mut message) => match message.get_mut("error") {
                Some(error) => refusal(error.take()),
                None => ClientError::Closed,
            },
            Err(e) => e,
        }
    }
}

fn refusal(error: Value) -> ClientError {
    match serde_json::from_value(error) {
        Ok(error) => ClientError::Refused(error),
        Err(e) => ClientError::Protocol(format!("an error that is none: {e}")),
    }
}
