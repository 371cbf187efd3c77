//! How SQLite goes about what many wait for, whatever it once counted in these tables.

use mainstay_store::{Dialect, Sql, Value, migrate};
use mainstay_testkit::{TestDatabase, plan};

use super::connections::SERVING;
use super::follow::COUNTERS;

const ANALYZE: Sql = Sql::same("test.analyze", "ANALYZE");
const LEFTOVER: Sql = Sql::same(
    "test.leftover",
    "INSERT INTO event_connections (owner, id, instance, superseded_at)
     SELECT 'user:1', lower(hex(randomblob(16))), 'instance', 7",
);

/// What the statements take: names of streams, and from where on.
fn given(statement: &Sql) -> Vec<Value<'static>> {
    let takes_two = statement.text(Dialect::Sqlite).contains("$2");
    let mut given = vec![Value::from("[]"), Value::from(0_i64)];
    given.truncate(if takes_two { 2 } else { 1 });
    given
}

#[tokio::test]
async fn old_counts_mislead_no_statement_that_many_wait_for() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let db = database.open().await;
    migrate::up(&db).await.unwrap();
    for leftovers in [1, 1, 3, 55, 140] {
        for _ in 0..leftovers {
            db.write(async |tx| tx.execute(&LEFTOVER, &[]).await).await.unwrap();
        }
        db.write(async |tx| tx.execute(&ANALYZE, &[]).await).await.unwrap();
        // A session reads the counts when it begins.
        let fresh = database.open().await;
        for statement in SERVING {
            let plan = plan(&fresh, &statement, &given(&statement)).await;
            let is_searched = |line: &String| {
                line.starts_with("SEARCH") && line.contains("event_connections_by_owner (owner=?")
            };
            assert!(plan.iter().any(is_searched), "{}: {plan:#?}", statement.name());
            let scanned = plan.iter().find(|line| line.starts_with("SCAN live"));
            assert_eq!(scanned, None, "{}: {plan:#?}", statement.name());
        }
        let counters = plan(&fresh, &COUNTERS, &given(&COUNTERS)).await;
        let is_searched = |line: &String| line.contains("event_streams_by_name (name=?)");
        assert!(counters.iter().any(is_searched), "{counters:#?}");
        fresh.close().await;
    }
    db.close().await;
}
