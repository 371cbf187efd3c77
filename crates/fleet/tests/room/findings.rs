//! What nets find comes back with the worker as its location: once, in order, and only what is theirs.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock as _, Id, Timestamp};
use mainstay_fleet::agents::{NetResult, NetResults};
use mainstay_fleet::{
    AgentError, CleanUpLocations, Definition, FleetError, LocationStatus, NetOperation, NetPatch,
    SeenLocation, WorkerOperation,
};
use mainstay_store::{Sql, values};
use mainstay_testkit::each_database;
use serde_json::{Value, json};

use crate::house::{House, KNOWN, SECOND, known_service, new_id, quick};

const FINDINGS: Sql =
    Sql::same("test.findings", "SELECT cast(sum(findings) AS text) AS sum FROM locations");
const CHANGES: Sql = Sql::same(
    "test.changes",
    "SELECT c.status FROM location_changes AS c JOIN locations AS l ON l.number = c.location_no
     WHERE l.net_id = $1 ORDER BY c.number",
);

fn found(house: &House, name: &str, status: &str) -> Value {
    at(name, status, house.clock.now())
}

fn at(name: &str, status: &str, at: Timestamp) -> Value {
    let error = (status != "healthy").then_some("connection refused");
    json!({ "kind": "service", "name": name, "at": at, "status": status, "latency_ms": 4.25, "error": error })
}

/// A ready worker with a loaded net that checks orders and pay.
async fn cast(house: &House, user: Id) -> (Id, Id) {
    let worker = house.ready(user, "fra-1").await;
    let definition = json!({ "services": ["Orders", "pay"] });
    let net = house.net_of(user, "checkout", Some(worker), definition).await;
    house.cast(user, net, NetOperation::Load).await.unwrap();
    (worker, net)
}

async fn locations(house: &House, user: Id) -> Vec<SeenLocation> {
    house.fleet.locations_of(user, KNOWN.0, KNOWN.1).await.unwrap()
}

async fn one(house: &House, user: Id) -> SeenLocation {
    let mut found = locations(house, user).await;
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

async fn recorded(house: &House) -> u64 {
    let row = house.db.fetch_one(&FINDINGS, &[]).await.unwrap();
    row.get::<Option<String>>("sum").unwrap().map_or(0, |sum| sum.parse().unwrap())
}

async fn changes(house: &House, net: Id) -> Vec<String> {
    let rows = house.db.fetch_all(&CHANGES, values![net]).await.unwrap();
    rows.iter().map(|row| row.get("status").unwrap()).collect()
}

/// What was told of locations, as the check and its change.
async fn told(house: &House, user: Id) -> Vec<String> {
    let told = house.told(user).await;
    let changed = told.iter().filter(|event| event["type"] == "location_status_changed");
    changed
        .map(|event| {
            let word = |key: &str| event[key].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}", word("check"), word("previous"), word("current"))
        })
        .collect()
}

each_database! {
    async fn findings_come_with_a_sweep_and_are_acknowledged_when_they_are_recorded(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let mut engine = house.engine();
        house.sweep(&mut engine).await;
        let seen = one(&house, user).await;
        assert_eq!((seen.status, seen.checked_at), (LocationStatus::Unknown, None));
        assert!(seen.error.unwrap().contains("since the net was loaded"));
        house.world.find(worker, net, &found(&house, "orders", "healthy"));
        house.world.find(worker, net, &found(&house, "orders", "down"));
        house.world.find(worker, net, &found(&house, "pay", "healthy"));
        assert_eq!(house.sweep(&mut engine).await.collected, 1);
        let seen = one(&house, user).await;
        assert_eq!((seen.worker_id, seen.worker.as_str()), (worker, "fra-1"));
        assert_eq!((seen.net_id, seen.net.as_str(), seen.check.as_str()), (net, "checkout", "Orders"));
        assert_eq!(seen.status, LocationStatus::Down);
        assert_eq!(seen.latency, Some(Duration::from_micros(4_250)));
        assert_eq!(seen.error.as_deref(), Some("connection refused"));
        assert_eq!(changes(&house, net).await, ["healthy", "down", "healthy"]);
        let shown = house.fleet.location_changes_of(user, KNOWN.0, KNOWN.1).await.unwrap();
        let words: Vec<_> = shown.iter().map(|one| (one.worker.as_str(), one.check.as_str(), one.status.name())).collect();
        assert_eq!(words, [("fra-1", "Orders", "down"), ("fra-1", "Orders", "healthy")], "newest first, of the service alone");
        assert_eq!(shown[0].error.as_deref(), Some("connection refused"));
        let stranger = house.fleet.location_changes_of(new_id(), KNOWN.0, KNOWN.1).await.unwrap();
        assert_eq!(stranger, [], "of nobody else's workers");
        assert_eq!(told(&house, user).await, ["Orders unknown down", "pay unknown healthy"]);
        let events = house.told(user).await;
        let event = events.iter().find(|event| event["check"] == "Orders").unwrap();
        assert_eq!(event["service_id"], json!(known_service()));
        assert_eq!((&event["worker_id"], &event["net_id"]), (&json!(worker), &json!(net)));
        house.sweep(&mut engine).await;
        assert_eq!((house.world.unfetched(worker, net), recorded(&house).await), (0, 3));
        assert_eq!(told(&house, user).await.len(), 2, "nothing is told without a change");
        running.stop().await;
    }

    async fn an_unload_brings_what_was_found_until_then(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        house.world.find(worker, net, &found(&house, "orders", "down"));
        house.cast(user, net, NetOperation::Unload).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "ready unloaded");
        assert_eq!((recorded(&house).await, changes(&house, net).await), (1, vec!["down".to_owned()]));
        // One that does not answer that is unloaded all the same.
        house.cast(user, net, NetOperation::Load).await.unwrap();
        house.world.lie(worker, |_, _, _| Err(AgentError::Unreachable("no".to_owned())));
        house.cast(user, net, NetOperation::Unload).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "ready unloaded");
        running.stop().await;
    }

    async fn what_agents_dropped_is_counted_and_told(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let finding = found(&house, "orders", "healthy");
        let generation = house.world.holds(worker)[0].1;
        house.world.lie(worker, move |_, after, boot_id| {
            let result = NetResult { seq: 8, generation, result: finding.clone() };
            let results = if after < 8 { vec![result] } else { vec![] };
            Ok(NetResults { boot_id, now: None, results, has_more: false, dropped: 7 })
        });
        let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
        let _recording = metrics::set_default_local_recorder(&recorder);
        let counted = || recorder.handle().render();
        let mut engine = house.engine();
        for _ in 0..2 {
            house.sweep(&mut engine).await;
            let line = "mainstay_fleet_findings_total{outcome=\"dropped\"} 7";
            assert!(counted().contains(line), "once, with what is recorded: {}", counted());
        }
        assert_eq!(recorded(&house).await, 1, "{net}");
        running.stop().await;
    }

    async fn an_agent_of_another_order_is_not_asked_what_it_found(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        house.world.find(worker, net, &found(&house, "orders", "down"));
        house.world.pretend_generation(worker, 99);
        house.operate(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "error unloaded");
        assert_eq!((recorded(&house).await, house.world.fetched(worker)), (0, 0));
        assert_eq!((told(&house, user).await, changes(&house, net).await.len()), (vec![], 0));
        running.stop().await;
    }

    async fn a_health_check_brings_them_too(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        house.world.find(worker, net, &found(&house, "orders", "degraded"));
        house.operate(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        assert_eq!(one(&house, user).await.status, LocationStatus::Degraded);
        running.stop().await;
    }

    async fn they_are_their_owners_alone(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let (user, other) = (house.user().await, house.user().await);
        let (worker, net) = cast(&house, user).await;
        house.world.find(worker, net, &found(&house, "orders", "down"));
        house.sweep(&mut house.engine()).await;
        assert_eq!((locations(&house, user).await.len(), locations(&house, other).await.len()), (1, 0));
        assert_eq!(told(&house, other).await, Vec::<String>::new());
        let by_address = house.fleet.locations_of(user, "another name", KNOWN.1).await.unwrap();
        assert_eq!(by_address.len(), 1);
        let neither = house.fleet.locations_of(user, "another name", "https://x.example/").await;
        assert_eq!(neither.unwrap(), []);
        running.stop().await;
    }

    async fn two_who_collect_at_once_record_everything_once(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let other = House::with(database, house.world.clone(), Arc::clone(&house.clock), quick()).await;
        house.world.page(worker, 3);
        for round in 0..10 {
            let status = if round % 2 == 0 { "down" } else { "healthy" };
            house.world.find(worker, net, &found(&house, "orders", status));
            // What one of them has acknowledged the other may still hold in its hands.
            let (mut one, mut two) = (house.engine(), other.engine());
            house.execute("UPDATE workers SET probe_at = 0").await;
            let first = one.sweep();
            let checked = house.operate(user, worker, WorkerOperation::HealthCheck);
            let (_, _, _) = tokio::join!(first, checked, two.sweep());
        }
        house.sweep(&mut house.engine()).await;
        assert_eq!((recorded(&house).await, changes(&house, net).await.len()), (10, 10));
        running.stop().await;
    }

    async fn who_dies_before_the_acknowledgement_has_recorded_it_all_the_same(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let kept = Arc::new(NetResult {
            seq: 1,
            generation: house.world.holds(worker)[0].1,
            result: found(&house, "orders", "down"),
        });
        // It tells the same page whatever is acknowledged: as if every collector had died behind its commit.
        house.world.lie(worker, move |_, _, boot_id| {
            let results = vec![NetResult::clone(&kept)];
            Ok(NetResults { boot_id, now: None, results, has_more: true, dropped: 0 })
        });
        let mut engine = house.engine();
        for _ in 0..3 {
            house.sweep(&mut engine).await;
        }
        assert_eq!((recorded(&house).await, changes(&house, net).await.len()), (1, 1));
        assert_eq!(told(&house, user).await.len(), 1);
        running.stop().await;
    }

    async fn another_run_of_the_agent_numbers_anew(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        house.world.find(worker, net, &found(&house, "orders", "down"));
        let mut engine = house.engine();
        house.sweep(&mut engine).await;
        house.world.reboot(worker);
        house.sweep(&mut engine).await;
        let seen = one(&house, user).await;
        assert_eq!(seen.status, LocationStatus::Unknown);
        assert!(seen.error.unwrap().contains("not loaded"));
        house.cast(user, net, NetOperation::Load).await.unwrap();
        house.world.find(worker, net, &found(&house, "orders", "healthy"));
        house.sweep(&mut engine).await;
        assert_eq!((one(&house, user).await.status, recorded(&house).await), (LocationStatus::Healthy, 2));
        running.stop().await;
    }

    async fn an_agent_that_never_ends_is_left_after_a_few_pages(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let generation = house.world.holds(worker)[0].1;
        let result = found(&house, "orders", "down");
        house.world.lie(worker, move |_, after, boot_id| {
            let page = after + 1..=after + 500;
            let one = |seq| NetResult { seq, generation, result: result.clone() };
            let results = page.map(one).collect();
            Ok(NetResults { boot_id, now: None, results, has_more: true, dropped: 0 })
        });
        house.sweep(&mut house.engine()).await;
        assert_eq!((house.world.fetched(worker), recorded(&house).await), (5, 2_500));
        assert_eq!((changes(&house, net).await.len(), told(&house, user).await.len()), (1, 1));
        running.stop().await;
    }

    async fn what_is_not_theirs_changes_nothing(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let mut engine = house.engine();
        for odd in [
            json!("garbage"),
            json!({}),
            json!({ "kind": "service", "name": "elsewhere", "at": "2026-11-15T21:00:00Z", "status": "down" }),
            json!({ "kind": "journey", "name": "orders", "at": "2026-11-15T21:00:00Z", "status": "down" }),
            json!({ "kind": "service", "name": "orders", "at": "never", "status": "down" }),
            json!({ "kind": "service", "name": "orders", "at": "2026-11-15T21:00:00Z", "status": "fine" }),
        ] {
            house.world.find(worker, net, &odd);
        }
        house.sweep(&mut engine).await;
        house.sweep(&mut engine).await;
        assert_eq!((recorded(&house).await, house.world.unfetched(worker, net)), (0, 0));
        let garbage = |_, _, _| Err(AgentError::Foreign("its answer is none of an agent".to_owned()));
        house.world.lie(worker, garbage);
        house.sweep(&mut engine).await;
        house.world.lie(worker, |_, _, _| {
            let boot_id = new_id();
            Ok(NetResults { boot_id, now: None, results: vec![], has_more: true, dropped: 0 })
        });
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "ready loaded", "that is for the health check");
        house.world.confess(worker);
        house.world.find(worker, net, &found(&house, "orders", "healthy"));
        house.sweep(&mut engine).await;
        assert_eq!((one(&house, user).await.status, recorded(&house).await), (LocationStatus::Healthy, 1));
        running.stop().await;
    }

    async fn time_is_ours_and_does_not_go_back(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let mut engine = house.engine();
        let far = Timestamp::from_millis(house.clock.now().as_millis() + 86_400_000);
        house.world.find(worker, net, &at("orders", "down", far));
        house.sweep(&mut engine).await;
        let first = one(&house, user).await.checked_at.unwrap();
        assert!(first <= house.db.now().await.unwrap(), "{first}");
        house.world.find(worker, net, &at("orders", "healthy", Timestamp::from_millis(0)));
        house.sweep(&mut engine).await;
        let seen = one(&house, user).await;
        assert_eq!(seen.status, LocationStatus::Healthy);
        assert!(seen.checked_at.unwrap() >= first && seen.since >= first, "{seen:?}");
        running.stop().await;
    }

    async fn what_nobody_looks_at_any_more_is_unknown(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        house.world.find(worker, net, &found(&house, "orders", "healthy"));
        let mut engine = house.engine();
        house.sweep(&mut engine).await;
        assert_eq!(one(&house, user).await.status, LocationStatus::Healthy);
        house.advance(300 * SECOND);
        let seen = one(&house, user).await;
        assert_eq!(seen.status, LocationStatus::Unknown);
        assert!(seen.error.unwrap().contains("210 s"));
        house.world.find(worker, net, &found(&house, "orders", "healthy"));
        house.sweep(&mut engine).await;
        house.world.crash(worker);
        house.sweep(&mut engine).await;
        let seen = one(&house, user).await;
        assert_eq!(seen.status, LocationStatus::Unknown);
        assert!(seen.error.unwrap().contains("the worker is error"));
        running.stop().await;
    }

    async fn a_net_that_changes_begins_anew_and_one_that_goes_is_forgotten(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        house.world.find(worker, net, &found(&house, "orders", "down"));
        house.sweep(&mut house.engine()).await;
        let wrong = Definition::new(json!({ "services": ["wrong"] })).unwrap();
        let patch = NetPatch { definition: Some(wrong), ..NetPatch::default() };
        let refused = house
            .write(async |tx, out| house.fleet.change_net(tx, out, (user, net), patch, None).await)
            .await;
        assert!(matches!(refused, Err(FleetError::Net(_))));
        assert_eq!(locations(&house, user).await.len(), 1);
        let other = Definition::new(json!({ "services": ["orders"], "journeys": ["buy"] })).unwrap();
        let patch = NetPatch { definition: Some(other), ..NetPatch::default() };
        house
            .write(async |tx, out| house.fleet.change_net(tx, out, (user, net), patch, None).await)
            .await
            .unwrap();
        assert_eq!(locations(&house, user).await, []);
        house.cast(user, net, NetOperation::Load).await.unwrap();
        let now = house.clock.now();
        let trip = json!({ "kind": "journey", "name": "buy", "at": now, "status": "degraded", "error": "pay: got 500" });
        house.world.find(worker, net, &trip);
        house.sweep(&mut house.engine()).await;
        let seen = locations(&house, user).await;
        let names: Vec<&str> = seen.iter().map(|one| one.check.as_str()).collect();
        assert_eq!(names, ["orders", "buy"], "a journey shows on what it touches");
        assert_eq!(seen[1].error.as_deref(), Some("pay: got 500"));
        house
            .write(async |tx, out| house.fleet.remove_net(tx, out, (user, net), None).await)
            .await
            .unwrap();
        assert_eq!((locations(&house, user).await, recorded(&house).await), (vec![], 0));
        running.stop().await;
    }

    async fn changes_are_kept_for_a_while_and_not_without_end(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (worker, net) = cast(&house, user).await;
        let mut engine = house.engine();
        for status in ["down", "healthy", "down", "healthy", "down"] {
            house.world.find(worker, net, &found(&house, "orders", status));
        }
        house.sweep(&mut engine).await;
        let clean_up = CleanUpLocations::new(&house.fleet).unwrap();
        assert_eq!(clean_up.run_once(3_600 * SECOND, 1_000).await.unwrap(), 0);
        assert_eq!(clean_up.run_once(3_600 * SECOND, 3).await.unwrap(), 2);
        assert_eq!(changes(&house, net).await, ["down", "healthy", "down"]);
        house.advance(7_200 * SECOND);
        assert_eq!(clean_up.run_once(3_600 * SECOND, 1_000).await.unwrap(), 3);
        assert_eq!(one(&house, user).await.worker_id, worker, "how it was last stays");
        running.stop().await;
    }
}
