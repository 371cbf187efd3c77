//! Fetches what the nets on a worker found, page by page. A page is acknowledged by the question for the
//! next one, and that is asked only when the page is recorded: with its cursor, in one transaction.

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_store::Tx;

use crate::agent::checks::MAX_CHECKS;
use crate::agents::{AgentDoor, AgentError, AgentHealth, NetResults};
use crate::announce;
use crate::decide::Look;
use crate::decide::gather::{Gathered, Known, NetCursor, gather};
use crate::decide::look::is_ours;
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::measure;
use crate::model::location::PlannedCheck;
use crate::model::{Crew, LoadState, Net, NetOperation, Underway, Worker};
use crate::record::{locations, nets};

/// Pages that are fetched of a net each time; the rest waits for the next.
pub(crate) const MAX_PAGES: usize = 5;

/// What became of a page.
enum Taken {
    /// It is recorded up to here.
    Upto(NetCursor),
    /// The net has changed meanwhile: nothing of it counts.
    Stale,
}

impl Fleet {
    /// Fetches what the nets of a worker found whose own agent is well, within the time of two questions; tells
    /// whether it was asked. What fails is tried again with the next sweep.
    pub(crate) async fn collect_within(&self, crew: &Crew, found: &Look) -> bool {
        let health = found.health().filter(|health| is_ours(&crew.worker, health));
        let Some(health) = health else { return false };
        let nets = running(crew, health);
        if nets.is_empty() {
            return false;
        }
        let limit = self.shared.pace.probe.saturating_mul(2);
        if tokio::time::timeout(limit, self.collect(crew, health, &nets)).await.is_err() {
            measure::collected("out_of_time");
        }
        true
    }

    async fn collect(&self, crew: &Crew, health: &AgentHealth, nets: &[&Net]) {
        let worker = &crew.worker;
        let door = worker.machine.as_ref().and_then(|machine| self.door(worker, machine));
        let Some(door) = door else { return };
        // Where time is up before the last one, it is not always the same that is left out.
        let first = usize::try_from(self.chance()).unwrap_or_default() % nets.len().max(1);
        for net in nets.iter().cycle().skip(first).take(nets.len()) {
            let outcome = match self.collect_net(worker, &door, net, health.boot_id).await {
                Ok(outcome) => outcome,
                Err(error) => {
                    tracing::warn!(worker_id = %worker.id, net_id = %net.id, %error,
                        "what a net found could not be recorded; the next sweep tries again");
                    "failed"
                }
            };
            measure::collected(outcome);
        }
    }

    async fn collect_net(
        &self,
        worker: &Worker,
        door: &AgentDoor,
        net: &Net,
        boot_id: Id,
    ) -> Result<&'static str, FleetError> {
        // One that can't be read any more has no checks that could be told of.
        let Some(definition) = nets::definition(self.db(), net.id).await? else {
            return Ok("stale");
        };
        let planned = self.shared.neighbours.planner.plan(definition.as_value());
        let planned = planned.unwrap_or_default();
        let known = locations::find_cursor(self.db(), net.id).await?;
        let mut after = known.filter(|one| one.boot_id == boot_id).map_or(0, |one| one.seq);
        for _ in 0..MAX_PAGES {
            let page = match self.shared.agents.results(door, net.id, after).await {
                Ok(page) if page.boot_id == boot_id => page,
                Ok(_) => return Ok("foreign"),
                Err(error) => return Ok(told(worker, net, &error)),
            };
            match self.record_page(worker, net, &planned, &page).await? {
                Taken::Stale => return Ok("stale"),
                Taken::Upto(cursor) if page.has_more && cursor.seq > after => after = cursor.seq,
                Taken::Upto(_) => return Ok("ok"),
            }
        }
        Ok("more")
    }

    /// Fetches what a net found that is about to be unloaded, and is let go with it. Where nobody answers, the
    /// unload finds that out by itself.
    pub(crate) async fn collect_last(&self, worker: &Worker, door: &AgentDoor, net: &Net) {
        let collecting = async {
            let health = self.shared.agents.health(door).await.ok()?;
            let held = health.loaded_nets.iter().find(|one| one.id == net.id);
            let held = held.filter(|_| is_ours(worker, &health))?;
            // Who unloads has forgotten under which number it was loaded.
            let last = Net { cast_generation: Some(held.generation), ..net.clone() };
            self.collect_net(worker, door, &last, health.boot_id).await.ok()
        };
        if let Ok(Some(outcome)) = tokio::time::timeout(self.shared.pace.probe, collecting).await {
            measure::collected(outcome);
        }
    }

    /// Records a page if the net is still loaded there as it was; its cursor goes with it.
    async fn record_page(
        &self,
        worker: &Worker,
        then: &Net,
        planned: &[PlannedCheck],
        page: &NetResults,
    ) -> Result<Taken, FleetError> {
        let recorded = self.shared.events.write(async |tx, out| {
            let Some(net) = locations::lock_net(tx, then.id).await? else { return Ok(None) };
            let is_there = net.load_state == LoadState::Loaded
                && net.worker_id == Some(worker.id)
                && (net.cast_generation == then.cast_generation || is_unloaded_by(&net, then));
            let Some(generation) = then.cast_generation.filter(|_| is_there) else {
                return Ok(None);
            };
            let most = i64::try_from(MAX_CHECKS).unwrap_or(i64::MAX);
            let known = Known {
                worker_id: worker.id,
                generation,
                loaded_since: net.load_state_since,
                planned,
                locations: locations::of_net(tx, net.id, most).await?,
                cursor: locations::cursor(tx, net.id).await?,
                now: tx.now().await?,
            };
            let before = known.cursor;
            let gathered = gather(known, page);
            let is_new = before != Some(gathered.cursor);
            if is_new || !gathered.locations.is_empty() {
                locations::save(tx, &net, worker, &gathered).await?;
                self.tell_changes(tx, out, (&net, worker.id), &gathered).await?;
            }
            let counts = gathered.counts;
            tx.after_commit(move || measure::gathered(counts));
            let dropped = if is_new { page.dropped } else { 0 };
            Ok::<_, FleetError>(Some((gathered.cursor, dropped)))
        });
        let Some((cursor, dropped)) = recorded.await? else { return Ok(Taken::Stale) };
        tell_dropped(worker.id, then.id, dropped);
        Ok(Taken::Upto(cursor))
    }

    async fn tell_changes(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (net, worker): (&Net, Id),
        gathered: &Gathered,
    ) -> Result<(), FleetError> {
        for changed in &gathered.changed {
            let check = &changed.check;
            let registry = &self.shared.neighbours.registry;
            let (_, name) = check.key();
            let service = match check.url.as_deref() {
                Some(url) => registry.find(tx, &name, Some(url)).await?,
                None => None,
            };
            announce::location(out, net, worker, changed, service)?;
        }
        Ok(())
    }
}

/// The nets of a crew that its agent says it runs as they were given to it.
fn running<'a>(crew: &'a Crew, health: &AgentHealth) -> Vec<&'a Net> {
    let is_running = |net: &&Net| {
        net.load_state == LoadState::Loaded
            && health
                .loaded_nets
                .iter()
                .any(|one| one.id == net.id && Some(one.generation) == net.cast_generation)
    };
    crew.nets.iter().filter(is_running).collect()
}

/// Whether the same operation is about to unload it that is for whoever saw it `then`.
fn is_unloaded_by(net: &Net, then: &Net) -> bool {
    let unloads = |one: Underway<NetOperation>| one.kind == NetOperation::Unload;
    net.operation.is_some_and(unloads) && net.operation == then.operation
}

/// What an agent could not keep until it was fetched leaves a gap that nobody else tells of.
fn tell_dropped(worker: Id, net: Id, count: u64) {
    if count > 0 {
        measure::dropped(count);
        tracing::warn!(event = "findings_dropped", worker_id = %worker, net_id = %net, dropped = count,
            "an agent dropped findings that nobody fetched in time");
    }
}

/// The word for why there was no page. The next look at the worker judges it, not this.
fn told(worker: &Worker, net: &Net, error: &AgentError) -> &'static str {
    if matches!(error, AgentError::Foreign(_)) {
        tracing::warn!(worker_id = %worker.id, net_id = %net.id, %error,
            "an agent's findings can't be used");
    }
    error.code()
}
