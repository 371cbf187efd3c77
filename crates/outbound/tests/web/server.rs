//! A server that does what a test tells it, on each connection.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// A running server. It ends with this.
pub(crate) struct Server {
    pub(crate) port: u16,
    state: Arc<State>,
    task: AbortHandle,
}

#[derive(Default)]
struct State {
    connections: AtomicUsize,
    open: AtomicUsize,
    heads: Mutex<Vec<String>>,
}

/// A connection, plain or encrypted.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Wire for S {}

/// One connection, as the script of a server sees it.
pub(crate) struct Peer {
    pub(crate) stream: Box<dyn Wire>,
    /// The number of this connection, from 1.
    pub(crate) number: usize,
    state: Arc<State>,
}

impl Server {
    /// Runs the script on each connection.
    pub(crate) async fn start<F>(script: impl Fn(Peer) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let accepting = async move {
            let mut scripts = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                shared.open.fetch_add(1, Ordering::SeqCst);
                scripts.spawn(script(Peer {
                    stream: Box::new(stream),
                    number,
                    state: Arc::clone(&shared),
                }));
            }
        };
        let task = tokio::spawn(accepting).abort_handle();
        Self { port, state, task }
    }

    /// Answers every question on every connection with these bytes.
    pub(crate) async fn saying(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into().into();
        Self::start(move |mut peer| {
            let bytes = Arc::clone(&bytes);
            async move {
                while peer.question().await.is_some() {
                    peer.say(&bytes).await;
                }
            }
        })
        .await
    }

    /// Says these bytes once, and ends the connection.
    pub(crate) async fn saying_once(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into().into();
        Self::start(move |mut peer| {
            let bytes = Arc::clone(&bytes);
            async move {
                peer.question().await;
                peer.say(&bytes).await;
            }
        })
        .await
    }

    /// Says it is well, on connections that stay.
    pub(crate) async fn well() -> Self {
        Self::saying(ok("well")).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// How many connections were made so far.
    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// The heads of all questions so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.state.heads.lock().unwrap().clone()
    }

    /// Waits until this many connections are open.
    pub(crate) async fn open(&self, count: usize) {
        let counted = async {
            while self.state.open.load(Ordering::SeqCst) != count {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(crate::PATIENCE, counted).await;
        let open = self.state.open.load(Ordering::SeqCst);
        waited.unwrap_or_else(|_| panic!("{open} connections are open, not {count}"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Peer {
    /// Reads to the end of a head, which is empty where the client hung up.
    pub(crate) async fn question(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return None,
            }
        }
        let head = String::from_utf8(head).unwrap();
        self.state.heads.lock().unwrap().push(head.clone());
        Some(head)
    }

    /// Says it, whether or not anybody listens.
    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let written = self.stream.write_all(bytes.as_ref()).await;
        written.is_ok() && self.stream.flush().await.is_ok()
    }

    /// Waits until the client hangs up.
    pub(crate) async fn until_hung_up(&mut self) {
        let mut byte = [0_u8; 1];
        while matches!(self.stream.read(&mut byte).await, Ok(count) if count > 0) {}
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.state.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An answer that ends with its body and leaves the connection open.
pub(crate) fn ok(body: &str) -> String {
    answer("200 OK", "", body)
}

/// An answer with its length. The headers end with a line break each.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}
