//! One followed stream: its ring, how far it is known to go, and who reads on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mainstay_base::Timestamp;
use tokio::sync::watch;

use super::ring::{Lookup, Ring, RingSize};
use crate::frame::Frame;
use crate::record::follow::{Counter, PageSize};
use crate::stream::Stream;

/// Everybody follows this one, and many come back at once after a restart.
const ORG_RING: RingSize = RingSize { events: 4_096, bytes: 4 * 1024 * 1024 };
/// There may be thousands of these.
const USER_RING: RingSize = RingSize { events: 64, bytes: 32 * 1024 };

const ORG_PAGE: PageSize = PageSize { events: 512, bytes: 1024 * 1024 };
const USER_PAGE: PageSize = PageSize { events: 64, bytes: 32 * 1024 };

/// Events before the first follower that the ring is filled with, for those who come back.
const ORG_PRIMED: i64 = 512;

/// Why a channel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The instance is stopping.
    Closed,
    /// The database has another epoch.
    EpochChanged,
    /// Nobody follows any more.
    Left,
}

/// What followers wait for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tip {
    pub(crate) seq: i64,
    pub(crate) end: Option<End>,
}

/// A followed stream.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: Stream,
    state: Mutex<State>,
    tip: watch::Sender<Tip>,
}

#[derive(Debug, Default)]
struct State {
    /// None until a follower has read the counter.
    ring: Option<Ring>,
    /// What was written up to here was there before the first follower.
    old: i64,
    /// The newest number anybody told of.
    known: i64,
    /// Somebody is reading on.
    is_read: bool,
    /// A number that only a look found; a bell may still come.
    unrung: Option<i64>,
}

/// Where a reader goes on: behind `after`, because `known` was told of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub(super) after: i64,
    pub(super) known: i64,
}

impl Channel {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, state: Mutex::default(), tip: watch::Sender::default() }
    }

    pub(crate) const fn stream(&self) -> Stream {
        self.stream
    }

    pub(super) fn watch(&self) -> watch::Receiver<Tip> {
        self.tip.subscribe()
    }

    pub(super) const fn page_size(&self) -> PageSize {
        match self.stream {
            Stream::Org => ORG_PAGE,
            Stream::User(_) => USER_PAGE,
        }
    }

    pub(crate) fn get(&self, seq: i64) -> Lookup {
        self.state().ring.as_ref().map_or(Lookup::NotYet, |ring| ring.get(seq))
    }

    /// A follower has read the counter: the ring begins, or there is more to read. True when a
    /// reader must be started.
    pub(super) fn begin(&self, counter: Counter) -> bool {
        let mut state = self.state();
        state.known = state.known.max(counter.last_seq);
        if state.ring.is_none() {
            let (size, primed) = match self.stream {
                Stream::Org => (ORG_RING, ORG_PRIMED),
                Stream::User(_) => (USER_RING, 0),
            };
            let start = counter.last_seq.saturating_sub(primed).max(counter.floor_seq);
            state.ring = Some(Ring::new(size, start));
            state.old = counter.last_seq;
        }
        self.must_be_read(&mut state)
    }

    /// A bell told of `seq`. True when a reader must be started.
    pub(super) fn rung(&self, seq: i64) -> bool {
        let mut state = self.state();
        state.known = state.known.max(seq);
        if state.unrung.is_some_and(|unrung| unrung <= seq) {
            state.unrung = None;
        }
        self.must_be_read(&mut state)
    }

    /// A look found `seq`, which no bell may have told of. True when a reader must be started.
    pub(super) fn found(&self, seq: i64, is_bell_due: bool) -> bool {
        let mut state = self.state();
        if seq > state.known {
            state.known = seq;
            // Before a follower has begun, what was written earlier is new to the channel alone.
            state.unrung = (is_bell_due && state.ring.is_some()).then_some(seq);
        }
        self.must_be_read(&mut state)
    }

    /// Whether an earlier look found what no bell has told of since.
    pub(super) fn take_lost(&self) -> bool {
        self.state().unrung.take().is_some()
    }

    /// Where to read on; None when there is nothing more, and the reader has ended with that.
    pub(super) fn reading(&self) -> Option<Reading> {
        let mut state = self.state();
        let known = state.known;
        let after = state.ring.as_ref().map(Ring::tip).filter(|tip| known > *tip);
        let has_ended = self.tip.borrow().end.is_some();
        match after.filter(|_| !has_ended) {
            Some(after) => Some(Reading { after, known }),
            None => {
                state.is_read = false;
                None
            }
        }
    }

    /// Takes what was read, and gives the time of the newest event that is new. An empty page means
    /// that the bell was wrong, unless another one rang meanwhile.
    pub(super) fn push(&self, reading: Reading, page: Vec<Frame>) -> Option<Timestamp> {
        let mut state = self.state();
        let is_empty = page.is_empty();
        let newest = page.last().filter(|frame| frame.seq > state.old).map(|frame| frame.at);
        let ring = state.ring.as_mut()?;
        for frame in page {
            ring.push(frame);
        }
        let tip = ring.tip();
        if is_empty && state.known == reading.known {
            state.known = tip;
        }
        drop(state);
        if !is_empty {
            self.tip.send_modify(|watched| watched.seq = tip);
        }
        newest
    }

    pub(super) fn end(&self, end: End) {
        self.tip.send_modify(|watched| watched.end = Some(end));
    }

    fn must_be_read(&self, state: &mut State) -> bool {
        let has_more = state.ring.as_ref().is_some_and(|ring| state.known > ring.tip());
        let start = has_more && !state.is_read && self.tip.borrow().end.is_none();
        state.is_read |= start;
        start
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
