//! The followed streams of this instance: one reader each, while somebody follows, and a ring of
//! framed events that all its followers share. Whoever writes never waits for whoever reads.

mod channel;
mod counting;
mod reader;
mod ring;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainstay_store::StoreError;
use tokio::sync::{Notify, Semaphore, watch};

pub(crate) use channel::{Channel, End, Tip};
pub(crate) use ring::Lookup;

use crate::error::EventsError;
use crate::frame::Frame;
use crate::measure;
use crate::record::follow::{self, Counters, PageSize};
use crate::stream::Stream;
use crate::tools::{Tools, within_limit};
use counting::Counting;

/// Followers that read the database at once; the others wait in line, so that thousands who come
/// back together leave connections for everybody else.
const FOLLOWERS_READING: usize = 2;

/// Streams that are read on at once.
const STREAMS_READING: usize = 3;

/// The streams that are followed now. A clone is the same hub.
#[derive(Clone)]
pub(crate) struct Hub {
    shared: Arc<Shared>,
}

struct Shared {
    tools: Tools,
    counting: Counting,
    state: Mutex<State>,
    /// The turns of followers that read for themselves.
    reading: Semaphore,
    /// The turns of the readers of streams.
    reading_on: Semaphore,
    look: Notify,
}

struct State {
    epoch: Arc<str>,
    /// A read of counters that began before this one knows nothing of the epoch.
    epoch_since: u64,
    is_closed: bool,
    channels: HashMap<Stream, Followed>,
}

struct Followed {
    channel: Arc<Channel>,
    followers: usize,
}

/// One follower's hold on a channel. The channel ends with its last follower.
pub(crate) struct Following {
    hub: Hub,
    pub(crate) channel: Arc<Channel>,
    pub(crate) tip: watch::Receiver<Tip>,
}

impl Hub {
    pub(crate) fn new(tools: Tools, epoch: &str) -> Self {
        let (epoch, channels) = (epoch.into(), HashMap::new());
        let state = State { epoch, epoch_since: 0, is_closed: false, channels };
        let reading = Semaphore::new(FOLLOWERS_READING);
        let reading_on = Semaphore::new(STREAMS_READING);
        let (state, look) = (Mutex::new(state), Notify::new());
        let counting = Counting::start(&tools);
        Self { shared: Arc::new(Shared { tools, counting, state, reading, reading_on, look }) }
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.shared.tools
    }

    /// Follows `stream` from now on; what was written before is read from the database.
    pub(crate) fn follow(&self, stream: Stream) -> Following {
        let mut state = self.state();
        let is_closed = state.is_closed;
        let followed = match state.channels.entry(stream) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(free) => {
                let channel = Arc::new(Channel::new(stream));
                if is_closed {
                    channel.end(End::Closed);
                }
                free.insert(Followed { channel, followers: 0 })
            }
        };
        followed.followers = followed.followers.saturating_add(1);
        let channel = Arc::clone(&followed.channel);
        measure::followers(stream, 1.0);
        Following { hub: self.clone(), tip: channel.watch(), channel }
    }

    /// A bell told of `seq`, wherever it was rung.
    pub(crate) fn rung(&self, stream: Stream, seq: i64) {
        if let Some(channel) = self.channel(stream)
            && channel.rung(seq)
        {
            self.read(channel);
        }
    }

    /// The counters as a follower of `streams` finds them now. None when the database has begun a
    /// new epoch: every follower so far has ended, and must begin anew.
    pub(crate) async fn counters(
        &self,
        streams: Vec<Stream>,
    ) -> Result<Option<Arc<Counters>>, EventsError> {
        let counters = self.shared.counting.counters(streams).await?;
        Ok(self.is_of_epoch(&counters).then_some(counters))
    }

    /// A page for a follower that fell behind the ring.
    pub(crate) async fn page(
        &self,
        stream: Stream,
        after: i64,
        size: PageSize,
    ) -> Result<Vec<Frame>, StoreError> {
        let _turn = self.shared.reading.acquire().await.map_err(|_| StoreError::Closed)?;
        measure::read("follower");
        within_limit(follow::page(&self.shared.tools.db, stream, after, size)).await
    }

    /// The next page of a followed stream, for everybody.
    async fn read_on(&self, channel: &Channel, after: i64) -> Result<Vec<Frame>, StoreError> {
        let _turn = self.shared.reading_on.acquire().await.map_err(|_| StoreError::Closed)?;
        measure::read("hub");
        let db = &self.shared.tools.db;
        within_limit(follow::page(db, channel.stream(), after, channel.page_size())).await
    }

    /// The streams that are followed now.
    pub(crate) fn followed(&self) -> Vec<Stream> {
        self.state().channels.keys().copied().collect()
    }

    /// A look found these counters. A bell is due for what is new, unless one could not be heard.
    pub(crate) fn found(&self, streams: &[Stream], counters: &Counters, is_bell_due: bool) {
        if !self.is_of_epoch(counters) {
            return;
        }
        for stream in streams {
            if let Some(channel) = self.channel(*stream)
                && channel.found(counters.of(*stream).last_seq, is_bell_due)
            {
                self.read(channel);
            }
        }
    }

    /// How many streams have news since an earlier look that no bell told of.
    pub(crate) fn take_lost(&self) -> usize {
        let channels: Vec<_> =
            self.state().channels.values().map(|followed| Arc::clone(&followed.channel)).collect();
        channels.iter().filter(|channel| channel.take_lost()).count()
    }

    /// Asks for a look soon.
    pub(crate) fn look_soon(&self) {
        self.shared.look.notify_one();
    }

    /// Resolves when somebody asked for a look.
    pub(crate) async fn look_asked(&self) {
        self.shared.look.notified().await;
    }

    /// Ends every follower, now and later.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        end_all(&mut state, End::Closed);
    }

    /// Whether `counters` are of the present epoch. If they are of a newer one, that one begins, and
    /// every follower of the old one ends: numbers of another epoch mean other events.
    fn is_of_epoch(&self, counters: &Counters) -> bool {
        let mut state = self.state();
        if state.epoch == counters.epoch {
            return true;
        }
        if counters.read < state.epoch_since {
            return false;
        }
        tracing::warn!("the event streams began anew, as after a restore: followers start over");
        state.epoch = Arc::clone(&counters.epoch);
        state.epoch_since = self.shared.tools.reads.next();
        end_all(&mut state, End::EpochChanged);
        false
    }

    fn read(&self, channel: Arc<Channel>) {
        self.shared.tools.tasks.spawn(reader::run(self.clone(), channel));
    }

    fn channel(&self, stream: Stream) -> Option<Arc<Channel>> {
        self.state().channels.get(&stream).map(|followed| Arc::clone(&followed.channel))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Following {
    /// The follower knows the counter now.
    pub(crate) fn begin(&self, counters: &Counters) {
        if self.channel.begin(counters.of(self.channel.stream())) {
            self.hub.read(Arc::clone(&self.channel));
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let stream = self.channel.stream();
        measure::followers(stream, -1.0);
        let mut state = self.hub.state();
        let Entry::Occupied(mut there) = state.channels.entry(stream) else { return };
        // After a new epoch another channel stands in its place.
        if !Arc::ptr_eq(&there.get().channel, &self.channel) {
            return;
        }
        there.get_mut().followers = there.get().followers.saturating_sub(1);
        if there.get().followers == 0 {
            there.remove();
            self.channel.end(End::Left);
        }
    }
}

fn end_all(state: &mut State, end: End) {
    for (_, followed) in state.channels.drain() {
        followed.channel.end(end);
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let followed = self.state().channels.len();
        formatter.debug_struct("Hub").field("followed", &followed).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Following {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Following").field("channel", &self.channel).finish_non_exhaustive()
    }
}
