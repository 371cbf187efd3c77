//! A real S3 server on loopback, which checks signatures and keeps its objects in a folder.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, HttpError, HttpResponse};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use crate::trap::{Fault, Trap};

/// The one bucket.
pub const BUCKET: &str = "mainstay";

/// The region that requests are signed for.
pub const REGION: &str = "us-east-1";

/// Who may ask.
pub const ACCESS_KEY_ID: &str = "test-key";

/// What that proves it by.
pub const SECRET_ACCESS_KEY: &str = "test-secret-of-the-storage";

/// The server. It ends when this is dropped, its objects with it.
///
/// A call is known to its [`Trap`] by its method and the last part of its path: `PUT report.json`.
#[derive(Debug)]
pub struct S3Server {
    port: u16,
    folder: TempDir,
    trap: Arc<Trap>,
    task: AbortHandle,
}

impl S3Server {
    /// Starts with an empty bucket.
    pub async fn start() -> Self {
        let folder = TempDir::new().expect("a folder for objects");
        std::fs::create_dir(folder.path().join(BUCKET)).expect("a bucket");
        let files = FileSystem::new(folder.path()).expect("a file system for objects");
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback");
        let port = listener.local_addr().expect("the port").port();
        let trap = Arc::new(Trap::default());
        let accepting = accept(listener, service.build(), Arc::clone(&trap));
        let task = tokio::spawn(accepting).abort_handle();
        Self { port, folder, trap, task }
    }

    /// Where it is.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Stops answering, on every connection; the objects stay.
    pub fn stop(&self) {
        self.task.abort();
    }

    /// What befalls calls.
    #[must_use]
    pub fn trap(&self) -> &Trap {
        &self.trap
    }

    /// The keys of all objects.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let bucket = self.folder.path().join(BUCKET);
        let files = self.files();
        let inside = files.iter().filter_map(|file| file.strip_prefix(&bucket).ok()?.to_str());
        // What is on its way has a name with a dot.
        let whole = inside.filter(|key| !key.contains("/."));
        let mut keys: Vec<_> = whole.map(str::to_owned).collect();
        keys.sort();
        keys
    }

    /// Makes every object older than it is.
    pub fn age(&self, by: Duration) {
        let then = SystemTime::now().checked_sub(by).expect("a time before now");
        for key in self.keys() {
            let path = self.folder.path().join(BUCKET).join(key);
            let object = File::options().write(true).open(path).expect("an object");
            object.set_modified(then).expect("the time of an object");
        }
    }

    /// All files of the server, those of unfinished uploads included.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder of the server") {
                let path = entry.expect("an entry of the server").path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, service: S3Service, trap: Arc<Trap>) {
    let server = Builder::new(TokioExecutor::new());
    // With the task its connections end.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (service, trap) = (service.clone(), Arc::clone(&trap));
        let answering =
            service_fn(move |request| answer(service.clone(), Arc::clone(&trap), request));
        let connection = server.serve_connection(TokioIo::new(stream), answering);
        let connection = connection.into_owned();
        connections.spawn(async move { drop(connection.await) });
        while connections.try_join_next().is_some() {}
    }
}

/// An error ends the connection without an answer.
async fn answer(
    service: S3Service,
    trap: Arc<Trap>,
    request: Request<Incoming>,
) -> Result<HttpResponse, HttpError> {
    let name = request.uri().path().rsplit('/').next().unwrap_or_default();
    let fault = trap.befalls(&format!("{} {name}", request.method()));
    if matches!(fault, Some(Fault::Cut | Fault::Hold)) {
        trap.spring();
        if fault == Some(Fault::Cut) || !trap.goes_on().await {
            return Err(hung_up());
        }
    }
    let answered = service.call(request.map(Body::from)).await?;
    if matches!(fault, Some(Fault::LoseAnswer | Fault::HoldAnswer)) {
        trap.spring();
        if fault == Some(Fault::LoseAnswer) || !trap.goes_on().await {
            return Err(hung_up());
        }
    }
    Ok(answered)
}

fn hung_up() -> HttpError {
    HttpError::new(Box::new(std::io::Error::from(std::io::ErrorKind::ConnectionAborted)))
}
