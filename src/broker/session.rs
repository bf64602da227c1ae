//! Who is connected, and whose runs belong together.

use std::collections::BTreeSet;

use crate::model::{AgentClaim, ConnId, Peer, ProposalId};

/// Whose runs may use each other's files and share the scope `public`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Session {
    /// The random token that `hello` answered.
    Token(String),
    /// An agent that never said `hello` has its connection.
    Connection(ConnId),
}

/// A connected agent.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub peer: Peer,
    pub agent: Option<AgentClaim>,
    pub session: Option<String>,
    /// The proposals that belong to it.
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
