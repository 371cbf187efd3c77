//! One connection from its first byte to its end.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::client::Peer;
use crate::entry::Entry;
use crate::guarded::{Guarded, Pulse, Slow};
use crate::measure;
use crate::protocol::{Protocols, Spoken};
use crate::router::Service;

/// Answers requests until the client leaves, idles too long, or `stop` is called and the requests
/// in flight are answered.
pub(crate) async fn drive<S>(
    stream: S,
    peer: IpAddr,
    spoken: Spoken,
    service: &Service,
    protocols: &Protocols,
    stop: &CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let pulse = Arc::new(Pulse::default());
    let idle = service.limits.idle_time;
    let io = TokioIo::new(Guarded::new(stream, Arc::clone(&pulse), &service.limits));
    let peer = Peer::new(peer, &service.trusts);
    let entry = Entry { router: service.router.clone(), pulse: Arc::clone(&pulse), peer };
    let ended = match spoken {
        Spoken::Http1 => {
            attend(protocols.http1.serve_connection(io, entry), &pulse, idle, stop).await
        }
        Spoken::Either => {
            attend(protocols.either.serve_connection(io, entry), &pulse, idle, stop).await
        }
    };
    if let Err(error) = ended
        && let Some(reason) = reason(error.as_ref())
    {
        measure::connection_failed(reason);
        tracing::debug!(reason, error = %error, "connection failed");
    }
}

async fn attend<C>(
    connection: C,
    pulse: &Pulse,
    idle: Duration,
    stop: &CancellationToken,
) -> Result<(), Box<dyn StdError + Send + Sync>>
where
    C: GracefulConnection,
    C::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut connection = pin!(connection);
    let mut idle_since = None;
    let mut closing = false;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => return ended.map_err(Into::into),
            () = pulse.cut.notified() => {
                let slow = io::Error::new(io::ErrorKind::TimedOut, Slow::Reader);
                return Err(slow.into());
            }
            () = stop.cancelled(), if !closing => {
                // hyper would wait for the rest of a first head that has begun to come.
                if pulse.begun() == 0 {
                    return Ok(());
                }
                closing = true;
                connection.as_mut().graceful_shutdown();
            }
            // Looking twice per limit closes an idle connection after at least one and at most one
            // and a half of it, without a timer per request.
            () = sleep(idle / 2), if !closing => {
                let begun = pulse.begun();
                if pulse.is_quiet() && idle_since == Some(begun) {
                    closing = true;
                    connection.as_mut().graceful_shutdown();
                }
                idle_since = pulse.is_quiet().then_some(begun);
            }
        }
    }
}

/// The metric's label for a failure, or `None` for a client that just left.
fn reason(error: &(dyn StdError + 'static)) -> Option<&'static str> {
    let mut chain = std::iter::successors(Some(error), |&error| error.source());
    // An io::Error hides what it wraps from `source`, so it is opened by hand.
    let io = chain.clone().find_map(|error| error.downcast_ref::<io::Error>());
    let slow = io.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<Slow>());
    match slow {
        Some(Slow::Head) => return Some("slow_head"),
        Some(Slow::Reader) => return Some("slow_reader"),
        None => {}
    }
    let hyper = chain.find_map(|error| error.downcast_ref::<hyper::Error>());
    match (hyper, io.map(io::Error::kind)) {
        (Some(error), _) if error.is_parse_too_large() => Some("head_too_large"),
        (Some(error), _) if error.is_parse() => Some("malformed"),
        (Some(error), _) if error.is_timeout() => Some("timeout"),
        (Some(error), _) if error.is_incomplete_message() => Some("hung_up"),
        // A stop reached a connection that had said nothing yet.
        (_, Some(io::ErrorKind::Interrupted)) => None,
        (_, Some(_)) => Some("hung_up"),
        _ => Some("protocol"),
    }
}
