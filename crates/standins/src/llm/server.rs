//! The provider itself, on a port of its own.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::behaviour::{Behaviour, Sent};
use crate::said::Said;

/// Where questions are taken.
pub const PATH: &str = "/v1/responses";

/// The longest question.
const MAX_QUESTION: usize = 16 * 1024 * 1024;
/// The most questions that are remembered.
const MAX_REMEMBERED: usize = 1_000;
/// The most connections at once.
const MOST_CONNECTIONS: usize = 64;
/// Whoever waits longer for one that never answers is cut off.
const LONGEST_HANG: Duration = Duration::from_mins(10);
/// How long a connection may take to ask.
const ASKING_TIME: Duration = Duration::from_secs(30);

/// What a good model writes, of the text that it is asked with.
type Author = dyn Fn(&str) -> Value + Send + Sync;

/// The provider. It ends when this is dropped.
#[derive(Debug)]
pub struct LlmServer {
    address: SocketAddr,
    state: Arc<State>,
    task: AbortHandle,
}

/// A question as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The form that the answer was asked for in.
    pub format: String,
    /// The header `Authorization`.
    pub authorization: Option<String>,
    /// The whole question.
    pub body: Value,
}

struct State {
    author: Box<Author>,
    /// What comes next; the last of it for ever.
    script: Mutex<VecDeque<Behaviour>>,
    asked: Mutex<Vec<Asked>>,
    /// A permit for each answer that was held and is let go.
    let_go: Semaphore,
}

impl LlmServer {
    /// Takes a free port on loopback and answers by the script, each behaviour once and the last for
    /// ever. `author` writes what a good model would, of the text that it is asked with.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn start(
        script: impl IntoIterator<Item = Behaviour>,
        author: impl Fn(&str) -> Value + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            author: Box::new(author),
            script: Mutex::new(script.into_iter().collect()),
            asked: Mutex::default(),
            let_go: Semaphore::new(0),
        });
        let task = tokio::spawn(take(listener, Arc::clone(&state))).abort_handle();
        Ok(Self { address, state, task })
    }

    /// What `LLM_BASE_URL` names.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Behaves like this from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        *lock(&self.state.script) = [behaviour].into();
    }

    /// Lets one answer go that is held, or the next that would be.
    pub fn let_go(&self) {
        self.state.let_go.add_permits(1);
    }

    /// The questions so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.state.asked).clone()
    }

    /// Ends, on every connection.
    pub fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("State").field("script", &self.script).finish_non_exhaustive()
    }
}

impl State {
    fn next(&self) -> Behaviour {
        let mut script = lock(&self.script);
        let next = script.front().copied().unwrap_or(Behaviour::Good);
        if script.len() > 1 {
            script.pop_front();
        }
        next
    }

    /// Remembers a question, and tells what comes of it.
    fn answer(&self, authorization: Option<String>, body: Value) -> (Behaviour, Sent) {
        let behaviour = self.next();
        let text = body.pointer("/input/0/content/0/text").and_then(Value::as_str);
        let sent = behaviour.sent(&body, &(self.author)(text.unwrap_or_default()));
        let format = body.pointer("/text/format/type").and_then(Value::as_str).unwrap_or_default();
        let asked = Asked { format: format.to_owned(), authorization, body };
        let mut remembered = lock(&self.asked);
        if remembered.len() < MAX_REMEMBERED {
            remembered.push(asked);
        }
        (behaviour, sent)
    }
}

async fn take(listener: TcpListener, state: Arc<State>) {
    // With the task its connections end.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(talk(stream, Arc::clone(&state)));
        }
    }
}

async fn talk(stream: TcpStream, state: Arc<State>) {
    let answering = service_fn(move |request| respond(Arc::clone(&state), request));
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(ASKING_TIME);
    // Whoever hangs up early is no concern of the provider.
    let _ = connection.serve_connection(TokioIo::new(stream), answering).await;
}

async fn respond(
    state: Arc<State>,
    request: Request<Incoming>,
) -> Result<Response<Said>, Infallible> {
    if request.method() != Method::POST || request.uri().path() != PATH {
        let body = json!({ "error": { "message": "Unknown request URL", "code": "unknown_url" } });
        return Ok(response(404, &[], Said::whole(body.to_string())));
    }
    let authorization = request.headers().get(AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
    let body = Limited::new(request.into_body(), MAX_QUESTION).collect().await;
    let body = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
    let Some(body) = body else { return Ok(response(400, &[], Said::whole("{}"))) };
    let (behaviour, sent) = state.answer(authorization, body);
    match behaviour {
        Behaviour::Slow(after) => tokio::time::sleep(after).await,
        Behaviour::Silent => tokio::time::sleep(LONGEST_HANG).await,
        Behaviour::Held => {
            if let Ok(Ok(permit)) = timeout(LONGEST_HANG, state.let_go.acquire()).await {
                permit.forget();
            }
        }
        _ => {}
    }
    let body = if behaviour == Behaviour::HangsUp {
        Said::half(sent.body)
    } else {
        Said::whole(sent.body)
    };
    Ok(response(sent.status, &sent.headers, body))
}

fn response(status: u16, headers: &[(&'static str, String)], body: Said) -> Response<Said> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(*name, value);
        }
    }
    response
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
