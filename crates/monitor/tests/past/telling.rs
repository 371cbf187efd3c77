//! A span of the past in words.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_monitor::past::history::MAX_CHANGES;
use mainstay_testkit::each_database;

use crate::house::{House, body};

const MISSING: Duration = Duration::from_hours(24);

each_database! {
    async fn an_incident_is_told_from_its_first_sign_to_its_end(database: &TestDatabase) {
        let house = House::new(database).await;
        let minute = Duration::from_mins(1);
        let (shop, mill) = (house.add("Shop").await, house.add("Mill").await);
        house.alias("cache", "Redis").await;
        house.poll(shop, Some(body(&[("db", 0), ("cache", 0)]))).await;
        house.poll(mill, Some(body(&[("db", 2)]))).await;
        house.pass(minute);
        let from = house.now();
        house.pass(minute);
        house.poll(shop, Some(body(&[("db", 2), ("cache", 1)]))).await;
        house.pass(minute);
        house.poll(shop, Some(body(&[("db", 0), ("cache", 0)]))).await;
        house.pass(minute);
        let to = house.now();
        house.pass(minute);
        house.poll(shop, Some(body(&[("db", 2)]))).await;
        house.pass(minute);
        let telling = house.past.tell((from, to), MISSING, 100).await.unwrap();
        assert_eq!(telling.covered, Some((from, to)));
        let told = telling.lines;
        let lines: Vec<&str> = told.iter().map(|one| one.what.as_str()).collect();
        assert!(lines[0].starts_with("service Mill was degraded since "), "{lines:?}");
        assert!(lines.contains(&"service Shop became degraded"), "{lines:?}");
        assert!(lines.contains(&"service Shop says that its dependency db is down"), "{lines:?}");
        let by_another_name = "service Shop says that its dependency Redis (cache) is degraded";
        assert!(lines.contains(&by_another_name), "{lines:?}");
        let roots = "root causes then: db (hurts 2 services), Redis (hurts 1 service)";
        assert!(lines.contains(&roots), "{lines:?}");
        assert!(lines.contains(&"service Shop became healthy"), "{lines:?}");
        assert!(told.is_sorted_by_key(|one| one.at));
        assert!(told.iter().all(|one| (from..=to).contains(&one.at)), "{told:?}");
        let short = house.past.tell((from, to), MISSING, 3).await.unwrap();
        assert_eq!(short.lines.len(), 3);
    }

    async fn a_window_that_begins_within_an_incident_begins_with_what_was_bad_then(database: &TestDatabase) {
        let house = House::new(database).await;
        let minute = Duration::from_mins(1);
        let (shop, mill) = (house.add("Shop").await, house.add("Mill").await);
        house.alias("cache", "Redis").await;
        house.poll(shop, Some(body(&[("db", 2), ("cache", 1), ("queue", 0), ("old", 2)]))).await;
        house.poll(shop, Some(body(&[("db", 2), ("cache", 1), ("queue", 0)]))).await;
        house.poll(mill, Some(body(&[("grain", 2)]))).await;
        house.poll(mill, None).await;
        house.pass(minute);
        let from = house.now();
        house.pass(minute);
        let told = house.past.tell((from, house.now()), MISSING, 100).await.unwrap().lines;
        let lines: Vec<&str> = told.iter().map(|one| one.what.as_str()).collect();
        assert!(told.iter().all(|one| one.at == from), "{told:?}");
        let begins = |start: &str| lines.iter().any(|line| line.starts_with(start));
        assert!(begins("service Shop was degraded since "), "{lines:?}");
        assert!(begins("service Shop said that its dependency db was down since "), "{lines:?}");
        assert!(begins("service Shop said that its dependency Redis (cache) was degraded since "), "{lines:?}");
        let roots = lines.iter().find(|line| line.starts_with("root causes then: ")).unwrap();
        for root in ["db (hurts 1 service)", "Redis (hurts 1 service)"] {
            assert!(roots.contains(root), "{roots}");
        }
        for unheard in ["queue", "old", "grain"] {
            assert!(!lines.iter().any(|line| line.contains(unheard)), "{unheard}: {lines:?}");
        }
    }

    async fn another_root_cause_is_told_while_its_service_stays_as_it_is(database: &TestDatabase) {
        let house = House::new(database).await;
        let minute = Duration::from_mins(1);
        let shop = house.add("Shop").await;
        house.poll(shop, Some(body(&[("kafka", 0), ("orders-db", 0)]))).await;
        house.pass(minute);
        let from = house.now();
        house.pass(minute);
        house.poll(shop, Some(body(&[("kafka", 2), ("orders-db", 0)]))).await;
        house.pass(minute);
        let changed = house.now();
        house.poll(shop, Some(body(&[("kafka", 0), ("orders-db", 2)]))).await;
        house.pass(minute);
        let told = house.past.tell((from, house.now()), MISSING, 100).await.unwrap().lines;
        let became = told.iter().filter(|one| one.what.starts_with("service Shop became"));
        assert_eq!(became.count(), 1, "{told:?}");
        let roots: Vec<_> = told.iter().filter(|one| one.what.starts_with("root cause")).collect();
        assert_eq!(roots[0].what, "root cause then: kafka (hurts 1 service)");
        assert_eq!((roots[1].at, roots[1].what.as_str()), (changed, "root cause then: orders-db (hurts 1 service)"));
        assert_eq!(roots.len(), 2);
    }

    async fn every_outage_has_its_root_cause_however_many_there_are(database: &TestDatabase) {
        let house = House::new(database).await;
        let minute = Duration::from_mins(1);
        let shop = house.add("Shop").await;
        house.poll(shop, Some(body(&[("db", 0), ("cache", 0)]))).await;
        house.pass(minute);
        let from = house.now();
        let mut fell = Vec::new();
        for outage in 0..20 {
            house.pass(2 * minute);
            let broken = if outage < 18 { ("db", 2) } else { ("cache", 2) };
            fell.push((house.now(), broken.0));
            house.poll(shop, Some(body(&[broken]))).await;
            house.pass(minute);
            house.poll(shop, Some(body(&[("db", 0), ("cache", 0)]))).await;
        }
        house.pass(minute);
        let told = house.past.tell((from, house.now()), MISSING, 1_000).await.unwrap().lines;
        let roots = told.iter().filter(|one| one.what.starts_with("root cause"));
        let roots: Vec<_> = roots.map(|one| (one.at, one.what.clone())).collect();
        let wanted = |(at, name): &(Timestamp, &str)| (*at, format!("root cause then: {name} (hurts 1 service)"));
        assert_eq!(roots, fell.iter().map(wanted).collect::<Vec<_>>());
    }

    async fn a_dependency_that_is_down_when_it_is_first_reported_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let minute = Duration::from_mins(1);
        let shop = house.add("Shop").await;
        house.poll(shop, Some(body(&[("db", 1)]))).await;
        house.pass(minute);
        let from = house.now();
        house.pass(minute);
        house.poll(shop, Some(body(&[("db", 1), ("queue", 2), ("mail", 0)]))).await;
        house.pass(minute);
        let told = house.past.tell((from, house.now()), MISSING, 100).await.unwrap().lines;
        let lines: Vec<&str> = told.iter().map(|one| one.what.as_str()).collect();
        assert!(lines.contains(&"service Shop reports the dependency queue for the first time: it is down"), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("root causes then: ") && line.contains("queue (hurts 1 service)")), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("mail")), "{lines:?}");
    }

    async fn time_without_records_is_not_told_as_time_in_which_nothing_changed(database: &TestDatabase) {
        let house = House::new(database).await;
        let minute = Duration::from_mins(1);
        let before = house.now();
        house.pass(minute);
        let never = house.past.tell((before, house.now()), MISSING, 100).await.unwrap();
        assert_eq!((never.covered, never.lines.len()), (None, 0));
        house.pass(minute);
        let began = house.now();
        let shop = house.add("Shop").await;
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(minute);
        let to = house.now();
        let early = house.past.tell((before, before.plus(minute)), MISSING, 100).await.unwrap();
        assert_eq!((early.covered, early.lines.len()), (None, 0), "it ends before there are records");
        let partly = house.past.tell((before, to), MISSING, 100).await.unwrap();
        let (from, until) = partly.covered.unwrap();
        assert!(from >= began && from < to, "{partly:?}");
        assert_eq!(until, to);
        let calm = house.past.tell((to, to), MISSING, 100).await.unwrap();
        assert_eq!((calm.covered, calm.lines.len()), (Some((to, to)), 0), "nothing changed in it");
    }

    async fn what_is_too_much_to_be_read_is_not_told_as_time_in_which_nothing_changed(database: &TestDatabase) {
        let house = House::new(database).await;
        house.add("shop").await;
        house.pass(Duration::from_mins(1));
        let from = house.now();
        let (count, start) = (10 * MAX_CHANGES + 1, from.as_millis() + 1);
        house.execute(&format!(
            "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {count})
             INSERT INTO changes (at, kind, service_no, before, after)
             SELECT {start} + n, 'service', 1, 'healthy', 'down' FROM t")).await;
        house.pass(Duration::from_mins(1));
        let to = house.now();
        let telling = house.past.tell((from, to), MISSING, 100).await.unwrap();
        let last_read = Timestamp::from_millis(start + i64::try_from(count).unwrap() - 1);
        assert_eq!(telling.covered, Some((from, last_read)));
        let last = telling.lines.last().unwrap();
        assert_eq!((last.at, telling.lines.len()), (last_read, 100));
        let lines: Vec<&str> = telling.lines.iter().map(|one| one.what.as_str()).collect();
        assert!(lines.contains(&"so much changed that what came after this is not told"), "{lines:?}");
        let left_out = lines.iter().filter(|line| line.contains(" changes are left out here, until "));
        assert_eq!(left_out.count(), 1, "{lines:?}");
    }
}
