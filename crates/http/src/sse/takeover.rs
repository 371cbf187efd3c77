//! A follower on HTTP/1, where a stream has its connection to itself. hyper sends the head and the first
//! words; then the connection is taken from it, because its buffers are several times as large as
//! everything else that a follower holds, and the rest is written straight to the socket.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::{Buf as _, Bytes};
use http_body::Frame;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::follower::{Chunk, Follower};
use crate::entry::InFlight;
use crate::guarded::Pulse;

/// What the client of a stream may say meanwhile is thrown away, so little at a time.
const SCRATCH: usize = 16;

/// What ends a chunk.
const LINE_END: Bytes = Bytes::from_static(b"\r\n");

/// A follower whose head is on its way.
pub(crate) struct Taken {
    follower: Box<Follower>,
    /// HTTP/1.0 knows no chunks: there the end of the connection is the end of the stream.
    is_chunked: bool,
    /// Bytes of the client are not the beginning of another request.
    _in_flight: InFlight,
}

impl Taken {
    pub(crate) fn new(follower: Box<Follower>, is_chunked: bool, in_flight: InFlight) -> Self {
        Self { follower, is_chunked, _in_flight: in_flight }
    }

    /// The body that brings the first words, and says when the connection can be taken.
    pub(crate) fn first_body(&self, pulse: Arc<Pulse>) -> Body {
        Body::new(FirstWords { words: Some(self.follower.first_words()), pulse })
    }

    /// Goes on where the head and the first words end, until the stream or the client does.
    pub(crate) async fn go_on<S>(mut self, mut stream: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        loop {
            let chunk = tokio::select! {
                biased;
                chunk = self.follower.next() => chunk,
                gone = until_gone(&mut stream) => return Err(gone),
            };
            match chunk {
                Some(chunk) => self.send(&mut stream, chunk).await?,
                None => return self.end(&mut stream).await,
            }
        }
    }

    async fn send<S: AsyncWrite + Unpin>(&self, stream: &mut S, chunk: Chunk) -> io::Result<()> {
        let length = chunk.len();
        let Chunk { own, shared } = chunk;
        let text = own.chain(shared);
        if self.is_chunked {
            let size = Bytes::from(format!("{length:x}\r\n"));
            stream.write_all_buf(&mut size.chain(text).chain(LINE_END)).await?;
        } else {
            stream.write_all_buf(&mut { text }).await?;
        }
        stream.flush().await
    }

    async fn end<S: AsyncWrite + Unpin>(&self, stream: &mut S) -> io::Result<()> {
        if self.is_chunked {
            stream.write_all(b"0\r\n\r\n").await?;
        }
        stream.shutdown().await
    }
}

/// Resolves when the client has left. Whoever says something instead is no longer listened to, until
/// the next event: then leaving is noticed by what can't be sent.
async fn until_gone<S: AsyncRead + Unpin>(stream: &mut S) -> io::Error {
    let mut scratch = [0; SCRATCH];
    match stream.read(&mut scratch).await {
        Ok(0) => io::ErrorKind::UnexpectedEof.into(),
        Ok(_) => std::future::pending().await,
        Err(error) => error,
    }
}

/// Gives the first words, and then nothing: whoever asks again has taken them.
struct FirstWords {
    words: Option<Bytes>,
    pulse: Arc<Pulse>,
}

impl http_body::Body for FirstWords {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.words.take() {
            Some(words) => Poll::Ready(Some(Ok(Frame::data(words)))),
            None => {
                self.pulse.first_words_taken.store(true, Ordering::Relaxed);
                Poll::Pending
            }
        }
    }
}
