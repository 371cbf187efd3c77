//! Answers that are built once for many readers: with a tag, packed, and not sent again to who has them.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use mainstay_monitor::answer::Answer;

use super::assets::is_known;
use super::encoding::{Encoding, choose};
use crate::error::APPLICATION_JSON;

/// Whoever keeps it asks whether it still holds, and keeps it for themselves.
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");
const VARY: HeaderValue = HeaderValue::from_static("accept-encoding, authorization, cookie");

/// The answer as the client prefers it, or that it has it already.
pub(super) fn answer(kept: &Answer, request: &HeaderMap) -> Response {
    let encoding = choose(request, false, kept.gzip.is_some());
    let tag = match encoding {
        // A strong tag means equal bytes.
        Encoding::Gzip => format!("\"{}-gzip\"", kept.tag),
        Encoding::Brotli | Encoding::Identity => format!("\"{}\"", kept.tag),
    };
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(header::VARY, VARY);
    headers.insert(header::CACHE_CONTROL, REVALIDATE);
    let is_known = is_known(request, &tag);
    if let Ok(value) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, value);
    }
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(header::CONTENT_TYPE, APPLICATION_JSON);
    let packed = kept.gzip.as_ref().filter(|_| encoding == Encoding::Gzip);
    if packed.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(Encoding::Gzip.name()));
    }
    *response.body_mut() = Body::from(packed.unwrap_or(&kept.plain).clone());
    response
}
