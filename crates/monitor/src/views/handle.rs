//! The handle to what is shown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, Timestamp};
use mainstay_store::{Db, Dialect, StoreError};

use super::activity::{Activity, ActivityItem, LOOKED_THROUGH, Unstable};
use super::board::kept::Kept;
use super::board::strip::{self, CELL_MS, Strip, Strips};
use super::board::{BoardError, Boards};
use super::dependency::Dependency;
use super::history::{DependencyError, PollHistoryItem};
use super::list::{ListAsk, MAX_PAGE, Part, Place};
use super::record::changes::{Heard, Of};
use super::record::{activity, changes, dependencies, histories, services, strips, words};
use super::service::Service;
use super::timeline::{MAX_TRANSITIONS, Timeline, timeline};
use super::{moments, node, node_then, now};
use crate::answer::Answer;
use crate::graph::{Graphs, GraphsError, blocking, show};
use crate::latency::{self, Bucket, Range};
use crate::names::compared;
use crate::past::PastMoment;
use crate::polling::ScheduleView;
use crate::watch::ServiceNumber;

/// How long a dependency is listed that its service does not report any more, unless told otherwise.
pub const MISSING_SHOWN_FOR: Duration = Duration::from_hours(24);
/// Over how long changes are counted for the unstable list.
pub const UNSTABLE_WITHIN: Duration = Duration::from_hours(24);

/// What is shown. A clone is the same handle.
#[derive(Clone)]
pub struct Views {
    db: Db,
    clock: Arc<dyn Clock>,
    missing_shown_for: Duration,
    boards: Arc<Boards>,
    now: Arc<Kept>,
    moments: Arc<Kept>,
    graphs: Option<Graphs>,
}

/// A service, the number that the engine knows it by, and what it leans on.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// Its number.
    pub number: ServiceNumber,
    /// The service.
    pub service: Service,
    /// What it leans on, by name.
    pub dependencies: Vec<Dependency>,
    /// What is recorded of its next poll, for where this instance does not poll it.
    pub recorded: Option<ScheduleView>,
}

impl Views {
    /// What `db` holds.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, missing_shown_for: Duration) -> Self {
        Self {
            db,
            clock,
            missing_shown_for,
            boards: Arc::default(),
            now: Arc::default(),
            moments: Arc::default(),
            graphs: None,
        }
    }

    /// The same, that also tells what is broken because of what.
    #[must_use]
    pub fn with_graphs(self, graphs: Graphs) -> Self {
        Self { graphs: Some(graphs), ..self }
    }

    /// A part of the services.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn services(&self, ask: &ListAsk) -> Result<Part<Service>, StoreError> {
        Ok(Part::cut(services::list(&self.db, self.tick(), ask).await?, ask.limit))
    }

    /// A service without its dependencies.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn service(&self, id: Id) -> Result<Option<(ServiceNumber, Service)>, StoreError> {
        let found = services::find(&self.db, self.tick(), id).await?;
        Ok(found.map(|found| (ServiceNumber(found.number), found.service)))
    }

    /// Which of these names no service has.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unknown<'a>(&self, names: &'a [String]) -> Result<Vec<&'a str>, StoreError> {
        let keys: Vec<String> = names.iter().map(|name| compared(name)).collect();
        let known = services::names(&self.db, &keys).await?;
        let all = names.iter().zip(&keys);
        let unknown = all.filter(|(_, key)| !known.contains(key));
        Ok(unknown.map(|(name, _)| name.as_str()).collect())
    }

    /// A service with its dependencies.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn whole(&self, id: Id) -> Result<Option<Whole>, StoreError> {
        let Some(found) = services::find(&self.db, self.tick(), id).await? else { return Ok(None) };
        let (number, service) = (ServiceNumber(found.number), found.service);
        let recorded = ScheduleView::recorded(&service, found.backoff);
        let missing_for = i64::try_from(self.missing_shown_for.as_millis()).unwrap_or(i64::MAX);
        let mut all =
            dependencies::of_service(&self.db, self.tick(), number.0, missing_for).await?;
        self.set_latencies(number, &mut all).await?;
        let dependencies = all.into_iter().map(|one| one.dependency).collect();
        Ok(Some(Whole { number, service, dependencies, recorded }))
    }

    /// How polls of a service turned out, newest first. `None` without such a service.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn poll_history(
        &self,
        id: Id,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Option<Part<PollHistoryItem>>, StoreError> {
        let Some((number, _)) = self.service(id).await? else { return Ok(None) };
        let rows = histories::polls(&self.db, number.0, after, limit).await?;
        Ok(Some(Part::cut(rows, limit)))
    }

    /// A dependency.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn dependency(&self, id: Id) -> Result<Option<Dependency>, StoreError> {
        let Some(found) = self.find(id).await? else { return Ok(None) };
        let number = ServiceNumber(found.service_no);
        let mut one = [found];
        self.set_latencies(number, &mut one).await?;
        let [found] = one;
        Ok(Some(found.dependency))
    }

    /// What was wrong with a dependency, newest first. `None` without such a dependency.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn errors(
        &self,
        id: Id,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Option<Part<DependencyError>>, StoreError> {
        let Some(found) = self.find(id).await? else { return Ok(None) };
        let rows = histories::errors(&self.db, found.number, after, limit).await?;
        Ok(Some(Part::cut(rows, limit)))
    }

    /// The latencies of a dependency, oldest first. `None` without such a dependency.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn latencies(&self, id: Id, range: Range) -> Result<Option<Vec<Bucket>>, StoreError> {
        let Some(found) = self.find(id).await? else { return Ok(None) };
        let (number, now) = (ServiceNumber(found.service_no), self.db.now().await?);
        latency::chart(&self.db, number, found.slot, range, now).await.map(Some)
    }

    /// How a dependency was over the last `span`. `None` without such a dependency.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn timeline(&self, id: Id, span: Duration) -> Result<Option<Timeline>, StoreError> {
        let Some(found) = self.find(id).await? else { return Ok(None) };
        let of = Of { service_no: found.service_no, dependency_no: found.number };
        self.db
            .snapshot(async |snapshot| {
                let to = snapshot.now().await?;
                let from = earlier(to, span);
                // One more than there may be tells that there are more, and what it begins with.
                let limit = MAX_TRANSITIONS.saturating_add(1);
                let Heard { said, cut_at } = changes::said(snapshot, of, from, to, limit).await?;
                let from = cut_at.unwrap_or(from);
                let known = changes::known_before(snapshot, of, from).await?;
                Ok(Some(timeline(known, from, to, &said)))
            })
            .await
    }

    /// Status changes, newest first. A part may hold fewer than asked for, or none, although there is a
    /// next one: nobody waits until all that ever changed was looked through.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn activity(&self, mut ask: Activity) -> Result<Part<ActivityItem>, StoreError> {
        let left = activity::first_left(&self.db, &ask, LOOKED_THROUGH).await?;
        ask.after = left.or(ask.after);
        let part = Part::cut(activity::recent(&self.db, &ask).await?, ask.limit);
        let rest = left.map(|number| Place { key: 0, number: number.saturating_add(1) });
        Ok(Part { next: part.next.or(rest), ..part })
    }

    /// Who changed more than once within [`UNSTABLE_WITHIN`], most often first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unstable(&self, limit: u32) -> Result<Vec<Unstable>, StoreError> {
        let since = earlier(self.db.now().await?, UNSTABLE_WITHIN);
        activity::unstable(&self.db, since, limit.clamp(1, MAX_PAGE)).await
    }

    /// Every service in one line, kept for as long as nothing has changed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn board(&self) -> Result<Arc<Answer>, BoardError> {
        self.boards.board(&self.db, &*self.clock, self.tick(), self.graphs.as_ref()).await
    }

    /// What is broken now and because of what, kept for as long as nothing has changed.
    ///
    /// # Errors
    /// When the database fails, or the graph was not read yet.
    pub async fn now(&self) -> Result<Arc<Answer>, BoardError> {
        let graphs = self.graphs.as_ref().ok_or(GraphsError::NotYet)?;
        graphs.ready().await?;
        now::read(&self.now, &self.db, &*self.clock, self.tick(), graphs).await
    }

    /// The last moments at which something changed, kept for as long as nothing has changed.
    ///
    /// # Errors
    /// When the database fails, or the graph was not read yet.
    pub async fn moments(&self) -> Result<Arc<Answer>, BoardError> {
        let graphs = self.graphs.as_ref().ok_or(GraphsError::NotYet)?;
        graphs.ready().await?;
        moments::read(&self.moments, &self.db, &*self.clock, graphs).await
    }

    /// What is known of a node of the graph, with what everybody says of it.
    ///
    /// # Errors
    /// When the database fails, the graph was not read yet, or there is no such node.
    pub async fn node(&self, node: &str) -> Result<Answer, BoardError> {
        let graphs = self.graphs.as_ref().ok_or(GraphsError::NotYet)?;
        graphs.caught_up().await?;
        let picture = graphs.picture().await?;
        let place = show::find(&picture, node).ok_or(GraphsError::NoNode)?;
        let sketch = blocking(move || node::sketch(&picture, place)).await?;
        let sketch = sketch.ok_or(GraphsError::NoNode)?;
        let found = dependencies::some(&self.db, self.tick(), &sketch.dependencies()).await?;
        let mut by_service: BTreeMap<i64, Vec<dependencies::Shown>> = BTreeMap::new();
        for one in found {
            by_service.entry(one.service_no).or_default().push(one);
        }
        let mut read = Vec::new();
        for (number, mut all) in by_service {
            self.set_latencies(ServiceNumber(number), &mut all).await?;
            read.extend(all.into_iter().map(|one| one.dependency));
        }
        Ok(Answer::of(&sketch.fill(read))?)
    }

    /// What was known of a node of the graph at a moment, with what everybody said of it. What is not
    /// recorded, as whom to ask, is told as it is now.
    ///
    /// # Errors
    /// When the database fails, the graph was not read yet, or there was no such node.
    pub async fn node_then(&self, moment: PastMoment, node: &str) -> Result<Answer, BoardError> {
        let graphs = self.graphs.as_ref().ok_or(GraphsError::NotYet)?;
        let (at, name) = (moment.at, node.to_owned());
        let look = move |picture: &_, moment: &_| node_then::sketch_then(picture, moment, &name);
        let (_, sketch) = graphs.looking_back(moment, look).await?;
        let sketch = sketch.ok_or(GraphsError::NoNodeThen { at })?;
        let said = words::of_dependencies(&self.db, at, &sketch.dependencies()).await?;
        let error = match sketch.service {
            Some(number) => words::of_service(&self.db, number, at).await?,
            None => None,
        };
        Ok(Answer::of(&sketch.fill(error, &said))?)
    }

    /// What everything leans on, grouped by name, kept for as long as nothing has changed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn wallboard(&self) -> Result<Arc<Answer>, BoardError> {
        let missing_for = self.missing_shown_for;
        self.boards.wallboard(&self.db, &*self.clock, self.tick(), missing_for).await
    }

    /// How these services were over the last day, in the order of `ids`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn strips(&self, ids: &[Id]) -> Result<Strips, StoreError> {
        let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
        self.db
            .snapshot(async |snapshot| {
                let now = snapshot.now().await?;
                let from = strip::begin(now);
                let found = strips::services(snapshot, self.tick(), &texts).await?;
                let numbers: Vec<i64> = found.iter().map(|one| one.number).collect();
                let turns = strips::turns(snapshot, &numbers, from).await?;
                let mut hours = latency::hours(snapshot, &numbers, now).await?;
                let mut items: Vec<_> = found
                    .into_iter()
                    .map(|one| Strip {
                        id: one.id,
                        cells: strip::cells(
                            from,
                            one.now,
                            turns.get(&one.number).map_or(&[], Vec::as_slice),
                        ),
                        p95_ms: hours.take(one.number),
                    })
                    .collect();
                items.sort_by_key(|item| ids.iter().position(|id| *id == item.id));
                Ok(Strips { from, cell_ms: CELL_MS, hours_from: hours.from, items })
            })
            .await
    }

    async fn find(&self, id: Id) -> Result<Option<dependencies::Shown>, StoreError> {
        dependencies::find(&self.db, self.tick(), id).await
    }

    async fn set_latencies(
        &self,
        number: ServiceNumber,
        all: &mut [dependencies::Shown],
    ) -> Result<(), StoreError> {
        if all.is_empty() {
            return Ok(());
        }
        let now = self.db.now().await?;
        if let Some(row) = latency::latest(&self.db, number, now).await? {
            // What can't be read is shown as none; rolling it up says so.
            let points = latency::unpack(&row.points).unwrap_or_default();
            dependencies::set_latencies(all, &points);
        }
        Ok(())
    }

    /// What `$1` of a timed statement is.
    fn tick(&self) -> i64 {
        match self.db.dialect() {
            Dialect::Sqlite => self.clock.now().as_millis(),
            Dialect::Postgres => self.db.clock_shift(),
        }
    }
}

fn earlier(now: Timestamp, span: Duration) -> Timestamp {
    let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(span))
}

impl std::fmt::Debug for Views {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Views")
    }
}
