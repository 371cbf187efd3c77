//! One who follows: what it is told, from the first words, over what is kept and what comes, to the last
//! word. How that travels is the matter of `body` (HTTP/2) and of `takeover` (HTTP/1).

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use mainstay_base::Rng;
use mainstay_events::{
    Ask, Delivery, Ending, Events, EventsError, Feed, Membership, Opening, ResetReason,
};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::proofs::Watch;
use super::stalls::Stalls;
use super::{RETRY, RETRY_AFTER_STOP, frame};

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
    pub(crate) stalls: Stalls,
    pub(crate) stall_time: Duration,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) keepalive: Duration,
}

/// One who follows.
pub(crate) struct Follower {
    pub(super) head: Head,
    keepalive: Interval,
    ended: bool,
}

/// What is to be sent next: what is this follower's own, then what all of them share.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) own: Bytes,
    pub(super) shared: Bytes,
}

impl Chunk {
    pub(super) fn len(&self) -> usize {
        self.own.len().saturating_add(self.shared.len())
    }
}

impl<T: Into<Bytes>> From<T> for Chunk {
    fn from(own: T) -> Self {
        Self { own: own.into(), shared: Bytes::new() }
    }
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
    pub(crate) fn new(head: Head) -> Self {
        let mut keepalive = interval(head.keepalive);
        keepalive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first words are a sign of life already.
        keepalive.reset();
        Self { head, keepalive, ended: false }
    }

    pub(super) fn first_words(&self) -> Bytes {
        let mut words = frame::hello(RETRY.pick(&*self.head.rng));
        let position = self.head.feed.position();
        match &self.head.opening {
            Opening::Resumed => {}
            Opening::Snapshot => words.push_str(&frame::snapshot(&position)),
            Opening::Reset { reason } => words.push_str(&frame::reset(*reason, &position)),
        }
        words.into()
    }

    /// What comes next; `None` after the last word. Dropping the future loses nothing, as long as the
    /// follower is asked again.
    pub(super) async fn next(&mut self) -> Option<Chunk> {
        if self.ended {
            return None;
        }
        match self.wait().await {
            Next::Stop => Some(self.stop()),
            Next::Replaced(Ending::Superseded) => Some(self.end(frame::SUPERSEDED)),
            // Its own client has come back on another connection and reads there.
            Next::Replaced(Ending::TakenOver) => None,
            Next::SignedOut => Some(self.end(frame::AUTH_EXPIRED)),
            Next::Event(Ok(delivery)) => Some(self.deliver(delivery)),
            // Seldom, and large: it must not make every follower large.
            Next::Event(Err(error)) => Some(Box::pin(self.fail(error)).await),
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

    /// This event, and those behind it that are there already. One alone is not copied.
    fn deliver(&mut self, first: Delivery) -> Chunk {
        let mut own = BytesMut::with_capacity(ID_BYTES);
        put_id(&mut own, &first);
        let Some(second) = self.head.feed.try_next() else {
            return Chunk { own: own.freeze(), shared: first.frame };
        };
        own.put_slice(&first.frame);
        put(&mut own, &second);
        while own.len() < CHUNK
            && let Some(delivery) = self.head.feed.try_next()
        {
            put(&mut own, &delivery);
        }
        own.freeze().into()
    }

    async fn fail(&mut self, error: EventsError) -> Chunk {
        let stopping = self.head.stopping.clone();
        let words = stopping.run_until_cancelled(self.begin_anew(&error)).await;
        words.unwrap_or_else(|| self.stop())
    }

    /// What the follower has not read yet is gone. It is told, and goes on from now.
    async fn begin_anew(&mut self, error: &EventsError) -> Chunk {
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
    fn stop(&mut self) -> Chunk {
        self.ended = true;
        frame::retry(RETRY_AFTER_STOP.pick(&*self.head.rng)).into()
    }

    fn end(&mut self, words: &'static str) -> Chunk {
        self.ended = true;
        Bytes::from_static(words.as_bytes()).into()
    }
}

/// Room for the line that says where a follower stands.
const ID_BYTES: usize = 64;

fn put(chunk: &mut BytesMut, delivery: &Delivery) {
    chunk.reserve(delivery.frame.len() + ID_BYTES);
    put_id(chunk, delivery);
    chunk.put_slice(&delivery.frame);
}

fn put_id(chunk: &mut BytesMut, delivery: &Delivery) {
    use std::fmt::Write as _;
    // Writing into memory does not fail.
    let _ = writeln!(chunk, "id: {}", delivery.position);
}
