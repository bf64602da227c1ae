//! How many proposals of one adapter may wait at once, so that one agent cannot fill a person's queue.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::link::{Link, Trouble};

/// The socket's own bound for a peer is `max_pending_per_peer`, 1,000 by default.
pub const PENDING_MAX: usize = 64;
/// How often a full adapter looks which of its proposals still wait.
const LOOKS: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Own {
    pending: BTreeSet<String>,
    /// Calls of `propose` that have no answer yet.
    asking: usize,
    looked: Option<Instant>,
}

#[derive(Default)]
pub struct Bound {
    own: Mutex<Own>,
}

/// Room for one proposal, given back when it is dropped.
pub struct Place<'a> {
    bound: &'a Bound,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.bound.with(|own| own.asking -= 1);
    }
}

impl Bound {
    fn with<T>(&self, look: impl FnOnce(&mut Own) -> T) -> T {
        look(&mut self.own.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Room for one more, or a refusal that says when to ask again.
    pub async fn place(&self, link: &Link) -> Result<Place<'_>, Trouble> {
        if let Some(place) = self.free() {
            return Ok(place);
        }
        self.look(link).await;
        self.free().ok_or_else(|| Trouble::Refused {
            code: Trouble::TOO_MANY,
            message: format!(
                "{PENDING_MAX} proposals of this agent wait for a decision already; nothing was proposed, and nobody \
                 refused; wait for one of them with wait_for_run"
            ),
            data: json!({"retry_after_ms": LOOKS.as_millis() as u64, "max_pending": PENDING_MAX}),
        })
    }

    fn free(&self) -> Option<Place<'_>> {
        self.with(|own| {
            let is_free = own.pending.len() + own.asking < PENDING_MAX;
            own.asking += usize::from(is_free);
            // Not `then_some`: a place that is made and dropped gives room back.
            is_free.then(|| Place { bound: self })
        })
    }

    pub fn waits(&self, id: &str) {
        self.with(|own| own.pending.insert(id.to_owned()));
    }

    pub fn ended(&self, id: &str) {
        self.with(|own| own.pending.remove(id));
    }

    /// Forgets what no longer waits. A full adapter that is asked often looks seldom.
    async fn look(&self, link: &Link) {
        let due = self.with(|own| {
            let due = own.looked.is_none_or(|at| at.elapsed() >= LOOKS);
            if due {
                own.looked = Some(Instant::now());
            }
            due.then(|| own.pending.clone())
        });
        for id in due.into_iter().flatten() {
            match link.call("status", json!({"id": id})).await {
                Ok(status) if status["state"] == "pending" => {}
                Ok(_) => self.ended(&id),
                Err(trouble) if trouble.is_unknown_id() => self.ended(&id),
                Err(_) => return,
            }
        }
    }
}
