//! Machines of Fly and of Sprites behind the real binary: from nothing to ready, and to nothing again.

use std::sync::Arc;

use mainstay_base::SystemClock;
use mainstay_standins::agent::Agent;
use mainstay_standins::fly::{FlyOptions, FlyServer};
use mainstay_standins::sprites::{SpriteOptions, SpriteServer};
use mainstay_testkit::quiet_port;
use serde_json::{Value, json};

use super::follower::{expected, is_worker, told};
use super::house::{House, NEVER, OFTEN};

/// What the service of an agent is called on a sprite.
const SERVICE: &str = "mainstay-agent";

/// A provider that stands in for the real one.
pub(crate) enum World {
    Fly(FlyServer),
    Sprite(SpriteServer),
}

impl World {
    pub(crate) async fn of(provider: &str, sweep_ms: &str) -> (Self, House) {
        let clock = Arc::new(SystemClock::new());
        if provider == "fly" {
            let options = FlyOptions { agent_port: Some(quiet_port()), ..FlyOptions::default() };
            let fly = FlyServer::start(options.clone(), clock).await.unwrap();
            let house = house(sweep_ms, &fly_variables(&fly, &options));
            return (Self::Fly(fly), house);
        }
        let options = SpriteOptions::default();
        let sprites = SpriteServer::start(options.clone(), clock).await.unwrap();
        let variables = [("SPRITES_TOKEN", options.token), ("SPRITES_API_URL", sprites.base_url())];
        let house = house(sweep_ms, &variables);
        (Self::Sprite(sprites), house)
    }

    const fn provider(&self) -> &'static str {
        match self {
            Self::Fly(_) => "fly",
            Self::Sprite(_) => "sprite",
        }
    }

    /// What the one machine of a worker is called that is there: for Fly its id, else its name.
    pub(crate) fn machine(&self, worker: &str) -> Option<String> {
        let start = format!("mainstay-{}-", worker.replace('-', ""));
        match self {
            Self::Fly(fly) => {
                let machines = fly.machines();
                let is_there = |one: &&mainstay_standins::fly::machine::Machine| {
                    one.name().starts_with(&start) && one.state().name() != "destroyed"
                };
                machines.iter().find(is_there).map(|one| one.id().to_owned())
            }
            Self::Sprite(sprites) => (1..50)
                .map(|generation| format!("{start}{generation}"))
                .find(|name| sprites.sprite(name).is_some()),
        }
    }

    pub(crate) fn agent(&self, worker: &str) -> Arc<Agent> {
        let machine = self.machine(worker).unwrap();
        match self {
            Self::Fly(fly) => fly.agent(&machine).unwrap(),
            Self::Sprite(sprites) => sprites.agent(&machine, SERVICE).unwrap(),
        }
    }

    /// Everything that is asked of the provider takes its time from now on.
    pub(crate) fn slow_down(&self) {
        if let Self::Fly(fly) = self {
            fly.switch(|switches| switches.slow = Some(std::time::Duration::from_secs(1)));
        }
    }

    /// Takes the machine of a worker away, as a provider does.
    async fn take_away(&self, worker: &str) {
        let machine = self.machine(worker).unwrap();
        match self {
            Self::Fly(fly) => fly.reap(&machine).await,
            Self::Sprite(sprites) => sprites.remove(&machine),
        }
    }
}

fn house(sweep_ms: &str, variables: &[(&str, String)]) -> House {
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    House::with(sweep_ms, &variables)
}

pub(crate) fn fly_variables(fly: &FlyServer, options: &FlyOptions) -> Vec<(&'static str, String)> {
    vec![
        ("FLY_API_TOKEN", options.token.clone()),
        ("FLY_APP", options.app.clone()),
        ("FLY_IMAGE", "registry.fly.io/standin:1".to_owned()),
        ("FLY_API_BASE_URL", fly.base_url()),
        ("MAINSTAY_FLY_AGENT_PORT", options.agent_port.unwrap_or(1).to_string()),
    ]
}

async fn from_nothing_to_nothing(provider: &str) {
    let (world, house) = World::of(provider, NEVER).await;
    let worker = house.ready(world.provider());
    let net = house.loaded("net", &worker);
    assert_eq!(world.agent(&worker).loaded(), std::slice::from_ref(&net));
    let stopped = house.operate(&worker, "stop", "stopped");
    assert_eq!(stopped["nets"][0]["load_state"], "unloaded");
    house.operate(&worker, "start", "ready");
    assert_eq!(house.load_state(&net), "unloaded", "its memory was lost");
    let machine = world.machine(&worker);
    house.operate(&worker, "destroy", "pending");
    assert_eq!(world.machine(&worker), None, "{machine:?}");
    house.operate(&worker, "destroy", "pending");
    house.operate(&worker, "provision", "ready");
    assert_ne!(world.machine(&worker), machine, "another machine");
    assert_eq!(house.delete(&format!("/api/workers/{worker}")).status, 204);
    assert_eq!(world.machine(&worker), None, "the machine goes before the record");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_of_fly_from_nothing_to_nothing() {
    from_nothing_to_nothing("fly").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sprite_from_nothing_to_nothing() {
    from_nothing_to_nothing("sprite").await;
}

async fn a_machine_that_goes(provider: &str) {
    let (world, house) = World::of(provider, OFTEN).await;
    let worker = house.ready(world.provider());
    let net = house.loaded("net", &worker);
    let follower = house.follow();
    world.take_away(&worker).await;
    let mut seen = follower.until(|event| is_worker(event, &worker, "error"));
    seen.push(follower.next());
    assert_eq!(told(&seen), expected(&[(&*worker, "error"), (&*net, "unloaded")]), "{seen:#?}");
    house.operate(&worker, "retry", "ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_of_fly_that_goes_is_found_by_the_loop() {
    a_machine_that_goes("fly").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sprite_that_goes_is_found_by_the_loop() {
    a_machine_that_goes("sprite").await;
}

async fn a_stop_of_what_is_gone(provider: &str) {
    let (world, house) = World::of(provider, NEVER).await;
    let worker = house.ready(world.provider());
    let net = house.loaded("net", &worker);
    world.take_away(&worker).await;
    let refused = house.post(&format!("/api/workers/{worker}/stop"), &json!({}));
    let body: Value = refused.json();
    assert_eq!((refused.status, &body["code"]), (409, &json!("worker_gone")), "{body}");
    assert_eq!(body["error"], "Worker is no longer available");
    let told = (&body["worker_status"], &body["net_load_state"]);
    assert_eq!(told, (&json!("error"), &json!("unloaded")), "{body}");
    assert_eq!(house.load_state(&net), "unloaded");
    house.operate(&worker, "destroy", "pending");
    house.operate(&worker, "destroy", "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_a_machine_of_fly_that_is_gone_is_told_with_both_states() {
    a_stop_of_what_is_gone("fly").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_a_sprite_that_is_gone_is_told_with_both_states() {
    a_stop_of_what_is_gone("sprite").await;
}
