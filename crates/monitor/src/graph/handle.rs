//! The handle to the graph of this instance.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Id, Timestamp};
use mainstay_events::Events;
use mainstay_graph::components::{self, Components};
use mainstay_graph::suggest::{self, Clues, Dismissed};
use mainstay_graph::{Graph, Places, Snapshot, Suggestion, layout};
use mainstay_store::StoreError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::keeper::Keeper;
use super::measure;
use super::picture::Picture;
use super::record::dismissals;
use super::view::GraphView;
use super::{show, then};
use crate::answer::{Answer, AnswerError};
use crate::past::PastMoment;
use crate::views::MISSING_SHOWN_FOR;

/// How long somebody who asks waits for the graph to be read for the first time.
const FIRST_LOAD: Duration = Duration::from_secs(10);

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

pub(super) struct Shared {
    pub(super) events: Events,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: GraphsOptions,
    graph: Mutex<Graph>,
    drawing: Mutex<Drawing>,
    /// Whether the graph was read.
    ready: watch::Sender<bool>,
    /// What was made of the newest version that anybody asked for. Who comes meanwhile waits for it.
    made: tokio::sync::Mutex<Made>,
}

/// Where nodes are drawn.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    pub(super) places: Arc<Places>,
    /// The version of nodes and edges that they are of; `None` for places from elsewhere.
    topology: Option<u64>,
    /// Counts places from elsewhere.
    adopted: u64,
    /// The version of the row that they were last the same as.
    pub(super) row: i64,
    /// The places that the row holds.
    pub(super) stored: Arc<Places>,
}

#[derive(Debug, Default)]
struct Made {
    picture: Option<(Version, Arc<Picture>)>,
    whole: Option<(Version, Arc<Answer>)>,
    suggestions: Option<(Version, Arc<Dismissed>, Arc<Vec<Suggestion>>)>,
}

/// A version of the graph, and of a drawing from elsewhere.
type Version = (u64, u64);

impl Default for GraphsOptions {
    fn default() -> Self {
        Self { missing_for: MISSING_SHOWN_FOR, tidy_every: Duration::from_secs(60) }
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
        let shared = Arc::new(Shared {
            events,
            clock,
            options,
            graph: Mutex::default(),
            drawing: Mutex::default(),
            ready: watch::Sender::new(false),
            made: tokio::sync::Mutex::default(),
        });
        tasks.spawn(Keeper::new(Arc::clone(&shared), stop).run());
        Self { shared }
    }

    /// The graph as it is now, with what follows from it.
    ///
    /// # Errors
    /// [`GraphsError::NotYet`] right after a start while the database does not answer.
    pub async fn picture(&self) -> Result<Arc<Picture>, GraphsError> {
        self.ready().await?;
        let mut made = self.shared.made.lock().await;
        self.shared.picture(&mut made).await
    }

    /// The whole graph as an answer, written out once for each version.
    ///
    /// # Errors
    /// As [`Graphs::picture`].
    pub async fn whole(&self) -> Result<Arc<Answer>, GraphsError> {
        self.ready().await?;
        let mut made = self.shared.made.lock().await;
        let picture = self.shared.picture(&mut made).await?;
        let version = made.picture.as_ref().map(|(version, _)| *version);
        if let (Some((known, answer)), Some(version)) = (&made.whole, version)
            && *known == version
        {
            return Ok(Arc::clone(answer));
        }
        let answer = Arc::new(Answer::written(move || show::whole(&picture)).await?);
        made.whole = version.map(|version| (version, Arc::clone(&answer)));
        Ok(answer)
    }

    /// What stands near a service, as an answer.
    ///
    /// # Errors
    /// [`GraphsError::NoService`], or as [`Graphs::picture`].
    pub async fn around(&self, service: Id, depth: usize) -> Result<Answer, GraphsError> {
        let picture = self.picture().await?;
        let place = picture.snapshot.place_of(service).ok_or(GraphsError::NoService)?;
        Ok(Answer::written(move || show::around(&picture, place, depth)).await?)
    }

    /// The graph as it was at a moment, or what stood near a service then, as an answer. Whatever is still
    /// there stands where it is drawn now.
    ///
    /// # Errors
    /// [`GraphsError::NoServiceThen`], or when the answer could not be written out.
    pub async fn then(
        &self,
        moment: PastMoment,
        near: Option<(Id, usize)>,
    ) -> Result<Answer, GraphsError> {
        let missing_for = self.shared.options.missing_for;
        let places = Arc::clone(&self.shared.drawing().places);
        let (at, since) = (moment.at, moment.since);
        let painting = move || Picture::of(&then::graph(&moment, missing_for), &places);
        let picture = blocking(painting).await?;
        let near = match near {
            Some((service, depth)) => {
                let place = picture.snapshot.place_of(service);
                Some((place.ok_or(GraphsError::NoServiceThen { at })?, depth))
            }
            None => None,
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

    /// Whom a node hurts when it fails, as an answer.
    ///
    /// # Errors
    /// [`GraphsError::NoNode`], or as [`Graphs::picture`].
    pub async fn impact(&self, node: &str) -> Result<Answer, GraphsError> {
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
        let mut made = self.shared.made.lock().await;
        let version = (self.shared.graph().version(), 0);
        if let Some((known, known_dismissed, found)) = &made.suggestions
            && (*known, known_dismissed) == (version, &dismissed)
        {
            return Ok(Arc::clone(found));
        }
        let (shared, but) = (Arc::clone(&self.shared), Arc::clone(&dismissed));
        let found = blocking(move || {
            let clues = Clues::of(&shared.graph());
            suggest::find(&clues, &but)
        });
        let found = Arc::new(found.await?);
        made.suggestions = Some((version, dismissed, Arc::clone(&found)));
        Ok(found)
    }

    async fn ready(&self) -> Result<(), GraphsError> {
        let mut ready = self.shared.ready.subscribe();
        let waiting = ready.wait_for(|is_ready| *is_ready);
        match tokio::time::timeout(FIRST_LOAD, waiting).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(GraphsError::NotYet),
        }
    }
}

impl Shared {
    /// The graph was read.
    pub(super) fn set_ready(&self) {
        self.ready.send_replace(true);
    }

    /// The graph, for as short as possible.
    pub(super) fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where nodes are drawn.
    pub(super) fn drawing(&self) -> MutexGuard<'_, Drawing> {
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over a drawing that another instance made, or an earlier start.
    pub(super) fn adopt(&self, row: i64, places: Places) {
        let places = Arc::new(places);
        let mut drawing = self.drawing();
        drawing.stored = Arc::clone(&places);
        drawing.places = places;
        drawing.topology = None;
        drawing.adopted = drawing.adopted.saturating_add(1);
        drawing.row = row;
    }

    async fn picture(self: &Arc<Self>, made: &mut Made) -> Result<Arc<Picture>, GraphsError> {
        let version = (self.graph().version(), self.drawing().adopted);
        if let Some((known, picture)) = &made.picture
            && *known == version
        {
            return Ok(Arc::clone(picture));
        }
        let shared = Arc::clone(self);
        let (version, picture) = blocking(move || shared.paint()).await?;
        made.picture = Some((version, Arc::clone(&picture)));
        Ok(picture)
    }

    /// Makes the picture of the graph as it is now.
    fn paint(&self) -> (Version, Arc<Picture>) {
        let began = self.clock.moment();
        let snapshot = self.graph().snapshot();
        let components = components::find(&snapshot);
        let (places, adopted) = self.draw(&snapshot, &components);
        let version = (snapshot.version(), adopted);
        let picture = Arc::new(Picture::with(snapshot, components, places));
        measure::pictured(self.clock.moment().since(began));
        (version, picture)
    }

    /// The places of these nodes, and of which drawing from elsewhere they are.
    fn draw(&self, snapshot: &Snapshot, components: &Components) -> (Arc<Places>, u64) {
        let topology = Some(snapshot.topology());
        let (previous, known, adopted) = {
            let drawing = self.drawing();
            (Arc::clone(&drawing.places), drawing.topology, drawing.adopted)
        };
        if known == topology {
            return (previous, adopted);
        }
        let places = Arc::new(layout::place_in(snapshot, components, &previous));
        let mut drawing = self.drawing();
        if drawing.adopted == adopted {
            drawing.places = Arc::clone(&places);
            drawing.topology = topology;
        }
        (places, adopted)
    }
}

/// Work that takes some milliseconds stays off the threads that answer everybody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GraphsError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| AnswerError::Stopping.into())
}

impl std::fmt::Debug for Graphs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Graphs")
    }
}
