//! A stream with a clock on the slow: a request's head that does not come, an answer that is not
//! taken.
//!
//! hyper's own clock for heads also runs while a kept connection is idle, and its first look at the
//! protocol has none; so the clocks are here, below hyper.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep};

use crate::limits::{LINGER_BYTES, LINGER_TIME, Limits};
use crate::sse::Taken;

/// What happens on one connection, seen by its stream, its requests and its watcher.
#[derive(Default)]
pub(crate) struct Pulse {
    /// Requests whose head was read so far.
    pub(crate) begun: AtomicU64,
    /// Requests that wait for the head of their answer, and answers that last.
    pub(crate) in_flight: AtomicUsize,
    /// Streams interleave here, so bytes without a new request are no slow head.
    pub(crate) http2: AtomicBool,
    /// The newest request ended with an empty line, so other bytes after it begin the next head.
    pub(crate) ends_in_empty_line: AtomicBool,
    /// Somebody has seen that the client takes nothing.
    pub(crate) cut: Notify,
    /// A body was refused, so its rest may still be on the way.
    pub(crate) refused_body: AtomicBool,
    /// hyper has asked for what comes after the first words of a stream.
    pub(crate) first_words_taken: AtomicBool,
    /// Something waits to be taken by the client.
    is_blocked: AtomicBool,
    /// The stream that the connection is given to.
    taken: Mutex<Option<Taken>>,
}

impl Pulse {
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0
    }

    /// The connection belongs to this stream once its first words are sent.
    pub(crate) fn give_to(&self, taken: Taken) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
    }

    /// The stream that the connection belongs to from now on: nothing that was written before it waits.
    pub(crate) fn take_over(&self) -> Option<Taken> {
        let is_due = self.first_words_taken.load(Ordering::Relaxed)
            && !self.is_blocked.load(Ordering::Relaxed);
        if !is_due {
            return None;
        }
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }
}

/// A stream whose slow clients are cut.
pub(crate) struct Guarded<S> {
    stream: S,
    pulse: Arc<Pulse>,
    head: Clock,
    /// The clock of the head runs: from the start, then from each first byte after a request.
    awaiting_head: bool,
    begun: u64,
    tail: Tail,
    stall: Clock,
    linger: Linger,
}

enum Linger {
    Unasked,
    Draining { left: usize, clock: Clock },
    Done,
}

/// The last bytes that came.
#[derive(Default)]
struct Tail([u8; 3]);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        let [_, second, third] = self.0;
        self.0 = match *bytes {
            [] => self.0,
            [a] => [second, third, a],
            [a, b] => [third, a, b],
            [.., a, b, c] => [a, b, c],
        };
    }

    /// hyper takes a line feed alone for the end of a line.
    fn is_empty_line(&self) -> bool {
        matches!(self.0, [b'\n', b'\r', b'\n'] | [_, b'\n', b'\n'])
    }
}

/// A timer that is set only when something really waits.
struct Clock {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Clock {
    fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    fn stop(&mut self) {
        self.timer = None;
    }

    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        timer.as_mut().poll(context).is_ready()
    }
}

impl<S> Guarded<S> {
    pub(crate) fn new(stream: S, pulse: Arc<Pulse>, limits: &Limits) -> Self {
        Self {
            stream,
            pulse,
            head: Clock::new(limits.head_time),
            awaiting_head: true,
            begun: 0,
            tail: Tail::default(),
            stall: Clock::new(limits.stall_time),
            linger: Linger::Unasked,
        }
    }

    fn note_begun_requests(&mut self) {
        let begun = self.pulse.begun();
        if begun != self.begun {
            self.begun = begun;
            self.awaiting_head = false;
            self.head.stop();
        }
    }

    /// Whether hyper holds a part of the next head that came together with a request before it.
    fn holds_part_of_head(&self) -> bool {
        self.begun > 0
            && self.pulse.is_quiet()
            && !self.pulse.is_http2()
            && self.pulse.ends_in_empty_line.load(Ordering::Relaxed)
            && !self.tail.is_empty_line()
    }

    fn watch_write<T>(
        &mut self,
        polled: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        self.pulse.is_blocked.store(polled.is_pending(), Ordering::Relaxed);
        if polled.is_ready() {
            self.stall.stop();
            return polled;
        }
        if self.stall.is_over(context) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, Slow::Reader)));
        }
        Poll::Pending
    }
}

/// Why a slow client was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Slow {
    #[error("the request's head took too long")]
    Head,
    #[error("the client takes none of its answer")]
    Reader,
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.note_begun_requests();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if polled.is_ready() {
            let came = buffer.filled().get(before..).unwrap_or_default();
            self.tail.push(came);
            if !came.is_empty() && self.pulse.is_quiet() && !self.pulse.is_http2() {
                self.awaiting_head = true;
            }
            return polled;
        }
        self.awaiting_head |= self.holds_part_of_head();
        if self.awaiting_head && self.head.is_over(context) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, Slow::Head)));
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch_write(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch_write(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.watch_write(polled, context)
    }

    /// Says goodbye, and after a refused body takes a little more of it: closing on unread bytes
    /// would reset the connection, and the client would never see why it was refused.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if matches!(this.linger, Linger::Unasked) {
            let polled = Pin::new(&mut this.stream).poll_shutdown(context);
            ready!(this.watch_write(polled, context))?;
            this.linger = if this.pulse.refused_body.load(Ordering::Relaxed) {
                Linger::Draining { left: LINGER_BYTES, clock: Clock::new(LINGER_TIME) }
            } else {
                Linger::Done
            };
        }
        if let Linger::Draining { left, clock } = &mut this.linger {
            ready!(drain(&mut this.stream, left, clock, context));
            this.linger = Linger::Done;
        }
        Poll::Ready(Ok(()))
    }
}

fn drain<S: AsyncRead + Unpin>(
    stream: &mut S,
    left: &mut usize,
    clock: &mut Clock,
    context: &mut Context<'_>,
) -> Poll<()> {
    let mut scratch = [0_u8; 8 * 1024];
    while *left > 0 {
        let mut buffer = ReadBuf::new(&mut scratch);
        match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                *left = left.saturating_sub(buffer.filled().len());
            }
            Poll::Ready(_) => break,
            Poll::Pending if clock.is_over(context) => break,
            Poll::Pending => return Poll::Pending,
        }
    }
    Poll::Ready(())
}
