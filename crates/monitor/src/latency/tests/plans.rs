//! SQLite finds the rows of a service by their key, however many others there are.

use mainstay_store::Dialect;
use mainstay_testkit::{TestDatabase, plan_with_ones};

use super::house::House;
use crate::latency::record::{points, rollups};

#[tokio::test]
async fn nothing_looks_at_the_rows_of_other_services() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = House::new(&database).await;
    for sql in points::PLANNED.iter().chain(&rollups::PLANNED) {
        let plan = plan_with_ones(&house.db, sql).await.join("; ");
        assert!(plan.contains("service_no=?"), "{}: {plan}", sql.name());
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{}: {plan}", sql.name());
    }
}

#[tokio::test]
async fn what_is_read_for_many_services_is_found_by_key_too() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = House::new(&database).await;
    for sql in rollups::PLANNED_FOR_MANY.iter().chain(&points::PLANNED_FOR_MANY) {
        let plan = plan_with_ones(&house.db, sql).await.join("; ");
        assert!(plan.contains("SEARCH latency_"), "{}: {plan}", sql.name());
        assert!(!plan.contains("SCAN latency_"), "{}: {plan}", sql.name());
        assert!(!plan.contains("TEMP B-TREE"), "{}: {plan}", sql.name());
    }
}
