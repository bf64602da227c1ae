//! The connections to the core on which agents elsewhere ask: one for each session of a login, made when it is needed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::broker::RpcError;
use crate::ipc::{Calls, Gate};
use crate::model::Peer;

/// Sessions of one login that are kept. Of more, the one that asked longest ago is closed, which withdraws nothing.
const OF_LOGIN: usize = 8;
/// Bytes of a session's name that count.
const NAME_MAX: usize = 64;

pub(super) struct Lines {
    gate: Gate,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    lines: BTreeMap<(String, String), (u64, Calls)>,
    /// Counts uses.
    used: u64,
}

impl Lines {
    pub fn new(gate: Gate) -> Self {
        Self {
            gate,
            open: Mutex::default(),
        }
    }

    /// Whether the core still takes connections.
    pub fn is_open(&self) -> bool {
        self.gate.is_open()
    }

    /// The connection of this session.
    ///
    /// # Errors
    /// What a peer is told that gets no connection.
    pub fn of(&self, login: &str, session: &str) -> Result<Calls, RpcError> {
        let session: String = session.chars().take(NAME_MAX).collect();
        let key = (login.to_owned(), session);
        let mut open = self.open();
        open.used += 1;
        let used = open.used;
        open.lines.retain(|_, (_, calls)| !calls.is_closed());
        if let Some((last, calls)) = open.lines.get_mut(&key) {
            *last = used;
            return Ok(calls.clone());
        }
        let of_login = open.lines.iter().filter(|((of, _), _)| of == login);
        let of_login: Vec<_> = of_login
            .map(|(key, (last, _))| (*last, key.clone()))
            .collect();
        if of_login.len() >= OF_LOGIN
            && let Some((_, idlest)) = of_login.into_iter().min()
        {
            open.lines.remove(&idlest);
        }
        let calls = self.gate.connect(Peer::of_gateway(login))?;
        open.lines.insert(key, (used, calls.clone()));
        Ok(calls)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
