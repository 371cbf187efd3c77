//! A provider whose trouble is remembered, for whoever wonders why nothing moves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Id, Timestamp};

use super::{
    Departure, Machine, Order, Outcome, Provider, ProviderError, ProviderKind, Rest, Sighting,
};

/// What keeps a provider from doing what it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderTrouble {
    /// The word for it: `denied`, `unreachable` or `invalid`.
    pub code: &'static str,
    /// The same for people, with the provider's own words.
    pub detail: String,
    /// Since when it is so.
    pub since: Timestamp,
    /// When it was asked last; nobody asks when there is nothing to ask for.
    pub asked_at: Timestamp,
}

/// A provider whose trouble is remembered until it answers again.
pub(super) struct Watched {
    provider: Arc<dyn Provider>,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<ProviderTrouble>>,
}

/// What an answer tells of the provider itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Well,
    Trouble,
    Nothing,
}

impl Watched {
    pub(super) fn new(provider: Arc<dyn Provider>, clock: Arc<dyn Clock>) -> Self {
        Self { provider, clock, last: Mutex::default() }
    }

    /// Hears what comes of asking about one machine.
    fn hear<'a, T: Send + 'a>(&'a self, asked: Outcome<'a, T>) -> Outcome<'a, T> {
        Box::pin(async move {
            let ended = asked.await;
            self.remember(ended.as_ref().err(), word);
            ended
        })
    }

    /// Hears what comes of asking for a list, which can't be wrong by itself: a no is one to the settings.
    fn hear_list<'a, T: Send + 'a>(&'a self, asked: Outcome<'a, T>) -> Outcome<'a, T> {
        Box::pin(async move {
            let ended = asked.await;
            self.remember(ended.as_ref().err(), |error| match error {
                ProviderError::Invalid(_) => Word::Trouble,
                other => word(other),
            });
            ended
        })
    }

    fn remember(&self, error: Option<&ProviderError>, word: impl Fn(&ProviderError) -> Word) {
        let mut last = self.last();
        match error.map_or((None, Word::Well), |error| (Some(error), word(error))) {
            (_, Word::Well) => *last = None,
            (Some(error), Word::Trouble) => {
                let now = self.clock.now();
                let since = last.as_ref().map_or(now, |known| known.since);
                let told = || ProviderTrouble {
                    code: error.code(),
                    detail: error.to_string(),
                    since,
                    asked_at: now,
                };
                // That it is left alone says less than why.
                match (error, &mut *last) {
                    (ProviderError::LeftAlone { .. }, Some(_)) => {}
                    (_, known) => *known = Some(told()),
                }
            }
            (_, Word::Trouble | Word::Nothing) => {}
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<ProviderTrouble>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn word(error: &ProviderError) -> Word {
    match error {
        ProviderError::Gone(_) | ProviderError::Conflict { .. } => Word::Well,
        ProviderError::Denied(_)
        | ProviderError::Unreachable(_)
        | ProviderError::LeftAlone { .. } => Word::Trouble,
        // That it is asked too often ends at once, and what it refuses may be one order.
        ProviderError::Throttled { .. }
        | ProviderError::Ambiguous(_)
        | ProviderError::Invalid(_) => Word::Nothing,
    }
}

impl Provider for Watched {
    fn kind(&self) -> ProviderKind {
        self.provider.kind()
    }

    fn create<'a>(&'a self, order: &'a Order) -> Outcome<'a, Machine> {
        self.hear(self.provider.create(order))
    }

    fn look<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Sighting> {
        self.hear(self.provider.look(machine))
    }

    fn wait<'a>(
        &'a self,
        machine: &'a Machine,
        rest: Rest,
        limit: Duration,
    ) -> Outcome<'a, Sighting> {
        self.hear(self.provider.wait(machine, rest, limit))
    }

    fn start<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Machine> {
        self.hear(self.provider.start(machine))
    }

    fn stop<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, ()> {
        self.hear(self.provider.stop(machine))
    }

    fn destroy<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Departure> {
        self.hear(self.provider.destroy(machine))
    }

    fn list(&self) -> Outcome<'_, Vec<Sighting>> {
        self.hear_list(self.provider.list())
    }

    fn list_of(&self, worker: Id) -> Outcome<'_, Vec<Sighting>> {
        self.hear_list(self.provider.list_of(worker))
    }

    fn makes_at_once(&self) -> bool {
        self.provider.makes_at_once()
    }

    fn policy(&self) -> Option<&str> {
        self.provider.policy()
    }

    fn answers(&self) -> Outcome<'_, ()> {
        self.hear_list(self.provider.answers())
    }

    fn gives_no_answer(&self, why: String) {
        self.remember(Some(&ProviderError::Unreachable(why)), word);
    }

    fn trouble(&self) -> Option<ProviderTrouble> {
        self.last().clone()
    }
}
