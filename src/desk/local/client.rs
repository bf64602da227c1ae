//! The reviewer's end.

use std::io;
use std::path::{Path, PathBuf};

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::desk::wire::{FromHost, LINE_MAX, PROTOCOL, ToHost, line};
use crate::ipc::{FrameReader, Next};
use crate::model::{Person, visible};

/// Why there is no conversation with a host.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no host answers at {}: {source}", path.display())]
    Unreachable { path: PathBuf, source: io::Error },
    #[error("the host refuses: {0}")]
    Refused(String),
    #[error("the host speaks version {0} of the desk, and this program version {PROTOCOL}")]
    Version(u32),
    #[error("the host sent what is no line of the desk: {0}")]
    Protocol(String),
    #[error("the host closed the connection")]
    Closed,
    #[error("cannot talk to the host: {0}")]
    Io(#[from] io::Error),
}

/// A connection to a host's local socket.
#[derive(Debug)]
pub struct Client {
    lines: FrameReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// The host's name, by its own word: its signatures say whether that is so.
    pub host: String,
    /// Whom the host takes us for.
    pub you: Person,
}

impl Client {
    pub async fn connect(path: &Path) -> Result<Self, ClientError> {
        let stream = UnixStream::connect(path).await;
        let stream = stream.map_err(|source| ClientError::Unreachable {
            path: path.to_owned(),
            source,
        })?;
        let (reader, writer) = stream.into_split();
        let mut lines = FrameReader::new(reader, LINE_MAX);
        match read(&mut lines).await? {
            FromHost::Hello {
                protocol: PROTOCOL,
                host,
                you,
            } => Ok(Self {
                lines,
                writer,
                host,
                you,
            }),
            FromHost::Hello { protocol, .. } => Err(ClientError::Version(protocol)),
            FromHost::Refused { why } => Err(ClientError::Refused(visible(&why).to_string())),
            _ => Err(ClientError::Protocol(
                "it does not begin with `hello`".to_owned(),
            )),
        }
    }

    /// The next line. Can be dropped at any await without losing one.
    pub async fn next(&mut self) -> Result<FromHost, ClientError> {
        match read(&mut self.lines).await? {
            FromHost::Refused { why } => Err(ClientError::Refused(visible(&why).to_string())),
            line => Ok(line),
        }
    }

    pub async fn send(&mut self, message: &ToHost) -> Result<(), ClientError> {
        Ok(self.writer.write_all(&line(message)).await?)
    }
}

async fn read(lines: &mut FrameReader<OwnedReadHalf>) -> Result<FromHost, ClientError> {
    match lines.next().await? {
        Next::Line(bytes) => {
            serde_json::from_slice(&bytes).map_err(|e| ClientError::Protocol(e.to_string()))
        }
        Next::TooLong => Err(ClientError::Protocol(format!(
            "a line of more than {LINE_MAX} bytes"
        ))),
        Next::End => Err(ClientError::Closed),
    }
}
