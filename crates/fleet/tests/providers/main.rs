//! The providers against faithful stand-ins and real processes: what all of them hold to, and what each
//! has of its own.
#![cfg(test)]

mod agents;
mod answers;
mod contract;
mod fly;
mod fly_trouble;
mod process;
mod sprite;
mod telling;

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, Secret, SystemClock};
use mainstay_fleet::AgentKey;
use mainstay_fleet::agents::{AgentDoor, WebAgents};
use mainstay_fleet::providers::fly::FlyPace;
use mainstay_fleet::providers::{
    Fly, FlySettings, Machine, Order, ProcessSettings, Processes, Size, SpriteSettings, Sprites,
};
use mainstay_standins::fly::{FlyOptions, FlyServer};
use mainstay_standins::sprites::{SpriteOptions, SpriteServer};
use mainstay_testkit::quiet_port;
use url::Url;

/// What a test may wait for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}

pub(crate) fn key() -> AgentKey {
    AgentKey::new([7_u8; 32])
}

pub(crate) fn agents() -> WebAgents {
    WebAgents::new(clock()).unwrap()
}

/// The order of a worker, told by a number.
pub(crate) fn order(number: u32) -> Order {
    Order {
        worker: worker(number),
        generation: 1,
        is_ephemeral: false,
        region: None,
        size: Size::Small,
    }
}

pub(crate) fn worker(number: u32) -> Id {
    format!("01a1e102-8087-7707-8707-{number:012x}").parse().unwrap()
}

/// The agent of that worker on its machine.
pub(crate) fn door(number: u32, machine: &Machine) -> AgentDoor {
    AgentDoor::of(worker(number), machine, &key()).unwrap()
}

pub(crate) fn fly_options() -> FlyOptions {
    FlyOptions { agent_port: Some(quiet_port()), ..FlyOptions::default() }
}

pub(crate) async fn fly_server(options: FlyOptions) -> FlyServer {
    FlyServer::start(options, clock()).await.unwrap()
}

pub(crate) fn fly_settings(server: &FlyServer, options: &FlyOptions) -> FlySettings {
    let url = Url::parse(&server.base_url()).unwrap();
    let token = Secret::new(options.token.clone());
    let mut settings = FlySettings::new(url, token, &options.app, "registry.fly.io/standin:1");
    settings.agent_port = options.agent_port.unwrap_or(1);
    settings.api.timeout = PATIENCE;
    settings.pace = FlyPace {
        start_every: Duration::from_millis(20),
        start_for: Duration::from_secs(6),
        look_up_every: Duration::from_millis(20),
        look_ups: 1,
    };
    settings
}

pub(crate) fn fly(settings: FlySettings) -> Fly {
    Fly::new(settings, key(), clock()).unwrap()
}

/// A stand-in and the provider that asks it.
pub(crate) async fn fly_pair() -> (FlyServer, Fly) {
    let options = fly_options();
    let server = fly_server(options.clone()).await;
    let provider = fly(fly_settings(&server, &options));
    (server, provider)
}

pub(crate) async fn sprite_pair(clock: Arc<dyn Clock>) -> (SpriteServer, Sprites) {
    let options = SpriteOptions::default();
    let server = SpriteServer::start(options.clone(), Arc::clone(&clock)).await.unwrap();
    let provider = Sprites::new(sprite_settings(&server, &options.token), key(), clock).unwrap();
    (server, provider)
}

pub(crate) fn sprite_settings(server: &SpriteServer, token: &str) -> SpriteSettings {
    let url = Url::parse(&server.base_url()).unwrap();
    let mut settings = SpriteSettings::new(url, Secret::new(token.to_owned()));
    settings.api.timeout = PATIENCE;
    settings.look_every = Duration::from_millis(20);
    settings
}

pub(crate) fn process_settings(folder: &std::path::Path, manner: &str) -> ProcessSettings {
    let program = env!("CARGO_BIN_EXE_agent-under-test").into();
    let mut settings = ProcessSettings::new(program, folder.join("agents"));
    settings.environment = vec![("AGENT_MANNER".to_owned(), manner.to_owned())];
    settings.stop_limit = Duration::from_secs(5);
    settings
}

pub(crate) fn processes(settings: ProcessSettings) -> Processes {
    Processes::new(settings, key(), Arc::new(agents()))
}
