//! Streams whose client takes nothing. On HTTP/1 the stream below hyper sees that by itself. On
//! HTTP/2 a client can leave its window at nothing: then nobody asks for the body any more, and only
//! somebody who looks from outside can tell.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment};

use crate::entry::Lasting;

/// Says that the client has taken everything.
const NOTHING_WAITS: u64 = u64::MAX;

/// The streams of this instance. A clone is another handle to the same.
#[derive(Clone)]
pub(crate) struct Stalls {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    /// There are no more than streams.
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    next: u64,
    open: HashMap<u64, Arc<Stream>>,
}

struct Stream {
    /// Since when something waits to be taken, in milliseconds.
    since: AtomicU64,
    limit: Duration,
    lasting: Lasting,
}

/// How one stream gets on. It is watched as long as this lives.
pub(super) struct Progress {
    shared: Arc<Shared>,
    number: u64,
    stream: Arc<Stream>,
}

impl Stalls {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { shared: Arc::new(Shared { clock, streams: Mutex::default() }) }
    }

    /// Watches a stream whose head is on its way, and whose connection is cut when its client takes
    /// nothing for `limit`.
    pub(super) fn watch(&self, lasting: Lasting, limit: Duration) -> Progress {
        let since = AtomicU64::new(self.shared.millis());
        let stream = Arc::new(Stream { since, limit, lasting });
        let mut streams = self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let number = streams.next;
        streams.next = number.wrapping_add(1);
        streams.open.insert(number, Arc::clone(&stream));
        drop(streams);
        Progress { shared: Arc::clone(&self.shared), number, stream }
    }

    /// Cuts the connections of those who take nothing.
    pub(super) fn cut(&self) {
        let now = self.shared.millis();
        let streams = self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in streams.open.values().filter(|stream| stream.is_stalled(now)) {
            stream.lasting.cut();
        }
    }
}

impl Shared {
    fn millis(&self) -> u64 {
        let origin = Moment::from_origin(Duration::ZERO);
        let millis = self.clock.moment().since(origin).as_millis();
        u64::try_from(millis).unwrap_or(NOTHING_WAITS - 1)
    }
}

impl Stream {
    fn is_stalled(&self, now: u64) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        since != NOTHING_WAITS && u128::from(now.saturating_sub(since)) > self.limit.as_millis()
    }
}

impl Progress {
    /// The client has taken what was handed over, and asks for more.
    pub(super) fn taken(&self) {
        self.stream.since.store(NOTHING_WAITS, Ordering::Relaxed);
    }

    /// Something was handed over for the client.
    pub(super) fn handed_over(&self) {
        self.stream.since.store(self.shared.millis(), Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let mut streams = self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.open.remove(&self.number);
    }
}
