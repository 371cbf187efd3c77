//! The handle to the graph of this instance.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, Timestamp};
use mainstay_events::Events;
use mainstay_graph::Suggestion;
use mainstay_store::StoreError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::keeper::Keeper;
use super::picture::Picture;
use super::record::dismissals;
use super::shared::{Shared, blocking, to_the_end};
use super::view::GraphView;
use super::{show, then};
use crate::answer::{Answer, AnswerError};
use crate::past::PastMoment;
use crate::views::MISSING_SHOWN_FOR;

/// How long somebody who asks waits for the graph to be read for the first time.
const FIRST_LOAD: Duration = Duration::from_secs(10);

/// How long somebody who asks waits until the graph has heard of what the database tells already. Whoever is
/// told of what was before asks again only when something else happens.
const HEARING: Duration = Duration::from_secs(5);

/// The graph of this instance. A clone is the same handle.
#[derive(Clone)]
pub struct Graphs {
    pub(super) shared: Arc<Shared>,
}

/// What can be set.
#[derive(Debug, Clone, Copy)]
pub struct GraphsOptions {
    /// How long a dependency stays that its service does not report any more.
    pub missing_for: Duration,
    /// How often it is looked at what time changes, and how often the drawing is kept at most.
    pub tidy_every: Duration,
    /// How long after everything was read it is read again, for what no event told of.
    pub reload_every: Duration,
    /// How long it waits after an event for more of them.
    pub window: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphsError {
    /// The graph was not read yet.
    #[error("the graph is not read yet, as right after a start; ask again in a few seconds")]
    NotYet,
    /// There is no such service.
    #[error("there is no service with this id in the graph; it may have been removed")]
    NoService,
    /// There was no such service then.
    #[error(
        "there was no service with this id at {at}, or there is no record of it; ask without `service` to see what there was"
    )]
    NoServiceThen {
        /// The moment.
        at: Timestamp,
    },
    /// There was no such node then.
    #[error(
        "there was no such node at {at}, or there is no record of it; nodes are named as GET /api/graph?at= names them"
    )]
    NoNodeThen {
        /// The moment.
        at: Timestamp,
    },
    /// There is no such node.
    #[error("there is no such node in the graph; nodes are named as GET /api/graph names them")]
    NoNode,
    /// The answer could not be written out.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Default for GraphsOptions {
    fn default() -> Self {
        Self {
            missing_for: MISSING_SHOWN_FOR,
            tidy_every: Duration::from_secs(60),
            reload_every: Duration::from_mins(10),
            window: Duration::from_millis(50),
        }
    }
}

impl Graphs {
    /// Keeps the graph of the services in the database of `events` until `stop`.
    #[must_use]
    pub fn start(
        events: Events,
        clock: Arc<dyn Clock>,
        options: GraphsOptions,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let shared = Arc::new(Shared::new(events, clock, options));
        tasks.spawn(Keeper::new(Arc::clone(&shared), stop).run());
        Self { shared }
    }

    /// The graph as it is now, with what follows from it.
    ///
    /// # Errors
    /// [`GraphsError::NotYet`] right after a start while the database does not answer.
    pub async fn picture(&self) -> Result<Arc<Picture>, GraphsError> {
        self.ready().await?;
        let (shared, mut made) = (Arc::clone(&self.shared), self.shared.making().await);
        to_the_end(async move { shared.picture(&mut made).await }).await
    }

    /// The version of the graph once it has heard of this event, or as it is after a while; `None` while
    /// it was not read yet. It never goes back.
    pub(crate) async fn version(&self, told: i64) -> Option<u64> {
        for_a_while(self.shared.when_heard(told)).await;
        self.version_now()
    }

    /// The version of the graph as it is; `None` while it was not read yet.
    pub(crate) fn version_now(&self) -> Option<u64> {
        self.shared.is_ready().then(|| self.shared.graph().version())
    }

    /// The whole graph as an answer, written out once for each version.
    ///
    /// # Errors
    /// As [`Graphs::picture`].
    pub async fn whole(&self) -> Result<Arc<Answer>, GraphsError> {
        self.caught_up().await?;
        let (shared, mut made) = (Arc::clone(&self.shared), self.shared.making().await);
        to_the_end(async move { shared.whole(&mut made).await }).await
    }

    /// What stands near a service, as an answer.
    ///
    /// # Errors
    /// [`GraphsError::NoService`], or as [`Graphs::picture`].
    pub async fn around(&self, service: Id, depth: usize) -> Result<Answer, GraphsError> {
        self.caught_up().await?;
        let picture = self.picture().await?;
        let place = picture.snapshot.place_of(service).ok_or(GraphsError::NoService)?;
        Ok(Answer::written(move || show::around(&picture, place, depth)).await?)
    }

    /// The graph as it was at a moment, or what stood near a service then, as an answer. Whatever is still
    /// there stands where it is drawn now. Before there were records it is empty.
    ///
    /// # Errors
    /// [`GraphsError::NoServiceThen`], or as [`Graphs::picture`].
    pub async fn then(
        &self,
        moment: PastMoment,
        near: Option<(Id, usize)>,
    ) -> Result<Answer, GraphsError> {
        let (at, since) = (moment.at, moment.since);
        let (picture, ()) = self.looking_back(moment, |_, _| ()).await?;
        let is_recorded = since.is_some_and(|since| since <= at);
        let near = match near {
            Some((service, depth)) if is_recorded => {
                let place = picture.snapshot.place_of(service);
                Some((place.ok_or(GraphsError::NoServiceThen { at })?, depth))
            }
            // Nobody knows who was there: nothing is near, and nothing is wrong.
            Some(_) | None => None,
        };
        let answer = Answer::written(move || GraphView {
            at: Some(at),
            records_since: since,
            ..match near {
                Some((place, depth)) => show::around(&picture, place, depth),
                None => show::whole(&picture),
            }
        });
        Ok(answer.await?)
    }

    /// The graph of a moment, and what `look` finds in both.
    pub(crate) async fn looking_back<T: Send + 'static>(
        &self,
        moment: PastMoment,
        look: impl FnOnce(&Picture, &PastMoment) -> T + Send + 'static,
    ) -> Result<(Picture, T), GraphsError> {
        // Until then nobody knows where nodes are drawn now.
        self.ready().await?;
        let missing_for = self.shared.options.missing_for;
        let places = Arc::clone(&self.shared.drawing().places);
        blocking(move || {
            let picture = Picture::of(&then::graph(&moment, missing_for), &places);
            let found = look(&picture, &moment);
            (picture, found)
        })
        .await
    }

    /// Whom a node hurts when it fails, as an answer.
    ///
    /// # Errors
    /// [`GraphsError::NoNode`], or as [`Graphs::picture`].
    pub async fn impact(&self, node: &str) -> Result<Answer, GraphsError> {
        self.caught_up().await?;
        let picture = self.picture().await?;
        let place = show::find(&picture, node).ok_or(GraphsError::NoNode)?;
        Ok(Answer::written(move || show::impact(&picture, place)).await?)
    }

    /// Which external thing may be a service.
    ///
    /// # Errors
    /// When the database fails, or as [`Graphs::picture`].
    pub async fn suggestions(&self) -> Result<Arc<Vec<Suggestion>>, GraphsError> {
        self.ready().await?;
        let dismissed = Arc::new(dismissals::read(self.shared.events.db()).await?);
        let (shared, mut known) = (Arc::clone(&self.shared), self.shared.suggesting().await);
        to_the_end(async move { shared.suggest(&mut known, dismissed).await }).await
    }

    /// Waits until the graph has heard of all that is committed: whoever heard of an event and asks
    /// finds it in the answer.
    pub(crate) async fn caught_up(&self) -> Result<(), GraphsError> {
        self.ready().await?;
        for_a_while(async {
            if let Ok(told) = self.shared.events.told().await {
                self.shared.when_heard(told).await;
            }
        })
        .await;
        Ok(())
    }

    /// Waits until the graph was read for the first time.
    pub(crate) async fn ready(&self) -> Result<(), GraphsError> {
        match tokio::time::timeout(FIRST_LOAD, self.shared.when_ready()).await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(GraphsError::NotYet),
        }
    }
}

/// Waits for what the graph hears, and only so long: one that comes late is better than none.
async fn for_a_while(heard: impl Future<Output = ()>) {
    let _ = tokio::time::timeout(HEARING, heard).await;
}

impl std::fmt::Debug for Graphs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Graphs")
    }
}
