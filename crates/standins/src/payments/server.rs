//! The payment service on a port of its own.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::ledger::{Ledger, Sent, Settling};

/// The longest question.
const MAX_QUESTION: usize = 1024 * 1024;
/// The most connections at once.
const MOST_CONNECTIONS: usize = 64;
/// Whoever waits longer for an answer that never comes is cut off.
const LONGEST_HANG: Duration = Duration::from_secs(600);
/// How long a connection may take to ask.
const ASKING_TIME: Duration = Duration::from_secs(30);
/// An address that nobody may call: a cloud's metadata.
const BLOCKED: &str = "http://169.254.169.254/latest/meta-data/";
/// A hundred megabytes.
const HUGE: usize = 100 * 1024 * 1024;

/// The payment service. It ends when this is dropped.
///
/// `POST /authorizations`, `GET /authorizations/{id}` and `POST /charges` are the service itself;
/// `GET /echo` answers with the question's headers, `GET /moved` leads to a blocked address, and
/// `GET /huge` has a body of a hundred megabytes.
#[derive(Debug)]
pub struct PaymentServer {
    address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    task: AbortHandle,
}

impl PaymentServer {
    /// Takes a free port on loopback.
    ///
    /// # Errors
    /// When there is none.
    pub async fn start(settling: Settling) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let ledger = Arc::new(Mutex::new(Ledger::new(settling)));
        let task = tokio::spawn(take(listener, Arc::clone(&ledger))).abort_handle();
        Ok(Self { address, ledger, task })
    }

    /// Where it is asked, such as `http://127.0.0.1:8080`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Does so from now on.
    pub fn settle(&self, settling: Settling) {
        lock(&self.ledger).settle(settling);
    }

    /// How many authorisations it has created.
    #[must_use]
    pub fn created(&self) -> usize {
        lock(&self.ledger).created()
    }
}

impl Drop for PaymentServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take(listener: TcpListener, ledger: Arc<Mutex<Ledger>>) {
    // With the task its connections end.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(talk(stream, Arc::clone(&ledger)));
        }
    }
}

async fn talk(stream: TcpStream, ledger: Arc<Mutex<Ledger>>) {
    let answering = service_fn(move |request| respond(Arc::clone(&ledger), request));
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(ASKING_TIME);
    // Whoever hangs up early is no concern of the service.
    let _ = connection.serve_connection(TokioIo::new(stream), answering).await;
}

async fn respond(
    ledger: Arc<Mutex<Ledger>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let sent = match (&method, path.as_str()) {
        (&Method::POST, "/authorizations") => lock(&ledger).create(),
        (&Method::POST, "/charges") => match question(request).await {
            Some(id) => lock(&ledger).charge(&id),
            None => Sent::Json(400, json!({ "error": "authorization is missing" })),
        },
        (&Method::GET, "/echo") => Sent::Json(200, echo(&request)),
        (&Method::GET, "/moved") => return Ok(moved()),
        (&Method::GET, "/huge") => return Ok(Response::new(Full::new(vec![b'x'; HUGE].into()))),
        (&Method::GET, path) => match path.strip_prefix("/authorizations/") {
            Some(id) => lock(&ledger).look(id),
            None => Sent::Json(404, json!({ "error": "not found" })),
        },
        _ => Sent::Json(405, json!({ "error": "method not allowed" })),
    };
    Ok(match sent {
        Sent::Json(status, body) => response(status, "application/json", body.to_string()),
        Sent::Page => response(200, "text/html", "<html><body>Sign in</body></html>".to_owned()),
        Sent::Nothing => {
            tokio::time::sleep(LONGEST_HANG).await;
            response(503, "text/plain", String::new())
        }
    })
}

/// The authorisation that a charge names.
async fn question(request: Request<Incoming>) -> Option<String> {
    let body = Limited::new(request.into_body(), MAX_QUESTION).collect().await.ok()?;
    let body: Value = serde_json::from_slice(&body.to_bytes()).ok()?;
    body.get("authorization")?.as_str().map(ToOwned::to_owned)
}

fn echo(request: &Request<Incoming>) -> Value {
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned().into())
    });
    let headers: serde_json::Map<String, Value> = headers.collect();
    json!({ "headers": headers, "uri": request.uri().to_string() })
}

fn moved() -> Response<Full<Bytes>> {
    let mut moved = response(302, "text/plain", String::new());
    moved.headers_mut().insert(LOCATION, HeaderValue::from_static(BLOCKED));
    moved
}

fn response(status: u16, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
