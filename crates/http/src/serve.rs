//! Accepts connections until it is told to stop, then lets the requests in flight finish.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use metrics::Gauge;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::connection;
use crate::limits::{ACCEPT_BACKOFF_MAX, ACCEPT_BACKOFF_MIN};
use crate::measure;
use crate::protocol::{Protocols, Spoken, hear};
use crate::router::Service;
use crate::tls::Tls;

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were open when the stop came.
    pub open: usize,
    /// Those of them that did not finish within the grace and were cut.
    pub cut: usize,
}

/// Serves until `stop` is ready; then accepts nothing more, closes idle connections, and gives the
/// requests in flight `grace` to finish.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    service: Service,
    stop: impl Future<Output = ()>,
    grace: Duration,
) -> Drained {
    // tokio's semaphores have a largest size; no machine has that many connections.
    let slots = service.limits.connections.clamp(1, Semaphore::MAX_PERMITS);
    let slots = Arc::new(Semaphore::new(slots));
    let host = Arc::new(Host {
        stopping: service.stopping.clone(),
        service,
        tls,
        protocols: Protocols::new(),
        connections: measure::connections(),
    });
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = async { (slot(&slots).await, accept(&listener).await) };
        tokio::select! {
            biased;
            () = &mut stop => break,
            (slot, (stream, peer)) = accepted => {
                open.spawn(Arc::clone(&host).welcome(stream, peer.ip(), slot));
                while open.try_join_next().is_some() {}
            }
        }
    }
    drop(listener);
    host.stopping.cancel();
    drain(open, grace).await
}

async fn drain(mut open: JoinSet<()>, grace: Duration) -> Drained {
    while open.try_join_next().is_some() {}
    let count = open.len();
    let all_ended = async { while open.join_next().await.is_some() {} };
    let cut = if timeout(grace, all_ended).await.is_ok() { 0 } else { open.len() };
    open.shutdown().await;
    Drained { open: count, cut }
}

/// Waits for room. `None` cannot come: the semaphore is never closed.
async fn slot(slots: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
        return Some(slot);
    }
    measure::connection_waited();
    tracing::warn!("the limit of connections is reached; new ones wait until one ends");
    Arc::clone(slots).acquire_owned().await.ok()
}

/// The next connection. A failure never ends the loop: when descriptors run out it waits, longer
/// each time, until some are free again.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut wait = ACCEPT_BACKOFF_MIN;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_the_client(&error) => measure::connection_failed("hung_up"),
            Err(error) => {
                measure::connection_failed("accept");
                tracing::warn!(error = %error, "accepting a connection failed; trying again");
                sleep(wait).await;
                wait = (wait * 2).min(ACCEPT_BACKOFF_MAX);
            }
        }
    }
}

/// The client left between its knock and our answer: nothing to wait for.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// What every connection shares.
struct Host {
    service: Service,
    tls: Option<Tls>,
    protocols: Protocols,
    stopping: CancellationToken,
    connections: Gauge,
}

impl Host {
    async fn welcome(
        self: Arc<Self>,
        stream: TcpStream,
        peer: IpAddr,
        slot: Option<OwnedSemaphorePermit>,
    ) {
        let _counted = Counted::new(&self.connections);
        // Answers are written whole, so waiting for more bytes only delays them. A socket that
        // refuses this works without it.
        let _ = stream.set_nodelay(true);
        let limits = &self.service.limits;
        match &self.tls {
            None => {
                let first = timeout(limits.head_time, hear(&stream));
                if let Some(spoken) = self.begin(first, "slow_head", "hung_up").await {
                    self.drive(stream, peer, spoken).await;
                }
            }
            // Large, and must not make connections without TLS as large.
            Some(tls) => Box::pin(self.welcome_by_tls(tls, stream, peer)).await,
        }
        drop(slot);
    }

    async fn welcome_by_tls(&self, tls: &Tls, stream: TcpStream, peer: IpAddr) {
        let first = timeout(self.service.limits.handshake_time, tls.accept(stream));
        if let Some(stream) = self.begin(first, "slow_handshake", "handshake").await {
            let spoken = Tls::spoken(&stream);
            self.drive(stream, peer, spoken).await;
        }
    }

    /// The first step of a connection. A stop ends it at once: no request has come yet.
    async fn begin<T>(
        &self,
        step: impl Future<Output = Result<io::Result<T>, Elapsed>>,
        slow: &'static str,
        failed: &'static str,
    ) -> Option<T> {
        let ended = tokio::select! {
            () = self.stopping.cancelled() => return None,
            ended = step => ended,
        };
        match ended {
            Ok(Ok(begun)) => return Some(begun),
            Ok(Err(error)) => {
                measure::connection_failed(failed);
                tracing::debug!(reason = failed, error = %error, "connection failed");
            }
            Err(_) => measure::connection_failed(slow),
        }
        None
    }

    async fn drive<S>(&self, stream: S, peer: IpAddr, spoken: Spoken)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (service, protocols) = (&self.service, &self.protocols);
        connection::drive(stream, peer, spoken, service, protocols, &self.stopping).await;
    }
}

struct Counted(Gauge);

impl Counted {
    fn new(gauge: &Gauge) -> Self {
        gauge.increment(1.0);
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one connection may take while it is open, beside what it sends and receives. Thousands of
    /// followers hold one each.
    const MAX_CONNECTION_BYTES: usize = 2_048;

    fn size<F>(
        _: impl FnOnce(Arc<Host>, TcpStream, IpAddr, Option<OwnedSemaphorePermit>) -> F,
    ) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_plain_connection_stays_small() {
        let size = size(Host::welcome);
        assert!(size <= MAX_CONNECTION_BYTES, "{size}: box what few connections need");
    }
}
