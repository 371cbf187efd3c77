//! One batch in one transaction.

use std::collections::HashMap;

use mainstay_base::{Id, IdSource, Timestamp};
use mainstay_events::{EventError, Events, Outbox, Stream};
use mainstay_store::{StoreError, Tx};

use super::measure;
use crate::announce::{circuit_event, events_of};
use crate::judge::{Ruling, judge};
use crate::known::Known;
use crate::latency;
use crate::policy::MOST_SERVICES;
use crate::record::dependencies::Ruled;
use crate::record::fence::{self, Fence};
use crate::record::states::{NotTaken, StateRow, update, why_not_taken};
use crate::record::{circuits, dependencies, histories, load, states};
use crate::roster::Circuit;
use crate::shards::Lease;
use crate::sink::{PollResult, Recorded};
use crate::watch::ServiceNumber;

/// How often a result is compared anew because somebody changed its service meanwhile.
const COMPARISONS: usize = 3;

/// Why a batch was not recorded.
#[derive(Debug, thiserror::Error)]
pub(super) enum BatchError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Event(#[from] EventError),
}

/// What is known of the services of this process, kept between batches.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// With the lease that it was learned under: in between others may have recorded.
    known: HashMap<ServiceNumber, (Option<Lease>, Known)>,
}

/// What became of each result of a batch, in its order.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcomes: Vec<Recorded>,
}

impl Memory {
    /// Writes results and circuits in one transaction with their events. After an error nothing is
    /// written, and what is known is read anew.
    pub(super) async fn record(
        &mut self,
        events: &Events,
        ids: &IdSource,
        results: &[PollResult],
        circuits: &[(Circuit, Timestamp)],
    ) -> Result<Done, BatchError> {
        let known: HashMap<_, _> = results
            .iter()
            .filter_map(|result| {
                let (lease, known) = self.known.remove(&result.watch.number)?;
                (lease == result.watch.lease).then_some((result.watch.number, known))
            })
            .collect();
        let written = events
            .write(async |tx, out| Writing::new(known, results, ids).run(tx, out, circuits).await)
            .await?;
        let Writing { mut known, outcomes, accepted, .. } = written;
        measure_rows(&accepted);
        for (index, ruling) in accepted {
            let Some(result) = results.get(index) else { continue };
            note_warnings(result, &ruling);
            if let Some(known) = known.get_mut(&result.watch.number) {
                ruling.apply(known);
            }
        }
        if self.known.len() > MOST_SERVICES {
            // Services that are long gone are among them: what is still polled is read anew.
            self.known.clear();
        }
        self.known.extend(results.iter().filter_map(|result| {
            let known = known.remove(&result.watch.number)?;
            Some((result.watch.number, (result.watch.lease, known)))
        }));
        let outcomes = outcomes.into_iter().map(|one| one.unwrap_or(Recorded::Stale)).collect();
        Ok(Done { outcomes })
    }

    /// Keeps only what is known of services that are still polled.
    pub(super) fn forget(&mut self, number: ServiceNumber) {
        self.known.remove(&number);
    }
}

/// A batch on its way through the transaction.
struct Writing<'a> {
    results: &'a [PollResult],
    ids: &'a IdSource,
    known: HashMap<ServiceNumber, Known>,
    /// Results whose rows were taken, with what they change.
    accepted: Vec<(usize, Ruling)>,
    outcomes: Vec<Option<Recorded>>,
}

impl<'a> Writing<'a> {
    fn new(
        known: HashMap<ServiceNumber, Known>,
        results: &'a [PollResult],
        ids: &'a IdSource,
    ) -> Self {
        let outcomes = results.iter().map(|_| None).collect();
        Self { results, ids, known, accepted: Vec::new(), outcomes }
    }

    async fn run(
        mut self,
        tx: &mut Tx,
        out: &mut Outbox,
        circuits: &[(Circuit, Timestamp)],
    ) -> Result<Self, BatchError> {
        let leases = self.results.iter().map(|result| result.watch.lease);
        let leases = leases.chain(circuits.iter().map(|(circuit, _)| circuit.watch.lease));
        let fence = fence::raise(tx, leases).await?;
        self.half_open(tx, out, circuits, &fence).await?;
        // In the order of their rows, so that two writers never wait for each other in a ring.
        let mut pending = self.admitted(&fence);
        pending.sort_by_key(|index| self.number(*index));
        for _ in 0..COMPARISONS {
            pending = self.compare(tx, pending).await?;
            if pending.is_empty() {
                break;
            }
        }
        self.write_rows(tx).await?;
        self.announce(out)?;
        Ok(self)
    }

    /// The results of shards that this instance still owns; the others came too late.
    fn admitted(&mut self, fence: &Fence) -> Vec<usize> {
        let mut admitted = Vec::with_capacity(self.results.len());
        for (index, result) in self.results.iter().enumerate() {
            if fence.admits(result.watch.lease) {
                admitted.push(index);
            } else if let Some(outcome) = self.outcomes.get_mut(index) {
                *outcome = Some(Recorded::TakenOver);
            }
        }
        admitted
    }

    /// Compares results with what is known and writes their states; tells which to compare again.
    async fn compare(
        &mut self,
        tx: &mut Tx,
        pending: Vec<usize>,
    ) -> Result<Vec<usize>, BatchError> {
        self.learn(tx, &pending).await?;
        let new_id = || -> Id { self.ids.next() };
        let ruled: Vec<(usize, &PollResult, &Known, Ruling)> = pending
            .into_iter()
            .filter_map(|index| {
                let result = self.results.get(index)?;
                let known = self.known.get(&result.watch.number)?;
                Some((index, result, known, judge(known, result, &new_id)))
            })
            .collect();
        if ruled.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<_> = ruled
            .iter()
            .map(|(_, result, known, ruling)| StateRow::new(result, ruling, known))
            .collect();
        let taken = update(tx, &rows).await?;
        drop(rows);
        let (accepted, refused): (Vec<_>, Vec<_>) =
            ruled.into_iter().partition(|(_, result, ..)| taken.contains(&result.watch.number));
        let accepted: Vec<_> =
            accepted.into_iter().map(|(index, _, _, ruling)| (index, ruling)).collect();
        let refused: Vec<_> =
            refused.into_iter().map(|(index, result, ..)| (index, result)).collect();
        for (index, ruling) in &accepted {
            if let Some(outcome) = self.outcomes.get_mut(*index) {
                *outcome = Some(Recorded::Written(ruling.summary()));
            }
        }
        self.accepted.extend(accepted);
        self.sort_refused(tx, refused).await
    }

    /// Reads what is recorded of the services and is not in mind.
    async fn learn(&mut self, tx: &mut Tx, pending: &[usize]) -> Result<(), BatchError> {
        let unknown: Vec<_> = pending
            .iter()
            .filter_map(|index| self.number(*index))
            .filter(|number| !self.known.contains_key(number))
            .collect();
        if !unknown.is_empty() {
            self.known.extend(load::load(tx, &unknown).await?);
        }
        let results = self.results;
        let named: Vec<_> = pending
            .iter()
            .filter_map(|index| results.get(*index))
            .flat_map(|result| names_to_recall(result, self.known.get(&result.watch.number)))
            .collect();
        load::recall(tx, &named, &mut self.known).await?;
        Ok(())
    }

    async fn sort_refused(
        &mut self,
        tx: &mut Tx,
        refused: Vec<(usize, &PollResult)>,
    ) -> Result<Vec<usize>, BatchError> {
        if refused.is_empty() {
            return Ok(Vec::new());
        }
        let results: Vec<_> = refused.iter().map(|(_, result)| *result).collect();
        let whys = why_not_taken(tx, &results).await?;
        let mut again = Vec::new();
        for ((index, result), why) in refused.into_iter().zip(whys) {
            self.known.remove(&result.watch.number);
            let outcome = match why {
                NotTaken::Outdated => {
                    again.push(index);
                    continue;
                }
                NotTaken::Stale => Recorded::Stale,
                NotTaken::Already => Recorded::Written(crate::sink::PollSummary::default()),
            };
            if let Some(slot) = self.outcomes.get_mut(index) {
                *slot = Some(outcome);
            }
        }
        Ok(again)
    }

    async fn write_rows(&mut self, tx: &mut Tx) -> Result<(), BatchError> {
        let results = self.results;
        let mut ruled: Vec<_> = self
            .accepted
            .iter_mut()
            .filter_map(|(index, ruling)| {
                let result = results.get(*index)?;
                let report = result.outcome.as_ref().ok();
                Some(Ruled { service_no: result.watch.number.0, report, ruling })
            })
            .collect();
        let aliases = dependencies::write(tx, &mut ruled).await?;
        histories::write(tx, &ruled, aliases).await?;
        let points: Vec<_> = ruled.iter().filter_map(points_of).collect();
        latency::insert(tx, &points).await?;
        Ok(())
    }

    fn announce(&self, out: &mut Outbox) -> Result<(), BatchError> {
        for (index, ruling) in &self.accepted {
            let Some(result) = self.results.get(*index) else { continue };
            for event in events_of(result, ruling)? {
                out.add(Stream::Org, event)?;
            }
        }
        Ok(())
    }

    async fn half_open(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        circuits: &[(Circuit, Timestamp)],
        fence: &Fence,
    ) -> Result<(), BatchError> {
        let circuits: Vec<_> = circuits
            .iter()
            .map(|(one, _)| one)
            .filter(|one| fence.admits(one.watch.lease))
            .collect();
        if circuits.is_empty() {
            return Ok(());
        }
        let mut numbers: Vec<_> = circuits.iter().map(|one| one.watch.number.0).collect();
        numbers.sort_unstable();
        // All rows of the batch, in one order: who changes aliases or closes dependencies holds several
        // services as well.
        let results = self.results.iter().map(|result| result.watch.number.0);
        let mut all: Vec<_> = results.chain(numbers.iter().copied()).collect();
        all.sort_unstable();
        states::hold(tx, &all).await?;
        circuits::half_open(tx, &numbers).await?;
        for circuit in circuits {
            out.add(Stream::Org, circuit_event(circuit)?)?;
        }
        Ok(())
    }

    fn number(&self, index: usize) -> Option<ServiceNumber> {
        self.results.get(index).map(|result| result.watch.number)
    }
}

fn points_of(ruled: &Ruled<'_>) -> Option<latency::PointsRow> {
    let Ruling { at, points, .. } = &*ruled.ruling;
    (!points.is_empty()).then(|| latency::PointsRow {
        service_no: ServiceNumber(ruled.service_no),
        at: *at,
        points: latency::pack(points),
    })
}

/// The names in an answer that may be those of closed dependencies.
fn names_to_recall<'a>(result: &'a PollResult, known: Option<&Known>) -> Vec<load::Named<'a>> {
    let (Some(known), Ok(report)) = (known.filter(|known| known.has_closed()), &result.outcome)
    else {
        return Vec::new();
    };
    let names = report.dependencies.iter().map(|one| one.name.as_str());
    names
        .filter(|name| !known.dependencies.contains_key(*name))
        .map(|name| load::Named { service_no: result.watch.number.0, name })
        .collect()
}

/// What of an answer could not be read is logged when it changes, not with each poll.
fn note_warnings(result: &PollResult, ruling: &Ruling) {
    if !ruling.warnings.has_turned() {
        return;
    }
    let service = &*result.watch.name;
    match &ruling.warnings.after {
        Some(warnings) => {
            tracing::warn!(service, warnings, "parts of the answer of a service can't be read");
        }
        None => tracing::info!(service, "the answer of a service has no unreadable parts any more"),
    }
}

/// Added up for the whole batch, so that each metric is looked up once.
fn measure_rows(accepted: &[(usize, Ruling)]) {
    let sum = |count: fn(&Ruling) -> usize| accepted.iter().map(|(_, ruling)| count(ruling)).sum();
    measure::rows("state", accepted.len());
    measure::rows("dependency", sum(|one| one.touched.len().saturating_add(one.vanished.len())));
    measure::rows("error", sum(noted));
    measure::rows("poll", sum(|one| usize::from(one.is_turn)));
    measure::rows("latency", sum(|one| usize::from(!one.points.is_empty())));
}

fn noted(ruling: &Ruling) -> usize {
    ruling.touched.iter().filter(|one| one.noted.is_some()).count()
}
