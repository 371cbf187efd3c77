//! The room on SQLite, with a ready worker for each agent and a net that is loaded on it.

use std::sync::Arc;

use anyhow::Context as _;
use mainstay_base::{Clock, Id, IdSource, SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_fleet::agents::{Agents as _, WebAgents};
use mainstay_fleet::providers::MachineName;
use mainstay_fleet::{Fleet, FleetOptions, Machine, NetOrder, Pace, Providers};
use mainstay_jobs::{Jobs, JobsOptions};
use mainstay_store::{Db, Sql, StoreOptions, Target, migrate, values};
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::agents::{Agents, GENERATION};

const NEW_USER: Sql = Sql::same(
    "bench.user",
    "INSERT INTO users (id, email, role, status, password_hash, created_at)
     VALUES ($1, 'bench@example.com', 'editor', 'active', 'x', 0)",
);
const NEW_WORKER: Sql = Sql::same(
    "bench.worker",
    "INSERT INTO workers (id, user_id, name, provider, category, status, status_since, generation,
       machine, machine_generation, probe_at, created_at)
     VALUES ($1, $2, $1, 'process', 'persistent', 'ready', 0, 1, $3, $4, 0, 0)",
);
const NEW_NET: Sql = Sql::same(
    "bench.net",
    "INSERT INTO nets (id, user_id, name, definition, worker_id, load_state, load_state_since,
       generation, cast_generation, created_at)
     VALUES ($1, $2, $1, '{}', $3, 'loaded', 0, 1, 1, 0)",
);
const ALL_DUE: Sql = Sql::same("bench.all_due", "UPDATE workers SET probe_at = 0");
const EVENTS: Sql = Sql::same("bench.events", "SELECT count(*) AS count FROM events");

/// The room, and what it stands on.
pub(crate) struct House {
    pub(crate) fleet: Fleet,
    pub(crate) client: WebAgents,
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stop: CancellationToken,
    _folder: TempDir,
}

impl House {
    pub(crate) async fn new(agents: &Agents) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let target = Target::Sqlite { path: folder.path().join("bench.db") };
        let db = Db::open(StoreOptions::new(target, Arc::clone(&clock))).await?;
        migrate::up(&db).await?;
        let (rng, stop) = (Arc::new(SystemRng), CancellationToken::new());
        let (options, cancel) = (EventsOptions::default(), stop.clone());
        let starting = Events::start(db.clone(), options, Arc::clone(&clock), rng.clone(), cancel);
        let (events, _) = starting.await?;
        let ids = IdSource::new(Arc::clone(&clock), rng.clone());
        let options = JobsOptions::default();
        let jobs = Jobs::new(events.clone(), Arc::clone(&clock), ids.clone(), rng.clone(), options);
        let client = WebAgents::new(Arc::clone(&clock))?;
        let fleet = Fleet::new(FleetOptions {
            events,
            jobs,
            ids: ids.clone(),
            clock: Arc::clone(&clock),
            rng,
            providers: Providers::default(),
            agents: Arc::new(client.clone()),
            key: agents.key.clone(),
            pace: Pace::default(),
        });
        let house = Self { fleet, client, db, clock, stop, _folder: folder };
        house.people(agents, &ids).await?;
        Ok(house)
    }

    /// Makes every worker due.
    pub(crate) async fn all_due(&self) -> anyhow::Result<()> {
        self.db.write(async |tx| tx.execute(&ALL_DUE, &[]).await).await?;
        Ok(())
    }

    /// How many events there were so far.
    pub(crate) async fn events(&self) -> anyhow::Result<i64> {
        Ok(self.db.fetch_one(&EVENTS, &[]).await?.get("count")?)
    }

    async fn people(&self, agents: &Agents, ids: &IdSource) -> anyhow::Result<()> {
        let user = ids.next();
        self.db.write(async |tx| tx.execute(&NEW_USER, values![user]).await).await?;
        for one in &agents.all {
            let net = ids.next();
            let order = NetOrder { id: net, generation: 1, definition: json!({}) };
            self.client.load(&one.door, &order).await.context("a net is loaded")?;
            let machine = machine(one.worker, one.door.address.as_str())?;
            let written = self.db.write(async |tx| {
                let worker = values![one.worker, user, machine.as_str(), GENERATION];
                tx.execute(&NEW_WORKER, worker).await?;
                tx.execute(&NEW_NET, values![net, user, one.worker]).await
            });
            written.await?;
        }
        Ok(())
    }
}

fn machine(worker: Id, address: &str) -> anyhow::Result<String> {
    let name = MachineName::of(worker, GENERATION);
    let address = Some(address.trim_end_matches('/').to_owned());
    let machine = Machine { id: name.to_string(), name, run: None, address, region: None };
    Ok(serde_json::to_string(&machine)?)
}
