//! The doorbell: tells everybody who listens, here and in other instances, that something changed.
//!
//! A ring carries a key at most and may be lost on its way to another instance: whoever hears it
//! looks in the database, and looks there now and then anyhow.

mod ears;
pub(crate) mod listener;
mod marks;
mod pending;
pub(crate) mod sender;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use mainstay_base::Id;
use tokio::sync::Notify;

pub use ears::{Ears, Heard, MAX_KEYS_HEARD};

use crate::outbox::Announced;
use ears::Ear;
use pending::Pending;

/// The longest key; a longer one is told as "anything".
pub const MAX_KEY: usize = 256;

/// What a bell is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Events were written; the key is the name of their stream.
    StateChanges,
    /// Jobs can be claimed or cancelled.
    Jobs,
    /// Somebody's live connections changed.
    Connections,
    /// Somebody's access changed.
    Access,
    /// Shards can be taken, or a poll was asked for or answered.
    Polling,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 5] =
        [Self::StateChanges, Self::Jobs, Self::Connections, Self::Access, Self::Polling];

    /// PostgreSQL's channel of this topic, and its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StateChanges => "state_changes",
            Self::Jobs => "mainstay_jobs",
            Self::Connections => "mainstay_connections",
            Self::Access => "mainstay_access",
            Self::Polling => "mainstay_polling",
        }
    }
}

/// Rings and is heard. A clone is the same bell.
#[derive(Debug, Clone)]
pub struct Doorbell {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ears: Mutex<Vec<Weak<Ear>>>,
    outside: Option<Outside>,
}

/// What other instances have yet to be told.
#[derive(Debug)]
struct Outside {
    pending: Mutex<Pending>,
    wake: Notify,
    /// Who rings: each bell says so. The number of a server process would not do, since another
    /// instance's session may have it next.
    instance: Id,
}

impl Doorbell {
    /// A bell; with `instance`, who rings it, when other instances are to be told too.
    pub(crate) fn new(instance: Option<Id>) -> Self {
        let outside = instance.map(|instance| {
            let (pending, wake) = (Mutex::default(), Notify::new());
            Outside { pending, wake, instance }
        });
        Self { shared: Arc::new(Shared { ears: Mutex::default(), outside }) }
    }

    /// Tells everybody who listens to `topic` about `key`: here at once, other instances within
    /// some milliseconds. It never waits and never fails.
    pub fn ring(&self, topic: Topic, key: &str) {
        self.tell_here(topic, key);
        self.tell_outside(|pending| pending.add(topic, key));
    }

    /// Hears of everything that is rung from now on.
    #[must_use]
    pub fn listen(&self, topic: Topic) -> Ears {
        let (ears, ear) = Ears::new(topic);
        let mut all = self.shared.ears.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|ear| ear.strong_count() > 0);
        all.push(ear);
        ears
    }

    /// Tells of committed events, here and outside.
    pub(crate) fn announce(&self, events: Vec<Announced>) {
        let mut last = None;
        for event in &events {
            if last != Some(event.stream) {
                self.tell_here(Topic::StateChanges, &event.stream.to_string());
                last = Some(event.stream);
            }
        }
        self.tell_outside(|pending| pending.announce(events));
    }

    /// Tells those who listen in this process.
    pub(crate) fn tell_here(&self, topic: Topic, key: &str) {
        self.each_ear(topic, |ear| ear.tell(key));
    }

    /// Tells those who listen in this process that anything may have changed.
    pub(crate) fn tell_anything_here(&self, topic: Topic) {
        self.each_ear(topic, Ear::tell_anything);
    }

    fn each_ear(&self, topic: Topic, tell: impl Fn(&Ear)) {
        let ears = self.shared.ears.lock().unwrap_or_else(PoisonError::into_inner);
        for ear in ears.iter().filter_map(Weak::upgrade).filter(|ear| ear.topic() == topic) {
            tell(&ear);
        }
    }

    fn tell_outside(&self, add: impl FnOnce(&mut Pending)) {
        if let Some(outside) = &self.shared.outside {
            add(&mut outside.pending.lock().unwrap_or_else(PoisonError::into_inner));
            outside.wake.notify_one();
        }
    }

    /// Waits for something to tell outside, and takes it.
    async fn pending(&self) -> Pending {
        loop {
            if let Some(pending) = self.take_pending() {
                return pending;
            }
            match &self.shared.outside {
                Some(outside) => outside.wake.notified().await,
                None => std::future::pending().await,
            }
        }
    }

    fn take_pending(&self) -> Option<Pending> {
        let outside = self.shared.outside.as_ref()?;
        let mut pending = outside.pending.lock().unwrap_or_else(PoisonError::into_inner);
        (!pending.is_empty()).then(|| std::mem::take(&mut *pending))
    }

    /// Who rings here, if anybody outside can hear it.
    fn instance(&self) -> Option<Id> {
        self.shared.outside.as_ref().map(|outside| outside.instance)
    }
}
