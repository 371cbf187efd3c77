//! Checks run while their net is loaded, and not a moment longer.

use mainstay_base::Timestamp;
use mainstay_testkit::FakeClock;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;
use crate::agent::checks::Checks;
use crate::model::location::{CheckKind, LocationStatus};

/// So many checks, each of which finds something every ten seconds.
struct Counting(usize);

impl Checker for Counting {
    fn checks(&self, definition: &Value) -> Result<Box<dyn Checks>, BadNet> {
        let count = definition.get("checks").and_then(Value::as_u64);
        let count = count.ok_or_else(|| BadNet("name how many checks there are".to_owned()))?;
        Ok(Box::new(Self(usize::try_from(count).unwrap())))
    }
}

impl Checks for Counting {
    fn count(&self) -> usize {
        self.0
    }

    fn start(self: Box<Self>, reporter: Reporter) -> Running {
        let mut running = JoinSet::new();
        for place in 0..self.0 {
            let reporter = reporter.clone();
            running.spawn(async move {
                sleep(Duration::from_secs(u64::try_from(place).unwrap() * 5)).await;
                loop {
                    reporter.found(&finding());
                    sleep(Duration::from_secs(10)).await;
                }
            });
        }
        Box::new(running)
    }
}

fn finding() -> Finding {
    Finding {
        kind: CheckKind::Service,
        name: "orders".to_owned(),
        at: Timestamp::from_millis(0),
        status: LocationStatus::Healthy,
        latency_ms: None,
        error: None,
    }
}

fn id(number: u32) -> Id {
    format!("01a1e102-8087-7707-8707-{number:012x}").parse().unwrap()
}

fn agent() -> (Arc<FakeClock>, Agent) {
    let clock = Arc::new(FakeClock::new());
    let identity = Identity { worker: id(1), generation: 4, boot_id: id(2), policy: None };
    let agent = Agent::new(identity, Arc::new(Counting(0)), Arc::clone(&clock) as _);
    (clock, agent)
}

fn found(agent: &Agent) -> usize {
    agent.results(id(7), 0).map_or(0, |found| found.results.len())
}

#[tokio::test(start_paused = true)]
async fn checks_run_until_their_net_is_unloaded() {
    let (_, agent) = agent();
    agent.load(id(7), 1, &json!({ "checks": 2 })).unwrap();
    sleep(Duration::from_millis(30_500)).await;
    assert_eq!((found(&agent), agent.health().checks_run), (7, 7));
    agent.unload(id(7), 1).unwrap();
    assert_eq!(agent.results(id(7), 0), None);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(agent.health().checks_run, 7);
}

#[tokio::test(start_paused = true)]
async fn the_same_net_goes_on_and_a_newer_one_takes_its_place() {
    let (_, agent) = agent();
    agent.load(id(7), 1, &json!({ "checks": 1 })).unwrap();
    sleep(Duration::from_secs(5)).await;
    agent.load(id(7), 1, &json!({ "checks": 1 })).unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(found(&agent), 1, "it did not begin anew");
    agent.load(id(7), 2, &json!({ "checks": 1 })).unwrap();
    sleep(Duration::from_secs(1)).await;
    let generations: Vec<i64> =
        agent.results(id(7), 0).unwrap().results.iter().map(|one| one.generation).collect();
    assert_eq!(generations, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_changes_nothing() {
    let (_, agent) = agent();
    agent.load(id(7), 5, &json!({ "checks": 1 })).unwrap();
    let stale = LoadError::NotDone(NotDone::Stale { current: 5 });
    assert_eq!(agent.load(id(7), 4, &json!({ "checks": 9 })), Err(stale));
    assert!(matches!(agent.load(id(7), 6, &json!({})), Err(LoadError::BadNet(_))));
    let many = json!({ "checks": MAX_CHECKS + 1 });
    assert!(matches!(agent.load(id(7), 6, &many), Err(LoadError::BadNet(_))));
    assert_eq!(agent.unload(id(7), 4), Err(NotDone::Stale { current: 5 }));
    sleep(Duration::from_secs(1)).await;
    assert_eq!((found(&agent), agent.health().loaded_nets.len()), (1, 1));
}

#[tokio::test]
async fn it_says_who_it_is_and_for_how_long_nobody_called() {
    let (clock, agent) = agent();
    clock.advance(Duration::from_secs(90));
    let health = agent.health();
    assert_eq!((health.worker_id, health.boot_id, health.generation), (id(1), id(2), 4));
    assert_eq!((health.uptime_s, agent.idle_for()), (90, Duration::from_secs(90)));
    agent.called();
    assert_eq!(agent.idle_for(), Duration::ZERO);
}
