//! Whole operations on machines of Fly: what a provider tries again is not tried again by who asks it.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Id, Secret, SystemClock};
use mainstay_fleet::agents::WebAgents;
use mainstay_fleet::providers::fly::FlyPace;
use mainstay_fleet::providers::{Fly, FlySettings};
use mainstay_fleet::{AgentKey, FailureCode, Pace, ProviderKind, Waited, WorkerOperation};
use mainstay_standins::fly::{FlyOptions, FlyServer};
use mainstay_testkit::{TestDatabase, each_database, quiet_port};
use url::Url;

use crate::house::{House, Running, quick};
use crate::world::World;

/// A stand-in that is not limited, and a house whose machines come from there.
async fn of(database: &TestDatabase, options: FlyOptions) -> (House, Running, FlyServer, Id) {
    of_pace(database, options, quick()).await
}

async fn of_pace(
    database: &TestDatabase,
    options: FlyOptions,
    pace: Pace,
) -> (House, Running, FlyServer, Id) {
    let port = quiet_port();
    let options = FlyOptions { agent_port: Some(port), is_limited: false, ..options };
    let clock = Arc::new(SystemClock::new());
    let server = FlyServer::start(options.clone(), clock.clone()).await.unwrap();
    let (url, token) = (Url::parse(&server.base_url()).unwrap(), Secret::new(options.token));
    let mut settings = FlySettings::new(url, token, &options.app, "registry.fly.io/standin:1");
    settings.agent_port = port;
    settings.pace = FlyPace {
        start_every: Duration::from_millis(20),
        start_for: Duration::from_millis(400),
        ..settings.pace
    };
    let provider = Fly::new(settings, AgentKey::new([7; 32]), clock.clone()).unwrap();
    let agents = WebAgents::new(clock).unwrap();
    let asked = (Arc::new(provider) as _, Arc::new(agents) as _);
    let world = World::new(ProviderKind::Fly);
    let house = House::asking(database, world, asked, Arc::default(), pace).await;
    let running = house.run();
    let user = house.user().await;
    (house, running, server, user)
}

/// How often something was asked of a machine.
fn count(server: &FlyServer, what: &str) -> usize {
    let asked = server.asked();
    asked.iter().filter(|line| line.starts_with("POST") && line.ends_with(what)).count()
}

each_database! {
    async fn a_start_that_is_refused_for_ever_is_tried_in_one_time_alone(database: &TestDatabase) {
        let options = FlyOptions { lingering_starts: u32::MAX, ..FlyOptions::default() };
        let (house, running, server, user) = of(database, options).await;
        let worker = house.ready(user, "w").await;
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap();
        let (leases, starts) = (count(&server, "/lease"), count(&server, "/start"));
        let failure = house.operate(user, worker, WorkerOperation::Start).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::ProviderConflict);
        assert!(failure.detail.contains("still active"), "{}", failure.detail);
        assert_eq!(count(&server, "/lease"), leases + 1, "the time of one start");
        assert!(count(&server, "/start") > starts);
        assert_eq!(house.stands(user, worker).await, "stopped");
        running.stop().await;
    }

    async fn who_goes_on_for_a_runner_that_died_waits_until_its_hold_has_ended(database: &TestDatabase) {
        let pace = Pace { outage: Duration::from_millis(100), ..quick() };
        let (house, running, server, user) = of_pace(database, FlyOptions::default(), pace).await;
        let worker = house.ready(user, "w").await;
        running.stop().await;
        server.lease_away(server.machines()[0].id(), 2);
        let leases = count(&server, "/lease");
        let operation = house.begin(user, worker, WorkerOperation::Stop).await.unwrap();
        house.execute("UPDATE jobs SET crashes = 1 WHERE status = 'queued'").await;
        let running = house.run();
        let ended = house.fleet.wait_for_worker(user, worker, operation).await.unwrap();
        assert!(matches!(ended, Waited::Done(_)), "{ended:?}");
        assert!(count(&server, "/lease") > leases + 1, "it was held at first");
        assert_eq!(house.stands(user, worker).await, "stopped");
        running.stop().await;
    }

    async fn a_hold_of_our_own_whose_answer_was_lost_is_not_told_as_somebody_elses(database: &TestDatabase) {
        let options = FlyOptions { lingering_starts: 0, ..FlyOptions::default() };
        let (house, running, server, user) = of(database, options).await;
        let worker = house.ready(user, "w").await;
        for (kind, then) in [
            (WorkerOperation::Stop, "stopped"),
            (WorkerOperation::Start, "ready"),
            (WorkerOperation::Destroy, "pending"),
        ] {
            server.switch(|switches| switches.leases_lost = 1);
            house.operate(user, worker, kind).await.unwrap();
            assert_eq!(house.stands(user, worker).await, then);
        }
        running.stop().await;
    }

    async fn only_the_loop_lists_the_whole_app_and_once_a_round(database: &TestDatabase) {
        let (house, running, server, user) = of(database, FlyOptions::default()).await;
        let worker = house.ready(user, "w").await;
        house.sweep(&mut house.engine()).await;
        let id = server.machines()[0].id().to_owned();
        server.switch(|switches| switches.unreachable = vec![id]);
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        house.sweep(&mut house.engine()).await;
        house.operate(user, worker, WorkerOperation::Provision).await.unwrap();
        let lists = server.questions().into_iter();
        let lists = lists.filter(|one| one.method == "GET" && one.path.len() == 4);
        let of: Vec<bool> =
            lists.map(|one| one.parameter("metadata.mainstay_worker").is_some()).collect();
        let of_all = of.iter().filter(|is_of_one| !**is_of_one).count();
        assert!(of.len() > 4 && of_all == 1, "the second round is not ten seconds later: {of:?}");
        running.stop().await;
    }

    async fn a_machine_that_somebody_holds_is_not_asked_for_again(database: &TestDatabase) {
        let (house, running, server, user) = of(database, FlyOptions::default()).await;
        let worker = house.ready(user, "w").await;
        server.lease_away(server.machines()[0].id(), 3_600);
        let leases = count(&server, "/lease");
        for (number, kind) in [WorkerOperation::Stop, WorkerOperation::Destroy].iter().enumerate() {
            let failure = house.operate(user, worker, *kind).await.unwrap_err();
            assert_eq!(failure.code, FailureCode::ProviderConflict);
            assert_eq!(count(&server, "/lease"), leases + number + 1, "{kind:?}");
        }
        assert_eq!(house.stands(user, worker).await, "ready");
        running.stop().await;
    }
}
