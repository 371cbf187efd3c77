//! Makes a request ready: what is sent, and what is shown of it.

use std::time::Duration;

use mainstay_base::Secret;
use mainstay_base::secret::MASK;
use mainstay_outbound::WebRequest;
use mainstay_outbound::web::{RequestError, WebMethod, WebRequestBuilder};
use url::Url;

use crate::bounds::MAX_RENDERED;
use crate::curl::{self, Content, Shown};
use crate::mask::unmarked;
use crate::model::{Body, Method, Request};
use crate::report::{HeaderRecord, RequestRecord};
use crate::scope::{Context, Face, MARK, MARK_END, Scope};
use crate::template::TemplateError;

/// The word for these calls in the metrics.
const PURPOSE: &str = "journey";

/// An address that stands for all others.
const ANYWHERE: &str = "http://127.0.0.1/";

/// Headers whose values are not shown even where they were written out.
const SENSITIVE_HEADERS: [&str; 5] =
    ["authorization", "cookie", "x-api-key", "x-auth-token", "api-key"];

/// A request, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(crate) web: WebRequest,
    pub(crate) shown: RequestRecord,
    /// What stands for the credentials of its address in a header that Mainstay makes of them.
    pub(crate) login: Option<Secret<String>>,
}

/// Why a request can't be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotReady {
    /// A template could not be filled in.
    #[error("{0}")]
    Template(#[from] TemplateError),
    /// The address is none.
    #[error("{0} is no address; write it like https://orders.internal/orders")]
    Url(String),
    /// It can't be sent.
    #[error("the request can't be sent: {0}")]
    Request(#[from] RequestError),
    /// The body is too long.
    #[error("the body is longer than {MAX_RENDERED} bytes; send less")]
    TooLong,
}

/// The parts of a request with everything filled in, by one face.
struct Parts {
    url: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    /// The same before it was escaped, where it is a form.
    fields: Vec<(String, String)>,
}

/// Fills a request in and makes it ready. It takes no longer than `at_most`, and an answer of so many bytes.
pub(crate) fn ready(
    request: &Request,
    scope: &Scope,
    at_most: Duration,
    max_answer: usize,
) -> Result<Ready, NotReady> {
    let real = Parts::of(request, &scope.context(Face::Real))?;
    let shown = Parts::of(request, &scope.context(Face::Shown))?.record(request);
    if real.body.as_ref().is_some_and(|body| body.len() > MAX_RENDERED) {
        return Err(NotReady::TooLong);
    }
    let url = Url::parse(&real.url).map_err(|_| NotReady::Url(shown.url.clone()))?;
    let timeout = request.timeout.min(at_most).max(Duration::from_millis(1));
    let mut builder = begin(request, &url, real.body.unwrap_or_default());
    for (name, value) in real.headers {
        builder = builder.header(name, Secret::new(value));
    }
    let web = builder.timeout(timeout).max_body(max_answer).build()?;
    Ok(Ready { web, shown, login: WebRequest::login(&url) })
}

/// Whether a request may have a header of this name, with this in its value: by the rules of those who will
/// send it.
pub(crate) fn check_header(name: &str, value: &str) -> Result<(), NotReady> {
    let url = Url::parse(ANYWHERE).map_err(|_| NotReady::Url(ANYWHERE.to_owned()))?;
    WebRequest::get(PURPOSE, &url).header(name, Secret::new(value.to_owned())).build()?;
    Ok(())
}

fn begin(request: &Request, url: &Url, body: String) -> WebRequestBuilder {
    let method = match request.method {
        Method::Get => WebMethod::Get,
        Method::Head => WebMethod::Head,
        Method::Post => WebMethod::Post,
        Method::Put => WebMethod::Put,
        Method::Patch => WebMethod::Patch,
        Method::Delete => WebMethod::Delete,
    };
    let builder = WebRequest::get(PURPOSE, url).method(method).body(body);
    if request.follow { builder } else { builder.redirects_are_answers() }
}

impl Parts {
    fn of(request: &Request, context: &Context<'_>) -> Result<Self, TemplateError> {
        let url = request.url.text(context)?;
        let mut headers = Vec::new();
        for (name, value) in &request.headers {
            headers.push((name.clone(), value.text(context)?));
        }
        let mut fields = Vec::new();
        let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let (body, kind) = match &request.body {
            Body::Empty => (None, None),
            Body::Json(json) => (Some(json.value(context)?.to_string()), Some("application/json")),
            Body::Text(text) => (Some(text.text(context)?), Some("text/plain; charset=utf-8")),
            Body::Form(form) => {
                for (name, value) in form {
                    fields.push((name.clone(), value.text(context)?));
                }
                let form =
                    form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
                (Some(form), Some("application/x-www-form-urlencoded"))
            }
        };
        headers.extend(
            kind.filter(|_| !has_type).map(|kind| ("content-type".to_owned(), kind.to_owned())),
        );
        Ok(Self { url, headers, body, fields })
    }

    /// What is shown, from the parts of that face.
    fn record(mut self, request: &Request) -> RequestRecord {
        let asked = without_password(&as_asked(&self.url));
        self.url = without_password(&decoded_marks(&self.url));
        self.body = self.body.map(|body| decoded_marks(&body));
        for (name, value) in &mut self.headers {
            let is_sensitive = SENSITIVE_HEADERS.contains(&name.to_ascii_lowercase().as_str());
            if is_sensitive && !value.contains(MARK) {
                *value = MASK.to_owned();
            }
        }
        let curl = curl::command(&Shown {
            method: request.method.name(),
            url: &asked,
            headers: &self.headers,
            body: self.content(),
            follow: request.follow,
        });
        // Half a command would do something else than the whole one.
        let curl = if curl.len() > MAX_RENDERED { String::new() } else { curl };
        let header =
            |(name, value): (String, String)| HeaderRecord { name, value: unmarked(&value) };
        RequestRecord {
            method: request.method.name().to_owned(),
            url: unmarked(&self.url),
            headers: self.headers.into_iter().map(header).collect(),
            body: self.body.map(|body| unmarked(&body)),
            curl: mainstay_base::replace_nul(&curl).into_owned(),
        }
    }

    /// What is sent, as the shell is told: a secret in a form is escaped only once it is filled in.
    fn content(&self) -> Content<'_> {
        match &self.body {
            None => Content::Empty,
            Some(_) if self.fields.iter().any(|(_, value)| value.contains(MARK)) => {
                Content::Fields(&self.fields)
            }
            Some(body) => Content::Text(body),
        }
    }
}

/// The address as it is asked for: what an address can't hold, such as a space, is escaped. Where a secret hides what it
/// is, only the spaces are.
fn as_asked(url: &str) -> String {
    let asked = Url::parse(url).map_or_else(|_| url.replace(' ', "%20"), String::from);
    decoded_marks(&asked)
}

/// The filter `urlencode` and forms write the marks of secrets in their own way.
fn decoded_marks(text: &str) -> String {
    let encoded = |mark: char| -> String {
        form_urlencoded::byte_serialize(mark.to_string().as_bytes()).collect()
    };
    text.replace(&encoded(MARK), &MARK.to_string())
        .replace(&encoded(MARK_END), &MARK_END.to_string())
}

/// A password in an address that is no secret of Mainstay is not shown either.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let Some((login, host)) = authority.rsplit_once('@') else { return text.to_owned() };
    match login.split_once(':') {
        Some((user, password)) if !password.contains(MARK) => {
            format!("{scheme}://{user}:{MASK}@{host}{path}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
