//! Reads a body within its limits of size and time.

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use crate::code::Code;
use crate::error::Error;
use crate::limits::Limits;

/// The whole body, or the reason why it is refused. Never more than the limit is held.
pub(crate) async fn read(body: Body, limits: &Limits) -> Result<Bytes, Error> {
    // The announced length is judged before the first byte is asked for, so that a client that
    // waits for `100 Continue` never sends it.
    if body.size_hint().lower() > u64::try_from(limits.body_bytes).unwrap_or(u64::MAX) {
        return Err(too_large(limits));
    }
    match timeout(limits.body_time, collect(body, limits)).await {
        Ok(collected) => collected,
        Err(_) => Err(too_slow(limits)),
    }
}

async fn collect(mut body: Body, limits: &Limits) -> Result<Bytes, Error> {
    let mut collected = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| unreadable())?;
        // Trailers carry nothing that a handler reads.
        let Ok(data) = frame.into_data() else { continue };
        if collected.len() + data.len() > limits.body_bytes {
            return Err(too_large(limits));
        }
        collected.extend_from_slice(&data);
    }
    Ok(collected.into())
}

fn too_large(limits: &Limits) -> Error {
    let limit = limits.body_bytes;
    Error::new(Code::BodyTooLarge, format!("A body may have {limit} bytes. Send less at once."))
        .with("limit_bytes", limit)
}

fn too_slow(limits: &Limits) -> Error {
    let limit = limits.body_time.as_secs_f64();
    let detail = format!("A body must arrive within {limit} seconds. Send it again, faster.");
    Error::new(Code::BodyTooSlow, detail)
}

fn unreadable() -> Error {
    Error::new(Code::BodyUnreadable, "The body ended early or was framed wrongly. Send it again.")
}
