//! Everything at a glance: the board, its strips and the wallboard.

use std::time::Duration;

use mainstay_base::Id;
use mainstay_monitor::aliases::{AliasName, CanonicalName};
use mainstay_monitor::answer::Answer;
use mainstay_monitor::latency::{self, PointsRow, Retention, Upkeep};
use mainstay_monitor::{Patch, ServiceNumber, ServiceStatus};
use mainstay_testkit::each_database;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::house::House;

fn read(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.plain).unwrap()
}

impl House {
    async fn board(&self) -> Value {
        read(&self.views.board().await.unwrap())
    }

    async fn wall(&self) -> Value {
        read(&self.views.wallboard().await.unwrap())
    }

    /// Polled just now, with this status.
    async fn polled_as(&self, name: &str, status: &str) {
        let now = self.now().await.as_millis();
        self.execute(&format!(
            "UPDATE service_states SET status = '{status}', status_since = {now}, poll_seq = 1,
               last_polled_at = {now}, next_poll_at = {} WHERE service_no =
               (SELECT number FROM services WHERE name = '{name}')",
            now + 30_000
        ))
        .await;
    }

    async fn set_dependency(&self, id: Id, columns: &str) {
        self.execute(&format!("UPDATE dependencies SET {columns} WHERE id = '{id}'")).await;
    }

    /// A change of a service's status so long ago.
    async fn turned(&self, name: &str, minutes_ago: i64, before: &str, after: &str) {
        let at = self.now().await.as_millis() - minutes_ago * 60_000;
        self.execute(&format!(
            "INSERT INTO changes (at, kind, service_no, before, after)
             SELECT {at}, 'service', number, '{before}', '{after}' FROM services WHERE name = '{name}'"
        ))
        .await;
    }
}

each_database! {
    async fn the_board_shows_every_service_in_one_line(database: &TestDatabase) {
        let house = House::new(database).await;
        let (beta, alpha) = (house.service("beta").await, house.service("Alpha").await);
        house.service("gone").await;
        house.polled_as("beta", "degraded").await;
        house.execute("UPDATE service_states SET degraded_count = 2, skipped_count = 1,
            breaker_state = 'half_open', poll_warnings = '[\"x\"]'
            WHERE service_no = (SELECT number FROM services WHERE name = 'beta')").await;
        house.execute("UPDATE services SET removed_at = 1 WHERE name = 'gone'").await;
        let board = house.board().await;
        assert_eq!(board["is_cut"], false);
        let [one, other] = board["items"].as_array().unwrap().as_slice() else { panic!("{board}") };
        assert_eq!((&one["id"], &other["id"]), (&json!(alpha), &json!(beta)));
        assert_eq!((&one["status"], &one["breaker"]), (&json!("unknown"), &json!("closed")));
        for (field, value) in [
            ("name", json!("beta")),
            ("team", Value::Null),
            ("is_active", json!(true)),
            ("poll_interval_ms", json!(30_000)),
            ("status", json!("degraded")),
            ("breaker", json!("half_open")),
            ("p95_ms", Value::Null),
            ("has_warnings", json!(true)),
        ] {
            assert_eq!(other[field], value, "{field}");
        }
        assert_eq!(other["dependency_counts"]["degraded"], 2);
    }

    async fn whoever_is_not_polled_any_more_is_not_known_on_either_board(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("shop").await;
        house.polled_as("shop", "healthy").await;
        house.execute("UPDATE service_states SET healthy_count = 1").await;
        house.dependency("shop", "db", "1").await;
        assert_eq!(house.board().await["items"][0]["status"], "healthy");
        assert_eq!(house.wall().await["items"][0]["status"], "healthy");
        let before = house.now().await;
        house.advance(Duration::from_secs(30 + 2 * 30 + 1));
        let (board, wall) = (house.board().await, house.wall().await);
        let line = &board["items"][0];
        assert_eq!((&line["status"], &line["dependency_counts"]["unknown"]), (&json!("unknown"), &json!(1)));
        assert_eq!(line["dependency_counts"]["healthy"], 0);
        assert_eq!(wall["items"][0]["status"], "unknown");
        let since: mainstay_base::Timestamp = serde_json::from_value(wall["items"][0]["since"].clone()).unwrap();
        assert!(since.since(before) >= Duration::from_secs(80), "from when it was too late on");
    }

    async fn a_board_is_built_again_when_somebody_was_told_of_a_change(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("shop").await;
        let first = house.views.board().await.unwrap();
        // Nobody was told of it.
        house.execute("UPDATE services SET team = 'x'").await;
        assert_eq!(house.views.board().await.unwrap().tag, first.tag);
        let patch = Patch { name: Some("store".to_owned()), ..Patch::default() };
        house.update(id, patch).await.unwrap();
        let second = house.views.board().await.unwrap();
        assert_ne!(second.tag, first.tag);
        assert_eq!(read(&second)["items"][0]["name"], "store");
        house.execute("UPDATE services SET team = 'y'").await;
        house.advance(Duration::from_secs(6));
        assert_eq!(house.board().await["items"][0]["team"], "y", "a while later it is read anew");
        house.delete(id).await.unwrap();
        assert_eq!(house.board().await["items"], json!([]));
    }

    async fn the_board_tells_how_long_checks_took_lately(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("shop").await;
        house.polled_as("shop", "healthy").await;
        let number: i64 = house.row("SELECT number AS n FROM services").await.get("n").unwrap();
        let at = house.now().await;
        let points = |ms| latency::pack(&[(0, Duration::from_millis(ms)), (1, Duration::from_millis(ms))]);
        let row = |at, ms| PointsRow { service_no: ServiceNumber(number), at, points: points(ms) };
        let rows = [row(at, 100), row(at.plus(Duration::from_secs(5)), 100)];
        house.db.write(async |tx| latency::insert(tx, &rows).await).await.unwrap();
        let is_about = |p95: &Value, ms: f64| p95.as_f64().is_some_and(|p95| (0.9 * ms..=1.1 * ms).contains(&p95));
        // Before it is summed up, and soon after it slows.
        let p95 = house.board().await["items"][0]["p95_ms"].clone();
        assert!(is_about(&p95, 100.0), "{p95:?}");
        house.advance(Duration::from_secs(20));
        let slow = latency::pack(&[(0, Duration::from_millis(100)), (1, Duration::from_millis(900))]);
        let slow = PointsRow { service_no: ServiceNumber(number), at: house.now().await, points: slow };
        house.db.write(async |tx| latency::insert(tx, &[slow]).await).await.unwrap();
        house.polled_as("shop", "degraded").await;
        let p95 = house.board().await["items"][0]["p95_ms"].clone();
        assert!(is_about(&p95, 900.0), "{p95:?}");
        let strips = house.views.strips(&[id]).await.unwrap();
        assert!(strips.items[0].p95_ms.iter().flatten().any(|p95| *p95 > 800.0), "{strips:?}");
        house.advance(Duration::from_secs(15 * 60));
        let upkeep = Upkeep::new(house.db.clone(), Retention::default()).unwrap();
        upkeep.run_once(&CancellationToken::new()).await.unwrap();
        house.polled_as("shop", "healthy").await;
        let p95 = house.board().await["items"][0]["p95_ms"].as_f64();
        assert!(p95.is_some_and(|p95| (810.0..=990.0).contains(&p95)), "{p95:?}");
        let strips = house.views.strips(&[id]).await.unwrap();
        let told: Vec<_> = strips.items[0].p95_ms.iter().flatten().collect();
        assert_eq!((strips.items[0].p95_ms.len(), told.len()), (24, 1));
    }

    async fn strips_tell_the_worst_of_each_part_of_the_day(database: &TestDatabase) {
        let house = House::new(database).await;
        let (shop, fresh) = (house.service("shop").await, house.service("fresh").await);
        let gone = house.service("gone").await;
        house.delete(gone).await.unwrap();
        house.execute("UPDATE services SET created_at = 1 WHERE name = 'shop'").await;
        house.polled_as("shop", "healthy").await;
        // Longer ago than a strip goes back.
        house.turned("shop", 3_000, "unknown", "down").await;
        house.turned("shop", 600, "healthy", "down").await;
        house.turned("shop", 600, "down", "healthy").await;
        house.turned("shop", 300, "healthy", "unknown").await;
        house.turned("shop", 200, "unknown", "healthy").await;
        let strips = house.views.strips(&[fresh, gone, shop]).await.unwrap();
        let ids: Vec<_> = strips.items.iter().map(|one| one.id).collect();
        assert_eq!(ids, [fresh, shop], "in the order of the question, without what is gone");
        let [young, old] = strips.items.as_slice() else { panic!("{strips:?}") };
        assert_eq!(young.cells.iter().flatten().count(), 1, "{young:?}");
        assert_eq!(young.cells.last().unwrap(), &Some(ServiceStatus::Unknown));
        assert_eq!(old.cells.len(), 60);
        let count = |status| old.cells.iter().filter(|cell| **cell == Some(status)).count();
        assert_eq!((count(ServiceStatus::Down), count(ServiceStatus::Degraded)), (1, 0));
        assert!((5..=6).contains(&count(ServiceStatus::Unknown)), "100 minutes: {old:?}");
        assert_eq!(old.cells.first().unwrap(), &Some(ServiceStatus::Healthy));
        assert!(house.views.strips(&[]).await.unwrap().items.is_empty());
    }

    async fn the_wallboard_groups_by_name_and_shows_the_worst_first(database: &TestDatabase) {
        let house = House::new(database).await;
        let (one, two) = (house.service("one").await, house.service("two").await);
        for name in ["one", "two"] {
            house.polled_as(name, "healthy").await;
        }
        house.dependency("one", "cache", "1").await;
        let slow = house.dependency("one", "it''s \"a\" \\ queue", "2").await;
        let down = house.dependency("one", "db", "3").await;
        house.dependency("two", "postgres", "4").await;
        let missing = house.dependency("two", "old", "5").await;
        let long_missing = house.dependency("two", "older", "6").await;
        let closed = house.dependency("two", "oldest", "7").await;
        let now = house.now().await.as_millis();
        let day = 86_400_000;
        house.set_dependency(slow, "status = 'degraded', state = 1").await;
        house.set_dependency(down, "status = 'down', state = 2, healthy = 0, error_message = 'refused'").await;
        house.set_dependency(missing, &format!("missing_since = {}", now - 5)).await;
        house.set_dependency(long_missing, &format!("missing_since = {}", now - day - 60_000)).await;
        house.set_dependency(closed, "missing_since = 1, removed_at = 2").await;
        for (alias, canonical) in [("db", "Orders DB"), ("postgres", "orders db")] {
            let names = (AliasName::parse(alias).unwrap(), CanonicalName::parse(canonical).unwrap());
            let aliases = &house.aliases;
            let made = house.events.write(async |tx, out| aliases.create(tx, out, names.0, names.1).await);
            made.await.unwrap();
        }
        let wall = house.wall().await;
        let names: Vec<_> = wall["items"].as_array().unwrap().iter().map(|item| item["canonical_name"].as_str().unwrap()).collect();
        assert_eq!(names, ["Orders DB", "it's \"a\" \\ queue", "old", "cache"]);
        assert_eq!(wall["total"], 4);
        let group = &wall["items"][0];
        for (field, value) in [("status", json!("down")), ("error_message", json!("refused"))] {
            assert_eq!(group[field], value, "{group}");
        }
        let counts = json!({"healthy": 1, "degraded": 0, "down": 1, "unknown": 0, "skipped": 0});
        assert_eq!(group["counts"], counts);
        let who: Vec<_> = group["reported_by"].as_array().unwrap().iter().map(|one| (one["service_id"].clone(), one["status"].clone())).collect();
        assert_eq!(who, [(json!(one), json!("down")), (json!(two), json!("healthy"))]);
        // While a service can't be polled nobody knows what it leans on.
        house.execute(&format!("UPDATE service_states SET stale_since = {now} WHERE service_no = (SELECT number FROM services WHERE name = 'one')")).await;
        house.advance(Duration::from_secs(6));
        let wall = house.wall().await;
        let group = wall["items"].as_array().unwrap().last().unwrap();
        assert_eq!((&group["canonical_name"], &group["status"]), (&json!("Orders DB"), &json!("healthy")), "one knows: {wall}");
        assert_eq!((&group["counts"]["unknown"], &group["error_message"]), (&json!(1), &Value::Null));
        house.execute("UPDATE services SET is_active = 0 WHERE name = 'two'").await;
        house.advance(Duration::from_secs(6));
        let wall = house.wall().await;
        let all: Vec<_> = wall["items"].as_array().unwrap().iter().map(|item| &item["status"]).collect();
        assert_eq!(all, ["unknown"; 3], "who is switched off says nothing, and nobody else knows: {wall}");
        house.execute("UPDATE services SET is_active = 1").await;
        house.delete(one).await.unwrap();
        let names = house.wall().await["items"].as_array().unwrap().len();
        assert_eq!(names, 2, "what only a removed service leaned on is gone");
    }
    async fn the_wallboard_tells_of_a_service_that_fails_though_nobody_leans_on_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let alone = house.service("Alone").await;
        house.service("Shop").await;
        house.polled_as("Alone", "down").await;
        house.polled_as("Shop", "degraded").await;
        house.execute("UPDATE service_states SET error_message = 'connection refused' WHERE status = 'down'").await;
        let broken = house.dependency("Shop", "db", "1").await;
        house.set_dependency(broken, "status = 'down', state = 2, healthy = 0").await;
        let wall = house.wall().await;
        let [failing] = wall["failing"].as_array().unwrap().as_slice() else { panic!("{wall}") };
        for (field, value) in [
            ("service_id", json!(alone)),
            ("service_name", json!("Alone")),
            ("status", json!("down")),
            ("error_message", json!("connection refused")),
        ] {
            assert_eq!(failing[field], value, "{failing}");
        }
        assert_eq!(wall["failing_total"], 1, "the database tells why the shop fails: {wall}");
        // Once another says so, its group tells of it.
        house.polled_as("Shop", "healthy").await;
        let seen = house.dependency("Shop", "alone", "2").await;
        house.set_dependency(seen, "status = 'down', state = 2, healthy = 0").await;
        house.advance(Duration::from_secs(6));
        assert_eq!(house.wall().await["failing"], json!([]));
        house.execute("UPDATE dependencies SET status = 'healthy', state = 0, healthy = 1").await;
        house.advance(Duration::from_secs(6));
        assert_eq!(house.wall().await["failing_total"], 1, "others may not have noticed");
        // Nobody knows any more how it is.
        house.advance(Duration::from_secs(30 + 2 * 30 + 1));
        assert_eq!(house.wall().await["failing"], json!([]));
        house.polled_as("Alone", "down").await;
        house.execute("UPDATE services SET is_active = 0 WHERE name = 'Alone'").await;
        house.advance(Duration::from_secs(6));
        assert_eq!(house.wall().await["failing"], json!([]), "who is switched off does not fail");
    }
}
