//! A proxy in front of a server that makes every answer take its time, so that a caller really
//! waits at each of its awaits.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The most that is passed on at once.
const CHUNK: usize = 16 * 1024;

/// Passes bytes on between its own address and a server, each chunk after a delay. It ends with
/// this value.
#[derive(Debug)]
pub struct SlowProxy {
    address: String,
    accepting: JoinHandle<()>,
}

impl SlowProxy {
    /// Stands in front of `server` (`host:port`).
    ///
    /// # Panics
    /// When no port is free.
    pub async fn before(server: String, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address").to_string();
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(server) = TcpStream::connect(&server).await {
                    pass_both_ways(client, server, delay);
                }
            }
        });
        Self { address, accepting }
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
fn pass_both_ways(client: TcpStream, server: TcpStream, delay: Duration) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::spawn(pass(from_client, to_server, delay));
    tokio::spawn(pass(from_server, to_client, delay));
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    delay: Duration,
) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(length) = from.read(&mut chunk).await {
        let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        tokio::time::sleep(delay).await;
        if to.write_all(bytes).await.is_err() {
            break;
        }
    }
    // Whoever hung up need not hear it.
    let _ = to.shutdown().await;
}
