//! One follower: a cursor in each of its streams, and at most one page of what it missed.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::ask::{Ask, Kinds, Opening};
use crate::backoff::Backoff;
use crate::error::EventsError;
use crate::frame::Frame;
use crate::hub::{End, Following, Hub, Lookup};
use crate::measure::Delivered;
use crate::position::Position;
use crate::record::follow::{Counters, PageSize};
use crate::stream::Stream;

/// What a follower that fell behind reads at once, and so the most that it holds.
const PAGE: PageSize = PageSize { events: 128, bytes: 32 * 1024 };

/// An event on its way to one follower.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Where the follower stands with this event.
    pub position: Position,
    /// `data: {…}` and an empty line; the bytes are shared by all followers.
    pub frame: Bytes,
    /// The kind of event.
    pub kind: Arc<str>,
    /// Its stream.
    pub stream: Stream,
    /// Its number in the stream.
    pub seq: i64,
}

/// Follows streams: each event once, in the order of its stream.
pub struct Feed {
    hub: Hub,
    position: Position,
    /// The organisation's stream first, then the user's own.
    cursors: Vec<Cursor>,
    /// Which cursor is asked first, so that a busy stream can't silence the other.
    turn: usize,
    kinds: Option<Kinds>,
    backoff: Backoff,
    delivered: Delivered,
}

/// A place in one stream.
#[derive(Debug)]
struct Cursor {
    following: Following,
    /// What was read from the database and not yet given out.
    page: VecDeque<Frame>,
}

/// What a cursor has for its follower.
enum Next {
    FromRing(Frame),
    FromDatabase(Frame),
    /// It fell behind the ring.
    Behind,
    Nothing,
}

impl Feed {
    /// Opens the streams of `ask`.
    pub(crate) async fn open(hub: &Hub, ask: &Ask) -> Result<(Opening, Self), EventsError> {
        loop {
            // First followed, then read: what is written in between rings here.
            let follow = |stream: Option<Stream>| {
                stream.map(|stream| Cursor { following: hub.follow(stream), page: VecDeque::new() })
            };
            let cursors: Vec<_> =
                [follow(ask.org()), follow(ask.own())].into_iter().flatten().collect();
            let Some(counters) = hub.counters(ask.counted()).await? else { continue };
            return Ok(Self::begin(hub, ask, cursors, &counters));
        }
    }

    fn begin(hub: &Hub, ask: &Ask, cursors: Vec<Cursor>, counters: &Counters) -> (Opening, Self) {
        let (opening, position) = ask.judge(counters);
        for cursor in &cursors {
            cursor.following.begin(counters);
        }
        let feed = Self {
            hub: hub.clone(),
            position,
            cursors,
            turn: 0,
            kinds: ask.kinds.clone(),
            backoff: Backoff::new(Arc::clone(&hub.tools().rng)),
            delivered: Delivered::new(),
        };
        (opening, feed)
    }

    /// Where the follower stands, events that it did not ask for included.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position.clone()
    }

    /// The next event, when there is one. Dropping the future loses none.
    ///
    /// # Errors
    /// [`EventsError::BelowFloor`], [`EventsError::EpochChanged`] and [`EventsError::Closed`] end
    /// the feed. A database that is away is waited for.
    pub async fn next(&mut self) -> Result<Delivery, EventsError> {
        loop {
            if let Some(delivery) = self.try_next() {
                return Ok(delivery);
            }
            self.check_end()?;
            match self.behind() {
                // Rare and large: inside, every follower would hold room for it.
                Some(index) => Box::pin(self.catch_up(index)).await?,
                None => self.wait().await,
            }
        }
    }

    /// Whether the next event is not at hand any more, and has to be read from the database. Who can do
    /// without the events between does better to begin anew.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.behind().is_some()
    }

    /// The next event, if it is at hand already.
    pub fn try_next(&mut self) -> Option<Delivery> {
        let count = self.cursors.len();
        for step in 0..count {
            let index = self.turn.saturating_add(step).checked_rem(count)?;
            if let Some(delivery) = self.try_next_of(index) {
                self.turn = index.saturating_add(1);
                return Some(delivery);
            }
        }
        None
    }

    fn try_next_of(&mut self, index: usize) -> Option<Delivery> {
        loop {
            let cursor = self.cursors.get_mut(index)?;
            let stream = cursor.following.channel.stream();
            let (frame, from) = match cursor.next(self.position.seq(stream)) {
                Next::FromRing(frame) => (frame, &self.delivered.from_ring),
                Next::FromDatabase(frame) => (frame, &self.delivered.from_database),
                Next::Behind | Next::Nothing => return None,
            };
            *self.position.seq_mut(stream) = frame.seq;
            if self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&frame.kind)) {
                from.increment(1);
                let Frame { seq, kind, bytes, .. } = frame;
                let position = self.position.clone();
                return Some(Delivery { position, frame: bytes, kind, stream, seq });
            }
        }
    }

    fn behind(&self) -> Option<usize> {
        self.cursors.iter().position(|cursor| {
            let seq = self.position.seq(cursor.following.channel.stream());
            cursor.is_behind(seq)
        })
    }

    /// Reads the page behind the cursor, or waits a little when the database is away.
    async fn catch_up(&mut self, index: usize) -> Result<(), EventsError> {
        let Some(cursor) = self.cursors.get_mut(index) else { return Ok(()) };
        let stream = cursor.following.channel.stream();
        let after = self.position.seq(stream);
        match self.hub.page(stream, after, PAGE).await {
            Ok(page) if page.first().is_some_and(|first| first.seq == after.saturating_add(1)) => {
                self.backoff.reset();
                cursor.page.extend(page);
                Ok(())
            }
            // What stands behind the cursor was in the ring, so it can only have been removed.
            Ok(_) => Err(EventsError::BelowFloor),
            Err(error) => {
                tracing::debug!(stream = stream.kind(), %error, "a follower can't read; trying again");
                tokio::select! {
                    () = self.backoff.wait() => {}
                    _ = cursor.following.tip.wait_for(|tip| tip.end.is_some()) => {}
                }
                Ok(())
            }
        }
    }

    async fn wait(&mut self) {
        let stop = &self.hub.tools().stop;
        // Its own end is told by the tip; the sender lives as long as the cursor.
        match self.cursors.as_mut_slice() {
            [] => stop.cancelled().await,
            [only] => drop(only.following.tip.changed().await),
            [first, second, ..] => tokio::select! {
                _ = first.following.tip.changed() => {}
                _ = second.following.tip.changed() => {}
            },
        }
    }

    fn check_end(&self) -> Result<(), EventsError> {
        let mut ends = self.cursors.iter().filter_map(|cursor| cursor.following.tip.borrow().end);
        match ends.next() {
            Some(End::EpochChanged) => Err(EventsError::EpochChanged),
            Some(End::Closed | End::Left) => Err(EventsError::Closed),
            None if self.hub.tools().stop.is_cancelled() => Err(EventsError::Closed),
            None => Ok(()),
        }
    }
}

impl Cursor {
    /// What comes behind `seq`.
    fn next(&mut self, seq: i64) -> Next {
        if let Some(frame) = self.page.pop_front() {
            return Next::FromDatabase(frame);
        }
        match self.following.channel.get(seq.saturating_add(1)) {
            Lookup::Here(frame) => Next::FromRing(frame),
            Lookup::Gone => Next::Behind,
            Lookup::NotYet => Next::Nothing,
        }
    }

    fn is_behind(&self, seq: i64) -> bool {
        let looked = self.following.channel.get(seq.saturating_add(1));
        self.page.is_empty() && matches!(looked, Lookup::Gone)
    }
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Feed").field("position", &self.position).finish_non_exhaustive()
    }
}
