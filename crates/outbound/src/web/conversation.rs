//! One question and its answer on one connection.
//!
//! hyper's state of a connection, some 20 kB of buffers, lives only as long as the conversation: what
//! is kept for the next one is the bare stream. And it is driven by whoever waits for the answer, so
//! that no wake-up goes from task to task.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::unconstrained;

use super::error::{FetchError, FetchErrorKind};
use super::stream::Stream;
use super::tls;

/// The most bytes of an answer's head, and the most that is read at once.
pub(crate) const MAX_HEAD: usize = 16 * 1024;

/// The most headers of an answer: hyper holds so many without asking for memory.
pub(crate) const MAX_ANSWER_HEADERS: usize = 100;

/// A conversation that has begun.
pub(crate) struct Conversation {
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<TokioIo<Stream>, Full<Bytes>>,
    /// Whether the connection has ended: it must not be driven any more.
    has_ended: bool,
}

/// Why a question has no answer: nothing where the connection ended without an error.
pub(crate) type AskError = Option<hyper::Error>;

/// How a conversation failed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Before a single byte came back: on a kept connection that says nothing about the server.
    Unheard(FetchError),
    /// Otherwise.
    Failed(FetchError),
}

impl Trouble {
    pub(crate) fn into_error(self) -> FetchError {
        match self {
            Self::Unheard(error) | Self::Failed(error) => error,
        }
    }
}

impl From<FetchError> for Trouble {
    fn from(error: FetchError) -> Self {
        Self::Failed(error)
    }
}

impl Conversation {
    /// Takes over a stream.
    pub(crate) async fn begin(stream: Stream) -> Result<Self, FetchError> {
        let begun = Builder::new()
            .writev(false)
            .max_buf_size(MAX_HEAD)
            .handshake(TokioIo::new(stream))
            .await;
        let (sender, connection) = begun.map_err(|error| answer_error(Some(&error)))?;
        Ok(Self { sender, connection, has_ended: false })
    }

    /// Asks, and waits for the head of the answer.
    pub(crate) async fn ask(
        &mut self,
        question: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, AskError> {
        let Self { sender, connection, has_ended } = self;
        // Without a budget: it holds an answer or it does not, and nobody but us can bring one.
        let mut asking = pin!(unconstrained(sender.send_request(question)));
        poll_fn(|context| {
            drive(connection, has_ended, context);
            match asking.as_mut().poll(context) {
                Poll::Ready(answer) => Poll::Ready(answer.map_err(Some)),
                Poll::Pending if *has_ended => Poll::Ready(Err(None)),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// The next part of the body, or nothing at its end.
    pub(crate) async fn next_part(
        &mut self,
        body: &mut Incoming,
    ) -> Result<Option<Frame<Bytes>>, FetchError> {
        let Self { connection, has_ended, .. } = self;
        let next = poll_fn(|context| {
            // What is there already comes first: an end of the connection must not hide it.
            if let Poll::Ready(part) = Pin::new(&mut *body).poll_frame(context) {
                return Poll::Ready(part.transpose().map_err(Some));
            }
            drive(connection, has_ended, context);
            match Pin::new(&mut *body).poll_frame(context) {
                Poll::Ready(part) => Poll::Ready(part.transpose().map_err(Some)),
                Poll::Pending if *has_ended => Poll::Ready(Err(None)),
                Poll::Pending => Poll::Pending,
            }
        });
        next.await.map_err(|error| answer_error(error.as_ref()))
    }

    /// The stream, where it may be asked on again.
    pub(crate) async fn end(mut self) -> Option<Stream> {
        if !self.sender.is_ready() {
            let Self { connection, has_ended, .. } = &mut self;
            poll_fn(|context| {
                drive(connection, has_ended, context);
                Poll::Ready(())
            })
            .await;
        }
        if self.has_ended || !self.sender.is_ready() {
            return None;
        }
        let parts = self.connection.into_parts();
        let stream = parts.io.into_inner();
        // Whatever came beyond the answer, nobody asked for.
        (parts.read_buf.is_empty() && stream.is_flushed()).then(|| stream.rested())
    }

    /// What this error means, at the end of the conversation.
    pub(crate) fn trouble(self, error: &AskError) -> Trouble {
        let heard = self.connection.into_parts().io.into_inner().has_heard();
        let error = answer_error(error.as_ref());
        if heard { Trouble::Failed(error) } else { Trouble::Unheard(error) }
    }
}

fn drive(
    connection: &mut Connection<TokioIo<Stream>, Full<Bytes>>,
    has_ended: &mut bool,
    context: &mut Context<'_>,
) {
    if !*has_ended {
        // An error reaches whoever waits for the answer or its body.
        *has_ended = Pin::new(connection).poll(context).is_ready();
    }
}

/// What an error of the conversation says to a person.
fn answer_error(error: Option<&hyper::Error>) -> FetchError {
    if let Some(error) = error.and_then(tls_error) {
        return FetchError::new(FetchErrorKind::Tls, tls::sentence(error));
    }
    if error.is_some_and(hyper::Error::is_parse_too_large) {
        let message = format!(
            "the head of the answer is longer than {MAX_HEAD} bytes or {MAX_ANSWER_HEADERS} headers, or announces a body beyond all bounds; let the endpoint send less"
        );
        return FetchError::new(FetchErrorKind::TooLarge, message);
    }
    FetchError::bad_body(if error.is_some_and(hyper::Error::is_parse) {
        "what answers there does not speak HTTP/1.1; check the port, and whether it wants https"
    } else {
        "the connection ended before the answer was complete; check the server's log"
    })
}

/// The error of TLS behind this one: a server may refuse a client only after the handshake.
fn tls_error(error: &hyper::Error) -> Option<&rustls::Error> {
    let source = std::error::Error::source(error)?;
    source.downcast_ref().and_then(tls::rustls_error)
}
