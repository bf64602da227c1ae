//! Says when to look again: as soon as the engine notifies, and every few seconds in any case.
//!
//! Notifications need a session of one's own, which poolers in transaction mode do not give and do not say so. So each session is
//! tried out; where none comes, the regular looks remain. What a notification says is not read.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::Type;

use crate::model::Digest;

use super::error::EngineError;
use super::{CALL_S, Engine};

/// Seconds between two looks without a notification.
pub const POLL_S: u64 = 5;
/// How long a notification to oneself may take.
const PROBE: Duration = Duration::from_secs(2);
/// Between two attempts where none was notified, and after a session that was.
const AGAIN: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_secs(1);

/// Where what is for all people is announced.
const PEOPLE: &str = "desk_people";
/// Where answers to requests are.
const GATEWAYS: &str = "desk_gateways";

/// How one hears of something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Not known yet.
    Trying,
    /// By LISTEN.
    Notified,
    /// By looking every [`POLL_S`] seconds.
    Polled,
}

/// Ends with its value.
pub struct Listener {
    wake: mpsc::Receiver<()>,
    /// Counts sessions.
    sessions: watch::Receiver<u64>,
    delivery: watch::Receiver<Delivery>,
    task: JoinHandle<()>,
}

impl Listener {
    /// For what a host is sent.
    pub fn for_host(engine: &Engine, host: &str) -> Self {
        // A channel's name has 63 bytes, and a host's name 64.
        let digest = Digest::of(host.as_bytes()).hex();
        let start = digest.get(..32).unwrap_or_default();
        Self::new(engine, format!("desk_{start}"))
    }

    /// For answers to a gateway's requests.
    pub fn for_gateway(engine: &Engine) -> Self {
        Self::new(engine, GATEWAYS.to_owned())
    }

    /// For what people are sent.
    pub fn for_people(engine: &Engine) -> Self {
        Self::new(engine, PEOPLE.to_owned())
    }

    fn new(engine: &Engine, channel: String) -> Self {
        let (send, wake) = mpsc::channel(1);
        let (is, delivery) = watch::channel(Delivery::Trying);
        let (session, sessions) = watch::channel(0);
        let engine = engine.clone();
        let task = tokio::spawn(async move {
            loop {
                session.send_modify(|n| *n += 1);
                listen(&engine, &channel, &send, &is).await;
                let before = is.send_replace(Delivery::Polled);
                sleep(match before {
                    Delivery::Notified => SOON,
                    Delivery::Trying | Delivery::Polled => AGAIN,
                })
                .await;
            }
        });
        Self {
            wake,
            sessions,
            delivery,
            task,
        }
    }

    /// Waits until something may be new: at once after each new session, as what came in between was not announced.
    pub async fn next(&mut self) {
        let poll = Duration::from_secs(POLL_S);
        // The task goes on for ever; should it end, the regular looks remain.
        if let Ok(None) = timeout(poll, self.wake.recv()).await {
            sleep(poll).await;
        }
    }

    /// Whether a session ended since this was asked last: another server may answer now.
    pub fn is_anew(&mut self) -> bool {
        let is = self.sessions.has_changed().unwrap_or(false);
        self.sessions.mark_unchanged();
        is
    }

    pub fn delivery(&self) -> Delivery {
        *self.delivery.borrow()
    }

    /// Waits until it is known.
    pub async fn known(&mut self) -> Delivery {
        let known = self.delivery.wait_for(|is| *is != Delivery::Trying).await;
        known.map_or(Delivery::Polled, |is| *is)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One session, until it ends or turns out not to be notified.
async fn listen(
    engine: &Engine,
    channel: &str,
    wake: &mpsc::Sender<()>,
    is: &watch::Sender<Delivery>,
) {
    let (heard, mut hears) = mpsc::channel(1);
    let open = engine.dial.open(Some(heard));
    let Ok(Ok((client, connection))) = timeout(Duration::from_secs(CALL_S), open).await else {
        return;
    };
    let session = Session { client, connection };
    // A name of this program: letters, digits and `_`.
    let sql = format!("LISTEN {channel}");
    let begun = session.client.batch_execute(&sql);
    let Ok(Ok(())) = timeout(Duration::from_secs(CALL_S), begun).await else {
        return;
    };
    // By another session, as the others' are.
    if notify(engine, channel).await.is_err()
        || !matches!(timeout(PROBE, hears.recv()).await, Ok(Some(())))
    {
        return;
    }
    is.send_replace(Delivery::Notified);
    let _ = wake.try_send(());
    while hears.recv().await.is_some() {
        let _ = wake.try_send(());
    }
}

async fn notify(engine: &Engine, channel: &str) -> Result<(), EngineError> {
    let mut held = engine.held().await?;
    held.rows("SELECT pg_notify($1, '')", &[(&channel, Type::TEXT)])
        .await?;
    Ok(())
}

/// Its task ends with it.
struct Session {
    client: tokio_postgres::Client,
    connection: JoinHandle<()>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
