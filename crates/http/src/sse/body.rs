//! What a follower gets: from the first words, over what is kept and what comes, to the last word.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::stream::unfold;
use mainstay_base::Rng;
use mainstay_events::{
    Ask, Delivery, Ending, Events, EventsError, Feed, Membership, Opening, ResetReason,
};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::proofs::Watch;
use super::stalls::{Progress, Stalls};
use super::{RETRY, RETRY_AFTER_STOP, frame};
use crate::entry::Lasting;

/// About how many bytes are handed over at once.
const CHUNK: usize = 32 * 1024;

/// A follower before its first byte.
pub(crate) struct Head {
    pub(crate) opening: Opening,
    pub(crate) feed: Feed,
    pub(crate) ask: Ask,
    pub(crate) events: Events,
    pub(crate) membership: Membership,
    pub(crate) proof: Watch,
    pub(crate) stopping: CancellationToken,
    /// Keeps the connection from being taken for an idle one.
    pub(crate) lasting: Lasting,
    pub(crate) stalls: Stalls,
    pub(crate) stall_time: Duration,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) keepalive: Duration,
}

/// The body of a live stream.
pub(crate) fn stream(head: Head) -> Body {
    let first = first_words(&head);
    let mut keepalive = interval(head.keepalive);
    keepalive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first words are a sign of life already.
    keepalive.reset();
    let progress = head.stalls.watch(head.lasting.clone(), head.stall_time);
    let follower = Follower { head, keepalive, progress, ended: false };
    let state = (Some(first), follower);
    Body::from_stream(unfold(state, async |(first, mut follower)| {
        follower.progress.taken();
        let chunk = match first {
            Some(first) => first,
            None => follower.next().await?,
        };
        follower.progress.handed_over();
        Some((Ok::<_, Infallible>(chunk), (None, follower)))
    }))
}

fn first_words(head: &Head) -> Bytes {
    let mut words = frame::hello(RETRY.pick(&*head.rng));
    let position = head.feed.position();
    match &head.opening {
        Opening::Resumed => {}
        Opening::Snapshot => words.push_str(&frame::snapshot(&position)),
        Opening::Reset { reason } => words.push_str(&frame::reset(*reason, &position)),
    }
    words.into()
}

struct Follower {
    head: Head,
    keepalive: Interval,
    progress: Progress,
    ended: bool,
}

/// What happens next.
enum Next {
    Stop,
    Replaced(Ending),
    SignedOut,
    Event(Result<Delivery, EventsError>),
    Tick,
}

impl Follower {
    /// The next bytes; `None` after the last word.
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        match self.wait().await {
            Next::Stop => Some(self.stop()),
            Next::Replaced(Ending::Superseded) => Some(self.end(frame::SUPERSEDED)),
            // Its own client has come back on another connection and reads there.
            Next::Replaced(Ending::TakenOver) => None,
            Next::SignedOut => Some(self.end(frame::AUTH_EXPIRED)),
            Next::Event(Ok(delivery)) => Some(self.deliver(&delivery)),
            Next::Event(Err(error)) => {
                let stopping = self.head.stopping.clone();
                // Seldom, and large: it must not make every follower large.
                let beginning = Box::pin(self.begin_anew(&error));
                let words = stopping.run_until_cancelled(beginning).await;
                Some(words.unwrap_or_else(|| self.stop()))
            }
            Next::Tick => Some(frame::keepalive(&self.head.feed.position()).into()),
        }
    }

    async fn wait(&mut self) -> Next {
        let Head { feed, membership, proof, stopping, .. } = &mut self.head;
        tokio::select! {
            biased;
            () = stopping.cancelled() => Next::Stop,
            () = proof.ended() => Next::SignedOut,
            ending = membership.superseded() => Next::Replaced(ending),
            delivery = feed.next() => Next::Event(delivery),
            _ = self.keepalive.tick() => Next::Tick,
        }
    }

    /// This event, and those behind it that are there already.
    fn deliver(&mut self, first: &Delivery) -> Bytes {
        let mut chunk = BytesMut::with_capacity(first.frame.len() + 64);
        put(&mut chunk, first);
        while chunk.len() < CHUNK
            && let Some(delivery) = self.head.feed.try_next()
        {
            put(&mut chunk, &delivery);
        }
        chunk.freeze()
    }

    /// What the follower has not read yet is gone. It is told, and goes on from now.
    async fn begin_anew(&mut self, error: &EventsError) -> Bytes {
        let reason = match error {
            EventsError::BelowFloor => ResetReason::Floor,
            EventsError::EpochChanged => ResetReason::Epoch,
            _ => return self.stop(),
        };
        let ask = Ask { after: None, ..self.head.ask.clone() };
        match self.head.events.open(&ask).await {
            Ok((_, feed)) => {
                let words = frame::reset(reason, &feed.position());
                self.head.feed = feed;
                words.into()
            }
            Err(error) => {
                tracing::warn!(%error, "a live stream ends: its events can't be read");
                self.stop()
            }
        }
    }

    /// The client comes back by itself, not together with all the others.
    fn stop(&mut self) -> Bytes {
        self.ended = true;
        frame::retry(RETRY_AFTER_STOP.pick(&*self.head.rng)).into()
    }

    fn end(&mut self, words: &'static str) -> Bytes {
        self.ended = true;
        Bytes::from_static(words.as_bytes())
    }
}

fn put(chunk: &mut BytesMut, delivery: &Delivery) {
    use std::fmt::Write as _;
    chunk.reserve(delivery.frame.len() + 64);
    // Writing into memory does not fail.
    let _ = writeln!(chunk, "id: {}", delivery.position);
    chunk.put_slice(&delivery.frame);
}
