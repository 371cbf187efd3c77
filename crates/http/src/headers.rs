//! The headers that every answer carries.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The header that carries a request's id.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a page of ours may load, and who may frame it: nothing from elsewhere, nobody.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; \
     manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Two years, for this host alone: what runs on names below it is not ours to decide.
const STRICT_TRANSPORT_SECURITY: HeaderValue = HeaderValue::from_static("max-age=63072000");

const FIXED: [(HeaderName, HeaderValue); 7] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    // Our own pages must send a Referer to us: the CSRF check reads it where there is no Origin.
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
];

/// Most headers of an answer, so that none has to grow its table.
const ROOM: usize = 24;

/// What every answer starts from. Copying this is cheaper than inserting each header anew.
pub(crate) fn template(strict_transport: bool) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(ROOM);
    headers.extend(FIXED);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    if strict_transport {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT_SECURITY);
    }
    headers
}

/// Adds the template and the request id; where the route set a header itself, that one stays.
pub(crate) fn dress(headers: &mut HeaderMap, template: &HeaderMap, request_id: HeaderValue) {
    let own = std::mem::replace(headers, template.clone());
    headers.extend(own);
    headers.insert(X_REQUEST_ID, request_id);
}
