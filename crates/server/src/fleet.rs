//! Opens the fleet: where machines come from, and how their agents know us.

use std::sync::Arc;

use anyhow::Context as _;
use mainstay_base::{Clock, SystemRng};
use mainstay_fleet::agents::WebAgents;
use mainstay_fleet::providers::{Fly, ProcessSettings, Processes, Sprites};
use mainstay_fleet::{AgentKey, Agents, Fleet, FleetOptions, Pace, Providers};

use crate::config::{Config, FleetConfig};
use crate::net;
use crate::report::Ground;

/// What the key of agents is made for.
const AGENTS: &str = "agents";
/// The folder below the data with a home for each agent on this host.
const HOMES: &str = "agents";

/// Opens the room.
pub(crate) fn open(config: &Config, ground: &Ground<'_>) -> anyhow::Result<Fleet> {
    let Ground { clock, ids, events, jobs, pepper } = ground;
    let key = AgentKey::new(pepper.keyed(AGENTS, b"").into_bytes());
    let agents: Arc<dyn Agents> = Arc::new(WebAgents::new(Arc::clone(clock))?);
    let program = std::env::current_exe().context("the program does not know where it is")?;
    let mut settings = ProcessSettings::new(program, config.data_dir.join(HOMES));
    settings.arguments = may_call(config)?;
    let processes = Processes::new(settings, key.clone(), Arc::clone(&agents));
    let providers = Providers::default().with(Arc::new(processes));
    let providers = elsewhere(providers, &config.fleet, &key, clock)?;
    let options = FleetOptions {
        events: (*events).clone(),
        jobs: (*jobs).clone(),
        ids: (*ids).clone(),
        clock: Arc::clone(clock),
        rng: Arc::new(SystemRng),
        providers,
        agents,
        key,
        pace: Pace::default().with_sweep(config.fleet.sweep),
    };
    Ok(Fleet::beside(options, net::neighbours()))
}

/// With the providers that the operator has set up.
fn elsewhere(
    mut providers: Providers,
    config: &FleetConfig,
    key: &AgentKey,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Providers> {
    if let Some(settings) = &config.fly {
        let fly = Fly::new(settings.clone(), key.clone(), Arc::clone(clock))?;
        providers = providers.with(Arc::new(fly));
    }
    if let Some(settings) = &config.sprites {
        let sprites = Sprites::new(settings.clone(), key.clone(), Arc::clone(clock))?;
        providers = providers.with(Arc::new(sprites));
    }
    Ok(providers)
}

/// What agents on this host may call, and whom they trust: what the server itself does.
fn may_call(config: &Config) -> anyhow::Result<Vec<String>> {
    let private = config.alone().then(|| "--private".to_owned());
    let allowed =
        config.outbound.allow.entries().into_iter().map(|entry| format!("--allow={entry}"));
    // An agent lives in its home, where a path from here leads nowhere.
    let trusted = config.outbound.ca_file.as_deref().map(std::path::absolute).transpose();
    let trusted = trusted.context("outbound.ca_file is no path that can be used")?;
    let trusted = trusted.map(|file| format!("--ca-file={}", file.display()));
    Ok(private.into_iter().chain(allowed).chain(trusted).collect())
}
