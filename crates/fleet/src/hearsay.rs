//! What providers say of machines whose agents answer: their own word for each, and what keeps them from saying it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_base::Moment;

use crate::decide::Look;
use crate::fleet::Fleet;
use crate::model::Worker;
use crate::observe::{no_word, seen};
use crate::providers::{Provider, ProviderError, ProviderKind, Sighting};

/// A provider is asked for all of its machines at most this often, however short a sweep is.
const ASKED_AGAIN: Duration = Duration::from_secs(10);

/// Hears what providers say, from one sweep to the next.
#[derive(Debug, Default)]
pub(crate) struct Ear {
    /// What kept Fly from answering, and when it was asked.
    last: Mutex<Option<(Moment, Option<String>)>>,
}

/// What a provider says of its machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hearsay {
    /// What keeps it from answering.
    pub(crate) trouble: Option<String>,
    /// Its word for what each machine does. One that is not there need not be gone.
    words: HashMap<String, String>,
}

impl Ear {
    /// What each provider says whose machines are asked by their agents alone: asked once for all of them, when
    /// the first of them is well.
    pub(crate) fn listen<'a>(
        &'a self,
        fleet: &'a Fleet,
    ) -> impl Fn(ProviderKind) -> BoxFuture<'a, Arc<Hearsay>> {
        let fly = self.hear_fly(fleet).map(Arc::new).boxed().shared();
        move |kind| match kind {
            ProviderKind::Fly => fly.clone().boxed(),
            ProviderKind::Process | ProviderKind::Sprite => {
                std::future::ready(Arc::default()).boxed()
            }
        }
    }

    async fn hear_fly(&self, fleet: &Fleet) -> Hearsay {
        let known = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = fleet.shared.clock.moment();
        let last = known().clone();
        if let Some((_, trouble)) = last.filter(|(at, _)| now.since(*at) < ASKED_AGAIN) {
            // What it said of its machines then may be of before an operation.
            return Hearsay::trouble(trouble);
        }
        let heard = fleet.hear_fly().await;
        *known() = Some((now, heard.trouble.clone()));
        heard
    }
}

impl Hearsay {
    /// That it answers, or not, and nothing of any machine.
    pub(crate) fn trouble(trouble: Option<String>) -> Self {
        Self { trouble, words: HashMap::new() }
    }

    /// A look with what the provider says beside it.
    pub(crate) fn beside(&self, worker: &Worker, found: Look) -> Look {
        let machine = worker.machine.as_ref();
        let word = machine.and_then(|machine| self.words.get(&machine.id)).cloned();
        let found = found.warned(self.trouble.clone());
        match word {
            Some(word) => found.while_it_is(word),
            None => found,
        }
    }
}

impl From<Vec<Sighting>> for Hearsay {
    fn from(seen: Vec<Sighting>) -> Self {
        let word = |seen: Sighting| (seen.machine.id, seen.provider_state);
        Self { trouble: None, words: seen.into_iter().map(word).collect() }
    }
}

impl Fleet {
    /// What Fly says of all its machines: one question for all of them, however many there are, where the other
    /// providers are asked for each.
    async fn hear_fly(&self) -> Hearsay {
        let kind = ProviderKind::Fly;
        let Some(provider) = self.shared.providers.of(kind) else { return Hearsay::default() };
        // Half of the time for each, so that both take no longer than one look.
        let limit = self.shared.pace.probe / 2;
        match tokio::time::timeout(limit, provider.list()).await {
            Ok(Ok(listed)) => listed.into(),
            // A list of all may be too long to come, where Fly itself is well.
            Err(_) | Ok(Err(ProviderError::Unreachable(_))) => {
                Hearsay::trouble(whether_it_answers(&**provider, limit).await)
            }
            Ok(Err(error)) => Hearsay::trouble(Some(error.to_string())),
        }
    }

    /// What the provider of one worker says of its machine, for whoever asks how that is.
    pub(crate) async fn hear_of(&self, worker: &Worker) -> Hearsay {
        let provider = self.shared.providers.of(worker.provider);
        let Some((provider, machine)) = provider.zip(worker.machine.as_ref()) else {
            return Hearsay::default();
        };
        let limit = self.shared.pace.probe;
        match tokio::time::timeout(limit, seen(&**provider, machine)).await {
            Ok(Ok(found)) => vec![found].into(),
            Ok(Err(error)) => Hearsay::trouble(Some(error.to_string())),
            Err(_) => Hearsay::trouble(Some(no_word(worker.provider, limit))),
        }
    }
}

async fn whether_it_answers(provider: &dyn Provider, limit: Duration) -> Option<String> {
    match tokio::time::timeout(limit, provider.answers()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => {
            let why = no_word(provider.kind(), limit);
            provider.gives_no_answer(why.clone());
            Some(why)
        }
    }
}
