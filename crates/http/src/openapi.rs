//! The document that describes every route of the API.

use utoipa::OpenApi;

use crate::error::ErrorBody;
use crate::routes;

/// The head of the document; the routes add themselves.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Mainstay",
        description = "What Mainstay watches, what it found, and how to change it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(ErrorBody)),
    tags(
        (name = "health", description = "For those who watch Mainstay itself."),
        (name = "system", description = "What this Mainstay is.")
    )
)]
pub(crate) struct Document;

/// The OpenAPI 3.1 document as JSON, with a newline at its end.
#[must_use]
pub fn openapi() -> String {
    text(&routes::documented().into_openapi())
}

/// The document as text.
pub(crate) fn text(document: &utoipa::openapi::OpenApi) -> String {
    // A document of strings and maps always serialises.
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}
