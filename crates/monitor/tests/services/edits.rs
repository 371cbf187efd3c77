//! What an edit writes, tells and refuses.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_base::{Id, Secret};
use mainstay_monitor::services::{Draft, HeaderPatch, Patch, ServicesError};
use mainstay_store::Row;
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, draft};

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

fn headers(pairs: &[(&str, Option<&str>)]) -> Patch {
    let pairs = pairs.iter().map(|(name, value)| {
        ((*name).to_owned(), value.map(|value| Secret::new(value.to_owned())))
    });
    Patch { headers: Some(HeaderPatch::Merge(pairs.collect())), ..Patch::default() }
}

impl House {
    async fn definition(&self) -> Row {
        self.row("SELECT * FROM services ORDER BY number").await
    }

    async fn state(&self) -> Row {
        self.row("SELECT * FROM service_states ORDER BY service_no").await
    }

    async fn generation(&self) -> i64 {
        self.definition().await.get("generation").unwrap()
    }

    /// As if polls had failed until the breaker opened.
    async fn fail(&self) {
        self.execute(
            "UPDATE service_states SET poll_seq = 12, status = 'down', breaker_state = 'open',
               breaker_failures = 10, breaker_generation = 3, breaker_retry_at = 99,
               backoff_attempt = 10, next_poll_at = 99, last_polled_at = 5, stale_since = 5",
        )
        .await;
    }

    async fn header_names(&self) -> String {
        self.definition().await.get("header_names").unwrap()
    }
}

each_database! {
    async fn a_new_service_is_written_with_its_event_and_the_engine_hears_of_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let made = house.create(Draft { team: Some("Shop".to_owned()), ..draft(" Orders ") }).await.unwrap();
        assert_eq!(made.name, "Orders");
        let row = house.definition().await;
        assert_eq!(row.get::<Id>("id").unwrap(), made.id);
        assert_eq!(row.get::<String>("name_key").unwrap(), "orders");
        assert_eq!(row.get::<i64>("revision").unwrap(), 1);
        assert_eq!(row.get::<i64>("poll_interval_ms").unwrap(), 30_000);
        let state = house.state().await;
        assert_eq!(state.get::<String>("status").unwrap(), "unknown");
        assert_eq!(state.get::<Option<i64>>("next_poll_at").unwrap(), None);
        assert_eq!(house.changes().await, ["added - Orders"]);
        let told = house.events().await;
        let fields = json!({"service_id": made.id.to_string(), "service_name": "Orders"});
        assert_eq!(told, [("service:started".to_owned(), fields)]);
        assert_eq!(house.bells.load(Ordering::SeqCst), 1);
    }

    async fn a_name_is_taken_in_any_case_until_its_service_is_removed(database: &TestDatabase) {
        let house = House::new(database).await;
        let first = house.service("Orders").await;
        let second = house.service("Payments").await;
        let again = house.create(draft("oRDERS")).await;
        assert!(matches!(again, Err(ServicesError::NameTaken)), "{again:?}");
        let rename = || Patch { name: Some(" orders".to_owned()), ..Patch::default() };
        let renamed = house.update(second, rename()).await;
        assert!(matches!(renamed, Err(ServicesError::NameTaken)), "{renamed:?}");
        assert_eq!(house.changes().await.len(), 2, "a refused edit leaves nothing");
        // Its own name in another case is no other's.
        house.update(first, rename()).await.unwrap();
        house.delete(first).await.unwrap();
        house.update(second, rename()).await.unwrap();
        house.create(draft("Payments")).await.unwrap();
    }

    async fn another_name_or_team_leaves_polling_alone(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        house.fail().await;
        let patch = Patch {
            name: Some("Sales".to_owned()),
            team: Some(Some("Shop".to_owned())),
            ..Patch::default()
        };
        assert_eq!(house.update(id, patch).await.unwrap().name, "Sales");
        let (row, state) = (house.definition().await, house.state().await);
        assert_eq!(row.get::<i64>("revision").unwrap(), 2);
        assert_eq!(row.get::<i64>("generation").unwrap(), 1);
        assert_eq!(state.get::<i64>("next_poll_at").unwrap(), 99);
        assert_eq!(state.get::<i64>("dependency_revision").unwrap(), 0);
        assert_eq!(house.changes().await, ["added - Orders", "renamed Orders Sales"]);
        assert_eq!(house.told().await, ["service:started", "service:updated"]);
        house.update(id, Patch { team: Some(None), ..Patch::default() }).await.unwrap();
        assert_eq!(house.definition().await.get::<Option<String>>("team").unwrap(), None);
    }

    async fn an_edit_that_changes_nothing_is_none(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        let same = Patch {
            name: Some("Orders ".to_owned()),
            poll_interval_ms: Some(30_000),
            is_active: Some(true),
            ..headers(&[("X-Old", None)])
        };
        house.update(id, same).await.unwrap();
        assert_eq!(house.definition().await.get::<i64>("revision").unwrap(), 1);
        assert_eq!(house.told().await.len(), 1);
        assert_eq!(house.bells.load(Ordering::SeqCst), 1);
    }

    async fn another_endpoint_starts_with_fresh_guards(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        house.fail().await;
        house.advance(Duration::from_secs(60));
        let patch = Patch { health_endpoint: Some("https://new.example.org/".to_owned()), ..Patch::default() };
        house.update(id, patch).await.unwrap();
        let state = house.state().await;
        assert_eq!(state.get::<String>("breaker_state").unwrap(), "closed");
        assert_eq!(state.get::<i64>("breaker_failures").unwrap(), 0);
        assert_eq!(state.get::<i64>("backoff_attempt").unwrap(), 0);
        assert_eq!(state.get::<Option<i64>>("breaker_retry_at").unwrap(), None);
        assert!(state.get::<i64>("breaker_generation").unwrap() > 3, "what is under way counts no more");
        assert!(state.get::<i64>("dependency_revision").unwrap() > 0, "a result of now is compared anew");
        let planned: i64 = state.get("next_poll_at").unwrap();
        assert!((house.now().await.as_millis() - planned).abs() < 5_000, "{planned}");
        assert_eq!(house.generation().await, 2);
        assert_eq!(house.told().await, ["service:started", "circuit:close", "service:updated"]);
        // A closed breaker closes silently.
        let patch = Patch { health_endpoint: Some("https://newer.example.org/".to_owned()), ..Patch::default() };
        house.update(id, patch).await.unwrap();
        assert_eq!(house.told().await.len(), 4);
    }

    async fn another_interval_is_planned_anew_and_keeps_the_guards(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        for (patch, generation) in [
            (Patch { poll_interval_ms: Some(60_000), ..Patch::default() }, 1),
            (Patch { timeout_ms: Some(500), ..Patch::default() }, 1),
            (Patch { format: Some("status".to_owned()), ..Patch::default() }, 2),
        ] {
            house.fail().await;
            house.update(id, patch).await.unwrap();
            let state = house.state().await;
            assert_eq!(state.get::<String>("breaker_state").unwrap(), "open");
            assert!(state.get::<i64>("next_poll_at").unwrap() > 99);
            // While the breaker refuses, its end is the plan: nobody is late before.
            let later = house.now().await.as_millis() + 200_000;
            house.execute(&format!("UPDATE service_states SET breaker_retry_at = {later}")).await;
            let again = Patch { poll_interval_ms: Some(90_000), ..Patch::default() };
            house.update(id, again).await.unwrap();
            assert_eq!(house.state().await.get::<i64>("next_poll_at").unwrap(), later);
            let back = Patch { poll_interval_ms: Some(30_000), ..Patch::default() };
            house.update(id, back).await.unwrap();
            assert_eq!(house.generation().await, generation);
        }
    }

    async fn headers_are_sealed_merged_and_taken_away(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        house.update(id, headers(&[("X-Key", Some("hunter2")), ("X-Other", Some("o"))])).await.unwrap();
        assert_eq!(house.header_names().await, r#"["X-Key","X-Other"]"#);
        let sealed: String = house.definition().await.get("sealed_headers").unwrap();
        assert!(!sealed.contains("hunter2"), "{sealed}");
        assert_eq!(house.generation().await, 2);
        // Others stay, whatever their case.
        house.update(id, headers(&[("x-key", Some("new"))])).await.unwrap();
        assert_eq!(house.header_names().await, r#"["x-key","X-Other"]"#);
        house.update(id, headers(&[("X-KEY", None)])).await.unwrap();
        assert_eq!(house.header_names().await, r#"["X-Other"]"#);
        let clear = Patch { headers: Some(HeaderPatch::Clear), ..Patch::default() };
        house.update(id, clear).await.unwrap();
        let row = house.definition().await;
        assert_eq!(house.header_names().await, "[]");
        assert_eq!(row.get::<Option<String>>("sealed_headers").unwrap(), None);
    }

    async fn headers_that_can_not_be_opened_stay_until_new_ones_are_given(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        house.update(id, headers(&[("X-Key", Some("hunter2"))])).await.unwrap();
        let sealed: String = house.definition().await.get("sealed_headers").unwrap();
        house.seal.lost.store(true, Ordering::SeqCst);
        house.update(id, Patch { name: Some("Sales".to_owned()), ..Patch::default() }).await.unwrap();
        assert_eq!(house.definition().await.get::<String>("sealed_headers").unwrap(), sealed);
        assert_eq!((house.header_names().await.as_str(), house.generation().await), (r#"["X-Key"]"#, 2));
        house.update(id, headers(&[("X-New", Some("n"))])).await.unwrap();
        assert_eq!((house.header_names().await.as_str(), house.generation().await), (r#"["X-New"]"#, 3));
    }

    async fn what_is_not_active_is_not_known(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        house.execute("UPDATE service_states SET status = 'healthy', poll_seq = 1, next_poll_at = 99").await;
        let active = |is_active| Patch { is_active: Some(is_active), ..Patch::default() };
        house.update(id, active(false)).await.unwrap();
        let state = house.state().await;
        assert_eq!(state.get::<String>("status").unwrap(), "unknown");
        assert!(state.get::<Option<i64>>("stale_since").unwrap().is_some());
        assert_eq!(state.get::<Option<i64>>("next_poll_at").unwrap(), None);
        assert!(state.get::<i64>("dependency_revision").unwrap() > 0);
        assert_eq!(
            house.changes().await[1..],
            ["service healthy unknown", "stale fresh stale"]
        );
        let told = house.events().await;
        assert_eq!(told[1].0, "service:status");
        assert_eq!((&told[1].1["previous"], &told[1].1["current"]), (&json!("healthy"), &json!("unknown")));
        // While it is off, what would plan a poll plans none.
        house.update(id, Patch { poll_interval_ms: Some(5_000), ..Patch::default() }).await.unwrap();
        assert_eq!(house.state().await.get::<Option<i64>>("next_poll_at").unwrap(), None);
        house.update(id, active(true)).await.unwrap();
        assert_eq!(
            house.told().await,
            ["service:started", "service:status", "service:stopped", "service:updated", "service:started"]
        );
        assert_eq!(house.generation().await, 3);
    }

    async fn a_removed_service_takes_its_dependencies_and_links_with_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let (orders, shop) = (house.service("Orders").await, house.service("Shop").await);
        house.execute(
            "INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
               healthy, state, code, skipped, status, status_since, first_seen_at, linked_service_no)
             SELECT 'a', number, 0, 'db', 'db', 'db', 'other', 1, 0, 200, 0, 'healthy', 1, 1, NULL
             FROM services WHERE name = 'Orders'
             UNION ALL
             SELECT 'b', s.number, 0, 'orders', 'orders', 'orders', 'other', 1, 0, 200, 0, 'healthy', 1,
               1, o.number
             FROM services AS s JOIN services AS o ON o.name = 'Orders' WHERE s.name = 'Shop'",
        )
        .await;
        house.delete(orders).await.unwrap();
        let rows = house.rows("SELECT removed_at, linked_service_no FROM dependencies ORDER BY id").await;
        assert!(rows[0].get::<Option<i64>>("removed_at").unwrap().is_some());
        assert_eq!(rows[1].get::<Option<i64>>("removed_at").unwrap(), None);
        assert_eq!(rows[1].get::<Option<i64>>("linked_service_no").unwrap(), None);
        assert_eq!(house.changes().await[2..], [format!("link {orders} -"), "removed Orders -".to_owned()]);
        let told = house.events().await;
        let fields = json!({"service_id": orders.to_string(), "service_name": "Orders", "removed": true});
        assert_eq!(told.last(), Some(&("service:stopped".to_owned(), fields)));
        for gone in [orders, NOBODY.parse().unwrap()] {
            assert!(matches!(house.delete(gone).await, Err(ServicesError::NotFound)));
            assert!(matches!(house.update(gone, Patch::default()).await, Err(ServicesError::NotFound)));
        }
        house.delete(shop).await.unwrap();
    }

    async fn what_does_not_hold_is_refused_and_changes_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        for patch in [
            Patch { name: Some(String::new()), ..Patch::default() },
            Patch { schema_config: Some(Some(json!({}))), ..Patch::default() },
            Patch { format: Some("schema".to_owned()), ..Patch::default() },
            Patch { timeout_ms: Some(0), ..Patch::default() },
            headers(&[("Host", Some("a"))]),
        ] {
            let refused = house.update(id, patch).await;
            assert!(matches!(refused, Err(ServicesError::Invalid(_))), "{refused:?}");
        }
        assert_eq!(house.definition().await.get::<i64>("revision").unwrap(), 1);
    }
}
