//! How SQLite goes about the past.

use mainstay_store::{Dialect, Sql, migrate};
use mainstay_testkit::{TestDatabase, plan_with_ones};

use super::{changes, keyframes, live, turns};

const ANALYZE: Sql = Sql::same("test.analyze", "ANALYZE");
const CHANGES: Sql = Sql::same(
    "test.changes",
    "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5000)
     INSERT INTO changes (at, kind, service_no, after) SELECT n, 'service', n % 9, 'down' FROM t",
);

#[tokio::test]
async fn the_past_is_found_by_its_keys_and_never_sorted() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let db = database.open().await;
    migrate::up(&db).await.unwrap();
    for round in 0..2 {
        for (statement, key) in [
            (&changes::PAGE, "SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (&changes::UNTIL, "SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (
                &changes::NEWEST_BUT,
                "SEARCH changes USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
            ),
            (&changes::FIRST_AFTER, "SEARCH changes USING INTEGER PRIMARY KEY (rowid>?)"),
            (&changes::FIRST, "COVERING INDEX changes_by_time"),
            (&changes::HIGHEST, "SEARCH changes"),
            (&keyframes::BEFORE, "past_keyframes_by_time (at<?)"),
            (&keyframes::OLDEST, "past_keyframes_by_time"),
            (&live::SERVICES, "SEARCH s USING INTEGER PRIMARY KEY (rowid>?)"),
            (&live::DEPENDENCIES, "SEARCH d USING INTEGER PRIMARY KEY (rowid>?)"),
            (&turns::SINCE, "changes_by_service_status (service_no=? AND at>?)"),
        ] {
            let plan = plan_with_ones(&db, statement).await.join("; ");
            assert!(plan.contains(key), "{} in round {round}: {plan}", statement.name());
            assert!(!plan.contains("TEMP B-TREE"), "{} in round {round}: {plan}", statement.name());
        }
        db.write(async |tx| tx.execute(&CHANGES, &[]).await).await.unwrap();
        db.write(async |tx| tx.execute(&ANALYZE, &[]).await).await.unwrap();
    }
}
