//! What the server says, bounded and one line at a time.
//!
//! The SMTP client reads until a line ends, however long that takes: a server that never ends its
//! line would fill the memory. And it keeps what it has read beyond a line when TLS begins: what
//! somebody on the way put behind the answer to STARTTLS would then count as said under TLS.
//! Handing out one line at a time leaves such bytes to the TLS handshake, which fails on them.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most that a server may say in one conversation, certificates included.
pub(crate) const MAX_SAID: usize = 64 * 1024;

/// The most lines of it: the SMTP client reads an answer from its start again with each of its
/// lines. (Under TLS a line break comes by chance, every 256 bytes or so.)
pub(crate) const MAX_LINES: usize = 500;

/// How much is read at once.
const CHUNK: usize = 4 * 1024;

/// A connection to a mail server.
#[derive(Debug)]
pub(crate) struct Wire<S> {
    inner: S,
    peer: SocketAddr,
    /// What was read and not handed out yet.
    unread: Vec<u8>,
    /// How much the server may still say.
    bytes_left: usize,
    /// How many lines it may still say.
    lines_left: usize,
}

impl<S> Wire<S> {
    pub(crate) fn new(inner: S, peer: SocketAddr) -> Self {
        let (bytes_left, lines_left) = (MAX_SAID, MAX_LINES);
        Self { inner, peer, unread: Vec::new(), bytes_left, lines_left }
    }

    fn count(&mut self, read: &[u8]) -> Option<()> {
        let lines = read.iter().filter(|&&byte| byte == b'\n').count();
        self.lines_left = self.lines_left.checked_sub(lines)?;
        self.bytes_left = self.bytes_left.checked_sub(read.len())?;
        Some(())
    }

    /// Hands out what fits, up to the end of a line.
    fn hand_out(&mut self, buffer: &mut ReadBuf<'_>) {
        let line = self.unread.iter().position(|&byte| byte == b'\n');
        let end = line.map_or(self.unread.len(), |at| at.saturating_add(1));
        let end = end.min(buffer.remaining());
        let line: Vec<u8> = self.unread.drain(..end).collect();
        buffer.put_slice(&line);
    }
}

impl<S: AsyncRead + Unpin> Wire<S> {
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut chunk = [0_u8; CHUNK];
        let mut read = ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut self.inner).poll_read(context, &mut read))?;
        let read = read.filled();
        self.count(read).ok_or_else(|| io::Error::other("the server said too much"))?;
        self.unread.extend_from_slice(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        if wire.unread.is_empty() {
            ready!(wire.poll_fill(context))?;
        }
        wire.hand_out(buffer);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

impl<S> AsyncTokioStream for Wire<S>
where
    S: AsyncRead + AsyncWrite + Send + Sync + Unpin + std::fmt::Debug,
{
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    fn wire(said: &[u8]) -> Wire<&[u8]> {
        Wire::new(said, SocketAddr::from(([127, 0, 0, 1], 25)))
    }

    #[tokio::test]
    async fn no_read_goes_beyond_a_line() {
        let mut wire = wire(b"220 go\r\n250 injected\r\nrest");
        let mut buffer = [0_u8; 64];
        for expected in ["220 go\r\n", "250 injected\r\n", "rest", ""] {
            let count = wire.read(&mut buffer).await.unwrap();
            assert_eq!(std::str::from_utf8(&buffer[..count]), Ok(expected));
        }
    }

    #[tokio::test]
    async fn a_small_buffer_gets_a_line_in_pieces() {
        let mut wire = wire(b"220 go\r\n250");
        let mut buffer = [0_u8; 5];
        for expected in ["220 g", "o\r\n", "250"] {
            let count = wire.read(&mut buffer).await.unwrap();
            assert_eq!(std::str::from_utf8(&buffer[..count]), Ok(expected));
        }
    }

    #[tokio::test]
    async fn a_server_may_say_so_much_and_no_more() {
        let mut said = Vec::new();
        wire(&vec![b'x'; MAX_SAID]).read_to_end(&mut said).await.unwrap();
        assert_eq!(said.len(), MAX_SAID);
        for (byte, most) in [(b'x', MAX_SAID), (b'\n', MAX_LINES)] {
            let endless = tokio::io::repeat(byte);
            let mut wire = Wire::new(endless, SocketAddr::from(([127, 0, 0, 1], 25)));
            let mut said = Vec::new();
            let refused = wire.read_to_end(&mut said).await.unwrap_err();
            assert_eq!(refused.to_string(), "the server said too much");
            assert!(said.len() <= most);
        }
    }
}
