//! A breaker for each key, within a bound. [`shelf`] keeps them in the order of their last use.

mod shelf;

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;

use crate::breaker::Breaker;
use crate::classify::EveryError;
use crate::config::{Builder, ConfigError, MAX_NAME, Problem, Settings};
use crate::core::Core;
use crate::moment::Moment;
use shelf::{Shelf, Slot};

/// Most keys that a registry can hold.
pub const MAX_REGISTRY: usize = 1 << 24;

/// How many that are in use are passed over in search of one that can go. The next search goes on
/// behind them.
const MAX_PASSED_OVER: usize = 1_024;
/// How many that are idle go when a new one comes: the registry shrinks as it is used.
const IDLE_PER_ARRIVAL: usize = 2;
/// How many are looked at before others get the lock, in search of all that are idle.
const MAX_PER_LOCK: usize = 1_024;

/// A breaker for each key: a host, a tenant, an endpoint. Clones are the same registry.
///
/// It holds at most `capacity` of them. One that has been idle for long goes when another comes,
/// and when the registry is full the closed one whose last use is longest ago goes, with what it had
/// counted. A breaker stays as long as it has a call in flight, somebody holds it or forced it; one
/// that has opened goes only when it has been idle for long and would let a probe through: nobody can
/// make the registry forget that a downstream is broken by asking for many others.
///
/// `Hash`, `Eq` and, by [`Breakers::list`], `Clone` of a key run under the registry's lock: they must
/// not use the registry.
///
/// ```
/// use std::time::Duration;
/// use mainstay_breaker::{Breaker, Breakers};
///
/// let hosts: Breakers<String> = Breakers::builder(Breaker::builder("hosts"))
///     .capacity(1_000)
///     .idle_for(Duration::from_secs(600))
///     .named(|host: &String| format!("host {host}"))
///     .build()?;
/// let breaker = hosts.get("db.example")?;
/// let answer = breaker.run(|| Ok::<_, std::io::Error>("pong"));
/// assert_eq!(answer.ok(), Some("pong"));
/// assert_eq!(breaker.name(), "host db.example");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Breakers<K, C = EveryError> {
    inner: Arc<Inner<K, C>>,
}

struct Inner<K, C> {
    settings: Arc<Settings>,
    classifier: C,
    capacity: usize,
    idle_for: Duration,
    name: Option<Naming<K>>,
    hasher: RandomState,
    shelf: Mutex<Shelf<K>>,
}

type Naming<K> = Box<dyn Fn(&K) -> String + Send + Sync>;

/// Puts a registry together.
#[must_use = "a builder does nothing until it builds"]
pub struct BreakersBuilder<K, C = EveryError> {
    template: Builder<C>,
    capacity: usize,
    idle_for: Duration,
    name: Option<Naming<K>>,
}

/// A registry is full, and every breaker that could have gone is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the registry holds {capacity} circuit breakers, and those whose last use is longest ago are in use: \
     give it more capacity, or drop handles that are not used"
)]
pub struct Full {
    /// How many it can hold.
    pub capacity: usize,
}

impl<K: Hash + Eq> Breakers<K> {
    /// Puts a registry together whose breakers are all built as `template` says.
    pub fn builder<C>(template: Builder<C>) -> BreakersBuilder<K, C> {
        let idle_for = Duration::from_secs(3_600);
        BreakersBuilder { template, capacity: 10_000, idle_for, name: None }
    }
}

impl<K: Hash + Eq, C: Clone> Breakers<K, C> {
    /// The breaker of this key. The first to ask makes it.
    ///
    /// # Errors
    /// When the registry is full and every breaker that could go is in use.
    pub fn get<Q>(&self, key: &Q) -> Result<Breaker<C>, Full>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hash = self.inner.hasher.hash_one(key);
        let now = self.inner.now();
        let known = self.inner.shelf().take(hash, key, now);
        let core = match known {
            Some(core) => core,
            None => self.arrive(hash, key, now)?,
        };
        Ok(self.handle(core))
    }

    /// The breaker of this key, if there is one. It does not count as a use.
    pub fn peek<Q>(&self, key: &Q) -> Option<Breaker<C>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.inner.hasher.hash_one(key);
        let core = self.inner.shelf().look(hash, key)?;
        Some(self.handle(core))
    }

    /// Forgets the breaker of this key. Whoever holds it keeps it, but the next to ask gets another.
    pub fn remove<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.inner.hasher.hash_one(key);
        let removed = self.inner.shelf().remove(hash, key, &self.inner.hasher);
        removed.is_some()
    }

    /// All breakers, the most recently used first, by the second. The keys are cloned under the
    /// registry's lock.
    #[must_use]
    pub fn list(&self) -> Vec<(K, Breaker<C>)>
    where
        K: Clone,
    {
        let mut cores = self.inner.shelf().list();
        cores.sort_by_key(|(used, ..)| Reverse(*used));
        cores.into_iter().map(|(_, key, core)| (key, self.handle(core))).collect()
    }

    /// How many breakers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.shelf().len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets every breaker that has been idle for long and is not in use. Says how many went.
    pub fn evict_idle(&self) -> usize {
        let inner = &*self.inner;
        let now = inner.now();
        let (mut went, mut rest) = (0, self.len());
        while rest > 0 {
            let mut gone = Vec::new();
            let mut shelf = inner.shelf();
            let end = rest.min(shelf.len());
            rest = end.saturating_sub(MAX_PER_LOCK);
            let can_go = |slot: &Slot<K>| inner.is_left_over(slot, now);
            shelf.let_go(rest..end, can_go, &inner.hasher, &mut gone);
            drop(shelf);
            went += gone.len();
        }
        went
    }

    /// Makes the breaker of a key. A name, and a key as it is made or dropped, may do anything: that
    /// happens without the lock. Whoever was quicker in the meantime is asked first.
    fn arrive<Q>(&self, hash: u64, key: &Q, now: Moment) -> Result<Arc<Core>, Full>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let inner = &*self.inner;
        let owned = key.to_owned();
        let name = inner.name.as_ref().and_then(|name| tidy(&name(&owned)));
        let core = Arc::new(Core::new(Arc::clone(&inner.settings), name));
        let mut gone = Vec::new();
        let mut shelf = inner.shelf();
        if let Some(core) = shelf.take(hash, key, now) {
            return Ok(core);
        }
        inner.make_room(&mut shelf, now, &mut gone)?;
        shelf.put(hash, owned, Arc::clone(&core), now, &inner.hasher);
        drop(shelf);
        Ok(core)
    }

    fn handle(&self, core: Arc<Core>) -> Breaker<C> {
        Breaker { core, classifier: self.inner.classifier.clone() }
    }
}

impl<K: Hash + Eq, C> Inner<K, C> {
    fn make_room(
        &self,
        shelf: &mut Shelf<K>,
        now: Moment,
        gone: &mut Vec<Slot<K>>,
    ) -> Result<(), Full> {
        self.let_idle_go(shelf, now, IDLE_PER_ARRIVAL, gone);
        if shelf.len() >= self.capacity {
            let can_go = |slot: &Slot<K>| self.can_make_room(slot, now);
            let one = shelf.let_oldest_go(MAX_PASSED_OVER, can_go, &self.hasher);
            gone.push(one.ok_or(Full { capacity: self.capacity })?);
        }
        Ok(())
    }

    /// At most `most` that have been idle for long. What is removed is dropped by the caller,
    /// without the lock: a key may do anything as it goes.
    fn let_idle_go(&self, shelf: &mut Shelf<K>, now: Moment, most: usize, gone: &mut Vec<Slot<K>>) {
        for _ in 0..most {
            if !shelf.oldest().is_some_and(|slot| self.is_idle(slot, now)) {
                return;
            }
            let can_go = |slot: &Slot<K>| self.is_left_over(slot, now);
            gone.extend(shelf.let_oldest_go(1, can_go, &self.hasher));
        }
    }

    /// It says nothing that is worth its place, or nothing that is new.
    fn can_make_room(&self, slot: &Slot<K>, now: Moment) -> bool {
        slot.is_free() && slot.core().is_quiet() || self.is_left_over(slot, now)
    }

    fn is_left_over(&self, slot: &Slot<K>, now: Moment) -> bool {
        self.is_idle(slot, now) && slot.is_free() && slot.core().is_forgettable()
    }

    fn is_idle(&self, slot: &Slot<K>, now: Moment) -> bool {
        now.since(slot.used()) > self.idle_for
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<K>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, C> Inner<K, C> {
    fn now(&self) -> Moment {
        self.settings.clock.rough()
    }
}

impl<K: Hash + Eq, C> BreakersBuilder<K, C> {
    /// How many breakers it may hold. Default: 10 000.
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// For how long a breaker that nobody asks for is kept, to the next second. Default: one hour.
    pub fn idle_for(mut self, duration: Duration) -> Self {
        self.idle_for = duration;
        self
    }

    /// What a breaker is called by its key. Default, also for a name that is empty: the name of the
    /// template.
    pub fn named(mut self, name: impl Fn(&K) -> String + Send + Sync + 'static) -> Self {
        self.name = Some(Box::new(name));
        self
    }

    /// Checks everything and puts it together.
    ///
    /// # Errors
    /// When it can't work: the error names the field and what is wrong with it.
    pub fn build(self) -> Result<Breakers<K, C>, ConfigError> {
        let (settings, classifier) = self.template.checked()?;
        let wrong =
            |field, problem| ConfigError { breaker: settings.name.to_string(), field, problem };
        if self.capacity == 0 {
            return Err(wrong("registry.capacity", Problem::Zero));
        }
        if self.capacity > MAX_REGISTRY {
            let (given, most) = (self.capacity as u64, MAX_REGISTRY as u64);
            let because = "memory is bounded";
            return Err(wrong("registry.capacity", Problem::TooMany { given, most, because }));
        }
        if self.idle_for.is_zero() {
            return Err(wrong("registry.idle_for", Problem::Zero));
        }
        let inner = Inner {
            settings: Arc::new(settings),
            classifier,
            capacity: self.capacity,
            idle_for: self.idle_for,
            name: self.name,
            hasher: RandomState::new(),
            shelf: Mutex::new(Shelf::new()),
        };
        Ok(Breakers { inner: Arc::new(inner) })
    }
}

/// Keys come from anywhere: a name fits into a line of a log. Absent where nothing is to be read.
fn tidy(name: &str) -> Option<Arc<str>> {
    let readable =
        |letter: char| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
    let mut tidy = String::new();
    for letter in name.chars().map(readable) {
        if tidy.len() + letter.len_utf8() > MAX_NAME {
            break;
        }
        tidy.push(letter);
    }
    (!tidy.trim().is_empty()).then(|| tidy.into())
}

impl<K, C> Clone for Breakers<K, C> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<K, C> fmt::Debug for Breakers<K, C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Breakers")
            .field("settings", &self.inner.settings)
            .field("capacity", &self.inner.capacity)
            .field("idle_for", &self.inner.idle_for)
            .finish_non_exhaustive()
    }
}

impl<K, C> fmt::Debug for BreakersBuilder<K, C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BreakersBuilder")
            .field("template", &self.template)
            .field("capacity", &self.capacity)
            .field("idle_for", &self.idle_for)
            .finish_non_exhaustive()
    }
}
