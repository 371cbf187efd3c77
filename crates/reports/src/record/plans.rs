//! How the databases go about what owners ask for, when there are many files of many people.

use mainstay_store::{Db, Dialect, Sql, migrate, values};
use mainstay_testkit::{TestDatabase, each_database, plan};

use super::files::{COUNT, FIND, LIST, LIST_AFTER};
use super::sweep::INTERRUPT;
use crate::model::MAX_FILES_PER_USER;

const PEOPLE: Sql = Sql::same(
    "test.people",
    "INSERT INTO users (id, email, role, status, password_hash, created_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
     SELECT 'user-' || i, 'e-' || i, 'viewer', 'active', 'x', 0 FROM n",
);
const FILES: Sql = Sql::same(
    "test.files",
    "INSERT INTO files (user_id, id, original_name, extension, status, job_id, storage_key_original,
       processing_attempts, created_at, updated_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
     SELECT u.id, 'file-' || n.i || u.id, 'a.txt', 'txt', 'succeeded', 'job', 'key', 0, n.i, 0
     FROM n CROSS JOIN users AS u",
);
const ANALYZE: Sql = Sql::same("test.analyze", "ANALYZE");

async fn crowded(database: &TestDatabase) -> Db {
    let db = database.open().await;
    migrate::up(&db).await.unwrap();
    for sql in [&PEOPLE, &FILES, &ANALYZE] {
        db.write(async |tx| tx.execute(sql, &[]).await).await.unwrap();
    }
    // A session reads the counts when it begins.
    db.close().await;
    database.open().await
}

/// The primary key is the index on owner and id; the databases call it by other names.
const fn owner_and_id(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "sqlite_autoindex_files_1 (user_id=? AND id=?)",
        Dialect::Postgres => "files_pkey",
    }
}

each_database! {
    async fn both_indexes_serve_what_owners_ask_for(database: &TestDatabase) {
        let db = crowded(database).await;
        let find = plan(&db, &FIND, values!["user-7", "file-7user-7"]).await.join("\n");
        assert!(find.contains(owner_and_id(db.dialect())), "{find}");
        for (sql, values) in [
            (&LIST, &values!["user-7", 11_i64][..]),
            (&LIST_AFTER, &values!["user-7", 400_i64, "file-7", 11_i64][..]),
        ] {
            let list = plan(&db, sql, values).await.join("\n");
            assert!(list.contains("files_by_owner"), "{}: {list}", sql.name());
            let sorts = list.contains("TEMP B-TREE") || list.contains("Sort");
            assert!(!sorts, "{}: {list}", sql.name());
        }
        let count = plan(&db, &COUNT, values!["user-7", MAX_FILES_PER_USER]).await.join("\n");
        assert!(!count.contains("SCAN files") && !count.contains("Seq Scan"), "{count}");
        let given = values![7_i64, 7_i64, "code", "message", 7_i64];
        let interrupt = plan(&db, &INTERRUPT, given).await.join("\n");
        assert!(interrupt.contains("files_in_upload"), "{interrupt}");
        db.close().await;
    }
}
