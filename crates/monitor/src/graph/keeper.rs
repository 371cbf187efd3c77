//! The task that keeps the graph true. Events are its bell: they say whom to look at, the tables say
//! how things are. A look at everything repairs what no event told of.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Id, Moment, Timestamp};
use mainstay_events::{Ask, EventsError, Feed, Streams};
use mainstay_graph::{Change, Graph};
use mainstay_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::dirty::Dirty;
use super::handle::Graphs;
use super::record::drawing as row;
use super::record::load::{self, Loaded, SERVICES_AT_ONCE};
use super::shared::Shared;
use super::{drawing, measure};

/// How often it tells how old the graph is.
const TELL_AGE_EVERY: Duration = Duration::from_secs(5);
/// How long it waits after a database that failed, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How many services are applied before whoever asks may have the graph.
const APPLIED_AT_ONCE: usize = 200;

pub(super) struct Keeper {
    shared: Arc<Shared>,
    stop: CancellationToken,
    /// When everything was last read.
    reloaded_at: Moment,
    wait: Duration,
}

/// Why following has ended.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("stopped")]
    Stopped,
    #[error("more happened than is at hand one by one")]
    Behind,
    #[error(transparent)]
    Events(#[from] EventsError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Keeper {
    pub(super) fn new(shared: Arc<Shared>, stop: CancellationToken) -> Self {
        let reloaded_at = shared.clock.moment();
        Self { shared, stop, reloaded_at, wait: FIRST_WAIT }
    }

    pub(super) async fn run(self) {
        let shared = Arc::clone(&self.shared);
        tokio::select! {
            () = self.keep() => {}
            () = tell_age(&shared) => {}
        }
    }

    async fn keep(mut self) {
        while !self.stop.is_cancelled() {
            let Err(ended) = self.follow().await;
            match ended {
                Ended::Stopped | Ended::Events(EventsError::Closed) => break,
                Ended::Behind
                | Ended::Events(EventsError::EpochChanged | EventsError::BelowFloor) => {
                    tracing::info!(reason = %ended, "the graph is read anew");
                }
                Ended::Events(_) | Ended::Store(_) => self.note_trouble(&ended).await,
            }
        }
    }

    /// Reads all, then whatever events name, for as long as all goes well.
    async fn follow(&mut self) -> Result<Infallible, Ended> {
        // First followed, then read: what is written in between rings here.
        let (_, mut feed) = self.shared.events.open(&ask()).await?;
        self.look_at_drawing().await?;
        self.reload().await?;
        self.shared.set_ready();
        self.shared.note_heard(feed.position().org());
        self.wait = FIRST_WAIT;
        let mut tidy = tokio::time::interval(self.shared.options.tidy_every);
        tidy.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        tidy.tick().await;
        loop {
            let mut dirty = Dirty::default();
            tokio::select! {
                () = self.stop.cancelled() => return Err(Ended::Stopped),
                _ = tidy.tick() => self.tidy().await?,
                rung = feed.next() => {
                    dirty.hear(&rung?);
                    if !dirty.is_empty() {
                        self.gather(&mut feed, &mut dirty).await;
                    }
                }
            }
            if feed.is_behind() {
                // One by one it would take longer than to read everything.
                return Err(Ended::Behind);
            }
            self.refresh(dirty).await?;
            self.shared.note_heard(feed.position().org());
        }
    }

    /// What else rings within the window.
    async fn gather(&self, feed: &mut Feed, dirty: &mut Dirty) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(self.shared.options.window) => {}
        }
        while !dirty.all
            && let Some(rung) = feed.try_next()
        {
            dirty.hear(&rung);
        }
    }

    /// Reads again what is dirty.
    async fn refresh(&mut self, dirty: Dirty) -> Result<(), StoreError> {
        if dirty.is_empty() {
            return Ok(());
        }
        if dirty.all {
            return self.reload().await;
        }
        let db = self.shared.events.db().clone();
        let mut ids: BTreeSet<Id> = dirty.services;
        for names in chunks(dirty.aliases) {
            ids.extend(load::by_names(&db, &names).await?);
        }
        for keys in chunks(dirty.keys) {
            ids.extend(load::by_keys(&db, &keys).await?);
        }
        for ids in chunks(ids) {
            let loaded = load::these(&db, &ids).await?;
            let began = self.shared.clock.moment();
            let mut graph = self.shared.graph();
            forget_unknown(&mut graph, &ids, &loaded);
            let count = loaded.len();
            loaded.into_iter().for_each(|one| self.apply(&mut graph, one));
            let took = self.shared.clock.moment().since(began);
            measure::updated(measure::EVENT, count, took, &graph);
        }
        self.shared.note_true();
        Ok(())
    }

    /// Reads everything again.
    async fn reload(&mut self) -> Result<(), StoreError> {
        let began = self.shared.clock.moment();
        let loaded = load::all(self.shared.events.db()).await?;
        let count = loaded.len();
        let here: BTreeSet<i64> = loaded.iter().map(Loaded::number).collect();
        {
            let mut graph = self.shared.graph();
            let gone: Vec<i64> = graph.services().filter(|one| !here.contains(one)).collect();
            for service in gone {
                graph.apply(Change::Removed { service });
            }
        }
        let mut loaded = loaded.into_iter();
        loop {
            let some: Vec<Loaded> = loaded.by_ref().take(APPLIED_AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            {
                let mut graph = self.shared.graph();
                some.into_iter().for_each(|one| self.apply(&mut graph, one));
            }
            // Whoever waits for this thread goes first.
            tokio::task::yield_now().await;
        }
        let took = self.shared.clock.moment().since(began);
        measure::updated(measure::RELOAD, count, took, &self.shared.graph());
        self.reloaded_at = began;
        self.shared.note_true();
        Ok(())
    }

    /// What time changes, and what others have drawn.
    async fn tidy(&mut self) -> Result<(), StoreError> {
        let since_reload = self.shared.clock.moment().since(self.reloaded_at);
        if since_reload >= self.shared.options.reload_every {
            self.reload().await?;
        }
        self.forget_missing();
        self.look_at_drawing().await?;
        if let Err(error) = self.save_drawing().await {
            // A graph that is drawn elsewhere after a restart is true all the same.
            tracing::warn!(%error, "where nodes are drawn can't be kept; trying again");
        }
        Ok(())
    }

    fn apply(&self, graph: &mut Graph, loaded: Loaded) {
        match loaded {
            Loaded::Removed(service) => graph.apply(Change::Removed { service }),
            Loaded::Here(service, mut dependencies) => {
                let number = service.number;
                let now = self.shared.clock.now();
                dependencies
                    .retain(|one| one.missing_since.is_none_or(|since| self.is_kept(since, now)));
                graph.apply(Change::Service(service));
                graph.apply(Change::Dependencies { service: number, dependencies });
            }
        }
    }

    fn is_kept(&self, missing_since: Timestamp, now: Timestamp) -> bool {
        now.since(missing_since) < self.shared.options.missing_for
    }

    /// Dependencies that nobody has reported for long leave the graph.
    fn forget_missing(&self) {
        let now = self.shared.clock.now();
        let mut graph = self.shared.graph();
        let gone: Vec<(i64, i64)> = graph
            .missing()
            .filter(|(_, _, since)| !self.is_kept(*since, now))
            .map(|(service, dependency, _)| (service, dependency))
            .collect();
        for (service, dependency) in gone {
            graph.apply(Change::Forgotten { service, dependency });
        }
    }

    /// Takes over what another instance has drawn since.
    async fn look_at_drawing(&self) -> Result<(), StoreError> {
        let db = self.shared.events.db();
        let known = self.shared.drawing().row;
        if row::version(db).await? == known {
            return Ok(());
        }
        if let Some((version, body)) = row::read(db).await? {
            self.shared.adopt(version, drawing::decode(&body));
        }
        Ok(())
    }

    /// Keeps what was drawn here, unless another instance was first: then that is taken over.
    async fn save_drawing(&self) -> Result<(), StoreError> {
        let graphs = Graphs { shared: Arc::clone(&self.shared) };
        // It fails only while the process stops.
        let Ok(picture) = graphs.picture().await else { return Ok(()) };
        let version = {
            let drawing = self.shared.drawing();
            if *drawing.stored == *picture.places {
                return Ok(());
            }
            drawing.row
        };
        let body = drawing::encode(&picture.places);
        let written =
            self.shared.events.db().write(async |tx| row::write(tx, version, &body).await).await?;
        match written {
            Some(version) => {
                let mut drawing = self.shared.drawing();
                drawing.row = version;
                drawing.stored = Arc::clone(&picture.places);
                Ok(())
            }
            None => self.look_at_drawing().await,
        }
    }

    async fn note_trouble(&mut self, error: &Ended) {
        measure::trouble();
        tracing::warn!(%error, "the graph can't be brought up to date; trying again");
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(self.wait) => {}
        }
        self.wait = self.wait.saturating_mul(2).min(LONGEST_WAIT);
    }
}

/// Tells how old the graph is, also while it can't be read.
async fn tell_age(shared: &Shared) {
    loop {
        measure::age(shared.age());
        tokio::time::sleep(TELL_AGE_EVERY).await;
    }
}

/// The organisation's stream from now on: also what does not matter here, to know how far it was heard.
fn ask() -> Ask {
    Ask { user: None, streams: Streams { org: true, user: false }, kinds: None, after: None }
}

/// A service that was asked for and has no row any more.
fn forget_unknown(graph: &mut Graph, ids: &[Id], loaded: &[Loaded]) {
    if ids.len() == loaded.len() {
        return;
    }
    let found: BTreeSet<i64> = loaded.iter().map(Loaded::number).collect();
    let asked: BTreeSet<&Id> = ids.iter().collect();
    let gone: Vec<i64> = graph
        .services()
        .filter(|number| !found.contains(number))
        .filter(|&number| graph.service(number).is_some_and(|one| asked.contains(&one.id)))
        .collect();
    for service in gone {
        graph.apply(Change::Removed { service });
    }
}

/// In the portions in which they are read.
fn chunks<T: Clone>(all: BTreeSet<T>) -> Vec<Vec<T>> {
    let all: Vec<T> = all.into_iter().collect();
    all.chunks(SERVICES_AT_ONCE).map(<[T]>::to_vec).collect()
}

impl Loaded {
    const fn number(&self) -> i64 {
        match self {
            Self::Here(service, _) => service.number,
            Self::Removed(number) => *number,
        }
    }
}
