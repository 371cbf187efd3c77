//! Results that were recorded late: the past goes by their moments, and by numbers where those contradict.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_monitor::report::DependencyStatus::{Down, Healthy};
use mainstay_monitor::{ServiceStatus, Views};
use mainstay_testkit::each_database;

use crate::house::{House, LONG, body};
use crate::working::hours;

const HOUR: Duration = Duration::from_hours(1);
const SHORT: Duration = Duration::from_secs(30);

impl House {
    /// How the one service was.
    async fn status_at(&self, at: Timestamp) -> ServiceStatus {
        self.past.at(at).await.unwrap().state.services().next().unwrap().1.status
    }
}

each_database! {
    async fn results_that_waited_outdo_that_nobody_seemed_to_poll(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.pass(HOUR);
        let first = house.now();
        house.poll_again_in(shop, Some(body(&[("db", 0)])), SHORT).await;
        house.pass(2 * HOUR);
        house.overdue_is_noted().await;
        // They had to wait for their database meanwhile.
        let (second, third) = (first.plus(SHORT), first.plus(SHORT + HOUR));
        house.poll_at(shop, Some(body(&[("db", 2)])), second, HOUR).await;
        house.poll_at(shop, Some(body(&[("db", 0)])), third, LONG).await;
        let db = house.dependency("db").await;
        assert_eq!(hours(&house.day_of_service(shop).await), [1, 1, 0, 1, 21]);
        assert_eq!(hours(&house.day_of_dependency(db).await), [1, 0, 1, 0, 22]);
        let views = Views::new(house.db.clone(), std::sync::Arc::clone(&house.clock) as _, HOUR);
        let timeline = views.timeline(db, 24 * HOUR).await.unwrap().unwrap();
        let turns: Vec<_> = timeline.transitions.iter().map(|turn| (turn.at, turn.status)).collect();
        assert_eq!(turns, [(first, Healthy), (second, Down), (third, Healthy)]);
        let strip = views.strips(&[shop]).await.unwrap().items.remove(0).cells;
        let count = |status| strip.iter().filter(|cell| **cell == Some(status)).count();
        assert_eq!(strip.last(), Some(&Some(ServiceStatus::Healthy)), "{strip:?}");
        assert!((3..=4).contains(&count(ServiceStatus::Degraded)), "{strip:?}");
        assert!((2..=4).contains(&count(ServiceStatus::Unknown)), "before its first poll: {strip:?}");
        for (at, expected) in [
            (second, ServiceStatus::Degraded), (first.plus(HOUR), ServiceStatus::Degraded),
            (third, ServiceStatus::Healthy), (house.now(), ServiceStatus::Healthy),
        ] {
            assert_eq!(house.status_at(at).await, expected, "{at}");
        }
    }

    async fn a_lapse_that_only_the_next_result_shows_is_not_known(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.poll_again_in(shop, Some(body(&[("db", 0)])), SHORT).await;
        // The machine slept: nobody looked in between.
        house.pass(6 * HOUR);
        house.poll_again_in(shop, Some(body(&[("db", 0)])), LONG).await;
        house.pass(2 * HOUR);
        let db = house.dependency("db").await;
        for told in [house.day_of_service(shop).await, house.day_of_dependency(db).await] {
            assert_eq!(hours(&told), [2, 0, 0, 6, 16], "{told:?}");
        }
        let told = "SELECT count(*) AS v FROM events WHERE kind = 'service:status'";
        assert_eq!(house.number(told).await, 3, "healthy, unknown, healthy");
        assert_eq!(house.at(house.now()).await, house.live().await);
    }
}
