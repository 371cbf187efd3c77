//! How the storage is called: by the house's own client, to where the operator said.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::HOST;
use hyper::{Method, StatusCode};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use url::Url;

use super::error::{BlobError, BlobsError};
use super::place::BlobOptions;
use crate::guard::Policy;
use crate::web::client::Page;
use crate::web::request::Prepared;
use crate::web::target::Target;
use crate::web::{Web, WebOptions};

/// The longest answer that is no blob: a list of a thousand, or an error.
const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// The longest code of an error that is told on.
const MAX_CODE: usize = 64;

/// The most bytes of a blob that the caller takes; it travels with the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MostBytes(pub(crate) usize);

/// The storage said no.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the object storage answered {status}{}", .code.as_ref().map(|code| format!(" {code}")).unwrap_or_default())]
pub(crate) struct Refused {
    status: u16,
    code: Option<String>,
}

/// Calls the storage.
#[derive(Clone)]
pub(crate) struct Wire {
    web: Web,
    timeout: Duration,
}

impl Wire {
    /// The operator named the storage, so it may be inside.
    pub(crate) fn new(options: &BlobOptions) -> Result<Self, BlobsError> {
        let policy = Policy { private: true, ..Policy::default() };
        let mut web = WebOptions::new(policy, options.clock.clone())?;
        web.ca_file.clone_from(&options.ca_file);
        Ok(Self { web: Web::new(&web)?, timeout: options.timeout })
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let prepared = self.prepare(request).await?;
        let (page, _) = self.web.exchange(&prepared).await;
        let page = page.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        match Refused::of(&page) {
            Some(refused) => Err(HttpError::new(HttpErrorKind::Unknown, refused)),
            None => answer(page),
        }
    }

    async fn prepare(&self, request: HttpRequest) -> Result<Prepared, HttpError> {
        let (head, body) = request.into_parts();
        let url = Url::parse(&head.uri.to_string()).map_err(unsendable)?;
        let target = Target::new(&url).map_err(unsendable)?;
        let mut headers = head.headers;
        headers.insert(HOST, target.host.clone());
        let most = head.extensions.get::<MostBytes>().map_or(MAX_ANSWER, |most| most.0);
        Ok(Prepared {
            purpose: "blobs",
            target,
            is_said_once: head.method == Method::POST,
            method: head.method,
            headers,
            body: body.collect().await?.to_bytes(),
            timeout: self.timeout,
            max_body: most,
            max_redirects: 0,
            takes_redirects: false,
            takes_long_failures: false,
        })
    }
}

impl HttpService for Wire {
    fn call<'life, 'call>(
        &'life self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'call>>
    where
        'life: 'call,
        Self: 'call,
    {
        Box::pin(self.send(request))
    }
}

impl HttpConnector for Wire {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Wire")
    }
}

impl Refused {
    /// What the answer refuses. That a blob is not there is an answer like another.
    fn of(page: &Page) -> Option<Self> {
        let code = || code(&page.body);
        match page.status {
            200..=299 => None,
            404 => {
                let code = code().filter(|code| code == "NoSuchBucket");
                code.map(|code| Self { status: 404, code: Some(code) })
            }
            status => Some(Self { status, code: code() }),
        }
    }

    pub(crate) fn told(&self) -> BlobError {
        match self.status {
            408 | 409 | 425 | 429 | 500..=599 => {
                BlobError::transient(format!("{self}; check its load and its log"))
            }
            401 | 403 => BlobError::permanent(format!(
                "{self}; check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and what they may do in S3_BUCKET"
            )),
            404 => BlobError::permanent(format!("{self}; make the bucket, or check S3_BUCKET")),
            _ => {
                BlobError::permanent(format!("{self}; check S3_ENDPOINT, S3_REGION and S3_BUCKET"))
            }
        }
    }
}

/// The code of an error, such as `SignatureDoesNotMatch`: a word, whatever the storage writes.
fn code(body: &Bytes) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_word = code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_word && (1..=MAX_CODE).contains(&code.len())).then(|| code.to_owned())
}

fn answer(page: Page) -> Result<HttpResponse, HttpError> {
    let body = Full::new(page.body).map_err(|never| match never {});
    let mut answer = HttpResponse::new(HttpResponseBody::new(body));
    *answer.status_mut() = StatusCode::from_u16(page.status).map_err(unsendable)?;
    *answer.headers_mut() = page.headers;
    Ok(answer)
}

fn unsendable(error: impl std::error::Error + Send + Sync + 'static) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, error)
}
