//! A span of the past in words.

use std::time::Duration;

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
        let told = house.past.tell((from, to), MISSING, 100).await.unwrap();
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
        assert_eq!(short.len(), 3);
    }
}
