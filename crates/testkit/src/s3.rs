//! A real S3 server on loopback, which checks signatures and keeps its objects in a folder.

use std::path::PathBuf;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

/// The one bucket.
pub const BUCKET: &str = "mainstay";

/// The region that requests are signed for.
pub const REGION: &str = "us-east-1";

/// Who may ask.
pub const ACCESS_KEY_ID: &str = "test-key";

/// What that proves it by.
pub const SECRET_ACCESS_KEY: &str = "test-secret-of-the-storage";

/// The server. It ends when this is dropped, its objects with it.
#[derive(Debug)]
pub struct S3Server {
    port: u16,
    folder: TempDir,
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
        let task = tokio::spawn(accept(listener, service.build())).abort_handle();
        Self { port, folder, task }
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

async fn accept(listener: TcpListener, service: S3Service) {
    let server = Builder::new(TokioExecutor::new());
    // With the task its connections end.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let connection = server.serve_connection(TokioIo::new(stream), service.clone());
        let connection = connection.into_owned();
        connections.spawn(async move { drop(connection.await) });
        while connections.try_join_next().is_some() {}
    }
}
