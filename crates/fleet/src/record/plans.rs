//! How the databases go about what is asked most often, when there are many workers of many people.

use mainstay_store::{Db, Sql, migrate, values};
use mainstay_testkit::{TestDatabase, each_database, plan};

use super::locations::CHANGES_OF_SERVICE;
use super::sweep::{CLAIM, CLAIM_WAITING, OVERDUE_NETS, OVERDUE_WORKERS};
use super::{crew, nets, workers};

const PEOPLE: Sql = Sql::same(
    "test.people",
    "INSERT INTO users (id, email, role, status, password_hash, created_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
     SELECT 'user-' || i, 'e-' || i, 'viewer', 'active', 'x', 0 FROM n",
);
const WORKERS: Sql = Sql::same(
    "test.workers",
    "INSERT INTO workers (id, user_id, name, provider, category, status, status_since, generation,
       probe_at, created_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
     SELECT 'worker-' || n.i || u.id, u.id, 'w' || n.i, 'fly', 'persistent',
       CASE n.i % 10 WHEN 0 THEN 'ready' ELSE 'pending' END, 0, 1, n.i, n.i
     FROM n CROSS JOIN users AS u",
);
const NETS: Sql = Sql::same(
    "test.nets",
    "INSERT INTO nets (id, user_id, name, definition, worker_id, load_state, load_state_since, generation,
       created_at)
     SELECT 'net-' || w.id, w.user_id, w.name, '{}', w.id, 'unloaded', 0, 1, w.created_at
     FROM workers AS w",
);
const LOCATIONS: Sql = Sql::same(
    "test.locations",
    "INSERT INTO locations (net_id, user_id, kind, name, name_key, about, every_ms, worker_id, generation,
       status, status_since, findings)
     SELECT n.id, n.user_id, 'service', n.name, n.name, '', 1000, n.worker_id, 1, 'healthy', 0, 1
     FROM nets AS n",
);
const CHANGES: Sql = Sql::same(
    "test.location_changes",
    "INSERT INTO location_changes (location_no, at, status)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
     SELECT l.number, n.i, 'healthy' FROM n CROSS JOIN locations AS l",
);
const ANALYZE: Sql = Sql::same("test.analyze", "ANALYZE");

async fn crowded(database: &TestDatabase) -> Db {
    let db = database.open().await;
    migrate::up(&db).await.unwrap();
    for sql in [&PEOPLE, &WORKERS, &NETS, &LOCATIONS, &CHANGES, &ANALYZE] {
        db.write(async |tx| tx.execute(sql, &[]).await).await.unwrap();
    }
    // A session reads the counts when it begins.
    db.close().await;
    database.open().await
}

/// The tables that grow, and what statements call them.
const LARGE: [&str; 8] = ["workers", "nets", "locations", "location_changes", "w", "n", "l", "c"];

/// None of the tables that grow is read from one end to the other; what was found already may be.
fn is_indexed(plan: &str) -> bool {
    let scanned = |word: &str| {
        let after = plan.split(word).skip(1).filter_map(|rest| rest.split_whitespace().next());
        after.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let scans = [scanned("SCAN "), scanned("Seq Scan on ")].concat();
    !scans.iter().any(|table| LARGE.contains(&table.as_str()))
}

fn sorts(plan: &str) -> bool {
    plan.contains("TEMP B-TREE") || plan.contains("Sort")
}

each_database! {
    async fn pages_of_owners_come_by_their_index(database: &TestDatabase) {
        let db = crowded(database).await;
        for (sql, index) in [
            (&workers::LIST, "workers_by_owner"),
            (&nets::LIST, "nets_by_owner"),
        ] {
            let list = plan(&db, sql, values!["user-7", 11_i64]).await.join("\n");
            assert!(list.contains(index) && !sorts(&list), "{}: {list}", sql.name());
        }
        for (sql, index) in [
            (&workers::LIST_AFTER, "workers_by_owner"),
            (&nets::LIST_AFTER, "nets_by_owner"),
        ] {
            let after = values!["user-7", 100_i64, "worker-7", 11_i64];
            let list = plan(&db, sql, after).await.join("\n");
            assert!(list.contains(index) && !sorts(&list), "{}: {list}", sql.name());
        }
        db.close().await;
    }

    async fn one_thing_is_found_without_reading_the_others(database: &TestDatabase) {
        let db = crowded(database).await;
        for (sql, values) in [
            (&workers::FIND, &values!["user-7", "worker-7user-7"][..]),
            (&workers::COUNT, &values!["user-7", 200_i64][..]),
            (&nets::FIND, &values!["user-7", "net-worker-7user-7"][..]),
            (&nets::COUNT, &values!["user-7", 200_i64][..]),
            (&crew::LOCK_WORKER, &values!["worker-7user-7"][..]),
            (&crew::LOCK_NETS, &values!["worker-7user-7", 200_i64][..]),
        ] {
            let found = plan(&db, sql, values).await.join("\n");
            assert!(is_indexed(&found), "{}: {found}", sql.name());
        }
        let ids = vec!["worker-7user-7".to_owned(), "worker-8user-8".to_owned()];
        for sql in [&workers::SOME, &workers::NETS_OF] {
            let found = plan(&db, sql, values![&ids]).await.join("\n");
            assert!(is_indexed(&found), "{}: {found}", sql.name());
        }
        db.close().await;
    }

    async fn changes_by_location_are_read_of_the_service_alone(database: &TestDatabase) {
        let db = crowded(database).await;
        let values = values!["user-7", "w7", "http://w7/", "\nw7\n", 50_i64, 15_i64];
        let changes = plan(&db, &CHANGES_OF_SERVICE, values).await.join("\n");
        assert!(changes.contains("location_changes_by_location") && is_indexed(&changes), "{changes}");
        db.close().await;
    }

    async fn the_health_loop_reads_only_whom_it_asks(database: &TestDatabase) {
        let db = crowded(database).await;
        let claim = plan(&db, &CLAIM, values![7_i64, 7_i64, 100_i64, 7_i64]).await.join("\n");
        assert!(claim.contains("workers_to_probe") && is_indexed(&claim), "{claim}");
        let claim = plan(&db, &CLAIM_WAITING, values![7_i64, 7_i64, 100_i64]).await.join("\n");
        assert!(claim.contains("workers_in_operation") && is_indexed(&claim), "{claim}");
        for (sql, index) in
            [(&OVERDUE_WORKERS, "workers_in_operation"), (&OVERDUE_NETS, "nets_in_operation")]
        {
            let overdue = plan(&db, sql, values![7_i64, 100_i64]).await.join("\n");
            assert!(overdue.contains(index) && !sorts(&overdue), "{}: {overdue}", sql.name());
        }
        db.close().await;
    }
}

#[test]
fn only_scans_of_tables_that_grow_are_refused() {
    for plan in
        ["SCAN workers", "SCAN l", "x\nSCAN c USING INDEX i", "->  Seq Scan on nets n  (cost"]
    {
        assert!(!is_indexed(plan), "{plan}");
    }
    for plan in ["SCAN found", "SCAN json_each VIRTUAL TABLE INDEX 1:", "SEARCH l USING INDEX i"] {
        assert!(is_indexed(plan), "{plan}");
    }
}
