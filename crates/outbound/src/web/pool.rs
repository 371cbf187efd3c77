//! Connections that are kept for the next call, and the bound on all of them.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::Moment;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::measure::Counted;
use super::options::WebOptions;
use super::stream::Stream;
use super::target::Origin;

/// A connection with what the pool knows of it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) stream: Stream,
    pub(crate) card: Card,
}

/// All of a connection but the connection: it stays here while hyper holds the stream.
#[derive(Debug)]
pub(crate) struct Card {
    /// The address that was judged.
    pub(crate) peer: IpAddr,
    pub(crate) born: Moment,
    pub(crate) counted: Counted,
    /// The place among all connections; it comes free with this.
    pub(crate) _place: OwnedSemaphorePermit,
}

/// What is kept.
pub(crate) struct Pool {
    places: Arc<Semaphore>,
    /// Who waits for a place: while anybody does, nothing is kept.
    waiting: AtomicUsize,
    resting: Mutex<Resting>,
    max_idle_per_origin: usize,
    idle_timeout: Duration,
    max_age: Duration,
}

#[derive(Default)]
struct Resting {
    by_origin: HashMap<Arc<Origin>, Vec<Bed>>,
    /// Who has rested longest comes first.
    by_number: BTreeMap<u64, Arc<Origin>>,
    next_number: u64,
}

struct Bed {
    number: u64,
    since: Moment,
    link: Link,
}

impl Pool {
    pub(crate) fn new(options: &WebOptions) -> Self {
        let most = options.max_connections.min(Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(most)),
            waiting: AtomicUsize::new(0),
            resting: Mutex::default(),
            max_idle_per_origin: options.max_idle_per_origin,
            idle_timeout: options.idle_timeout,
            max_age: options.max_age,
        }
    }

    /// A place for a new connection. Where there is none, the one that has rested longest makes room;
    /// where none rests, this waits.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(place);
        }
        let _waiting = Waiting::new(&self.waiting);
        drop(self.lock().take_oldest());
        // Nobody closes the semaphore.
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// A connection to this origin that may be asked on, the last one used first.
    pub(crate) fn take(&self, origin: &Origin, now: Moment) -> Option<Link> {
        loop {
            let bed = self.lock().take_last(origin)?;
            let mut link = bed.link;
            if !self.is_spent(bed.since, link.card.born, now) && link.stream.is_quiet() {
                link.card.counted.set_idle(false);
                return Some(link);
            }
        }
    }

    /// Keeps a connection for the next call, unless it is too old or somebody waits for its place.
    pub(crate) fn keep(&self, origin: &Arc<Origin>, mut link: Link, now: Moment) {
        if self.is_spent(now, link.card.born, now) || self.max_idle_per_origin == 0 {
            return;
        }
        link.card.counted.set_idle(true);
        let mut resting = self.lock();
        // Looked at under the lock: whoever waits has said so before looking for a bed to clear.
        let dropped = if self.waiting.load(Ordering::SeqCst) > 0 {
            Some(link)
        } else {
            resting.add(origin, link, now, self.max_idle_per_origin)
        };
        drop(resting);
        drop(dropped);
    }

    /// Lets go of what has rested too long, is too old, or was ended by the other side.
    pub(crate) fn sweep(&self, now: Moment) {
        let mut resting = self.lock();
        let swept = resting.remove_where(|bed| {
            self.is_spent(bed.since, bed.link.card.born, now) || !bed.link.stream.is_quiet()
        });
        drop(resting);
        drop(swept);
    }

    fn is_spent(&self, resting_since: Moment, born: Moment, now: Moment) -> bool {
        now.since(resting_since) > self.idle_timeout || now.since(born) > self.max_age
    }

    fn lock(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resting {
    /// Adds a connection and gives back the one that had to make room for it.
    fn add(
        &mut self,
        origin: &Arc<Origin>,
        link: Link,
        since: Moment,
        most: usize,
    ) -> Option<Link> {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        self.by_number.insert(number, Arc::clone(origin));
        let beds = self.by_origin.entry(Arc::clone(origin)).or_default();
        beds.push(Bed { number, since, link });
        if beds.len() <= most {
            return None;
        }
        let oldest = beds.remove(0);
        self.by_number.remove(&oldest.number);
        Some(oldest.link)
    }

    fn take_last(&mut self, origin: &Origin) -> Option<Bed> {
        let beds = self.by_origin.get_mut(origin)?;
        let bed = beds.pop();
        if beds.is_empty() {
            self.by_origin.remove(origin);
        }
        bed.inspect(|bed| drop(self.by_number.remove(&bed.number)))
    }

    fn take_oldest(&mut self) -> Option<Link> {
        let (number, origin) = self.by_number.pop_first()?;
        let beds = self.by_origin.get_mut(&origin)?;
        let at = beds.iter().position(|bed| bed.number == number)?;
        let bed = beds.remove(at);
        if beds.is_empty() {
            self.by_origin.remove(&origin);
        }
        Some(bed.link)
    }

    fn remove_where(&mut self, mut is_spent: impl FnMut(&mut Bed) -> bool) -> Vec<Bed> {
        let mut removed = Vec::new();
        self.by_origin.retain(|_, beds| {
            removed.extend(beds.extract_if(.., |bed| is_spent(bed)));
            !beds.is_empty()
        });
        for bed in &removed {
            self.by_number.remove(&bed.number);
        }
        removed
    }
}

/// Says that somebody waits, for as long as they do.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
