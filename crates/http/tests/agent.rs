//! The agent's routes, asked by the client that the fleet asks agents with.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, Secret, SystemClock, Timestamp};
use mainstay_fleet::agent::{Agent, BadNet, Checker, Checks, Identity, Reporter, Running};
use mainstay_fleet::agents::{AgentDoor, AgentError, Agents as _, Finding, WebAgents};
use mainstay_fleet::{CheckKind, LocationStatus, NetOrder};
use mainstay_http::Limits;
use mainstay_testkit::FakeClock;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::sync::DropGuard;

const TOKEN: &str = "hunter2";

/// Finds that all is well, at once.
struct Talking;

impl Checker for Talking {
    fn checks(&self, definition: &Value) -> Result<Box<dyn Checks>, BadNet> {
        match definition.get("services") {
            Some(_) => Ok(Box::new(Talking)),
            None => Err(BadNet("name some services".to_owned())),
        }
    }
}

impl Checks for Talking {
    fn count(&self) -> usize {
        1
    }

    fn start(self: Box<Self>, reporter: Reporter) -> Running {
        reporter.found(&finding());
        Box::new(())
    }
}

fn finding() -> Finding {
    Finding {
        kind: CheckKind::Service,
        name: "orders".to_owned(),
        at: Timestamp::from_millis(0),
        status: LocationStatus::Healthy,
        latency_ms: Some(1.5),
        error: None,
    }
}

fn id(number: u32) -> Id {
    format!("01a1e102-8087-7707-8707-{number:012x}").parse().unwrap()
}

async fn house() -> (Agent, AgentDoor, WebAgents, DropGuard) {
    house_by(Arc::new(SystemClock::new())).await
}

/// The agent goes by this clock.
async fn house_by(clock: Arc<dyn Clock>) -> (Agent, AgentDoor, WebAgents, DropGuard) {
    let identity = Identity { worker: id(1), generation: 4, boot_id: id(2), policy: None };
    let agent = Agent::new(identity, Arc::new(Talking), clock);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let token = Secret::new(TOKEN.to_owned());
    let service = mainstay_http::agent(agent.clone(), token.clone(), Limits::default());
    let stop = CancellationToken::new();
    let stopped = stop.clone().cancelled_owned();
    tokio::spawn(mainstay_http::serve(listener, None, service, stopped, Duration::ZERO));
    let door = AgentDoor { worker: id(1), address, token };
    (agent, door, WebAgents::new(Arc::new(SystemClock::new())).unwrap(), stop.drop_guard())
}

fn net(generation: i64) -> NetOrder {
    NetOrder { id: id(7), generation, definition: json!({ "services": [] }) }
}

#[tokio::test]
async fn a_net_is_loaded_runs_and_is_unloaded() {
    let (_agent, door, agents, _stop) = house().await;
    agents.load(&door, &net(5)).await.unwrap();
    let found = loop {
        let found = agents.results(&door, id(7), 0).await.unwrap();
        if !found.results.is_empty() {
            break found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!((found.boot_id, found.now.is_some()), (id(2), true));
    let told: Finding = serde_json::from_value(found.results[0].result.clone()).unwrap();
    assert_eq!(told, finding());
    assert_eq!(agents.results(&door, id(7), 1).await.unwrap().results, []);
    let health = agents.health(&door).await.unwrap();
    assert_eq!((health.worker_id, health.generation, health.checks_run), (id(1), 4, 1));
    assert_eq!((health.loaded_nets[0].id, health.loaded_nets[0].generation), (id(7), 5));
    agents.unload(&door, id(7), 5).await.unwrap();
    assert_eq!(agents.results(&door, id(7), 0).await, Err(AgentError::NoSuchNet));
}

#[tokio::test]
async fn what_is_older_or_no_net_is_refused_by_name() {
    let (_agent, door, agents, _stop) = house().await;
    agents.load(&door, &net(5)).await.unwrap();
    let stale = Err(AgentError::Stale { current: Some(5) });
    assert_eq!(agents.load(&door, &net(4)).await, stale);
    assert_eq!(agents.unload(&door, id(7), 4).await, stale);
    let bad = NetOrder { definition: json!({}), ..net(6) };
    let refused = agents.load(&door, &bad).await.unwrap_err();
    assert_eq!(refused, AgentError::Refused("name some services".to_owned()));
}

#[tokio::test]
async fn only_who_has_the_token_is_heard_and_only_that_keeps_it_awake() {
    let clock = Arc::new(FakeClock::new());
    let (agent, door, agents, _stop) = house_by(clock.clone()).await;
    let idle = Duration::from_secs(30);
    clock.advance(idle);
    for token in ["", "hunter", "hunter22"] {
        let wrong = AgentDoor { token: Secret::new(token.to_owned()), ..door.clone() };
        assert_eq!(agents.health(&wrong).await, Err(AgentError::Denied), "{token}");
    }
    assert_eq!(agent.idle_for(), idle);
    agents.health(&door).await.unwrap();
    assert_eq!(agent.idle_for(), Duration::ZERO);
}
