//! One connection, plain or encrypted.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connection that remembers what the pool must know of it.
#[derive(Debug)]
pub(crate) struct Stream {
    wire: Wire,
    /// Whether the server has said anything since the last question.
    heard: bool,
    /// Whether everything that was written has left.
    flushed: bool,
}

#[derive(Debug)]
enum Wire {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Stream {
    pub(crate) const fn plain(stream: TcpStream) -> Self {
        Self { wire: Wire::Plain(stream), heard: false, flushed: true }
    }

    pub(crate) fn encrypted(stream: TlsStream<TcpStream>) -> Self {
        Self { wire: Wire::Encrypted(Box::new(stream)), heard: false, flushed: true }
    }

    /// Whether the server has said anything since the last question.
    pub(crate) const fn has_heard(&self) -> bool {
        self.heard
    }

    /// Whether everything that was written has left.
    pub(crate) const fn is_flushed(&self) -> bool {
        self.flushed
    }

    /// Made ready for the next question.
    pub(crate) const fn rested(mut self) -> Self {
        self.heard = false;
        self
    }

    /// Whether it may be asked on: a server that has hung up, or that speaks without being asked, is
    /// no longer in the conversation. Looks, and does not wait.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let mut byte = [0_u8; 1];
        let mut buffer = ReadBuf::new(&mut byte);
        let mut context = Context::from_waker(Waker::noop());
        self.wire.poll_read(&mut context, &mut buffer).is_pending()
    }
}

impl Wire {
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(wire) => Pin::new(wire).poll_read(context, buffer),
            Self::Encrypted(wire) => Pin::new(wire.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        let before = buffer.filled().len();
        ready!(stream.wire.poll_read(context, buffer))?;
        stream.heard |= buffer.filled().len() > before;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let stream = self.get_mut();
        stream.flushed = false;
        match &mut stream.wire {
            Wire::Plain(wire) => Pin::new(wire).poll_write(context, bytes),
            Wire::Encrypted(wire) => Pin::new(wire.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        ready!(match &mut stream.wire {
            Wire::Plain(wire) => Pin::new(wire).poll_flush(context),
            Wire::Encrypted(wire) => Pin::new(wire.as_mut()).poll_flush(context),
        })?;
        stream.flushed = true;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().wire {
            Wire::Plain(wire) => Pin::new(wire).poll_shutdown(context),
            Wire::Encrypted(wire) => Pin::new(wire.as_mut()).poll_shutdown(context),
        }
    }
}
