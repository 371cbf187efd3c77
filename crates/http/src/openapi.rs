//! The document that describes every route of the API.

use axum::Router;
use mainstay_accounts::Scope;
use utoipa::OpenApi;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
};

use crate::access::{self, Entry, Needs, Who};
use crate::error::ErrorBody;
use crate::router::SharedState;
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
        (name = "system", description = "What this Mainstay is."),
        (name = "auth", description = "The first account, signing in and out."),
        (name = "access", description = "How strangers become users."),
        (name = "account", description = "The own sessions, password and API tokens."),
        (name = "services", description = "What is watched, and how it is."),
        (name = "dependencies", description = "What services lean on, by which names, and how it was."),
        (name = "graph", description = "What leans on what, what is broken because of what, and whom it hurts; now and at any moment."),
        (name = "activity", description = "What changed lately."),
        (name = "board", description = "Everything at a glance."),
        (name = "instances", description = "Who shares the polling."),
        (name = "files", description = "Transcripts of incident calls, the reports made of them, and who else may read these."),
        (name = "fleet", description = "Workers, the machines that run the agent, and the nets that are loaded on them."),
        (name = "journeys", description = "Scripted paths of a user, run on a schedule, and what came of each run."),
        (name = "events", description = "What happens, the moment it happens."),
        (name = "admin", description = "Who may do what, and who did what."),
    )
)]
pub(crate) struct Document;

/// The names of the ways to prove who is calling.
const SESSION: &str = "session";
const BEARER: &str = "bearer";

/// The OpenAPI 3.1 document as JSON, with a newline at its end.
#[must_use]
pub fn openapi() -> String {
    text(&documented().1)
}

/// The documented routes, and the document with whom each of them is for.
pub(crate) fn documented() -> (Router<SharedState>, utoipa::openapi::OpenApi) {
    let (router, mut document) = routes::documented().split_for_parts();
    let components = document.components.get_or_insert_default();
    let cookie = ApiKeyValue::with_description(
        SESSION,
        "The cookie of a signed-in browser. What changes something also needs Origin or Referer.",
    );
    components.add_security_scheme(SESSION, SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    let bearer = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API token, which begins with mst_. Make one under /account."))
        .build();
    components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
    for Entry { method, path, who } in access::TABLE {
        let item = document.paths.paths.get_mut(*path);
        let operation = item.and_then(|item| operation(item, method));
        if let (Some(operation), Who::SignedIn(needs)) = (operation, who) {
            close(operation, needs);
        }
    }
    (router, document)
}

fn operation<'a>(item: &'a mut PathItem, method: &str) -> Option<&'a mut Operation> {
    match method {
        "GET" => item.get.as_mut(),
        "POST" => item.post.as_mut(),
        "PATCH" => item.patch.as_mut(),
        "DELETE" => item.delete.as_mut(),
        _ => None,
    }
}

/// Says whom an operation is for.
fn close(operation: &mut Operation, needs: &Needs) {
    let session = SecurityRequirement::new(SESSION, [""; 0]);
    let bearer = |scope: Scope| SecurityRequirement::new(BEARER, [scope.name()]);
    let token = match needs.scope {
        Some(scope) => format!("or a token with the scope `{scope}`"),
        None => "not a token".to_owned(),
    };
    let words = format!("For the role `{}` and up. Needs a session, {token}.", needs.role);
    let description = operation.description.get_or_insert_default();
    if !description.is_empty() {
        description.push_str("\n\n");
    }
    description.push_str(&words);
    operation.security = Some(std::iter::once(session).chain(needs.scope.map(bearer)).collect());
}

/// The document as text.
pub(crate) fn text(document: &utoipa::openapi::OpenApi) -> String {
    // A document of strings and maps always serialises.
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}
