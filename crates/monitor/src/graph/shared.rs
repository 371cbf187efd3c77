//! What the handle and the keeper share, and what is made of it for whoever asks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_events::Events;
use mainstay_graph::components::{self, Components};
use mainstay_graph::suggest::{self, Clues, Dismissed};
use mainstay_graph::{Graph, Places, Snapshot, Suggestion, layout};
use tokio::sync::{OwnedMutexGuard, watch};

use super::handle::{GraphsError, GraphsOptions};
use super::picture::Picture;
use super::{measure, show};
use crate::answer::{Answer, AnswerError};

pub(super) struct Shared {
    pub(super) events: Events,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: GraphsOptions,
    graph: Mutex<Graph>,
    drawing: Mutex<Drawing>,
    /// Whether the graph was read.
    ready: watch::Sender<bool>,
    /// Up to which event of the organisation's stream the graph is true.
    heard: watch::Sender<i64>,
    /// When the graph was last brought up to date.
    true_at: Mutex<Moment>,
    /// What was made of the newest version that anybody asked for. Who comes meanwhile waits for it.
    made: Arc<tokio::sync::Mutex<Made>>,
    /// The same of suggestions: whoever wants the graph does not wait for them.
    suggested: Arc<tokio::sync::Mutex<Option<Suggested>>>,
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

/// What was made of a version.
#[derive(Debug, Default)]
pub(super) struct Made {
    picture: Option<(Version, Arc<Picture>)>,
    whole: Option<(Version, Arc<Answer>)>,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Suggested {
    /// Of which names, hosts and links.
    clues: u64,
    but: Arc<Dismissed>,
    found: Arc<Vec<Suggestion>>,
}

/// A version of the graph, and of a drawing from elsewhere.
type Version = (u64, u64);

impl Shared {
    pub(super) fn new(events: Events, clock: Arc<dyn Clock>, options: GraphsOptions) -> Self {
        Self {
            events,
            options,
            graph: Mutex::default(),
            drawing: Mutex::default(),
            ready: watch::Sender::new(false),
            heard: watch::Sender::new(-1),
            true_at: Mutex::new(clock.moment()),
            clock,
            made: Arc::default(),
            suggested: Arc::default(),
        }
    }

    /// The graph was read.
    pub(super) fn set_ready(&self) {
        self.ready.send_replace(true);
    }

    /// Waits until the graph was read; false when that will not be.
    pub(super) async fn when_ready(&self) -> bool {
        self.ready.subscribe().wait_for(|is_ready| *is_ready).await.is_ok()
    }

    /// Whether the graph was read.
    pub(super) fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// The graph is true up to this event.
    pub(super) fn note_heard(&self, seq: i64) {
        self.heard.send_replace(seq);
    }

    /// Waits until the graph is true up to this event.
    pub(super) async fn when_heard(&self, seq: i64) {
        // The sender lives as long as whoever waits.
        drop(self.heard.subscribe().wait_for(|heard| *heard >= seq).await);
    }

    /// The graph was brought up to date.
    pub(super) fn note_true(&self) {
        *self.true_at.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.moment();
    }

    /// How long ago the graph was brought up to date.
    pub(super) fn age(&self) -> Duration {
        let true_at = *self.true_at.lock().unwrap_or_else(PoisonError::into_inner);
        self.clock.moment().since(true_at)
    }

    /// What is made of the graph, for one who makes it.
    pub(super) async fn making(&self) -> OwnedMutexGuard<Made> {
        Arc::clone(&self.made).lock_owned().await
    }

    /// What is suggested, for one who finds it.
    pub(super) async fn suggesting(&self) -> OwnedMutexGuard<Option<Suggested>> {
        Arc::clone(&self.suggested).lock_owned().await
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

    /// The picture of the graph as it is now.
    pub(super) async fn picture(
        self: &Arc<Self>,
        made: &mut Made,
    ) -> Result<Arc<Picture>, GraphsError> {
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

    /// The whole graph as it is now.
    pub(super) async fn whole(
        self: &Arc<Self>,
        made: &mut Made,
    ) -> Result<Arc<Answer>, GraphsError> {
        let picture = self.picture(made).await?;
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

    /// What may be what, `but` for what was dismissed.
    pub(super) async fn suggest(
        self: &Arc<Self>,
        known: &mut Option<Suggested>,
        but: Arc<Dismissed>,
    ) -> Result<Arc<Vec<Suggestion>>, GraphsError> {
        let clues = self.graph().clues();
        if let Some(known) = known
            && (known.clues, &known.but) == (clues, &but)
        {
            return Ok(Arc::clone(&known.found));
        }
        let (shared, dismissed) = (Arc::clone(self), Arc::clone(&but));
        let finding = move || {
            // Whoever waits for the graph waits for the copy alone.
            let (clues, gathered) = {
                let graph = shared.graph();
                (graph.clues(), Clues::of(&graph))
            };
            (clues, suggest::find(&gathered, &dismissed))
        };
        let (clues, found) = blocking(finding).await?;
        let found = Arc::new(found);
        *known = Some(Suggested { clues, but, found: Arc::clone(&found) });
        Ok(found)
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

/// Work that others wait for is done even when whoever asked first has hung up: else the next one would
/// begin it anew, beside what is still going on.
pub(super) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, GraphsError>> + Send + 'static,
) -> Result<T, GraphsError> {
    tokio::spawn(work).await.map_err(|_| AnswerError::Stopping)?
}

/// Work that takes some milliseconds stays off the threads that answer everybody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GraphsError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| AnswerError::Stopping.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn what_others_wait_for_is_done_though_whoever_asked_has_hung_up() {
        let (begin, begun) = oneshot::channel();
        let (go_on, goes_on) = oneshot::channel::<()>();
        let (end, ended) = oneshot::channel();
        let mut asked = Box::pin(to_the_end(async move {
            begin.send(()).unwrap();
            goes_on.await.unwrap();
            end.send(()).unwrap();
            Ok(())
        }));
        tokio::select! {
            done = &mut asked => panic!("{done:?}"),
            begun = begun => begun.unwrap(),
        }
        drop(asked);
        go_on.send(()).unwrap();
        ended.await.unwrap();
    }
}
