//! Who is connected, and which runs belong together.

use std::collections::BTreeSet;

use crate::model::{AgentClaim, ConnId, Peer, ProposalId};

/// The runs of one session may use each other's files and share the scope `public`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Session {
    /// The random token that `hello` returned.
    Token(String),
    /// The connection of an agent that never said `hello`.
    Connection(ConnId),
    /// A drill's.
    Nobody,
}

/// A connected agent.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub peer: Peer,
    pub agent: Option<AgentClaim>,
    pub session: Option<String>,
    /// The proposals that belong to this connection.
    pub owned: BTreeSet<ProposalId>,
}

impl Connection {
    pub fn new(peer: Peer) -> Self {
        Self {
            peer,
            agent: None,
            session: None,
            owned: BTreeSet::new(),
        }
    }

    pub fn session_of(&self, conn: ConnId) -> Session {
        match &self.session {
            Some(token) => Session::Token(token.clone()),
            None => Session::Connection(conn),
        }
    }
}
