//! How SQLite goes about what many wait for, whatever it once counted in these tables.

use mainstay_store::{Db, Dialect, Row, Sql, Value, migrate, values};
use mainstay_testkit::TestDatabase;

use super::connections::SERVING;
use super::follow::COUNTERS;

const ANALYZE: Sql = Sql::same("test.analyze", "ANALYZE");
const LEFTOVER: Sql = Sql::same(
    "test.leftover",
    "INSERT INTO event_connections (owner, id, instance, superseded_at)
     SELECT 'user:1', lower(hex(randomblob(16))), 'instance', 7",
);

async fn plan(db: &Db, statement: Sql) -> Vec<String> {
    let text = format!("EXPLAIN QUERY PLAN {}", statement.text(Dialect::Sqlite));
    let text: &str = text.leak();
    let explain = Sql::same("test.explain", text);
    let nothing: &[Value<'_>; 2] = values!["[]", 0_i64];
    let values = if text.contains("$2") { nothing.as_slice() } else { &nothing[..1] };
    let rows = db.fetch_all(&explain, values).await.unwrap();
    rows.iter().map(|row: &Row| row.get("detail").unwrap()).collect()
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
            let plan = plan(&fresh, statement).await;
            let is_searched = |line: &String| {
                line.starts_with("SEARCH") && line.contains("event_connections_by_owner (owner=?")
            };
            assert!(plan.iter().any(is_searched), "{}: {plan:#?}", statement.name());
            let scanned = plan.iter().find(|line| line.starts_with("SCAN live"));
            assert_eq!(scanned, None, "{}: {plan:#?}", statement.name());
        }
        let counters = plan(&fresh, COUNTERS).await;
        let is_searched = |line: &String| line.contains("event_streams_by_name (name=?)");
        assert!(counters.iter().any(is_searched), "{counters:#?}");
        fresh.close().await;
    }
    db.close().await;
}
