//! Every bound of the surface, by name.

use std::time::Duration;

use mainstay_journeys::bounds::MAX_FILE_BYTES;

/// Headers in one request. HTTP/1 connections refuse more while reading: it is hyper's own number,
/// left unset there because setting it makes hyper allocate for each request.
pub const MAX_HEADERS: usize = 100;
/// Bytes of one request's method, target, header names and header values together. hyper refuses
/// heads of more while they come in parts, but takes larger ones that come at once; so the gate
/// counts. It is also hyper's buffer for writing.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// The same for HTTP/2, where every header counts 32 bytes more than its text.
pub(crate) const HTTP2_HEADER_LIST_BYTES: u32 = 64 * 1024;
/// Requests at once on one HTTP/2 connection.
pub(crate) const HTTP2_STREAMS: u32 = 128;
/// Streams that a client may reset before they were taken up, until its connection is closed.
pub(crate) const HTTP2_PENDING_RESETS: usize = 20;
/// Streams that we reset because of a client's mistakes, until its connection is closed.
pub(crate) const HTTP2_ERROR_RESETS: usize = 128;
/// Bytes that wait for being sent on one HTTP/2 stream.
pub(crate) const HTTP2_SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Bytes that a client may send on one HTTP/2 stream before we have read them.
pub(crate) const HTTP2_STREAM_WINDOW_BYTES: u32 = 64 * 1024;
/// The same for all streams of a connection together.
pub(crate) const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// How often a quiet HTTP/2 client is asked whether it is still there.
pub(crate) const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long it may take to say so.
pub(crate) const HTTP2_PING_TIME: Duration = Duration::from_secs(10);
/// Bytes thrown away after a refusal, so that the client reads the refusal and not a reset.
pub(crate) const LINGER_BYTES: usize = 1024 * 1024;
/// How long that may take.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(1);
/// The first wait after a failed accept; it doubles up to [`ACCEPT_BACKOFF_MAX`].
pub(crate) const ACCEPT_BACKOFF_MIN: Duration = Duration::from_millis(10);
/// The longest wait after a failed accept.
pub(crate) const ACCEPT_BACKOFF_MAX: Duration = Duration::from_secs(1);
/// Characters of a client's own input that an answer or a log line repeats.
pub(crate) const MAX_ECHO_CHARS: usize = 120;
/// Characters of a request id that is taken over from the client.
pub(crate) const MAX_REQUEST_ID_CHARS: usize = 64;
/// Characters of what a client calls itself that a session and the audit log keep.
pub(crate) const MAX_USER_AGENT_CHARS: usize = 300;
/// Items of one page of a list, unless the query says otherwise.
pub const DEFAULT_PAGE_ITEMS: u16 = 50;
/// The most items of one page of a list.
pub const MAX_PAGE_ITEMS: u16 = 200;
/// Characters of a cursor; ours are shorter.
pub(crate) const MAX_CURSOR_CHARS: usize = 512;
/// Addresses whose requests are counted at once: a fixed table of half a megabyte.
pub(crate) const MAX_ADDRESSES: usize = 16 * 1024;
/// Hops of `X-Forwarded-For` that are looked at, from the nearest on.
pub(crate) const MAX_FORWARDED_HOPS: usize = 16;
/// Bytes of a multipart body beside the file in it: heads of parts, boundaries, short fields.
pub(crate) const MULTIPART_ROOM_BYTES: u64 = 64 * 1024;
/// Bytes of a journey as JSON: a file of the greatest length, with what JSON adds to it.
pub(crate) const MAX_JOURNEY_BODY_BYTES: usize = 4 * MAX_FILE_BYTES;
/// Bytes of the head of one part of a multipart body.
pub(crate) const PART_HEAD_BYTES: usize = 16 * 1024;
/// Bytes of a part that is no file.
pub(crate) const PART_FIELD_BYTES: usize = 1024;
/// Bytes of an upload that have to come in each [`Limits::stall_time`].
pub(crate) const PACE_BYTES: usize = 64 * 1024;
/// What `Retry-After` says when nothing better is known.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The bounds that an operator or a test may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a JSON body.
    pub body_bytes: usize,
    /// From the first to the last byte of a body.
    pub body_time: Duration,
    /// From the end of a request's head to the head of its answer; a stream may go on after it.
    pub request_time: Duration,
    /// The same for an upload: a slow line takes minutes.
    pub upload_time: Duration,
    /// From the first byte of a request's head, or from the connection, to the head's end.
    pub head_time: Duration,
    /// The TLS handshake.
    pub handshake_time: Duration,
    /// How long a connection is kept without a request. It is longer than the minute that load
    /// balancers keep theirs, so that they close first and never send into a closing connection.
    pub idle_time: Duration,
    /// How long a client may take none of the bytes that wait for it.
    pub stall_time: Duration,
    /// Between two signs of life on a quiet stream of events.
    pub keepalive: Duration,
    /// Connections at once; beyond it new ones wait in the listener's queue.
    pub connections: usize,
    /// Requests in a second that one address may send in the long run. When this or the burst is
    /// zero, or Mainstay is alone, nobody is counted; the probes never are.
    pub address_rate: u32,
    /// Requests that one address may send at once.
    pub address_burst: u32,
    /// One look at the system's health.
    pub probe_time: Duration,
    /// How long one look at the system's health answers for all who ask.
    pub probe_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 256 * 1024,
            body_time: Duration::from_secs(20),
            request_time: Duration::from_secs(30),
            upload_time: Duration::from_mins(5),
            head_time: Duration::from_secs(10),
            handshake_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            stall_time: Duration::from_secs(30),
            keepalive: Duration::from_secs(30),
            connections: 10_000,
            address_rate: 100,
            address_burst: 1_000,
            probe_time: Duration::from_secs(2),
            probe_age: Duration::from_secs(1),
        }
    }
}
