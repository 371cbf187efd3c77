//! How long services and dependencies worked.

use std::time::Duration;

use mainstay_base::Id;
use mainstay_monitor::past::UptimeWindow;
use mainstay_monitor::services::Patch;
use mainstay_monitor::{Past, Recorder, Sink as _, Views};
use mainstay_testkit::each_database;

use crate::house::{House, LONG, body};

const HOUR: Duration = Duration::from_hours(1);
const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

/// Hours healthy, degraded, down, unknown and absent, rounded.
pub(crate) fn hours(window: &UptimeWindow) -> [i64; 5] {
    let all = [
        window.healthy_ms,
        window.degraded_ms,
        window.down_ms,
        window.unknown_ms,
        window.absent_ms,
    ];
    all.map(|millis| (millis + 1_800_000) / 3_600_000)
}

impl House {
    pub(crate) async fn day_of_service(&self, id: Id) -> UptimeWindow {
        self.past.uptime_of_service(id).await.unwrap().unwrap().windows[0]
    }

    pub(crate) async fn day_of_dependency(&self, id: Id) -> UptimeWindow {
        self.past.uptime_of_dependency(id).await.unwrap().unwrap().windows[0]
    }

    /// Somebody looks for services that nobody polls, and has noted all of them.
    pub(crate) async fn look_for_overdue(&self) {
        let stop = self.stop.child_token();
        let clock = std::sync::Arc::clone(&self.clock) as _;
        let looking = Recorder::start(
            self.events.clone(),
            clock,
            self.ids.clone(),
            &self.tasks,
            stop.clone(),
        );
        let left = format!(
            "SELECT count(*) AS v FROM service_states AS st JOIN services AS s ON s.number = st.service_no
             WHERE s.is_active = 1 AND s.removed_at IS NULL AND st.status <> 'unknown'
               AND st.next_poll_at + 2 * s.poll_interval_ms < {}",
            self.now().as_millis()
        );
        for _ in 0..200 {
            if self.number(&left).await == 0 {
                assert!(looking.has_room());
                stop.cancel();
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nobody noted it");
    }

    /// Waits until somebody has noted that nobody polls.
    pub(crate) async fn overdue_is_noted(&self) {
        let noted =
            "SELECT count(*) AS v FROM changes WHERE kind = 'service' AND after = 'unknown'";
        for _ in 0..200 {
            if self.number(noted).await > 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("nobody noted it");
    }
}

each_database! {
    async fn hours_are_counted_by_how_it_was(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.pass(HOUR);
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(2 * HOUR);
        house.poll(shop, Some(body(&[("db", 2)]))).await;
        house.pass(3 * HOUR);
        house.poll(shop, None).await;
        house.pass(4 * HOUR);
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(HOUR);
        let db = house.dependency("db").await;
        let (service, dependency) = (house.day_of_service(shop).await, house.day_of_dependency(db).await);
        assert_eq!(hours(&service), [3, 3, 4, 1, 13]);
        assert_eq!(hours(&dependency), [3, 0, 3, 4, 14], "while its service fails nobody knows of it");
        let share = service.uptime.unwrap();
        assert!((share - 0.3).abs() < 0.001, "{share}");
        let known = dependency.uptime.unwrap();
        assert!((known - 0.5).abs() < 0.001, "what is not known is neither up nor down: {known}");
        let nobody: Id = NOBODY.parse().unwrap();
        assert_eq!(house.past.uptime_of_service(nobody).await.unwrap(), None);
        assert_eq!(house.past.uptime_of_dependency(nobody).await.unwrap(), None);
        house.delete(shop).await;
        assert_eq!(house.past.uptime_of_service(shop).await.unwrap(), None);
        assert_eq!(house.past.uptime_of_dependency(db).await.unwrap(), None);
    }

    async fn the_time_in_which_mainstay_was_off_is_not_known(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.poll_again_in(shop, Some(body(&[("db", 0)])), Duration::from_secs(30)).await;
        // Nobody runs: nothing is written for six hours.
        house.pass(6 * HOUR);
        let unseen = house.day_of_service(shop).await;
        assert_eq!(hours(&unseen), [0, 0, 0, 6, 18], "even before anybody has noted it");
        assert_eq!(hours(&house.day_of_dependency(house.dependency("db").await).await), [0, 0, 0, 6, 18]);
        let again = Recorder::start(
            house.events.clone(), std::sync::Arc::clone(&house.clock) as _, house.ids.clone(),
            &house.tasks, house.stop.clone(),
        );
        assert!(again.has_room());
        house.overdue_is_noted().await;
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(2 * HOUR);
        for told in [
            house.day_of_service(shop).await, house.day_of_dependency(house.dependency("db").await).await,
        ] {
            assert_eq!(hours(&told), [2, 0, 0, 6, 16], "{told:?}");
            assert_eq!(told.uptime, Some(1.0));
        }
        let views = Views::new(house.db.clone(), std::sync::Arc::clone(&house.clock) as _, HOUR);
        assert_eq!(views.unstable(10).await.unwrap(), [], "what only Mainstay did not know is not unstable");
        let at = mainstay_base::Timestamp::from_millis(house.now().as_millis() - 5 * 3_600_000);
        let then = house.past.at(at).await.unwrap().state;
        let (_, service) = then.services().next().unwrap();
        assert_eq!((service.status.name(), service.stale_since.is_some()), ("unknown", true));
    }

    async fn what_was_switched_off_is_not_known(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(5 * HOUR);
        house.change(shop, Patch { is_active: Some(false), ..Patch::default() }).await;
        house.pass(10 * HOUR);
        house.change(shop, Patch { is_active: Some(true), ..Patch::default() }).await;
        house.pass(HOUR);
        house.poll_again_in(shop, Some(body(&[("db", 0)])), LONG).await;
        house.pass(HOUR);
        assert_eq!(hours(&house.day_of_service(shop).await), [6, 0, 0, 11, 7]);
        let db = house.dependency("db").await;
        assert_eq!(hours(&house.day_of_dependency(db).await), [6, 0, 0, 11, 7]);
    }

    async fn what_was_removed_stays_unknown_though_more_is_kept_now(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.poll(shop, Some(body(&[]))).await;
        house.pass(24 * 50 * HOUR);
        house.poll(shop, None).await;
        house.pass(24 * 10 * HOUR);
        // Until now changes were kept for 30 days.
        let horizon = house.now().as_millis() - 30 * 86_400_000;
        house.execute(&format!("DELETE FROM changes WHERE at < {horizon}")).await;
        let told = house.past.uptime_of_service(shop).await.unwrap().unwrap();
        let days: Vec<_> = told.windows.iter().map(|window| hours(window).map(|hours| hours / 24)).collect();
        assert_eq!(days, [[0, 0, 1, 0, 0], [0, 0, 7, 0, 0], [0, 0, 10, 20, 0], [0, 0, 10, 50, 30]]);
        let short = Past::new(house.db.clone(), 24 * 11 * HOUR);
        let told = short.uptime_of_service(shop).await.unwrap().unwrap();
        assert_eq!(hours(&told.windows[2]).map(|hours| hours / 24), [1, 0, 10, 19, 0], "changes are kept to the horizon");
    }

    async fn longer_spans_go_back_as_far_as_there_are_records(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.poll(shop, Some(body(&[]))).await;
        house.pass(24 * 60 * HOUR);
        house.poll(shop, None).await;
        house.pass(24 * 15 * HOUR);
        let told = house.past.uptime_of_service(shop).await.unwrap().unwrap();
        let days: Vec<_> = told.windows.iter().map(|window| hours(window).map(|hours| hours / 24)).collect();
        assert_eq!(days, [[0, 0, 1, 0, 0], [0, 0, 7, 0, 0], [15, 0, 15, 0, 0], [60, 0, 15, 0, 15]]);
        let names: Vec<_> = told.windows.iter().map(|window| window.window).collect();
        assert_eq!(names, ["24h", "7d", "30d", "90d"]);
    }
}
