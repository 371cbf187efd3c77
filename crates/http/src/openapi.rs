//! The document that describes every route of the API.

use utoipa::openapi::{Info, License, OpenApi};

use crate::routes;

/// The OpenAPI 3.1 document as JSON, with a newline at its end.
#[must_use]
pub fn openapi() -> String {
    text(routes::documented().into_openapi())
}

/// The document with its head, as text.
pub(crate) fn text(mut document: OpenApi) -> String {
    let mut info = Info::new("Mainstay", env!("CARGO_PKG_VERSION"));
    info.description = Some("What Mainstay watches, what it found, and how to change it.".into());
    info.license = Some(License::new("Apache-2.0"));
    document.info = info;
    // A document of strings and maps always serialises.
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}
