//! A bound on what an engine may make this program hold: the driver buffers a message up to the length that it states.
//!
//! The stream reads the heads of messages along with the driver, and fails before it hands over one that would go beyond.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Bytes between two `ReadyForQuery`: the answer to one question.
pub const ANSWER_MAX: u64 = 8 * 1024 * 1024;
/// A notification has a channel and a payload below 8,000 bytes, and answers nothing.
const NOTIFICATION_MAX: u64 = 64 * 1024;

/// What connections of an engine died of, counted: their clients only hear that they are closed.
#[derive(Debug, Default)]
pub(super) struct Faults {
    overruns: AtomicU32,
    garbled: AtomicU32,
}

/// [`Faults`] at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub overruns: u32,
    pub garbled: u32,
}

impl Faults {
    pub fn now(&self) -> Counted {
        Counted {
            overruns: self.overruns.load(Ordering::Relaxed),
            garbled: self.garbled.load(Ordering::Relaxed),
        }
    }

    /// A connection ended with what no PostgreSQL sends.
    pub fn garbled(&self) {
        self.garbled.fetch_add(1, Ordering::Relaxed);
    }
}

/// A stream of messages from a server.
pub(super) struct Budget<S> {
    inner: S,
    /// Tag and length of the next message, as far as they came.
    head: [u8; 5],
    came: usize,
    /// Bytes of the present message that are still to come.
    left: u64,
    spent: u64,
    faults: Arc<Faults>,
}

impl<S> Budget<S> {
    pub fn new(inner: S, faults: Arc<Faults>) -> Self {
        Self {
            inner,
            head: [0; 5],
            came: 0,
            left: 0,
            spent: 0,
            faults,
        }
    }

    fn count(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let step = bytes
                    .len()
                    .min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= step as u64;
                bytes = &bytes[step..];
                continue;
            }
            self.head[self.came] = bytes[0];
            self.came += 1;
            bytes = &bytes[1..];
            if self.came == self.head.len() {
                self.came = 0;
                self.message()?;
            }
        }
        Ok(())
    }

    /// A head is complete.
    fn message(&mut self) -> io::Result<()> {
        let [tag, length @ ..] = self.head;
        let Some(rest) = u32::from_be_bytes(length).checked_sub(4) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a message with an impossible length",
            ));
        };
        self.left = u64::from(rest);
        let whole = self.left + self.head.len() as u64;
        let fits = match tag {
            b'A' => whole <= NOTIFICATION_MAX,
            _ => {
                self.spent += whole;
                self.spent <= ANSWER_MAX
            }
        };
        if !fits {
            self.faults.overruns.fetch_add(1, Ordering::Relaxed);
            return Err(io::Error::other("the server sent too much at once"));
        }
        if tag == b'Z' {
            self.spent = 0;
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Budget<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        if let Poll::Ready(Ok(())) = read {
            self.count(&buf.filled()[before..])?;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Budget<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

impl<S: TlsStream + Unpin> TlsStream for Budget<S> {
    fn channel_binding(&self) -> ChannelBinding {
        self.inner.channel_binding()
    }
}

/// TLS whose decrypted stream has a budget.
#[derive(Clone)]
pub(super) struct BoundedTls {
    pub tls: MakeRustlsConnect,
    pub faults: Arc<Faults>,
}

impl<S> MakeTlsConnect<S> for BoundedTls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    MakeRustlsConnect: MakeTlsConnect<S>,
    <MakeRustlsConnect as MakeTlsConnect<S>>::TlsConnect: 'static,
    <<MakeRustlsConnect as MakeTlsConnect<S>>::TlsConnect as TlsConnect<S>>::Future: Send,
{
    type Stream = Budget<<MakeRustlsConnect as MakeTlsConnect<S>>::Stream>;
    type TlsConnect = BoundedConnect<<MakeRustlsConnect as MakeTlsConnect<S>>::TlsConnect>;
    type Error = <MakeRustlsConnect as MakeTlsConnect<S>>::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Self::TlsConnect, Self::Error> {
        Ok(BoundedConnect {
            connect: self.tls.make_tls_connect(domain)?,
            faults: self.faults.clone(),
        })
    }
}

/// One handshake of [`BoundedTls`].
pub(super) struct BoundedConnect<C> {
    connect: C,
    faults: Arc<Faults>,
}

impl<S, C> TlsConnect<S> for BoundedConnect<C>
where
    C: TlsConnect<S>,
    C::Future: Send + 'static,
{
    type Stream = Budget<C::Stream>;
    type Error = C::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Stream, C::Error>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let Self { connect, faults } = self;
        let handshake = connect.connect(stream);
        Box::pin(async move { Ok(Budget::new(handshake.await?, faults)) })
    }
}
