//! What the engine polls by.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_base::Secret;
use mainstay_breaker::State;
use mainstay_monitor::decide::Planned;
use mainstay_monitor::services::{Draft, Patch};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, draft};

fn names(watches: &mainstay_monitor::Watches) -> Vec<&str> {
    watches.watched.iter().map(|(watch, _)| &*watch.name).collect()
}

each_database! {
    async fn every_edit_is_seen_once_in_its_order(database: &TestDatabase) {
        let house = House::new(database).await;
        let empty = house.services.watches(0).await.unwrap();
        assert_eq!((empty.latest, empty.watched.len()), (0, 0));
        let (first, second) = (house.service("One").await, house.service("Two").await);
        let off = house.create(Draft { is_active: Some(false), ..draft("Off") }).await.unwrap();
        let all = house.services.watches(0).await.unwrap();
        assert_eq!((names(&all), all.gone.len(), all.latest), (vec!["One", "Two"], 1, 3));
        let rename = |name: &str| Patch { name: Some(name.to_owned()), ..Patch::default() };
        house.update(first, rename("Uno")).await.unwrap();
        house.delete(second).await.unwrap();
        house.update(off.id, Patch { is_active: Some(true), ..Patch::default() }).await.unwrap();
        let some = house.services.watches(all.latest).await.unwrap();
        assert_eq!((names(&some), some.latest), (vec!["Uno", "Off"], 6));
        assert_eq!(some.gone, [all.watched[1].0.number]);
        assert_eq!(some.watched[0].0.revision, 4);
        let none = house.services.watches(some.latest).await.unwrap();
        assert_eq!((none.latest, none.watched.len(), none.gone.len()), (6, 0, 0));
    }

    async fn a_watch_holds_the_whole_definition(database: &TestDatabase) {
        let house = House::new(database).await;
        let config = json!({"root": "", "fields": {"name": "$key", "healthy": "status"}});
        house.create(Draft {
            format: Some("schema".to_owned()),
            schema_config: Some(config),
            poll_interval_ms: Some(7_000),
            timeout_ms: Some(900),
            headers: vec![("X-Key".to_owned(), Secret::new("hunter2".to_owned()))],
            ..draft("Orders")
        }).await.unwrap();
        let all = house.services.watches(0).await.unwrap();
        let (watch, memory) = &all.watched[0];
        assert_eq!((watch.interval, watch.endpoint.timeout), (Duration::from_secs(7), Duration::from_millis(900)));
        assert_eq!((watch.format.name(), watch.endpoint.host.as_str()), ("schema", "orders.example.org"));
        assert_eq!(watch.endpoint.headers[0].1.expose(), "hunter2");
        assert_eq!(watch.generation, 1);
        assert_eq!(*memory, None, "it was never polled");
    }

    async fn what_was_recorded_is_told_in_durations(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Orders").await;
        house.service("Late").await;
        let now = house.now().await.as_millis();
        house.execute(&format!(
            "UPDATE service_states SET poll_seq = 12, breaker_state = 'open', breaker_failures = 10,
               breaker_generation = 3, breaker_retry_at = {now} + 200000, backoff_attempt = 7,
               next_poll_at = {now} + 200000, last_polled_at = {now} - 60000
             WHERE service_no = (SELECT number FROM services WHERE name = 'Orders')"
        )).await;
        house.execute(&format!(
            "UPDATE service_states SET poll_seq = 1, next_poll_at = {now} - 1, last_polled_at = {now}
             WHERE service_no = (SELECT number FROM services WHERE name = 'Late')"
        )).await;
        let all = house.services.watches(0).await.unwrap();
        let [orders, late] = [0, 1].map(|at: usize| all.watched[at].1.unwrap());
        let about = |duration: Duration, seconds: u64| {
            let wanted = Duration::from_secs(seconds);
            duration.abs_diff(wanted) < Duration::from_secs(10)
        };
        assert_eq!((orders.poll_seq, orders.backoff), (12, 7));
        assert_eq!((orders.breaker.state, orders.breaker.failures, orders.breaker.generation), (State::Open, 10, 3));
        assert!(about(orders.breaker.open_remaining, 200), "{orders:?}");
        assert!(about(orders.polled.unwrap(), 60), "{orders:?}");
        assert!(matches!(orders.planned, Some(Planned::In(ahead)) if about(ahead, 200)), "{orders:?}");
        assert!(matches!(late.planned, Some(Planned::Missed(_))), "{late:?}");
        assert_eq!(late.breaker.state, State::Closed);
    }

    async fn a_service_whose_headers_can_not_be_opened_is_named_and_the_others_are_polled(database: &TestDatabase) {
        let house = House::new(database).await;
        let sealed = vec![("X-Key".to_owned(), Secret::new("hunter2".to_owned()))];
        house.create(Draft { headers: sealed, ..draft("Sealed") }).await.unwrap();
        house.service("Plain").await;
        house.seal.lost.store(true, Ordering::SeqCst);
        let all = house.services.watches(0).await.unwrap();
        assert_eq!((names(&all), all.latest), (vec!["Plain"], 2));
        assert_eq!(all.broken.len(), 1);
        assert!(all.broken[0].1.contains("give the headers again"), "{:?}", all.broken);
    }

    async fn more_than_one_page_is_read_whole(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Orders").await;
        house.many(2_499).await;
        let all = house.services.watches(0).await.unwrap();
        assert_eq!((all.watched.len(), all.latest), (2_500, 2_500));
    }
}
