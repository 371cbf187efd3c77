//! The fleet of the demo: machines of Fly and Sprites that are stand-ins on loopback, and a process of
//! this host, each with nets of checks. The story loses a machine now and then, and brings it back.

use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use mainstay_accounts::PageAsk;
use mainstay_base::{Clock, Id, Secret};
use mainstay_events::Events;
use mainstay_fleet::providers::{FlySettings, Region, Size, SpriteSettings};
use mainstay_fleet::{
    Category, Crew, Definition, Fleet, FleetError, LoadState, NetName, NetOperation, NewNet,
    NewWorker, ProviderKind, WorkerName, WorkerOperation, WorkerStatus,
};
use mainstay_standins::agent::Agent;
use mainstay_standins::fly::{FlyOptions, FlyServer};
use mainstay_standins::sprites::{SpriteOptions, SpriteServer};
use mainstay_standins::{Company, Director, Endpoint, Story};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::findings::{self, finding};
use super::losses;
use crate::config::Config;
use crate::rooms::Rooms;

/// How long each answer of a provider takes, so that a machine is seen being made.
const SLOW: Duration = Duration::from_millis(300);
/// How often agents check, in seconds.
const INTERVAL_S: u64 = 5;
/// Sprites that are looked at do not fall asleep here.
const AWAKE: Duration = Duration::from_hours(24 * 365);
/// What the agent is called among the services of a sprite.
const SERVICE: &str = "mainstay-agent";
/// How often nets are tried to be loaded, and how long it is waited in between.
const MOST_TRIES: usize = 3;
const AGAIN: Duration = Duration::from_secs(2);
/// How often the story is looked at.
const TICK: Duration = Duration::from_millis(250);
/// How long the processes of this host have to end.
const ENDING: Duration = Duration::from_secs(5);
/// The address of the first stand-in machine: other systems than Linux have no such one.
const FIRST_MACHINE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 31, 0, 1));
const IMAGE: &str = "registry.example.com/mainstay:demo";

/// A worker of the demo.
struct Berth {
    name: &'static str,
    provider: ProviderKind,
    category: Category,
    region: Option<&'static str>,
    nets: &'static [(&'static str, &'static [&'static str])],
}

const SHOP: &[&str] = &["storefront", "catalog", "checkout"];
const MONEY: &[&str] = &["payments", "ledger", "fraud"];
const PARTNERS: &[&str] = &["payouts", "notifications"];

const BERTHS: [Berth; 5] = [
    Berth {
        name: "frankfurt-1",
        provider: ProviderKind::Fly,
        category: Category::Persistent,
        region: Some("fra"),
        nets: &[("shop-fra", SHOP), ("money-fra", MONEY)],
    },
    Berth {
        name: "frankfurt-2",
        provider: ProviderKind::Fly,
        category: Category::Ephemeral,
        region: Some("fra"),
        nets: &[("partners-fra", PARTNERS)],
    },
    Berth {
        name: "virginia-1",
        provider: ProviderKind::Fly,
        category: Category::Persistent,
        region: Some("iad"),
        nets: &[("shop-iad", SHOP)],
    },
    Berth {
        name: "tokyo-1",
        provider: ProviderKind::Sprite,
        category: Category::Persistent,
        region: Some("nrt"),
        nets: &[("shop-nrt", SHOP)],
    },
    Berth {
        name: "office",
        provider: ProviderKind::Process,
        category: Category::Persistent,
        region: None,
        nets: &[("shop-office", SHOP)],
    },
];

/// The providers, as stand-ins. They end, with their machines, when this is dropped.
pub(super) struct StandIns {
    fly: Option<(FlyServer, FlyOptions)>,
    sprites: SpriteServer,
}

/// A net with its worker's place in the list.
type Nets = Vec<(usize, &'static str, Value)>;

/// Keeps the fleet going.
pub(super) struct Keeper {
    events: Events,
    fleet: Fleet,
    user: Id,
    workers: Vec<Id>,
    clock: Arc<dyn Clock>,
}

/// Takes ports on loopback.
pub(super) async fn stand_in(clock: &Arc<dyn Clock>) -> anyhow::Result<StandIns> {
    const NO_PORT: &str = "the stand-ins for machines find no free ports on 127.0.0.1";
    let options =
        SpriteOptions { warm_after: AWAKE, cold_after: AWAKE, ..SpriteOptions::default() };
    let sprites = SpriteServer::start(options, Arc::clone(clock)).await.context(NO_PORT)?;
    let mut fly = None;
    if let Some(agent_port) = free_port() {
        let options =
            FlyOptions { agent_port: Some(agent_port), start_reads: 3, ..FlyOptions::default() };
        let server = FlyServer::start(options.clone(), Arc::clone(clock)).await.context(NO_PORT)?;
        server.switch(|switches| switches.slow = Some(SLOW));
        fly = Some((server, options));
    }
    Ok(StandIns { fly, sprites })
}

/// What each net runs, with the addresses of this company.
pub(super) fn nets(company: &Company) -> Nets {
    let found = |slug: &&str| company.endpoints().find(|one| one.service.slug == *slug);
    let berths = BERTHS.iter().enumerate();
    let all = berths.flat_map(|(at, berth)| berth.nets.iter().map(move |net| (at, net)));
    all.map(|(at, (name, slugs))| {
        let services: Vec<Value> = slugs.iter().filter_map(found).map(service).collect();
        (at, *name, json!({ "services": services }))
    })
    .collect()
}

/// Makes the workers and nets of the only account there is, and has the machines made.
pub(super) async fn launch(
    rooms: &Rooms,
    nets: &Nets,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Keeper> {
    let people = rooms.accounts.users(PageAsk { after: None, limit: 1 }).await?;
    let user = people.items.first().context("the demo has no account")?.id;
    let (events, fleet) = (rooms.events.clone(), rooms.fleet.clone());
    let mut keeper = Keeper { events, fleet, user, workers: Vec::new(), clock };
    for berth in &BERTHS {
        let made = keeper.make(berth).await?;
        keeper.workers.push(made);
    }
    for (at, name, definition) in nets {
        let worker_id = keeper.workers.get(*at).copied();
        let definition = Definition::new(definition.clone())?;
        let new = NewNet { name: NetName::parse(name)?, definition, worker_id };
        let writing = keeper
            .events
            .write(async |tx, out| keeper.fleet.create_net(tx, out, keeper.user, new).await);
        writing.await?;
    }
    for worker in &keeper.workers {
        keeper.begin(*worker, WorkerOperation::Provision).await?;
    }
    Ok(keeper)
}

impl StandIns {
    /// The same configuration, with machines of the stand-ins.
    pub(super) fn provide(&self, config: &Config) -> anyhow::Result<Config> {
        let mut config = config.clone();
        if let Some((server, options)) = &self.fly {
            let (url, token) =
                (Url::parse(&server.base_url())?, Secret::new(options.token.clone()));
            let mut settings = FlySettings::new(url, token, &options.app, IMAGE);
            settings.agent_port = options.agent_port.unwrap_or(settings.agent_port);
            config.fleet.fly = Some(settings);
        }
        let token = Secret::new(SpriteOptions::default().token);
        let url = Url::parse(&self.sprites.base_url())?;
        config.fleet.sprites = Some(SpriteSettings::new(url, token));
        Ok(config)
    }

    /// The stand-in for the agent of a worker, where it has one.
    fn agent(&self, crew: &Crew) -> Option<Arc<Agent>> {
        let machine = crew.worker.machine.as_ref()?;
        match crew.worker.provider {
            ProviderKind::Fly => self.fly.as_ref()?.0.agent(&machine.id),
            ProviderKind::Sprite => self.sprites.agent(machine.name.as_str(), SERVICE),
            ProviderKind::Process => None,
        }
    }
}

impl Keeper {
    /// Loads the nets once their machines run, and plays what the story does to the fleet, until `stop`.
    pub(super) async fn keep(
        self,
        machines: StandIns,
        story: Story,
        director: Director,
        stop: CancellationToken,
    ) {
        let playing = self.play(&machines, story, &director);
        let checking = self.check(&machines, &director);
        stop.run_until_cancelled(futures_util::future::join(playing, checking)).await;
        // The server is about to close, so only the provider is asked.
        if tokio::time::timeout(ENDING, self.end_processes()).await.is_err() {
            tracing::warn!("an agent on this host did not end; it ends by itself in ten minutes");
        }
    }

    async fn play(&self, machines: &StandIns, story: Story, director: &Director) {
        let launching = self.workers.iter().map(|worker| self.come_up(*worker));
        futures_util::future::join_all(launching).await;
        let losable = self.losable(machines);
        let mut lost: Option<Id> = None;
        loop {
            let loss = losses::at(story, director.world().story_ms(), losable.len());
            match (lost, loss.and_then(|loss| losable.get(loss.which).copied())) {
                (None, Some(worker)) => {
                    self.lose(machines, worker).await;
                    lost = Some(worker);
                }
                (Some(worker), None) => {
                    self.bring_back(worker).await;
                    lost = None;
                }
                _ => tokio::time::sleep(TICK).await,
            }
        }
    }

    /// The agents on stand-in machines run nothing, so they are told what they would have found.
    async fn check(&self, machines: &StandIns, director: &Director) {
        loop {
            tokio::time::sleep(Duration::from_secs(INTERVAL_S)).await;
            let world = director.world();
            for (worker, berth) in self.workers.iter().zip(&BERTHS) {
                let Ok(crew) = self.fleet.find_worker(self.user, *worker).await else { continue };
                let Some(agent) = machines.agent(&crew) else { continue };
                for net in &crew.nets {
                    let Ok(net) = self.fleet.find_net(self.user, net.id).await else { continue };
                    for service in findings::services(&net.definition) {
                        let found = finding(service, &world, berth.region, self.clock.now());
                        agent.find(&net.net.id.to_string(), found);
                    }
                }
            }
        }
    }

    /// The workers whose machines the story can take away.
    fn losable(&self, machines: &StandIns) -> Vec<Id> {
        let of_fly = |(_, berth): &(&Id, &Berth)| berth.provider == ProviderKind::Fly;
        let all = self.workers.iter().zip(&BERTHS).filter(of_fly).map(|(worker, _)| *worker);
        if machines.fly.is_some() { all.collect() } else { Vec::new() }
    }

    async fn lose(&self, machines: &StandIns, worker: Id) {
        let Some((fly, _)) = &machines.fly else { return };
        // Whoever plays with the demo may have destroyed or deleted it.
        if let Ok(crew) = self.fleet.find_worker(self.user, worker).await
            && let Some(machine) = crew.worker.machine
        {
            fly.reap(&machine.id).await;
        }
    }

    /// Makes another machine, if nobody else has.
    async fn bring_back(&self, worker: Id) {
        let found = self.fleet.find_worker(self.user, worker).await;
        let has_failed = |crew: &Crew| crew.worker.status == WorkerStatus::Error;
        if found.is_ok_and(|crew| has_failed(&crew))
            && self.begin(worker, WorkerOperation::Retry).await.is_ok()
        {
            self.come_up(worker).await;
        }
    }

    /// Waits for what is being done to a worker, then loads its nets; a busy machine may need another try.
    async fn come_up(&self, worker: Id) {
        for _ in 0..MOST_TRIES {
            let Err(error) = self.load_all(worker).await else { return };
            tracing::warn!(worker_id = %worker, %error, "a worker of the demo has not all of its nets");
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn load_all(&self, worker: Id) -> Result<(), FleetError> {
        let crew = self.fleet.find_worker(self.user, worker).await?;
        if let Some(underway) = crew.worker.operation {
            self.fleet.wait_for_worker(self.user, worker, underway.id).await?;
        }
        for net in crew.nets.iter().filter(|net| net.load_state != LoadState::Loaded) {
            let loading = self.events.write(async |tx, out| {
                let subject = (self.user, net.id);
                self.fleet.begin_net(tx, out, subject, NetOperation::Load, None).await
            });
            let underway = loading.await?;
            self.fleet.wait_for_net(self.user, net.id, underway.id).await?;
        }
        Ok(())
    }

    async fn make(&self, berth: &Berth) -> anyhow::Result<Id> {
        // Without room for stand-ins all machines are processes of this host.
        let is_there = self.fleet.providers().of(berth.provider).is_some();
        let new = NewWorker {
            name: WorkerName::parse(berth.name)?,
            provider: if is_there { berth.provider } else { ProviderKind::Process },
            category: berth.category,
            region: berth.region.map(Region::parse).transpose()?,
            size: Size::Small,
        };
        let writing = self
            .events
            .write(async |tx, out| self.fleet.create_worker(tx, out, self.user, new).await);
        Ok(writing.await?.worker.id)
    }

    async fn begin(&self, worker: Id, kind: WorkerOperation) -> Result<(), FleetError> {
        let subject = (self.user, worker);
        let writing =
            self.events.write(async |tx, out| self.fleet.begin(tx, out, subject, kind, None).await);
        writing.await.map(drop)
    }

    async fn end_processes(&self) {
        let Some(provider) = self.fleet.providers().of(ProviderKind::Process) else { return };
        let listed = provider.list().await.unwrap_or_default();
        for sighting in listed {
            if let Err(error) = provider.destroy(&sighting.machine).await {
                tracing::warn!(%error, "an agent on this host could not be ended");
            }
        }
    }
}

fn service(endpoint: &Endpoint) -> Value {
    let service = endpoint.service;
    let mut check = json!({
        "name": service.name,
        "url": endpoint.url(),
        "format": service.wire.format(),
        "interval_s": INTERVAL_S,
    });
    if let (Some(mapping), Some(fields)) = (service.wire.mapping(), check.as_object_mut()) {
        fields.insert("schema".to_owned(), mapping);
    }
    check
}

/// A port that the agents of the stand-in machines can have, where the system has addresses for them.
fn free_port() -> Option<u16> {
    let listener = TcpListener::bind((FIRST_MACHINE, 0)).ok()?;
    Some(listener.local_addr().ok()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[tokio::test]
    async fn every_net_has_its_services_and_its_own_name() {
        let company = Company::bind().await.unwrap();
        let nets = nets(&company);
        let names: BTreeSet<&str> = nets.iter().map(|(_, name, _)| *name).collect();
        assert_eq!(names.len(), nets.len());
        for (at, name, definition) in &nets {
            let services = definition["services"].as_array().unwrap();
            assert!(services.len() >= 2 && BERTHS.get(*at).is_some(), "{name}");
            assert!(
                services
                    .iter()
                    .all(|one| one["url"].as_str().unwrap().starts_with("http://127.0.0.1:"))
            );
            assert!(Definition::new(definition.clone()).is_ok(), "{name}");
        }
    }

    #[test]
    fn the_fleet_stands_in_three_regions_and_here() {
        let regions: BTreeSet<_> = BERTHS.iter().map(|berth| berth.region).collect();
        assert_eq!(regions.len(), 4);
        for berth in &BERTHS {
            assert!(berth.region.is_none_or(|region| Region::parse(region).is_ok()));
            assert!(WorkerName::parse(berth.name).is_ok());
        }
    }
}
