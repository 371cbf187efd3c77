//! The dashboard, and the end of every path that no route takes.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use bytes::Bytes;

use super::encoding::{Encoding, choose, weight};
use crate::access::not_allowed;
use crate::code::Code;
use crate::cookie::SessionCookie;
use crate::credential::{self, Credential};
use crate::error::Error;
use crate::flight::RouteLabel;
use crate::next;
use crate::router::SharedState;
use crate::surface::Asset;

const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");
const VARY_OF_PAGES: HeaderValue = HeaderValue::from_static("accept, accept-encoding, cookie");
/// A page is one thing for whoever is signed in and another for the rest: no cache may mix them up.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The pages that nobody has to sign in for.
const PUBLIC_PAGES: [&str; 4] = ["/login", "/setup", "/invite", "/request-access"];

const FILE: RouteLabel = RouteLabel("asset");
const PAGE: RouteLabel = RouteLabel("dashboard");

/// A file of the dashboard, its index for those who open a page, or 404.
pub(crate) async fn fallback(
    State(state): State<SharedState>,
    request: Request,
) -> Result<Response, Error> {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        let detail = "No route is at this path. GET /api/openapi.json lists every route.";
        return Err(Error::new(Code::NotFound, detail));
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return Ok(not_allowed(["GET"].into_iter()));
    }
    if let Some(asset) = state.assets.find(path) {
        return Ok(answer(&asset, request.headers(), FILE));
    }
    if is_file(path) {
        return Err(Error::new(Code::NotFound, "The dashboard has no file of this name."));
    }
    // A probe with a misspelt path must fail, not find a page; browsers name text/html.
    if path != "/" && !names_html(request.headers()) {
        let detail = "Nothing is at this path. GET /api/openapi.json lists every route; a page of \
                      the dashboard opens for `Accept: text/html`.";
        return Err(Error::new(Code::NotFound, detail));
    }
    let (parts, _) = request.into_parts();
    let mut page =
        if PUBLIC_PAGES.contains(&parts.uri.path()) || is_signed_in(&state, &parts.headers).await {
            answer(&state.assets.index(), &parts.headers, PAGE)
        } else {
            sign_in_first(&parts.uri)?
        };
    page.headers_mut().insert(header::VARY, VARY_OF_PAGES);
    page.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    Ok(page)
}

/// Whether the request has a session that is alive. While the database does not answer, nobody knows:
/// then the page, which holds no secret, opens and says what is wrong.
async fn is_signed_in(state: &SharedState, headers: &HeaderMap) -> bool {
    match credential::find(headers, &state.site.cookie) {
        Credential::Cookie(SessionCookie::One(text)) => {
            !matches!(state.accounts.by_session(text).await, Ok(None))
        }
        Credential::Cookie(_) | Credential::Bearer(_) | Credential::None => false,
    }
}

fn sign_in_first(wanted: &Uri) -> Result<Response, Error> {
    let location = HeaderValue::try_from(next::login(wanted)).map_err(Error::internal)?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(header::LOCATION, location);
    response.extensions_mut().insert(PAGE);
    Ok(response)
}

/// What is below `/assets/` or has a dot in its last part is a file; everything else is a page that
/// the dashboard's router knows.
fn is_file(path: &str) -> bool {
    path.starts_with("/assets/") || path.rsplit('/').next().is_some_and(|last| last.contains('.'))
}

/// Whether `Accept` names `text/html` itself, with any weight but 0.
fn names_html(request: &HeaderMap) -> bool {
    let values = request.get_all(header::ACCEPT).iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|item| {
        let mut parts = item.split(';');
        let name = parts.next().unwrap_or_default().trim();
        name.eq_ignore_ascii_case("text/html") && parts.find_map(weight) != Some(0)
    })
}

fn answer(asset: &Asset, request: &HeaderMap, label: RouteLabel) -> Response {
    let encoding = choose(request, asset.brotli.is_some(), asset.gzip.is_some());
    let (etag, tag) = variant_tag(asset.etag, encoding);
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(label);
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag);
    headers.insert(header::VARY, VARY);
    headers.insert(header::CACHE_CONTROL, if asset.immutable { IMMUTABLE } else { REVALIDATE });
    if is_known(request, &etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    let bytes = match encoding {
        Encoding::Brotli => asset.brotli,
        Encoding::Gzip => asset.gzip,
        Encoding::Identity => None,
    };
    if bytes.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    }
    *response.body_mut() = Body::from(Bytes::from_static(bytes.unwrap_or(asset.identity)));
    response
}

/// A strong tag means equal bytes, so each encoding has a tag of its own.
fn variant_tag(etag: &'static str, encoding: Encoding) -> (String, HeaderValue) {
    if encoding == Encoding::Identity {
        return (etag.to_owned(), HeaderValue::from_static(etag));
    }
    let variant = format!("{}-{}\"", etag.trim_end_matches('"'), encoding.name());
    let value = HeaderValue::try_from(&variant);
    (variant, value.unwrap_or(HeaderValue::from_static(etag)))
}

/// Whether `If-None-Match` names the tag, by the weak comparison that RFC 9110 asks for here.
pub(super) fn is_known(request: &HeaderMap, etag: &str) -> bool {
    let values = request.get_all(header::IF_NONE_MATCH).iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
    })
}
