//! Many results in one transaction, and each result once.

use std::sync::Arc;

use mainstay_monitor::{Recorded, Sink, Watch};
use mainstay_store::values;
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, settlement, up};

each_database! {
    async fn many_services_are_recorded_together(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut services = Vec::new();
        for number in 0..60 {
            services.push(house.service(&format!("service {number}")).await);
        }
        let report = house.read(&json!([up("db"), up("cache")]));
        let last = services.pop().unwrap();
        for service in &services {
            house.recorder.take(house.result(service, Ok(report.clone())));
        }
        house.hand_over(house.result(&last, Ok(report))).await;
        assert_eq!(house.number("SELECT count(*) AS v FROM service_states WHERE status = 'healthy'").await, 60);
        assert_eq!(house.number("SELECT count(*) AS v FROM dependencies").await, 120);
        assert_eq!(house.number("SELECT count(*) AS v FROM latency_points").await, 60);
    }

    async fn two_results_of_one_service_are_recorded_one_after_the_other(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.recorder.take(house.result(&service, Ok(house.read(&json!([up("db")])))));
        house.answers(&service, &json!([crate::house::down("db")])).await;
        assert_eq!(house.number("SELECT poll_seq AS v FROM service_states").await, 2);
        assert_eq!(house.changes().await, [
            "service - unknown healthy", "added db - healthy", "service - healthy degraded", "dependency db healthy down",
        ]);
    }

    async fn a_result_that_was_recorded_is_not_recorded_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let report = || house.read(&json!([crate::house::down("db")]));
        let mut first = house.result(&service, Ok(report()));
        first.settlement = settlement(5);
        house.hand_over(first).await;
        let (told, changes) = (house.told().await, house.changes().await);
        for seq in [5, 4] {
            let mut again = house.result(&service, Ok(report()));
            again.settlement = settlement(seq);
            assert!(matches!(house.hand_over(again).await, Recorded::Written(_)));
        }
        assert_eq!((house.told().await, house.changes().await), (told, changes));
        assert_eq!(house.number("SELECT poll_seq AS v FROM service_states").await, 5);
        assert_eq!(house.number("SELECT count(*) AS v FROM dependency_errors").await, 1);
    }

    async fn a_result_of_another_generation_is_dropped(database: &TestDatabase) {
        let house = House::new(database).await;
        for change in ["UPDATE services SET generation = 2", "UPDATE services SET is_active = 0", "UPDATE services SET removed_at = 1"] {
            let service = house.service(change).await;
            house.execute(change, &[]).await;
            let result = house.result(&service, Ok(house.read(&json!([up("db")]))));
            assert_eq!(house.hand_over(result).await, Recorded::Stale, "{change}");
        }
        assert_eq!(house.number("SELECT count(*) AS v FROM dependencies").await, 0);
        assert_eq!(house.told().await, Vec::<String>::new());
        let current = house.service("current").await;
        house.execute("UPDATE services SET generation = 7 WHERE name = 'current'", &[]).await;
        let current = Arc::new(Watch { generation: 7, ..Watch::clone(&current) });
        house.answers(&current, &json!([])).await;
    }

    async fn what_others_changed_meanwhile_is_seen(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db")])).await;
        // Somebody else takes the dependency away; the recorder still has it in mind.
        house.execute("DELETE FROM dependencies", &[]).await;
        house.execute("UPDATE service_states SET dependency_revision = dependency_revision + 1", &[]).await;
        house.answers(&service, &json!([up("db")])).await;
        assert_eq!(house.number("SELECT count(*) AS v FROM dependencies").await, 1);
    }

    async fn a_result_that_can_not_be_written_does_not_spoil_the_others(database: &TestDatabase) {
        let house = House::new(database).await;
        let (good, bad) = (house.service("good").await, house.service("bad").await);
        let mut spoiled = house.read(&json!([up("db")]));
        spoiled.dependencies[0].name = "d\0b".to_owned();
        house.recorder.take(house.result(&good, Ok(house.read(&json!([up("db")])))));
        let refused = house.hand_over(house.result(&bad, Ok(spoiled))).await;
        assert_eq!(refused, Recorded::Refused);
        let healthy = house.rows("SELECT service_no FROM service_states WHERE status = 'healthy'", &[]).await;
        assert_eq!(healthy.len(), 1);
        assert_eq!(healthy[0].get::<i64>("service_no").unwrap(), good.number.0);
    }

    async fn services_that_nobody_polls_become_unknown(database: &TestDatabase) {
        let house = House::new(database).await;
        house.pass(0);
        let (late, fine) = (house.service("late").await, house.service("fine").await);
        house.answers(&late, &json!([up("db")])).await;
        house.answers(&fine, &json!([up("db")])).await;
        let told = house.told().await.len();
        house.execute("UPDATE service_states SET next_poll_at = next_poll_at - 200000 WHERE service_no = $1", values![late.number.0]).await;
        // A recorder looks for them when it starts, and every few seconds.
        house.another_recorder();
        let unknown = "SELECT count(*) AS v FROM service_states WHERE status = 'unknown' AND stale_since IS NOT NULL";
        for _ in 0..200 {
            if house.number(unknown).await > 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(house.number(unknown).await, 1);
        assert_eq!(house.told().await[told..], ["service:status"]);
        // The next answer brings it back.
        house.answers(&late, &json!([up("db")])).await;
        assert_eq!(house.number("SELECT count(*) AS v FROM service_states WHERE status = 'healthy'").await, 2);
    }
}
