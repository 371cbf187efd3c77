//! How HTTP is spoken: both versions, within the limits.

use std::io;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;

use crate::limits::{
    HTTP2_CONNECTION_WINDOW_BYTES, HTTP2_ERROR_RESETS, HTTP2_HEADER_LIST_BYTES,
    HTTP2_PENDING_RESETS, HTTP2_PING_INTERVAL, HTTP2_PING_TIME, HTTP2_SEND_BUFFER_BYTES,
    HTTP2_STREAM_WINDOW_BYTES, HTTP2_STREAMS, MAX_HEAD_BYTES,
};

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoken {
    /// Surely HTTP/1.
    Http1,
    /// HTTP/2, or too few bytes to tell.
    Either,
}

/// The ways to speak.
pub(crate) struct Protocols {
    /// HTTP/1 alone: most connections, and a tenth cheaper than finding out for each.
    pub(crate) http1: http1::Builder,
    /// Finds out by the first bytes.
    pub(crate) either: auto::Builder<TokioExecutor>,
}

impl Protocols {
    pub(crate) fn new() -> Self {
        let mut http1 = http1::Builder::new();
        // The stream below keeps the clock of heads; see `guarded`.
        http1.timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(MAX_HEAD_BYTES);
        Self { http1, either: either() }
    }
}

fn either() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HTTP2_HEADER_LIST_BYTES)
        .max_concurrent_streams(HTTP2_STREAMS)
        .max_pending_accept_reset_streams(HTTP2_PENDING_RESETS)
        .max_local_error_reset_streams(HTTP2_ERROR_RESETS)
        .max_send_buf_size(HTTP2_SEND_BUFFER_BYTES)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIME);
    builder
}

/// The first bytes of HTTP/2, of which no HTTP/1 method is a beginning beyond the P.
const PREFACE: &[u8; 4] = b"PRI ";

/// Looks at the first bytes without taking them.
pub(crate) async fn hear(stream: &TcpStream) -> io::Result<Spoken> {
    let mut first = [0_u8; PREFACE.len()];
    let length = stream.peek(&mut first).await?;
    let heard = first.get(..length).unwrap_or_default();
    Ok(if PREFACE.starts_with(heard) { Spoken::Either } else { Spoken::Http1 })
}
