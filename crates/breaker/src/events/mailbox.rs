//! Keeps events for somebody who reads them at their own pace.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::{Event, Subscription};
use crate::sync::{Mutex, MutexGuard, lock};

/// How many unread events are kept. The oldest make room, and are counted as missed.
pub const MAX_UNREAD: usize = 1_024;

/// The events of a breaker since [`Breaker::subscribe`](crate::Breaker::subscribe).
#[derive(Debug)]
pub struct Events {
    mailbox: Arc<Mailbox>,
    _subscription: Subscription,
}

#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    unread: VecDeque<Event>,
    missed: u64,
    /// Nobody is left who could put anything in.
    is_closed: bool,
    reader: Option<Waker>,
}

impl Events {
    pub(crate) fn new(mailbox: Arc<Mailbox>, subscription: Subscription) -> Self {
        Self { mailbox, _subscription: subscription }
    }

    /// The next event, if there is one.
    #[must_use]
    pub fn try_next(&mut self) -> Option<Event> {
        self.mailbox.inner().unread.pop_front()
    }

    /// Waits for the next event. Nothing is lost when the wait is given up. `None` when the breaker
    /// is gone and everything has been read.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The next event, or a wake when there is one. `None` when the breaker is gone and everything
    /// has been read.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut inner = self.mailbox.inner();
        match inner.unread.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None if inner.is_closed => Poll::Ready(None),
            None => {
                inner.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// How many events went unread because more than [`MAX_UNREAD`] waited.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.mailbox.inner().missed
    }
}

/// Puts events into a mailbox, and closes it in the end.
#[derive(Debug)]
pub(crate) struct Writer(pub(crate) Arc<Mailbox>);

impl Writer {
    pub(crate) fn put(&self, event: Event) {
        let mut inner = self.0.inner();
        if inner.unread.len() == MAX_UNREAD {
            inner.unread.pop_front();
            inner.missed += 1;
        }
        inner.unread.push_back(event);
        wake_reader(inner);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut inner = self.0.inner();
        inner.is_closed = true;
        wake_reader(inner);
    }
}

/// Wakes the reader when the lock is free.
fn wake_reader(mut inner: MutexGuard<'_, Inner>) {
    let reader = inner.reader.take();
    drop(inner);
    if let Some(reader) = reader {
        reader.wake();
    }
}

impl Mailbox {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}
