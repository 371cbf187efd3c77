//! SQLite finds the rows of a service by their key, however many others there are.

use mainstay_store::{Dialect, Sql, Value};
use mainstay_testkit::TestDatabase;

use super::house::House;
use crate::latency::record::{points, rollups};

async fn plan(house: &House, sql: &Sql) -> String {
    let text = format!("EXPLAIN QUERY PLAN {}", sql.text(Dialect::Sqlite));
    let explain = Sql::same("test.plan", text.leak());
    let values = vec![Value::from(0_i64); text_values(sql.text(Dialect::Sqlite))];
    let rows = house.db.fetch_all(&explain, &values).await.unwrap();
    let plan: Vec<String> = rows.iter().map(|row| row.get("detail").unwrap()).collect();
    plan.join("; ")
}

#[tokio::test]
async fn nothing_looks_at_the_rows_of_other_services() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = House::new(&database).await;
    for sql in points::PLANNED.iter().chain(&rollups::PLANNED) {
        let plan = plan(&house, sql).await;
        assert!(plan.contains("service_no=?"), "{}: {plan}", sql.name());
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{}: {plan}", sql.name());
    }
}

#[tokio::test]
async fn what_is_read_for_many_services_is_found_by_key_too() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = House::new(&database).await;
    for sql in &rollups::PLANNED_FOR_MANY {
        let plan = plan(&house, sql).await;
        assert!(plan.contains("SEARCH latency_rollups"), "{}: {plan}", sql.name());
        assert!(!plan.contains("SCAN latency_rollups"), "{}: {plan}", sql.name());
        assert!(!plan.contains("TEMP B-TREE"), "{}: {plan}", sql.name());
    }
}

/// How many values a statement takes.
fn text_values(text: &str) -> usize {
    (1..10).take_while(|number| text.contains(&format!("${number}"))).count()
}
