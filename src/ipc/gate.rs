//! Connections of agents elsewhere: the same as those of the socket, but that somebody else vouches for the peer.

use nix::unistd::geteuid;
use tokio::net::UnixStream;

use crate::broker::RpcError;
use crate::model::Peer;

use super::calls::Calls;
use super::client::Client;
use super::connection::Connection;
use super::inbox::Entrance;
use super::router::Router;
use super::server::{hangup, no_room};

/// Opens connections from within the program.
#[derive(Clone)]
pub struct Gate {
    entrance: Entrance,
    router: Router,
}

impl Gate {
    pub const fn new(entrance: Entrance, router: Router) -> Self {
        Self { entrance, router }
    }

    /// Whether the core still takes requests.
    pub fn is_open(&self) -> bool {
        !self.entrance.is_closed()
    }

    /// A connection on which this peer asks: by the codec, the checks and the bounds of the socket.
    ///
    /// # Errors
    /// What a peer is told that gets no connection.
    pub fn connect(&self, peer: Peer) -> Result<Calls, RpcError> {
        let failed = |e: std::io::Error| RpcError::new(RpcError::INTERNAL, e.to_string());
        let (near, far) = UnixStream::pair().map_err(failed)?;
        let owner = geteuid().as_raw();
        let conn = self
            .router
            .open((peer.uid, peer.pid), owner)
            .map_err(|full| no_room(full, &self.router.bounds))?;
        let (reader, writer) = far.into_split();
        let connection = Connection {
            conn,
            door: self.entrance.door(&peer),
            peer,
            reader,
            writer,
            router: self.router.clone(),
        };
        tokio::spawn(connection.run(hangup));
        Ok(Calls::over(Client::over(near)))
    }
}
