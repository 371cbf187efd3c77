//! Where a stand-in is asked: a port on loopback, and whoever answers behind it.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::said::Said;

/// The longest question.
const MAX_QUESTION: usize = 4 * 1024 * 1024;
/// The most connections at once.
const MOST_CONNECTIONS: usize = 1_024;
/// How long a connection may take to ask.
const ASKING_TIME: Duration = Duration::from_secs(30);
/// Whoever waits longer for one that never answers is cut off.
const LONGEST_HANG: Duration = Duration::from_mins(10);

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// `GET`, and so on.
    pub method: String,
    /// The path, in its parts.
    pub path: Vec<String>,
    /// What stands behind the question mark.
    pub query: Vec<(String, String)>,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// What is sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<(&'static str, String)>,
    /// Its body.
    pub body: String,
    /// How it comes.
    pub coming: Coming,
}

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coming {
    /// At once.
    #[default]
    AtOnce,
    /// After this time.
    After(Duration),
    /// Its first half, and then nothing.
    Half,
    /// Never.
    Never,
}

/// Answers questions.
pub trait Answering: Send + Sync + 'static {
    /// Answers one.
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Reply>;
}

/// A port with whoever answers behind it. It closes, on every connection, when this is dropped.
#[derive(Debug)]
pub struct Door {
    address: SocketAddr,
    task: AbortHandle,
}

impl Door {
    /// Opens a port; the port 0 is any that is free.
    ///
    /// # Errors
    /// When there is none.
    pub async fn open(ip: IpAddr, port: u16, who: Arc<dyn Answering>) -> io::Result<Self> {
        let listener = TcpListener::bind((ip, port)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(take(listener, who)).abort_handle();
        Ok(Self { address, task })
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Question {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a parameter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON, or nothing where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The token that it comes with.
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        self.header(AUTHORIZATION.as_str())?.strip_prefix("Bearer ")
    }

    /// Method and path as one word, for tests to look at.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} /{}", self.method, self.path.join("/"))
    }
}

impl Reply {
    /// JSON with this status.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        let headers = vec![(CONTENT_TYPE_NAME, "application/json".to_owned())];
        Self { status, headers, body: body.to_string(), coming: Coming::AtOnce }
    }

    /// Plain text with this status.
    #[must_use]
    pub fn text(status: u16, body: &str) -> Self {
        let headers = vec![(CONTENT_TYPE_NAME, "text/plain; charset=utf-8".to_owned())];
        Self { status, headers, body: body.to_owned(), coming: Coming::AtOnce }
    }

    /// With one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Coming otherwise.
    #[must_use]
    pub const fn coming(mut self, coming: Coming) -> Self {
        self.coming = coming;
        self
    }
}

const CONTENT_TYPE_NAME: &str = "content-type";

async fn take(listener: TcpListener, who: Arc<dyn Answering>) {
    // With the task its connections end.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(talk(stream, Arc::clone(&who)));
        }
    }
}

async fn talk(stream: TcpStream, who: Arc<dyn Answering>) {
    let answering = service_fn(move |request| respond(Arc::clone(&who), request));
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(ASKING_TIME);
    // Whoever hangs up early is no concern of a stand-in.
    let _ = connection.serve_connection(TokioIo::new(stream), answering).await;
}

async fn respond(
    who: Arc<dyn Answering>,
    request: Request<Incoming>,
) -> Result<Response<Said>, Infallible> {
    let Some(question) = read(request).await else {
        return Ok(response(Reply::text(413, "too large")));
    };
    let reply = who.answer(question).await;
    match reply.coming {
        Coming::After(time) => tokio::time::sleep(time).await,
        Coming::Never => tokio::time::sleep(LONGEST_HANG).await,
        Coming::AtOnce | Coming::Half => {}
    }
    Ok(response(reply))
}

async fn read(request: Request<Incoming>) -> Option<Question> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_QUESTION).collect().await.ok()?.to_bytes();
    let decoded = |text: &str| form_urlencoded::parse(text.as_bytes()).into_owned().collect();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
    let parts = head.uri.path().split('/').filter(|part| !part.is_empty());
    Some(Question {
        method: head.method.to_string(),
        path: parts.map(ToOwned::to_owned).collect(),
        query: head.uri.query().map(decoded).unwrap_or_default(),
        headers: headers.collect(),
        body,
    })
}

fn response(reply: Reply) -> Response<Said> {
    let is_half = reply.coming == Coming::Half;
    let said = if is_half { Said::half(reply.body) } else { Said::whole(reply.body) };
    let mut response = Response::new(said);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    for (name, value) in &reply.headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

impl fmt::Display for Question {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.line())
    }
}
