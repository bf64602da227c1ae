//! Opens connections: by TLS 1.3 over a network, plainly at a Unix socket, and each within a budget.

use std::pin::Pin;
use std::sync::Arc;

use deadpool_postgres::Connect;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::tls::{NoTls, TlsStream};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::audit::Trust;

use super::address::Address;
use super::budget::{BoundedTls, Budget, Faults};
use super::error::is_garbled;

/// How to reach an engine.
#[derive(Clone)]
pub(super) struct Dial {
    pub address: Address,
    /// `None` for a Unix socket only.
    tls: Option<BoundedTls>,
    pub faults: Arc<Faults>,
}

/// A client, and the task that reads and writes for it until the connection ends.
pub(super) type Opened = (Client, JoinHandle<()>);

impl Dial {
    pub fn new(address: Address, trust: &Trust) -> Self {
        let faults = Arc::<Faults>::default();
        let tls = trust.config().map(|config| BoundedTls {
            tls: MakeRustlsConnect::new(config.as_ref().clone()),
            faults: faults.clone(),
        });
        Self {
            address,
            tls,
            faults,
        }
    }

    /// A new connection. `wake` hears of its notifications; what they say is not read.
    pub async fn open(&self, wake: Option<mpsc::Sender<()>>) -> Result<Opened, Error> {
        let config = &self.address.config;
        match (&self.address.unix, &self.tls) {
            (Some(folder), _) => {
                let port = config.get_ports().first().copied().unwrap_or(5432);
                let path = folder.join(format!(".s.PGSQL.{port}"));
                loop {
                    if let Ok(stream) = UnixStream::connect(&path).await {
                        let stream = Budget::new(stream, self.faults.clone());
                        let (client, connection) = config.connect_raw(stream, NoTls).await?;
                        return Ok((client, self.driven(connection, wake)));
                    }
                    // Errors of the driver's kind are the driver's to make.
                    drop(config.connect(NoTls).await?);
                }
            }
            (None, Some(tls)) => {
                let (client, connection) = config.connect(tls.clone()).await?;
                Ok((client, self.driven(connection, wake)))
            }
            // `Address` asks for TLS, so this fails with words.
            (None, None) => {
                let (client, connection) = config.connect(NoTls).await?;
                Ok((client, self.driven(connection, wake)))
            }
        }
    }

    fn driven<S, T>(
        &self,
        mut connection: Connection<S, T>,
        wake: Option<mpsc::Sender<()>>,
    ) -> JoinHandle<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: TlsStream + Unpin + Send + 'static,
    {
        let faults = self.faults.clone();
        tokio::spawn(async move {
            loop {
                match std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                    // One that waits is enough.
                    Some(Ok(AsyncMessage::Notification(_))) => {
                        let _ = wake.as_ref().map(|wake| wake.try_send(()));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(e)) => {
                        if is_garbled(&e) {
                            faults.garbled();
                        }
                        return;
                    }
                    None => return,
                }
            }
        })
    }
}

/// For the pool.
pub(super) struct Pooled(pub Arc<Dial>);

impl Connect for Pooled {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<Opened, Error>> + Send + '_>> {
        Box::pin(self.0.open(None))
    }
}
