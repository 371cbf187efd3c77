//! Polls that somebody asks this instance for, of services that another one polls: the request is
//! written down and rung for, the owner polls as if it had been asked itself, and writes the answer
//! down. So the service's lock, its host's bound and its breaker hold, whoever was asked.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, Timestamp};
use mainstay_events::{Ears, Events, Heard, Topic};
use mainstay_store::StoreError;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::record::requests::{self, Fate};
use super::tenure::Tenure;
use crate::engine::{Engine, PollNowError};
use crate::polling::{Answering, PollAnswer, Polling, ScheduleView};
use crate::roster::NotNow;
use crate::watch::ServiceNumber;

/// How long a request waits for its owner.
const CLAIMED_WITHIN: Duration = Duration::from_secs(7);
/// How long a request that was taken on waits for its answer: as long as a poll and its recording.
const ANSWERED_WITHIN: Duration = Duration::from_secs(75);
/// How often it is looked at, should a bell be lost.
const LOOK: Duration = Duration::from_millis(500);
/// How often requests of others are looked for, should a bell be lost.
const LOOK_FOR_OTHERS: Duration = Duration::from_secs(2);
/// The most requests of others that are polled at once.
const MOST_AT_ONCE: usize = 16;

const REQUEST_KEY: &str = "request";
const ANSWER_KEY: &str = "answer:";

/// Polls what people ask for, here or through the instance that owns it. A clone is the same one.
#[derive(Clone)]
pub struct Errands {
    events: Events,
    ids: IdSource,
    clock: Arc<dyn Clock>,
    engine: Engine,
    tenure: Tenure,
    at_once: Arc<Semaphore>,
}

/// An answer as it travels.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Told {
    Polled { answer: PollAnswer },
    NotWatched,
    InProgress,
    Busy { message: String },
    Stale,
    NotRecorded,
    Stopping,
}

impl Errands {
    /// Does the errands of other instances until the stop.
    #[must_use]
    pub fn start(
        events: Events,
        ids: IdSource,
        clock: Arc<dyn Clock>,
        engine: Engine,
        tenure: Tenure,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let at_once = Arc::new(Semaphore::new(MOST_AT_ONCE));
        let errands = Self { events, ids, clock, engine, tenure, at_once };
        if !errands.tenure.is_alone() {
            tasks.spawn(errands.clone().run(tasks.clone(), stop));
        }
        errands
    }

    async fn run(self, tasks: TaskTracker, stop: CancellationToken) {
        let mut ears = self.events.doorbell().listen(Topic::Polling);
        while !stop.is_cancelled() {
            if let Err(error) = self.serve(&tasks).await {
                tracing::debug!(%error, "polls that others ask for can't be looked up");
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = hears(&mut ears, |key| key == REQUEST_KEY) => {}
                () = tokio::time::sleep(LOOK_FOR_OTHERS) => {}
            }
        }
    }

    /// Takes on what is asked of services that are polled here.
    async fn serve(&self, tasks: &TaskTracker) -> Result<(), StoreError> {
        // Whoever asked longer ago waits no more.
        let waits = i64::try_from(CLAIMED_WITHIN.as_millis()).unwrap_or(i64::MAX);
        let since = self.clock.now().as_millis().saturating_sub(waits);
        let asked = requests::open(self.events.db(), Timestamp::from_millis(since)).await?;
        for (id, number) in asked {
            let number = ServiceNumber(number);
            let Some(me) = self.tenure.me().filter(|_| self.engine.watches(number)) else {
                // One that was made a moment ago may not have been read yet.
                self.engine.refresh();
                continue;
            };
            let Ok(permit) = Arc::clone(&self.at_once).try_acquire_owned() else { break };
            let claimed = self.events.db().write(async |tx| requests::claim(tx, id, me).await);
            if claimed.await? {
                let errands = self.clone();
                tasks.spawn(async move {
                    errands.run_one(id, number).await;
                    drop(permit);
                });
            }
        }
        Ok(())
    }

    async fn run_one(&self, id: Id, number: ServiceNumber) {
        let told = Told::from(self.engine.poll_now(number).await);
        // Plain texts and numbers: there is nothing in it that JSON can't hold.
        let text = serde_json::to_string(&told).unwrap_or_default();
        let bell = self.events.doorbell().clone();
        let written: Result<(), StoreError> = self
            .events
            .db()
            .write(async |tx| {
                requests::answer(tx, id, &text).await?;
                tx.after_commit(move || bell.ring(Topic::Polling, &answer_key(id)));
                Ok(())
            })
            .await;
        if let Err(error) = written {
            tracing::warn!(%error, "the answer to a poll that another instance asked for is lost");
        }
    }

    /// Has the owner of a service poll it, and waits for the answer.
    async fn ask(&self, number: ServiceNumber) -> Result<PollAnswer, PollNowError> {
        let id = self.ids.next();
        let mut ears = self.events.doorbell().listen(Topic::Polling);
        let bell = self.events.doorbell().clone();
        let asked = self.events.db().write(async |tx| {
            tx.after_commit(move || bell.ring(Topic::Polling, REQUEST_KEY));
            requests::ask(tx, id, number.0).await
        });
        if !asked.await.map_err(|error| not_asked(&error))? {
            return Err(NotNow::NotWatched.into());
        }
        let answer = self.wait(id, &mut ears).await;
        // What is left behind is swept by whoever asks next.
        let _: Result<_, StoreError> =
            self.events.db().write(async |tx| requests::forget(tx, id).await).await;
        answer
    }

    async fn wait(&self, id: Id, ears: &mut Ears) -> Result<PollAnswer, PollNowError> {
        let (key, began) = (answer_key(id), self.clock.moment());
        loop {
            tokio::select! {
                () = hears(ears, |heard| heard == key) => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            let waited = self.clock.moment().since(began);
            match requests::fate(self.events.db(), id).await.map_err(|error| not_asked(&error))? {
                Fate::Answered(text) => {
                    let told: Result<Told, _> = serde_json::from_str(&text);
                    return told.map_or(Err(PollNowError::NotAsked), Told::into_answer);
                }
                Fate::Open if waited >= CLAIMED_WITHIN => {
                    let withdrawn =
                        self.events.db().write(async |tx| requests::withdraw(tx, id).await);
                    if withdrawn.await.map_err(|error| not_asked(&error))? {
                        return Err(PollNowError::Nobody);
                    }
                }
                Fate::Open | Fate::Claimed if waited < ANSWERED_WITHIN => {}
                Fate::Open | Fate::Claimed | Fate::Abandoned | Fate::Gone => {
                    return Err(PollNowError::NotAsked);
                }
            }
        }
    }
}

impl Polling for Errands {
    fn schedule(&self, number: ServiceNumber) -> Option<ScheduleView> {
        self.engine.schedule(number)
    }

    fn poll_now(&self, number: ServiceNumber) -> Answering<'_, Result<PollAnswer, PollNowError>> {
        Box::pin(async move {
            match self.engine.poll_now(number).await {
                Err(PollNowError::NotNow(NotNow::NotWatched)) if !self.tenure.is_alone() => {
                    self.ask(number).await
                }
                answer => answer,
            }
        })
    }
}

impl From<Result<PollAnswer, PollNowError>> for Told {
    fn from(answer: Result<PollAnswer, PollNowError>) -> Self {
        match answer {
            Ok(answer) => Self::Polled { answer },
            Err(PollNowError::NotNow(NotNow::NotWatched) | PollNowError::Nobody) => {
                Self::NotWatched
            }
            Err(PollNowError::NotNow(NotNow::InProgress)) => Self::InProgress,
            Err(PollNowError::NotNow(NotNow::Busy(message))) => Self::Busy { message },
            Err(PollNowError::Stale) => Self::Stale,
            Err(PollNowError::Stopping) => Self::Stopping,
            Err(PollNowError::NotRecorded | PollNowError::NotAsked) => Self::NotRecorded,
        }
    }
}

impl Told {
    fn into_answer(self) -> Result<PollAnswer, PollNowError> {
        Err(match self {
            Self::Polled { answer } => return Ok(answer),
            // It was handed over in between.
            Self::NotWatched | Self::Stopping => PollNowError::Nobody,
            Self::InProgress => NotNow::InProgress.into(),
            Self::Busy { message } => NotNow::Busy(message).into(),
            Self::Stale => PollNowError::Stale,
            Self::NotRecorded => PollNowError::NotRecorded,
        })
    }
}

fn answer_key(id: Id) -> String {
    format!("{ANSWER_KEY}{id}")
}

fn not_asked(error: &StoreError) -> PollNowError {
    tracing::warn!(%error, "the instance that polls a service can't be asked");
    PollNowError::NotAsked
}

async fn hears(ears: &mut Ears, is_meant: impl Fn(&str) -> bool) {
    loop {
        match ears.heard().await {
            Heard::Anything => return,
            Heard::Keys(keys) if keys.iter().any(|key| is_meant(key)) => return,
            Heard::Keys(_) => {}
        }
    }
}

impl std::fmt::Debug for Errands {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Errands")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_owner_says_is_what_the_other_tells() {
        let answer = PollAnswer {
            success: true,
            dependencies_updated: 2,
            status_changes: Vec::new(),
            latency_ms: 1.25,
            error: None,
            warnings: vec!["index 3: no name".to_owned()],
        };
        let busy = NotNow::Busy("later".to_owned());
        for (said, told) in [
            (Ok(answer.clone()), Ok(answer)),
            (Err(NotNow::InProgress.into()), Err(NotNow::InProgress.into())),
            (Err(busy.clone().into()), Err(busy.into())),
            (Err(PollNowError::Stale), Err(PollNowError::Stale)),
            (Err(PollNowError::NotRecorded), Err(PollNowError::NotRecorded)),
            (Err(NotNow::NotWatched.into()), Err(PollNowError::Nobody)),
            (Err(PollNowError::Stopping), Err(PollNowError::Nobody)),
            (Err(PollNowError::Nobody), Err(PollNowError::Nobody)),
        ] {
            let text = serde_json::to_string(&Told::from(said)).unwrap();
            let read: Told = serde_json::from_str(&text).unwrap();
            assert_eq!(read.into_answer(), told, "{text}");
        }
    }
}
