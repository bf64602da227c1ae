//! One connection for one call. What did not end well is never used again.

use deadpool_postgres::{Object, PoolError};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::Engine;
use super::budget::Counted;
use super::dial::Dial;
use super::error::EngineError;

use std::sync::Arc;

/// A parameter with its type, so that the server is not asked for it.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) struct Held {
    client: Option<Object>,
    dial: Arc<Dial>,
    /// Of the engine when the call began.
    faults: Counted,
    until: Instant,
    /// Whether the connection is between two questions and outside a transaction.
    idle: bool,
}

impl Held {
    pub async fn of(engine: &Engine) -> Result<Self, EngineError> {
        let dial = engine.dial.clone();
        let mut held = Self {
            client: None,
            faults: dial.faults.now(),
            dial,
            until: Instant::now() + engine.limit,
            idle: true,
        };
        let got = timeout_at(held.until, engine.pool.get()).await;
        held.client = Some(match got {
            Ok(Ok(client)) => client,
            Ok(Err(PoolError::Backend(e))) => return Err(held.error(&e)),
            Ok(Err(PoolError::Timeout(_))) | Err(_) => return Err(silent()),
            Ok(Err(e)) => return Err(EngineError::Unreachable(e.to_string())),
        });
        Ok(held)
    }

    fn error(&self, e: &tokio_postgres::Error) -> EngineError {
        EngineError::of(e, self.faults, self.dial.faults.now())
    }

    fn client(&self) -> Result<&Object, EngineError> {
        let gone = || EngineError::Unreachable("the connection is gone".to_owned());
        self.client.as_ref().ok_or_else(gone)
    }

    /// The rows of one statement.
    pub async fn rows(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, EngineError> {
        let was = std::mem::replace(&mut self.idle, false);
        let asked = self.client()?.query_typed(sql, params);
        let done = timeout_at(self.until, asked).await;
        self.answered(was, done)
    }

    /// Statements without parameters, of this program only.
    pub async fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        let was = std::mem::replace(&mut self.idle, false);
        let asked = self.client()?.batch_execute(sql);
        let done = timeout_at(self.until, asked).await;
        self.answered(was, done)
    }

    fn answered<T>(
        &mut self,
        was_idle: bool,
        done: Result<Result<T, tokio_postgres::Error>, tokio::time::error::Elapsed>,
    ) -> Result<T, EngineError> {
        let Ok(done) = done else {
            return Err(silent());
        };
        match done {
            Ok(done) => {
                self.idle = was_idle;
                Ok(done)
            }
            Err(e) => {
                let error = self.error(&e);
                // After a refusal the server waits for the next question; in a transaction it waits for its end.
                self.idle = was_idle && matches!(error, EngineError::Refused(_));
                Err(error)
            }
        }
    }

    /// Begins a transaction. Without [`Self::commit`] it ends with the connection.
    pub async fn begin(&mut self, how: &str) -> Result<(), EngineError> {
        self.run(&format!("BEGIN {how}")).await?;
        self.idle = false;
        Ok(())
    }

    pub async fn commit(&mut self) -> Result<(), EngineError> {
        self.run("COMMIT").await?;
        self.idle = true;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(client) = self.client.take()
            && !self.idle
        {
            // Out of the pool, and closed.
            drop(Object::take(client));
        }
    }
}

fn silent() -> EngineError {
    EngineError::Unreachable("it did not answer in time".to_owned())
}
