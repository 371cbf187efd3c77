//! A follower as the body of an answer: for HTTP/2, where other requests share the connection.

use std::convert::Infallible;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;

use super::follower::{Chunk, Follower};
use crate::entry::Lasting;

/// The body of a live stream. `lasting` keeps its connection from being taken for an idle one.
pub(crate) fn body(follower: Box<Follower>, lasting: Lasting) -> Body {
    let first = follower.first_words();
    let progress = follower.head.stalls.watch(lasting, follower.head.stall_time);
    let state = (Some(first), follower, progress);
    Body::from_stream(unfold(state, async |(first, mut follower, progress)| {
        progress.taken();
        let chunk = match first {
            Some(first) => first,
            None => whole(follower.next().await?),
        };
        progress.handed_over();
        Some((Ok::<_, Infallible>(chunk), (None, follower, progress)))
    }))
}

fn whole(chunk: Chunk) -> Bytes {
    let Chunk { own, shared } = chunk;
    if shared.is_empty() {
        return own;
    }
    let mut whole = BytesMut::with_capacity(own.len().saturating_add(shared.len()));
    whole.extend_from_slice(&own);
    whole.extend_from_slice(&shared);
    whole.freeze()
}
