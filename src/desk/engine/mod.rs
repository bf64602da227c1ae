//! PostgreSQL, which stores and delivers what hosts and reviewers hand to each other and is trusted with no decision.
//!
//! What is stored are bytes that their readers check. So every error here costs time only, and each call may be sent again: the same
//! row twice is one row. No call relies on the state of a session, so a pooler may stand in between, and nothing that a server
//! sends is held beyond [`ANSWER_MAX`] or waited for beyond [`CALL_S`].

mod address;
mod budget;
mod dial;
mod error;
mod evidence;
mod held;
mod host;
mod listener;
mod members;
mod page;
mod password;
mod reviewer;
mod rows;
mod schema;
mod standing;
mod whole;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};

use crate::audit::Trust;
use crate::config::DeskConfig;

pub use address::Address;
pub use budget::ANSWER_MAX;
pub use error::EngineError;
pub use listener::{Delivery, Listener, POLL_S};
pub use members::{Duty, Login, Member};
pub use page::{Page, Seen};
pub use password::read_password;
pub use rows::{
    CheckpointRow, ClaimRow, CosignatureRow, Occasion, OfferRow, RequestRow, StatementRow, VoteRow,
};
pub use schema::{Pruned, latest, script};
pub use standing::{HostSeen, Standing};
pub use whole::Whole;

use dial::{Dial, Pooled};
use held::Held;

/// Seconds for one call, with all that it takes to connect.
pub const CALL_S: u64 = 10;
const CONNECTIONS: usize = 4;

/// A client of the engine. Cheap to clone; all clones share the connections.
#[derive(Clone)]
pub struct Engine {
    pool: Pool,
    dial: Arc<Dial>,
    limit: Duration,
}

/// What of `[desk]` cannot be used, and the key that says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`desk.{key}`: {why}")]
pub struct Unusable {
    pub key: &'static str,
    pub why: String,
}

impl Engine {
    /// Connects to nothing yet. A call takes `limit` at most.
    ///
    /// # Errors
    /// If the pool cannot be made, in words.
    pub fn new(address: Address, trust: &Trust, limit: Duration) -> Result<Self, String> {
        let config = address.config.clone();
        let dial = Arc::new(Dial::new(address, trust));
        let fast = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_connect(config, Pooled(dial.clone()), fast);
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(limit))
            .create_timeout(Some(limit))
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self { pool, dial, limit })
    }

    /// The engine of a configuration; `None` if it has none. Reads the files of the password and of the authorities.
    pub fn of(config: &DeskConfig) -> Result<Option<Self>, Unusable> {
        let Some(url) = &config.url else {
            return Ok(None);
        };
        let bad = |key| move |why| Unusable { key, why };
        let password = match &config.password_file {
            Some(path) => Some(read_password(path).map_err(bad("password_file"))?),
            None => None,
        };
        let address = Address::parse(url, password.as_deref()).map_err(bad("url"))?;
        let trust = match address.is_tls() {
            true => Trust::here(config.ca.as_deref()).map_err(bad("ca"))?,
            false => Trust::default(),
        };
        let limit = Duration::from_secs(CALL_S);
        Self::new(address, &trust, limit)
            .map(Some)
            .map_err(bad("url"))
    }

    /// The user, the servers and the database, for people.
    pub fn shown(&self) -> String {
        self.dial.address.shown()
    }

    /// Whether connections are by TLS: all but those of a Unix socket.
    pub fn is_tls(&self) -> bool {
        self.dial.address.is_tls()
    }

    async fn held(&self) -> Result<Held, EngineError> {
        Held::of(self).await
    }
}
