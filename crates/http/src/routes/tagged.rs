//! An answer that was written out before, sent only to who does not have it.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use mainstay_monitor::graph::answer::Answer;

use super::assets::is_known;
use super::encoding::{Encoding, choose};
use crate::error::{APPLICATION_JSON, Error};

/// Browsers keep it for the one who is signed in, and ask each time whether it is still the one.
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");
const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");

/// The answer in the form that the client likes best, or 304 when it has it.
pub(super) fn tagged(request: &HeaderMap, answer: &Answer) -> Result<Response, Error> {
    let encoding = choose(request, false, answer.gzip.is_some());
    let packed = answer.gzip.as_ref().filter(|_| encoding == Encoding::Gzip);
    // A strong tag means equal bytes, so each encoding has a tag of its own.
    let etag = match packed {
        Some(_) => format!("{}-gzip\"", answer.etag.trim_end_matches('"')),
        None => answer.etag.clone(),
    };
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(header::ETAG, HeaderValue::try_from(&etag).map_err(Error::internal)?);
    headers.insert(header::VARY, VARY);
    headers.insert(header::CACHE_CONTROL, REVALIDATE);
    if is_known(request, &etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    headers.insert(header::CONTENT_TYPE, APPLICATION_JSON);
    if packed.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(Encoding::Gzip.name()));
    }
    *response.body_mut() = Body::from(packed.unwrap_or(&answer.plain).clone());
    Ok(response)
}
