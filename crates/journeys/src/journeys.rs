//! The handle to the room: what people ask of the journeys that are kept.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Id, IdSource, Timestamp, replace_nul};
use mainstay_events::{Events, Outbox};
use mainstay_jobs::{Jobs, JobsError, Kind, NewJob};
use mainstay_store::{Db, Tx};
use serde_json::json;

use crate::announce::{self, Edit};
use crate::decide::{self, Place};
use crate::error::JourneysError;
use crate::kept::{
    CheckedJourney, FailingJourney, JourneyCheck, JourneyDetail, JourneyView, MAX_JOURNEYS,
    MAX_PAGE, RunDetail, RunView, Trigger,
};
use crate::model::Journey;
use crate::record::journeys::{self, Defined};
use crate::record::runs::{self, NewRun};
use crate::record::state;

/// The kind of job that runs a journey.
pub const JOURNEY: &str = "journey";
/// A run is begun once: what it has sent would be sent again. The next one comes soon enough.
const ATTEMPTS: u32 = 1;
/// Somebody waits for a run by hand: it goes before all that are only due.
const BY_HAND: i32 = -10;

/// What the room works with.
pub struct JourneysOptions {
    /// The streams, with the database.
    pub events: Events,
    /// The queue.
    pub jobs: Jobs,
    /// Where ids come from.
    pub ids: IdSource,
    /// The names of the secrets that are set.
    pub secret_names: BTreeSet<String>,
}

/// The room. A clone is the same handle.
#[derive(Clone)]
pub struct Journeys {
    pub(crate) shared: Arc<JourneysOptions>,
}

/// A source without a mistake, and what the room keeps beside it. To read one takes a while, so that it is done
/// before there is a transaction in which others would wait for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSource {
    name: String,
    every_ms: Option<i64>,
    touches: Vec<String>,
    source: String,
}

/// An edit; what is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JourneyEdit {
    /// Another source.
    pub source: Option<ReadSource>,
    /// Whether it runs on its schedule.
    pub is_enabled: Option<bool>,
    /// The generation that was looked at: another one refuses the edit.
    pub generation: Option<i64>,
}

/// A journey that was edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedJourney {
    /// Which.
    pub id: Id,
    /// Its name.
    pub name: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T, P = Id> {
    /// The items.
    pub items: Vec<T>,
    /// The last of them, when there are more.
    pub next: Option<P>,
}

impl Journeys {
    /// Opens the room.
    #[must_use]
    pub fn new(options: JourneysOptions) -> Self {
        Self { shared: Arc::new(options) }
    }

    /// Looks a source over.
    #[must_use]
    pub fn check(&self, source: &str) -> JourneyCheck {
        match Journey::parse(&replace_nul(source)) {
            Err(mistakes) => JourneyCheck { mistakes, journey: None, warnings: Vec::new() },
            Ok(journey) => {
                let mistakes = journey.unattended(source);
                let warnings = self.warnings_of(&journey, source);
                let journey = Some(self.checked(journey)).filter(|_| mistakes.is_empty());
                JourneyCheck { mistakes, journey, warnings }
            }
        }
    }

    /// What of a journey is no mistake, and still keeps its runs from working here.
    #[must_use]
    pub fn warnings(&self, source: &str) -> Vec<String> {
        // One that this version can't read says so by its runs.
        Journey::parse(source).map(|journey| self.warnings_of(&journey, source)).unwrap_or_default()
    }

    /// A page of journeys, the failing ones first, then the newest: those in which every word of `search` is
    /// found.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(
        &self,
        search: &str,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Listed<JourneyView, Place>, JourneysError> {
        let limit = usize::try_from(limit.clamp(1, MAX_PAGE)).unwrap_or(usize::MAX);
        let entries = journeys::entries(self.db(), MAX_JOURNEYS).await?;
        let (ids, next) = decide::page(&entries, search, after, limit);
        Ok(Listed { items: journeys::of(self.db(), &ids).await?, next })
    }

    /// A journey with its source.
    ///
    /// # Errors
    /// [`JourneysError::NotFound`], or when the database fails.
    pub async fn find(&self, id: Id) -> Result<JourneyDetail, JourneysError> {
        journeys::find(self.db(), id).await?.ok_or(JourneysError::NotFound)
    }

    /// The journeys that are failing, the longest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn failing(&self) -> Result<Vec<FailingJourney>, JourneysError> {
        journeys::failing(self.db(), MAX_JOURNEYS).await
    }

    /// Keeps a journey; its first run is due at once.
    ///
    /// # Errors
    /// [`JourneysError::NameTaken`], [`JourneysError::TooMany`], or when the database fails.
    pub async fn create(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        source: &ReadSource,
        is_enabled: bool,
    ) -> Result<EditedJourney, JourneysError> {
        let (id, now) = (self.shared.ids.next(), tx.now().await?);
        journeys::insert(tx, id, &source.defined(is_enabled, now), now).await?;
        announce::edited(out, id, &source.name, Edit::Created)?;
        Ok(EditedJourney { id, name: source.name.clone() })
    }

    /// Edits a journey. One whose interval is another, or that is switched on, is due at once.
    ///
    /// # Errors
    /// As [`Journeys::create`], [`JourneysError::NotFound`], or [`JourneysError::Changed`].
    pub async fn change(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        id: Id,
        edit: JourneyEdit,
    ) -> Result<EditedJourney, JourneysError> {
        let JourneyDetail { journey: before, source } =
            journeys::find_locked(tx, id).await?.ok_or(JourneysError::NotFound)?;
        if edit.generation.is_some_and(|seen| seen != before.generation) {
            return Err(JourneysError::Changed { generation: before.generation });
        }
        // It may be one that this version can't read any more, and still has to be switched off.
        let told = edit.source.unwrap_or_else(|| ReadSource {
            name: before.name.clone(),
            every_ms: before.every_ms,
            touches: before.touches.clone(),
            source,
        });
        let is_enabled = edit.is_enabled.unwrap_or(before.is_enabled);
        let now = tx.now().await?;
        let stays = before.is_enabled && before.every_ms == told.every_ms;
        let planned = before.next_run_at.filter(|_| stays).unwrap_or(now);
        let defined = told.defined(is_enabled, planned);
        if !journeys::update(tx, (id, before.generation), &defined, now).await? {
            let generation = before.generation.saturating_add(1);
            return Err(JourneysError::Changed { generation });
        }
        let (name, touches) = (told.name.clone(), told.touches.clone());
        let after = JourneyView { name, touches, is_enabled, ..before.clone() };
        state::tell_turn(tx, out, &before, Some(&after)).await?;
        announce::edited(out, id, &told.name, Edit::Updated)?;
        Ok(EditedJourney { id, name: told.name })
    }

    /// Removes a journey with its runs; one that is under way is ended.
    ///
    /// # Errors
    /// [`JourneysError::NotFound`], or when the database fails.
    pub async fn remove(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        id: Id,
    ) -> Result<EditedJourney, JourneysError> {
        journeys::find_in(tx, id).await?.ok_or(JourneysError::NotFound)?;
        if let Some((_, Some(job))) = runs::unfinished(tx, id).await? {
            match self.shared.jobs.cancel(tx, out, job).await {
                Ok(_) | Err(JobsError::AlreadyFinished | JobsError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // Now that its job is held: how it is may have changed meanwhile.
        let found = journeys::find_locked(tx, id).await?.ok_or(JourneysError::NotFound)?.journey;
        state::tell_turn(tx, out, &found, None).await?;
        if !journeys::remove(tx, id).await? {
            return Err(JourneysError::NotFound);
        }
        let name = found.name;
        announce::edited(out, id, &name, Edit::Removed)?;
        Ok(EditedJourney { id, name })
    }

    /// Runs a journey now, whatever its schedule says.
    ///
    /// # Errors
    /// [`JourneysError::NotFound`], [`JourneysError::InProgress`], or when the database fails.
    pub async fn run_now(&self, tx: &mut Tx, id: Id) -> Result<RunView, JourneysError> {
        let found = journeys::find_in(tx, id).await?.ok_or(JourneysError::NotFound)?;
        let generation = found.journey.generation;
        match self.begin(tx, id, generation, Trigger::Manual).await? {
            Some(run) => runs::find_in(tx, run).await?.ok_or(JourneysError::NoRun),
            None => {
                let run = runs::unfinished(tx, id).await?.map(|(run, _)| run);
                Err(JourneysError::InProgress { run })
            }
        }
    }

    /// A page of a journey's runs, the newest first.
    ///
    /// # Errors
    /// [`JourneysError::NotFound`], or when the database fails.
    pub async fn runs(
        &self,
        id: Id,
        after: Option<Id>,
        limit: u32,
    ) -> Result<Listed<RunView>, JourneysError> {
        let limit = limit.clamp(1, MAX_PAGE);
        let found = runs::list(self.db(), id, after, i64::from(limit).saturating_add(1)).await?;
        if found.is_empty() && journeys::find(self.db(), id).await?.is_none() {
            return Err(JourneysError::NotFound);
        }
        Ok(Listed::cut(found, limit, |run| run.id))
    }

    /// A run with what came of each step.
    ///
    /// # Errors
    /// [`JourneysError::NoRun`], or when the database fails.
    pub async fn run(&self, id: Id) -> Result<RunDetail, JourneysError> {
        runs::find(self.db(), id).await?.ok_or(JourneysError::NoRun)
    }

    /// Queues a run, unless one has not ended. The job comes first: whoever ends a run holds it before
    /// the journey, too.
    pub(crate) async fn begin(
        &self,
        tx: &mut Tx,
        journey: Id,
        generation: i64,
        trigger: Trigger,
    ) -> Result<Option<Id>, JourneysError> {
        let id = self.shared.ids.next();
        let payload = json!({"journey_id": journey, "run_id": id});
        let mut job = NewJob::new(Kind::new(JOURNEY).map_err(JobsError::from)?, payload)
            .about(journey.to_string());
        job.max_attempts = ATTEMPTS;
        if trigger == Trigger::Manual {
            job.priority = BY_HAND;
        }
        let queued = self.shared.jobs.enqueue(tx, job).await?;
        if !queued.is_new {
            return Ok(None);
        }
        let job = Some(queued.id);
        runs::insert(tx, &NewRun { id, journey, job, generation, trigger, message: None }).await?;
        Ok(Some(id))
    }

    pub(crate) fn db(&self) -> &Db {
        self.shared.events.db()
    }

    fn missing_secrets(&self, journey: &Journey) -> Vec<String> {
        journey.secrets.difference(&self.shared.secret_names).cloned().collect()
    }

    fn warnings_of(&self, journey: &Journey, source: &str) -> Vec<String> {
        let secrets = self.missing_secrets(journey);
        let secrets = secrets.iter().map(|name| {
            format!("The secret {name} is not set here, so that every run fails. Set MAINSTAY_SECRET_{name}.")
        });
        let vars = journey.missing_vars().into_iter().map(|name| {
            format!("The variable {name} has no value, so that every run here fails. Give it one.")
        });
        let doubts = journey.doubts(source).into_iter().map(|doubt| format!("At {doubt}."));
        secrets.chain(vars).chain(doubts).collect()
    }

    fn checked(&self, journey: Journey) -> CheckedJourney {
        CheckedJourney {
            every_ms: every_ms(&journey),
            missing_secrets: self.missing_secrets(&journey),
            missing_vars: journey.missing_vars(),
            steps: journey.steps.into_iter().map(|step| step.id).collect(),
            name: journey.name,
            touches: journey.touches,
        }
    }
}

impl<T> Listed<T> {
    /// Made from one row more than was asked for.
    fn cut(mut items: Vec<T>, limit: u32, id: impl Fn(&T) -> Id) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| has_more).map(id);
        Self { items, next }
    }
}

impl ReadSource {
    /// Reads a source.
    ///
    /// # Errors
    /// [`JourneysError::Mistakes`].
    pub fn read(source: &str) -> Result<Self, JourneysError> {
        let source = replace_nul(source).into_owned();
        let journey = Journey::parse(&source).map_err(JourneysError::Mistakes)?;
        let mistakes = journey.unattended(&source);
        if !mistakes.is_empty() {
            return Err(JourneysError::Mistakes(mistakes));
        }
        let every_ms = every_ms(&journey);
        Ok(Self { name: journey.name, every_ms, touches: journey.touches, source })
    }

    fn defined(&self, is_enabled: bool, planned: Timestamp) -> Defined<'_> {
        Defined {
            name: &self.name,
            source: &self.source,
            is_enabled,
            every_ms: self.every_ms,
            touches: &self.touches,
            next_run_at: self.every_ms.filter(|_| is_enabled).map(|_| planned),
        }
    }
}

fn every_ms(journey: &Journey) -> Option<i64> {
    journey.every.map(|every: Duration| i64::try_from(every.as_millis()).unwrap_or(i64::MAX))
}

/// The first time of a schedule after now: what was missed is not made up, and the beat stays.
pub(crate) fn next_after(due: Timestamp, every_ms: i64, now: Timestamp) -> Timestamp {
    let every = every_ms.max(1);
    let late = now.as_millis().saturating_sub(due.as_millis()).max(0);
    let steps = (late / every).saturating_add(1);
    Timestamp::from_millis(due.as_millis().saturating_add(steps.saturating_mul(every)))
}

impl fmt::Debug for JourneysOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JourneysOptions")
    }
}

impl fmt::Debug for Journeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Journeys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_runs_are_not_made_up_and_the_beat_stays() {
        let at = Timestamp::from_millis;
        for (due, now, next) in
            [(0, 0, 10), (0, 9, 10), (0, 10, 20), (3, 47, 53), (5, 4, 15), (0, 1_000, 1_010)]
        {
            assert_eq!(next_after(at(due), 10, at(now)), at(next), "{due} {now}");
        }
    }
}
