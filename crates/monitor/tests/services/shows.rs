//! What people are shown.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_monitor::latency::{self, PointsRow, Range};
use mainstay_monitor::services::{Draft, Patch};
use mainstay_monitor::views::{
    Activity, ActivityFilter, ActivityOf, LOOKED_THROUGH, ListAsk, Place, ServiceFilter, Sort,
};
use mainstay_monitor::{DependencyStatus, ServiceNumber, ServiceStatus};
use mainstay_store::Dialect;
use mainstay_testkit::each_database;

use crate::house::{House, draft};

const DAY: Duration = Duration::from_hours(24);

impl House {
    async fn number(&self, name: &str) -> i64 {
        self.row(&format!("SELECT number FROM services WHERE name = '{name}'"))
            .await
            .get("number")
            .unwrap()
    }

    /// As if a service had just been polled.
    async fn polled(&self, name: &str, status: &str) {
        let now = self.now().await.as_millis();
        self.execute(&format!(
            "UPDATE service_states SET poll_seq = poll_seq + 1, status = '{status}', status_since = {now},
               last_polled_at = {now}, last_success_at = {now}, last_latency_us = 1500,
               next_poll_at = {now} + 30000, stale_since = NULL, healthy_count = 2, down_count = 1
             WHERE service_no = (SELECT number FROM services WHERE name = '{name}')"
        ))
        .await;
    }

    async fn change(
        &self,
        now: Timestamp,
        ago: Duration,
        kind: &str,
        service: &str,
        dependency: Option<Id>,
        after: &str,
    ) {
        let at = now.as_millis() - i64::try_from(ago.as_millis()).unwrap();
        let dependency = dependency.map_or_else(
            || "NULL".to_owned(),
            |id| format!("(SELECT number FROM dependencies WHERE id = '{id}')"),
        );
        self.execute(&format!(
            "INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
             SELECT {at}, '{kind}', number, {dependency}, NULL, '{after}' FROM services
             WHERE name = '{service}'"
        ))
        .await;
    }

    async fn listed(&self, ask: ListAsk) -> Vec<String> {
        let mut ask = ListAsk { limit: 2, ..ask };
        let mut names = Vec::new();
        for _ in 0..20 {
            let part = self.views.services(&ask).await.unwrap();
            names.extend(part.items.into_iter().map(|one| one.name));
            let Some(next) = part.next else { return names };
            ask.after = Some(next.to_string().parse().unwrap());
        }
        panic!("the list has no end: {names:?}");
    }
}

fn sorted(sort: Sort) -> ListAsk {
    ListAsk { sort, ..ListAsk::default() }
}

fn filtered(filter: ServiceFilter) -> ListAsk {
    ListAsk { filter, ..ListAsk::default() }
}

each_database! {
    async fn a_list_comes_in_every_order_page_by_page(database: &TestDatabase) {
        let house = House::new(database).await;
        for name in ["delta", "Alpha", "charlie", "Bravo", "echo"] {
            house.service(name).await;
        }
        house.delete(house.service("Gone").await).await.unwrap();
        for (name, status) in [("charlie", "healthy"), ("Bravo", "down"), ("delta", "degraded"), ("Alpha", "down")] {
            house.advance(Duration::from_secs(1));
            house.polled(name, status).await;
        }
        let names = ["Alpha", "Bravo", "charlie", "delta", "echo"];
        let statuses = ["Alpha", "Bravo", "delta", "echo", "charlie"];
        let polled = ["echo", "charlie", "Bravo", "delta", "Alpha"];
        for (up, down, expected) in [
            (Sort::Name, Sort::NameDown, names),
            (Sort::Status, Sort::StatusDown, statuses),
            (Sort::LastPolled, Sort::LastPolledDown, polled),
        ] {
            assert_eq!(house.listed(sorted(up)).await, expected, "{up:?}");
            let mut backwards = expected;
            backwards.reverse();
            assert_eq!(house.listed(sorted(down)).await, backwards, "{down:?}");
        }
    }

    async fn a_list_is_filtered_by_text_status_and_team(database: &TestDatabase) {
        let house = House::new(database).await;
        house.create(Draft { team: Some("Büro".to_owned()), ..draft("Ärger_1") }).await.unwrap();
        house.create(Draft { team: Some("Shop".to_owned()), ..draft("Orders") }).await.unwrap();
        house.create(Draft { health_endpoint: "http://legacy.example/Health%5F".to_owned(), ..draft("Pay%") }).await.unwrap();
        house.polled("Orders", "healthy").await;
        let search = |text: &str| filtered(ServiceFilter { search: Some(text.to_owned()), ..ServiceFilter::default() });
        for (text, expected) in [
            ("ärg", vec!["Ärger_1"]),
            ("ÄRG", vec!["Ärger_1"]),
            ("BÜRO", vec!["Ärger_1"]),
            ("_", vec!["Ärger_1"]),
            ("%", vec!["Pay%"]),
            ("LEGACY.example", vec!["Pay%"]),
            ("health%5f", vec!["Pay%"]),
            ("rde", vec!["Orders"]),
            ("\\", vec![]),
            ("nothing", vec![]),
            ("", vec!["Orders", "Pay%", "Ärger_1"]),
        ] {
            assert_eq!(house.listed(search(text)).await, expected, "{text}");
        }
        let team = |name: &str| filtered(ServiceFilter { team: Some(name.to_owned()), ..ServiceFilter::default() });
        assert_eq!(house.listed(team(" bÜRO")).await, ["Ärger_1"]);
        assert_eq!(house.listed(team("Sho")).await, [""; 0]);
        let status = |status| filtered(ServiceFilter { status: Some(status), ..ServiceFilter::default() });
        assert_eq!(house.listed(status(ServiceStatus::Healthy)).await, ["Orders"]);
        assert_eq!(house.listed(status(ServiceStatus::Unknown)).await, ["Pay%", "Ärger_1"]);
        house.advance(Duration::from_secs(91));
        assert_eq!(house.listed(status(ServiceStatus::Healthy)).await, [""; 0]);
        assert_eq!(house.listed(status(ServiceStatus::Unknown)).await.len(), 3);
    }

    async fn nothing_is_shown_green_that_was_not_polled_in_time(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        let dependency = house.dependency("Orders", "db", "1").await;
        let look = async || house.views.service(id).await.unwrap().unwrap().1;
        assert_eq!((look().await.status, look().await.last_poll), (ServiceStatus::Unknown, None));
        house.polled("Orders", "healthy").await;
        let polled = look().await;
        assert_eq!(polled.status, ServiceStatus::Healthy);
        assert_eq!(polled.last_poll.unwrap().latency_ms, Some(1.5));
        assert_eq!((polled.dependency_counts.healthy, polled.dependency_counts.unknown), (2, 0));
        let one = house.views.dependency(dependency).await.unwrap().unwrap();
        assert_eq!(one.status, DependencyStatus::Healthy);
        // Planned in 30 s; two intervals later it is overdue.
        house.advance(Duration::from_secs(89));
        assert_eq!(look().await.status, ServiceStatus::Healthy);
        house.advance(Duration::from_secs(10));
        let late = look().await;
        let since = Timestamp::from_millis(late.next_poll_at.unwrap().as_millis() + 60_000);
        assert_eq!((late.status, late.status_since), (ServiceStatus::Unknown, since));
        assert_eq!((late.dependency_counts.healthy, late.dependency_counts.unknown), (0, 3));
        let one = house.views.dependency(dependency).await.unwrap().unwrap();
        assert_eq!((one.status, one.status_since), (DependencyStatus::Unknown, since));
        house.polled("Orders", "healthy").await;
        house.update(id, Patch { is_active: Some(false), ..Patch::default() }).await.unwrap();
        let off = look().await;
        assert_eq!((off.status, off.dependency_counts.unknown, off.next_poll_at), (ServiceStatus::Unknown, 3, None));
        assert_eq!(house.views.service(dependency).await.unwrap(), None);
    }

    async fn a_missing_dependency_is_listed_for_a_day_and_found_by_its_id_after(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        let (first, second) = (house.dependency("Orders", "b", "1").await, house.dependency("Orders", "a", "2").await);
        house.polled("Orders", "healthy").await;
        let now = house.now().await.as_millis();
        house.execute(&format!("UPDATE dependencies SET missing_since = {now} WHERE id = '{first}'")).await;
        let points = latency::pack(&[(3, Duration::from_micros(2_500)), (9, Duration::from_millis(1))]);
        let number = ServiceNumber(house.number("Orders").await);
        let row = PointsRow { service_no: number, at: Timestamp::from_millis(now), points };
        house.db.write(async |tx| latency::insert(tx, std::slice::from_ref(&row)).await).await.unwrap();
        let whole = house.views.whole(id).await.unwrap().unwrap();
        assert_eq!(whole.number, number);
        let names: Vec<_> = whole.dependencies.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(whole.dependencies[0].latency_ms, Some(2.5));
        assert!(whole.dependencies[0].last_seen_at.is_some());
        let missing = &whole.dependencies[1];
        assert_eq!((missing.status, missing.last_seen_at), (DependencyStatus::Unknown, None));
        assert_eq!(Some(missing.status_since), missing.missing_since);
        house.advance(DAY + Duration::from_secs(10));
        let whole = house.views.whole(id).await.unwrap().unwrap();
        assert_eq!(whole.dependencies.iter().map(|one| one.id).collect::<Vec<_>>(), [second]);
        assert!(house.views.dependency(first).await.unwrap().is_some());
        let buckets = house.views.latencies(first, Range::Week).await.unwrap().unwrap();
        assert_eq!((buckets.len(), buckets[0].count), (1, 1));
        house.delete(id).await.unwrap();
        assert_eq!(house.views.dependency(first).await.unwrap(), None);
        assert_eq!(house.views.whole(id).await.unwrap(), None);
        assert_eq!(house.views.latencies(first, Range::Week).await.unwrap(), None);
    }

    async fn histories_come_newest_first_page_by_page(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        let dependency = house.dependency("Orders", "db", "1").await;
        house.execute(
            "INSERT INTO poll_history (service_no, at, error_kind, error_message)
             SELECT number, 1, 'dns', 'no such host' FROM services
             UNION ALL SELECT number, 2, 'timeout', 'too late' FROM services
             UNION ALL SELECT number, 3, NULL, NULL FROM services",
        )
        .await;
        house.execute(
            "INSERT INTO dependency_errors (dependency_no, at, error, error_message)
             SELECT number, 1, '{\"a\":1}', 'broken' FROM dependencies
             UNION ALL SELECT number, 2, NULL, NULL FROM dependencies
             UNION ALL SELECT number, 5, NULL, 'slow' FROM dependencies
             UNION ALL SELECT number, 7, NULL, 'slower' FROM dependencies",
        )
        .await;
        house.execute(
            "INSERT INTO changes (at, kind, dependency_no, before, after)
             SELECT 2, 'dependency', number, 'down', 'healthy' FROM dependencies
             UNION ALL SELECT 5, 'dependency', number, 'healthy', 'degraded' FROM dependencies
             UNION ALL SELECT 6, 'missing', number, 'missing', 'present' FROM dependencies
             UNION ALL SELECT 9, 'dependency', number, 'degraded', 'down' FROM dependencies",
        )
        .await;
        let first = house.views.poll_history(id, None, 2).await.unwrap().unwrap();
        let kinds: Vec<_> = first.items.iter().map(|one| (one.at.as_millis(), one.success)).collect();
        assert_eq!(kinds, [(3, true), (2, false)]);
        let second = house.views.poll_history(id, first.next, 2).await.unwrap().unwrap();
        assert_eq!((second.items.len(), second.next), (1, None));
        assert_eq!(second.items[0].error.as_ref().unwrap().kind, "dns");
        let errors = house.views.errors(dependency, None, 50).await.unwrap().unwrap();
        assert_eq!(errors.items[2].error, None);
        assert_eq!(errors.items[3].error, Some(serde_json::json!({"a": 1})));
        let found: Vec<_> = errors.items.iter().map(|one| one.status.map(DependencyStatus::name)).collect();
        assert_eq!(found, [Some("degraded"), Some("degraded"), Some("healthy"), None]);
        assert_eq!(house.views.poll_history(dependency, None, 2).await.unwrap(), None);
        assert_eq!(house.views.errors(id, None, 2).await.unwrap(), None);
    }

    async fn a_timeline_begins_with_what_was_known_then(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Orders").await;
        house.service("Other").await;
        let (db, other) = (house.dependency("Orders", "db", "1").await, house.dependency("Orders", "x", "2").await);
        let (now, hours) = (house.now().await, Duration::from_hours);
        house.change(now, hours(50), "added", "Orders", Some(db), "healthy").await;
        house.change(now, hours(30), "dependency", "Orders", Some(db), "down").await;
        house.change(now, hours(29), "dependency", "Orders", Some(other), "healthy").await;
        house.change(now, hours(26), "stale", "Orders", None, "stale").await;
        house.change(now, hours(20), "stale", "Orders", None, "fresh").await;
        house.change(now, hours(19), "stale", "Other", None, "stale").await;
        house.change(now, hours(10), "missing", "Orders", Some(db), "missing").await;
        house.change(now, hours(5), "missing", "Orders", Some(db), "present").await;
        house.change(now, hours(5), "dependency", "Orders", Some(db), "degraded").await;
        let told = async |span| {
            let timeline = house.views.timeline(db, span).await.unwrap().unwrap();
            assert_eq!(timeline.to.since(timeline.from), span);
            let names: Vec<_> = timeline.transitions.iter().map(|one| one.status.name()).collect();
            (timeline.initial.name(), names)
        };
        assert_eq!(told(DAY).await, ("unknown", vec!["down", "unknown", "degraded"]));
        assert_eq!(told(hours(15)).await, ("down", vec!["unknown", "degraded"]));
        assert_eq!(
            told(hours(60)).await,
            ("unknown", vec!["healthy", "down", "unknown", "down", "unknown", "degraded"])
        );
        assert_eq!(told(hours(1)).await, ("degraded", vec![]));
    }

    async fn what_has_not_changed_for_as_long_as_changes_are_kept_is_known_yet(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Orders").await;
        house.polled("Orders", "healthy").await;
        let names = ["db", "gone", "turned", "new"];
        let mut ids = Vec::new();
        for (number, name) in names.iter().enumerate() {
            ids.push(house.dependency("Orders", name, &number.to_string()).await);
        }
        house.execute("UPDATE dependencies SET missing_since = 7 WHERE name = 'gone'").await;
        let now = house.now().await;
        house.change(now, Duration::from_hours(2), "dependency", "Orders", Some(ids[2]), "down").await;
        house.execute("UPDATE changes SET before = 'degraded'").await;
        house.change(now, Duration::from_hours(2), "added", "Orders", Some(ids[3]), "healthy").await;
        let told = async |id| {
            let timeline = house.views.timeline(id, DAY).await.unwrap().unwrap();
            let turns: Vec<_> = timeline.transitions.iter().map(|one| one.status.name()).collect();
            (timeline.initial.name(), turns)
        };
        assert_eq!(told(ids[0]).await, ("healthy", vec![]));
        assert_eq!(told(ids[1]).await, ("unknown", vec![]));
        assert_eq!(told(ids[2]).await, ("degraded", vec!["down"]));
        assert_eq!(told(ids[3]).await, ("unknown", vec!["healthy"]));
        house.execute("UPDATE service_states SET stale_since = 9").await;
        assert_eq!(told(ids[0]).await, ("unknown", vec![]));
        // It could be polled until an hour ago.
        house.change(now, Duration::from_hours(1), "stale", "Orders", None, "stale").await;
        house.execute("UPDATE changes SET before = 'fresh' WHERE kind = 'stale'").await;
        assert_eq!(told(ids[0]).await, ("healthy", vec!["unknown"]));
        assert_eq!(told(ids[2]).await, ("degraded", vec!["down", "unknown"]));
    }

    async fn what_is_reported_is_listed_before_what_is_missing(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.service("Orders").await;
        let present = house.dependency("Orders", "z", "1").await;
        let now = house.now().await.as_millis();
        house.execute(&format!(
            "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10000)
             INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
               healthy, state, code, skipped, status, status_since, first_seen_at, missing_since)
             SELECT '019a8b3c-0000-7000-8001-' || (100000000000 + n), number, n, 'a' || n, 'a', 'a',
               'other', 1, 0, 200, 0, 'healthy', 1, 1, {now} FROM t CROSS JOIN services"
        ))
        .await;
        let shown = house.views.whole(id).await.unwrap().unwrap().dependencies;
        assert_eq!(shown.len(), 10_000);
        assert_eq!(shown.last().unwrap().id, present, "they stand in the order of their names");
        assert!(shown.is_sorted_by(|one, other| one.name < other.name));
    }

    async fn a_search_folds_every_letter_of_names_and_of_names_with_an_alias(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Ärzte").await;
        house.service("Shop").await;
        let (now, minute) = (house.now().await, Duration::from_mins(1));
        let plain = house.dependency("Shop", "ÖFEN", "1").await;
        let renamed = house.dependency("Shop", "ÜBERSICHT", "2").await;
        house.alias("ÜBERSICHT", "overview").await.unwrap();
        house.change(now, minute, "service", "Ärzte", None, "down").await;
        house.change(now, minute, "dependency", "Shop", Some(plain), "down").await;
        house.change(now, minute, "dependency", "Shop", Some(renamed), "down").await;
        for text in ["ärzte", "ÄRZ", "öfen", "Öf", "übers", "ÜBERSICHT", "Overview"] {
            let filter = ActivityFilter { search: Some(text.to_owned()), ..ActivityFilter::default() };
            let ask = Activity { limit: 50, filter, ..Activity::default() };
            assert_eq!(house.views.activity(ask).await.unwrap().items.len(), 1, "{text}");
        }
    }

    async fn a_narrowed_page_looks_through_so_many_changes_that_there_are(database: &TestDatabase) {
        let house = House::new(database).await;
        let orders = house.service("Orders").await;
        house.service("Shop").await;
        let now = house.now().await;
        house.change(now, Duration::ZERO, "service", "Shop", None, "down").await;
        let row = house.row("SELECT max(number) AS number FROM changes").await;
        let oldest: i64 = row.get("number").unwrap();
        // As if retention had removed all that came between.
        let far = oldest + 10 * LOOKED_THROUGH;
        let (at, orders_no) = (now.as_millis(), house.number("Orders").await);
        let chosen = match house.db.dialect() {
            Dialect::Sqlite => "",
            Dialect::Postgres => "OVERRIDING SYSTEM VALUE",
        };
        let fill = async |from: i64, to: i64| {
            house.execute(&format!(
                "WITH RECURSIVE t (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM t WHERE n < {to} - 1)
                 INSERT INTO changes (number, at, kind, service_no, before, after) {chosen}
                 SELECT {far} + n, {at}, 'service', {orders_no}, 'down', 'healthy' FROM t"
            )).await;
        };
        fill(0, 10).await;
        let ask = |search: Option<&str>, service: Option<Id>, before: Option<i64>| Activity {
            before,
            limit: 50,
            filter: ActivityFilter {
                search: search.map(str::to_owned),
                service,
                status: Some(DependencyStatus::Down),
                ..ActivityFilter::default()
            },
            ..Activity::default()
        };
        let found = house.views.activity(ask(Some("shop"), None, None)).await.unwrap();
        assert_eq!((found.items.len(), found.next), (1, None), "a gap is no work");

        fill(10, LOOKED_THROUGH).await;
        // Of Orders there is one more: that it was added.
        for (search, service, rest) in [(Some("shop"), None, 1), (None, Some(orders), 0)] {
            let first = house.views.activity(ask(search, service, None)).await.unwrap();
            assert!(first.items.is_empty(), "{search:?}");
            let next = first.next.unwrap().number();
            let second = house.views.activity(ask(search, service, Some(next))).await.unwrap();
            assert_eq!((second.items.len(), second.next), (rest, None));
        }
        house.execute(&format!("DELETE FROM changes WHERE number = {far}")).await;
        let whole = house.views.activity(ask(None, Some(orders), None)).await.unwrap();
        assert_eq!((whole.items.len(), whole.next), (0, None), "all of it was looked through");
    }

    async fn a_page_that_nothing_narrows_looks_through_as_many(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Shop").await;
        let now = house.now().await;
        house.change(now, Duration::ZERO, "service", "Shop", None, "down").await;
        let (at, shop) = (now.as_millis(), house.number("Shop").await);
        house.execute(&format!(
            "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {LOOKED_THROUGH})
             INSERT INTO changes (at, kind, service_no, before, after)
             SELECT {at}, 'stale', {shop}, 'fresh', 'stale' FROM t"
        )).await;
        let ask = |before| Activity { before, limit: 50, ..Activity::default() };
        let first = house.views.activity(ask(None)).await.unwrap();
        assert!(first.items.is_empty(), "nobody waits for what is so far back");
        let second = house.views.activity(ask(first.next.map(Place::number))).await.unwrap();
        assert_eq!((second.items.len(), second.next), (1, None));
    }

    async fn activity_is_what_changed_its_status_and_the_unstable_change_most(database: &TestDatabase) {
        let house = House::new(database).await;
        let orders = house.service("Orders").await;
        house.service("Shop").await;
        let db = house.dependency("Orders", "db", "1").await;
        let (now, minute) = (house.now().await, Duration::from_mins(1));
        for after in ["down", "healthy", "down"] {
            house.change(now, minute, "dependency", "Orders", Some(db), after).await;
        }
        house.change(now, minute, "service", "Orders", None, "degraded").await;
        house.change(now, minute, "stale", "Orders", None, "stale").await;
        house.change(now, minute, "added", "Orders", Some(db), "healthy").await;
        house.change(now, minute, "added", "Orders", Some(db), "down").await;
        for after in ["down", "healthy"] {
            house.change(now, minute, "service", "Shop", None, after).await;
        }
        house.change(now, DAY + minute, "service", "Shop", None, "down").await;
        let ask = |after, before, limit| Activity { after, before, limit, ..Activity::default() };
        let all = house.views.activity(ask(None, None, 50)).await.unwrap();
        assert_eq!((all.items.len(), all.next), (8, None));
        assert!(all.items.is_sorted_by(|one, other| one.id > other.id));
        let oldest = all.items.last().unwrap();
        assert_eq!((oldest.service_id, oldest.dependency_id), (orders, Some(db)));
        assert_eq!(oldest.current.as_deref(), Some("down"));
        let first = house.views.activity(ask(None, None, 5)).await.unwrap();
        let rest = house.views.activity(ask(None, Some(first.items[4].id), 5)).await.unwrap();
        assert_eq!([first.items, rest.items].concat(), all.items);
        let newer = house.views.activity(ask(Some(all.items[2].id), None, 50)).await.unwrap();
        assert_eq!(newer.items, all.items[..2]);

        let narrow = async |filter: ActivityFilter| {
            let asked = Activity { limit: 50, filter, ..Activity::default() };
            let part = house.views.activity(asked).await.unwrap();
            assert_eq!(part.next, None);
            part.items.len()
        };
        let none = ActivityFilter::default();
        let words = |text: &str| ActivityFilter { search: Some(text.to_owned()), ..none.clone() };
        let of = |of| ActivityFilter { of: Some(of), ..none.clone() };
        for (filter, count) in [
            (none.clone(), 8),
            (words("SHOP"), 3),
            (words("Db"), 4),
            (words("%"), 0),
            (of(ActivityOf::Service), 4),
            (of(ActivityOf::Dependency), 4),
            (ActivityFilter { status: Some(DependencyStatus::Degraded), ..none.clone() }, 1),
            (ActivityFilter { service: Some(orders), ..none.clone() }, 5),
            (ActivityFilter { service: Some(db), ..none.clone() }, 0),
            (ActivityFilter { service: Some(orders), ..of(ActivityOf::Service) }, 1),
        ] {
            assert_eq!(narrow(filter.clone()).await, count, "{filter:?}");
        }

        let unstable = house.views.unstable(10).await.unwrap();
        let told: Vec<_> = unstable
            .iter()
            .map(|one| (one.service_name.as_str(), one.dependency_name.as_deref(), one.transitions))
            .collect();
        assert_eq!(told, [("Orders", Some("db"), 3), ("Shop", None, 2)]);
        assert_eq!(house.views.unstable(1).await.unwrap().len(), 1);
    }
}
