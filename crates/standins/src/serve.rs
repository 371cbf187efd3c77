//! Real health endpoints on loopback, one port for each service.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::{Answer, answer};
use crate::company::{SERVICES, Service};
use crate::director::Director;

/// Where every service answers.
const PATH: &str = "/health";
/// Connections that one service takes at once; more wait.
const MOST_CONNECTIONS: usize = 64;
/// Whoever waits longer for a service that hangs is cut off.
const LONGEST_HANG: Duration = Duration::from_secs(60);
/// How long a connection may take to ask.
const ASKING_TIME: Duration = Duration::from_secs(30);
/// How long it waits after a connection that could not be taken.
const AFTER_TROUBLE: Duration = Duration::from_millis(100);

/// The services of the company, each at an address of its own. They do not answer before they start.
#[derive(Debug)]
pub struct Company {
    endpoints: Vec<(Endpoint, TcpListener)>,
}

/// Where a service is asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The service.
    pub service: &'static Service,
    /// Its address.
    pub address: SocketAddr,
}

impl Company {
    /// Takes a free port on loopback for each service.
    ///
    /// # Errors
    /// When there is none.
    pub async fn bind() -> io::Result<Self> {
        let mut endpoints = Vec::with_capacity(SERVICES.len());
        for service in SERVICES {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let address = listener.local_addr()?;
            endpoints.push((Endpoint { service, address }, listener));
        }
        Ok(Self { endpoints })
    }

    /// Where the services are asked.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.endpoints.iter().map(|(endpoint, _)| endpoint)
    }

    /// Answers as the story says, until `stop`.
    pub fn start(self, director: &Director, tasks: &TaskTracker, stop: &CancellationToken) {
        for (endpoint, listener) in self.endpoints {
            let (director, tasks, stop) = (director.clone(), tasks.clone(), stop.clone());
            tasks.clone().spawn(async move {
                let taking = take(endpoint.service, &listener, &director, &tasks, &stop);
                stop.run_until_cancelled(taking).await;
            });
        }
    }
}

impl Endpoint {
    /// The whole address of its health endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }
}

async fn take(
    service: &'static Service,
    listener: &TcpListener,
    director: &Director,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (director, stop) = (director.clone(), stop.clone());
                tasks.spawn(async move {
                    let talking = talk(service, stream, director, permit);
                    stop.run_until_cancelled(talking).await;
                });
            }
            Err(error) => {
                tracing::debug!(%error, service = service.slug, "a connection was lost");
                tokio::time::sleep(AFTER_TROUBLE).await;
            }
        }
    }
}

async fn talk(
    service: &'static Service,
    stream: TcpStream,
    director: Director,
    _room: OwnedSemaphorePermit,
) {
    let answering = service_fn(move |request| respond(service, director.clone(), request));
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(ASKING_TIME);
    // Whoever hangs up early is no concern of the service.
    let _ = connection.serve_connection(TokioIo::new(stream), answering).await;
}

async fn respond(
    service: &'static Service,
    director: Director,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() != PATH {
        return Ok(response(StatusCode::NOT_FOUND, r#"{"error":"Not Found"}"#.to_owned()));
    }
    Ok(match answer(service, &director.world()) {
        Answer::Given { code, body, after } => {
            tokio::time::sleep(after).await;
            response(StatusCode::from_u16(code).unwrap_or(StatusCode::OK), body)
        }
        Answer::Never => {
            tokio::time::sleep(LONGEST_HANG).await;
            response(StatusCode::SERVICE_UNAVAILABLE, String::new())
        }
    })
}

fn response(code: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
