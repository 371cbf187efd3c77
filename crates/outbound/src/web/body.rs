//! The body of an answer, read to its end and unpacked, within its limit.

use std::io::Read as _;

use bytes::{Bytes, BytesMut};
use flate2::bufread::MultiGzDecoder;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, HeaderMap};

use super::conversation::Conversation;
use super::error::FetchError;

/// The longest body of a redirect that is read, so that its connection can be kept.
const MAX_SKIPPED: u64 = 16 * 1024;

/// How much a packed body is first expected to grow.
const EXPECTED_GROWTH: usize = 4;

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Not at all.
    Plain,
    /// By gzip.
    Gzip,
}

impl Packing {
    /// What the headers say. What was not offered is refused.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, FetchError> {
        let mut packing = Self::Plain;
        for value in headers.get_all(CONTENT_ENCODING) {
            for word in value.as_bytes().split(|byte| *byte == b',') {
                packing = packing.and(word.trim_ascii())?;
            }
        }
        Ok(packing)
    }

    fn and(self, word: &[u8]) -> Result<Self, FetchError> {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        match self {
            _ if word.is_empty() || is(b"identity") => Ok(self),
            Self::Plain if is(b"gzip") || is(b"x-gzip") => Ok(Self::Gzip),
            _ => Err(FetchError::bad_body(
                "the answer is packed in a way that was not asked for; let the endpoint answer plainly or with gzip",
            )),
        }
    }
}

/// Reads a body to its end, and unpacks it as its headers say.
pub(crate) async fn whole(
    conversation: &mut Conversation,
    headers: &HeaderMap,
    body: Incoming,
    limit: usize,
) -> Result<Bytes, FetchError> {
    let packing = Packing::of(headers)?;
    let read = read(conversation, body, limit).await?;
    unpack(read, packing, limit)
}

/// Reads a body to its end.
async fn read(
    conversation: &mut Conversation,
    mut body: Incoming,
    limit: usize,
) -> Result<Bytes, FetchError> {
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > limit) {
        return Err(FetchError::too_large(limit));
    }
    let mut whole = Whole::default();
    while !body.is_end_stream() {
        let Some(part) = conversation.next_part(&mut body).await? else { break };
        if let Ok(data) = part.into_data() {
            whole.add(data, limit)?;
        }
    }
    Ok(whole.done())
}

/// Reads the body of a redirect, where that is worth the connection.
pub(crate) async fn skip(conversation: &mut Conversation, mut body: Incoming) -> bool {
    while !body.is_end_stream() {
        if body.size_hint().upper().is_none_or(|left| left > MAX_SKIPPED) {
            return false;
        }
        match conversation.next_part(&mut body).await {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(_) => return false,
        }
    }
    true
}

/// Unpacks a body, up to its limit.
pub(crate) fn unpack(packed: Bytes, packing: Packing, limit: usize) -> Result<Bytes, FetchError> {
    if packing == Packing::Plain || packed.is_empty() {
        return Ok(packed);
    }
    let expected = packed.len().saturating_mul(EXPECTED_GROWTH).min(limit);
    let mut plain = Vec::with_capacity(expected);
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let read = MultiGzDecoder::new(packed.as_ref()).take(most).read_to_end(&mut plain);
    if plain.len() > limit {
        return Err(FetchError::too_large(limit));
    }
    match read {
        Ok(_) => Ok(plain.into()),
        Err(_) => Err(FetchError::bad_body(
            "the answer says that it is packed with gzip, and can't be unpacked; check what stands before the endpoint",
        )),
    }
}

/// The parts of a body. One alone is not copied.
#[derive(Default)]
struct Whole {
    first: Bytes,
    joined: BytesMut,
}

impl Whole {
    fn add(&mut self, part: Bytes, limit: usize) -> Result<(), FetchError> {
        let so_far = self.first.len().saturating_add(self.joined.len());
        if so_far.saturating_add(part.len()) > limit {
            return Err(FetchError::too_large(limit));
        }
        if so_far == 0 {
            self.first = part;
        } else {
            if self.joined.is_empty() {
                self.joined.extend_from_slice(&self.first);
                self.first = Bytes::new();
            }
            self.joined.extend_from_slice(&part);
        }
        Ok(())
    }

    fn done(self) -> Bytes {
        if self.joined.is_empty() { self.first } else { self.joined.freeze() }
    }
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
