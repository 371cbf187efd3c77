//! The client of agents: what it takes, and from whom.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use mainstay_fleet::NetOrder;
use mainstay_fleet::agents::{AgentDoor, AgentError, Agents as _, WebAgents};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_standins::agent::{Agent, Manner};
use mainstay_standins::door::Door;
use serde_json::json;
use url::Url;

use crate::{PATIENCE, clock, worker};

const TOKEN: &str = "hunter2";

pub(crate) fn web() -> Web {
    let policy = Policy { private: true, ..Policy::default() };
    Web::new(&WebOptions::new(policy, clock()).unwrap()).unwrap()
}

async fn house() -> (Arc<Agent>, Door, AgentDoor, WebAgents) {
    let agent = Agent::new(&worker(1).to_string(), 4, TOKEN);
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let door = Door::open(loopback, 0, Arc::clone(&agent) as _).await.unwrap();
    let address = Url::parse(&format!("http://{}", door.address())).unwrap();
    let token = mainstay_base::Secret::new(TOKEN.to_owned());
    let agent_door = AgentDoor { worker: worker(1), address, token };
    (agent, door, agent_door, crate::agents())
}

fn net(number: u32, generation: i64) -> NetOrder {
    NetOrder { id: worker(number), generation, definition: json!({ "services": [] }) }
}

#[tokio::test]
async fn an_agent_says_how_it_is_and_what_is_loaded() {
    let (agent, _door, door, agents) = house().await;
    agents.load(&door, &net(7, 2)).await.unwrap();
    agents.load(&door, &net(7, 2)).await.expect("the same once more is fine");
    let health = agents.health(&door).await.unwrap();
    assert_eq!((health.generation, health.loaded_nets.len()), (4, 1));
    assert_eq!((health.loaded_nets[0].id, health.loaded_nets[0].generation), (worker(7), 2));
    agents.unload(&door, worker(7), 2).await.unwrap();
    agents.unload(&door, worker(7), 2).await.expect("what is not loaded is fine");
    assert!(agent.loaded().is_empty());
}

#[tokio::test]
async fn an_older_generation_is_refused() {
    let (_agent, _door, door, agents) = house().await;
    agents.load(&door, &net(7, 5)).await.unwrap();
    let stale = Err(AgentError::Stale { current: Some(5) });
    assert_eq!(agents.load(&door, &net(7, 4)).await, stale);
    assert_eq!(agents.unload(&door, worker(7), 4).await, stale);
    agents.load(&door, &net(7, 6)).await.unwrap();
}

#[tokio::test]
async fn results_come_in_order_until_they_are_acknowledged() {
    let (agent, _door, door, agents) = house().await;
    assert_eq!(agents.results(&door, worker(7), 0).await, Err(AgentError::NoSuchNet));
    agents.load(&door, &net(7, 5)).await.unwrap();
    for number in 1..=3 {
        agent.find(&worker(7).to_string(), json!({ "number": number, "text": "a\u{0}b" }));
    }
    let found = agents.results(&door, worker(7), 1).await.unwrap();
    let seen: Vec<u64> = found.results.iter().map(|one| one.seq).collect();
    assert_eq!(seen, [2, 3]);
    assert_eq!(found.results[0].result["text"], "a\u{fffd}b", "no database holds a NUL");
    assert_eq!(agents.results(&door, worker(7), 3).await.unwrap().results, []);
}

#[tokio::test]
async fn a_net_that_is_none_is_refused_and_the_worker_is_not_lost() {
    let (_agent, _door, door, agents) = house().await;
    let bad = NetOrder { definition: json!("none"), ..net(7, 1) };
    let error = agents.load(&door, &bad).await.unwrap_err();
    assert!(matches!(error, AgentError::Refused(_)) && !error.is_the_workers(), "{error}");
}

#[tokio::test]
async fn who_behaves_like_no_agent_of_ours_is_told_apart() {
    let (agent, _door, door, agents) = house().await;
    let agents = agents.with_timeout(PATIENCE);
    // Only who would never answer in time is not waited for.
    let impatient = agents.clone().with_timeout(Duration::from_millis(300));
    for (manner, code) in [
        (Manner::Slow(Duration::from_millis(20)), "ok"),
        (Manner::Slow(Duration::from_hours(1)), "unreachable"),
        (Manner::Silent, "unreachable"),
        (Manner::BadGateway, "unreachable"),
        (Manner::HangsUp, "unreachable"),
        (Manner::Garbage, "foreign"),
        (Manner::Huge, "foreign"),
        (Manner::Stranger, "foreign"),
        (Manner::Well, "ok"),
    ] {
        agent.behave(manner);
        let never = matches!(manner, Manner::Silent | Manner::Slow(_)) && code != "ok";
        let asked = if never { &impatient } else { &agents }.health(&door).await;
        let found = asked.as_ref().map_or_else(AgentError::code, |_| "ok");
        assert_eq!(found, code, "{manner:?}: {asked:?}");
        if let Err(error) = asked {
            assert!(error.is_the_workers());
            let text = format!("{error} {error:?} {door:?}");
            assert!(!text.contains(TOKEN) && error.to_string().len() < 400, "{text}");
        }
    }
}

#[tokio::test]
async fn a_stranger_that_says_yes_to_everything_did_nothing() {
    let (agent, _door, door, agents) = house().await;
    for manner in [Manner::Stranger, Manner::Garbage] {
        agent.behave(manner);
        assert_eq!(agents.load(&door, &net(7, 2)).await.unwrap_err().code(), "foreign");
        assert_eq!(agents.unload(&door, worker(7), 2).await.unwrap_err().code(), "foreign");
        assert_eq!(agents.results(&door, worker(7), 0).await.unwrap_err().code(), "foreign");
    }
}

#[tokio::test]
async fn one_that_lies_about_its_generation_is_heard_so_that_it_can_be_fenced_off() {
    let (agent, _door, door, agents) = house().await;
    agent.behave(Manner::Lying(3));
    assert_eq!(agents.health(&door).await.unwrap().generation, 3);
}

#[tokio::test]
async fn an_agent_of_another_worker_another_token_or_nobody_is_not_ours() {
    let (_agent, port, door, agents) = house().await;
    let other = AgentDoor { worker: worker(2), ..door.clone() };
    assert_eq!(agents.health(&other).await.unwrap_err().code(), "foreign");
    let wrong = AgentDoor { token: mainstay_base::Secret::new("other".to_owned()), ..door.clone() };
    assert_eq!(agents.health(&wrong).await, Err(AgentError::Denied));
    drop(port);
    assert_eq!(agents.health(&door).await.unwrap_err().code(), "unreachable");
}
