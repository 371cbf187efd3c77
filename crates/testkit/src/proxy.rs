//! A proxy in front of a server that makes every answer take its time, so that a caller really
//! waits at each of its awaits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The most that is passed on at once.
const CHUNK: usize = 16 * 1024;
/// How often is looked whether a frozen proxy was thawed, and whether something was lost.
const LOOK: Duration = Duration::from_millis(5);

/// Passes bytes on between its own address and a server, each chunk after a delay. It ends with
/// this value.
#[derive(Debug)]
pub struct SlowProxy {
    address: String,
    pace: Arc<Pace>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Pace {
    delay: Duration,
    frozen: AtomicBool,
    /// Chunks of the server that are yet to be lost.
    swallowed: AtomicUsize,
}

impl Pace {
    async fn wait(&self) {
        tokio::time::sleep(self.delay).await;
        while self.frozen.load(Ordering::SeqCst) {
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Pace {
    fn swallows(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.swallowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
    }
}

impl SlowProxy {
    /// Stands in front of `server` (`host:port`).
    ///
    /// # Panics
    /// When no port is free.
    pub async fn before(server: String, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address").to_string();
        let pace = Arc::new(Pace {
            delay,
            frozen: AtomicBool::new(false),
            swallowed: AtomicUsize::new(0),
        });
        let given = Arc::clone(&pace);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(server) = TcpStream::connect(&server).await {
                    pass_both_ways(client, server, &given);
                }
            }
        });
        Self { address, pace, accepting }
    }

    /// Passes nothing on any more, and keeps every connection open: a server that hangs.
    pub fn freeze(&self) {
        self.pace.frozen.store(true, Ordering::SeqCst);
    }

    /// Passes on again, and what had waited first.
    pub fn thaw(&self) {
        self.pace.frozen.store(false, Ordering::SeqCst);
    }

    /// Loses the next `chunks` of what the server says, on whatever connection they come.
    pub fn swallow(&self, chunks: usize) {
        self.pace.swallowed.store(chunks, Ordering::SeqCst);
    }

    /// Waits until all that was to be lost is lost.
    pub async fn until_swallowed(&self) {
        while self.pace.swallowed.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// `host:port` of the proxy.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for SlowProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// The two ways end by themselves when either side hangs up.
fn pass_both_ways(client: TcpStream, server: TcpStream, pace: &Arc<Pace>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::spawn(pass(from_client, to_server, Arc::clone(pace), false));
    tokio::spawn(pass(from_server, to_client, Arc::clone(pace), true));
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    pace: Arc<Pace>,
    is_answer: bool,
) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(length) = from.read(&mut chunk).await {
        let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        pace.wait().await;
        if is_answer && pace.swallows() {
            continue;
        }
        if to.write_all(bytes).await.is_err() {
            break;
        }
    }
    // Whoever hung up need not hear it.
    let _ = to.shutdown().await;
}
