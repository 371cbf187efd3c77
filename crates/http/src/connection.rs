//! One connection from its first byte to its end.

use std::error::Error as StdError;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::ops::DerefMut;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
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
use crate::sse::Taken;

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
    let is_given_up = spoken == Spoken::Http1;
    let router = service.router.clone();
    let entry = Entry { router, pulse: Arc::clone(&pulse), peer, is_given_up };
    let ended = match spoken {
        Spoken::Http1 => speak_http1(io, entry, protocols, &pulse, idle, stop).await,
        // Few connections, and large ones: they must not make all others as large.
        Spoken::Either => {
            let connection = Box::pin(protocols.either.serve_connection(io, entry));
            Box::pin(attend(connection, &pulse, idle, stop)).await.map(drop)
        }
    };
    if let Err(error) = ended
        && let Some(reason) = reason(error.as_ref())
    {
        measure::connection_failed(reason);
        tracing::debug!(reason, error = %error, "connection failed");
    }
}

async fn speak_http1<S>(
    io: TokioIo<Guarded<S>>,
    entry: Entry,
    protocols: &Protocols,
    pulse: &Pulse,
    idle: Duration,
    stop: &CancellationToken,
) -> Result<(), Failed>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (taken, stream) = {
        // On the heap, so that it is gone, with its buffers, once a stream has the connection.
        let mut connection = Box::new(protocols.http1.serve_connection(io, entry));
        match attend(Pin::new(&mut *connection), pulse, idle, stop).await? {
            None => return Ok(()),
            Some(taken) => (taken, connection.into_parts().io.into_inner()),
        }
    };
    Ok(taken.go_on(stream).await?)
}

/// Why a connection failed.
type Failed = Box<dyn StdError + Send + Sync>;

/// Drives a connection to its end, or until it is given to a stream.
async fn attend<C>(
    mut connection: Pin<impl DerefMut<Target = C>>,
    pulse: &Pulse,
    idle: Duration,
    stop: &CancellationToken,
) -> Result<Option<Taken>, Failed>
where
    C: GracefulConnection,
    C::Error: Into<Failed>,
{
    let mut idle_since = None;
    let mut closing = false;
    loop {
        tokio::select! {
            biased;
            step = poll_fn(|context| step(connection.as_mut(), pulse, context)) => return step,
            () = pulse.cut.notified() => {
                let slow = io::Error::new(io::ErrorKind::TimedOut, Slow::Reader);
                return Err(slow.into());
            }
            () = stop.cancelled(), if !closing => {
                // hyper would wait for the rest of a first head that has begun to come.
                if pulse.begun() == 0 {
                    return Ok(None);
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

/// One poll. What hyper had to send before the connection is given away, it has then sent.
fn step<C>(
    connection: Pin<&mut C>,
    pulse: &Pulse,
    context: &mut Context<'_>,
) -> Poll<Result<Option<Taken>, Failed>>
where
    C: GracefulConnection,
    C::Error: Into<Failed>,
{
    match connection.poll(context) {
        Poll::Ready(ended) => Poll::Ready(ended.map(|()| None).map_err(Into::into)),
        Poll::Pending => match pulse.take_over() {
            Some(taken) => Poll::Ready(Ok(Some(taken))),
            None => Poll::Pending,
        },
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
