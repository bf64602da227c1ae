//! Standard input that says when it ended, so that nothing waits for an agent that is gone.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

pub struct Input<R> {
    inner: R,
    ended: watch::Sender<bool>,
}

impl<R> Input<R> {
    pub const fn new(inner: R, ended: watch::Sender<bool>) -> Self {
        Self { inner, ended }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = ready!(Pin::new(&mut self.inner).poll_read(cx, buf));
        if read.is_err() || buf.filled().len() == before && buf.remaining() > 0 {
            self.ended.send_replace(true);
        }
        Poll::Ready(read)
    }
}
